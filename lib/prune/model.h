// Pruning and clustering the weights of a model file as a command line asks for it.
//
// The contract of lib/prune: from a float32 network and samples of what it will see, a network of the same kind with fewer channels
// (channels.h), or with weights that are 0 or few different numbers (weights.h). How much each layer bears is measured (scan.h).
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "convert/source.h"
#include "prune/scan.h"
#include "quant/inputs.h"
#include "quant/validate.h"

namespace dnn::prune {

struct PruneRequest : quant::InputChoice {
  std::string output;               // its name says the format; "": nothing is written
  What what = What::Weights;        // that `sparsity` is of
  std::optional<double> sparsity;   // share of the weights, or of the channels, that go
  std::optional<int64_t> clusters;  // different numbers in each layer's weights
  std::set<std::string> keep;       // layers that stay as they are, by name or by what they make
  bool scan = false;                // measure what each layer bears, and give `sparsity` to those that bear it
  Surgery surgery = {};
  uint64_t seed = 0;
  quant::CalibrateOptions run = {};
  std::function<void(const std::string& line)> say = {};  // results as they come; may be empty
};

struct PrunedModel {
  std::optional<Scan> scan;
  std::optional<quant::Validation> validation;
};

// Throws Usage, and what reading, calibrating and writing throw.
PrunedModel prune_model(const PruneRequest& request);

}  // namespace dnn::prune
