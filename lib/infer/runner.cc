// Runner; see runner.h.
#include "infer/runner.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <numeric>

#include "base/affinity.h"
#include "infer/prefetch.h"
#include "infer/trace.h"
#include "ops/op.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Outputs that differ by less than this, relative to the largest, do not depend on the input.
constexpr double kNoVariation = 1e-6;
// By more than this, relative to the largest: no rounding of a framework, which may take other kernels for other numbers.
constexpr double kFillMatters = 1e-5;

bool has_random_operators(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const OpDef* op = find_op(graph.node(id).domain, graph.node(id).op);
    return op != nullptr && !op->deterministic;
  });
}

}  // namespace

std::vector<stream::Prediction::Class> best_classes(const Tensor& scores, int k, const LabelSet* labels) {
  const std::vector<double> values = to_doubles(scores);
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const size_t n = std::min(static_cast<size_t>(std::max(k, 0)), order.size());
  const auto better = [&](size_t a, size_t b) {
    if (std::isnan(values[a]) != std::isnan(values[b])) return std::isnan(values[b]);
    if (values[a] != values[b] && !std::isnan(values[a])) return values[a] > values[b];
    return a < b;
  };
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n), order.end(), better);
  std::vector<stream::Prediction::Class> best;
  for (size_t i = 0; i < n; ++i) {
    const auto index = static_cast<int64_t>(order[i]);
    best.push_back({index, values[order[i]], labels != nullptr && index < labels->size() ? labels->label(index) : ""});
  }
  return best;
}

std::string latency_contains(const RunOptions& options, const Session& session) {
  std::string text = session.latency_contains();
  if (text.empty()) text = "one run of the network on a batch in memory, from its inputs to its outputs";
  text += "; not decoding and preprocessing";
  if (options.decode_threads > 0) text += ", which other threads do meanwhile";
  if (options.profile) text += "; with a clock read around each step";
  if (options.in_flight > 1)
    text += cat("; ", options.in_flight,
                " runs are on their way at once, and the time has their waits for each other in it");
  return text;
}

struct Runner::Batch {
  std::vector<LoadedSample> samples;
  std::vector<Tensor> inputs;  // by slot, of the whole batch
  int64_t first = 0;           // samples before this batch
};

// A run on its way.
struct Runner::Flight {
  std::shared_ptr<const Batch> batch;
  bool repeats = false;  // not the batch's first run
  Clock::time_point start;
};

struct Runner::Timing {
  std::optional<int64_t> latency_ns, transport_ns, done_ns;
};

struct Runner::State {
  std::unique_ptr<Prefetch> prefetch;
  std::exception_ptr source_failure;  // what ended the samples; thrown when those before it are done
  std::optional<int64_t> count;
  std::vector<std::unique_ptr<metrics::RunMetric>> metrics = metrics::make_run_metrics();
  Clock::time_point start;
  std::deque<Flight> flights;  // oldest first
  bool warm = false, fill_checked = false;
  std::optional<PinnedThread> pinned;
  // The first sample's inputs and scores, and how far others go away from them.
  std::vector<Tensor> first_inputs;
  std::vector<double> first_scores;
  bool inputs_vary = false;
  double variation = 0, largest = 0;
};

Runner::Runner(Session& session, const BatchPlan& plan, RunOptions options, stream::Writer& writer,
               std::function<void(const std::string&)> warn, std::function<void(int64_t)> progress)
    : session_(session),
      plan_(plan),
      options_(std::move(options)),
      writer_(writer),
      warn_(std::move(warn)),
      progress_(std::move(progress)),
      state_(std::make_unique<State>()) {
  const Graph& graph = session_.graph();
  std::vector<std::string> names;
  for (ValueId id : graph.outputs) names.push_back(graph.value(id).name);
  if (options_.outputs.empty()) {
    outputs_.resize(names.size());
    std::iota(outputs_.begin(), outputs_.end(), size_t{0});
  }
  for (const std::string& name : options_.outputs) {
    const auto it = std::find(names.begin(), names.end(), name);
    if (it == names.end()) fail_usage("--output ", name, ": the model's outputs are ", join(names));
    outputs_.push_back(it - names.begin());
  }
}

Runner::~Runner() = default;

