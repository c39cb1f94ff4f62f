// Kernel errors: what each kernel of a run makes, against the reference interpreter on the very inputs that it had.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "devices/device.h"

namespace dnn {

struct KernelError {
  NodeId node = -1;    // of the graph that the package computes
  double max_abs = 0;  // infinite where one side alone is NaN or infinite
  double largest = 0;  // of the right values
  int64_t at = -1;     // the element of the largest difference, row-major in the node's first wrong output
  double expected = 0, got = 0;
  size_t output = 0;
  std::vector<Tensor> difference;  // got - expected, by output; undefined where they are equal or no numbers

  double relative() const;  // max_abs / largest
};

// One run of `session` on `inputs`. `graph` is the package's graph with all its constants, which a package drops where its
// kernels hold them packed. In the order of execution, nodes without any difference left out.
std::vector<KernelError> kernel_errors(Session& session, const Graph& graph, const std::vector<Tensor>& inputs);

// The interpreter over `graph`, with `change` called with what each node made before it is read.
std::vector<Tensor> interpret_changed(const Graph& graph, const std::vector<Tensor>& inputs,
                                      const std::function<void(NodeId node, std::vector<Tensor>* outputs)>& change);

// a + b in a's type, saturated; a where b is undefined or of another size, as extents that depend on values may be.
Tensor added(const Tensor& a, const Tensor& b);

}  // namespace dnn
