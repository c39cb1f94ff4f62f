// Chance: draws of a seed, the same on every machine.
#pragma once
#include <cmath>
#include <initializer_list>
#include <vector>

#include "base/random.h"

namespace dnn::hunt {

class Chance {
 public:
  explicit Chance(uint64_t seed) : seed_(seed) {}

  uint64_t next() { return random_number(seed_, n_++); }
  // A number of [from, to], each as likely.
  int64_t between(int64_t from, int64_t to) {
    return from + static_cast<int64_t>(next() % static_cast<uint64_t>(to - from + 1));
  }
  bool is(double probability) { return real() < probability; }
  double real() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // of [0, 1)
  double real(double from, double to) { return from + real() * (to - from); }
  template <class T>
  T of(std::initializer_list<T> all) {
    return *(all.begin() + between(0, static_cast<int64_t>(all.size()) - 1));
  }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[static_cast<size_t>(between(0, static_cast<int64_t>(all.size()) - 1))];
  }
  // 0 to n - 1 in random order.
  std::vector<int64_t> order(int64_t n) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < n; ++i) {
      order.push_back(i);
      std::swap(order[between(0, i)], order.back());
    }
    return order;
  }

 private:
  uint64_t seed_, n_ = 0;
};

}  // namespace dnn::hunt
