// Deadlines by a clock; see deadline.h.
#include "base/deadline.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace dnn {

double Deadline::steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Deadline::Deadline(double seconds, Clock clock) : state_(std::make_shared<State>()) {
  state_->clock = std::move(clock);
  begin_ = state_->clock();
  end_ = begin_ + seconds;
}

Deadline Deadline::until(double share) const {
  Deadline part = *this;
  part.end_ = begin_ + share * (end_ - begin_);
  return part;
}

Deadline Deadline::rest() const {
  Deadline part = *this;
  if (state_) part.begin_ = std::min(state_->clock(), end_);
  return part;
}

bool Deadline::stops() const {
  if (!state_ || state_->clock() < end_) return false;
  state_->ran_out = true;
  return true;
}

std::optional<bool> Deadline::ran_out() const { return state_ ? std::optional<bool>(state_->ran_out) : std::nullopt; }

}  // namespace dnn
