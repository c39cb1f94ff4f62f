// The JSON of dnn-branch eval as a section of a report: a table, bars and a timeline.
#include <gtest/gtest.h>

#include "base/error.h"
#include "report/report.h"

namespace dnn::report {
namespace {

const char* const kResult = R"json({"results": [{"cfg": "mi/<b>.yaml", "latency": {"median_us": 1200, "p95_us": 1300},
  "segments": [{"nodes": "s1 .. s2", "part": "C (cpu@0)", "merges": false, "last_begin_us": 1, "last_us": 690},
               {"nodes": "s3", "part": "D (cpu@1)", "merges": true, "last_begin_us": 10, "last_us": 600}],
  "alone": [{"device": "C (cpu@0)", "median_us": 2000, "p95_us": 2100},
            {"device": "D (cpu@1)", "median_us": 2100, "p95_us": 2200}],
  "together": {"device": "cpu@0-1", "median_us": 1400, "p95_us": 1500},
  "best_single": {"device": "cpu@0-1", "median_us": 1400}, "ratio": 1.167, "bound_us": 1024.4}]})json";

std::string branched_page(const std::string& json) {
  Data data;
  data.branched = parse_branched(json);
  Options options;
  options.types = {Type::Performance};
  return html(make_document(data, options));
}

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kResult;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(BranchedReport, IsToldFromTheJsonOfOtherTools) {
  EXPECT_TRUE(is_branched(kResult));
  EXPECT_FALSE(is_branched(R"({"source": "a", "layers": []})"));
  EXPECT_FALSE(is_branched("{"));
}

TEST(BranchedReport, ReadsWhatEvalWrote) {
  const Branched network = parse_branched(kResult).at(0);
  EXPECT_EQ(network.alone.size(), 3u);
  EXPECT_EQ(network.alone[2].device, "cpu@0-1");
  EXPECT_EQ(network.best, "cpu@0-1");
  EXPECT_EQ(network.segments.size(), 2u);
  EXPECT_TRUE(network.segments[1].merges);
  // One device is not compared with itself; what earlier versions wrote has no timeline.
  EXPECT_FALSE(parse_branched(changed("1.167", "null"))[0].ratio.has_value());
  EXPECT_EQ(parse_branched(changed("\"last_us\": 690", "\"us\": 690"))[0].segments.size(), 1u);
}

TEST(BranchedReport, ShowsRatioBoundBarsAndTimeline) {
  const std::string page = branched_page(kResult);
  for (const char* words :
       {"Several devices at once", "&lt;b&gt;.yaml", "1.17", "1.024", "One inference of", "the best single device"})
    EXPECT_NE(page.find(words), std::string::npos) << words;
  EXPECT_EQ(page.find("<b>.yaml"), std::string::npos);
  EXPECT_NE(page.find(">yes<"), std::string::npos);
  EXPECT_NE(branched_page(changed("1.167", "1.02")).find(">no<"), std::string::npos);
}

TEST(BranchedReport, RefusesTimesThatAreNone) {
  for (const char* time : {"-1", "\"1\"", "null", "1e999"})
    EXPECT_THROW(parse_branched(changed("\"median_us\": 1200", cat("\"median_us\": ", time))), Error) << time;
  EXPECT_THROW(parse_branched(changed("\"latency\"", "\"other\"")), Error);
  EXPECT_TRUE(parse_branched(R"({"results": []})").empty());
}

}  // namespace
}  // namespace dnn::report
