// Faults of normalisation, quantisation and scalar parameters.
#include <cmath>

#include "faults/classes.h"
#include "ops/op.h"

namespace dnn::faults {
namespace {

bool is_batch_norm(const Node& node) { return is_op(node, "BatchNormalization"); }

bool exchange(FaultContext& context, size_t a, size_t b, const std::string& what) {
  if (!is_batch_norm(context.read())) return false;
  Node& node = context.graph.node(context.node);
  const Tensor *left = context.graph.constant(node.input(a)), *right = context.graph.constant(node.input(b));
  if (left == nullptr || right == nullptr || left->identical(*right)) return false;
  std::swap(node.inputs[a], node.inputs[b]);
  context.what = what;
  return true;
}

bool replace_numbers(FaultContext& context, size_t input, double by) {
  if (context.graph.constant(context.read().input(input)) == nullptr) return false;
  return change_numbers(context, {context.node, input},
                        [&](std::vector<double>& values) { std::fill(values.begin(), values.end(), by); });
}

// Scale or zero point of a quantising node: its input index, or none.
std::optional<size_t> quantization_input(FaultContext& context, bool zero_point) {
  const Node& node = context.read();
  std::vector<size_t> found;
  if (is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear")) {
    found = {zero_point ? size_t{2} : size_t{1}};
  } else if (is_op(node, "QLinearConv") || is_op(node, "QLinearMatMul")) {
    found = zero_point ? std::vector<size_t>{2, 5, 7} : std::vector<size_t>{1, 4, 6};
  } else {
    return std::nullopt;
  }
  const size_t input = found[context.random.below(found.size())];
  return context.graph.constant(node.input(input)) == nullptr ? std::nullopt : std::optional<size_t>(input);
}

bool change_float(FaultContext& context, const std::string& key, float before, float after) {
  if (before == after) return false;
  context.graph.node(context.node).attributes[key] = after;
  context.what = cat(key, " ", before, " -> ", after);
  return true;
}

}  // namespace

bool bn_epsilon(FaultContext& context) {
  const Node& node = context.read();
  if (!is_batch_norm(node) && !is_op(node, "LayerNormalization") && !is_op(node, "InstanceNormalization")) return false;
  const float epsilon = float_attribute(node, "epsilon");
  return change_float(context, "epsilon", epsilon, epsilon < 2e-4F ? 1e-3F : 1e-5F);
}

bool bn_mean_variance(FaultContext& context) { return exchange(context, 3, 4, "mean and variance exchanged"); }
bool bn_scale_bias(FaultContext& context) { return exchange(context, 1, 2, "scale and bias exchanged"); }

bool bn_statistics(FaultContext& context) {
  if (!is_batch_norm(context.read())) return false;
  context.what = "mean 0 and variance 1 in place of the statistics";
  const bool mean = replace_numbers(context, 3, 0), variance = replace_numbers(context, 4, 1);
  return mean || variance;
}

bool bn_scale(FaultContext& context) {
  context.what = "scale 1";
  return is_batch_norm(context.read()) && replace_numbers(context, 1, 1);
}

bool bn_bias(FaultContext& context) {
  context.what = "bias 0";
  return is_batch_norm(context.read()) && replace_numbers(context, 2, 0);
}

bool bn_shuffled(FaultContext& context) {
  if (!is_batch_norm(context.read())) return false;
  const auto input = 1 + context.random.below(4);
  const Tensor* tensor = context.graph.constant(context.read().input(input));
  if (tensor == nullptr || tensor->rank() != 1) return false;
  std::vector<int64_t> order;
  for (int64_t i = 0; i < tensor->dim(0); ++i) order.push_back((i + 1) % tensor->dim(0));
  Tensor moved = along_axis(*tensor, 0, order);
  if (moved.identical(*tensor)) return false;
  static const char* const kNames[] = {"", "scale", "bias", "mean", "variance"};
  context.what = cat(kNames[input], " of the next channel");
  put_constant(context.graph, {context.node, input}, std::move(moved));
  return true;
}

bool quantization_scale(FaultContext& context) {
  const std::optional<size_t> input = quantization_input(context, false);
  static const double kFactors[] = {0.5, 0.9, 1.1, 2};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  context.what = cat("scale times ", factor);
  return input && change_numbers(context, {context.node, *input}, [&](std::vector<double>& values) {
           for (double& x : values) x *= factor;
         });
}

bool quantization_zero_point(FaultContext& context) {
  const std::optional<size_t> input = quantization_input(context, true);
  static const double kSteps[] = {-8, -1, 1, 8};
  const double step = kSteps[context.random.below(std::size(kSteps))];
  context.what = cat("zero point ", step > 0 ? "+" : "", step);
  return input && change_numbers(context, {context.node, *input}, [&](std::vector<double>& values) {
           for (double& x : values) x += step;
         });
}

bool slope_wrong(FaultContext& context) {
  const Node& node = context.read();
  if (is_op(node, "LeakyRelu")) {
    const float alpha = float_attribute(node, "alpha");
    return change_float(context, "alpha", alpha, alpha > 0.05F ? 0.01F : 0.3F);
  }
  if (is_op(node, "Elu") || is_op(node, "Celu")) {
    const float alpha = float_attribute(node, "alpha");
    return change_float(context, "alpha", alpha, alpha / 2);
  }
  if (is_op(node, "HardSigmoid")) {
    const float alpha = float_attribute(node, "alpha");
    return change_float(context, "alpha", alpha, alpha < 0.18F ? 0.2F : 1.0F / 6);
  }
  if (!is_op(node, "PRelu")) return false;
  context.what = "slopes halved";
  return context.graph.constant(node.input(1)) != nullptr &&
         change_numbers(context, {context.node, 1}, [](std::vector<double>& values) {
           for (double& x : values) x /= 2;
         });
}

bool lrn_wrong(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "LRN")) return false;
  const float alpha = float_attribute(node, "alpha");
  return change_float(context, "alpha", alpha, alpha * static_cast<float>(int_attribute(node, "size")));
}

bool constant_wrong(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Add") && !is_op(node, "Mul") && !is_op(node, "Sub") && !is_op(node, "Div") && !is_op(node, "Pow"))
    return false;
  static const double kFactors[] = {0.5, 0.9, 1.1, 2};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  for (size_t input : {size_t{1}, size_t{0}}) {
    const Tensor* constant = context.graph.constant(node.input(input));
    if (constant == nullptr || !is_float(constant->dtype())) continue;
    context.what = cat("constant times ", factor);
    return is_computed(context, node.input(1 - input)) &&
           change_numbers(context, {context.node, input}, [&](std::vector<double>& values) {
             for (double& x : values) x = x == 0 ? 0.1 : x * factor;
           });
  }
  return false;
}

bool clip_bounds(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Clip")) return false;
  const Tensor* high = context.graph.constant(node.input(2));
  if (high == nullptr || high->size() != 1) return false;
  context.what = "upper bound halved";
  return change_numbers(context, {context.node, 2}, [](std::vector<double>& values) { values[0] /= 2; });
}

}  // namespace dnn::faults
