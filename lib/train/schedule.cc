// Learning rates; see schedule.h.
#include "train/schedule.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/text.h"

namespace dnn::train {

double Schedule::at(int64_t epoch, int64_t epochs) const {
  constexpr double kPi = 3.141592653589793, kStart = 0.1;
  const auto before = static_cast<double>(epoch - 1);
  const int64_t steps = (epoch - 1) / std::max<int64_t>(1, every);
  double now = rate;
  switch (kind) {
    case Kind::Constant: break;
    case Kind::Cosine: now = rate / 2 * (1 + std::cos(kPi * before / static_cast<double>(epochs))); break;
    case Kind::Step: now = rate * std::pow(factor, static_cast<double>(steps)); break;
    case Kind::Exponential: now = rate * std::pow(factor, before); break;
  }
  if (epoch > warmup) return now;
  const double risen = before / static_cast<double>(warmup);
  return now * (kStart * (1 - risen) + risen);
}

Schedule parse_schedule(const std::string& text) {
  Schedule schedule;
  const std::vector<std::string> parts = dnn::split(text, ':');
  const auto is = [&](const char* name, size_t n) { return parts[0] == name && parts.size() == n; };
  const auto factor = [&](const std::string& part) {
    return parse_double(part, &schedule.factor) && schedule.factor > 0 && schedule.factor <= 1;
  };
  if (is("constant", 1)) return schedule;
  if (is("cosine", 1)) {
    schedule.kind = Schedule::Kind::Cosine;
    return schedule;
  }
  if (is("step", 3) && parse_int(parts[1], &schedule.every) && schedule.every > 0 && factor(parts[2])) {
    schedule.kind = Schedule::Kind::Step;
    return schedule;
  }
  if (is("exponential", 2) && factor(parts[1])) {
    schedule.kind = Schedule::Kind::Exponential;
    return schedule;
  }
  fail_usage("--schedule ", quoted(text),
             ": give constant, cosine, step:EPOCHS:FACTOR or exponential:FACTOR, with a factor up to 1");
}

}  // namespace dnn::train
