// Random: numbers by counters, so that a draw depends on what it is for and on nothing that was drawn before.
#pragma once
#include <cstdint>
#include <vector>

namespace dnn::train {

// SplitMix64's output function of a seed and a path of counters (epoch, sample, use).
uint64_t random_bits(uint64_t seed, std::initializer_list<uint64_t> counters);
// In [0, 1).
double random_unit(uint64_t seed, std::initializer_list<uint64_t> counters);
// Of a normal distribution of mean 0 and variance 1.
double random_normal(uint64_t seed, std::initializer_list<uint64_t> counters);
// `values` in a random order.
void shuffle(std::vector<int64_t>& values, uint64_t seed, std::initializer_list<uint64_t> counters);

}  // namespace dnn::train
