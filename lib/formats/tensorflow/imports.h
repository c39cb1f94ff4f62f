// The functions that ops.def names, by the file that has them.
#pragma once
#include "formats/tensorflow/import.h"

namespace dnn::tensorflow {

void refused(Op& op);  // a row that says why it is not read

// import_math.cc: element by element, reductions, products of matrices
void add_n(Op& op);
void add_v2(Op& op);
void arg_extreme(Op& op);
void batch_matmul(Op& op);
void binary(Op& op);
void cast(Op& op);
void clip_by_value(Op& op);
void cumulate(Op& op);
void divide_no_nan(Op& op);
void einsum(Op& op);
void erfc(Op& op);
void expm1(Op& op);
void floor_div(Op& op);
void floor_mod(Op& op);
void truncate_mod(Op& op);
void integer_or_real_div(Op& op);
void truncate_div(Op& op);
void is_finite(Op& op);
void l2_loss(Op& op);
void leaky_relu(Op& op);
void log1p(Op& op);
void matmul(Op& op);
void not_equal(Op& op);
void one_hot(Op& op);
void reduce(Op& op);
void reduce_logical(Op& op);
void relu6(Op& op);
void rsqrt(Op& op);
void select(Op& op);
void softmax(Op& op);
void square(Op& op);
void squared_difference(Op& op);
void top_k(Op& op);
void unary(Op& op);

// import_nn.cc: convolutions, pooling, normalisation, resizing
void avg_pool(Op& op);
void batch_norm(Op& op);
void batch_to_space(Op& op);
void bias_add(Op& op);
void blocks(Op& op);
void conv(Op& op);
void conv_backprop_input(Op& op);
void depthwise_conv(Op& op);
void fake_quant(Op& op);
void lrn(Op& op);
void max_pool(Op& op);
void resize_bilinear(Op& op);
void resize_nearest(Op& op);
void space_to_batch(Op& op);

// import_shape.cc: shapes, and what moves elements
void broadcast_to(Op& op);
void concat(Op& op);
void expand_dims(Op& op);
void fill(Op& op);
void gather(Op& op);
void gather_nd(Op& op);
void like(Op& op);
void mirror_pad(Op& op);
void non_max_suppression(Op& op);
void pack(Op& op);
void pad(Op& op);
void range(Op& op);
void rank(Op& op);
void reshape(Op& op);
void reverse(Op& op);
void scatter_nd(Op& op);
void reverse_sequence(Op& op);
void roll(Op& op);
void shape_of(Op& op);
void tensor_scatter(Op& op);
void size_of(Op& op);
void slice(Op& op);
void split(Op& op);
void squeeze(Op& op);
void strided_slice(Op& op);
void tile(Op& op);
void transpose(Op& op);
void unpack(Op& op);

}  // namespace dnn::tensorflow
