// Faults of quantised networks: scales, zero points, axes and rows that no quantiser chose.
#include <algorithm>
#include <cmath>
#include <set>

#include "faults/classes.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn::faults {
namespace {

// The DequantizeLinear behind a layer's weights or bias; -1: none.
NodeId dequantizer_of(const FaultContext& context, size_t input) {
  const Node& node = context.read();
  if (!is_weighted(node) || node.input(input) == kNoValue) return -1;
  const NodeId maker = context.uses.producer[node.input(input)];
  if (maker < 0 || !is_op(context.graph.node(maker), "DequantizeLinear")) return -1;
  const Node& made = context.graph.node(maker);
  return context.graph.constant(made.input(0)) != nullptr && context.graph.constant(made.input(1)) != nullptr ? maker
                                                                                                              : -1;
}

// A quantiser of an activation and all that dequantises it, which are one quantity.
std::vector<NodeId> quantisers_of_activation(const FaultContext& context) {
  static const std::set<std::string, std::less<>> kMoves = {"Reshape", "Flatten", "Transpose", "Squeeze", "MaxPool"};
  const Node& node = context.read();
  if (!is_op(node, "QuantizeLinear") || context.graph.constant(node.input(0)) != nullptr) return {};
  std::vector<NodeId> found = {context.node};
  std::vector<ValueId> open = {node.output(0)};
  while (!open.empty()) {
    const ValueId v = open.back();
    open.pop_back();
    for (NodeId id : context.uses.readers[v]) {
      const Node& reader = context.graph.node(id);
      if (is_op(reader, "DequantizeLinear")) found.push_back(id);
      if (kMoves.count(reader.op) != 0) open.push_back(reader.output(0));
    }
  }
  for (NodeId id : found) {
    const Tensor* number = context.graph.constant(context.graph.node(id).input(1));
    if (number == nullptr || number->size() != 1 || context.graph.constant(context.graph.node(id).input(2)) == nullptr)
      return {};
  }
  return found;
}

// Rows of outputs of integers: their axis, where scales by channel lie along one.
std::optional<size_t> row_axis(const FaultContext& context, NodeId dequantizer) {
  const Node& layer = context.read();
  const Tensor& integers = *context.graph.constant(context.graph.node(dequantizer).input(0));
  if (integers.rank() < 2) return std::nullopt;
  const std::optional<WeightAxes> axes = weight_axes(layer, integers.rank());
  return static_cast<size_t>(axes ? axes->output : integers.rank() - 1);
}

bool change_row(FaultContext& context, const std::string& what, const std::function<double(double)>& change) {
  const NodeId dequantizer = dequantizer_of(context, 1);
  const auto axis = dequantizer < 0 ? std::nullopt : row_axis(context, dequantizer);
  if (!axis) return false;
  const Tensor& integers = *context.graph.constant(context.graph.node(dequantizer).input(0));
  const auto n = static_cast<size_t>(integers.shape()[*axis]),
             stride = static_cast<size_t>(row_major_strides(integers.shape())[*axis]);
  const size_t row = context.random.below(n);
  context.what = cat("row ", row, " ", what);
  return change_numbers(context, {dequantizer, 0}, [&](std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (i / stride % n == row) values[i] = change(values[i]);
    }
  });
}

}  // namespace

bool quantised_scale(FaultContext& context) {
  static const double kFactors[] = {0.25, 0.5, 2, 4};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  context.what = cat("scale of an activation times ", factor);
  const std::vector<NodeId> nodes = quantisers_of_activation(context);
  for (NodeId id : nodes) {
    if (!change_numbers(context, {id, 1}, [&](std::vector<double>& values) { values[0] *= factor; })) return false;
  }
  return !nodes.empty();
}

bool quantised_zero_point(FaultContext& context) {
  static const double kSteps[] = {-96, -64, 64, 96};
  double step = kSteps[context.random.below(std::size(kSteps))];
  const std::vector<NodeId> nodes = quantisers_of_activation(context);
  if (nodes.empty()) return false;
  const Tensor& zero = *context.graph.constant(context.graph.node(context.node).input(2));
  const bool sign = dtype_class(zero.dtype()) == DTypeClass::Signed;
  const double least = sign ? -128 : 0, most = sign ? 127 : 255, before = to_doubles(zero)[0];
  if (before + step < least || before + step > most) step = -step;
  if (before + step < least || before + step > most) return false;
  context.what = cat("zero point of an activation ", step > 0 ? "+" : "", step);
  for (NodeId id : nodes) {
    if (!change_numbers(context, {id, 2}, [&](std::vector<double>& values) { values[0] += step; })) return false;
  }
  return true;
}

