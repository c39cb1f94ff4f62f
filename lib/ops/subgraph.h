// Subgraphs: what If, Loop and Scan share: bodies in attributes, types that change from one iteration to the next, and
// the stacking of what each iteration gives.
#pragma once
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace dnn {

// The graph in attribute `key`; Malformed when there is none.
const Graph& body_of(const Node& node, std::string_view key);

// A type that both fit: what they differ in is left unknown. Malformed where both dtypes are known and differ.
Type common_type(const Node& node, const Type& a, const Type& b);

// Output types of `body` when its first `states.size()` inputs are given by `states` at first and by the body's outputs
// from `first_output` on afterwards. Widens `states` until they fit every iteration.
std::vector<Type> iterate_types(const InferContext& context, const Graph& body, const std::vector<Type>& before,
                                std::vector<Type>* states, const std::vector<Type>& after, size_t first_output);

// Types of the body's outputs for inputs of these types: what a loop without iterations stacks nothing of.
std::vector<Type> output_types(const Graph& body, const std::vector<Type>& inputs);

// The parts, all of one dtype and shape, along a new axis. `reversed`: the last part first. Without parts: an empty
// tensor of `element`'s dtype and known extents.
Tensor stack(const Node& node, const std::vector<Tensor>& parts, int64_t axis, bool reversed, const Type& element);

}  // namespace dnn
