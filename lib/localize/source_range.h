// The numbers that a float network has at its values, over samples, as far as a quantiser asks for them.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tensor/tensor.h"

namespace dnn {

// Tells what the source has at a value, over the samples.
struct SourceRange {
  double low = 0, high = 0;
  std::vector<float> some;                      // elements, evenly spread
  std::vector<std::pair<double, double>> each;  // by sample: its ends
  void add(const Tensor& tensor);
  // The mean magnitude of a channel (axis 1 of images, else the last), or of all where there are not so many.
  double mean_abs(size_t channel) const;
  // The mean of a channel; nothing where there are not so many.
  std::optional<double> mean(size_t channel) const;
  // The range that this share of the channels stay in, to either side.
  std::pair<double, double> of_channels(double share) const;

 private:
  std::vector<double> sums_, means_, lows_, highs_;  // by channel: of magnitudes, of numbers, and their ends
  double n_ = 0;                                     // elements of a channel
};
using SourceRanges = std::map<std::string, SourceRange, std::less<>>;

}  // namespace dnn
