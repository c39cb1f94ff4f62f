// What runs the conformance cases: one target per device, opened by name.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace dnn::conformance {

class Target {
 public:
  struct Job {
    const Graph* graph;
    std::vector<Tensor> inputs;  // of the case's first data set
  };

  virtual ~Target() = default;
  // How many jobs load() wants at once: compiling many together is cheaper than one by one.
  virtual size_t batch() const { return 1; }
  // The jobs of the next run() calls; they live until the next load(). An error of one job is run()'s to throw.
  virtual void load(const std::vector<Job>& jobs) = 0;
  // Outputs of the `job_i`-th loaded graph. Throws Unsupported to refuse.
  virtual std::vector<Tensor> run(size_t job_i, const std::vector<Tensor>& inputs) = 0;
  // A line for the end of the output: how much of the runs was the device's own.
  virtual std::string summary() const { return {}; }
};

// "reference" is the interpreter; "loops" is the same, and each node's lowering must give the same bits; "cpu-O0" to
// "cpu-O4" and "opencl-O0" to "opencl-O4" compile, as does "unix:PATH-O0" for a dnn-serve on aarch64. Throws Usage naming the devices there are, Environment for one that is
// not on this machine.
std::unique_ptr<Target> open_target(const std::string& device);

}  // namespace dnn::conformance
