// Reading and changing a graph for a fault; see edit.h.
#include "faults/edit.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "ops/movement.h"
#include "ops/op.h"

namespace dnn::faults {

bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

bool is_weighted(const Node& node) { return has_trait(node, Trait::Weighted); }

bool is_activation(const Node& node) { return has_trait(node, Trait::Activates); }

std::optional<Place> constant_behind(const FaultContext& context, NodeId node, size_t input) {
  for (int steps = 0; steps < 3; ++steps) {
    const ValueId value = context.graph.node(node).input(input);
    if (value == kNoValue) return std::nullopt;
    if (context.graph.constant(value) != nullptr) return Place{node, input};
    const NodeId maker = context.uses.producer[value];
    if (maker < 0) return std::nullopt;
    const Node& made = context.graph.node(maker);
    if (!is_op(made, "DequantizeLinear") && !is_op(made, "Cast")) return std::nullopt;
    node = maker;
    input = 0;
  }
  return std::nullopt;
}

std::optional<Place> weights_of(const FaultContext& context, NodeId node) {
  if (!is_weighted(context.graph.node(node))) return std::nullopt;
  std::optional<Place> place = constant_behind(context, node, 1);
  return place && tensor_at(context.graph, *place).size() > 1 ? place : std::nullopt;
}

std::optional<Place> bias_of(const FaultContext& context, NodeId node) {
  const Node& n = context.graph.node(node);
  if (!is_weighted(n) || is_op(n, "MatMul")) return std::nullopt;
  return constant_behind(context, node, 2);
}

const Tensor& tensor_at(const Graph& graph, Place place) {
  return *graph.constant(graph.node(place.node).input(place.input));
}

std::vector<Place> others_like(const FaultContext& context, Place place,
                               std::optional<Place> (*find)(const FaultContext&, NodeId)) {
  const Tensor& tensor = tensor_at(context.graph, place);
  std::vector<Place> found;
  for (NodeId id : context.graph.order()) {
    const std::optional<Place> other = find(context, id);
    if (!other) continue;
    const Tensor& candidate = tensor_at(context.graph, *other);
    if (candidate.dtype() == tensor.dtype() && candidate.shape() == tensor.shape() && !candidate.identical(tensor))
      found.push_back(*other);
  }
  return found;
}

void put_constant(Graph& graph, Place place, Tensor tensor) {
  const ValueId old = graph.node(place.node).input(place.input);
  set_constant(graph, place.node, place.input, std::move(tensor), graph.value(old).name + "_faulty");
}

bool change_numbers(FaultContext& context, Place place, const std::function<void(std::vector<double>&)>& change) {
  const Tensor before = tensor_at(context.graph, place);
  if (!is_float(before.dtype()) && !is_integer(before.dtype())) return false;
  std::vector<double> values = to_doubles(before);
  change(values);
  if (is_integer(before.dtype())) {
    const int bits = dtype_bits(before.dtype());
    const bool sign = dtype_class(before.dtype()) == DTypeClass::Signed;
    const double low = sign ? -std::ldexp(1.0, bits - 1) : 0, high = std::ldexp(1.0, sign ? bits - 1 : bits) - 1;
    for (double& x : values) x = std::clamp(std::nearbyint(x), low, high);
  }
  Tensor after = convert(Tensor::of<double>(before.shape(), values), before.dtype());
  if (after.identical(before) || to_doubles(after) == to_doubles(before)) return false;  // 0 and -0 are one number
  put_constant(context.graph, place, std::move(after));
  return true;
}

Tensor rearranged(const Tensor& tensor, const Shape& shape, const std::function<int64_t(int64_t)>& from) {
  std::vector<int64_t> offsets(element_count(shape));
  for (size_t i = 0; i < offsets.size(); ++i) offsets[i] = from(static_cast<int64_t>(i));
  return take(tensor, shape, offsets);
}

Tensor along_axis(const Tensor& tensor, size_t axis, const std::vector<int64_t>& order) {
  const std::vector<int64_t> strides = row_major_strides(tensor.shape());
  return pick(tensor, tensor.shape(), [&](size_t a, int64_t i) { return (a == axis ? order[i] : i) * strides[a]; });
}

std::optional<Shape> shape_of(const Graph& graph, ValueId value) {
  if (value == kNoValue || !graph.value(value).type.fixed()) return std::nullopt;
  return graph.value(value).type.fixed_shape();
}

bool is_computed(const FaultContext& context, ValueId value) {
  return value != kNoValue && context.graph.constant(value) == nullptr;
}

std::vector<NodeId> readers_of(const FaultContext& context, NodeId node) {
  const ValueId made = context.graph.node(node).output(0);
  return made == kNoValue ? std::vector<NodeId>() : context.uses.readers[made];
}

bool bypass(FaultContext& context, NodeId from, ValueId to) {
  const ValueId made = context.graph.node(from).output(0);
  if (made == kNoValue || context.graph.is_output(made)) return false;
  for (NodeId reader : context.uses.readers[made]) {
    if (reader == from) continue;
    std::vector<ValueId>& inputs = context.graph.node(reader).inputs;
    std::replace(inputs.begin(), inputs.end(), made, to);
  }
  return true;
}

// Nodes, and those that read what the element-wise ones among them make: writers may move what keeps elements whole through those.
std::vector<NodeId> behind_elementwise(const FaultContext& context, std::vector<NodeId> nodes) {
  std::set<NodeId> seen(nodes.begin(), nodes.end());
  for (size_t i = 0; i < nodes.size() && nodes.size() < 32; ++i) {
    const Node& node = context.graph.node(nodes[i]);
    const bool elementwise = is_activation(node) || is_op(node, "BatchNormalization") || is_op(node, "Add") ||
                             is_op(node, "Mul") || is_op(node, "Sub") || is_op(node, "Div");
    if (!elementwise) continue;
    for (NodeId reader : context.uses.readers[node.output(0)]) {
      if (seen.insert(reader).second) nodes.push_back(reader);
    }
  }
  return nodes;
}

bool append_node(FaultContext& context, const std::string& op, Attributes attributes,
                 const std::vector<Tensor>& constants) {
  Graph& graph = context.graph;
  const ValueId made = graph.node(context.node).output(0);
  if (made == kNoValue || graph.is_output(made)) return false;
  const std::vector<NodeId> readers = context.uses.readers[made];
  if (readers.empty()) return false;
  Node node;
  node.op = op;
  node.name = graph.node(context.node).name.empty() ? "" : graph.node(context.node).name + "_extra";
  node.attributes = std::move(attributes);
  node.inputs = {made};
  for (const Tensor& tensor : constants)
    node.inputs.push_back(
        graph.add_constant(graph.unused_value_name(graph.value(made).name + "_extra_constant"), tensor));
  const ValueId out = graph.add_value(graph.unused_value_name(graph.value(made).name + "_extra"));
  node.outputs = {out};
  for (NodeId reader : readers) {
    std::vector<ValueId>& inputs = graph.node(reader).inputs;
    std::replace(inputs.begin(), inputs.end(), made, out);
  }
  graph.insert_node_before(readers.front(), std::move(node));
  context.beside = op == "Relu" ? readers : behind_elementwise(context, readers);
  return true;
}

}  // namespace dnn::faults
