// The inputs of a run of dnn-infer: samples, preprocessed and labelled as the command line says, and the users' programs beside the run.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "infer/infer_args.h"
#include "infer/programs.h"

namespace dnn {

class RunInputs {
 public:
  // For that package; it starts the programs, each of which may say nothing for wait_s seconds. `warn` is told of options without effect.
  // Throws Usage and what opening samples and programs throws.
  RunInputs(const InferArgs& o, const Package& package, const BatchPlan& plan, double wait_s,
            const std::function<void(const std::string& message)>& warn);

  SampleSource& samples() { return *samples_; }
  const RunLabels& labels() const { return labels_; }
  const std::optional<Preprocess>& preprocess() const { return options_.preprocess; }
  const Shard& shard() const { return options_.shard; }
  // The program that changes predictions, as in RunOptions; empty without such a program. The object must outlive it.
  std::function<stream::Prediction(const stream::Prediction&)> postprocess();
  // Adds what samples and programs say of themselves.
  void describe(stream::Header* header) const;
  // The end of the programs' input; throws Environment unless they end with code 0.
  void finish();

 private:
  std::string preprocess_name_, postprocess_name_;
  SourceOptions options_;
  RunLabels labels_;
  std::unique_ptr<RecordProgram> preprocessor_, postprocessor_;
  std::unique_ptr<SampleSource> samples_;
};

}  // namespace dnn
