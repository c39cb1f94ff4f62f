// Scores: near ties, and whether outputs are probabilities or logits.
#pragma once
#include "metrics/metric.h"

namespace dnn::metrics {

// The kind of a run's outputs, judged from all of them: probabilities where each row of each one lies in [0, 1] and adds up to
// 1 within 1e-2, as a softmax gives.
class ScoreScale {
 public:
  void add(const Tensor& output);
  bool known() const { return any_; }
  bool probabilities() const { return any_ && probabilities_; }

 private:
  bool any_ = false, probabilities_ = true;
};

// Softmax of each row of the last axis, in float64. A tensor without rows, or of text, is returned as it is.
Tensor softmax(const Tensor& tensor);

}  // namespace dnn::metrics
