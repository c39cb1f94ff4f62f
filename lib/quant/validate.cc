// Validation; see validate.h.
#include "quant/validate.h"

#include "base/error.h"
#include "tensor/compare.h"

namespace dnn::quant {

std::unique_ptr<Session> open_to_validate(const Graph& graph, const CalibrateOptions& options) {
  CompileOptions compile = options.compile;
  compile.device = "cpu";
  compile.opt = 3;
  compile.pass_changes.clear();
  return open_session("cpu", std::make_shared<const Package>(dnn::compile(graph, compile)),
                      {.threads = options.threads, .isa = {}});
}

void Validation::add(int64_t before, int64_t after, const std::optional<int64_t>& truth, int64_t label_offset) {
  ++samples;
  same_label += before == after ? 1 : 0;
  if (!truth) return;
  const bool right_a = before - label_offset == *truth, right_b = after - label_offset == *truth;
  ++with_truth;
  ++(right_a ? right_b ? right.both : right.only_a : right_b ? right.only_b : right.none);
}

void Validation::add(const Validation& other) {
  samples += other.samples;
  same_label += other.same_label;
  with_truth += other.with_truth;
  right.both += other.right.both;
  right.only_a += other.right.only_a;
  right.only_b += other.right.only_b;
  right.none += other.right.none;
}

double Validation::drop() const {
  if (with_truth > 0)
    return 100.0 * static_cast<double>(right_before() - right_after()) / static_cast<double>(with_truth);
  return samples == 0 ? 0 : 100.0 * static_cast<double>(samples - same_label) / static_cast<double>(samples);
}

metrics::Interval Validation::interval() const {
  if (with_truth == 0) {
    if (samples == 0) return {};
    const metrics::Interval share = metrics::wilson_interval(samples - same_label, samples);
    return {100 * share.low, 100 * share.high};
  }
  const metrics::Interval gain = metrics::bootstrap_difference(right, 0);
  return {-100 * gain.high, -100 * gain.low};
}

Validation validate(const Graph& before, const Graph& after, SampleSource& samples, int64_t label_offset,
                    const CalibrateOptions& options) {
  const std::unique_ptr<Session> first = open_to_validate(before, options), second = open_to_validate(after, options);
  Validation result;
  while (const std::optional<SampleSource::Load> load = samples.next()) {
    const LoadedSample sample = (*load)();
    if (sample.error) {
      if (options.warn) options.warn(cat(sample.error->what(), "; skipped"));
      continue;
    }
    const int64_t a = top_label(first->run(sample.inputs)[0]), b = top_label(second->run(sample.inputs)[0]);
    if (a < 0) fail_unsupported("the first output has no classes, so that there are no labels to compare");
    result.add(a, b, sample.truth, label_offset);
    if (options.done) options.done(result.samples);
  }
  if (result.samples == 0) throw Error(ErrorKind::Negative, "no validation sample could be read");
  return result;
}

}  // namespace dnn::quant
