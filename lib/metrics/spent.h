// Spent: how far a count that a run's usage records carry has grown, over all spans of the run, and per sample.
#pragma once
#include <cmath>
#include <cstdint>
#include <optional>

namespace dnn::metrics {

// Counts begin anew with each header, so each span tells its own difference; one without two records tells none, and its
// samples are not counted.
class Spent {
 public:
  void begin_span() {
    total_ = total();
    samples_ = samples();
    first_.reset();
    last_.reset();
    span_samples_ = 0;
  }
  void add_sample() { ++span_samples_; }
  void add(const std::optional<double>& count) {
    if (!count || !std::isfinite(*count)) return;
    if (!first_) first_ = count;
    last_ = count;
  }

  double total() const { return total_ + (grown() ? *last_ - *first_ : 0); }
  int64_t samples() const { return samples_ + (grown() ? span_samples_ : 0); }
  // None where nothing grew: a count too coarse for the run is not known to be 0.
  std::optional<double> per_sample() const {
    const double value = total() / static_cast<double>(samples());
    return samples() > 0 && value > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
  }

 private:
  bool grown() const { return first_ && *last_ > *first_; }

  double total_ = 0;
  int64_t samples_ = 0, span_samples_ = 0;
  std::optional<double> first_, last_;
};

}  // namespace dnn::metrics
