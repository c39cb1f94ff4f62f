// Search: which layers stay in float32 so that a quantised network loses no more than a bound.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "quant/halves.h"
#include "quant/sensitivity.h"

namespace dnn::quant {

// A choice of layers that stay in float32.
struct Choice {
  std::set<NodeId> left_float;
  std::vector<std::string> names;  // of the layers
  int64_t layers = 0;
  double float_share = 0;  // of the network's multiply-adds, those in float32
  double predicted = 0;    // the divergence that the remaining roundings add up to, one by one
};

// Choices from none in float32 on, each with all layers of the one before it. The next is the one that takes the most divergence away for
// its multiply-adds: a layer, or the layers that make and read a value. `most_float`: the largest share.
std::vector<Choice> choices_by_sensitivity(const Graph& bound, const Sensitivity& sensitivity,
                                           const QuantizeOptions& options, double most_float);

// A choice that was tried.
struct Trial {
  Choice choice;
  int64_t bytes = 0;                 // of the written file
  Validation search;                 // on the half that searches
  double median_ms = 0;              // of a run there
  std::optional<Validation> judged;  // on the other one
  QuantizeReport report;
  Validation all() const;  // both halves
};

struct SearchOptions {
  double max_drop = 0;
  uint64_t seed = 0;        // of the halves
  double most_float = 0.5;  // share of multiply-adds
  Deadline deadline;
  std::function<int64_t(const Graph& quantized)> size;  // of its file
};

struct SearchResult {
  std::vector<Trial> trials;           // by layers in float32
  size_t best = 0;                     // the one that is written
  bool holds = false;                  // whether it keeps the bound on both halves
  bool searched = false;               // false: all on integers kept it
  int64_t searching = 0, judging = 0;  // inputs
  double max_drop = 0;
  uint64_t seed = 0;  // of the halves
  std::optional<Sensitivity> sensitivity;
};

// `measure` is called where all layers on integers lose too much.
SearchResult search_layers(const Graph& prepared, const Graph& bound, const Calibration& calibration,
                           const QuantizeOptions& options, const Halves& halves,
                           const std::function<Sensitivity()>& measure, const SearchOptions& search);

}  // namespace dnn::quant
