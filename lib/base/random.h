// Random numbers of a seed that are the same on every machine: SplitMix64 (Steele, Lea and Flood: Fast splittable pseudorandom number
// generators, OOPSLA 2014).
#pragma once
#include <cstdint>

namespace dnn {

// A generator adds this to its state for each number.
inline constexpr uint64_t kSplitMixStep = 0x9e3779b97f4a7c15;

// The number that belongs to a state.
inline uint64_t splitmix(uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
  state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
  return state ^ (state >> 31);
}

// The n-th number of a seed, from 0 on.
inline uint64_t random_number(uint64_t seed, uint64_t n = 0) { return splitmix(seed + (n + 1) * kSplitMixStep); }

}  // namespace dnn
