// Operations in a model: those of keras.ops, and TensorFlow functions that tf_keras wraps as TFOpLambda layers.
#pragma once
#include "formats/keras/import.h"

namespace dnn::keras {

// One row per operation, from operations.def.
struct OperationRow {
  const char* name;      // class in keras.src.ops
  const char* tf_names;  // space-separated
  ValueId (*import)(Call&, const char* detail);
  const char* detail;
};
const std::vector<OperationRow>& operation_rows();
// Whether a layer is an operation, and its row: null where it is not read.
bool is_operation(const Layer& layer);
const OperationRow* find_operation(const Layer& layer);

ValueId operate_activation(Call& call, const char* name);
ValueId operate_binary(Call& call, const char* op);
ValueId operate_broadcast_to(Call& call, const char*);
ValueId operate_cast(Call& call, const char*);
ValueId operate_clip(Call& call, const char*);
ValueId operate_concatenate(Call& call, const char*);
ValueId operate_expand_dims(Call& call, const char*);
ValueId operate_gelu(Call& call, const char*);
ValueId operate_get_item(Call& call, const char*);
ValueId operate_matmul(Call& call, const char*);
ValueId operate_pad(Call& call, const char*);
ValueId operate_reduce(Call& call, const char* op);
ValueId operate_reshape(Call& call, const char*);
ValueId operate_round(Call& call, const char*);
ValueId operate_rsqrt(Call& call, const char*);
ValueId operate_softmax(Call& call, const char* op);
ValueId operate_square(Call& call, const char*);
ValueId operate_squeeze(Call& call, const char*);
ValueId operate_swapaxes(Call& call, const char*);
ValueId operate_take(Call& call, const char*);
ValueId operate_transpose(Call& call, const char*);
ValueId operate_unary(Call& call, const char* op);
ValueId operate_where(Call& call, const char*);

// operations_special.cc
ValueId operate_arg_extreme(Call& call, const char* op);
ValueId operate_cumulate(Call& call, const char* op);
ValueId operate_einsum(Call& call, const char*);
ValueId operate_expm1(Call& call, const char*);
ValueId operate_filled_like(Call& call, const char* value);
ValueId operate_flip(Call& call, const char*);
ValueId operate_floor_divide(Call& call, const char*);
ValueId operate_is_finite(Call& call, const char*);
ValueId operate_log_add_exp(Call& call, const char*);
ValueId operate_log_sum_exp(Call& call, const char*);
ValueId operate_logarithm(Call& call, const char* base);
ValueId operate_logical(Call& call, const char* op);
ValueId operate_logical_not(Call& call, const char*);
ValueId operate_modulo(Call& call, const char*);
ValueId operate_move_axis(Call& call, const char*);
ValueId operate_norm(Call& call, const char*);
ValueId operate_not_equal(Call& call, const char*);
ValueId operate_one_hot(Call& call, const char*);
ValueId operate_quantify(Call& call, const char* op);
ValueId operate_ravel(Call& call, const char*);
ValueId operate_repeat(Call& call, const char*);
ValueId operate_roll(Call& call, const char*);
ValueId operate_same(Call& call, const char*);
ValueId operate_slope(Call& call, const char* op);
ValueId operate_sort(Call& call, const char* what);
ValueId operate_stack(Call& call, const char*);
ValueId operate_tile(Call& call, const char*);
ValueId operate_triangle(Call& call, const char* upper);
ValueId operate_trunc(Call& call, const char*);
ValueId operate_variance(Call& call, const char* root);

}  // namespace dnn::keras
