// Fitting: epochs over samples in an order that the seed decides, validation after each, and the best state kept.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/trainer.h"

namespace dnn::train {

// Samples as batches of a network's input.
struct Batches {
  std::vector<int64_t> labels;  // by sample
  // The tensor [n, ...] of these samples; `epoch`: from 1 on, which augmentation may draw by, or 0 for none.
  std::function<Tensor(const std::vector<int64_t>& samples, int64_t epoch)> load;
};

struct Schedule {
  bool cosine = false;  // rate / 2 (1 + cos(pi (epoch - 1) / epochs)); else constant
  double rate = 1e-3;
  double at(int64_t epoch, int64_t epochs) const;  // epochs count from 1
};

struct FitOptions {
  int64_t epochs = 1, batch = 32;
  Schedule schedule;
  uint64_t seed = 0;
};

// All that a run is at the end of an epoch.
struct Progress {
  int64_t epoch = 0, steps = 0;
  std::vector<Tensor> state;
  int64_t best_epoch = 0;
  double best_accuracy = -1;
  std::vector<Tensor>
      best;  // of the epoch of the highest validation accuracy, the earliest; without validation the last
};

struct EpochReport {
  int64_t epoch = 0, iterations = 0;
  Score training, validation;  // no samples in validation: there is none
  double rate = 0, best_accuracy = 0;
  bool is_best = false;
  int64_t time_ns = 0;
};

struct FitHooks {
  std::function<void(const EpochReport& report)> report;     // may be empty
  std::function<void(const Progress& progress)> checkpoint;  // after each epoch; may be empty
};

enum class FitEnd { Done, NotFinite };

// Goes on from `progress`, which stays that of the last whole epoch where the loss stops being finite.
FitEnd fit(Trainer& trainer, const Batches& training, const Batches* validation, const FitOptions& options,
           const FitHooks& hooks, Progress* progress);

}  // namespace dnn::train
