// Samples and programs of a run; see run_inputs.h.
#include "infer/run_inputs.h"

namespace dnn {

RunInputs::RunInputs(const InferArgs& o, const Package& package, const BatchPlan& plan, double wait_s,
                     const std::function<void(const std::string& message)>& warn)
    : preprocess_name_(o.preprocess), postprocess_name_(o.postprocess), options_(o.source) {
  options_.wait_s = wait_s;
  options_.for_programs = header_for_program(package, plan);
  if (o.takes_images() && stream::is_command(o.preprocess)) {
    if (o.spelled_out.any())
      fail_usage("--preprocess ", o.preprocess, ": the program does it all, so nothing is spelled out");
    preprocessor_ = std::make_unique<RecordProgram>(o.preprocess, options_.for_programs, wait_s);
    options_.preprocessor = [this](const stream::Sample& sample) { return preprocessor_->ask(sample).tensor; };
    options_.apply_orientation = o.exif;
  } else if (o.takes_images()) {
    options_.preprocess = choose_preprocess(package, plan, o.preprocess, o.spelled_out, o.exif);
  } else if (o.spells_out() || o.exif) {
    warn("no INPUT is an image, so the preprocessing that is asked for has no effect");
  }
  const std::string ranked = o.run.outputs.empty() ? "" : o.run.outputs[0];
  labels_ = choose_labels(package, o.labels, o.source.inputs, class_count(package, plan, ranked));
  options_.fill_count = plan.batch;
  options_.shard = Shard::parse(o.shard);
  options_.labels = labels_.set;
  options_.label_offset = labels_.offset;
  samples_ = open_samples(options_, plan);
  if (!o.postprocess.empty())
    postprocessor_ = std::make_unique<RecordProgram>(o.postprocess, options_.for_programs, wait_s);
}

std::function<stream::Prediction(const stream::Prediction&)> RunInputs::postprocess() {
  if (postprocessor_ == nullptr) return {};
  return [this](const stream::Prediction& prediction) { return postprocessor_->ask(prediction); };
}

void RunInputs::describe(stream::Header* header) const {
  inherit(samples_->provenance(), header);
  if (preprocessor_ != nullptr) header->preprocess = named_by_program(preprocess_name_);
  if (postprocessor_ != nullptr) header->host["postprocess"] = postprocess_name_;
}

void RunInputs::finish() {
  if (preprocessor_ != nullptr) preprocessor_->finish();
  if (postprocessor_ != nullptr) postprocessor_->finish();
}

}  // namespace dnn
