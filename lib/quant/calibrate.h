// Calibration: what the values of a network look like on samples, in one pass and in memory that does not grow with them.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "compile/compile.h"
#include "infer/sample_source.h"
#include "quant/range.h"

namespace dnn::quant {

// Means of a value's numbers by channel, over samples and positions.
struct ChannelMeans {
  int axis = 1;
  std::vector<double> sums;
  int64_t count = 0;  // numbers of each channel
};

struct CalibrateOptions {
  CompileOptions compile;  // build folders and log sinks; level, passes and device are set here
  int threads = 0;         // samples run side by side; 0: one for each processor
  std::function<void(const std::string& message)> warn;  // a sample that cannot be read; may be empty
  std::function<void(int64_t n)> done;                   // samples so far; may be empty
};

struct Calibration {
  std::map<ValueId, Seen> seen;
  std::map<ValueId, ChannelMeans> means;
  int64_t samples = 0;
};

// Runs `graph` (every extent fixed, types inferred) on the samples and looks at the values that `calibration` already has keys for:
// ranges of `seen`, means of `means` along their axis. The same figures for any number of threads. Throws Negative where no sample
// could be read or a watched value is nowhere finite.
void calibrate(const Graph& graph, SampleSource& samples, const CalibrateOptions& options, Calibration* calibration);

}  // namespace dnn::quant
