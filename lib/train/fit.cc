// Epochs; see fit.h.
#include "train/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "train/random.h"

namespace dnn::train {
namespace {

// Calls body(samples) for batches of `order`.
template <class Body>
void for_each_batch(const std::vector<int64_t>& order, int64_t batch, const Body& body) {
  for (size_t at = 0; at < order.size(); at += static_cast<size_t>(batch)) {
    const size_t end = std::min(order.size(), at + static_cast<size_t>(batch));
    body(std::vector<int64_t>(order.begin() + static_cast<std::ptrdiff_t>(at),
                              order.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

std::vector<int64_t> labels_of(const Batches& batches, const std::vector<int64_t>& samples) {
  std::vector<int64_t> labels;
  for (int64_t i : samples) labels.push_back(batches.labels[static_cast<size_t>(i)]);
  return labels;
}

std::vector<int64_t> all_of(const Batches& batches) {
  std::vector<int64_t> order(batches.labels.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

}  // namespace

double Schedule::at(int64_t epoch, int64_t epochs) const {
  constexpr double kPi = 3.141592653589793;
  if (!cosine) return rate;
  return rate / 2 * (1 + std::cos(kPi * static_cast<double>(epoch - 1) / static_cast<double>(epochs)));
}

FitEnd fit(Trainer& trainer, const Batches& training, const Batches* validation, const FitOptions& options,
           const FitHooks& hooks, Progress* progress) {
  while (progress->epoch < options.epochs) {
    const auto start = std::chrono::steady_clock::now();
    EpochReport report;
    report.epoch = progress->epoch + 1;
    report.rate = options.schedule.at(report.epoch, options.epochs);
    std::vector<int64_t> order = all_of(training);
    shuffle(order, options.seed, {static_cast<uint64_t>(report.epoch)});
    bool finite = true;
    for_each_batch(order, options.batch, [&](const std::vector<int64_t>& samples) {
      if (!finite) return;
      const Score score = trainer.step(training.load(samples, report.epoch), labels_of(training, samples), report.rate);
      ++report.iterations;
      report.training.add(score);
      finite = std::isfinite(score.loss);
    });
    if (!finite) return FitEnd::NotFinite;
    if (validation != nullptr) {
      for_each_batch(all_of(*validation), options.batch, [&](const std::vector<int64_t>& samples) {
        report.validation.add(trainer.evaluate(validation->load(samples, 0), labels_of(*validation, samples)));
      });
      if (!std::isfinite(report.validation.loss)) return FitEnd::NotFinite;
    }
    progress->epoch = report.epoch;
    progress->steps = trainer.steps();
    progress->state = trainer.state();
    const double accuracy = report.validation.accuracy();
    report.is_best = validation == nullptr || accuracy > progress->best_accuracy;
    if (report.is_best) {
      progress->best = progress->state;
      progress->best_epoch = report.epoch;
      progress->best_accuracy = validation == nullptr ? -1 : accuracy;
    }
    report.best_accuracy = progress->best_accuracy;
    report.time_ns =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
    if (hooks.checkpoint) hooks.checkpoint(*progress);
    if (hooks.report) hooks.report(report);
  }
  return FitEnd::Done;
}

}  // namespace dnn::train
