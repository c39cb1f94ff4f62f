// The matrix of a report at a glance; internal to lib/report.
#pragma once
#include "report/sections/sections.h"
#include "report/verdict.h"

namespace dnn::report {

// A figure for each question: the labels of each run as the baseline's, the change of accuracy of each model, latencies.
Blocks matrix_figures(const Data& data, const std::vector<VerdictGroup>& groups);

Table groups_table(const Data& data, const std::vector<VerdictGroup>& groups);

}  // namespace dnn::report
