// Copies of a network's layers on some of their channels, with the weights that these have there.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "ops/build.h"

namespace dnn::branch {

// A value of the source as the copy has it: the source's channel at each place of axis 1. A channel may come several times.
struct Piece {
  ValueId value = kNoValue;
  std::vector<int64_t> channels;
};

// 0, 1, ..., count - 1.
std::vector<int64_t> all_channels(int64_t count);

// Which channels a copy has of those that a layer with weights makes, in the order of the source.
using ChannelsOf = std::function<std::vector<int64_t>(const Node& layer, int64_t channels)>;

// The ways in which operators treat the channels of what they read.
enum class ChannelRole : uint8_t {
  Convolution,  // makes its own, or has groups of them
  Product,      // a Gemm or MatMul of constant weights: makes its own
  Norm,         // keeps them, with parameters of each
  Joins,        // puts them behind one another
  Elements,     // computes on the same channel of all operands
  Keeps,        // on each channel alone
  Flattens,     // [1, C, H, W] to [1, C * H * W]
  Whole         // anything else: needs all, makes all
};
ChannelRole channel_role(const Graph& graph, const Node& node);

class SliceCopier {
 public:
  // `source` with fixed types; both outlive it.
  SliceCopier(const Graph& source, NewGraph& target) : source_(source), target_(target) {}

  std::map<ValueId, Piece> pieces;  // by the source's values, constants aside

  // Copies the nodes, each called `prefix` and its name in the source. Layers get the channels that `channels_of` says. Where a layer reads
  // one channel at several places, each gets its share of the weight; the weights of channels that it does not read are left out.
  // Element-wise operators, pools and norms compute on what they read. Other operators get all channels in the source's order, and
  // make all. Throws Unsupported, with the node, where one cannot be had, and for weights that are not float32.
  void copy(const std::vector<NodeId>& nodes, const std::string& prefix, const ChannelsOf& channels_of);

  // The value with the channels named. Each must be there.
  ValueId select(const Piece& piece, const std::vector<int64_t>& channels);
  // The value as the source has it.
  ValueId whole(ValueId source);

 private:
  void copy_node(const Node& node);
  void convolution(const Node& node);
  void product(const Node& node);
  void norm(const Node& node);
  void concatenation(const Node& node);
  void element_wise(const Node& node);
  void same_channels(const Node& node);
  void flattening(const Node& node);
  void unknown(const Node& node);

  int64_t channels(ValueId source) const;
  bool is_constant(ValueId source) const { return source != kNoValue && source_.constant(source) != nullptr; }
  const Tensor& weights(const Node& node, size_t input) const;
  ValueId stored(ValueId source, Tensor tensor);
  // Element i of the result is element index[i] of the tensor along the axis, times factor[i] where there are factors.
  Tensor picked(const Tensor& tensor, size_t axis, const std::vector<int64_t>& index,
                const std::vector<float>& factor = {}) const;
  // Factors of the places' weights: 1 divided by how often the channel comes.
  static std::vector<float> shares(const std::vector<int64_t>& channels);
  std::vector<ValueId> add(const Node& node, std::vector<ValueId> inputs, const std::string& op = "",
                           Attributes attributes = {});
  void made(const Node& node, ValueId value, std::vector<int64_t> channels) {
    pieces[node.outputs[0]] = {value, std::move(channels)};
  }

  const Graph& source_;
  NewGraph& target_;
  std::string prefix_;
  ChannelsOf channels_of_;
};

}  // namespace dnn::branch
