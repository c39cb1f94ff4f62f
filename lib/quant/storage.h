// Storage: weights as floating-point numbers of 16 bits, which a Cast widens for arithmetic in float32.
#pragma once
#include "graph/graph.h"

namespace dnn::quant {

// Constants of float32 that a layer multiplies by, and all large ones, rounded to `dtype` (half to even), each behind a Cast. Biases
// and other small constants stay. Returns how many became smaller.
int64_t store_weights(Graph& graph, DType dtype);

}  // namespace dnn::quant
