// The order of axes of an input; see surgery.h.
#include <deque>
#include <set>

#include "base/error.h"
#include "convert/surgery.h"
#include "graph/rename.h"
#include "layout/settle.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace dnn {
namespace {

enum class Order { First, Last, Unknown };

// What the first reader that cares says, through operators that compute alike in any order of axes.
Order order_of(const Graph& graph, ValueId input) {
  const Uses uses(graph);
  std::deque<ValueId> open = {input};
  std::set<ValueId> seen = {input};
  while (!open.empty()) {
    const ValueId v = open.front();
    open.pop_front();
    for (NodeId id : uses.readers[v]) {
      const Node& node = graph.node(id);
      if (node.op == "Transpose") {
        const std::vector<int64_t> perm = transpose_permutation(node, 4);
        if (perm == kToChannelsFirst) return Order::Last;
        if (perm == kToChannelsLast) return Order::First;
        continue;
      }
      if (has_trait(node, Trait::ChannelsFirst) && node.inputs[0] == v) return Order::First;
      const OpDef* op = find_op(node.domain, node.op);
      if (op == nullptr || op->permute == nullptr) continue;
      for (ValueId output : node.outputs) {
        if (output == kNoValue || !seen.insert(output).second) continue;
        const Type& type = graph.value(output).type;
        if (type.shape && type.shape->size() == 4) open.push_back(output);
      }
    }
  }
  return Order::Unknown;
}

// Colours, where the readers do not tell.
Order order_of(const Type& type) {
  const auto colours = [&](size_t axis) {
    const int64_t size = (*type.shape)[axis].size;
    return size == 1 || size == 3 || size == 4;
  };
  return colours(1) == colours(3) ? Order::Unknown : colours(1) ? Order::First : Order::Last;
}

}  // namespace

void set_input_layout(Graph& graph, std::string_view spec) {
  const auto [name, layout] = pair_of(spec, ':', "NAME:NHWC or NAME:NCHW");
  if (layout != "NHWC" && layout != "NCHW")
    fail_usage("input layout ", quoted(spec), ": ", quoted(layout), " is neither NHWC nor NCHW");
  const size_t index = named_input(graph, name);
  const ValueId old = graph.inputs[index];
  const Type type = graph.value(old).type;
  if (!type.shape || type.shape->size() != 4)
    fail_usage("input layout: ", quoted(name), " is ", type.text(), "; four axes are wanted");
  if (graph.is_output(old)) fail_unsupported("input layout: ", quoted(name), " is an output too");
  Order now = order_of(graph, old);
  if (now == Order::Unknown) now = order_of(type);
  if (now == Order::Unknown)
    fail_unsupported("input layout: neither the readers of ", quoted(name), " nor its shape ", type.text(),
                     " tell the order that it has now");
  const Order wanted = layout == "NHWC" ? Order::Last : Order::First;
  if (now == wanted) return;
  const Permutation& back = now == Order::First ? kToChannelsFirst : kToChannelsLast;   // from the new order
  const Permutation& there = now == Order::First ? kToChannelsLast : kToChannelsFirst;  // to the new order
  std::vector<Dim> moved;
  for (int64_t axis : there) moved.push_back((*type.shape)[axis]);
  const std::string inner = graph.unused_value_name(name + (now == Order::First ? "_nchw" : "_nhwc"));
  rename_value(graph, old, inner);
  Value input = graph.value(old);
  input.name = name;
  input.type = Type(type.dtype, std::move(moved));
  graph.value(old).doc.clear();
  const ValueId added = graph.add_value(std::move(input));
  graph.inputs[index] = added;
  Node node;
  node.op = "Transpose";
  node.inputs = {added};
  node.outputs = {old};
  node.attributes["perm"] = std::vector<int64_t>(back.begin(), back.end());
  if (graph.order().empty()) {
    graph.add_node(std::move(node));
  } else {
    graph.insert_node_before(graph.order()[0], std::move(node));
  }
  settle_transposes(graph, {old});
  remove_dead_nodes(graph);
  infer_types(graph);
}

}  // namespace dnn
