// The log of a run: json_stats lines as pycls writes them, and TensorBoard's files in a folder.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "train/events.h"
#include "train/fit.h"

namespace dnn::train {

struct LogOptions {
  std::string folder;  // of train/, validation/ and train.log; "" for none
  bool histograms = false;
  int64_t epochs = 1;
  int64_t parameters = 0;                            // numbers that are trained
  std::function<void(const std::string& line)> say;  // json_stats lines of epochs; may be empty
};

class TrainLog {
 public:
  // `after_epoch`, `after_step`: the run goes on there; 0 for a new one. Throws Environment.
  TrainLog(const LogOptions& options, int64_t after_epoch, int64_t after_step);
  void step(const StepReport& report);
  // The trainer's state is that of the epoch's end.
  void epoch(const EpochReport& report, const Trainer& trainer);

 private:
  void line(const std::string& text, bool shown);

  const LogOptions options_;
  std::unique_ptr<GrowingFile> text_;
  std::unique_ptr<EventFile> training_, validation_, steps_;
  double time_diff_ = 0, time_sum_ = 0;
  int64_t iterations_ = 0;
};

}  // namespace dnn::train
