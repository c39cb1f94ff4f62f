// The table of operators; see ops.def.
#include "formats/tflite/imports.h"

namespace dnn::tflite {

const std::vector<OpRow>& op_rows() {
  static const std::vector<OpRow> rows = {
#define DNN_TFLITE_OP(name, code, function) {#name, code, function},
#include "formats/tflite/ops.def"
  };
  return rows;
}

}  // namespace dnn::tflite
