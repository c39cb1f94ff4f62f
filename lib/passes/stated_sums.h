// Sums of real numbers whose bits are the same in any order, or that have a stated one: what the passes integer-products and integer-functions share.
#pragma once
#include "graph/patch.h"

namespace dnn {

// A MatMul of integers, held as float32, whose sums never need more than the 24 bits of one: it is exact in any order of addition.
bool is_exact_product(const Graph& graph, const Uses& uses, const Node& node);

// A network that computes on integers: it makes some while it runs, or reads some as real numbers. Constants alone, as of networks whose weights are
// kept in few bits, do not count.
bool has_integer_activations(const Graph& graph);

// LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization, GlobalAveragePool, ReduceMean and ReduceSum of float32 and of
// extents that are known.
bool has_stated_sums(const Graph& graph, const Node& node);
// Such a node by StatedLayerNormalization, StatedMean or StatedSum.
Patch with_stated_sums(const Graph& graph, NodeId id);

}  // namespace dnn
