// Ranking layers by labels: which err more on samples whose label differs than on samples whose label is the same, over random
// draws of both.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "metrics/statistics.h"

namespace dnn {

// A layer's errors by sample.
using SampleErrors = std::vector<std::pair<int64_t, double>>;

// Mann-Whitney's test of a layer's errors where the label is the same against those where it differs (`differs`, by sample), by
// ranks, in which infinite errors are the largest. The effect is 1 where it errs more on each sample that differs. nullopt where
// one of the two is empty.
std::optional<metrics::RankTest> test_by_label(const SampleErrors& errors, const std::vector<bool>& differs);

struct LabelSampling {
  int64_t n_equal = 15, n_different = 15;  // samples of one draw
  int64_t n_repeats = 3;                   // draws, of which none has a sample of another
  uint64_t seed = 0;
};

struct LabelRanking {
  LabelSampling asked;
  int64_t n_equal = 0, n_different = 0;  // samples that there are
  struct Draw {
    std::vector<size_t> equal, different;  // ascending
  };
  std::vector<Draw> draws;  // as many as were asked for, or as there are samples for
  struct Row {
    size_t layer = 0;
    double points =
        0;  // Borda count: of each draw a point for each layer that it is ahead of, half of one where they are level
    std::vector<std::optional<double>> p, effect;  // by draw; p corrected for all layers (Holm)
    bool operator==(const Row&) const = default;
  };
  std::vector<Row> rows;  // most points first, level ones in the order of the layers; none without draws
};

// In each draw a layer is ahead of those of a lower effect, and of those that have none. The same samples and seed give the same
// draws on every machine.
LabelRanking rank_by_labels(const std::vector<const SampleErrors*>& layers, const std::vector<bool>& differs,
                            const LabelSampling& sampling);

}  // namespace dnn
