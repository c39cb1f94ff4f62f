// Type inference judged by what a conformance case computes.
#pragma once
#include <string>

#include "onnx/cases.h"

namespace dnn::conformance {

// Forgets the types that the file declares, infers them from the inputs' types alone and from the inputs' values, and
// compares with the outputs. Empty, or one line that names the first contradiction; unknown types are none.
std::string type_contradiction(const Graph& graph, const DataSet& data);

}  // namespace dnn::conformance
