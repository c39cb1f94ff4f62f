// Checks as SARIF 2.1.0 (OASIS Standard, 27 March 2020); see ci.h.
#include <map>
#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/text.h"
#include "base/version.h"
#include "metrics/present.h"
#include "report/ci.h"

namespace dnn::report {
namespace {

using OrderedJson = nlohmann::ordered_json;

// RFC 3986: a relative reference, or a file's URI where the path is absolute. A ':' in the first part would be a scheme's.
std::string uri_of(const std::string& path) {
  static constexpr std::string_view kPlain = "-._~/!$&'()*+,;=@";
  std::string out = path.starts_with('/') ? "file://" : "";
  for (const char c : path) {
    const auto u = static_cast<unsigned char>(c);
    const bool letter = (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') || (u >= '0' && u <= '9');
    if (letter || kPlain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      static constexpr char kDigits[] = "0123456789ABCDEF";
      out += {'%', kDigits[u >> 4], kDigits[u & 15]};
    }
  }
  return out;
}

std::string rule_id(const metrics::Check& check) {
  return check.key.empty() ? check.kind : cat(check.kind, "/", check.key);
}

std::string rule_text(const metrics::Check& check) {
  if (check.kind == "input") return "Streams are whole.";
  if (check.kind == "against") {
    return check.key.empty() ? "Runs of the baseline are still there."
                             : cat("The metric ", check.key, " is no worse than in the baseline.");
  }
  if (check.kind == "tolerance") return "Outputs of two runs differ by no more than the tolerance.";
  return cat("The metric ", check.key.empty() ? check.kind : check.key, " keeps its bound.");
}

OrderedJson location_of(const metrics::Report& report, const metrics::Check& check) {
  OrderedJson location = OrderedJson::object();
  const std::string path = check.run ? report.runs[*check.run].header.model.path : "";
  // Where no file is known, readers that insist on one get the tool's name.
  location["physicalLocation"] = {{"artifactLocation", {{"uri", path.empty() ? "dnn-eval" : uri_of(path)}}},
                                  {"region", {{"startLine", 1}}}};
  if (check.run) {
    const std::string title = metrics::run_title(report.runs[*check.run].header);
    location["logicalLocations"] =
        OrderedJson::array({{{"name", check.subject}, {"fullyQualifiedName", title}, {"kind", "run"}}});
  }
  return location;
}

}  // namespace

std::string sarif_json(const metrics::Report& report, const std::vector<metrics::Check>& checks) {
  OrderedJson rules = OrderedJson::array(), results = OrderedJson::array();
  std::map<std::string, size_t> places;
  for (const metrics::Check& check : checks) {
    const std::string id = rule_id(check);
    const auto [place, is_new] = places.emplace(id, rules.size());
    if (is_new) {
      rules.push_back({{"id", id},
                       {"shortDescription", {{"text", rule_text(check)}}},
                       {"defaultConfiguration", {{"level", "error"}}}});
    }
    // What the result is about, whatever it is; not the values, so that it stays the same result from run to run.
    const std::string title = check.run ? metrics::run_title(report.runs[*check.run].header) : "";
    const std::string base = check.base ? metrics::run_title(report.runs[*check.base].header) : "";
    results.push_back(
        {{"ruleId", id},
         {"ruleIndex", place->second},
         {"kind", check.kept ? "pass" : "fail"},
         {"level", check.kept ? "none" : "error"},
         {"message", {{"text", check.line()}}},
         {"locations", OrderedJson::array({location_of(report, check)})},
         {"partialFingerprints", {{"dnnEval/v1", cat(check.rule, "|", check.subject, "|", title, "|", base)}}}});
  }
  const OrderedJson driver = {{"name", "dnn-eval"}, {"version", version()}, {"rules", std::move(rules)}};
  const OrderedJson json = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", OrderedJson::array({{{"tool", {{"driver", driver}}}, {"results", std::move(results)}}})}};
  return json_text(json, 2) + "\n";
}

}  // namespace dnn::report
