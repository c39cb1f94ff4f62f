// Runner: samples through a session in batches, into the records of a stream and the figures of the run.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.h"
#include "infer/sample_source.h"
#include "metrics/metric.h"
#include "stream/stream.h"
#include "usage/source.h"

namespace dnn {

struct RunOptions {
  int top_k = 5;
  std::vector<std::string> outputs;  // graph outputs by name; empty: all. The first is the one that top_k ranks
  bool full_outputs = false;         // predictions hold the outputs
  bool sample_tensors = false;       // samples hold the inputs, so that the stream can be another run's input
  bool trace = false;                // every value of the source model as a tensor record
  std::vector<std::string> traced;   // of them these alone; empty: all
  size_t in_flight = 1;              // runs on their way at once, no more than the session takes
  int64_t warmup = 0;                // untimed runs of the first batch
  int64_t iterations = 1;            // timed runs of each batch
  double duration_s = 0;             // go on until then, each batch its share; wants a source of known count
  bool profile = false;              // time each step of the timed runs
  int decode_threads = 1;            // 0: decode between the runs
  std::optional<LabelSet> labels;    // fitted to the network
  // What becomes of a prediction, whose outputs are in full, before it is written.
  std::function<stream::Prediction(const stream::Prediction&)> postprocess;
  usage::Source* usage = nullptr;  // where its records are wanted: from the first timed run to the end
};

struct RunSummary {
  int64_t n_samples = 0;  // that went through the network
  int64_t n_failed = 0;   // that could not be read
  int64_t n_runs = 0;     // timed runs of the session
  std::optional<ErrorKind> first_failure;
  double wall_s = 0;
  int64_t transport_ns = 0;  // of them, to another machine and back
  metrics::Values values;    // latency_mean, ..., throughput, memory_peak, as dnn-eval states them
  bool outputs_vary = true;  // false when different samples gave the same outputs up to rounding
  bool outputs_finite = true;
};

// What latency_ns covers, for the header.
std::string latency_contains(const RunOptions& options, const Session& session);

class Runner {
 public:
  // `warn` gets one line for each sample that fails or that the decoder complained about; `progress` the samples done.
  // Throws Usage for an output that is not there.
  Runner(Session& session, const BatchPlan& plan, RunOptions options, stream::Writer& writer,
         std::function<void(const std::string&)> warn, std::function<void(int64_t)> progress);
  ~Runner();

  // All samples of `source`, each as a sample record and its predictions. Repeated runs of a batch write predictions of
  // the latency alone. Where the source fails, everything before is written and its error thrown.
  RunSummary run(SampleSource& source);

 private:
  struct Batch;
  struct Flight;
  struct Timing;
  bool fill(Batch* batch);
  std::vector<Tensor> joined(const std::vector<LoadedSample>& samples, bool copies) const;
  void check_filled(const Batch& batch);
  void warm_up(const Batch& batch);
  void infer(const std::shared_ptr<const Batch>& batch);
  void finish_one();
  Timing time_of(const Flight& flight) const;
  void write_samples(const Batch& batch);
  stream::Prediction prediction_of(const Batch& batch, size_t i, const Timing& timing) const;
  void write_predictions(const Batch& batch, const std::vector<Tensor>& outputs, const Timing& timing);
  void write_repeat(const Batch& batch, const Timing& timing);
  void write_trace(const Batch& batch);
  void write_usage();
  bool more_runs(int64_t done) const;
  void watch_variation(const std::vector<Tensor>& sample_inputs, const Tensor& output);
  Tensor slice(const Tensor& value, size_t i) const;

  struct State;
  Session& session_;
  const BatchPlan& plan_;
  const RunOptions options_;
  stream::Writer& writer_;
  std::function<void(const std::string&)> warn_;
  std::function<void(int64_t)> progress_;
  std::vector<size_t> outputs_;  // indices into the graph's outputs
  RunSummary summary_;
  std::unique_ptr<State> state_;
};

// The classes of the best k elements, best first: ties by the lower index, NaN last.
std::vector<stream::Prediction::Class> best_classes(const Tensor& scores, int k, const LabelSet* labels);

}  // namespace dnn
