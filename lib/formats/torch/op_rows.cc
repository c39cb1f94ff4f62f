// The table of operators; see ops.def.
#include "formats/torch/imports.h"

namespace dnn::torch {

const std::vector<OpRow>& op_rows() {
  static const std::vector<OpRow> rows = {
#define DNN_TORCH_OP(name, schema, function, op) {name, schema, function, op},
#include "formats/torch/ops.def"
  };
  return rows;
}

}  // namespace dnn::torch
