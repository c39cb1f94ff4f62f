// Inputs; see inputs.h.
#include "quant/inputs.h"

#include "base/error.h"
#include "convert/probes.h"
#include "infer/setup.h"

namespace dnn::quant {

Inputs::Inputs(const Graph& network, const InputChoice& choice)
    : choice_(choice), package_(package_of(network)), plan_(plan_batch(package_)) {
  if (plan_.batch != 1)
    fail_usage(choice.model, ": its batch is fixed at ", plan_.batch,
               "; give --batch 1, or --batch n to leave it open");
}

std::string Inputs::asked_preprocess() const {
  if (choice_.preprocess.empty() && !choice_.spelled_out.any()) return "";
  return to_json(
      *choose_preprocess(package_, plan_, choice_.preprocess, choice_.spelled_out, choice_.apply_orientation));
}

std::unique_ptr<SampleSource> Inputs::open(const std::vector<std::string>& inputs, const char* option, Shard shard) {
  SourceOptions source;
  source.inputs = inputs;
  source.shard = shard;
  preprocess_.clear();
  if (names_images(inputs)) {
    source.preprocess =
        choose_preprocess(package_, plan_, choice_.preprocess, choice_.spelled_out, choice_.apply_orientation);
    if (!source.preprocess) fail_usage(option, ": images need a --preprocess: ", join(preprocess_names()));
    preprocess_ = to_json(*source.preprocess);
    const RunLabels labels = choose_labels(package_, choice_.labels, inputs, class_count(package_, plan_, ""));
    source.labels = labels.set;
    source.label_offset = label_offset_ = labels.offset;
  }
  return open_samples(source, plan_);
}

}  // namespace dnn::quant
