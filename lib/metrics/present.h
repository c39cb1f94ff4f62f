// Presentation of a report: aligned tables for people, JSON for programs.
#pragma once
#include <string>
#include <vector>

#include "metrics/baseline.h"
#include "metrics/evaluation.h"

namespace dnn::metrics {

std::string_view better_name(Better better);          // "higher"
std::string run_letter(size_t run_i);                 // "A".."Z", then "R27", ...
std::string run_title(const stream::Header& header);  // "net.onnx -O3 cpu"

// The runs by what they predict: those that are alike together, in the order of their first.
std::vector<std::vector<size_t>> alike_runs(const Report& report);

// A line for each run that lacks some of its shards: "run A: shard 0/3 alone of a run of 3: ...".
std::vector<std::string> shard_notes(const Report& report);

// Tables no wider than 100 columns, then notes; ends with a newline. Where there are groups, they stand in for the pairs.
std::string report_table(const Report& report);

// {"metrics": {key: {unit, better, text}}, "runs": [...], "pairs": [...], "values": {...}} on one line; values that are not defined are
// null, infinities are the texts "inf" and "-inf". "baseline" is the run that the others are held against, "alike" lists the runs that predict the same. With groups also "by": {fields, groups, pairs, values}. A run in shards has "shards" and "n_missing_shards", and a "note" where some are missing. A run's "confusion" is [truth, predicted, count] of the cells not 0.
std::string report_json(const Report& report, const Comparison* comparison = nullptr);

// What got better and worse, as a table, and how many values did not.
std::string comparison_table(const Comparison& comparison);

// Tab-separated: base, run, sample, base's label, run's label, and where a stream names classes both names; of the samples on which they differ.
std::string disagreement_lines(const Report& report);

// Tab-separated: run, truth, predicted, count; of the cells of the confusion matrices that are not 0.
std::string confusion_lines(const Report& report);

// Tab-separated: key, scope, unit, better, text.
std::string metrics_list();

}  // namespace dnn::metrics
