// HardSigmoid and HardSwish as the networks of quantisers hold them: a shift, a bound at both ends, and products.
#pragma once
#include "graph/graph.h"

namespace dnn {

// Decomposes each of the two that `target` has not: HardSwish into x HardSigmoid(x), and HardSigmoid, where it is Clip(x + 3, 0, 6) / 6,
// into that, so that a quantiser's range may stand for the Clip. Results keep their values. Types must be inferred, and are anew.
void decompose_hard_functions(Graph& graph, const Graph& target);

}  // namespace dnn
