// Users' programs beside a run, exec:COMMAND: that which makes samples, that which preprocesses them, that which works on predictions.
//
// Each is given a header with the model and, in `preprocess`, the network's inputs: {"inputs": [{"name", "dtype", "shape"}]}, shapes of one
// sample. docs/howto/programs.md has an example of each.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "infer/sample_source.h"
#include "stream/dialogue.h"

namespace dnn {

// What every one of them is told first.
stream::Header header_for_program(const Package& package, const BatchPlan& plan);

// What a run's header says of its preprocessing where a program does it: a JSON object.
std::string named_by_program(const std::string& command);

// One program that answers a header with one and each record with one of the same kind and sample. Thread-safe: one record at a time.
class RecordProgram {
 public:
  // Throws Environment, Malformed, Usage.
  RecordProgram(const std::string& command, const stream::Header& header, double wait_s);
  // The sample, an image as `tensor` uint8 [H, W, 3], with the network's input in its place.
  stream::Sample ask(const stream::Sample& sample);
  // The prediction with its outputs in full; what is answered stands in the stream, with the time and batch that it had.
  stream::Prediction ask(const stream::Prediction& prediction);
  const std::string& name() const { return dialogue_.name(); }
  // The end of its input; throws Environment unless it ends with code 0.
  void finish() { dialogue_.finish(); }

 private:
  template <class Kind>
  Kind answer_to(const Kind& record, int64_t sample);

  std::mutex mutex_;
  stream::Dialogue dialogue_;
};

}  // namespace dnn
