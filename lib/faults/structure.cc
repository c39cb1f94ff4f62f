// Faults of structure: layers missing, extra, reordered, joined wrongly, axes moved.
#include <algorithm>

#include "faults/classes.h"

namespace dnn::faults {
namespace {

// A node whose first output has the type of its first input and which can therefore be left out.
bool keeps_type(const FaultContext& context, NodeId id) {
  const Node& node = context.graph.node(id);
  if (node.outputs.size() != 1 || node.inputs.empty() || !is_computed(context, node.input(0))) return false;
  const Type &in = context.graph.value(node.input(0)).type, &out = context.graph.value(node.output(0)).type;
  return in.fixed() && in == out && is_float(in.dtype);
}

bool remove(FaultContext& context) {
  const std::vector<NodeId> readers = readers_of(context, context.node);
  if (!keeps_type(context, context.node) || !bypass(context, context.node, context.read().input(0))) return false;
  context.what = cat(context.read().op, " missing");
  context.beside = readers;
  return true;
}

// An activation's four axes, when height and width are one extent above 1.
std::optional<Shape> square(const FaultContext& context, ValueId value) {
  std::optional<Shape> shape = shape_of(context.graph, value);
  if (!shape || shape->size() != 4 || (*shape)[2] != (*shape)[3] || (*shape)[2] < 2) return std::nullopt;
  return shape;
}

// The node's readers read another value in the place of its first input.
bool reread(FaultContext& context, size_t input, ValueId value, const std::string& what) {
  context.graph.node(context.node).inputs[input] = value;
  context.what = what;
  return true;
}

// Values made before `node` of the type of `wanted`.
std::vector<ValueId> earlier_values(const FaultContext& context, ValueId wanted) {
  std::vector<ValueId> found;
  for (NodeId id : context.graph.order()) {
    if (id == context.node) break;
    for (ValueId v : context.graph.node(id).outputs) {
      if (v != kNoValue && v != wanted && context.graph.value(v).type == context.graph.value(wanted).type)
        found.push_back(v);
    }
  }
  return found;
}

}  // namespace

bool activation_missing(FaultContext& context) { return is_activation(context.read()) && remove(context); }
bool bn_missing(FaultContext& context) { return is_op(context.read(), "BatchNormalization") && remove(context); }

bool softmax_missing(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Softmax") || !keeps_type(context, context.node)) return false;
  context.beside = readers_of(context, context.node);
  Node& changed = context.graph.node(context.node);
  changed.op = "Identity";
  changed.attributes.clear();
  context.what = "Softmax missing";
  return true;
}

bool layer_missing(FaultContext& context) {
  const Node& node = context.read();
  return !is_activation(node) && !is_op(node, "BatchNormalization") && !is_op(node, "Identity") &&
         !is_op(node, "Dropout") && remove(context);
}

bool activation_extra(FaultContext& context) {
  const Node& node = context.read();
  if (!is_weighted(node) && !is_op(node, "BatchNormalization") && !is_op(node, "Add") && !is_op(node, "AveragePool"))
    return false;
  if (!is_float(context.graph.value(node.output(0)).type.dtype) || !is_computed(context, node.input(0))) return false;
  const std::vector<NodeId> readers = readers_of(context, context.node);
  if (std::all_of(readers.begin(), readers.end(), [&](NodeId id) { return is_op(context.graph.node(id), "Relu"); }))
    return false;  // one behind another is none
  context.what = "a Relu behind it";
  return append_node(context, "Relu", {});
}

bool layers_reordered(FaultContext& context) {
  const std::vector<NodeId> readers = readers_of(context, context.node);
  Graph& graph = context.graph;
  if (readers.size() != 1 || !keeps_type(context, context.node) || !keeps_type(context, readers[0])) return false;
  const NodeId second = readers[0];
  Node &a = graph.node(context.node), &b = graph.node(second);
  const bool shared = is_op(b, "BatchNormalization") || is_activation(b) ||
                      (b.inputs.size() == 2 && graph.constant(b.input(1)) != nullptr);
  if (!shared || a.op == b.op || graph.is_output(a.output(0)) || b.input(0) != a.output(0)) return false;
  // x -> a -> m -> b -> y becomes x -> b -> m -> a -> y.
  const ValueId x = a.input(0), m = a.output(0), y = b.output(0);
  b.inputs[0] = x;
  b.outputs[0] = m;
  a.inputs[0] = m;
  a.outputs[0] = y;
  context.what = cat("exchanged with ", b.label());
  context.beside = {second};
  for (NodeId reader : context.uses.readers[y]) context.beside.push_back(reader);
  std::vector<NodeId> order = graph.order();
  std::iter_swap(std::find(order.begin(), order.end(), context.node), std::find(order.begin(), order.end(), second));
  graph.set_order(std::move(order));
  sort_nodes(graph);
  return true;
}

bool transpose_extra(FaultContext& context) {
  const Node& node = context.read();
  if (node.outputs.size() != 1 || !square(context, node.output(0))) return false;
  if (!is_float(context.graph.value(node.output(0)).type.dtype)) return false;
  context.what = "height and width exchanged behind it";
  return append_node(context, "Transpose", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}});
}

