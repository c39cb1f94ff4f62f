// Values between layers whose channels may be scaled: the layer in front divides them, the layers behind multiply them back, and the
// network computes the same (Nagel et al., Data-Free Quantization, 2019, section 4.1).
#pragma once
#include <map>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// A value between the layer that makes its channels and those that read it, with nothing between but what works on each channel alone
// and multiplies with it: Relu, LeakyRelu, Clip from 0 on, poolings, reshapes that keep the channels.
struct ValueBetween {
  NodeId maker = -1;
  std::vector<NodeId> readers;
  ValueId value = kNoValue;
  int axis = 1;                // of its channels
  ValueId clipped = kNoValue;  // what a Clip on the way makes, and its upper bound
  double bound = 0;
};

// All of a graph, in order. Types must be inferred.
std::vector<ValueBetween> values_between(const Graph& graph);

// True for a convolution with one kernel, a constant, for each channel.
bool is_depthwise(const Graph& graph, const Node& node);
// The axis of the input channels in the weights of a node that can take factors of its input's channels, which are along `axis`; nullopt where
// it cannot.
std::optional<size_t> column_axis(const Graph& graph, const Node& node, int axis);
// Constants of a node, by input, and the axis in each of the channels that it makes; empty where they cannot take factors.
std::map<size_t, size_t> row_axes(const Graph& graph, const Node& node);

// Divides the channels of `between.value` in `graph`, a graph with the ids of `typed`, in which `between` was found: a factor for each channel.
// Constants stay float32, each rounded once.
void scale_between(Graph& graph, const Graph& typed, const ValueBetween& between, const std::vector<double>& factors);

}  // namespace dnn
