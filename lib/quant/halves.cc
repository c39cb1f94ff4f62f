// Splitting validation inputs; see halves.h.
#include "quant/halves.h"

#include <algorithm>
#include <chrono>

#include "base/error.h"
#include "base/random.h"
#include "infer/prefetch.h"
#include "tensor/compare.h"

namespace dnn::quant {
namespace {

constexpr size_t kAhead = 8;  // samples that are decoded ahead

template <class Take>
void each_sample(const OpenedSamples& opened, const CalibrateOptions& options, Take&& take) {
  Prefetch ahead(*opened.source, 1, kAhead);
  while (std::optional<LoadedSample> sample = ahead.next()) {
    if (!sample->error) {
      take(std::move(*sample));
    } else if (options.warn) {
      options.warn(cat(sample->error->what(), "; skipped"));
    }
  }
}

}  // namespace

Halves::Halves(std::function<OpenedSamples()> open, bool once, const Graph& before, uint64_t seed,
               CalibrateOptions options)
    : open_(std::move(open)), options_(std::move(options)), once_(once) {
  const std::unique_ptr<Session> network = open_to_validate(before, options_);
  const OpenedSamples opened = open_();
  label_offset_ = opened.label_offset;
  uint64_t n = 0, candidates = 0;
  each_sample(opened, options_, [&](LoadedSample&& sample) {
    const Ranking ranking(network->run(sample.inputs)[0]);
    if (ranking.label() < 0)
      fail_unsupported("the first output has no classes, so that there are no labels to compare");
    if (!once_) before_.try_emplace(sample.id, ranking);
    Held held = {sample.id, ranking, sample.truth, std::move(sample.inputs)};
    const bool second = n % 2 == 1, picked = (random_number(seed, n / 2) % 2 == 1) == second;
    ++n;
    if (picked) {
      // A reservoir (Vitter, 1985): each candidate stays with the same probability, however many come.
      const uint64_t at =
          candidates < kMostSearching ? candidates : random_number(~seed, candidates) % (candidates + 1);
      ++candidates;
      if (at == searching_.size()) searching_.emplace_back();
      if (at < searching_.size()) std::swap(searching_[at], held);
    }
    if (!held.inputs.empty() && once_) held_.push_back(std::move(held));
  });
  options_.warn = nullptr;  // what cannot be read has been said
  judging_ = static_cast<int64_t>(n - searching_.size());
  if (n == 0) throw Error(ErrorKind::Negative, "no validation sample could be read");
  if (searching_.empty() || judging_ == 0)
    fail_usage("--max-drop needs two validation inputs or more: one half searches, the other judges");
}

std::vector<std::vector<Tensor>> Halves::searching_inputs() const {
  std::vector<std::vector<Tensor>> inputs;
  for (const Held& held : searching_) inputs.push_back(held.inputs);
  return inputs;
}

Validation Halves::search(const Graph& after, double* median_ms) const {
  const std::unique_ptr<Session> network = open_to_validate(after, options_);
  Validation result;
  std::vector<double> times_ms;
  for (const Held& held : searching_) {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<Tensor> outputs = network->run(held.inputs);
    times_ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    result.add(held.before, outputs[0], held.truth, label_offset_);
  }
  if (median_ms != nullptr) {
    const auto middle = times_ms.begin() + static_cast<std::ptrdiff_t>(times_ms.size() / 2);
    std::nth_element(times_ms.begin(), middle, times_ms.end());
    *median_ms = *middle;
  }
  return result;
}

Validation Halves::judge(const Graph& after) const {
  const std::unique_ptr<Session> network = open_to_validate(after, options_);
  Validation result;
  const auto add = [&](const std::vector<Tensor>& inputs, const Ranking& before, const std::optional<int64_t>& truth) {
    result.add(before, network->run(inputs)[0], truth, label_offset_);
  };
  for (const Held& held : held_) add(held.inputs, held.before, held.truth);
  if (once_) return result;
  std::set<int64_t> seen;
  for (const Held& held : searching_) seen.insert(held.id);
  each_sample(open_(), options_, [&](LoadedSample&& sample) {
    const auto before = before_.find(sample.id);
    if (before != before_.end() && seen.count(sample.id) == 0) add(sample.inputs, before->second, sample.truth);
  });
  return result;
}

}  // namespace dnn::quant
