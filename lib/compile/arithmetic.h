// The arithmetic of quantised networks, as --arithmetic names it: on integers with factors in float32, node by node in float32, or
// that of TFLite's or TensorFlow Lite Micro's reference kernels.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

enum class Arithmetic { Onnx, Float, Tflite, TfliteMicro };

// One of arithmetic_names(); throws Usage for others.
std::vector<std::string> arithmetic_names();
Arithmetic arithmetic_named(const std::string& name);
// Changes of passes, as in PassOptions, and before them those of the arithmetic: at each level the same, so that -O0 gives the bits of
// the others. "only:" names what it wants itself, but for TFLite's arithmetic, which is added.
std::string with_arithmetic(const std::string& changes, Arithmetic arithmetic);
// The graph after TFLite's pass alone, its types inferred; Unsupported where an operator is not computed so. The others': the graph
// itself, whose values they are.
Graph in_arithmetic(const Graph& graph, Arithmetic arithmetic);
// The arithmetic of a package that was compiled with those passes.
Arithmetic arithmetic_of(const std::vector<std::string>& passes);

}  // namespace dnn
