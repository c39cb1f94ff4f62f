// Moments: count, mean, standard deviation and largest magnitude of numbers that come part by part, in constant memory.
#pragma once
#include "tensor/tensor.h"

namespace dnn {

class Moments {
 public:
  // All elements of a numeric tensor. Each part's sums are compensated (Kahan), parts are joined as Chan, Golub and LeVeque do
  // (1979), so that neither a large mean nor many parts cost digits.
  void add(const Tensor& tensor);
  int64_t count() const { return count_; }
  // NaN where there are no numbers; else as IEEE arithmetic has them: of infinities of one sign that infinity, and NaN of both and of NaN.
  double mean() const;
  // Of the numbers themselves, not of what they were drawn from: the divisor is their count. NaN where one is not finite.
  double deviation() const;
  double largest() const;  // the largest magnitude: infinite where one is, NaN where one is NaN, 0 of none

 private:
  int64_t count_ = 0;
  double mean_ = 0, squares_ = 0, largest_ = 0;
  double odd_ = 0;  // sum of what is not finite; 0 of none
};

}  // namespace dnn
