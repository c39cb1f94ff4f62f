// A user's program as a metric, exec:COMMAND: it reads runs and answers each with numbers that the report states beside the others.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "metrics/evaluation.h"
#include "stream/dialogue.h"

namespace dnn::metrics {

// Given the records of each run, header to `end`, it answers with a run of its own: a header, tensors of role output with one
// number each, whose `name` is the metric's, and `end`.
class ProgramMetric {
 public:
  // Throws Environment, Usage.
  ProgramMetric(const std::string& command, double wait_s);
  // Before evaluation.add() of the same record. At the end of a run waits for the answer.
  void add(const stream::Record& record, Evaluation* evaluation);
  // After the last record; what was cut off is ended here. Throws Environment unless the program ends with code 0.
  void finish(Evaluation* evaluation);

 private:
  void end_run(Evaluation* evaluation);

  stream::Dialogue dialogue_;
  bool in_run_ = false;
};

// The programs of --metric, started. Throws Usage for what is no exec:COMMAND.
std::vector<std::unique_ptr<ProgramMetric>> start_metrics(const std::vector<std::string>& commands, double wait_s);

}  // namespace dnn::metrics
