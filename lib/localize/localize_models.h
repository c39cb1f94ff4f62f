// Two model files compared layer by layer, as a command line asks for it.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "infer/setup.h"
#include "localize/localize.h"

namespace dnn {

// A network ready to run sample by sample.
struct OpenedNetwork {
  // `folders` has cache and key places and log sinks; `level` is a model's where `network` has none. Throws Usage for a batch
  // that is fixed or another level than was asked for, and what reading, compiling and opening the device throw.
  OpenedNetwork(const std::string& path, const NetworkOptions& network, const OpenOptions& folders, int threads,
                const char* level);

  std::shared_ptr<const Package> package;
  std::unique_ptr<Session> session;
  BatchPlan plan;
};

struct LocalizeRequest {
  std::string source, target;       // model files or packages
  std::vector<std::string> inputs;  // as for open_samples()
  std::string preprocess;
  std::string target_preprocess;  // "NAME KEY=VALUE ..."; "": the source's
  NetworkOptions network;         // device, level (default 0) and extents of both
  OpenOptions folders;            // cache and key places, log sinks
  int threads = 0;
  ParameterTolerance tolerance;
  std::function<void(int64_t n_samples)> begin;  // of samples, 0: not known; may be empty
  std::function<void()> done;                    // after each sample; may be empty
};

// Throws Usage, Negative where nothing could be lined up, and what reading, compiling and running throw.
LocalizeReport localize_models(const LocalizeRequest& request);

// Whether compiled without passes, so that what the graphs mean is all that runs.
bool runs_as_written(const NetworkOptions& network);

}  // namespace dnn
