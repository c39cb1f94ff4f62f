// The tables of the formats' operators, read for their names; see operators.h.
#include "formats/operators.h"

#include <set>

#include "formats/decompose.h"
#include "ops/op.h"

namespace dnn {
namespace {

using Operators = std::vector<FormatOperator>;

// Every version of every operator is read, and what there is at the IR's opset written.
Operators onnx_operators() {
  std::set<std::string> read;
#define DNN_ONNX_VERSION(op, ...) read.insert(#op);
#include "formats/onnx/versions.def"
  Operators rows;
  for (const OpDef& op : all_ops()) {
    if (!op.domain.empty()) continue;
    rows.push_back({op.name, true, true, true});
    read.erase(op.name);
  }
  for (const std::string& name : read) rows.push_back({name, false, true, false});
  return rows;
}

// Those that the format has none like are written as others.
Operators with_decomposed(Operators rows) {
  std::set<std::string> written;
  for (const FormatOperator& row : rows) {
    if (row.ours) written.insert(row.name);
  }
  for (const std::string& name : decomposed_operators()) {
    if (written.count(name) == 0) rows.push_back({name, true, false, true});
  }
  return rows;
}

Operators tflite_operators() {
  Operators rows;
#define DNN_TFLITE_OP(name, ...) rows.push_back({#name, false, true, false});
#include "formats/tflite/ops.def"
#define DNN_TFLITE_EXPORT(domain, op, ...) rows.push_back({#op, true, false, true});
#include "formats/tflite/exports.def"
  return with_decomposed(std::move(rows));
}

Operators keras_operators() {
  Operators rows;
#define DNN_KERAS_LAYER(name, ...) rows.push_back({#name, false, true, false});
#include "formats/keras/layers.def"
  return rows;
}

Operators tensorflow_operators() {
  Operators rows;
#define DNN_TENSORFLOW_OP(name, outputs, function, ...) \
  if (#function != std::string("refused")) rows.push_back({#name, false, true, false});
#include "formats/tensorflow/ops.def"
#define DNN_TENSORFLOW_EXPORT(domain, op, ...) rows.push_back({#op, true, false, true});
#include "formats/tensorflow/exports.def"
  return with_decomposed(std::move(rows));
}

Operators torch_operators() {
  Operators rows;
#define DNN_TORCH_EXPORT(op, ...) rows.push_back({#op, true, false, true});
#include "formats/torch/exports.def"
  return with_decomposed(std::move(rows));
}

struct Row {
  const char* format;
  Operators (*operators)();
};
constexpr Row kRows[] = {{"onnx", onnx_operators},          {"tflite", tflite_operators},
                         {"keras", keras_operators},        {"h5", keras_operators},
                         {"torchscript", torch_operators},  {"savedmodel", tensorflow_operators},
                         {"graphdef", tensorflow_operators}};

}  // namespace

std::vector<FormatOperator> format_operators(const Format& format) {
  for (const Row& row : kRows) {
    if (format.name == std::string(row.format)) return row.operators();
  }
  return {};
}

}  // namespace dnn
