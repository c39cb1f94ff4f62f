// The predictions of a run; see predictions.h.
#include "metrics/predictions.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace dnn::metrics {

size_t Predictions::find(uint32_t sample) const {
  if (places_.empty()) {
    for (size_t i = 0; i < kept_.size(); ++i) {
      if (kept_[i].sample >= places_.size()) places_.resize(kept_[i].sample + size_t{1});
      places_[kept_[i].sample] = static_cast<uint32_t>(i + 1);
    }
  }
  const uint32_t place = sample < places_.size() ? places_[sample] : 0;
  return place == 0 ? kept_.size() : place - 1;
}

size_t Predictions::add(uint32_t sample, const Outcome& outcome, std::span<const Shelved> outputs) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (kept_.size() >= kMost - 1 || labels_.size() + outcome.labels.size() >= kMost)
    fail_unsupported("a run of more than ", kept_.size(), " predictions");
  const size_t i = find(sample);  // size(); what is there has its places then
  const auto batch = static_cast<uint32_t>(std::min<int64_t>(outcome.batch, std::numeric_limits<int32_t>::max()));
  kept_.push_back({sample, static_cast<uint32_t>(labels_.size()), outcome.truth.value_or(kNoTruth), 0, 0,
                   batch & 0x7FFFFFFFU, outcome.near_tie ? 1U : 0U});
  labels_.insert(labels_.end(), outcome.labels.begin(), outcome.labels.end());
  for (const Shelved& output : outputs) add_output(i, output);
  if (sample >= places_.size()) places_.resize(std::max(2 * places_.size(), sample + size_t{1}));
  places_[sample] = static_cast<uint32_t>(i + 1);
  return i;
}

void Predictions::add_latency(size_t i, int64_t latency_ns) {
  if (__builtin_add_overflow(kept_[i].total_ns, latency_ns, &kept_[i].total_ns))
    fail_malformed("latencies of a sample add up to more than 2^63 ns");
  ++kept_[i].n_timed;
}

void Predictions::shrink() {
  kept_.shrink_to_fit();
  labels_.shrink_to_fit();
  const auto by_place = [](const auto& a, const auto& b) { return a.first < b.first; };
  if (!std::is_sorted(outputs_.begin(), outputs_.end(), by_place)) {
    std::stable_sort(outputs_.begin(), outputs_.end(), by_place);
  }
  outputs_.shrink_to_fit();
  places_ = {};
}

std::span<const std::pair<uint32_t, Shelved>> Predictions::outputs(size_t i) const {
  const auto first = std::partition_point(outputs_.begin(), outputs_.end(), [&](const auto& o) { return o.first < i; });
  const auto last = std::partition_point(first, outputs_.end(), [&](const auto& o) { return o.first == i; });
  return {first, last};
}

Outcome Predictions::operator[](size_t i) const {
  const Kept& kept = kept_[i];
  const size_t end = i + 1 < kept_.size() ? kept_[i + 1].labels : labels_.size();
  Outcome outcome;
  outcome.labels = Ranking(labels_).subspan(kept.labels, end - kept.labels);
  if (kept.truth != kNoTruth) outcome.truth = kept.truth;
  if (kept.n_timed > 0) outcome.latency_ns = kept.total_ns / kept.n_timed;
  outcome.batch = kept.batch;
  outcome.near_tie = kept.near_tie != 0;
  return outcome;
}

}  // namespace dnn::metrics
