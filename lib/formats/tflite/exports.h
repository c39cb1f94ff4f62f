// The functions that exports.def names, by the file that has them.
#pragma once
#include "formats/tflite/export.h"

namespace dnn::tflite {

// export_math.cc
template <int code>
void write_unary(Export& e);
template <int code>
void write_binary(Export& e);
template <int code>
void write_variadic(Export& e);
template <int code>
void write_reduce(Export& e);
template <int code>
void write_arg_extreme(Export& e);
void write_add(Export& e);
void write_cast(Export& e);
void write_clip(Export& e);
void write_dequantize(Export& e);
void write_div(Export& e);
void write_elu(Export& e);
void write_gelu(Export& e);
void write_gemm(Export& e);
void write_hard_sigmoid(Export& e);
void write_layer_normalization(Export& e);
void write_leaky_relu(Export& e);
void write_log_softmax(Export& e);
void write_matmul(Export& e);
void write_mish(Export& e);
void write_mul(Export& e);
void write_quantize(Export& e);
void write_relu(Export& e);
void write_softmax(Export& e);
void write_softplus(Export& e);
void write_sub(Export& e);
void write_sum(Export& e);
void write_swish(Export& e);
void write_where(Export& e);

// export_nn.cc
void write_average_pool(Export& e);
void write_conv(Export& e);
void write_conv_transpose(Export& e);
void write_depth_to_space(Export& e);
void write_lrn(Export& e);
void write_max_pool(Export& e);
void write_resize(Export& e);
void write_space_to_depth(Export& e);

// export_index.cc
void write_cumsum(Export& e);
void write_gather(Export& e);
void write_gather_nd(Export& e);
void write_reverse_sequence(Export& e);
void write_non_max_suppression(Export& e);
void write_scatter(Export& e);
void write_top_k(Export& e);

// export_shape.cc
void write_concat(Export& e);
void write_expand(Export& e);
void write_identity(Export& e);
void write_pad(Export& e);
void write_reshape(Export& e);
void write_shape(Export& e);
void write_slice(Export& e);
void write_split(Export& e);
void write_tile(Export& e);
void write_transpose(Export& e);

}  // namespace dnn::tflite
