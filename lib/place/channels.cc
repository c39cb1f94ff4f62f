// Finding chains; see channels.h.
#include "place/channels.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "ops/op.h"
#include "ops/per_channel.h"
#include "passes/match.h"

namespace dnn::place {
namespace {

bool is_quantized_layer(const Node& node) { return is_op(node, "QLinearConv"); }

bool is_layer(const Node& node) {
  return is_convolution(node) || is_quantized_layer(node) || is_op(node, "ConvTranspose") || is_op(node, "Gemm") ||
         is_op(node, "MatMul");
}

// The input that holds a layer's weights.
size_t weights_of(const Node& layer) { return is_quantized_layer(layer) ? 3 : 1; }

int64_t groups_of(const Node& layer) { return takes_attribute(layer, "group") ? int_attribute(layer, "group") : 1; }

}  // namespace

bool is_stored(const Graph& graph, const Uses& uses, ValueId v) {
  if (v == kNoValue) return false;
  const auto constant = [&](ValueId i) { return graph.constant(i) != nullptr && !graph.is_input(i); };
  if (constant(v)) return true;
  const NodeId maker = uses.producer[v];
  if (maker < 0) return false;
  const Node& node = graph.node(maker);
  return is_op(node, "DequantizeLinear") && int_attribute(node, "block_size") == 0 &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId i) { return i == kNoValue || constant(i); });
}

ChannelChains::ChannelChains(const Graph& graph) : graph_(graph), uses_(graph), first_of_(graph.node_slots(), -1) {
  for (NodeId id : graph.order()) {
    Chain first;
    if (first_of_[id] >= 0 || !begin(id, &first).empty() || !first.reads_all()) continue;
    all_.push_back(grown(id, [&](NodeId next) { return first_of_[next] < 0; }));
    for (const ChainNode& node : all_.back().nodes) first_of_[node.id] = id;
  }
}

// Notes an input of constants that has the channels along `axis`. One that has a single index there, or no such axis, is the same for all
// channels. False for computed inputs, and for those of other channels.
bool ChannelChains::take(const Node& node, size_t input, int64_t axis, int64_t channels, ChannelInputs* inputs) const {
  const ValueId v = node.input(input);
  if (v == kNoValue) return true;
  if (!is_stored(graph_, uses_, v) || !graph_.value(v).type.fixed()) return false;
  const Shape extents = shape(v);
  if (axis < 0 || extents[axis] == 1) return true;
  if (extents[axis] != channels) return false;
  (*inputs)[input] = axis;
  return true;
}

bool ChannelChains::take_biases(const Node& node, int64_t channels, ChannelInputs* inputs) const {
  if (is_quantized_layer(node)) {
    for (size_t i : {size_t{4}, size_t{5}, size_t{8}}) {
      const ValueId v = node.input(i);
      if (v != kNoValue && !take(node, i, graph_.value(v).type.shape->empty() ? -1 : 0, channels, inputs)) return false;
    }
    return true;
  }
  const ValueId bias = node.input(2);
  if (bias == kNoValue || is_op(node, "MatMul")) return true;
  if (!graph_.value(bias).type.fixed()) return false;
  return take(node, 2, static_cast<int64_t>(shape(bias).size()) - 1, channels, inputs);
}

// The layer as the beginning of a chain, or why it is none.
std::string ChannelChains::begin(NodeId id, Chain* chain) const {
  const Node& node = graph_.node(id);
  if (!is_layer(node))
    return cat(node.op, " is no layer that makes channels of its own (Conv, ConvTranspose, Gemm, MatMul, QLinearConv)");
  const ValueId x = node.input(0), w = node.input(weights_of(node));
  if (!is_stored(graph_, uses_, w)) return "its weights are computed";
  if (!graph_.value(x).type.fixed() || !graph_.value(node.outputs[0]).type.fixed() || !graph_.value(w).type.fixed())
    return "its shapes are not fixed";
  const Shape made = shape(node.outputs[0]), weights = shape(w);
  if (made.size() < 2 || weights.size() < 2) return "its weights or its output have one axis";
  const bool spatial = !is_op(node, "Gemm") && !is_op(node, "MatMul");
  chain->axis = spatial ? 1 : made.size() - 1;
  chain->channels = made[chain->axis];
  if (chain->channels < 2) return "it has one channel";
  ChainNode first{id, {}};
  if (const int64_t groups = groups_of(node); groups != 1) {
    if (!is_convolution(node) || groups != chain->channels || groups != shape(x)[1]) return "it has groups of channels";
    first.inputs[0] = 1;
  }
  const int64_t axis = is_quantized_layer(node) ? 0 : weight_axes(node, static_cast<int>(weights.size()))->output;
  if (!take(node, weights_of(node), axis, chain->channels, &first.inputs)) return "its weights have other channels";
  if (!take_biases(node, chain->channels, &first.inputs)) return "its bias is computed";
  chain->nodes = {std::move(first)};
  return "";
}

