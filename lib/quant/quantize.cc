// Quantising; see quantize.h.
#include "quant/quantize.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "convert/certificate.h"
#include "convert/surgery.h"
#include "graph/locate.h"
#include "ops/op.h"
#include "quant/bias.h"
#include "quant/coarse.h"
#include "quant/rewrite.h"

namespace dnn::quant {
namespace {

// Operators that say that a network computes on integers already.
bool computes_on_integers(const Node& node) {
  return node.op == "QuantizeLinear" || node.op == "DequantizeLinear" || node.op == "ConvInteger" ||
         node.op == "MatMulInteger" || node.op == "DynamicQuantizeLinear" || starts_with(node.op, "QLinear");
}

double weights_sqnr_db(const Tensor& real, const QuantizedWeights& rounded, int64_t axis) {
  const size_t step = axis < 0 ? real.size() : row_major_strides(real.shape())[axis];
  const std::span<const float> w = real.values<float>();
  const std::span<const int8_t> q = rounded.values.values<int8_t>();
  double signal = 0, noise = 0;
  for (size_t i = 0; i < w.size(); ++i) {
    const double x = static_cast<double>(w[i]);
    const double y = static_cast<double>(q[i]) * static_cast<double>(rounded.scales[i / step % rounded.scales.size()]);
    signal += x * x;
    noise += (x - y) * (x - y);
  }
  return noise == 0 ? std::numeric_limits<double>::infinity() : 10 * std::log10(signal / noise);
}

Seen seen_by_group(const Plan& plan, size_t group, const std::map<ValueId, Seen>& by_value) {
  Seen all;
  for (ValueId v : plan.groups[group]) {
    if (const auto seen = by_value.find(v); seen != by_value.end()) all.add(seen->second);
  }
  return all;
}

Affine fixed_affine(Role role, const Scheme& scheme) {
  if (scheme.symmetric) return affine_of(-1, 1, scheme.activations, true);
  const bool both = role == Role::SignedUnitRange;
  // TFLite's scales of LOGISTIC and TANH: 1/256 and 1/128, so that the largest integer stands a step below 1.
  return affine_of(both ? -1 : 0, both ? 127.0 / 128 : 255.0 / 256, scheme.activations, false);
}

bool is_symmetric(const Plan& plan, size_t group, const Scheme& scheme) {
  return scheme.symmetric || plan.around_zero[group];
}

Affine choose_quantizer(const Graph& bound, const Plan& plan, size_t group, const Calibration& calibration,
                        const QuantizeOptions& options, QuantizeReport* report) {
  const Scheme& scheme = options.scheme;
  const Seen seen = seen_by_group(plan, group, calibration.seen);
  QuantizerReport said;
  for (ValueId v : plan.groups[group]) said.values.push_back(bound.value(v).name);
  if (seen.samples == 0)
    fail_usage("the calibration says nothing of value '", said.values.front(), "', which these options need");
  said.seen = {seen.histogram.lowest(), seen.histogram.highest()};
  if (plan.fixed[group]) {
    said.affine = fixed_affine(*plan.fixed[group], scheme);
    said.range = {said.affine.lowest(), said.affine.highest()};
  } else {
    const bool symmetric = is_symmetric(plan, group, scheme);
    said.range = options.method.choose(seen, scheme.activations, symmetric);
    said.affine = affine_of(said.range.low, said.range.high, scheme.activations, symmetric);
  }
  said.cost = cost_of(seen.histogram, said.affine);
  report->quantizers.push_back(said);
  return said.affine;
}

// Chooses what is quantised, and its scales. Sums that they lose go to float32, where the scales around them may be others.
void choose_scales(const Graph& bound, const Calibration& calibration, const QuantizeOptions& options,
                   const std::set<NodeId>& left_float, Rounding* result, QuantizeReport* report) {
  std::set<NodeId> coarse;
  while (true) {
    result->plan = plan_network(bound, options, left_float, coarse);
    result->quantizers.groups.clear();
    report->quantizers.clear();
    for (size_t g = 0; g < result->plan.groups.size(); ++g)
      result->quantizers.groups.push_back(choose_quantizer(bound, result->plan, g, calibration, options, report));
    const std::set<NodeId> more = coarse_sums(bound, result->plan, result->quantizers.groups);
    if (more.empty()) return;
    coarse.insert(more.begin(), more.end());
  }
}

}  // namespace

void refuse_quantised(const Graph& model) {
  for (NodeId id : model.order()) {
    if (computes_on_integers(model.node(id)))
      fail_unsupported(label_in(model, model.node(id)), ": the network is quantised already; give the float32 one");
  }
}

void refuse_other_types(const Graph& bound) {
  std::optional<DType> other;
  for (NodeId id : bound.order()) {
    for (ValueId v : bound.node(id).inputs) {
      const DType dtype = v == kNoValue ? DType::Undefined : bound.value(v).type.dtype;
      if (dtype == DType::Float32) return;
      if (is_float(dtype)) other = dtype;
    }
  }
  if (!other) fail_unsupported("the network computes nothing of float32 numbers");
  fail_unsupported("the network computes in ", dtype_name(*other), "; give it in float32",
                   *other == DType::Float16 ? ", as dnn-convert --dtype float32 writes it" : "");
}

Graph prepare(Graph model, bool layer_norms) {
  refuse_quantised(model);
  fold_into_layers(model);
  if (layer_norms) recognize_layer_norms(model);
  return model;
}

std::set<std::string> names_after(const Graph& model, const Graph& prepared, const std::set<std::string>& names) {
  const auto maker = [](const Graph& graph, const std::string& name) -> const Node* {
    for (NodeId id : graph.order()) {
      for (ValueId v : graph.node(id).outputs) {
        if (v != kNoValue && graph.value(v).name == name) return &graph.node(id);
      }
    }
    return nullptr;
  };
  std::set<std::string> result;
  for (const std::string& name : names) {
    const Node* before = maker(prepared, name) == nullptr ? maker(model, name) : nullptr;
    result.insert(before == nullptr || before->name.empty() ? name : before->name);
  }
  return result;
}

Graph bound_graph(const Graph& prepared) {
  Graph bound = prepared;
  fix_open_extents(bound);
  infer_types(bound);
  return bound;
}

Plan plan_network(const Graph& bound, const QuantizeOptions& options, const std::set<NodeId>& left_float,
                  const std::set<NodeId>& coarse) {
  PlanOptions plan;
  plan.keep_float = options.keep_float;
  plan.left_float = left_float;
  plan.coarse = coarse;
  plan.activations = options.scheme.activations != DType::Undefined;
  plan.fuses = options.fuses;
  plan.factors_around_zero = options.factors_around_zero;
  plan.real_results = options.real_results;
  plan.integer_outputs = options.integer_outputs;
  return make_plan(bound, plan);
}

Calibration watch_list(const Graph& bound, const QuantizeOptions& options) {
  const Plan plan = plan_network(bound, options, {});
  if (plan.weights.empty() && plan.groups.empty()) {
    refuse_other_types(bound);
    fail_unsupported("the network has no operator that can be quantised");
  }
  Calibration calibration;
  for (const std::vector<ValueId>& group : plan.groups) {
    for (ValueId v : group) calibration.seen[v];
  }
  for (const Weights& weights : plan.weights) {
    const std::optional<int> axis = options.correct_biases ? mean_axis(bound, weights) : std::nullopt;
    if (axis) calibration.means[bound.node(weights.node).inputs[0]].axis = *axis;
  }
  return calibration;
}

Movement range_movement(const Graph& bound, const Calibration& calibration, const QuantizeOptions& options) {
  constexpr double kMost = 0.1;  // of the range
  const Plan plan = plan_network(bound, options, {});
  const Scheme& scheme = options.scheme;
  Movement result;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const Seen early = seen_by_group(plan, g, calibration.early), all = seen_by_group(plan, g, calibration.seen);
    if (plan.fixed[g] || early.samples == 0 || early.histogram.empty()) continue;
    const bool symmetric = is_symmetric(plan, g, scheme);
    const Range a = options.method.choose(early, scheme.activations, symmetric);
    const Range b = options.method.choose(all, scheme.activations, symmetric);
    ++result.ranges;
    const double most = kMost * (b.high - b.low);
    result.moved += std::abs(a.low - b.low) > most || std::abs(a.high - b.high) > most ? 1 : 0;
  }
  return result;
}

