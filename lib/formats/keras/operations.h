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

}  // namespace dnn::keras
