// Axis orders of a whole graph: formats that keep channels last meet an IR that keeps them first. Readers and writers put
// a Transpose on either side of every operator that insists on an order; settle_transposes() then moves them through the
// operators that compute alike in any order, until few remain, mostly one at an input or output.
#pragma once
#include <set>

#include "graph/graph.h"
#include "tensor/tensor.h"

namespace dnn {

// Axis i of the permuted tensor is axis perm[i] of the original, as in Transpose.
using Permutation = std::vector<int64_t>;
inline const Permutation kToChannelsFirst = {0, 3, 1, 2}, kToChannelsLast = {0, 2, 3, 1};

Tensor transposed(const Tensor& tensor, const Permutation& perm);

// Rewrites the graph so that it computes the same outputs from the same inputs with as few Transposes as local search
// finds: each set of values that operators tie to one order gets the order that leaves the fewest changes of order
// between the sets. Constants are reordered in place. Where a Transpose goes, its two values become one, which keeps the
// name that is not in `unnamed` (the values that a reader or writer invented). Types must be inferred; a value of
// unknown rank stays as it is. The graph stays verified; other Transposes than needed are gone.
void settle_transposes(Graph& graph, const std::set<ValueId>& unnamed);

}  // namespace dnn
