// Fitting: epochs over samples in an order that the seed decides, validation after each, and the best state kept.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/schedule.h"
#include "train/trainer.h"

namespace dnn::train {

// Samples as batches of a network's input.
struct Batches {
  std::vector<int64_t> labels;  // by sample
  // The tensor [n, ...] of these samples; `epoch`: from 1 on, which augmentation may draw by, or 0 for none. Called from a thread of
  // its own, by one caller at a time.
  // `memory`: a tensor that nobody needs any more, which may become the result; undefined: there is none.
  std::function<Tensor(const std::vector<int64_t>& samples, int64_t epoch, Tensor memory)> load;
  // The teacher's logits of the same; empty where there is none.
  std::function<Tensor(const std::vector<int64_t>& samples, int64_t epoch)> teach{};
  bool in_memory = false;  // load() only copies: not worth a thread
};

// All samples in order, `batch` at a time.
std::vector<std::vector<int64_t>> cut_batches(const Batches& batches, int64_t batch);

struct FitOptions {
  int64_t epochs = 1, batch = 32;
  int64_t batches = 1;   // of one step
  int64_t patience = 0;  // stop where so many epochs have not been better than the best; 0: never
  Schedule schedule;
  uint64_t seed = 0;
};

// All that a run is at the end of an epoch.
struct Progress {
  int64_t epoch = 0, steps = 0;
  std::vector<Tensor> state;  // after the last epoch; none while an epoch runs
  int64_t best_epoch = 0;
  double best_accuracy = -1;
  std::vector<Tensor>
      best;  // of the epoch of the highest validation accuracy, the earliest; without validation the last
};

struct StepReport {
  int64_t epoch = 0, iteration = 0, iterations = 0;  // from 1 on
  int64_t step = 0;                                  // of the whole run, from 1 on
  Score score;
  double rate = 0;
  int64_t time_ns = 0;
};

struct EpochReport {
  int64_t epoch = 0, iterations = 0;
  Score training, validation;  // no samples in validation: there is none
  double rate = 0, best_accuracy = 0;
  bool is_best = false;
  int64_t time_ns = 0;   // with validation
  int64_t train_ns = 0;  // of the steps
  int64_t load_ns = 0;   // what loading the training batches took, beside the steps
};

struct FitHooks {
  std::function<void(const EpochReport& report)> report{};     // may be empty
  std::function<void(const StepReport& report)> step{};        // may be empty
  std::function<void(const Progress& progress)> checkpoint{};  // after each epoch; may be empty
};

enum class FitEnd { Done, Stopped, NotFinite };

// With ranks (Trainer::ranks) all call it with the same arguments but hooks: each works on its share of each batch, all see the same scores.
// Goes on from `progress`, which stays that of the last whole epoch, without its state, where the loss stops being finite.
FitEnd fit(Trainer& trainer, const Batches& training, const Batches* validation, const FitOptions& options,
           const FitHooks& hooks, Progress* progress);

}  // namespace dnn::train
