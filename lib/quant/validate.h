// Validation: what quantising changes in a network's answers, on samples that had no say in it.
#pragma once
#include "devices/device.h"
#include "infer/sample_source.h"
#include "metrics/statistics.h"
#include "quant/calibrate.h"

namespace dnn::quant {

// The classes that a network holds most probable for a sample, by its first output: probabilities, or logits.
class Ranking {
 public:
  explicit Ranking(const Tensor& output);
  int64_t label() const { return best_.empty() ? -1 : best_.front().label; }  // -1: the output has no classes
  // The probability that is expected to be lost where another network has noise in its outputs: of each class less probable than
  // the label, how much less, times the chance that noise as large as that of `after` brings the class to the front.
  double expected_loss(const Tensor& after) const;

 private:
  struct Class {
    int64_t label = 0;
    double probability = 0;
  };
  bool probabilities_ = false;  // else logits
  std::vector<Class> best_;     // best first
};

struct Validation {
  int64_t samples = 0;
  int64_t same_label = 0;               // the first output's largest element is in the same place
  int64_t with_truth = 0;               // samples whose class is known
  metrics::FourCounts right;            // of these, by top-1: a is the network before, b after
  double losses = 0, loss_squares = 0;  // sums of Ranking::expected_loss(), and of their squares

  // A sample before, and its first output after; class - `label_offset` is the truth's label.
  void add(const Ranking& before, const Tensor& after, const std::optional<int64_t>& truth, int64_t label_offset);
  void add(const Validation& other);
  int64_t right_before() const { return right.both + right.only_a; }
  int64_t right_after() const { return right.both + right.only_b; }
  // Points of top-1 that are lost, or where no class is known, the percentage of samples whose label changed.
  double drop() const;
  // The points of top-1 that noise of this size is expected to cost, if the network before knows how probable its classes are: a
  // count on a hundred samples strays by points, as it asks which of two near classes happens to be true. And its standard error.
  double expected_drop() const;
  double expected_error() const;
  // The figure that a bound is held against: the larger of drop() and, where classes are known, expected_drop().
  double worst_drop() const;
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
