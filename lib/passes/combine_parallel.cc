// combine-parallel-conv2d, -dense, -batch-matmul: branches that multiply one input by different constant weights become
// one wide product, split again behind it. Per output element the arithmetic is the same.
#include <map>

#include "interp/interpreter.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// Joins constants along an axis (through Concat's own kernel).
Tensor joined(const std::vector<const Tensor*>& parts, int64_t axis) {
  Node concat;
  concat.op = "Concat";
  concat.attributes["axis"] = axis;
  concat.inputs.resize(parts.size());
  concat.outputs.resize(1);
  return interpret_node(concat, parts)[0];
}

struct Family {
  bool (*holds)(const Node& node);
  int64_t output_axis;  // of the output columns in the result
};

// The axis of the output columns in the weights, which are constant.
int64_t weight_axis(const Graph& graph, const Node& node) {
  return weight_axes(node, graph.constant(node.inputs[1])->rank())->output;
}

// Nodes with equal keys can be combined; "" for those that cannot.
std::string key_of(const Graph& graph, const Node& node) {
  const Tensor* weight = graph.constant(node.input(1));
  if (node.input(1) == kNoValue || weight == nullptr || !graph.value(node.inputs[0]).type.fixed()) return {};
  const Tensor* bias = node.input(2) == kNoValue ? nullptr : graph.constant(node.input(2));
  if (node.input(2) != kNoValue && (bias == nullptr || bias->rank() != 1)) return {};
  const bool convolves = is_convolution(node);
  if (convolves && node.attribute_int("group", 1) != 1) return {};
  if (weight->rank() != (convolves ? 4 : 2)) return {};
  const size_t columns = weight_axis(graph, node);
  if (!convolves && bias != nullptr && bias->dim(0) != weight->shape()[columns]) return {};
  std::string text = cat(node.inputs[0], " ", bias != nullptr, " ");
  for (const auto& [name, attribute] : node.attributes) {
    text += name + "=";
    if (const auto* i = std::get_if<int64_t>(&attribute)) text += cat(*i);
    if (const auto* f = std::get_if<float>(&attribute)) text += exact_text(*f);
    if (const auto* s = std::get_if<std::string>(&attribute)) text += *s;
    if (const auto* v = std::get_if<std::vector<int64_t>>(&attribute)) text += join(*v);
    text += ";";
  }
  Shape rest = weight->shape();
  rest[columns] = 0;
  return text + shape_text(rest);
}

Patch combine(const Graph& graph, const Family& family, const std::vector<NodeId>& branches) {
  const Node& first = graph.node(branches[0]);
  std::vector<const Tensor*> weights, biases;
  std::vector<int64_t> columns;
  Patch patch(graph, cat(branches.size(), " ", first.op, " of '", graph.value(first.inputs[0]).name, "' into one"));
  Node wide = first, split;
  wide.sources.clear();
  split.op = "Split";
  for (NodeId id : branches) {
    const Node& node = graph.node(id);
    weights.push_back(graph.constant(node.inputs[1]));
    if (node.input(2) != kNoValue) biases.push_back(graph.constant(node.inputs[2]));
    columns.push_back(weights.back()->shape()[weight_axis(graph, node)]);
    split.outputs.push_back(node.outputs[0]);
    for (const std::string& source : sources_of(node)) wide.sources.push_back(source);
    patch.remove_node(id);
  }
  const std::string base = graph.value(first.outputs[0]).name;
  wide.inputs[1] =
      patch.add_constant(graph.value(first.inputs[1]).name + ".combined", joined(weights, weight_axis(graph, first)));
  if (!biases.empty()) wide.inputs[2] = patch.add_constant(base + ".combined_bias", joined(biases, 0));
  const ValueId all = patch.add_value(base + ".combined", Type());
  wide.outputs = {all};
  const auto rank = static_cast<int64_t>(graph.value(first.outputs[0]).type.shape->size());
  split.attributes["axis"] = family.output_axis < 0 ? family.output_axis + rank : family.output_axis;
  split.inputs = {
      all, patch.add_constant(base + ".columns", Tensor::of<int64_t>({static_cast<int64_t>(columns.size())}, columns))};
  patch.add_node(std::move(wide));
  patch.add_node(std::move(split));
  patch.place_at(branches[0]);  // all branches read the same value, and their readers come after the first of them
  return patch;
}

std::vector<Patch> run(const Graph& graph, const Family& family) {
  std::map<std::string, std::vector<NodeId>> groups;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!family.holds(node) || !graph.value(node.outputs[0]).type.fixed()) continue;
    const std::string key = key_of(graph, node);
    if (!key.empty()) groups[key].push_back(id);
  }
  std::vector<Patch> patches;
  for (const auto& [key, branches] : groups) {
    if (branches.size() >= 2) patches.push_back(combine(graph, family, branches));
  }
  return patches;
}

}  // namespace

std::vector<Patch> combine_parallel_conv2d(const Graph& graph, const PassContext&) {
  return run(graph, {is_convolution, 1});
}
std::vector<Patch> combine_parallel_dense(const Graph& graph, const PassContext&) {
  return run(graph, {[](const Node& node) { return is_op(node, "Gemm"); }, 1});
}
std::vector<Patch> combine_parallel_batch_matmul(const Graph& graph, const PassContext&) {
  return run(graph, {[](const Node& node) { return is_op(node, "MatMul"); }, -1});
}

}  // namespace dnn
