// Alignment of two networks by all that is known of them: names, activations, parameters, wiring, and last their order.
#pragma once
#include <vector>

#include "localize/lineup.h"

namespace dnn {

// A pair of layers with the order of axes.
struct AlignedPair {
  LayerPair pair;
  AxisOrder order;
  bool fits = true;  // false: one layer by its name, parameters or wiring, of two shapes
};

// What a user says: a source's value is this one of the target; "" is none of them.
struct GivenPair {
  std::string source, target;
};

// Layers are of the records, which are of one sample, by both networks. What is known best is used first: a name whose activations
// agree; activations that agree; a name; parameters that are the same up to their order; a node of the same operator with all its
// inputs paired; then what line_up() finds by order. Before all of these, and never against them, what is given; Usage for a name
// that no layer has.
std::vector<AlignedPair> align(const Graph& source, const std::vector<Layer>& source_layers,
                               const std::vector<stream::TensorRecord>& source_records, const Graph& target,
                               const std::vector<Layer>& target_layers,
                               const std::vector<stream::TensorRecord>& target_records,
                               const std::vector<GivenPair>& given = {});

}  // namespace dnn
