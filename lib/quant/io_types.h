// Types of a quantised network's inputs and outputs: real numbers, or the integers themselves.
#pragma once
#include "graph/graph.h"

namespace dnn::quant {

// Float32, Int8 or UInt8 for the float32 inputs, and for the float32 outputs, of a graph that insert_quantizers() made. Integers have
// the scale of the quantiser that the value has; of the other sign their zero point is 128 away. Throws Usage where a value
// has none, as what reads or makes it stays in float32.
void set_io_types(Graph& graph, DType inputs, DType outputs);

}  // namespace dnn::quant
