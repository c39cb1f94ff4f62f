// Epochs; see fit.h.
#include "train/fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <future>
#include <numeric>

#include "base/text.h"
#include "train/random.h"

namespace dnn::train {
namespace {

using Clock = std::chrono::steady_clock;
using Samples = std::vector<int64_t>;

int64_t since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
}

std::vector<Samples> cut(const Samples& order, int64_t batch) {
  std::vector<Samples> batches;
  for (size_t at = 0; at < order.size(); at += batch) {
    const size_t end = std::min(order.size(), at + batch);
    batches.emplace_back(order.begin() + static_cast<std::ptrdiff_t>(at),
                         order.begin() + static_cast<std::ptrdiff_t>(end));
  }
  return batches;
}

// This rank's part of each batch; all of it without ranks.
std::vector<Samples> own_parts(const std::vector<Samples>& cuts, const Ranks* ranks) {
  if (ranks == nullptr) return cuts;
  std::vector<Samples> parts;
  for (const Samples& samples : cuts) {
    const RankShare share = ranks->share(static_cast<int64_t>(samples.size()));
    parts.emplace_back(samples.begin() + share.begin, samples.begin() + share.begin + share.count);
  }
  return parts;
}

// Loads each batch while the one before it is worked on; the memory of two takes turns.
class Loader {
 public:
  Loader(const Batches& batches, const std::vector<Samples>& cuts, int64_t epoch)
      : batches_(batches), cuts_(cuts), epoch_(epoch) {
    start();
  }
  // Undefined for no samples. `used`: an earlier batch, whose memory one to come may have.
  Tensor next(Tensor used = {}) {
    auto [tensor, time_ns] = batches_.in_memory ? load(cuts_[next_++], {}) : loading_.get();
    load_ns_ += time_ns;
    start(std::move(used));
    return std::move(tensor);
  }
  int64_t load_ns() const { return load_ns_; }

 private:
  std::pair<Tensor, int64_t> load(const Samples& samples, Tensor memory) const {
    if (samples.empty()) return {};
    const auto begin = Clock::now();
    Tensor tensor = batches_.load(samples, epoch_, std::move(memory));
    return {std::move(tensor), since(begin)};
  }
  void start(Tensor memory = {}) {
    if (batches_.in_memory || next_ == cuts_.size()) return;
    loading_ = std::async(std::launch::async, [this, &samples = cuts_[next_++], memory = std::move(memory)]() mutable {
      return load(samples, std::move(memory));
    });
  }

