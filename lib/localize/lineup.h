// Line-up: which value of one network is which value of another, by name, by place and by order.
//
// The contract of lib/localize: two runs of the same samples as traces (Localizer), the layers of both lined up
// (line_up), their distances and the parameters of matched nodes (compare_parameters), as a report for people and
// programs (present.h).
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"
#include "stream/records.h"

namespace dnn {

// One value of a network, with what its trace and, where there is one, its graph say of it.
struct Layer {
  std::string name;
  std::vector<std::string> aliases;
  std::string node, op;  // of the node that makes it; empty where not known
  stream::Role role = stream::Role::Activation;
  DType dtype = DType::Float32;
  Shape shape;
  std::vector<size_t> inputs;  // layers it is computed from; in a trace, which has no wiring, the one before it
};

// The layers of a trace's records, in their order; with `graph`, the source model, their operators and wiring.
std::vector<Layer> layers_of(const std::vector<stream::TensorRecord>& records, const Graph* graph);

// How a value of the other network becomes one of the first's: extents of 1 aside, `perm` of its axes.
// E.g. first [1, 32, 56, 56], other [1, 56, 56, 32]: perm {2, 0, 1}, first axis of the result from the other's axis 2.
using AxisOrder = std::vector<size_t>;
// The order that undoes it.
AxisOrder inverse(const AxisOrder& order);
// Axes whose extent is not 1.
std::vector<size_t> wide_axes(const Shape& shape);
// The identity, and channels moved from the end or to it, as far as they give `wanted` from `shape`; the most natural
// first. Empty when the two cannot be the same value.
std::vector<AxisOrder> axis_orders(const Shape& wanted, const Shape& shape);
// `tensor` in the axis order and with the shape `wanted`.
Tensor reordered(const Tensor& tensor, const AxisOrder& order, const Shape& wanted);

inline constexpr size_t kNoLayer = -1;

struct LayerPair {
  enum class By : uint8_t { Name, Place, Order, Values, Parameters, Wiring, Given };
  size_t source = 0, target = 0;  // indices into the two lists of layers
  By by = By::Name;
};
std::string_view by_name(LayerPair::By by);

// Pairs in the source's order: values of one name (aliases count) and fitting shape; then inputs and outputs by their
// place; then, among what is left, floating-point values in order: the longest common subsequence between the pairs
// found so far, the same operator on both sides before another, and never an operator against a different one where
// both are known and either multiplies by weights.
// `known` pairs stay as they are and come with the others; without `by_order` the last step is left out.
std::vector<LayerPair> line_up(const std::vector<Layer>& source, const std::vector<Layer>& target,
                               const std::vector<LayerPair>& known = {}, bool by_order = true);

}  // namespace dnn