// Whether a value of a run is one sample's share, cut along the first axis.
Tensor Runner::slice(const Tensor& value, size_t i) const {
  if (!plan_.batched || plan_.batch == 1) return value;
  Shape shape = value.shape();
  shape[0] = 1;
  Tensor part(value.dtype(), shape);
  if (value.dtype() == DType::String) {
    const size_t n = part.size();
    std::copy_n(value.strings().begin() + static_cast<std::ptrdiff_t>(i * n), n, part.mutable_strings().begin());
  } else if (part.size_bytes() > 0) {
    std::memcpy(part.mutable_bytes(), value.bytes().data() + i * part.size_bytes(), part.size_bytes());
  }
  return part;
}

// Reads the next batch; a last one that is not full is filled up with its last sample. False at the end.
bool Runner::fill(Batch* batch) {
  batch->samples.clear();
  batch->first = summary_.n_samples;
  while (static_cast<int64_t>(batch->samples.size()) < plan_.batch && !state_->source_failure) {
    std::optional<LoadedSample> sample;
    try {
      sample = state_->prefetch->next();
    } catch (...) {
      state_->source_failure = std::current_exception();
    }
    if (!sample) break;
    if (!sample->warning.empty()) warn_(sample->warning);
    if (sample->error) {
      warn_(cat(sample->error->what(), "; skipped"));
      ++summary_.n_failed;
      if (!summary_.first_failure) summary_.first_failure = sample->error->kind();
      progress_(1);
      continue;
    }
    batch->samples.push_back(std::move(*sample));
  }
  if (batch->samples.empty()) return false;
  batch->inputs = joined(batch->samples, true);
  return true;
}

// The inputs of a run: the samples one behind another; what is left of the batch is copies of the last, or zeros.
std::vector<Tensor> Runner::joined(const std::vector<LoadedSample>& samples, bool copies) const {
  std::vector<Tensor> inputs;
  for (size_t slot = 0; slot < plan_.slots.size(); ++slot) {
    if (plan_.batch == 1) {
      inputs.push_back(samples[0].inputs[slot]);
      continue;
    }
    Shape shape = plan_.slots[slot].shape;
    shape[0] = plan_.batch;
    Tensor whole(plan_.slots[slot].dtype, shape);
    const int64_t n = static_cast<int64_t>(samples.size()), n_rows = copies ? plan_.batch : n;
    for (int64_t i = 0; i < n_rows; ++i) {
      const Tensor& one = samples[static_cast<size_t>(std::min(i, n - 1))].inputs[slot];
      if (one.dtype() == DType::String) {
        std::copy(one.strings().begin(), one.strings().end(), whole.mutable_strings().begin() + i * one.size());
      } else if (one.size_bytes() > 0) {
        std::memcpy(whole.mutable_bytes() + static_cast<size_t>(i) * one.size_bytes(), one.bytes().data(),
                    one.size_bytes());
      }
    }
    inputs.push_back(std::move(whole));
  }
  return inputs;
}

// What fills up a batch must not matter to the samples in it: it does where a network mixes them, or where the first axis is no batch. Known
// before the first run where the number of samples is, so that no work is lost.
void Runner::check_filled(const Batch& batch) {
  const std::optional<int64_t>& count = state_->count;
  const bool full = static_cast<int64_t>(batch.samples.size()) == plan_.batch;
  const bool to_come = batch.first == 0 && count && *count % plan_.batch != 0;
  if ((full && !to_come) || state_->fill_checked || has_random_operators(session_.graph())) return;
  state_->fill_checked = true;
  while (!state_->flights.empty()) finish_one();
  const LoadedSample& one = batch.samples[0];
  const std::vector<Tensor> copies = session_.run(joined({one}, true));
  std::vector<Tensor> others;
  try {
    others = session_.run(joined({one}, false));
  } catch (const Error& e) {  // a network may refuse zeros, as divisors are: another sample then
    if (e.kind() != ErrorKind::Malformed) throw;
    others = session_.run(joined({one, batch.samples.back()}, true));
  }
  for (size_t o = 0; o < copies.size(); ++o) {
    const Tensor a = slice(copies[o], 0), b = slice(others[o], 0);
    if (a.dtype() == DType::String ? a.identical(b) : compare(a, b).relative() <= kFillMatters) continue;
    fail_usage("the last run has fewer than ", plan_.batch, " samples, and what fills it up changes their output '",
               session_.graph().value(session_.graph().outputs[o]).name,
               "': the network mixes the rows of its first axis; give a multiple of ", plan_.batch, " samples");
  }
}

