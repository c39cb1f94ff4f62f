// The source of a conversion: a model with what its user wants done to it before it is written.
#pragma once
#include <functional>
#include <string>

#include "convert/surgery.h"
#include "formats/format.h"

namespace dnn {

struct ConvertSource {
  std::string architecture = {};  // of weights without a graph; "" for what their names tell
  std::string weights = {};       // a file of weights alone, which replace the model's of the same names
  Surgery surgery = {};
  IgnoredFields ignored = {};                                 // see formats/leftovers.h
  bool onnx_reference = false;                                // see ModelSource
  std::function<void(const std::string& message)> warn = {};  // may be empty
};

// The model of a file or folder ("-": standard input), weights on their network where `target` (null: not known) holds
// graphs, and operated on. Warns of constants that `weights` says nothing of, and of a graph that a target of weights leaves
// behind. Throws what reading, build_architecture(), put_weights() and operate() throw, with the path in front.
Graph read_to_convert(const std::string& path, const Format* target, const ConvertSource& options);

}  // namespace dnn
