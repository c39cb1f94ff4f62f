// Schedules: the learning rate of each epoch.
#pragma once
#include <cstdint>
#include <string>

namespace dnn::train {

struct Schedule {
  enum class Kind { Constant, Cosine, Step, Exponential };
  Kind kind = Kind::Constant;
  double rate = 1e-3;
  int64_t every = 1;   // Step: so many epochs
  double factor = 1;   // Step: then the rate is times this; Exponential: after each epoch
  int64_t warmup = 0;  // epochs in which the rate rises to what it would be, linearly from a tenth
  // Epochs count from 1. Cosine: rate / 2 (1 + cos(pi (epoch - 1) / epochs)).
  double at(int64_t epoch, int64_t epochs) const;
};

// "constant", "cosine", "step:EPOCHS:FACTOR" or "exponential:FACTOR". Throws Usage.
Schedule parse_schedule(const std::string& text);

}  // namespace dnn::train
