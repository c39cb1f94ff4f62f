// A side of a bisection as its searches see it: its graphs on the interpreter, judged by the model as written.
#pragma once
#include <vector>

#include "localize/rewrites.h"
#include "localize/side_run.h"

namespace dnn {

// Blocked sums and short exponentials may move a kernel's values by so much, relative to the largest one.
inline constexpr double kRoundingOfKernel = 1e-4;

// The largest excess of several samples' movements, and that movement.
struct WorstMovement {
  Movement movement;
  bool relabelled = false;
};
WorstMovement worst_of(const std::vector<Outcome>& first, const std::vector<Outcome>& other,
                       const OutputTolerance& tolerance);

class SearchedSide {
 public:
  // Runs the model as written on the samples to search. All but `searched` are kept by reference. `by_label`: outputs depart where a
  // label changes; otherwise where they leave the tolerance.
  SearchedSide(const Graph& model, const std::vector<BisectSample>& samples, const BisectSide& side, bool of_source,
               std::vector<size_t> searched, bool by_label, const OutputTolerance& tolerance);

  const Graph& model() const { return model_; }
  const std::vector<BisectSample>& samples() const { return samples_; }
  const BisectSide& side() const { return side_; }
  bool of_source() const { return of_source_; }
  bool by_label() const { return by_label_; }
  const OutputTolerance& tolerance() const { return tolerance_; }
  const std::vector<size_t>& searched() const { return searched_; }           // samples
  const std::vector<std::vector<Tensor>>& inputs() const { return inputs_; }  // of these, in the side's element type

  // The model under the side's passes, after so many rewrites (-1: all).
  Rewritten rewritten_after(int64_t n, const LeftOut& left_out) const;
  // The graph's outcomes for the searched samples, on the interpreter.
  std::vector<Outcome> interpreted(const Rewritten& graph) const;
  // Outcomes for the searched samples against the model as written.
  WorstMovement worst(const std::vector<Outcome>& outcomes) const;

  // Two sides that differ by more than the tolerance: one of them departs from the right outputs by at least half of it.
  static constexpr double kLeast = 0.5;
  bool departs(const WorstMovement& worst, double limit = kLeast) const;
  // The excess that is searched for first; where the whole is infinite (NaN, or no run), all that is infinite.
  static double first_limit(const WorstMovement& all);
  // How far two outcomes of one sample are apart; infinite for a change of a label that counts.
  double differs(const Outcome& a, const Outcome& b) const;

 private:
  const Graph& model_;
  const std::vector<BisectSample>& samples_;
  const BisectSide& side_;
  bool of_source_, by_label_;
  const OutputTolerance& tolerance_;
  std::vector<size_t> searched_;
  std::vector<std::vector<Tensor>> inputs_;
  std::vector<Outcome> right_;  // by the model as written
};

}  // namespace dnn
