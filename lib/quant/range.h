// Ranges: which interval of real numbers the integers of a tensor cover, from what calibration saw.
#pragma once
#include <string_view>
#include <vector>

#include "quant/exact_sum.h"
#include "quant/histogram.h"
#include "quant/scheme.h"

namespace dnn::quant {

// What calibration saw of a tensor, or of several that share a scale.
struct Seen {
  Histogram histogram;
  ExactSum low_sum, high_sum;  // sums over samples of the smallest and the largest number
  int64_t samples = 0;

  void append(const Seen& other);  // other samples of the same tensor
  void add(const Seen& other);     // another tensor of the same samples: the histograms together, the wider range
};

struct Range {
  double low = 0, high = 0;
};

struct Method {
  const char* name;  // as --method has it
  Range (*choose)(const Seen& seen, DType dtype, bool symmetric);
  const char* help;  // what it does and where it comes from
};

const std::vector<Method>& methods();
// Throws Usage for an unknown name.
const Method& method_named(std::string_view name);

// What rounding a tensor's numbers to the integers of a range costs, estimated from the histogram.
struct RangeCost {
  double signal = 0, noise = 0;  // mean squares
  double clipped = 0;            // share of the numbers outside of the range
  double sqnr_db() const;        // 10 log10(signal / noise); infinite where there is no noise
};
RangeCost cost_of(const Histogram& histogram, const Affine& affine);

}  // namespace dnn::quant
