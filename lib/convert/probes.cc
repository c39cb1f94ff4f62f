// Reading probes; see probes.h.
#include "convert/probes.h"

#include "convert/certificate.h"
#include "infer/setup.h"
#include "ops/op.h"

namespace dnn {
namespace {

// [1, ...] of each sample as [n, ...].
Tensor stacked(const std::vector<LoadedSample>& samples, size_t input) {
  const Tensor& first = samples[0].inputs[input];
  if (samples.size() == 1) return first;
  Shape shape = first.shape();
  shape[0] = static_cast<int64_t>(samples.size());
  Tensor all(first.dtype(), shape);
  std::byte* at = all.mutable_bytes();
  for (const LoadedSample& sample : samples) {
    const Bytes bytes = sample.inputs[input].bytes();
    std::copy(bytes.begin(), bytes.end(), at);
    at += bytes.size();
  }
  return all;
}

}  // namespace

Package package_of(const Graph& graph) {
  Graph fixed = graph;
  fix_open_extents(fixed);
  infer_types(fixed);
  return interpreted_package(std::move(fixed));
}

std::vector<std::vector<Tensor>> read_probes(const Graph& graph, const ProbeOptions& options) {
  const Package package = package_of(graph);
  const BatchPlan plan = plan_batch(package);
  SourceOptions source;
  source.inputs = options.inputs;
  if (names_images(options.inputs)) {
    source.preprocess =
        choose_preprocess(package, plan, options.preprocess, options.spelled_out, options.apply_orientation);
    if (!source.preprocess) fail_usage("--probe: images want a --preprocess, of ", join(preprocess_names()));
  }
  const std::unique_ptr<SampleSource> samples = open_samples(source, plan);
  std::vector<std::vector<Tensor>> probes;
  std::vector<LoadedSample> batch;
  const auto flush = [&] {
    while (static_cast<int64_t>(batch.size()) < plan.batch) batch.push_back(batch.back());
    probes.emplace_back();
    for (size_t i = 0; i < plan.slots.size(); ++i) probes.back().push_back(stacked(batch, i));
    batch.clear();
  };
  while (const std::optional<SampleSource::Load> load = samples->next()) {
    batch.push_back((*load)());
    if (batch.back().error) throw *batch.back().error;
    if (static_cast<int64_t>(batch.size()) == plan.batch) flush();
  }
  if (!batch.empty()) flush();
  if (probes.empty()) fail_usage("--probe: ", join(options.inputs), ": no inputs there");
  return probes;
}

}  // namespace dnn
