// Which value of a graph holds a root in which order of axes, while order_rewrite.cc rewrites the graph.
#pragma once
#include "layout/order_ties.h"

namespace dnn {

class RootHolders {
 public:
  // `orders` and `unnamed` outlive this.
  RootHolders(Graph& graph, const AxisOrders& orders, const std::set<ValueId>& unnamed)
      : graph_(graph), orders_(orders), ties_(orders.ties), unnamed_(unnamed), uses_(graph) {}

  // The value that holds the root as it is made.
  ValueId home(ValueId root);
  // The value that holds the root in this order, made by a Transpose at the end of the nodes so far if need be.
  // `wanted`: the value that it must be; kNoValue: any.
  ValueId hold(ValueId root, const Permutation& perm, ValueId wanted = kNoValue);
  // A constant operand in order `perm` of tensors of this rank; fewer axes are the last ones, as in broadcasting.
  ValueId operand(ValueId v, const Permutation& perm, size_t rank);
  // Puts a node behind those so far.
  void append(NodeId id) { nodes_.push_back(id); }

  // Sets the graph's nodes to those so far, and cleans up names and constants.
  void finish();

 private:
  bool named(ValueId v) const { return unnamed_.count(v) == 0; }
  ValueId choose_home(ValueId root, const Permutation& home);
  std::string reordered_name(ValueId v) const { return graph_.unused_value_name(graph_.value(v).name + ".reordered"); }
  void name_holders();
  void release_constants();

  Graph& graph_;
  const AxisOrders& orders_;
  const OrderTies& ties_;
  const std::set<ValueId>& unnamed_;
  Uses uses_;  // as of the start
  std::map<ValueId, ValueId> homes_;
  std::map<std::pair<ValueId, Permutation>, ValueId> held_, operands_;
  std::set<ValueId> taken_;
  std::vector<std::pair<ValueId, ValueId>> reordered_;  // constants: from, to
  std::vector<NodeId> nodes_;                           // in their new order
};

}  // namespace dnn
