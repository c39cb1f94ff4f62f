// A side of an alignment: a network's layers with their activations, nodes and wiring, and what makes two layers of two sides alike.
#pragma once
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "localize/lineup.h"
#include "localize/prints.h"

namespace dnn {

struct AlignSide {
  const Graph& graph;
  const std::vector<Layer>& layers;
  std::vector<const Tensor*> tensors = {};  // by layer, as are the next three; null where no record holds it
  std::vector<NodeId> makers = {};          // -1: none
  std::vector<ValueId> values = {};         // kNoValue where the graph has none of the name
  std::vector<Print> prints = {};
  std::map<ValueId, size_t> by_value = {};  // layers
  // By layer: itself and, of a layer with weights, those behind it that can be folded into its weights and bias.
  std::vector<std::vector<size_t>> chains = {};
  std::vector<std::vector<NodeId>> readers = {};  // by value
};

// All three are kept by reference.
AlignSide align_side(const Graph& graph, const std::vector<Layer>& layers,
                     const std::vector<stream::TensorRecord>& records);

// Layers that a node reads, those that are computed; kNoLayer for one that no record holds.
std::vector<size_t> inputs_of(const AlignSide& side, const Node& node);
// The parameters of a layer that its node makes first; empty for others.
std::vector<Print> prints_of_parameters(const AlignSide& side, size_t i);

// Below, i is a layer of a and j one of b.

// Names are equal, or one is an alias of the other.
bool share_a_name(const Layer& x, const Layer& y);
// An order of axes leads from one shape to the other.
bool shapes_fit(const AlignSide& a, const AlignSide& b, size_t i, size_t j);
// They fit, or may be one layer of two shapes, where a stride or a padding is wrong: of one operator and rank.
bool may_be_one_layer(const AlignSide& a, const AlignSide& b, size_t i, size_t j);
// False for two values that cannot be one although they have one name: of different operators that both multiply by weights or
// normalise, after which networks name other values, but for a layer that the other network has folded into the one before; and
// of layers with weights that other layers have been folded into on one side alone.
bool may_share_name(const AlignSide& a, const AlignSide& b, size_t i, size_t j);
// The layers behind them that can be folded are the same ones. True also where the difference is no folding: an operator
// that is decomposed begins with an Add or a Mul, but then other operators read the ends.
bool folded_alike(const AlignSide& a, const AlignSide& b, size_t i, size_t j);
// A name may stand behind an activation in one network and in front of it in the other, as a converter leaves it that takes
// a fused layer apart (tf2onnx gives a TFLite layer's name to the convolution, and the Relu behind it another): then the two
// activations are the pair.
LayerPair behind_activation(const AlignSide& a, const AlignSide& b, const LayerPair& pair);
// The order of axes in which their activations agree, if they do.
std::optional<AxisOrder> agreeing_order(const AlignSide& a, const AlignSide& b, size_t i, size_t j);

}  // namespace dnn
