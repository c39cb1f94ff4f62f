// The table of exports; see exports.def.
#include "formats/keras/exports.h"

namespace dnn::keras {

const std::vector<ExportRow>& export_rows() {
  static const std::vector<ExportRow> rows = {
#define DNN_KERAS_EXPORT(domain, op, fuses, function, detail) {#domain, #op, fuses, function, detail},
#include "formats/keras/exports.def"
  };
  return rows;
}

}  // namespace dnn::keras
