// Quantising: a float32 network and samples of what it will see, into a network that computes on integers (post-training
// quantisation), with an account of what that costs.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ops/underflow.h"
#include "quant/accumulator.h"
#include "quant/calibrate.h"
#include "quant/plan.h"
#include "quant/range.h"
#include "quant/rewrite.h"
#include "quant/scheme.h"

namespace dnn::quant {

struct QuantizeOptions {
  Scheme scheme = schemes().front();
  Method method = method_named("mse");
  std::set<std::string> keep_float;  // nodes or values that stay in float32
  bool correct_biases = true;
  bool reduce_range = false;  // weights within kReducedWeight
  // True for an activation that the runtime computes at the end of the operator in front of it.
  bool (*fuses)(const Graph& graph, const Node& activation) = fuses_in_onnx;
  bool factors_around_zero = false;  // see PlanOptions
  bool real_results = true, integer_outputs = false;
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
  std::optional<Accumulators> sums;
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
  std::vector<Underflow> underflow;  // of --scheme float16
  int64_t integer_nodes = 0;
};

// The network as it is quantised: batch norms folded, constants computed, activations recognised, and layer norms where
// `layer_norms`: in one operator, whose means and deviations no quantiser rounds. Throws Unsupported where it holds integers already.
Graph prepare(Graph model, bool layer_norms = true);
// `names` of nodes and values of `model`, where those of values that `prepared`, made of it, makes no more are the nodes' that made them.
std::set<std::string> names_after(const Graph& model, const Graph& prepared, const std::set<std::string>& names);
// Throws Unsupported where the network holds integers already.
void refuse_quantised(const Graph& model);
// Throws Unsupported where no node reads float32. Types must be inferred.
void refuse_other_types(const Graph& bound);

// `prepared` with every extent fixed and its types inferred: what calibration runs. Ids of nodes and values are the same.
Graph bound_graph(const Graph& prepared);

// The quantisers that a network gets; see plan.h and rewrite.h.
struct Rounding {
  Plan plan;
  Quantizers quantizers;
  std::vector<WrittenWeights> weights;  // in the order of plan.weights
};

// The plan of these options, with nodes of `left_float` and `coarse` (plan.h) in float32. Throws Usage.
Plan plan_network(const Graph& bound, const QuantizeOptions& options, const std::set<NodeId>& left_float,
                  const std::set<NodeId>& coarse = {});

// How many of the ranges that these options choose differ by more than a tenth from those of three quarters of the samples.
struct Movement {
  size_t moved = 0, ranges = 0;
};
Movement range_movement(const Graph& bound, const Calibration& calibration, const QuantizeOptions& options);

// All that a state holds: keys for any scheme, method and format.
Calibration whole_watch_list(const Graph& bound, const QuantizeOptions& options);

// Keys of what calibration has to look at, with no figures yet. Throws Usage, Unsupported where nothing can be quantised.
Calibration watch_list(const Graph& bound, const QuantizeOptions& options);
// Scales and rounded weights by the figures of a calibration, with nodes of `left_float` in float32. Throws Usage where the
// calibration looked at less than these options need.
Rounding round_network(const Graph& bound, const Calibration& calibration, const QuantizeOptions& options,
                       const std::set<NodeId>& left_float, QuantizeReport* report);
// `prepared` with these quantisers in it.
Graph insert_rounding(const Graph& prepared, const Rounding& rounding);

// `prepared` quantised on `samples`, which fit its inputs with open extents 1. Throws Usage, Negative where no sample can be
// read, Unsupported where nothing can be quantised.
Graph quantize(const Graph& prepared, SampleSource& samples, const QuantizeOptions& options, QuantizeReport* report);

}  // namespace dnn::quant
