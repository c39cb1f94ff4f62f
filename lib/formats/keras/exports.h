// The functions that exports.def names, by the file that has them.
#pragma once
#include "formats/keras/export.h"

namespace dnn::keras {

// export_nn.cc: convolutions, pooling, normalisation, resizing, over [N, H, W, C]
void write_average_pool(Export& e);
void write_batch_normalization(Export& e);
void write_conv(Export& e);
void write_conv_transpose(Export& e);
void write_group_normalization(Export& e);
void write_layer_normalization(Export& e);
void write_max_pool(Export& e);
void write_resize(Export& e);

// export_attention.cc
void write_attention(Export& e);

// export_math.cc: activations, sums and products
void write_activation(Export& e);
void write_binary(Export& e);
void write_clip(Export& e);
void write_compare(Export& e);
void write_dense(Export& e);
void write_dropout(Export& e);
void write_elu(Export& e);
void write_gelu(Export& e);
void write_hard_sigmoid(Export& e);
void write_hard_swish(Export& e);
void write_swish(Export& e);
void write_leaky_relu(Export& e);
void write_matmul(Export& e);
void write_operation(Export& e);
void write_prelu(Export& e);
void write_arg_extreme(Export& e);
void write_cumulative_sum(Export& e);
void write_reduce(Export& e);
void write_relu(Export& e);
void write_softmax(Export& e);
void write_thresholded_relu(Export& e);
void write_variadic(Export& e);

// export_shape.cc: moving elements
void write_cast(Export& e);
void write_concat(Export& e);
void write_depth_to_space(Export& e);
void write_expand(Export& e);
void write_gather(Export& e);
void write_identity(Export& e);
void write_pad(Export& e);
void write_reshape(Export& e);
void write_slice(Export& e);
void write_split(Export& e);
void write_transpose(Export& e);

// Layers that several of these use. A constant of any shape added to a layer's output.
LayerId add_constant(Export& e, LayerId x, const Type& type, const Tensor& value, const std::string& source);
// Extents of one axis cut or padded with zeros: `begin` and `end` elements go, or come where negative.
LayerId cut_axis(Export& e, LayerId x, const Type& type, int64_t axis, int64_t begin, int64_t end, Type* made);
LayerId reshaped(Export& e, LayerId x, const Type& type);
Tensor negated(const Tensor& tensor);

}  // namespace dnn::keras
