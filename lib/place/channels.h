// Chains: layers whose channels are made apart from one another, with the nodes behind them that compute each channel alone. Several
// devices can make some channels each.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::place {

// By input of a node: the axis of the chain's channels in it, a constant or a value of others. An input that is not listed is a value of the
// chain or read as a whole.
using ChannelInputs = std::map<size_t, size_t>;

struct ChainNode {
  NodeId id = -1;
  ChannelInputs inputs;
  bool operator==(const ChainNode&) const = default;
};

// Only what the last node makes is read by others, or an output of the graph.
struct Chain {
  std::vector<ChainNode> nodes;  // in the graph's order, the layer first; each has one output
  size_t axis = 1;               // of the channels in the values of the chain
  int64_t channels = 0;

  // True where the layer reads all that it is given for each channel. A depthwise one reads the same channel alone.
  bool reads_all() const { return nodes.front().inputs.count(0) == 0; }
  bool operator==(const Chain&) const = default;
};

// True for a constant, and for what a DequantizeLinear makes of constants with one scale, or one for each index of an axis.
bool is_stored(const Graph& graph, const Uses& uses, ValueId v);

class ChannelChains {
 public:
  // `graph`: its types inferred. It outlives the object, and does not change. A node that could follow several layers, as a sum, follows the
  // first of them in the graph's order, whichever are divided.
  explicit ChannelChains(const Graph& graph);

  // Why a node begins no chain, as part of a sentence: "its weights are computed". Empty where it does.
  std::string obstacle(NodeId id) const;

  // The chain that begins with a layer that has no obstacle, as long as it can be. `may_follow`: nodes that it may take in; empty: any.
  Chain chain(NodeId layer, const std::function<bool(NodeId)>& may_follow = {}) const;

  // All chains that begin with a layer that reads all, in the graph's order, each as long as it can be. No node is in two of them.
  const std::vector<Chain>& all() const { return all_; }

 private:
  std::string begin(NodeId id, Chain* chain) const;
  Chain grown(NodeId layer, const std::function<bool(NodeId)>& may_follow) const;
  bool take(const Node& node, size_t input, int64_t axis, int64_t channels, ChannelInputs* inputs) const;
  bool take_biases(const Node& node, int64_t channels, ChannelInputs* inputs) const;
  bool follows(const Node& node, const Chain& chain, const std::map<ValueId, NodeId>& made,
               ChannelInputs* inputs) const;
  bool keeps(const Node& node, const Chain& chain, size_t rank, ChannelInputs* inputs) const;
  // How many values of the chain are read by others or outputs of the graph.
  size_t leaving(const std::map<ValueId, NodeId>& made) const;
  Shape shape(ValueId v) const { return graph_.value(v).type.fixed_shape(); }

  const Graph& graph_;
  const Uses uses_;
  std::vector<Chain> all_;
  std::vector<NodeId> first_of_;  // by NodeId: the layer whose chain of all_ has the node; -1: none
};

}  // namespace dnn::place
