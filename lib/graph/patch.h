// Patch: one rewrite of a graph as a value: what goes, what comes, why. Passes return patches; the runner in passes/
// applies, numbers and verifies them, which is what makes bisecting down to a single rewrite possible.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace dnn {

class Patch {
 public:
  Patch(const Graph& graph, std::string reason);

  // Ids of values that exist once the patch is applied; valid in this patch's nodes and redirects only.
  ValueId add_value(std::string name, Type type);  // the name gets a suffix when it is taken
  ValueId add_constant(std::string name, Tensor tensor);
  // The new node takes the place of `root`, the last of the nodes it replaces (all its inputs exist there).
  void add_node(Node node) { added_.push_back(std::move(node)); }
  void remove_node(NodeId id) { removed_.push_back(id); }
  // Every reader of `from` reads `to` instead, and `to` keeps `from`'s name as an alias. A graph output keeps its name:
  // then `to`'s producer makes `from` instead, or, where `to` has no producer or is an output too, an Identity stays.
  void redirect(ValueId from, ValueId to) { redirects_.emplace_back(from, to); }
  // Gives a value a memory layout (loops::Layout text).
  void set_layout(ValueId id, std::string layout) { layouts_.emplace_back(id, std::move(layout)); }
  // The new nodes stand where this node stands; default: the last of the removed nodes.
  void place_at(NodeId root) { root_ = root; }

  const std::string& reason() const { return reason_; }
  const std::vector<NodeId>& removed() const { return removed_; }
  // What it brings: nodes, and the values that are its own. To be changed before it is applied only.
  const std::deque<Node>& added() const { return added_; }
  std::deque<Node>& added() { return added_; }
  std::deque<Value>& values() { return values_; }
  // Whether the id is one of this patch's own values, and that value.
  bool owns(ValueId id) const { return id >= base_; }
  const Value& own_value(ValueId id) const { return values_[id - base_]; }
  Value& own_value(ValueId id) { return values_[id - base_]; }
  // Applies to `graph`, which may have grown since the patch was made. False (graph unchanged) when an earlier patch of
  // the same round removed or rewired something this one relies on.
  bool apply(Graph& graph) const;

 private:
  // Everything that the patch relies on is still there.
  bool fits(const Graph& graph) const;
  // The node in front of which the new ones stand; -1: they come last.
  NodeId place_in(const Graph& graph) const;
  ValueId resolve(ValueId id, ValueId first_new) const { return id >= base_ ? id - base_ + first_new : id; }

  std::string reason_;
  ValueId base_;              // ids from here on are this patch's own values
  std::deque<Value> values_;  // references to them stay valid while others are added
  std::deque<Node> added_;
  std::vector<NodeId> removed_;
  std::vector<std::pair<ValueId, ValueId>> redirects_;
  std::vector<std::pair<ValueId, std::string>> layouts_;
  NodeId root_ = -1;
};

}  // namespace dnn