std::string ChannelChains::obstacle(NodeId id) const {
  Chain chain;
  return begin(id, &chain);
}

// Nodes other than element-wise ones that make each channel of input 0 alone.
bool ChannelChains::keeps(const Node& node, const Chain& chain, size_t rank, ChannelInputs* inputs) const {
  if (is_op(node, "QuantizeLinear")) {
    if (int_attribute(node, "block_size") != 0) return false;
    const int64_t axis = int_attribute(node, "axis");
    const bool here = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis) == chain.axis;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const Tensor* constant = graph_.constant(node.inputs[i]);
      const bool single = constant != nullptr && constant->size() == 1;
      if (!single && (!here || constant == nullptr || !take(node, i, 0, chain.channels, inputs))) return false;
    }
    return true;
  }
  if (chain.axis != 1) return false;
  if (is_op(node, "BatchNormalization")) {
    if (flag_attribute(node, "training_mode")) return false;
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      if (!take(node, i, 0, chain.channels, inputs)) return false;
    }
    return true;
  }
  if (is_convolution(node)) {
    return groups_of(node) == chain.channels && take(node, 1, 0, chain.channels, inputs) &&
           take(node, 2, 0, chain.channels, inputs);
  }
  return rank >= 4 && keeps_channels(graph_, node) &&
         std::all_of(node.inputs.begin() + 1, node.inputs.end(),
                     [&](ValueId v) { return v == kNoValue || graph_.constant(v) != nullptr; });
}

// True where a node makes each channel of the chain alone; notes where operands of others and constants have the channels.
bool ChannelChains::follows(const Node& node, const Chain& chain, const std::map<ValueId, NodeId>& made,
                            ChannelInputs* inputs) const {
  const auto of_chain = [&](ValueId v) { return v != kNoValue && made.count(v) != 0; };
  if (node.outputs.size() != 1 || std::none_of(node.inputs.begin(), node.inputs.end(), of_chain)) return false;
  const OpDef* op = find_op(node.domain, node.op);
  const Type& type = graph_.value(node.outputs[0]).type;
  const size_t rank = shape(made.begin()->first).size();
  if (op == nullptr || !op->deterministic || !type.fixed() || type.shape->size() != rank) return false;
  if (type.fixed_shape()[chain.axis] != chain.channels) return false;
  if (op->element == nullptr) return of_chain(node.inputs[0]) && keeps(node, chain, rank, inputs);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == kNoValue || of_chain(v)) continue;
    if (!graph_.value(v).type.fixed()) return false;
    const Shape extents = shape(v);
    const auto axis = static_cast<int64_t>(chain.axis + extents.size()) - static_cast<int64_t>(rank);
    if (axis < 0 || extents[axis] == 1) continue;
    (*inputs)[i] = axis;  // as many as in the output
  }
  return true;
}

size_t ChannelChains::leaving(const std::map<ValueId, NodeId>& made) const {
  std::set<NodeId> members;
  for (const auto& [v, id] : made) members.insert(id);
  return std::count_if(made.begin(), made.end(), [&](const auto& one) {
    const std::vector<NodeId>& readers = uses_.readers[one.first];
    return graph_.is_output(one.first) ||
           std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return members.count(reader) == 0; });
  });
}

Chain ChannelChains::grown(NodeId layer, const std::function<bool(NodeId)>& may_follow) const {
  Chain chain;
  const std::string why = begin(layer, &chain);
  DNN_CHECK(why.empty());
  std::map<ValueId, NodeId> made = {{graph_.node(layer).outputs[0], layer}};
  const std::vector<NodeId>& order = graph_.order();
  size_t whole = 1;  // nodes of the longest chain so far that one value leaves
  for (auto id = std::find(order.begin(), order.end(), layer) + 1; id != order.end(); ++id) {
    ChainNode next{*id, {}};
    if (!may_follow(*id) || !follows(graph_.node(*id), chain, made, &next.inputs)) continue;
    made[graph_.node(*id).outputs[0]] = *id;
    chain.nodes.push_back(std::move(next));
    if (leaving(made) == 1) whole = chain.nodes.size();
  }
  chain.nodes.resize(whole);
  return chain;
}

Chain ChannelChains::chain(NodeId layer, const std::function<bool(NodeId)>& may_follow) const {
  return grown(layer, [&](NodeId next) {
    return (first_of_[next] < 0 || first_of_[next] == first_of_[layer]) && (!may_follow || may_follow(next));
  });
}

}  // namespace dnn::place
