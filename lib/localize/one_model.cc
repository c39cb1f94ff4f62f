// One model and its samples; see one_model.h.
#include "localize/one_model.h"

#include <algorithm>

#include "infer/sample_source.h"

namespace dnn {
namespace {

constexpr size_t kMostSamples = 1000;  // held in memory

}  // namespace

std::shared_ptr<const Package> open_as_written(const OneModelRequest& request, const NetworkOptions& network) {
  NetworkOptions as_written = network;
  as_written.device = "reference";
  as_written.level = "0";
  as_written.as_written = true;
  as_written.passes = as_written.isa = "";
  OpenOptions open = open_options(as_written);
  open.note = request.folders.note;
  open.warn = request.folders.warn;
  open.key_path = request.folders.key_path;
  std::shared_ptr<const Package> written = open_package(request.model, open);
  const BatchPlan plan = plan_batch(*written);
  if (plan.batch != 1)
    fail_usage(request.model, ": its batch is fixed at ", plan.batch, "; samples are compared one by one");
  return written;
}

HeldSamples hold_samples(const OneModelRequest& request, const Package& written, const Deadline& deadline) {
  const BatchPlan plan = plan_batch(written);
  const Deadline load = deadline.until(kLoadShare);
  SourceOptions options;
  options.inputs = request.inputs;
  if (names_images(request.inputs))
    options.preprocess =
        choose_preprocess(written, plan, request.preprocess, request.spelled_out, request.apply_orientation);
  HeldSamples held;
  held.labels = choose_labels(written, "", request.inputs, class_count(written, plan, "")).set;
  const auto warn = [&](const std::string& message) {
    if (request.folders.warn) request.folders.warn(message);
  };
  const std::unique_ptr<SampleSource> stream = open_samples(options, plan);
  while (auto next = stream->next()) {
    LoadedSample sample = (*next)();
    if (!sample.warning.empty()) warn(sample.warning);
    if (sample.error) {
      warn(cat(sample.error->what(), "; skipped"));
      ++held.not_judged.unread;
      continue;
    }
    const auto leave_rest = [&] {
      const int64_t seen = static_cast<int64_t>(held.samples.size()) + held.not_judged.unread;
      held.not_judged.left_out = std::max<int64_t>(1, stream->count().value_or(0) - seen);
    };
    if (!held.samples.empty() && load.stops()) {
      leave_rest();
      break;
    }
    if (held.samples.size() == kMostSamples) {
      warn(cat("more than ", kMostSamples, " samples: the rest is left out"));
      leave_rest();
      break;
    }
    held.samples.push_back({sample.path.empty() ? cat("#", sample.id) : sample.path, std::move(sample.inputs)});
  }
  return held;
}

}  // namespace dnn
