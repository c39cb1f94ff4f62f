// Pairs of layers by their wiring: nodes that read paired layers, and layers that paired nodes read.
#pragma once
#include "localize/align_side.h"
#include "localize/paired_layers.h"

namespace dnn {

// Adds such pairs until there are no more.
void match_wiring(const AlignSide& a, const AlignSide& b, PairedLayers* pairs);

}  // namespace dnn
