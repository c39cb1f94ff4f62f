// A quantised network as the float network that it was made of, as far as it can be told.
#pragma once
#include "localize/quantised_judge.h"

namespace dnn {

// Activations are no longer rounded; where a quantiser's range stood for an activation of the source, that is there instead. Weights
// and biases that are the source's within what quantising leaves are the source's; others stay the numbers that the integers are, with
// channels that were scaled between layers scaled back.
// So what this network computes otherwise than the source is no work of a quantiser. Values and nodes keep their names.
Graph float_of(const QuantisedSource& source, const Graph& target, const QuantisedVerdict& verdict);

}  // namespace dnn
