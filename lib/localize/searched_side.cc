// Sides that are searched; see searched_side.h.
#include "localize/searched_side.h"

#include <algorithm>
#include <limits>

#include "interp/interpreter.h"

namespace dnn {
namespace {

constexpr double kFirstShare = 0.1;  // of the whole movement, which is searched for first

}  // namespace

WorstMovement worst_of(const std::vector<Outcome>& first, const std::vector<Outcome>& other,
                       const OutputTolerance& tolerance) {
  WorstMovement worst;
  for (size_t i = 0; i < first.size(); ++i) {
    const Movement m = dnn::movement(first[i], other[i], tolerance);
    worst.relabelled = worst.relabelled || m.relabelled();
    if (i == 0 || m.excess > worst.movement.excess) worst.movement = m;
  }
  return worst;
}

SearchedSide::SearchedSide(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& side,
                           bool of_source, std::vector<size_t> searched, bool by_label,
                           const OutputTolerance& tolerance)
    : model_(model),
      samples_(samples),
      side_(side),
      of_source_(of_source),
      by_label_(by_label),
      tolerance_(tolerance),
      searched_(std::move(searched)) {
  for (size_t i : searched_)
    inputs_.push_back(side.compile.element == DType::Float64 ? in_float64(samples[i].inputs) : samples[i].inputs);
  right_ = interpreted(rewritten_after(0, {}));
}

Rewritten SearchedSide::rewritten_after(int64_t n, const LeftOut& left_out) const {
  return rewritten(model_, side_.compile, n, left_out);
}

std::vector<Outcome> SearchedSide::interpreted(const Rewritten& graph) const {
  std::vector<Outcome> outcomes;
  for (const std::vector<Tensor>& inputs : inputs_) {
    outcomes.push_back(graph.error.empty() ? outcome_of([&] { return interpret(graph.graph, inputs); })
                                           : Outcome{{}, graph.error});
  }
  return outcomes;
}

WorstMovement SearchedSide::worst(const std::vector<Outcome>& outcomes) const {
  return worst_of(right_, outcomes, tolerance_);
}

bool SearchedSide::departs(const WorstMovement& worst, double limit) const {
  return by_label_ ? worst.relabelled : worst.movement.excess > limit;
}

double SearchedSide::first_limit(const WorstMovement& all) {
  return std::clamp(kFirstShare * all.movement.excess, kLeast, std::numeric_limits<double>::max());
}

double SearchedSide::differs(const Outcome& a, const Outcome& b) const {
  const Movement m = movement(a, b, tolerance_);
  return by_label_ && m.relabelled() ? std::numeric_limits<double>::infinity() : m.excess;
}

}  // namespace dnn
