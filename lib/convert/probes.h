// The user's own inputs as probes of a certificate: images, arrays, streams, as dnn-infer takes them.
#pragma once
#include <string>
#include <vector>

#include "graph/graph.h"
#include "image/preprocess.h"
#include "package/package.h"
#include "tensor/tensor.h"

namespace dnn {

struct ProbeOptions {
  std::vector<std::string> inputs = {};  // as in infer/sample_source.h
  std::string preprocess = {};           // a name; "" for what the model's metadata says
  PreprocessOptions spelled_out = {};
  bool apply_orientation = false;
};

// The graph as what samples are fitted to: a package that was never compiled. Open extents are 1.
Package package_of(const Graph& graph);

// Inputs of the graph, one list for each run of its batch (the last sample fills up the last batch); open extents are 1. Throws
// Usage where images want a preprocessing that nothing says, and what reading them throws.
std::vector<std::vector<Tensor>> read_probes(const Graph& graph, const ProbeOptions& options);

}  // namespace dnn
