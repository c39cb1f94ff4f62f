// Outcomes of runs; see outcome.h.
#include "localize/outcome.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/compare.h"

namespace dnn {

Movement movement(const Outcome& first, const Outcome& other, const OutputTolerance& tolerance) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  constexpr double kLeastAllowed = 1e-200;  // so that differences that are not allowed at all still have an order
  Movement m;
  if (!first.outputs.empty()) m.from = top_label(first.outputs[0]);
  if (!other.outputs.empty()) m.to = top_label(other.outputs[0]);
  bool comparable = first.error.empty() && other.error.empty() && first.outputs.size() == other.outputs.size();
  for (size_t i = 0; comparable && i < first.outputs.size(); ++i)
    comparable = first.outputs[i].size() == other.outputs[i].size();
  if (!comparable) {
    // Two that do not run are not told apart: each device has its own words for one failure.
    m.max_abs = m.excess = first.error.empty() || other.error.empty() ? kInfinite : 0;
    return m;
  }
  for (size_t i = 0; i < first.outputs.size(); ++i) {
    const Tensor &a = first.outputs[i], &b = other.outputs[i];
    if (a.dtype() == DType::String || b.dtype() == DType::String) continue;
    const Distance d = compare(a, b);
    const double excess = d.max_abs / std::max(tolerance.atol + tolerance.rtol * d.largest, kLeastAllowed);
    if (excess < m.excess || d.max_abs == 0) continue;
    m = {d.max_abs, d.largest, excess, m.from, m.to};
  }
  return m;
}

}  // namespace dnn
