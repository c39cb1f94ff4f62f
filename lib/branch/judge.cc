// judge(); see judge.h.
#include "branch/judge.h"

#include "base/affinity.h"
#include "base/error.h"
#include "infer/runner.h"
#include "infer/sample_source.h"
#include "infer/setup.h"

namespace dnn::branch {

Accuracy judge(ParallelSession& session, const Package& package, const std::string& data, const std::string& preprocess,
               const std::function<void(const std::string&)>& warn) {
  constexpr int kTopFive = 5;
  const BatchPlan plan = plan_batch(package);
  SourceOptions source;
  source.inputs = {data};
  source.preprocess = choose_preprocess(package, plan, preprocess, {}, false);
  const int64_t classes = class_count(package, plan, "");
  const RunLabels labels = choose_labels(package, "", source.inputs, classes);
  source.labels = labels.set;
  source.label_offset = labels.offset;
  const auto samples = open_samples(source, plan);
  const PinnedThread pinned(session.callers_processors());
  Accuracy accuracy;
  while (const std::optional<SampleSource::Load> load = samples->next()) {
    const LoadedSample sample = (*load)();
    if (sample.error) {
      warn(cat(sample.error->what(), "; skipped"));
      ++accuracy.unread;
      continue;
    }
    if (!sample.truth) continue;
    const std::vector<Tensor> outputs = session.run(sample.inputs);
    const std::vector<stream::Prediction::Class> best = best_classes(outputs[0], kTopFive, nullptr);
    ++accuracy.images;
    for (size_t i = 0; i < best.size(); ++i) {
      if (best[i].index - labels.offset != *sample.truth) continue;
      accuracy.top1 += i == 0 ? 1 : 0;
      ++accuracy.top5;
    }
  }
  if (accuracy.images == 0)
    fail_usage(data, ": no image's class is one of the network's ", classes,
               "; a folder holds a folder of images for each class, in the order of the outputs by name");
  return accuracy;
}

}  // namespace dnn::branch
