// ExactSum: a sum of doubles without rounding, so that any order of adding, and any splitting into parts, gives the same bits.
#pragma once
#include <vector>

namespace dnn::quant {

// Parts that do not overlap and add up to the sum (Shewchuk, Discrete & Computational Geometry 1997, section 2.4).
class ExactSum {
 public:
  ExactSum() = default;
  // Parts of any order and size; all are finite.
  explicit ExactSum(const std::vector<double>& parts);

  ExactSum& operator+=(double number);  // finite
  ExactSum& operator+=(const ExactSum& other);
  double value() const;  // rounded once, half to even
  const std::vector<double>& parts() const { return parts_; }

 private:
  std::vector<double> parts_;  // smallest first, none 0
};

}  // namespace dnn::quant
