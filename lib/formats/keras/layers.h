// The functions that layers.def and operations.def name, by the file that has them.
#pragma once
#include "formats/keras/import.h"

namespace dnn::keras {

// import_conv.cc: convolutions and poolings over any number of spatial axes
template <size_t n>
ValueId import_conv(Call& call);
template <size_t n>
ValueId import_conv_transpose(Call& call);
template <size_t n>
ValueId import_depthwise_conv(Call& call);
template <size_t n>
ValueId import_separable_conv(Call& call);
template <size_t n>
ValueId import_max_pool(Call& call);
template <size_t n>
ValueId import_average_pool(Call& call);
template <size_t n>
ValueId import_global_max_pool(Call& call);
template <size_t n>
ValueId import_global_average_pool(Call& call);

// import_norm.cc: normalisations, and what preprocessing layers do to images
ValueId import_batch_normalization(Call& call);
ValueId import_group_normalization(Call& call);
ValueId import_layer_normalization(Call& call);
ValueId import_layer_scale(Call& call);
ValueId import_normalization(Call& call);
ValueId import_rescaling(Call& call);
ValueId import_resizing(Call& call);
ValueId import_center_crop(Call& call);
ValueId import_rms_normalization(Call& call);
ValueId import_unit_normalization(Call& call);
template <size_t n>
ValueId import_up_sampling(Call& call);

// import_math.cc: activations, merges, products of matrices
std::vector<int64_t> last_two_swapped(int64_t rank);  // a permutation
ValueId import_activation(Call& call);
ValueId import_add(Call& call);
ValueId import_average(Call& call);
ValueId import_concatenate(Call& call);
ValueId import_dense(Call& call);
ValueId import_dot(Call& call);
ValueId import_einsum_dense(Call& call);
ValueId import_dropout(Call& call);
ValueId import_elu(Call& call);
ValueId import_identity(Call& call);
ValueId import_leaky_relu(Call& call);
ValueId import_maximum(Call& call);
ValueId import_merge(Call& call);
ValueId import_minimum(Call& call);
ValueId import_additive_attention(Call& call);
ValueId import_attention(Call& call);
ValueId import_multi_head_attention(Call& call);
ValueId import_multiply(Call& call);
ValueId import_prelu(Call& call);
ValueId import_relu(Call& call);
ValueId import_softmax(Call& call);
// Softmax or LogSoftmax, the former over any number of axes.
ValueId softmax_over(Call& call, const char* op, ValueId v, std::vector<int64_t> axes);
ValueId import_subtract(Call& call);
ValueId import_thresholded_relu(Call& call);

ValueId import_recurrent(Call& call);  // import_recurrent.cc

// import_wrappers.cc: layers that call other layers
ValueId import_bidirectional(Call& call);
ValueId import_time_distributed(Call& call);

// import_shape.cc: moving elements
template <size_t n>
ValueId import_cropping(Call& call);
ValueId import_flatten(Call& call);
ValueId import_permute(Call& call);
ValueId import_repeat_vector(Call& call);
ValueId import_reshape(Call& call);
template <size_t n>
ValueId import_zero_padding(Call& call);

}  // namespace dnn::keras
