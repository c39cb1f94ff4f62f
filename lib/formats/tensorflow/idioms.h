// What TensorFlow's own layers spell out in several nodes, put back together while it is known what constants were made from.
#pragma once
#include "formats/tensorflow/import.h"

namespace dnn::tensorflow {

// x * (scale / sqrt(variance + epsilon)) + (offset - mean * that) becomes BatchNormalization with these parameters.
void recognize_batch_norms(Source& source);
// Adds behind Conv (with a Transpose between, mostly) and MatMul become their third input.
void take_in_biases(Source& source);

}  // namespace dnn::tensorflow
