// The two sides of a bisection, its samples and its options.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/deadline.h"
#include "compile/compile.h"
#include "devices/device.h"
#include "localize/outcome.h"

namespace dnn {

// One way of running the model.
struct BisectSide {
  std::string name;  // as messages call it: "cpu -O3"
  CompileOptions compile;
  DeviceSpec device = "cpu";
  DeviceOptions run;
  // Where no passes and kernels of ours run, a framework: runs as it is and is not searched. Must outlive the search.
  Session* as_it_is = nullptr;
  // In place of compile(): how tests bring in kernels that are wrong.
  std::function<Package(const Graph& graph, const CompileOptions& options)> compiler = compile_model;
  static Package compile_model(const Graph& graph, const CompileOptions& options) {
    return dnn::compile(graph, options);
  }
};

struct BisectSample {
  std::string path;
  std::vector<Tensor> inputs;  // of the model as written
};

struct BisectOptions {
  OutputTolerance tolerance;
  size_t n_searched = 2;    // samples that the search runs on: of those that differ, the ones that differ most
  size_t max_findings = 8;  // of each kind and side
  std::function<void(const std::string& message)> note;  // what is being done; may be empty
  Deadline deadline;                                     // samples beyond the first get a third of it
};

}  // namespace dnn
