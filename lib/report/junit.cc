// Checks as JUnit's XML; see ci.h.
#include <algorithm>

#include "base/text.h"
#include "metrics/present.h"
#include "report/ci.h"
#include "report/escape.h"

namespace dnn::report {
namespace {

// "B against A (net.tflite -O4 cpu against net.onnx -O3 cpu)"
std::string plain_subject(const metrics::Report& report, const metrics::Check& check) {
  if (!check.run) return check.subject;
  std::string titles = metrics::run_title(report.runs[*check.run].header);
  if (check.base) titles += " against " + metrics::run_title(report.runs[*check.base].header);
  return cat(check.subject, " (", titles, ")");
}

}  // namespace

std::string junit_xml(const metrics::Report& report, const std::vector<metrics::Check>& checks) {
  const auto count = [&](bool input) {
    return std::count_if(checks.begin(), checks.end(),
                         [&](const metrics::Check& c) { return !c.kept && (c.kind == "input") == input; });
  };
  const std::string counts =
      cat("tests=\"", checks.size(), "\" failures=\"", count(false), "\" errors=\"", count(true), "\" skipped=\"0\"");
  std::string out = cat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dnn-eval\" ", counts,
                        ">\n  <testsuite name=\"dnn-eval\" ", counts, " time=\"0\">\n");
  for (const metrics::Check& check : checks) {
    const std::string subject = check.kind == "input" ? check.said : plain_subject(report, check);
    const std::string name = subject.empty() ? check.rule : cat(check.rule, ": ", subject);
    out += cat("    <testcase classname=\"dnn-eval.", html_text(check.kind), "\" name=\"", html_text(name),
               "\" time=\"0\"");
    if (check.kept) {
      out += "/>\n";
      continue;
    }
    const char* element = check.kind == "input" ? "error" : "failure";
    out +=
        cat(">\n      <", element, " type=\"", html_text(check.key.empty() ? check.kind : check.key), "\" message=\"",
            html_text(check.said), "\">", html_text(check.line()), "</", element, ">\n    </testcase>\n");
  }
  return out + "  </testsuite>\n</testsuites>\n";
}

}  // namespace dnn::report