bool quantised_weight_scale(FaultContext& context) {
  static const double kFactors[] = {0.1, 0.5, 2, 10};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  const NodeId dequantizer = dequantizer_of(context, 1);
  if (dequantizer < 0) return false;
  const size_t n = context.graph.constant(context.graph.node(dequantizer).input(1))->size();
  const size_t channel = context.random.below(n);
  const bool all = context.random.below(2) == 0;
  context.what = cat(all || n == 1 ? std::string("scales of weights") : cat("scale of weights of channel ", channel),
                     " times ", factor);
  return change_numbers(context, {dequantizer, 1}, [&](std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) values[i] *= all || i == channel ? factor : 1;
  });
}

bool quantised_weight_zero_point(FaultContext& context) {
  static const double kSteps[] = {-16, -4, 4, 16};
  const double step = kSteps[context.random.below(std::size(kSteps))];
  const NodeId dequantizer = dequantizer_of(context, 1);
  if (dequantizer < 0 || context.graph.constant(context.graph.node(dequantizer).input(2)) == nullptr) return false;
  context.what = cat("zero point of weights ", step > 0 ? "+" : "", step);
  return change_numbers(context, {dequantizer, 2}, [&](std::vector<double>& values) {
    for (double& z : values) z += step;
  });
}

bool quantised_axis(FaultContext& context) {
  const NodeId dequantizer = dequantizer_of(context, 1);
  const auto axis = dequantizer < 0 ? std::nullopt : row_axis(context, dequantizer);
  if (!axis) return false;
  Node& node = context.graph.node(dequantizer);
  const Tensor &integers = *context.graph.constant(node.input(0)), &scales = *context.graph.constant(node.input(1));
  if (scales.size() < 2) return false;
  for (int other = 0; other < integers.rank(); ++other) {
    if (static_cast<size_t>(other) == *axis || integers.dim(other) != scales.size()) continue;
    node.attributes["axis"] = static_cast<int64_t>(other);
    context.what = cat("scales of weights along axis ", other);
    return true;
  }
  context.what = "scales of weights off by one channel";
  return change_numbers(context, {dequantizer, 1}, [](std::vector<double>& values) {
    std::rotate(values.begin(), values.begin() + 1, values.end());
  });
}

bool quantised_rows_swapped(FaultContext& context) {
  const NodeId dequantizer = dequantizer_of(context, 1);
  const auto axis = dequantizer < 0 ? std::nullopt : row_axis(context, dequantizer);
  if (!axis) return false;
  const Tensor integers = *context.graph.constant(context.graph.node(dequantizer).input(0));
  std::vector<int64_t> order(integers.shape()[*axis]);
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  if (order.size() < 2) return false;
  const size_t a = context.random.below(order.size()),
               b = (a + 1 + context.random.below(order.size() - 1)) % order.size();
  std::swap(order[a], order[b]);
  Tensor swapped = along_axis(integers, *axis, order);
  if (swapped.identical(integers)) return false;
  put_constant(context.graph, {dequantizer, 0}, std::move(swapped));
  context.what = cat("rows ", a, " and ", b, " of weights exchanged");
  return true;
}

bool quantised_row_rounded(FaultContext& context) {
  return change_row(context, "of weights rounded towards zero once more", [](double q) {
    return q > 0 ? q - 1 : q < 0 ? q + 1 : q;
  });
}

bool quantised_row_shifted(FaultContext& context) {
  return change_row(context, "of weights shifted right by a bit", [](double q) { return std::floor(q / 2); });
}

bool quantised_bias_scale(FaultContext& context) {
  static const double kFactors[] = {0.25, 0.5, 2, 4};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  const NodeId dequantizer = dequantizer_of(context, 2);
  context.what = cat("scale of a bias times ", factor);
  return dequantizer >= 0 && change_numbers(context, {dequantizer, 1}, [&](std::vector<double>& values) {
           for (double& s : values) s *= factor;
         });
}

}  // namespace dnn::faults
