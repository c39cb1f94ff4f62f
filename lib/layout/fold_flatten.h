// The Transpose in front of a Flatten, folded into the weights of the dense layers behind it.
#pragma once
#include "graph/graph.h"

namespace dnn {

// Where nothing reads a Transpose but a Reshape or Flatten that merges the axes it exchanged into the last one, and
// everything behind that works on each element alike until a Gemm or MatMul by a constant matrix: the matrix's rows take the
// other order and the Transpose goes. Only elements move: the same fold, the other way, gives every bit back. Types must be
// inferred; nodes that nothing reads any more stay.
void fold_flattens(Graph& graph);

}  // namespace dnn
