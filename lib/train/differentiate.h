// Differentiation: the gradients of a scalar with respect to parameters, as nodes of the same graph (reverse mode).
//
// The contract of lib/train: a graph and a loss become a step graph (differentiate.h, step.h), which the ordinary passes
// compile; a trainer runs it over batches of samples (trainer.h); the result is an ordinary graph that any writer takes.
#pragma once
#include <string>
#include <vector>

#include "ops/build.h"

namespace dnn::train {

// Adds the gradient of `loss`, one float, with respect to each of `parameters`, in their order; zeros where the loss does
// not depend on one. Every extent must be fixed. Throws Unsupported naming all nodes between the parameters and the loss
// that have no gradient, with the reason for each.
std::vector<ValueId> add_gradients(NewGraph& net, ValueId loss, const std::vector<ValueId>& parameters);

}  // namespace dnn::train
