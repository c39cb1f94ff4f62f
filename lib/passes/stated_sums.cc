// Means and norms of real numbers by sums in a stated order; see stated_sums.h.
#include <algorithm>
#include <string_view>

#include "graph/locate.h"
#include "ops/elementwise.h"
#include "ops/reduce.h"
#include "passes/match.h"
#include "passes/stated_sums.h"
#include "passes/steps.h"

namespace dnn {
namespace {

// By axis, whether numbers along it are averaged or added up; nothing where none is.
std::optional<std::vector<bool>> averaged_axes(const Graph& graph, const Node& node) {
  const size_t rank = graph.value(node.inputs[0]).type.shape->size();
  std::vector<bool> averaged(rank, false);
  if (is_op(node, "GlobalAveragePool")) {
    for (size_t i = 2; i < rank; ++i) averaged[i] = true;
  } else if (is_op(node, "ReduceMean") || is_op(node, "ReduceSum")) {
    const Tensor* axes = node.input(1) == kNoValue ? nullptr : graph.constant(node.inputs[1]);
    if (node.input(1) != kNoValue && axes == nullptr) return std::nullopt;
    averaged = reduced_axes(node, axes, static_cast<int64_t>(rank));
  }
  if (std::find(averaged.begin(), averaged.end(), true) == averaged.end()) return std::nullopt;
  return averaged;
}

// The rows of a LayerNormalization: the axes from `axis` on, of extents that have `size` elements together.
struct NormRows {
  size_t axis = 0;
  Shape extents;
  int64_t size = 1;
};

NormRows norm_rows(const Graph& graph, const Node& node) {
  const Shape shape = graph.value(node.inputs[0]).type.fixed_shape();
  const int64_t axis = node.attribute_int("axis", -1), rank = static_cast<int64_t>(shape.size());
  NormRows rows;
  rows.axis = static_cast<size_t>(std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank));
  rows.extents.assign(shape.begin() + static_cast<int64_t>(rows.axis), shape.end());
  rows.size = element_count(rows.extents);
  return rows;
}

// A constant scale or bias as one number for each element of a row; nothing where it differs between rows.
std::optional<Tensor> along_row(const Tensor& constant, const NormRows& rows) {
  if (constant.dtype() != DType::Float32) return std::nullopt;
  Shape shape = constant.shape();
  while (shape.size() > rows.extents.size() && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() > rows.extents.size()) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = rows.extents[rows.extents.size() - shape.size() + i];
    if (shape[i] != 1 && shape[i] != extent) return std::nullopt;
  }
  Tensor result(DType::Float32, {rows.size});
  const std::vector<int64_t> from = broadcast_offsets(rows.extents, {shape})[0];
  for (int64_t i = 0; i < rows.size; ++i) result.mutable_data<float>()[i] = constant.data<float>()[from[i]];
  return result;
}

bool is_row_norm(const Graph& graph, const Node& node) {
  if (!is_op(node, "LayerNormalization")) return false;
  const bool alone = std::all_of(node.outputs.begin() + 1, node.outputs.end(), [](ValueId v) { return v == kNoValue; });
  const NormRows rows = norm_rows(graph, node);
  if (!alone || rows.extents.empty()) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId v) {
    if (v == kNoValue) return true;
    if (graph.constant(v) != nullptr) return along_row(*graph.constant(v), rows).has_value();
    const Type& type = graph.value(v).type;
    return rows.extents.size() == 1 && type.fixed() && type.fixed_shape() == rows.extents;
  });
}

// Constants scale and shift each channel.
bool is_channel_norm(const Graph& graph, const Node& node) {
  if (!is_op(node, "InstanceNormalization") && !is_op(node, "GroupNormalization")) return false;
  const Shape x = graph.value(node.inputs[0]).type.fixed_shape();
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId v) {
    const Tensor* constant = graph.constant(v);
    return constant != nullptr && constant->dtype() == DType::Float32 && constant->shape() == Shape{x[1]};
  });
}

}  // namespace

