// dnn-compile --precision int8: the integer form of a model, which is compiled in its place.
#pragma once
#include <string>
#include <vector>

#include "base/file.h"
#include "cli/cli.h"
#include "compile/open.h"
#include "quant/model.h"

namespace dnn::quant {

// Declares --calibrate and the options of preprocessing.
void declare_calibration(cli::Args& args, QuantizeRequest* o);

// Throws Usage unless there is something to calibrate on where a model is compiled `in_integers`, and nothing where not. `as_file`: what is
// asked for as well wants the integer model as a file.
void check_calibration(const QuantizeRequest& o, bool in_integers, bool as_file);

// The integer form of a model, an ONNX file of the model's name, which is there as long as the object.
class IntegerForm {
 public:
  // Calibrates the model at `model` on o's inputs, its shapes set and run in float32 as `open` says, which notes what happens. Throws as
  // quantize_model() does.
  IntegerForm(const QuantizeRequest& o, const std::string& model, const OpenOptions& open);
  const std::string& path() const { return path_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

}  // namespace dnn::quant
