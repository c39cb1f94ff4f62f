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

// Their functions, in operations.cc and operations_special.cc.
#define DNN_KERAS_OPERATION(name, tf_names, function, detail) ValueId function(Call& call, const char*);
#include "formats/keras/operations.def"

}  // namespace dnn::keras
