// Borders that formats write as operators of their own: TensorFlow, Keras and TFLite pad by layers, ONNX and PyTorch by attributes.
#pragma once
#include <vector>

#include "graph/graph.h"
#include "graph/patch.h"

namespace dnn {

// Pads with zeros go into the convolutions that alone read them, and into average poolings, whose mean then counts them; pads
// with the lowest number, or with zeros around what has nothing below, into max poolings. The outputs stay the same to the bit, but for the sign of a zero and where an
// infinite weight would meet a border. Types must be inferred.
void fold_pads(Graph& graph);
// The same as rewrites, one for each reader; and pads with the number that stands for zero into convolutions of integers.
std::vector<Patch> pads_into_readers(const Graph& graph);

}  // namespace dnn
