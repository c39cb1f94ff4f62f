// What continuous integration reads: the checks on a report as JUnit's XML, as SARIF, and as a Markdown comment.
#pragma once
#include <string>
#include <vector>

#include "metrics/baseline.h"
#include "metrics/checks.h"
#include "metrics/evaluation.h"

namespace dnn::report {

// One test case for each check, by names that stay the same from report to report; what was cut off is an error.
std::string junit_xml(const metrics::Report& report, const std::vector<metrics::Check>& checks);

// SARIF 2.1.0: one result for each check, of kind pass or fail, at the model file of its run.
std::string sarif_json(const metrics::Report& report, const std::vector<metrics::Check>& checks);

// GitHub's Markdown, at most 60,000 characters: what is missed, what changed, the runs; long lists are cut, and say so.
std::string comment_markdown(const metrics::Report& report, const std::vector<metrics::Check>& checks,
                             const metrics::Comparison* comparison);

}  // namespace dnn::report
