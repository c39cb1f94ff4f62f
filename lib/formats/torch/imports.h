// The functions that ops.def names, by the file that has them.
#pragma once
#include "formats/torch/import.h"

namespace dnn::torch {

// import_math.cc: element by element, reductions, products of matrices
// Values of one type, the widest, as torch.cat joins them.
void promote(Op& op, std::vector<ValueId>* values);
// Two arguments of one type: a Python number takes the tensor's where that holds numbers of its kind.
std::pair<ValueId, ValueId> operands(Op& op, size_t a, size_t b);
ValueId to_float(Op& op, ValueId x);  // integers and truth values as float32
Any addmm(Op& op);
Any bitwise(Op& op);
Any bitwise_not(Op& op);
Any add_product(Op& op);
Any cumsum(Op& op);
Any lerp(Op& op);
Any exponential(Op& op);
Any is_finite(Op& op);
Any log_of(Op& op);
Any truncated(Op& op);
Any quantify(Op& op);
Any variances(Op& op);
Any vector_norm(Op& op);
Any remainder(Op& op);
Any test(Op& op);
Any threshold(Op& op);
Any topk(Op& op);
Any triangle(Op& op);
Any arg_extreme(Op& op);
Any arithmetic(Op& op);
Any celu(Op& op);
Any clamp(Op& op);
Any clamp_max(Op& op);
Any clamp_min(Op& op);
Any comparison(Op& op);
Any divide(Op& op);
Any einsum(Op& op);
Any elu(Op& op);
Any extreme(Op& op);
Any floor_divide(Op& op);
Any gelu(Op& op);
Any glu(Op& op);
Any hardsigmoid(Op& op);
Any leaky_relu(Op& op);
Any linear(Op& op);
Any logical(Op& op);
Any logical_not(Op& op);
Any masked_fill(Op& op);
Any matmul(Op& op);
Any not_equal(Op& op);
Any power(Op& op);
Any prelu(Op& op);
Any quantized_relu6(Op& op);
Any reduce(Op& op);
Any relu(Op& op);
Any relu6(Op& op);
Any rsqrt(Op& op);
Any silu(Op& op);
Any softmax(Op& op);
Any softplus(Op& op);
Any square(Op& op);
Any unary(Op& op);
Any unary_real(Op& op);
Any where(Op& op);
ValueId affine(Op& op, ValueId x, ValueId weight, ValueId bias);  // a linear layer; no bias: kNoValue

// import_special.cc: functions that the IR has no operator for
Any affine_grid(Op& op);
Any angle(Op& op);
Any bilinear(Op& op);
Any col2im(Op& op);
Any complementary_error(Op& op);
Any copy_sign(Op& op);
Any cosine_similarity(Op& op);
Any count_nonzero(Op& op);
Any cumulative_product(Op& op);
Any extreme_number(Op& op);
Any grid_sample(Op& op);
Any heaviside(Op& op);
Any hypotenuse(Op& op);
Any log_add_exp(Op& op);
Any log_sigmoid(Op& op);
Any logit(Op& op);
Any nan_to_num(Op& op);
Any outer(Op& op);
Any rms_norm(Op& op);
Any round_to(Op& op);
Any rrelu(Op& op);
Any scatter(Op& op);
Any shrink(Op& op);
Any sign_bit_of(Op& op);
Any sinc(Op& op);
Any sort(Op& op);
Any x_log_y(Op& op);

// import_nn.cc: convolutions, pooling, normalisation, attention
Any adaptive_average_pool(Op& op);
Any adaptive_max_pool(Op& op);
Any attention(Op& op);
Any average_pool(Op& op);
Any batch_norm(Op& op);
Any channel_shuffle(Op& op);
Any conv(Op& op);
Any conv_transpose(Op& op);
Any convolution(Op& op);
Any dropout(Op& op);
Any group_norm(Op& op);
Any instance_norm(Op& op);
Any layer_norm(Op& op);
Any max_pool(Op& op);
Any max_pool_with_indices(Op& op);
Any multi_head_attention(Op& op);
Any native_batch_norm(Op& op);
Any native_batch_norm_training(Op& op);
Any native_dropout(Op& op);
Any native_group_norm(Op& op);
Any native_layer_norm(Op& op);
Any weight_norm(Op& op);
Any pixel_shuffle(Op& op);
Any pixel_unshuffle(Op& op);

// import_resize.cc
Any resize(Op& op);

// import_shape.cc: moving elements, making tensors, types
Any arange(Op& op);
Any cat_tensors(Op& op);
Any chunk(Op& op);
Any constant_pad(Op& op);
Any edge_pad(Op& op);
Any embedding(Op& op);
Any expand(Op& op);
Any expand_as(Op& op);
Any fill(Op& op);
Any flatten(Op& op);
Any flip(Op& op);
Any full(Op& op);
Any full_like(Op& op);
Any gather(Op& op);
Any im2col(Op& op);
Any index(Op& op);
Any index_select(Op& op);
Any matrix_transpose(Op& op);
Any meshgrid(Op& op);
Any narrow(Op& op);
Any new_full(Op& op);
Any new_ones(Op& op);
Any new_zeros(Op& op);
Any one_hot(Op& op);
Any ones(Op& op);
Any ones_like(Op& op);
Any pad(Op& op);
Any permute(Op& op);
Any ravel(Op& op);
Any repeat(Op& op);
Any repeat_interleave(Op& op);
Any roll(Op& op);
Any same(Op& op);
Any same_value(Op& op);
Any scalar_tensor(Op& op);
Any select(Op& op);
Any slice(Op& op);
Any split_tensor(Op& op);
Any squeeze(Op& op);
Any stack(Op& op);
Any stack_rows(Op& op);
Any take_along(Op& op);
Any tensor_split(Op& op);
Any to(Op& op);
Any to_copy(Op& op);
Any transpose(Op& op);
Any transpose_all(Op& op);
Any type_as(Op& op);
Any unbind(Op& op);
Any unflatten(Op& op);
Any unfold(Op& op);
Any unsqueeze(Op& op);
Any view(Op& op);
Any view_as(Op& op);
Any zeros(Op& op);
Any zeros_like(Op& op);

// import_quantized.cc: quantized::
Any dequantize(Op& op);
Any quantize_per_tensor(Op& op);
Any quantized_arithmetic(Op& op);
Any quantized_batch_norm(Op& op);
Any quantized_cat(Op& op);
Any quantized_conv(Op& op);
Any quantized_conv_prepack(Op& op);
Any quantized_linear(Op& op);
Any quantized_linear_prepack(Op& op);
Any quantized_scalar(Op& op);
Any quantized_unary(Op& op);

}  // namespace dnn::torch
