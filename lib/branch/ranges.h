// Elastic ranges: which branched networks a supernet holds, and how one of them is drawn.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "branch/stretch.h"

namespace dnn::branch {

// As pycls's MBDYNAMICANYNET has them (kaleid-liner/pycls, configs/elastic/R-50-2B.yaml): each branch of each stage has a depth and a width of
// its own, within the same ranges.
struct ElasticRanges {
  std::vector<std::string> devices;           // of the branches, as ProcessorName has them; the first is the main one
  double least_depth = 0.66, most_depth = 1;  // DM_RANGE: share of a stage's blocks
  double least_width = 0.5, most_width = 1;   // WM_RANGE: share of each layer's channels; drawn in eighths
  int64_t networks = 4;                       // ELASTIC_SIZE: the largest, the smallest and random ones, in each step
};

// YAML text, and back: {DEVICES: [cpu, dsp], DM_RANGE: [0.66, 1], WM_RANGE: [0.5, 1], ELASTIC_SIZE: 4}. All but DEVICES may be left out. Throws
// Malformed with "PATH:LINE: ", and Usage for ranges whose smallest branches do not hold all channels together.
ElasticRanges parse_ranges(const std::string& text, const std::string& path);
std::string ranges_text(const ElasticRanges& ranges);

// Depths that a branch of a stage may have. Blocks that are no residual ones stay, whatever the range.
struct Depths {
  int64_t least = 1, most = 1;
};
Depths depths_of(const ElasticRanges& ranges, const SourceStage& stage);

// All branches at the least depth and width.
StretchPlan smallest_child(const ElasticRanges& ranges, const SourceStages& stages);
// Depths and widths of each branch are drawn evenly, by counters of the seed; one stage in four is left unbranched.
StretchPlan random_child(const ElasticRanges& ranges, const SourceStages& stages, uint64_t seed);
// Throws Usage, naming the stage, where the supernet does not hold the child.
void check_child(const ElasticRanges& ranges, const SourceStages& stages, const StretchPlan& child);

// "cpu 2x0.75 + dsp 2x0.5 | cpu | ...": blocks and width of each branch, for a person.
std::string child_text(const StretchPlan& child);

// Metadata key of the ranges' text, in a supernet's file.
inline constexpr const char* kSupernetKey = "dnn-tools.supernet";

}  // namespace dnn::branch