bool transpose_missing(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Transpose")) return false;
  const std::optional<Shape> in = shape_of(context.graph, node.input(0)), out = shape_of(context.graph, node.output(0));
  if (!in || !out || !is_computed(context, node.input(0)) || context.graph.is_output(node.output(0))) return false;
  // A converter that believes the axes to be in order already reads the same memory.
  Graph& graph = context.graph;
  const ValueId shape = graph.add_constant(graph.unused_value_name(graph.value(node.output(0)).name + "_shape"),
                                           Tensor::of<int64_t>({static_cast<int64_t>(out->size())}, *out));
  Node& changed = graph.node(context.node);
  changed.op = "Reshape";
  changed.attributes.clear();
  changed.inputs.push_back(shape);
  context.what = "Transpose missing: the same memory under the new shape";
  return true;
}

bool flatten_order(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Flatten") && !is_op(node, "Reshape")) return false;
  const std::optional<Shape> in = shape_of(context.graph, node.input(0)), out = shape_of(context.graph, node.output(0));
  if (!in || !out || in->size() != 4 || out->size() != 2 || !is_computed(context, node.input(0))) return false;
  if ((*in)[1] == 1 || (*in)[2] * (*in)[3] == 1) return false;
  Graph& graph = context.graph;
  Node transpose;
  transpose.op = "Transpose";
  transpose.name = node.name.empty() ? "" : node.name + "_order";
  transpose.attributes["perm"] = std::vector<int64_t>{0, 2, 3, 1};
  transpose.inputs = {node.input(0)};
  const ValueId moved = graph.add_value(graph.unused_value_name(graph.value(node.input(0)).name + "_nhwc"));
  transpose.outputs = {moved};
  graph.insert_node_before(context.node, std::move(transpose));
  context.beside = readers_of(context, context.node);
  return reread(context, 0, moved, "flattened with channels last");
}

bool skip_missing(FaultContext& context) {
  const Node& node = context.read();
  if (!is_op(node, "Add") || node.inputs.size() != 2 || !is_computed(context, node.input(0)) ||
      !is_computed(context, node.input(1)))
    return false;
  const size_t kept = context.random.below(2);
  const Type &a = context.graph.value(node.input(kept)).type, &out = context.graph.value(node.output(0)).type;
  if (!(a == out) || !is_float(out.dtype)) return false;
  const ValueId by = node.input(kept);
  context.beside = readers_of(context, context.node);
  context.what = "Add missing: one operand goes on alone";
  return bypass(context, context.node, by);
}

bool wired_wrongly(FaultContext& context) {
  const Node& node = context.read();
  if (node.inputs.empty() || !is_computed(context, node.input(0)) ||
      !is_float(context.graph.value(node.input(0)).type.dtype))
    return false;
  if (!is_op(node, "Add") && !is_weighted(node) && !is_op(node, "Concat") && !is_op(node, "Mul")) return false;
  const size_t input = context.random.below(std::min<size_t>(node.inputs.size(), is_weighted(node) ? 1 : 2));
  if (!is_computed(context, node.input(input))) return false;
  const std::vector<ValueId> values = earlier_values(context, node.input(input));
  if (values.empty()) return false;
  const ValueId by = values[context.random.below(values.size())];
  return reread(context, input, by,
                cat("reads '", context.graph.value(by).name, "' in place of '",
                    context.graph.value(node.input(input)).name, "'"));
}

bool values_reversed(FaultContext& context) {
  const Node& node = context.read();
  const std::optional<Shape> shape = node.outputs.size() == 1 ? shape_of(context.graph, node.output(0)) : std::nullopt;
  if (!shape || shape->size() != 4 || (*shape)[1] < 2 || !is_float(context.graph.value(node.output(0)).type.dtype))
    return false;
  std::vector<int64_t> order;
  for (int64_t i = (*shape)[1]; i-- > 0;) order.push_back(i);
  context.what = "channels reversed behind it";
  return append_node(context, "Gather", {{"axis", int64_t{1}}}, {Tensor::of<int64_t>({(*shape)[1]}, order)});
}

}  // namespace dnn::faults
