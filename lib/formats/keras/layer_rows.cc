// The table of layers; see layers.def.
#include "formats/keras/layers.h"

namespace dnn::keras {

const std::vector<LayerRow>& layer_rows() {
  static const std::vector<LayerRow> rows = {
#define DNN_KERAS_LAYER(name, function) {#name, function},
#include "formats/keras/layers.def"
  };
  return rows;
}

const LayerRow* find_layer(const std::string& class_name) {
  for (const LayerRow& row : layer_rows()) {
    if (class_name == row.name) return &row;
  }
  return nullptr;
}

}  // namespace dnn::keras
