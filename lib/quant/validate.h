// Validation: what quantising changes in a network's answers, on samples that had no say in it.
#pragma once
#include "devices/device.h"
#include "infer/sample_source.h"
#include "metrics/statistics.h"
#include "quant/calibrate.h"

namespace dnn::quant {

struct Validation {
  int64_t samples = 0;
  int64_t same_label = 0;     // the first output's largest element is in the same place
  int64_t with_truth = 0;     // samples whose class is known
  metrics::FourCounts right;  // of these, by top-1: a is the network before, b after

  // A sample's labels before and after; class - `label_offset` is the truth's label.
  void add(int64_t before, int64_t after, const std::optional<int64_t>& truth, int64_t label_offset);
  void add(const Validation& other);
  int64_t right_before() const { return right.both + right.only_a; }
  int64_t right_after() const { return right.both + right.only_b; }
  // Points of top-1 that are lost, or where no class is known, the percentage of samples whose label changed.
  double drop() const;
  // Its 95 % interval, from the paired counts by bootstrap, or by Wilson's score.
  metrics::Interval interval() const;
};

// The network (every extent fixed) compiled at -O3 for this processor.
std::unique_ptr<Session> open_to_validate(const Graph& graph, const CalibrateOptions& options);

// Both graphs (every extent fixed) compiled at -O3 for this processor, on each sample. Class - `label_offset` is the truth's
// label. Throws Negative where no sample can be read, Unsupported where the first output has no classes.
Validation validate(const Graph& before, const Graph& after, SampleSource& samples, int64_t label_offset,
                    const CalibrateOptions& options);

}  // namespace dnn::quant
