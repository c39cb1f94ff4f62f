// How far a quantised network's outputs may be from its source's: as far as its quantisers move the source's own.
//
// What no layer shows by itself still shows in the outputs. So the source is run with the target's quantisers in it, as far as these are
// what a quantiser can have chosen, and the target has to be about as near the source as that is.
#pragma once
#include <string>

#include "localize/localize_models.h"
#include "localize/quantised_pair.h"

namespace dnn {

struct OutputNoise {
  int64_t n_samples = 0, n_left_out = 0;  // for want of time
  // Root mean squares of what the outputs are off by, of the source's; of the output for which they say least good.
  double apart = 0, explained = 0;
  std::string
      from;  // the first layer of the target that is further off than is explained; "": none that could be compared
  std::string why_not;  // why a network did not run; then nothing else is known
  // Tells whether the outputs are as near as the quantisers explain.
  bool holds() const { return why_not.empty() && n_samples > 0 && is_explained(apart, explained); }
  // Noise of the same quantisers in other places of the numbers' digits is about as large.
  static bool is_explained(double apart, double explained) {
    constexpr double kTimes = 1.5, kRounding = 1e-4;
    return apart <= kTimes * explained + kRounding;
  }
};

// The source as quantised, with the rounding of the target's quantisers: of activations and of weights. Where a step or an end is none
// that can have been chosen for `ranges`, which are what the source has on the samples, it is the coarsest that can.
Graph rounded_source(const QuantisedPair& pair, const SourceRanges& ranges);

// Runs, side by side and on all samples: the source, what it was when it was quantised, that with `rounded` in its place, and the
// target as it was written. The first sample always, others while there is time.
OutputNoise output_noise(const LocalizeRequest& request, const QuantisedPair& pair, ComparedNetwork& source,
                         ComparedNetwork& as_quantised, ComparedNetwork& rounded, ComparedNetwork& target);

}  // namespace dnn
