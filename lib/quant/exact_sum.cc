// Exact sums; see exact_sum.h.
#include "quant/exact_sum.h"

#include <cmath>
#include <utility>

namespace dnn::quant {

ExactSum::ExactSum(const std::vector<double>& parts) {
  for (const double part : parts) *this += part;
}

ExactSum& ExactSum::operator+=(double number) {
  size_t kept = 0;
  for (double part : parts_) {
    if (std::abs(number) < std::abs(part)) std::swap(number, part);
    const double sum = number + part, rest = part - (sum - number);
    if (rest != 0) parts_[kept++] = rest;
    number = sum;
  }
  parts_.resize(kept);
  if (number != 0) parts_.push_back(number);
  return *this;
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  for (const double part : std::vector<double>(other.parts_)) *this += part;
  return *this;
}

double ExactSum::value() const {
  if (parts_.empty()) return 0;
  size_t i = parts_.size() - 1;
  double sum = parts_[i], rest = 0;
  while (i > 0 && rest == 0) {
    const double before = sum;
    sum = before + parts_[--i];
    rest = parts_[i] - (sum - before);
  }
  // Halfway between two doubles the parts below decide.
  if (i > 0 && rest != 0 && (rest < 0) == (parts_[i - 1] < 0)) {
    const double twice = 2 * rest, other = sum + twice;
    if (twice == other - sum) sum = other;
  }
  return sum;
}

}  // namespace dnn::quant