bool has_integer_activations(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    const bool converts = is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear") ||
                          is_internal(node, "ToReal") || is_internal(node, "ToInteger") ||
                          is_internal(node, "QuantizedConv");
    return converts && graph.constant(node.inputs[0]) == nullptr;
  });
}

bool has_stated_sums(const Graph& graph, const Node& node) {
  constexpr std::string_view kOps[] = {"LayerNormalization", "RMSNormalization",  "InstanceNormalization",
                                       "GroupNormalization", "GlobalAveragePool", "ReduceMean",
                                       "ReduceSum"};
  if (!node.domain.empty() || std::find(std::begin(kOps), std::end(kOps), node.op) == std::end(kOps)) return false;
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  if (x.dtype != DType::Float32 || !x.fixed() || !y.fixed() || element_count(x.fixed_shape()) == 0) return false;
  return is_op(node, "RMSNormalization") || is_row_norm(graph, node) || is_channel_norm(graph, node) ||
         averaged_axes(graph, node);
}

namespace {

// A mean or sum: the axes that are averaged behind the others, as rows of one length; their means; these in the shape that is asked for.
void add_mean(const Graph& graph, const Node& node, Patch* patch) {
  const std::vector<bool> averaged = *averaged_axes(graph, node);
  const Shape x = graph.value(node.inputs[0]).type.fixed_shape(), y = graph.value(node.outputs[0]).type.fixed_shape();
  Steps steps(graph, node, node.inputs[0], patch);
  std::vector<int64_t> order;
  for (const bool last : {false, true}) {
    for (size_t i = 0; i < x.size(); ++i) {
      if (averaged[i] == last) order.push_back(static_cast<int64_t>(i));
    }
  }
  Shape sorted, rows;
  int64_t size = 1;
  for (const int64_t i : order) {
    sorted.push_back(x[i]);
    if (averaged[i]) size *= x[i];
    if (!averaged[i]) rows.push_back(x[i]);
  }
  if (!std::is_sorted(order.begin(), order.end())) {
    Node transpose = Steps::made("Transpose");
    transpose.attributes["perm"] = order;
    steps.step(transpose, {}, sorted, ".sorted");
  }
  rows.push_back(size);
  if (rows != sorted) steps.reshape(rows, ".rows");
  rows.back() = 1;
  const Node mean = Steps::made(is_op(node, "ReduceSum") ? "StatedSum" : "StatedMean", kInternalDomain);
  if (rows == y) return steps.finish(mean, {});
  steps.step(mean, {}, rows, ".means");
  steps.finish(Steps::made("Reshape"), {steps.shape_constant(y)});
}

// InstanceNormalization and GroupNormalization: the channels of a group and their positions as one row, whose norm is then scaled and shifted by channel.
void add_channel_norm(const Graph& graph, const Node& node, Patch* patch) {
  const Shape x = graph.value(node.inputs[0]).type.fixed_shape();
  const int64_t groups = is_op(node, "GroupNormalization") ? node.attribute_int("num_groups", 1) : x[1];
  const Shape rows = {x[0] * groups, element_count(x) / (x[0] * groups)};
  Shape by_channel(x.size() - 1, 1);
  by_channel[0] = x[1];
  Steps steps(graph, node, node.inputs[0], patch);
  if (rows != x) steps.reshape(rows, ".rows");
  Node norm = Steps::made("StatedLayerNormalization", kInternalDomain);
  norm.attributes["epsilon"] = node.attribute_float("epsilon", 1e-5F);
  Tensor ones(DType::Float32, {rows[1]});
  std::fill_n(ones.mutable_data<float>(), rows[1], 1.0F);
  steps.step(norm, {steps.constant(ones, ".ones")}, rows, ".norm");
  if (rows != x) steps.reshape(x, ".apart");
  const auto channels = [&](size_t input, const char* what) {
    return steps.constant(graph.constant(node.inputs[input])->reshaped(by_channel), what);
  };
  steps.step(Steps::made("Mul"), {channels(1, ".scale")}, x, ".scaled");
  steps.finish(Steps::made("Add"), {channels(2, ".bias")});
}

// RMSNormalization: each number over the root of its row's mean square.
void add_rms_norm(const Graph& graph, const Node& node, Patch* patch) {
  const NormRows rows = norm_rows(graph, node);
  const Shape x = graph.value(node.inputs[0]).type.fixed_shape();
  Shape joined(x.begin(), x.begin() + static_cast<int64_t>(rows.axis)), roots = x;
  std::fill(roots.begin() + static_cast<int64_t>(rows.axis), roots.end(), 1);
  joined.push_back(rows.size);
  Steps steps(graph, node, node.inputs[0], patch), result(graph, node, node.inputs[0], patch);
  steps.step(Steps::made("Mul"), {node.inputs[0]}, x, ".squares");
  if (joined != x) steps.reshape(joined, ".rows");
  joined.back() = 1;
  steps.step(Steps::made("StatedMean", kInternalDomain), {}, joined, ".means");
  const Tensor epsilon = Tensor::scalar(node.attribute_float("epsilon", 1e-5F));
  steps.step(Steps::made("Add"), {steps.constant(epsilon, ".epsilon")}, joined, ".raised");
  steps.step(Steps::made("Sqrt"), {}, joined, ".roots");
  if (joined != roots) steps.reshape(roots, ".apart");
  result.step(Steps::made("Div"), {steps.last()}, x, ".norm");
  result.finish(Steps::made("Mul"), {node.inputs[1]});
}

// LayerNormalization of rows: where several axes make one, they are joined in front and apart again behind.
void add_norm(const Graph& graph, const Node& node, Patch* patch) {
  const NormRows rows = norm_rows(graph, node);
  const std::string name = graph.value(node.outputs[0]).name;
  const auto add = [&](Node made, std::vector<ValueId> inputs, ValueId output, const char* what) {
    made.name = node.name + what;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    made.sources = sources_of(node);
    patch->add_node(std::move(made));
  };
  const auto in_shape = [&](ValueId from, const Shape& shape, ValueId to, const char* what) {
    Node reshape;
    reshape.op = "Reshape";
    const Tensor extents = Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape);
    add(reshape, {from, patch->add_constant(name + ".shape", extents)}, to, what);
  };
  const Shape shape = graph.value(node.inputs[0]).type.fixed_shape();
  Shape joined(shape.begin(), shape.begin() + static_cast<int64_t>(rows.axis));
  joined.push_back(rows.size);
  const Type type(DType::Float32, {joined.begin(), joined.end()});
  const bool joins = joined.size() != shape.size();
  std::vector<ValueId> inputs = node.inputs;
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Tensor* constant = inputs[i] == kNoValue ? nullptr : graph.constant(inputs[i]);
    if (constant != nullptr && constant->shape() != Shape{rows.size})
      inputs[i] = patch->add_constant(graph.value(inputs[i]).name + ".row", *along_row(*constant, rows));
  }
  if (joins) {
    inputs[0] = patch->add_value(name + ".rows", type);
    in_shape(node.inputs[0], joined, inputs[0], ".rows");
  }
  Node stated;
  stated.domain = kInternalDomain;
  stated.op = "StatedLayerNormalization";
  if (const auto at = node.attributes.find("epsilon"); at != node.attributes.end())
    stated.attributes["epsilon"] = at->second;
  const ValueId result = joins ? patch->add_value(name + ".norm", type) : node.outputs[0];
  add(stated, inputs, result, "");
  if (joins) in_shape(result, shape, node.outputs[0], ".apart");
}

}  // namespace

Patch with_stated_sums(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Patch patch(graph, label_in(graph, node) + " by sums in a stated order");
  patch.remove_node(id);
  if (is_op(node, "LayerNormalization")) {
    add_norm(graph, node, &patch);
  } else if (is_op(node, "RMSNormalization")) {
    add_rms_norm(graph, node, &patch);
  } else if (is_channel_norm(graph, node)) {
    add_channel_norm(graph, node, &patch);
  } else {
    add_mean(graph, node, &patch);
  }
  return patch;
}

}  // namespace dnn
