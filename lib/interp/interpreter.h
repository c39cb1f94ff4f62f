// The reference interpreter: runs a graph node by node with the operators' reference kernels. It judges the compiler,
// folds constants and stands in where an operator has no lowering.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

class ThreadPool;

// Called with every value as it is computed (tracing); the tensor is shared, not copied.
using Observer = std::function<void(const Graph& graph, ValueId id, const Tensor& value)>;

// Outputs of `graph` for `inputs`, both in the graph's order. `captured` are the values that a subgraph reads from
// around it, by name. Memory: a value is dropped after its last reader. Throws Unsupported naming the operator that is
// not ours, Malformed where an input does not fit its declared type. Operators share their work out over `pool` (null: one thread),
// with the same bits; thread-safe with a pool for each caller.
std::vector<Tensor> interpret(const Graph& graph, const std::vector<Tensor>& inputs, const Observer& observe = {},
                              const std::map<std::string, Tensor>& captured = {}, ThreadPool* pool = nullptr);

// Outputs of one node for its inputs (null: left out), outside any graph run; subgraphs read `captured`.
std::vector<Tensor> interpret_node(const Node& node, const std::vector<const Tensor*>& inputs,
                                   const std::map<std::string, Tensor>& captured = {}, ThreadPool* pool = nullptr);

// Float32, float16, bfloat16: what widen_to_float64 makes float64.
bool is_widened(DType dtype);

// The same graph computing in float64: every value, constant and Cast target of a type that is_widened becomes float64. Nodes whose
// operator works on one type stay in theirs, between Casts, where types have been inferred. Run it on inputs converted to float64: that is
// the yardstick other runs are measured against.
Graph widen_to_float64(const Graph& graph);

}  // namespace dnn
