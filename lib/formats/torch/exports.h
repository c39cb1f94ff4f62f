// The functions that exports.def names, by the file that has them.
#pragma once
#include "formats/torch/export.h"

namespace dnn::torch {

// export_math.cc
void write_abs(Export& e);
void write_acos(Export& e);
void write_acosh(Export& e);
void write_add(Export& e);
void write_arg_max(Export& e);
void write_asin(Export& e);
void write_asinh(Export& e);
void write_atan(Export& e);
void write_atanh(Export& e);
void write_bitwise_and(Export& e);
void write_bitwise_not(Export& e);
void write_bitwise_or(Export& e);
void write_bitwise_xor(Export& e);
void write_ceil(Export& e);
void write_celu(Export& e);
void write_clip(Export& e);
void write_cos(Export& e);
void write_cosh(Export& e);
void write_cumsum(Export& e);
void write_div(Export& e);
void write_einsum(Export& e);
void write_elu(Export& e);
void write_equal(Export& e);
void write_erf(Export& e);
void write_exp(Export& e);
void write_floor(Export& e);
void write_gelu(Export& e);
void write_gemm(Export& e);
void write_greater(Export& e);
void write_greater_or_equal(Export& e);
void write_hard_sigmoid(Export& e);
void write_hard_swish(Export& e);
void write_is_inf(Export& e);
void write_is_nan(Export& e);
void write_leaky_relu(Export& e);
void write_less(Export& e);
void write_less_or_equal(Export& e);
void write_log(Export& e);
void write_log_softmax(Export& e);
void write_logical_and(Export& e);
void write_logical_not(Export& e);
void write_logical_or(Export& e);
void write_logical_xor(Export& e);
void write_matmul(Export& e);
void write_max(Export& e);
void write_mean(Export& e);
void write_min(Export& e);
void write_mish(Export& e);
void write_mod(Export& e);
void write_mul(Export& e);
void write_neg(Export& e);
void write_pow(Export& e);
void write_prelu(Export& e);
void write_reciprocal(Export& e);
void write_reduce_l1(Export& e);
void write_reduce_l2(Export& e);
void write_reduce_log_sum(Export& e);
void write_reduce_log_sum_exp(Export& e);
void write_reduce_max(Export& e);
void write_reduce_mean(Export& e);
void write_reduce_min(Export& e);
void write_reduce_prod(Export& e);
void write_reduce_sum(Export& e);
void write_reduce_sum_square(Export& e);
void write_relu(Export& e);
void write_round(Export& e);
void write_selu(Export& e);
void write_sigmoid(Export& e);
void write_sign(Export& e);
void write_sin(Export& e);
void write_sinh(Export& e);
void write_softmax(Export& e);
void write_softplus(Export& e);
void write_softsign(Export& e);
void write_sqrt(Export& e);
void write_sub(Export& e);
void write_sum(Export& e);
void write_swish(Export& e);
void write_tan(Export& e);
void write_tanh(Export& e);
void write_thresholded_relu(Export& e);
void write_topk(Export& e);
void write_where(Export& e);

// export_nn.cc
// The call that convolves x, of input 0's extents, with w, of input `weight`'s; the node says how. Its name, and its arguments.
std::string convolution(Export& e, VarId x, size_t weight, VarId w, Arg bias, std::vector<Arg>* args);
void write_average_pool(Export& e);
void write_batch_normalization(Export& e);
void write_conv(Export& e);
void write_conv_transpose(Export& e);
void write_global_average_pool(Export& e);
void write_global_max_pool(Export& e);
void write_group_normalization(Export& e);
void write_instance_normalization(Export& e);
void write_layer_normalization(Export& e);
void write_lrn(Export& e);
void write_max_pool(Export& e);
void write_rms_normalization(Export& e);

// export_quantization.cc
void write_dequantize_linear(Export& e);
void write_qlinear_conv(Export& e);
void write_qlinear_matmul(Export& e);
void write_quantize_linear(Export& e);

// export_shape.cc
void write_cast(Export& e);
void write_concat(Export& e);
void write_constant_of_shape(Export& e);
void write_depth_to_space(Export& e);
void write_dropout(Export& e);
void write_expand(Export& e);
void write_flatten(Export& e);
void write_gather(Export& e);
void write_gather_elements(Export& e);
void write_identity(Export& e);
void write_pad(Export& e);
void write_reshape(Export& e);
void write_resize(Export& e);
void write_scatter_elements(Export& e);
void write_shape(Export& e);
void write_size(Export& e);
void write_slice(Export& e);
void write_space_to_depth(Export& e);
void write_split(Export& e);
void write_squeeze(Export& e);
void write_tile(Export& e);
void write_transpose(Export& e);
void write_trilu(Export& e);
void write_unsqueeze(Export& e);

}  // namespace dnn::torch
