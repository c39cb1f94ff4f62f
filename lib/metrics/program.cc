// A program as a metric; see program.h.
#include "metrics/program.h"

namespace dnn::metrics {

ProgramMetric::ProgramMetric(const std::string& command, double wait_s) : dialogue_(command, wait_s) {}

void ProgramMetric::add(const stream::Record& record, Evaluation* evaluation) {
  const bool end = std::holds_alternative<stream::End>(record);
  if (std::holds_alternative<stream::Header>(record)) {
    if (in_run_) end_run(evaluation);
    in_run_ = true;
  }
  if (end && in_run_) return end_run(evaluation);
  if (in_run_) dialogue_.send(record);
}

void ProgramMetric::end_run(Evaluation* evaluation) {
  in_run_ = false;
  dialogue_.send(stream::End{});
  bool begun = false;
  constexpr int kMost = 1000;
  for (int n = 0;; ++n) {
    const stream::Record record = dialogue_.answer();
    if (const auto* tensor = std::get_if<stream::TensorRecord>(&record); tensor != nullptr && begun && n <= kMost) {
      if (tensor->tensor.size() != 1 || tensor->tensor.dtype() == DType::String || tensor->name.empty())
        fail_malformed(dialogue_.name(), ": metric ", quoted(tensor->name), " is not one number with a name");
      evaluation->add_value(tensor->name, to_doubles(tensor->tensor)[0]);
    } else if (std::holds_alternative<stream::Header>(record) && !begun) {
      begun = true;
    } else if (std::holds_alternative<stream::End>(record) && begun) {
      return;
    } else {
      fail_malformed(dialogue_.name(), ": it answers a run with a ", stream::record_type(record),
                     " record; wanted are a header, tensors (at most ", kMost, ") and end");
    }
  }
}

void ProgramMetric::finish(Evaluation* evaluation) {
  if (in_run_) end_run(evaluation);
  dialogue_.finish();
}

std::vector<std::unique_ptr<ProgramMetric>> start_metrics(const std::vector<std::string>& commands, double wait_s) {
  std::vector<std::unique_ptr<ProgramMetric>> programs;
  for (const std::string& command : commands) {
    if (!stream::is_command(command)) fail_usage("--metric ", command, ": write it as exec:COMMAND");
    programs.push_back(std::make_unique<ProgramMetric>(command, wait_s));
  }
  return programs;
}

}  // namespace dnn::metrics
