// The functions that ops.def names, by the file that has them.
#pragma once
#include <functional>

#include "formats/tflite/import.h"

namespace dnn::tflite {

// import_math.cc: element by element, reductions, products of matrices
template <char sign>
void arithmetic(Op& op);
void abs(Op& op);
void add_n(Op& op);
void arg_max(Op& op);
void arg_min(Op& op);
void batch_matmul(Op& op);
void cast(Op& op);
void ceil(Op& op);
void convert_numbers(Op& op);
void cos(Op& op);
void cumsum(Op& op);
void elu(Op& op);
void equal(Op& op);
void exp(Op& op);
void floor(Op& op);
void floor_div(Op& op);
void floor_mod(Op& op);
void fully_connected(Op& op);
void gelu(Op& op);
void greater(Op& op);
void greater_equal(Op& op);
void hard_swish(Op& op);
void leaky_relu(Op& op);
void less(Op& op);
void less_equal(Op& op);
void log(Op& op);
void logical_and(Op& op);
void logical_not(Op& op);
void logical_or(Op& op);
void logistic(Op& op);
void maximum(Op& op);
void mean(Op& op);
void minimum(Op& op);
void neg(Op& op);
void not_equal(Op& op);
void pow(Op& op);
void prelu(Op& op);
void reduce_all(Op& op);
void reduce_any(Op& op);
void reduce_max(Op& op);
void reduce_min(Op& op);
void reduce_prod(Op& op);
void relu(Op& op);
void relu6(Op& op);
void relu_n1_to_1(Op& op);
void round(Op& op);
void rsqrt(Op& op);
void select(Op& op);
void select_rows(Op& op);
void sign(Op& op);
void sin(Op& op);
void sqrt(Op& op);
void square(Op& op);
void squared_difference(Op& op);
void sum(Op& op);
void tanh(Op& op);

// import_nn.cc: convolutions, pooling, normalisation, resizing
void average_pool(Op& op);
void conv(Op& op);
void depth_to_space(Op& op);
void depthwise_conv(Op& op);
void l2_normalization(Op& op);
void local_response_normalization(Op& op);
void log_softmax(Op& op);
void max_pool(Op& op);
void resize_bilinear(Op& op);
void resize_nearest(Op& op);
void softmax(Op& op);
void space_to_depth(Op& op);
void transpose_conv(Op& op);

// import_shape.cc: moving elements
void broadcast_to(Op& op);
void concatenation(Op& op);
void expand_dims(Op& op);
void mirror_pad(Op& op);
void pack(Op& op);
void pad(Op& op);
void reshape(Op& op);
void shape(Op& op);
void slice(Op& op);
void split(Op& op);
void split_v(Op& op);
void squeeze(Op& op);
void strided_slice(Op& op);
void tile(Op& op);
void transpose(Op& op);
void unpack(Op& op);
// Input i as a list of int64, computed or not; its only entry.
ValueId extents(Op& op, size_t i);
int64_t one(Op& op, size_t i);
// Applies `steps` to input `at` and makes output 0 of it: the stored numbers move where both have one quantisation.
void moved(Op& op, size_t at, const std::function<ValueId(ValueId)>& steps);

// import_index.cc: elements picked by indices, blocks in the batch, constants
void batch_to_space(Op& op);
void fill(Op& op);
void gather(Op& op);
void gather_nd(Op& op);
void one_hot(Op& op);
void rank(Op& op);
void reverse(Op& op);
void reverse_sequence(Op& op);
void non_max_suppression(Op& op);
void non_max_suppression_soft(Op& op);
void scatter_nd(Op& op);
void segment_max(Op& op);
void segment_min(Op& op);
void segment_product(Op& op);
void segment_sum(Op& op);
void space_to_batch(Op& op);
void top_k(Op& op);
void zeros_like(Op& op);

}  // namespace dnn::tflite
