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

// For the message that a format has no counterpart of a node: what the person can do.
std::string way_out(const Graph& graph, const Node& node);

// Names of the operators that have a definition.
std::vector<std::string> decomposed_operators();

// A NonMaxSuppression of one image and class and of boxes by their corners, which is all that other formats have.
bool suppresses_once(const Graph& graph, const Node& node);

// A MaxPool whose places of the largest elements are an output: others have none that count in the whole tensor.
bool makes_places(const Node& node);

// An Elu of alpha 1, a Selu of its paper's numbers, any other operator: those that formats without such arguments have.
bool has_usual_numbers(const Node& node);

}  // namespace dnn
