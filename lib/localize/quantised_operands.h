// The source's constants that a target's integers may stand for, whichever operator reads them.
#pragma once
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// A quantiser folds constants and writes batch norms as products and sums before it rounds what these read, so that an operand's
// numbers may be those of no node of the source.
class SourceOperands {
 public:
  explicit SourceOperands(const Graph& folded_source);

  // The nearest numbers that these are roundings of: half a step off at most. Nullopt where there are none.
  std::optional<std::vector<double>> rounded_to(const std::vector<double>& numbers,
                                                const std::vector<double>& steps) const;

 private:
  void add(const Graph& graph);

  std::vector<std::vector<double>> constants_;
};

// How far numbers are from ours, as the sum of squares in steps; nullopt where they are no roundings of them.
std::optional<double> rounding_apart(const std::vector<double>& ours, const std::vector<double>& numbers,
                                     const std::vector<double>& steps);

}  // namespace dnn
