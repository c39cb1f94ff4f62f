// The files that scripts of older systems read: the evaluation of DeltaNN with its keys and tree, and Kenning's measurements.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/io.h"
#include "metrics/evaluation.h"

namespace dnn::report {

// Writes into the folder, each file whole or not at all:
//   device_evaluation.json                                 each variant across devices
//   DEVICE/library_evaluation.json                         variants against each other; and of their times
//   DEVICE/library_evaluation_time_percentages.json
//   DEVICE/library_evaluation_time_stats.json
//   DEVICE/VARIANT/mutations/same_folder_evaluation.json   the last ten runs against each other
//   DEVICE/VARIANT/mutations/runN/measurements.json        what one run took and said
// DEVICE is the header's with '-' for ':', '/' and '='; VARIANT is the model's file name with '_' for '.', and _optN. docs/reference/legacy.md has
// what is in them and which faults of the originals are not. The evaluation is finished and keeps details. Returns what a
// person should know.
std::vector<std::string> write_legacy_tree(const metrics::Evaluation& evaluation, const metrics::Report& report,
                                           const std::string& folder);

// Kenning's measurements of a run, as JSON.
std::string measurements_json(const metrics::Evaluation& evaluation, const metrics::RunReport& run, size_t run_i);

// A file of Kenning's measurements as the records of a stream, and whether a text is one. Such a file counts samples and
// lists times, and does not say which sample a time or a class is of: what is stated of the run is right, and no two runs have a sample in
// common. Throws Malformed.
bool is_measurements(const std::string& json);
// All of a source that begins as a JSON object does; nullopt, and nothing read, for a stream.
std::optional<std::string> json_of(PeekSource& source);
std::vector<stream::Record> records_of_measurements(const std::string& json, const std::string& path);

}  // namespace dnn::report