void Runner::warm_up(const Batch& batch) {
  if (state_->warm) return;
  const std::vector<int> processors = session_.pinned_to();
  {
    const PinnedThread pinned(processors);
    for (int64_t i = 0; i < options_.warmup; ++i) session_.run(batch.inputs);
  }
  session_.enable_profile(options_.profile);
  if (options_.usage != nullptr) options_.usage->start();  // whose thread may go anywhere
  state_->pinned.emplace(processors);
  state_->start = Clock::now();
  state_->warm = true;
}

bool Runner::more_runs(int64_t done) const {
  if (done < options_.iterations) return true;
  if (options_.duration_s <= 0) return false;
  const auto total = static_cast<double>(std::max<int64_t>(state_->count.value_or(1), 1));
  const double share = static_cast<double>(summary_.n_samples + summary_.n_failed) / total;
  return seconds_since(state_->start) < options_.duration_s * share;
}

void Runner::infer(const std::shared_ptr<const Batch>& batch) {
  summary_.n_samples += static_cast<int64_t>(batch->samples.size());
  for (int64_t begun = 0; begun == 0 || more_runs(begun); ++begun) {
    state_->flights.push_back({batch, begun > 0, Clock::now()});
    session_.submit(batch->inputs);
    if (state_->flights.size() >= options_.in_flight) finish_one();
  }
  if (options_.trace) write_trace(*batch);
}

// The oldest run on its way: waits for its end and writes what it gave.
void Runner::finish_one() {
  const Flight flight = std::move(state_->flights.front());
  state_->flights.pop_front();
  const Batch& batch = *flight.batch;
  const std::vector<Tensor> outputs = session_.collect();
  const Timing timing = time_of(flight);
  ++summary_.n_runs;
  summary_.transport_ns += timing.transport_ns.value_or(0);
  metrics::Outcome outcome;
  outcome.latency_ns = timing.latency_ns;
  outcome.done_ns = timing.done_ns;
  outcome.batch = static_cast<int64_t>(batch.samples.size());
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    for (const auto& metric : state_->metrics) metric->add(outcome);
  }
  if (flight.repeats) {
    write_repeat(batch, timing);
  } else {
    write_samples(batch);
    write_predictions(batch, outputs, timing);
  }
}

// Of a run that has just been collected.
Runner::Timing Runner::time_of(const Flight& flight) const {
  const auto ns_since = [](Clock::time_point start) -> int64_t {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  };
  Timing timing{session_.latency_ns(), session_.transport_ns(), std::nullopt};
  if (!timing.latency_ns && !session_.is_emulated()) timing.latency_ns = ns_since(flight.start);
  if (options_.in_flight > 1 && timing.latency_ns) timing.done_ns = ns_since(state_->start);
  return timing;
}

void Runner::write_samples(const Batch& batch) {
  for (const LoadedSample& loaded : batch.samples) {
    stream::Sample sample;
    sample.id = loaded.id;
    sample.path = loaded.path;
    sample.truth = loaded.truth;
    const bool several = plan_.slots.size() > 1;
    if (options_.sample_tensors && !several && !loaded.inputs.empty()) sample.tensor = loaded.inputs[0];
    writer_.write(sample);
    if (!options_.sample_tensors || !several) continue;
    for (size_t i = 0; i < plan_.slots.size(); ++i) {
      stream::TensorRecord record;
      record.name = plan_.slots[i].name;
      record.sample = loaded.id;
      record.role = stream::Role::Input;
      record.tensor = loaded.inputs[i];
      writer_.write(record);
    }
  }
}

stream::Prediction Runner::prediction_of(const Batch& batch, size_t i, const Timing& timing) const {
  stream::Prediction prediction;
  prediction.sample = batch.samples[i].id;
  prediction.latency_ns = timing.latency_ns;
  prediction.transport_ns = timing.transport_ns;
  prediction.done_ns = timing.done_ns;
  prediction.batch = static_cast<int64_t>(batch.samples.size());
  return prediction;
}

