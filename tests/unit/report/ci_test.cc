// The files for continuous integration: hostile names, long lists, and the parts that readers insist on.
#include "report/ci.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace dnn::report {
namespace {

using metrics::Check;

metrics::Report report_of(const std::string& model) {
  metrics::Report report;
  report.runs.resize(1);
  report.runs[0].header.model.path = model;
  return report;
}

Check check(bool kept, const std::string& said) {
  return {.kind = "require",
          .key = "rbo",
          .rule = "--require 'rbo > 0'",
          .subject = "run A",
          .said = said,
          .kept = kept,
          .run = 0,
          .base = {}};
}

TEST(Junit, HoldsNoCharacterThatXmlHasNot) {
  const std::string xml =
      junit_xml(report_of("m"), {check(false, "<&>\"\x01\n\xEF\xBF\xBF\xEF\xBF\xBE\xEF\xBF\xBD end")});
  EXPECT_NE(xml.find("message=\"&lt;&amp;&gt;&quot;\\u{1}\\u{A}\\u{FFFF}\\u{FFFE}\xEF\xBF\xBD end\""),
            std::string::npos)
      << xml;
  const std::string bytes = junit_xml(report_of("m"), {check(false, "\xff\xfe")});
  EXPECT_NE(bytes.find("\\xFF\\xFE"), std::string::npos) << bytes;
}

// What the schema of SARIF 2.1.0 requires, and GitHub beyond it.
TEST(Sarif, HasTheRequiredParts) {
  const auto log =
      parse_json(sarif_json(report_of("my nets/n\xC3\xA4t:1#.onnx"),
                            {check(true, "has 1"),
                             check(false, "has 0"),
                             {.kind = "input", .key = "", .rule = "input", .subject = "", .said = "cut \xff"}}));
  EXPECT_EQ(log.at("version"), "2.1.0");
  const auto& run = log.at("runs").at(0);
  EXPECT_EQ(run.at("tool").at("driver").at("name"), "dnn-eval");
  const auto& rules = run["tool"]["driver"].at("rules");
  ASSERT_EQ(rules.size(), 2u);
  const auto& results = run.at("results");
  ASSERT_EQ(results.size(), 3u);
  for (const auto& result : results) {
    EXPECT_EQ(rules.at(result.at("ruleIndex").get<size_t>()).at("id"), result.at("ruleId"));
    EXPECT_TRUE(result.at("message").at("text").is_string());
    EXPECT_EQ(result.at("level"), result.at("kind") == "pass" ? "none" : "error");
    EXPECT_GT(result.at("locations").at(0).at("physicalLocation").at("region").at("startLine"), 0);
  }
  EXPECT_EQ(results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "my%20nets/n%C3%A4t%3A1%23.onnx");
  EXPECT_EQ(results[0]["partialFingerprints"], results[1]["partialFingerprints"]);  // the values are not in them
  const auto absolute = parse_json(sarif_json(report_of("/m.onnx"), {check(true, "")}));
  EXPECT_EQ(absolute["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
            "file:///m.onnx");
}

TEST(Comment, LongListsAndTextsAreCut) {
  std::vector<Check> checks(1000, check(false, std::string(1000, 'x') + "`|"));
  const std::string text = comment_markdown(report_of("a|b`c\n"), checks, nullptr);
  EXPECT_LT(text.size(), 60'500u);
  EXPECT_NE(text.find("1000 of 1000 checks missed"), std::string::npos);
  EXPECT_NE(text.find("and 950 more"), std::string::npos);
  EXPECT_NE(text.find("`a\\|b'c"), std::string::npos) << text.substr(0, 600);
  const std::string turned = comment_markdown(report_of("m"), {check(false, "exe.\u202egpj")}, nullptr);
  EXPECT_NE(turned.find("`exe.\\u{202E}gpj`"), std::string::npos) << turned;
  EXPECT_NE(comment_markdown(metrics::Report(), {}, nullptr).find("0 runs"), std::string::npos);
}

}  // namespace
}  // namespace dnn::report
