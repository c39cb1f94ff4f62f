// Operators in simpler ones, for formats that have none like them.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// Settles first what ONNX alone allows: an exponent of integers, an index of GatherND from the end, bounds of
// Clip that cross, a Dropout's mask (Unsupported).
// Writes each node that the format does not take as others, where a definition is known: those of ONNX's functions and of mathematics
// (Celu, Sinh, ReduceLogSumExp, an index that keeps its axis, ...). What these are is asked again. Nodes without a definition stay, for
// the writer to refuse. Types must be inferred, and are afterwards.
void decompose(Graph& graph, const std::function<bool(const Node&)>& takes);

// Names of the operators that have a definition.
std::vector<std::string> decomposed_operators();

// An Elu of alpha 1, a Selu of its paper's numbers, any other operator: those that formats without such arguments have.
bool has_usual_numbers(const Node& node);

}  // namespace dnn