  const Batches& batches_;
  const std::vector<Samples>& cuts_;
  const int64_t epoch_;
  size_t next_ = 0;
  int64_t load_ns_ = 0;
  std::future<std::pair<Tensor, int64_t>> loading_;
};

std::vector<int64_t> labels_of(const Batches& batches, const Samples& samples) {
  std::vector<int64_t> labels;
  for (int64_t i : samples) labels.push_back(batches.labels[i]);
  return labels;
}

Samples all_of(const Batches& batches) {
  Samples order(batches.labels.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

// The steps of one epoch; false where the loss is not finite.
bool train_epoch(Trainer& trainer, const Batches& training, const FitOptions& options, const FitHooks& hooks,
                 EpochReport* report) {
  Samples order = all_of(training);
  shuffle(order, options.seed, {static_cast<uint64_t>(report->epoch)});
  const std::vector<Samples> cuts = cut(order, options.batch), own = own_parts(cuts, trainer.ranks());
  Loader loader(training, own, report->epoch);
  const auto start = Clock::now();
  StepReport step;
  step.epoch = report->epoch;
  step.iterations = (static_cast<int64_t>(cuts.size()) + options.batches - 1) / options.batches;
  step.rate = report->rate;
  StepBatch batch;
  for (size_t i = 0; i < cuts.size(); ++i) {
    const size_t group = i - i % options.batches, end = std::min(cuts.size(), group + options.batches);
    if (i == group) step.score = Score();
    const auto begin = Clock::now();
    size_t together = 0;
    for (size_t k = group; k < end; ++k) together += cuts[k].size();
    batch.batch = loader.next(std::move(batch.batch));
    batch.labels = labels_of(training, own[i]);
    if (training.teach && !own[i].empty()) batch.teacher = training.teach(own[i], report->epoch);
    batch.share = static_cast<double>(own[i].size()) / static_cast<double>(together);
    if (trainer.ranks() != nullptr) batch.first = trainer.ranks()->share(static_cast<int64_t>(cuts[i].size())).begin;
    batch.last = i + 1 == end;
    const Score score = trainer.step(batch, report->rate);
    report->training.add(score);
    step.score.add(score);
    if (!std::isfinite(score.loss)) return false;
    if (!batch.last) continue;
    step.iteration = ++report->iterations;
    step.step = trainer.steps();
    step.time_ns = since(begin);
    if (hooks.step) hooks.step(step);
  }
  report->train_ns = since(start);
  report->load_ns = loader.load_ns();
  return true;
}

// Into the memory that `to` has, where it has some. Held by nobody else, a state's memory takes turns with the next one's, and no step
// waits for fresh pages.
void copy_state(const std::vector<Tensor>& from, std::vector<Tensor>* to) {
  to->resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    Tensor& copy = (*to)[i];
    if (!copy.defined() || copy.dtype() != from[i].dtype() || copy.shape() != from[i].shape())
      copy = Tensor(from[i].dtype(), from[i].shape());
    const auto bytes = from[i].bytes();
    if (!bytes.empty()) std::memcpy(copy.mutable_bytes(), bytes.data(), bytes.size());
  }
}

// A product of any two of the numbers still is one. What is beyond has diverged.
bool within_bounds(const std::vector<Tensor>& state) {
  constexpr double kMost = 1e19;  // below the root of float32's largest number
  return std::all_of(state.begin(), state.end(), [](const Tensor& tensor) {
    if (!is_float(tensor.dtype())) return true;
    const std::vector<double> numbers = to_doubles(tensor);
    return std::all_of(numbers.begin(), numbers.end(), [](double x) { return std::abs(x) < kMost; });
  });
}

bool validate(Trainer& trainer, const Batches& validation, const FitOptions& options, EpochReport* report) {
  const std::vector<Samples> cuts = own_parts(cut_batches(validation, options.batch), trainer.ranks());
  Loader loader(validation, cuts, 0);
  for (const Samples& samples : cuts)
    report->validation.add(trainer.evaluate(loader.next(), labels_of(validation, samples)));
  return std::isfinite(report->validation.loss);
}

}  // namespace

std::vector<std::vector<int64_t>> cut_batches(const Batches& batches, int64_t batch) {
  return cut(all_of(batches), batch);
}

FitEnd fit(Trainer& trainer, const Batches& training, const Batches* validation, const FitOptions& options,
           const FitHooks& hooks, Progress* progress) {
  while (progress->epoch < options.epochs) {
    if (options.patience > 0 && validation != nullptr && progress->epoch - progress->best_epoch >= options.patience)
      return FitEnd::Stopped;
    const auto start = Clock::now();
    EpochReport report;
    report.epoch = progress->epoch + 1;
    report.rate = options.schedule.at(report.epoch, options.epochs);
    progress->state.clear();
    if (!train_epoch(trainer, training, options, hooks, &report)) return FitEnd::NotFinite;
    if (validation != nullptr && !validate(trainer, *validation, options, &report)) return FitEnd::NotFinite;
    if (validation == nullptr && report.epoch == options.epochs && !within_bounds(trainer.state()))
      return FitEnd::NotFinite;
    progress->epoch = report.epoch;
    progress->steps = trainer.steps();
    progress->state = trainer.state();
    trainer.check_ranks(cat("after epoch ", report.epoch));
    const double accuracy = report.validation.accuracy();
    report.is_best = validation == nullptr || accuracy > progress->best_accuracy;
    if (report.is_best) {
      copy_state(progress->state, &progress->best);
      progress->best_epoch = report.epoch;
      progress->best_accuracy = validation == nullptr ? -1 : accuracy;
    }
    report.best_accuracy = progress->best_accuracy;
    report.time_ns = since(start);
    if (hooks.checkpoint) hooks.checkpoint(*progress);
    if (hooks.report) hooks.report(report);
  }
  return FitEnd::Done;
}

}  // namespace dnn::train
