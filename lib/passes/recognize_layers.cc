// recognize-dense: MatMul by a constant matrix, then Add of a constant row, become Gemm. recognize-batch-norm: Mul, then Add of
// one constant per channel, become BatchNormalization with a mean of 0, a variance of 1 and no epsilon, the same numbers.
#include "graph/locate.h"
#include "passes/recognize.h"

namespace dnn {
namespace {

// The constant operand of a node of two operands, the other being `x`; kNoValue where there is none.
ValueId constant_beside(const Graph& graph, const Node& node, ValueId x) {
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return kNoValue;
  const ValueId other = node.inputs[node.inputs[0] == x ? 1 : 0];
  return graph.constant(other) != nullptr && !graph.is_input(other) ? other : kNoValue;
}

size_t rank(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  return type.shape ? type.shape->size() : 0;
}

std::optional<Patch> dense(const Graph& graph, const Uses& uses, NodeId id) {
  const Node& product = graph.node(id);
  const Tensor* weight = graph.constant(product.inputs[1]);
  const ValueId y = product.outputs[0];
  const NodeId next = only_reader(graph, uses, y);
  if (weight == nullptr || weight->rank() != 2 || rank(graph, product.inputs[0]) != 2 || next < 0 ||
      !is_op(graph.node(next), "Add"))
    return std::nullopt;
  const ValueId bias = constant_beside(graph, graph.node(next), y);
  const Tensor* row = graph.constant(bias);
  if (row == nullptr || row->dtype() != weight->dtype() || row->size() != weight->dim(1) || row->rank() < 1 ||
      row->rank() > 2 || row->dim(row->rank() - 1) != row->size())
    return std::nullopt;
  Recognizer r(graph, uses);
  r.maker(y, "MatMul");
  r.maker(graph.node(next).outputs[0], "Add");
  Node gemm;
  gemm.op = "Gemm";
  gemm.inputs = {product.inputs[0], product.inputs[1], bias};
  return r.replacement(next, std::move(gemm), "Gemm");
}

std::optional<Patch> recognized_batch_norm(const Graph& graph, const Uses& uses, NodeId id) {
  const Node& mul = graph.node(id);
  const ValueId y = mul.outputs[0];
  const auto n = static_cast<int>(rank(graph, y));
  const NodeId next = only_reader(graph, uses, y);
  if (n < 3 || next < 0 || !is_op(graph.node(next), "Add")) return std::nullopt;
  const Node& add = graph.node(next);
  const ValueId scale = constant_beside(graph, mul,
                                        graph.constant(mul.inputs[0]) == nullptr ? mul.inputs[0] : mul.inputs[1]),
                shift = constant_beside(graph, add, y);
  if (scale == kNoValue || shift == kNoValue) return std::nullopt;
  const ValueId x = mul.inputs[mul.inputs[0] == scale ? 1 : 0];
  const Dim& channels = (*graph.value(y).type.shape)[1];
  if (!channels.fixed() || graph.value(x).type.shape != graph.value(y).type.shape ||
      graph.value(add.outputs[0]).type != graph.value(y).type)
    return std::nullopt;
  const Tensor &s = *graph.constant(scale), &t = *graph.constant(shift);
  const auto factors = per_channel(s, n, channels.size), shifts = per_channel(t, n, channels.size);
  if (!factors || !shifts || s.size() != channels.size || s.dtype() != graph.value(x).type.dtype) return std::nullopt;
  Recognizer r(graph, uses);
  r.maker(y, "Mul");
  r.maker(add.outputs[0], "Add");
  Patch patch(graph, label_in(graph, add) + " and " + label_in(graph, mul) + " are BatchNormalization");
  const Shape shape = {channels.size};
  const std::string base = graph.value(add.outputs[0]).name;
  const auto constant = [&](const std::string& name, const std::vector<double>& values) {
    return patch.add_constant(name, convert(Tensor::of<double>(shape, values), s.dtype()));
  };
  Node node;
  node.op = "BatchNormalization";
  node.attributes = {{"epsilon", 0.0f}};
  node.inputs = {x, constant(graph.value(scale).name, *factors), constant(graph.value(shift).name, *shifts),
                 constant(base + ".mean", std::vector<double>(factors->size(), 0)),
                 constant(base + ".variance", std::vector<double>(factors->size(), 1))};
  r.replace(next, std::move(node), &patch);
  return patch;
}

template <class Find>
std::vector<Patch> each(const Graph& graph, std::string_view op, const Find& find) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    if (!is_op(graph.node(id), op) || !is_float(graph.value(graph.node(id).outputs[0]).type.dtype)) continue;
    if (auto found = find(graph, uses, id)) patches.push_back(std::move(*found));
  }
  return patches;
}

}  // namespace

std::vector<Patch> recognize_dense(const Graph& graph, const PassContext&) { return each(graph, "MatMul", dense); }

std::vector<Patch> recognize_batch_norm(const Graph& graph, const PassContext&) {
  return each(graph, "Mul", recognized_batch_norm);
}

}  // namespace dnn
