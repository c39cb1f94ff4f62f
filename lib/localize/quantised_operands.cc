// Telling what operands were before they were rounded; see quantised_operands.h.
#include "localize/quantised_operands.h"

#include <cmath>
#include <utility>

#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr double kHeldHalf = 0.502;  // rounding to nearest, with scales rounded to float32

}  // namespace

SourceOperands::SourceOperands(const Graph& folded_source) {
  add(folded_source);
  Graph simple = folded_source;
  infer_types(simple);
  PassOptions options;
  options.changes = "only:simplify-inference,fold-constant";
  run_passes(simple, options);
  add(simple);
}

void SourceOperands::add(const Graph& graph) {
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).inputs) {
      const Tensor* constant = v == kNoValue ? nullptr : graph.constant(v);
      if (constant == nullptr || !is_float(constant->dtype())) continue;
      constants_.push_back(to_doubles(*constant));
      // Channels last, or back.
      const int rank = constant->rank();
      if (rank < 3) continue;
      for (const auto& [from, to] : {std::pair(1, rank - 1), std::pair(rank - 1, 1)}) {
        std::vector<int64_t> perm;
        for (int axis = 0; axis < rank; ++axis) {
          if (axis != from) perm.push_back(axis);
        }
        perm.insert(perm.begin() + to, from);
        constants_.push_back(to_doubles(constant->transposed(perm)));
      }
    }
  }
}

std::optional<std::vector<double>> SourceOperands::rounded_to(const std::vector<double>& numbers,
                                                              const std::vector<double>& steps) const {
  const std::vector<double>* best = nullptr;
  double least = 0;
  for (const std::vector<double>& ours : constants_) {
    const std::optional<double> apart = rounding_apart(ours, numbers, steps);
    if (!apart || (best != nullptr && *apart >= least)) continue;
    best = &ours;
    least = *apart;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::optional<double> rounding_apart(const std::vector<double>& ours, const std::vector<double>& numbers,
                                     const std::vector<double>& steps) {
  if (ours.size() != numbers.size()) return std::nullopt;
  double squares = 0;
  for (size_t i = 0; i < ours.size(); ++i) {
    const double apart = std::abs(numbers[i] - ours[i]);
    if (!(apart <= kHeldHalf * steps[i])) return std::nullopt;
    squares += apart == 0 ? 0 : apart * apart / (steps[i] * steps[i]);
  }
  return squares;
}

}  // namespace dnn
