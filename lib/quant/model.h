// Quantising a model file as a command line asks for it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convert/source.h"
#include "quant/quantize.h"
#include "quant/validate.h"

namespace dnn::quant {

struct QuantizeRequest {
  std::string model, output;                     // the output's name says the format: ONNX or TFLite
  std::vector<std::string> calibrate, validate;  // as for open_samples()
  std::string preprocess, labels;
  PreprocessOptions spelled_out = {};
  bool apply_orientation = false;
  Surgery surgery = {};
  std::optional<int> opset;                               // of ONNX; left out, what the integers need
  std::optional<double> max_drop;                         // above Validation::drop() nothing is written
  QuantizeOptions options = {};                           // for_tflite is set from the output
  std::function<void(const std::string& line)> say = {};  // results as they come; may be empty
};

struct QuantizedModel {
  QuantizeReport report;
  std::optional<Validation> validation;
  bool written = false;  // false: more than max_drop is lost
};

// Throws Usage, and what reading, calibrating and writing throw.
QuantizedModel quantize_model(const QuantizeRequest& request);

}  // namespace dnn::quant
