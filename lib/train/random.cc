// Random numbers by counters; see random.h.
#include "train/random.h"

#include <cmath>
#include <utility>

namespace dnn::train {
namespace {

uint64_t mix(uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

double unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

uint64_t random_bits(uint64_t seed, std::initializer_list<uint64_t> counters) {
  uint64_t state = mix(seed);
  for (uint64_t counter : counters) state = mix(state ^ mix(counter));
  return state;
}

double random_unit(uint64_t seed, std::initializer_list<uint64_t> counters) {
  return unit(random_bits(seed, counters));
}

double random_normal(uint64_t seed, std::initializer_list<uint64_t> counters) {
  constexpr double kTwoPi = 6.283185307179586;
  const uint64_t bits = random_bits(seed, counters);
  return std::sqrt(-2 * std::log(1 - unit(mix(bits)))) * std::cos(kTwoPi * unit(mix(~bits)));
}

void shuffle(std::vector<int64_t>& values, uint64_t seed, std::initializer_list<uint64_t> counters) {
  const uint64_t key = random_bits(seed, counters);
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random_bits(key, {i}) % i]);
}

}  // namespace dnn::train
