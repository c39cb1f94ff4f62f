// Deadline: when a search is to end with the best that it has found, and whether that has cost it anything.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>

namespace dnn {

// Copies and parts of a deadline are one: what ran out for one of them ran out for all. Several threads may ask as far as
// the clock lets them.
class Deadline {
 public:
  // Seconds from some beginning, which never go back.
  using Clock = std::function<double()>;
  static double steady_seconds();

  Deadline() = default;  // never
  // So many seconds from now, by `clock`.
  explicit Deadline(double seconds, Clock clock = steady_seconds);

  // The same, but over when this share (0 to 1) of what it has from its beginning is gone; and beginning now, for shares of what is left.
  Deadline until(double share) const;
  Deadline rest() const;
  // Asked before a step that may be left out: whether it is to be left out, which is remembered. Never where there is no deadline.
  bool stops() const;
  // Whether a step was left out; nullopt where there is no deadline.
  std::optional<bool> ran_out() const;

 private:
  struct State {
    Clock clock;
    std::atomic<bool> ran_out = false;
  };
  std::shared_ptr<State> state_;
  double begin_ = 0, end_ = 0;  // on the clock
};

}  // namespace dnn
