// The difference of two graphs: nodes matched by name, then by what they make, then by operator and place; then wiring,
// attributes, types and constants of the matched, constants with their numeric distance.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// How far apart two numeric tensors of one shape are. Relative: |a - b| / max(|a|, |b|). A NaN differs from a number
// (and counts as infinitely far), not from a NaN.
struct TensorDistance {
  int64_t n_elements = 0, n_different = 0;
  double max_absolute = 0, max_relative = 0;
};
TensorDistance tensor_distance(const Tensor& a, const Tensor& b);

// One line each, "- ..." for what only `a` has, "+ ..." for what only `b` has, "~ ...: A | B" for what differs. Empty when
// the graphs compute the same thing in the same way under the same names. Where a model came from (producer, opset,
// documentation) is not compared.
std::vector<std::string> graph_difference(const Graph& a, const Graph& b);

}  // namespace dnn
