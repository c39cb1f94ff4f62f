// Alignment of two networks by all that is known of them: activations, parameters, wiring, names that hold, and last their order.
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

// Layers are of the records, which are of one sample, by both networks. Inputs and outputs are each other's. Of the others what is known
// best is used first: activations that agree; parameters that are the same up to their order, and no other layer's; a node of the
// same operator with all its inputs paired. Names come behind these, where those that can be checked against them hold, and last
// what line_up() finds by order. No pair contradicts another in what is computed from what. Before all of these, and never against
// them, what is given; Usage for a name that no layer has.
std::vector<AlignedPair> align(const Graph& source, const std::vector<Layer>& source_layers,
                               const std::vector<stream::TensorRecord>& source_records, const Graph& target,
                               const std::vector<Layer>& target_layers,
                               const std::vector<stream::TensorRecord>& target_records,
                               const std::vector<GivenPair>& given = {});

}  // namespace dnn
