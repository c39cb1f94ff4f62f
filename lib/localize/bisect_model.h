// Bisecting a model file as a command line asks for it, and the report for people and programs.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "localize/bisect.h"
#include "localize/one_model.h"

namespace dnn {

struct BisectRequest : OneModelRequest {
  NetworkOptions source, target;  // device, level, passes; of the target also shapes
  BisectOptions options;
  std::string reduce;  // a folder for the smallest part of the model that still differs; "": none
};

struct BisectedModel {
  std::string model, source, target;  // names
  std::string target_level, target_device;
  std::vector<std::string> paths;  // of the samples
  std::optional<LabelSet> labels;
  OutputTolerance tolerance;
  BisectReport report;
  NotJudged not_judged;  // of the samples that were given
  // What --reduce left: nodes, of how many, and whether its files still differ when they are read back.
  struct ReducedTo {
    std::string folder;  // "" where nothing is written
    int64_t n_nodes = 0, n_nodes_before = 0;
    double max_abs = 0;
    bool files_differ = false;
    std::string why_not;  // why nothing is written
  };
  std::optional<ReducedTo> reduced;
};

// How `network` runs the model, but for its name, and for a framework's level and file.
BisectSide side_of(const OneModelRequest& request, const NetworkOptions& network);

// Throws Usage, and what reading, compiling and the devices throw.
BisectedModel bisect_model(const BisectRequest& request);

// What differs, each finding with its evidence, how sure it is and what to do; ends with a newline.
std::string bisect_text(const BisectedModel& bisected);

// {"model", "source", "target", "samples", "relabelled", "rewrites", "kernels", "after", ...} on one line.
std::string bisect_json(const BisectedModel& bisected);

}  // namespace dnn
