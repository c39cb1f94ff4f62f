// Compiling a graph as one package whose segments several threads run at once.
#pragma once
#include <functional>

#include "codegen/segments.h"
#include "compile/compile.h"

namespace dnn {

// As compile(). `segments`, of the graph after the passes; empty ones for a graph that has to run as a whole.
Package compile_segments(const Graph& graph, const CompileOptions& options,
                         const std::function<codegen::Segments(const Graph& graph)>& segments);

}  // namespace dnn
