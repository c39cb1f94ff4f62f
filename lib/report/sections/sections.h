// What the sections of a report share; internal to lib/report.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/counted.h"
#include "base/printable.h"
#include "base/text.h"
#include "report/plots.h"
#include "report/report.h"

namespace dnn::report {

using Blocks = std::vector<Block>;

// Each row's function.
#define DNN_SECTION(type, name, title, text) Blocks section_##name(const Data& data, const Options& options);
#include "report/sections.def"
// What stands before and after them.
Section summary(const Data& data, const Options& options);
Section provenance(const Data& data);

// A number as metrics.def prints it; nullopt and "-" where it is not defined.
std::optional<double> value_of(const metrics::Values& values, std::string_view key);
std::string value_text(const metrics::Values& values, std::string_view key);
// The columns of the metrics that `wanted` takes, that have a title, and that one of the values has; keys in their order.
std::vector<std::string> shown_keys(metrics::Scope scope, const std::function<bool(const metrics::Row&)>& wanted,
                                    const std::vector<const metrics::Values*>& values);
// Which metrics of a run belong to which section; the rest are against the truth.
bool is_time(const metrics::Row& row);
bool is_resource(const metrics::Row& row);
bool is_accuracy(const metrics::Row& row);
const metrics::Row& row_of(std::string_view key);
Column column_of(std::string_view key);

// Runs by model (in the order of first appearance), device and level.
std::vector<size_t> runs_in_order(const Data& data);
// "A, B, C": letters of runs; of many the first, and how many others.
inline constexpr size_t kMostLetters = 24;
std::string letters(const Data& data, const std::vector<uint32_t>& runs, size_t most = kMostLetters);

// Series for the runs, so that those of one device (or one model, where there are several and no more than colours) look alike.
struct Grouping {
  std::vector<int> series;  // by run
  std::vector<std::string> names;
};
Grouping group_by_device(const Data& data);
Grouping group_by_model_or_device(const Data& data);

// The pair's common samples on which the best labels differ.
int64_t flips_of(const metrics::PairReport& pair);

// A small PNG of the sample's image file, or nullopt where it cannot be read or does not lie below Options::image_root.
std::optional<Picture> thumbnail(const SampleLists& sample, const Options& options);

}  // namespace dnn::report
