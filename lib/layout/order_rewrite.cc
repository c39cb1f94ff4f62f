// Nodes in new orders of axes; see order_rewrite.h.
#include "layout/order_rewrite.h"

#include <algorithm>

#include "layout/permutation.h"
#include "layout/root_holders.h"

namespace dnn {
namespace {

// True if a Reshape or Flatten makes its output in order `q` of its input in order `seen` without a change.
bool reshape_stays(const Graph& graph, const Node& node, const AxisBlocks& blocks, const Permutation& q,
                   const Permutation& seen) {
  if (!q.empty()) return false;
  if (seen.empty() || (node.op == "Reshape" && is_plain_reshape(graph, node))) return true;
  if (node.op != "Flatten") return false;
  auto axis = node.attribute_int("axis", 1);
  if (axis < 0) axis += static_cast<int64_t>(blocks.in_rank);
  for (int64_t i = 0; i < axis; ++i) {
    if (seen[i] >= axis) return false;
  }
  return true;
}

// Makes the node a Reshape of `x` to its output's extents in order `q`.
void reshape_to_order(Graph& graph, NodeId id, ValueId x, const Permutation& q, size_t rank) {
  Node& node = graph.node(id);
  const Value& output = graph.value(node.outputs[0]);
  std::vector<int64_t> extents;
  for (int64_t axis : full(q, rank)) {
    const Dim& dim = (*output.type.shape)[axis];
    extents.push_back(dim.fixed() ? dim.size : -1);
  }
  node.op = "Reshape";
  node.attributes.clear();
  const ValueId list = graph.add_constant(graph.unused_value_name(output.name + ".extents"),
                                          Tensor::of<int64_t>({static_cast<int64_t>(extents.size())}, extents));
  graph.node(id).inputs = {x, list};
}

class OrderRewrite {
 public:
  OrderRewrite(Graph& graph, const AxisOrders& orders, const std::set<ValueId>& unnamed)
      : graph_(graph), orders_(orders), ties_(orders.ties), holders_(graph, orders, unnamed) {}

  void run() {
    const std::vector<NodeId> before = graph_.order();
    for (NodeId id : before) {
      if (ties_.transposes.count(id) != 0) continue;
      const auto found = ties_.transparent.find(id);
      if (found == ties_.transparent.end()) {
        place_opaque(id);
      } else if (found->second.blocks) {
        place_reshape(id, *found->second.blocks, orders_.of(found->second.any));
      } else {
        place_transparent(id, found->second);
      }
      for (ValueId& v : graph_.node(id).outputs) {
        if (v != kNoValue) v = holders_.home(v);
      }
      holders_.append(id);
    }
    for (ValueId v : graph_.outputs) holders_.hold(view(v).root, view(v).perm, v);
    holders_.finish();
  }

 private:
  const RootView& view(ValueId v) const { return ties_.view(v); }
  bool constant(ValueId v) const { return graph_.constant(view(v).root) != nullptr; }
  // The value as the model has it.
  ValueId hold_as_is(ValueId v) { return holders_.hold(view(v).root, view(v).perm); }

  // A Reshape whose output is in order `q`: it reads its input as it is made, where the elements lie as it wants them.
  void place_reshape(NodeId id, const AxisBlocks& blocks, const Permutation& q) {
    const RootView at = view(graph_.node(id).inputs[0]);
    const Permutation home_perm = orders_.made(at.root), wanted = compose(at.perm, *blocks.backward(q));
    const bool as_made = same_in_memory(graph_, at.root, wanted, home_perm);
    const ValueId x = as_made ? holders_.home(at.root) : holders_.hold(at.root, wanted);
    // the order of x, seen from the model's input
    const Permutation seen = change_of_order(at.perm, as_made ? home_perm : wanted);
    Node& node = graph_.node(id);
    node.inputs[0] = x;
    if (!reshape_stays(graph_, node, blocks, q, seen)) reshape_to_order(graph_, id, x, q, blocks.out_rank);
  }

  void place_transparent(NodeId id, const Transparent& t) {
    const Permutation perm = orders_.of(t.any);
    PermuteContext context;
    if (!permuted_node(graph_, id, t, perm, &context))
      fail_internal(graph_.node(id).label(), ": cannot be reordered after all");
    const Node node = graph_.node(id);  // a copy: holding a view may add nodes
    const OpDef* op = flexible_op(node);
    const bool all = op->permute == nullptr || op->permuted_inputs < 0;
    Node next = perm.empty() ? node : context.node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue) continue;
      if (std::find(t.inputs.begin(), t.inputs.end(), i) != t.inputs.end()) {
        next.inputs[i] = holders_.hold(view(v).root, compose(view(v).perm, perm));
      } else if (constant(v) && (all || i == 0)) {
        next.inputs[i] = holders_.operand(v, perm, t.rank);
      } else {
        next.inputs[i] = hold_as_is(v);
      }
    }
    if (!perm.empty()) {
      for (auto& [i, tensor] : context.replaced) {
        next.inputs.resize(std::max(next.inputs.size(), i + 1), kNoValue);
        next.inputs[i] = graph_.add_constant(graph_.unused_value_name(graph_.value(next.outputs[0]).name + ".axes"),
                                             std::move(tensor));
      }
    }
    graph_.node(id) = std::move(next);
  }

  void place_opaque(NodeId id) {
    const bool reshape =
        graph_.node(id).op == "Reshape" && graph_.node(id).domain.empty() && is_plain_reshape(graph_, graph_.node(id));
    for (ValueId v : captured_values(graph_, graph_.node(id))) holders_.hold(view(v).root, view(v).perm, v);
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId v = graph_.node(id).inputs[i];
      if (v == kNoValue) continue;
      const RootView& at = view(v);
      const bool any = reshape && i == 0 && same_in_memory(graph_, at.root, at.perm, orders_.made(at.root));
      const ValueId held = any ? holders_.home(at.root) : hold_as_is(v);
      graph_.node(id).inputs[i] = held;
    }
  }

  Graph& graph_;
  const AxisOrders& orders_;
  const OrderTies& ties_;
  RootHolders holders_;
};

}  // namespace

void apply_orders(Graph& graph, const AxisOrders& orders, const std::set<ValueId>& unnamed) {
  OrderRewrite(graph, orders, unnamed).run();
}

}  // namespace dnn
