// Quantising: a float32 network and samples of what it will see, into a network that computes on integers (post-training
// quantisation), with an account of what that costs.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "quant/calibrate.h"
#include "quant/plan.h"
#include "quant/range.h"
#include "quant/scheme.h"

namespace dnn::quant {

struct QuantizeOptions {
  Scheme scheme = schemes().front();
  Method method = methods().front();
  std::set<std::string> keep_float;  // nodes or values that stay in float32
  bool correct_biases = true;
  bool for_tflite = false;  // quantisers where TFLite's operators want them
  CalibrateOptions calibrate;
};

struct QuantizerReport {
  std::vector<std::string> values;  // that share it
  Range seen, range;                // what calibration saw, and what the integers cover
  Affine affine;
  RangeCost cost;  // of this rounding alone
};

struct WeightsReport {
  std::string node, op, value;
  int64_t count = 0, channels = 0;
  double sqnr_db = 0;    // of the weights' rounding
  bool widened = false;  // a channel's scale grew so that its bias fits int32
};

struct QuantizeReport {
  std::string scheme, method;
  int64_t samples = 0;
  std::vector<QuantizerReport> quantizers;
  std::vector<WeightsReport> weights;
  struct Left {
    std::string node, op, reason;
  };
  std::vector<Left> left_float;
  int64_t integer_nodes = 0;
};

// The network as it is quantised: batch norms folded, constants computed, activations recognised. Throws Unsupported where it
// holds integers already.
Graph prepare(Graph model);

// `prepared` quantised on `samples`, which fit its inputs with open extents 1. Throws Usage, Negative where no sample can be
// read, Unsupported where nothing can be quantised.
Graph quantize(const Graph& prepared, SampleSource& samples, const QuantizeOptions& options, QuantizeReport* report);

}  // namespace dnn::quant
