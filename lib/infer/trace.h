// Traces: every value of the source model, as the package computes it or, where fusion removed it, as recomputed.
#pragma once
#include <vector>

#include "devices/device.h"
#include "stream/records.h"

namespace dnn {

// One record for each input and each node output of the session's source model, in its order, without `sample`, for one
// batch of inputs. What the package does not materialise is recomputed by the reference interpreter from the same inputs
// and marked so.
std::vector<stream::TensorRecord> trace_run(Session& session, const std::vector<Tensor>& inputs);

// The values that the layers' names mean: each a value's own name, or a node's, which stands for its outputs. Throws Usage for a name
// that the model does not have.
std::vector<std::string> values_of_layers(const Graph& model, const std::vector<std::string>& layers);

// Logical axes by ValueId of `graph`: "NCHW" where a spatial operator says so, carried through elementwise operators and
// transposes; "" where not known.
std::vector<std::string> logical_axes(const Graph& graph);

}  // namespace dnn