Calibration whole_watch_list(const Graph& bound, const QuantizeOptions& options) {
  Calibration all = watch_list(bound, options);
  for (const auto& fuses : {fuses_in_onnx, fuses_in_tflite, fuses_in_qoperator}) {
    QuantizeOptions other = options;
    other.scheme = schemes().front();
    other.keep_float.clear();
    other.correct_biases = true;
    other.fuses = fuses;
    other.real_results = fuses == fuses_in_onnx;
    other.integer_outputs = true;
    const Calibration more = watch_list(bound, other);
    all.seen.insert(more.seen.begin(), more.seen.end());
    all.means.insert(more.means.begin(), more.means.end());
  }
  return all;
}

Rounding round_network(const Graph& bound, const Calibration& calibration, const QuantizeOptions& options,
                       const std::set<NodeId>& left_float, QuantizeReport* report) {
  Rounding result;
  choose_scales(bound, calibration, options, left_float, &result, report);
  const Plan& plan = result.plan;
  report->scheme = options.scheme.name;
  if (options.scheme.activations != DType::Undefined) report->method = options.method.name;
  report->samples = calibration.samples;
  if (options.reduce_range) result.quantizers.largest_weight = kReducedWeight;
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const Weights& which = plan.weights[i];
    const Node& node = bound.node(which.node);
    result.weights.push_back(quantize_node_weights(bound, plan, i, result.quantizers));
    const WrittenWeights& w = result.weights.back();
    const Tensor& real = *bound.constant(node.inputs[1]);
    report->weights.push_back({node.name,
                               node.op,
                               bound.value(node.inputs[1]).name,
                               real.size(),
                               static_cast<int64_t>(w.weights.scales.size()),
                               weights_sqnr_db(real, w.weights, which.axis),
                               w.widened,
                               {}});
    const auto means = calibration.means.find(node.inputs[0]);
    if (!options.correct_biases || !mean_axis(bound, which) || means == calibration.means.end()) continue;
    if (auto bias = corrected_bias(bound, which, w.weights, means->second))
      result.quantizers.biases[which.node] = std::move(*bias);
  }
  for (size_t i = 0; i < plan.weights.size(); ++i)
    report->weights[i].sums = accumulators_of(bound, plan, i, result.quantizers, result.weights[i]);
  for (size_t i = 0; i < plan.left_float.size(); ++i) {
    const Node& node = bound.node(plan.left_float[i]);
    report->left_float.push_back(
        {node.name.empty() ? bound.value(node.outputs[0]).name : node.name, node.op, plan.reasons[i]});
  }
  report->integer_nodes = std::count(plan.quantized.begin(), plan.quantized.end(), true);
  return result;
}

Graph insert_rounding(const Graph& prepared, const Rounding& rounding) {
  Graph result = prepared;
  insert_quantizers(result, rounding.plan, rounding.quantizers, rounding.weights);
  infer_types(result);
  verify(result);
  return result;
}

Graph quantize(const Graph& prepared, SampleSource& samples, const QuantizeOptions& options, QuantizeReport* report) {
  const Graph bound = bound_graph(prepared);
  Calibration calibration = watch_list(bound, options);
  calibrate(bound, samples, options.calibrate, &calibration);
  return insert_rounding(prepared, round_network(bound, calibration, options, {}, report));
}

}  // namespace dnn::quant