void Runner::write_predictions(const Batch& batch, const std::vector<Tensor>& outputs, const Timing& timing) {
  const Graph& graph = session_.graph();
  for (size_t i = 0; i < batch.samples.size(); ++i) {
    stream::Prediction prediction = prediction_of(batch, i, timing);
    for (size_t o : outputs_) {
      const Tensor output = slice(outputs[o], i);
      if (o == outputs_[0] && output.dtype() != DType::String) {
        const int64_t extent = output.rank() == 0 ? 1 : *std::max_element(output.shape().begin(), output.shape().end());
        if (extent == output.size())  // a list of scores
          prediction.top_k = best_classes(output, options_.top_k, options_.labels ? &*options_.labels : nullptr);
        watch_variation(batch.samples[i].inputs, output);
      }
      if (options_.full_outputs || options_.postprocess)
        prediction.outputs.emplace_back(graph.value(graph.outputs[o]).name, output);
    }
    if (options_.postprocess) prediction = options_.postprocess(prediction);
    writer_.write(prediction);
    progress_(1);
  }
}

void Runner::write_repeat(const Batch& batch, const Timing& timing) {
  for (size_t i = 0; i < batch.samples.size(); ++i) writer_.write(prediction_of(batch, i, timing));
}

void Runner::write_trace(const Batch& batch) {
  const std::vector<std::string>& names = options_.traced;
  const auto is_wanted = [&](const std::string& name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const stream::TensorRecord& whole : trace_run(session_, batch.inputs)) {
    if (!is_wanted(whole.name)) continue;
    const bool divides =
        !plan_.batched || plan_.batch == 1 || (whole.tensor.rank() > 0 && whole.tensor.dim(0) == plan_.batch);
    for (size_t i = 0; i < (divides ? batch.samples.size() : 1); ++i) {
      stream::TensorRecord record = whole;
      if (divides) {
        record.sample = batch.samples[i].id;
        record.tensor = slice(whole.tensor, i);
      }
      writer_.write(record);
    }
  }
}

void Runner::write_usage() {
  if (options_.usage == nullptr) return;
  for (const stream::Usage& usage : options_.usage->take()) {
    writer_.write(usage);
    for (const auto& metric : state_->metrics) metric->add_usage(usage);
  }
}

void Runner::watch_variation(const std::vector<Tensor>& sample_inputs, const Tensor& output) {
  State& s = *state_;
  const std::vector<double> scores = to_doubles(output);
  for (double score : scores) {
    if (!std::isfinite(score)) summary_.outputs_finite = false;
    s.largest = std::max(s.largest, std::isfinite(score) ? std::abs(score) : 0.0);
  }
  if (s.first_inputs.empty()) {
    s.first_inputs = sample_inputs;
    s.first_scores = scores;
    return;
  }
  for (size_t i = 0; i < sample_inputs.size() && !s.inputs_vary; ++i) {
    s.inputs_vary = !sample_inputs[i].identical(s.first_inputs[i]);
  }
  for (size_t i = 0; i < std::min(scores.size(), s.first_scores.size()); ++i) {
    const double difference = std::abs(scores[i] - s.first_scores[i]);
    if (std::isfinite(difference)) s.variation = std::max(s.variation, difference);
  }
}

RunSummary Runner::run(SampleSource& source) {
  State& s = *state_;
  s.count = source.count();
  if (options_.duration_s > 0 && !s.count)
    fail_usage(
        "--duration shares the time among the samples, and how many a stream holds is not known: use --iterations");
  // A stream's samples need no decoding, and a thread that waits for standard input could not be stopped.
  s.prefetch = std::make_unique<Prefetch>(source, s.count ? options_.decode_threads : 0,
                                          plan_.batch + 2 * std::max(options_.decode_threads, 1));
  s.start = Clock::now();
  const Clock::time_point begin = s.start;
  for (;;) {
    const auto batch = std::make_shared<Batch>();
    if (!fill(batch.get())) break;
    check_filled(*batch);
    warm_up(*batch);
    infer(batch);
    write_usage();
  }
  while (!s.flights.empty()) finish_one();
  s.pinned.reset();
  if (options_.usage != nullptr) options_.usage->stop();
  write_usage();
  s.prefetch.reset();
  summary_.wall_s = seconds_since(begin);
  for (const auto& metric : s.metrics) metric->result(&summary_.values);
  summary_.outputs_vary = !s.inputs_vary || s.variation > kNoVariation * s.largest;
  if (s.source_failure) std::rethrow_exception(s.source_failure);
  return std::move(summary_);
}

}  // namespace dnn
