// What the classes of faults ask of a graph and do to it again and again.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faults/fault.h"

namespace dnn::faults {

bool is_op(const Node& node, std::string_view op);
// Operators that multiply by weights.
bool is_weighted(const Node& node);
// One input and one output of one type, of the operators that compute each element by itself.
bool is_activation(const Node& node);

// Where a constant lies: input `input` of node `node`.
struct Place {
  NodeId node = -1;
  size_t input = 0;
};
// The constant behind an input: its own, or what a DequantizeLinear or Cast makes of one.
std::optional<Place> constant_behind(const FaultContext& context, NodeId node, size_t input);
// Weights of a node that has them (Conv, ConvTranspose, Gemm, MatMul), and their bias.
std::optional<Place> weights_of(const FaultContext& context, NodeId node);
std::optional<Place> bias_of(const FaultContext& context, NodeId node);
const Tensor& tensor_at(const Graph& graph, Place place);
// Other nodes' constants of one shape and dtype with the one at `place`, and of other numbers, found by `find`.
std::vector<Place> others_like(const FaultContext& context, Place place,
                               std::optional<Place> (*find)(const FaultContext&, NodeId));

// Another constant in that place, for this node alone: who else reads the old one goes on reading it.
void put_constant(Graph& graph, Place place, Tensor tensor);
// Rewrites the numbers; false where that changes none, or they are no numbers.
bool change_numbers(FaultContext& context, Place place, const std::function<void(std::vector<double>&)>& change);
// The elements of `tensor`, element i of the result from `from(i)` of it.
Tensor rearranged(const Tensor& tensor, const Shape& shape, const std::function<int64_t(int64_t)>& from);
// The elements along `axis`, position i from `order[i]`.
Tensor along_axis(const Tensor& tensor, size_t axis, const std::vector<int64_t>& order);

// Extents of a value whose shape is known and fixed.
std::optional<Shape> shape_of(const Graph& graph, ValueId value);
// A value that is computed and no constant.
bool is_computed(const FaultContext& context, ValueId value);
// Who reads what `node` makes first.
std::vector<NodeId> readers_of(const FaultContext& context, NodeId node);
// Every reader of what `from` makes reads `to`; false where that is a graph output.
bool bypass(FaultContext& context, NodeId from, ValueId to);
// `nodes`, and those behind the element-wise ones among them.
std::vector<NodeId> behind_elementwise(const FaultContext& context, std::vector<NodeId> nodes);
// A node behind `node`, whose readers read it in their place; false where `node` makes a graph output.
bool append_node(FaultContext& context, const std::string& op, Attributes attributes,
                 const std::vector<Tensor>& constants = {});

}  // namespace dnn::faults
