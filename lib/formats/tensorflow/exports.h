// The functions that exports.def names, by the file that has them.
#pragma once
#include "formats/tensorflow/export.h"

namespace dnn::tensorflow {

// export_math.cc
void write_arg_extreme(Export& e);
void write_binary(Export& e);
void write_cast(Export& e);
void write_clip(Export& e);
void write_cumsum(Export& e);
void write_einsum(Export& e);
void write_elu(Export& e);
void write_gelu(Export& e);
void write_gemm(Export& e);
void write_hard_sigmoid(Export& e);
void write_hard_swish(Export& e);
void write_swish(Export& e);
void write_layer_normalization(Export& e);
void write_leaky_relu(Export& e);
void write_matmul(Export& e);
void write_mish(Export& e);
void write_mod(Export& e);
void write_prelu(Export& e);
void write_reduce(Export& e);
void write_softmax(Export& e);
void write_sum(Export& e);
void write_top_k(Export& e);
void write_unary(Export& e);
void write_variadic(Export& e);
void write_where(Export& e);

// export_nn.cc
void write_average_pool(Export& e);
void write_batch_norm(Export& e);
void write_batch_norm_elsewhere(Export& e);
void write_conv(Export& e);
void write_conv_transpose(Export& e);
void write_blocks(Export& e);
void write_lrn(Export& e);
void write_max_pool(Export& e);
void write_resize(Export& e);

// export_shape.cc
void write_concat(Export& e);
void write_constant_of_shape(Export& e);
void write_expand(Export& e);
void write_gather(Export& e);
void write_gather_nd(Export& e);
void write_identity(Export& e);
void write_non_max_suppression(Export& e);
void write_pad(Export& e);
void write_range(Export& e);
void write_reshape(Export& e);
void write_scatter_nd(Export& e);
void write_shape(Export& e);
void write_size(Export& e);
void write_slice(Export& e);
void write_split(Export& e);
void write_tile(Export& e);
void write_transpose(Export& e);

}  // namespace dnn::tensorflow
