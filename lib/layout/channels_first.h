// A graph that was read of a format with channels last, as formats that keep them first want it.
#pragma once
#include "graph/graph.h"

namespace dnn {

// Layer normalisation and dense layers over the channels of images insist on the last axis, and settling leaves Transposes on
// either side of them. Where that saves some, they work over axis 1: normalisation as means, differences and a root, dense layers
// as convolutions over windows of one element. Only for graphs of Keras, TensorFlow and TFLite, whose channels stand last: what
// Transposes those of ONNX and PyTorch have are the model's own. Types are inferred afterwards.
void to_channels_first(Graph& graph);

}  // namespace dnn
