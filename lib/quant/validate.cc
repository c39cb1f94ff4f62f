// Validation; see validate.h.
#include "quant/validate.h"

#include <mutex>

#include "base/error.h"
#include "base/threads.h"
#include "devices/device.h"
#include "tensor/compare.h"

namespace dnn::quant {
namespace {

std::unique_ptr<Session> open(const Graph& graph, const CalibrateOptions& options) {
  CompileOptions compile = options.compile;
  compile.device = "cpu";
  compile.opt = 3;
  compile.pass_changes.clear();
  return open_session("cpu", std::make_shared<const Package>(dnn::compile(graph, compile)),
                      {.threads = options.threads, .isa = {}});
}

}  // namespace

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
  const std::unique_ptr<Session> first = open(before, options), second = open(after, options);
  Validation result;
  while (const std::optional<SampleSource::Load> load = samples.next()) {
    const LoadedSample sample = (*load)();
    if (sample.error) {
      if (options.warn) options.warn(cat(sample.error->what(), "; skipped"));
      continue;
    }
    const int64_t a = top_label(first->run(sample.inputs)[0]), b = top_label(second->run(sample.inputs)[0]);
    if (a < 0) fail_unsupported("the first output has no classes, so that there are no labels to compare");
    ++result.samples;
    result.same_label += a == b ? 1 : 0;
    if (options.done) options.done(result.samples);
    if (!sample.truth) continue;
    const bool right_a = a - label_offset == *sample.truth, right_b = b - label_offset == *sample.truth;
    ++result.with_truth;
    ++(right_a ? right_b ? result.right.both : result.right.only_a : right_b ? result.right.only_b : result.right.none);
  }
  if (result.samples == 0) throw Error(ErrorKind::Negative, "no validation sample could be read");
  return result;
}

}  // namespace dnn::quant
