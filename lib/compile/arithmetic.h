// The arithmetic of quantised networks, as --arithmetic names it: ONNX's, with factors in float32, or that of TFLite's or
// TensorFlow Lite Micro's reference kernels.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

enum class Arithmetic { Onnx, Tflite, TfliteMicro };

// One of arithmetic_names(); throws Usage for others.
std::vector<std::string> arithmetic_names();
Arithmetic arithmetic_named(const std::string& name);
// Changes of passes, as in PassOptions, with the pass that computes as TFLite does where that is asked for.
std::string with_arithmetic(const std::string& changes, Arithmetic arithmetic);
// The graph after that pass alone, its types inferred; Unsupported where an operator is not computed so. ONNX's: the graph itself.
Graph in_arithmetic(const Graph& graph, Arithmetic arithmetic);
// The arithmetic of a package that was compiled with those passes.
Arithmetic arithmetic_of(const std::vector<std::string>& passes);

}  // namespace dnn
