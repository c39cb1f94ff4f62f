// Latent faults: activations that the graphs show to be bounded otherwise, although no sample comes to where they part.
#pragma once
#include "localize/segments.h"

namespace dnn {

// Whether the two segments have activations with other bounds, or one has a bound that the other lacks where nothing in front keeps
// the values within it.
bool bounds_differ(const Graph& source, const Segment& a, const Graph& target, const Segment& b);

}  // namespace dnn
