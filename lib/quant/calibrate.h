// Calibration: what the values of a network look like on samples, in one pass and in memory that does not grow with them.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "compile/compile.h"
#include "infer/sample_source.h"
#include "quant/range.h"

namespace dnn::quant {

// Means of a value's numbers by channel, over samples and positions.
struct ChannelMeans {
  int axis = 1;
  std::vector<ExactSum> sums;
  int64_t count = 0;                       // numbers of each channel
  void append(const ChannelMeans& other);  // other samples
};

// More of a value's numbers by channel, over samples and positions.
struct ChannelFigures {
  int axis = 1;
  std::vector<float> peaks;  // the largest magnitude
  std::vector<ExactSum> sums, squares;
  int64_t count = 0;  // numbers of each channel
  double mean(size_t channel) const;
  double variance(size_t channel) const;
  void append(const ChannelFigures& other);  // other samples
};

// Positions in a source: [first, second) of each row, in order, none touching the next.
using Ranges = std::vector<std::pair<int64_t, int64_t>>;
void add_position(Ranges* ranges, int64_t position);
bool holds_position(const Ranges& ranges, int64_t position);

struct Calibration {
  std::map<ValueId, Seen> seen;
  std::map<ValueId, ChannelMeans> means;
  std::map<ValueId, ChannelFigures> figures;  // in no state
  int64_t samples = 0;
  Ranges done;                            // ids of the source's samples, those that cannot be read included
  std::vector<std::vector<Tensor>> kept;  // inputs of some samples, see CalibrateOptions::keep
  std::map<ValueId, Seen> early;          // `seen` of three quarters of the samples, where that is known
};

struct CalibrateOptions {
  CompileOptions compile;      // build folders and log sinks; level, passes and device are set here
  size_t keep = 0;             // samples whose inputs are kept, the first ones of the random order
  uint64_t seed = 0;           // of the order
  Shard shard;                 // that the source is of
  std::optional<size_t> most;  // samples, the first ones of the random order
  int threads = 0;             // samples run side by side; 0: one for each processor
  std::function<void(const std::string& message)> warn;  // a sample that cannot be read; may be empty
  std::function<void(int64_t n)> done;                   // samples so far; may be empty
  // Called now and then between samples, and at the end; may be empty.
  std::function<void(const Calibration& calibration)> checkpoint;
};

// Runs `graph` (every extent fixed, types inferred) on the samples and looks at the values that `calibration` already has keys for:
// ranges of `seen`, `means` and `figures` by channel. A source that knows its count is gone through in the seed's order. What
// `calibration` holds already stays, and samples that it has done are skipped. The same figures for any number of threads and any
// order. Throws Negative where no sample could be read or a watched value is nowhere finite.
void calibrate(const Graph& graph, SampleSource& samples, const CalibrateOptions& options, Calibration* calibration);

}  // namespace dnn::quant
