// The options of dnn-train.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "train/model.h"

namespace dnn::train {

struct TrainArgs {
  TrainRequest request;
  std::string preset;
  std::vector<std::string> given;
  bool mpi = false;  // train with the other processes that a launcher started
};

void declare_training(cli::Args& args, TrainArgs* o);

// The request for train_model(), with the preset and a folder that is split already taken up; log sinks and ranks are the caller's.
// Throws Usage.
TrainRequest train_request(const TrainArgs& o, const CompileOptions& compile,
                           const std::function<void(const std::string&)>& note);

}  // namespace dnn::train
