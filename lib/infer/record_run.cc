// Runs as streams; see record_run.h.
#include "infer/record_run.h"

#include "base/affinity.h"
#include "cli/console.h"
#include "infer/remote_usage.h"
#include "infer/trace.h"

namespace dnn {

RecordedRun record_run(const InferArgs& o, Session& session, const BatchPlan& plan, const RunPlace& place,
                       RunInputs& inputs, const std::function<void(stream::Header* header)>& add_facts, ByteSink& to) {
  RunOptions options = o.run;
  options.trace = o.traces();
  if (const std::vector<std::string> layers = o.traced_layers(); !layers.empty())
    options.traced = values_of_layers(session.package().source.structure(), layers);
  options.labels = inputs.labels().set;
  options.profile = o.run.profile || !o.timeline.empty();
  options.postprocess = inputs.postprocess();
  options.in_flight = session.most_in_flight();
  options.decode_threads = decode_threads(o.decode_threads, session);
  RecordedRun run;
  if (o.usage) run.usage = usage_of(session, place.host, o.usage_ms());
  options.usage = run.usage.get();
  stream::Writer writer(to);
  cli::Progress progress("inference", inputs.samples().count().value_or(0));
  Runner runner(session, plan, options, writer, cli::warn, [&](int64_t n) { progress.advance(n); });
  stream::Header header =
      make_header(session, plan, place.device, inputs.labels(), inputs.preprocess(), inputs.shard());
  header.affinity = processors_text(place.processors);
  header.command = o.command;
  header.latency_contains = latency_contains(options, session);
  if (options.in_flight > 1) header.host["in_flight"] = std::to_string(options.in_flight);
  if (run.usage) describe_usage(*run.usage, o.usage_ms(), &header);
  inputs.describe(&header);
  add_facts(&header);
  if (const auto fell = header.host.find("fell_back"); fell != header.host.end())
    cli::warn(cat(place.device, ": ", fell->second));
  writer.write(header);
  run.summary = runner.run(inputs.samples());
  inputs.finish();
  writer.end();
  return run;
}

std::vector<std::string> warnings_of(const RunSummary& summary, bool pinned) {
  std::vector<std::string> warnings;
  if (!summary.outputs_vary)
    warnings.emplace_back("the predictions do not vary with the input: is the preprocessing the model's?");
  if (!summary.outputs_finite) warnings.emplace_back("some outputs are NaN or infinite");
  if (std::string modes = modes_warning(summary.values, pinned); !modes.empty()) warnings.push_back(std::move(modes));
  return warnings;
}

}  // namespace dnn
