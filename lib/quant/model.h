// Quantising a model file as a command line asks for it.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "convert/source.h"
#include "quant/inputs.h"
#include "quant/quantize.h"
#include "quant/report.h"

namespace dnn::quant {

struct QuantizeRequest : InputChoice {
  std::string output;  // its name says the format: ONNX or TFLite; "": nothing is written
  // Files of what calibrations saw. With `calibrate` one, which goes on from there and is written again; else all are added up.
  std::vector<std::string> states;
  Shard shard;  // of `calibrate`
  Surgery surgery = {};
  std::optional<int> opset;        // of ONNX; left out, what the integers need
  std::optional<double> max_drop;  // of Validation::worst_drop(): layers are left in float32 for it
  double most_float = 0.5;         // share of multiply-adds that may be
  uint64_t seed = 0;               // of the halves of `validate`
  bool qoperator = false;          // of ONNX: operators on integers in place of QDQ
  DType input_type = DType::Float32, output_type = DType::Float32;  // or Int8, UInt8
  bool pixels = false;                                              // the input is an image's bytes, see pixels.h
  bool equalise = false;                                            // see equalise.h
  bool sensitivity = false;                                         // measure what each rounding alone does
  QuantizeOptions options = {};                                     // `fuses` is set from the output and its form
  std::function<void(const std::string& line)> say = {};            // results as they come; may be empty
  std::function<void(const std::string& table)> show = {};          // lines of a table; may be empty
};

struct QuantizedModel {
  Reports reports;
  bool holds = true;  // false: what was written, the best that was found, loses more than max_drop
};

// Throws Usage, and what reading, calibrating and writing throw.
QuantizedModel quantize_model(const QuantizeRequest& request);

}  // namespace dnn::quant
