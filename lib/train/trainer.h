// Trainer: runs step graphs over batches of any size, holding what they carry from step to step.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compile/compile.h"
#include "devices/device.h"
#include "train/step.h"

namespace dnn::train {

struct TrainerOptions {
  Optimizer optimizer;
  Frozen frozen;
  int threads = 0;
  CompileOptions compile;
};

struct Score {
  double loss = 0;  // sum over the samples
  int64_t hits = 0, samples = 0;
  double mean_loss() const { return samples == 0 ? 0 : loss / static_cast<double>(samples); }
  double accuracy() const { return samples == 0 ? 0 : static_cast<double>(hits) / static_cast<double>(samples); }
  void add(const Score& other);
};

// Gives the same bits on any number of threads.
class Trainer {
 public:
  // `model`: a classifier whose batch may be set. Throws Usage where nothing is left to train.
  Trainer(Graph model, const TrainerOptions& options);

  // One step on a batch [b, ...]; labels are classes.
  Score step(const Tensor& batch, const std::vector<int64_t>& labels, double rate);
  // Of the network as it is now.
  Score evaluate(const Tensor& batch, const std::vector<int64_t>& labels);

  int64_t classes() const { return classes_; }
  int64_t trained_numbers() const;  // elements of parameters
  // What the steps carry, in a fixed order, and how many there were.
  const std::vector<Tensor>& state() const { return state_; }
  int64_t steps() const { return steps_; }
  void restore(std::vector<Tensor> state, int64_t steps);
  // The model with constants of that state.
  Graph model(const std::vector<Tensor>& state) const;

 private:
  Session& session(std::map<int64_t, std::unique_ptr<Session>>& sessions, int64_t batch, bool training);

  Graph model_;
  TrainerOptions options_;
  std::vector<Variable> variables_;
  std::vector<Tensor> state_;
  int64_t classes_ = 0, steps_ = 0;
  std::map<int64_t, std::unique_ptr<Session>> step_sessions_, evaluation_sessions_;  // by batch
};

}  // namespace dnn::train
