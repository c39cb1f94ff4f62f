// Random numbers by counters; see random.h.
#include "train/random.h"

#include <cmath>
#include <utility>

#include "base/random.h"

namespace dnn::train {
namespace {

double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

uint64_t random_bits(uint64_t seed, std::initializer_list<uint64_t> counters) {
  uint64_t state = random_number(seed);
  for (uint64_t counter : counters) state = random_number(state ^ random_number(counter));
  return state;
}

double random_unit(uint64_t seed, std::initializer_list<uint64_t> counters) {
  return unit(random_bits(seed, counters));
}

double random_normal(uint64_t seed, std::initializer_list<uint64_t> counters) {
  constexpr double kTwoPi = 6.283185307179586;
  const uint64_t bits = random_bits(seed, counters);
  return std::sqrt(-2 * std::log(1 - unit(random_number(bits)))) * std::cos(kTwoPi * unit(random_number(~bits)));
}

void shuffle(std::vector<int64_t>& values, uint64_t seed, std::initializer_list<uint64_t> counters) {
  const uint64_t key = random_bits(seed, counters);
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_bits(key, {i}) % i]);
}

}  // namespace dnn::train
