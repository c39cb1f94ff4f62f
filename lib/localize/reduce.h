// Reduction: the smallest part of a model, and the inputs of that part, on which two ways of running it still differ.
#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.h"
#include "graph/graph.h"
#include "localize/outcome.h"

namespace dnn {

using RunModel = std::function<Outcome(const Graph& model, const std::vector<Tensor>& inputs)>;

struct ReduceOptions {
  OutputTolerance tolerance;
  int64_t max_probes = 200;                              // runs of both sides
  Deadline deadline;                                     // after which what is left stays
  std::function<void(const std::string& message)> note;  // may be empty
};

struct Reduced {
  Graph graph;  // what it reads from nodes that are gone are its inputs
  std::vector<Tensor> inputs;
  Outcome source, target;
  Movement movement;
  size_t output = 0;  // where they differ most
  int64_t at = 0;     // element
  double expected = 0, got = 0;
  int64_t n_nodes_before = 0, n_probes = 0;
};

// Delta debugging (Zeller and Hildebrandt, 2002) over the nodes: values that the nodes left read become inputs, which hold
// what the interpreter makes of them in the whole model. Then heights and widths of inputs are halved as long as the
// difference stays. Throws Negative where the two do not differ on the whole model.
Reduced reduce_model(const Graph& model, const std::vector<Tensor>& inputs, const RunModel& source,
                     const RunModel& target, const ReduceOptions& options);

// A step of making inputs smaller: of these inputs, half of each of these axes, rounded up or to the next even extent (which
// strides of 2 want), at the front or at the back.
struct Halving {
  std::vector<size_t> inputs, axes;
  bool even = false, back = false;
};
// Halves heights and widths together, tokens, and batches, of all inputs or of those of the same extents, as long as `take` says
// that a step stays. `shapes` are the inputs' then.
void shrink(const std::function<std::vector<Shape>()>& shapes, const std::function<bool(const Halving&)>& take);
// The half of a tensor along `axes`, where they are those of another layout than the step names.
Tensor half_of(const Tensor& tensor, const Halving& halving, const std::vector<size_t>& axes);
// The graph with these inputs, all other extents inferred anew. Throws Malformed or Unsupported where they do not fit.
Graph with_inputs(Graph graph, const std::vector<Tensor>& inputs);

// An .npz file of these arrays.
std::string npz_file(const std::vector<std::pair<std::string, Tensor>>& arrays);
// The section of a report: what wrote it, where.
std::string versions_section();

// What a report says besides the reduction itself.
struct ReproFacts {
  std::string model, source, target;  // names
  std::string command;                // that runs the files again, with MODEL and INPUTS in it
};

// reduced.onnx, inputs.npz and report.md in `folder`, which is made. Returns the report.
std::string write_reduced(const Reduced& reduced, const ReproFacts& facts, const std::string& folder);

}  // namespace dnn
