// The ties of the values of a graph to one order of axes: found once, before orders are searched (order_search.h) and applied
// (order_rewrite.h).
#pragma once
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "layout/axis_blocks.h"
#include "ops/op.h"

namespace dnn {

// A value as a root in an order of axes. A root is a value that a node other than Transpose makes.
struct RootView {
  ValueId root = kNoValue;
  Permutation perm;
};

// A node that computes alike in any order, and the values that are in its order.
struct Transparent {
  size_t rank = 0;
  std::vector<size_t> inputs, outputs;
  ValueId any = kNoValue;            // one of those values
  std::optional<AxisBlocks> blocks;  // of a Reshape: only its output is in that order
};

// Values that transparent nodes tie to one order.
struct OrderGroup {
  std::vector<ValueId> values;
  std::vector<NodeId> nodes;
};

struct OrderTies {
  std::vector<RootView> views;                // by ValueId
  std::vector<std::vector<ValueId>> aliases;  // by root: the values that are views of it, itself among them
  std::set<NodeId> transposes;
  std::map<NodeId, Transparent> transparent;
  std::map<ValueId, std::vector<NodeId>> reshaped;  // what Reshapes of `transparent` read, and which they are
  std::vector<bool> opaque, flexible, in_order;     // by ValueId: how it is read
  std::set<ValueId> made_in_order;                  // roots that transparent nodes make
  std::set<ValueId> pinned;                         // must stay as they are, under their names
  std::vector<OrderGroup> groups;
  std::vector<int> group;  // by ValueId, into groups; -1: none

  const RootView& view(ValueId v) const { return views[v]; }
  size_t group_of(ValueId v) const { return static_cast<size_t>(group[v]); }
};

// Types must be inferred. The graph may change afterwards, but not the values and nodes that it has now.
OrderTies find_order_ties(const Graph& graph);

// The orders that groups take, by their index; all {} at first, the model's own.
struct AxisOrders {
  const OrderTies& ties;
  std::vector<Permutation> perms;

  explicit AxisOrders(const OrderTies& known) : ties(known), perms(known.groups.size()) {}
  const Permutation& of(ValueId v) const { return perms[ties.group_of(v)]; }
  // The order of axes in which a root comes into being.
  Permutation made(ValueId root) const { return ties.made_in_order.count(root) != 0 ? of(root) : Permutation(); }
};

// The operator of a node, those of flexible.h among them, or null.
const OpDef* flexible_op(const Node& node);
// Fills in the node for tensors in order `perm`; false where it cannot be.
bool permuted_node(const Graph& graph, NodeId id, const Transparent& t, const Permutation& perm,
                   PermuteContext* context);
// True if a Reshape's result depends on its input's elements alone, not on its extents: no extent is copied.
bool is_plain_reshape(const Graph& graph, const Node& node);
// True if both orders place a root's elements alike in memory: they differ for axes of extent 1 only.
bool same_in_memory(const Graph& graph, ValueId root, const Permutation& p, const Permutation& q);

}  // namespace dnn
