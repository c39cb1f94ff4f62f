// Sums that integers would lose: an operand is smaller than the steps of the result, as what an attention mask of -1e9 is added to.
#pragma once
#include <set>
#include <vector>

#include "quant/plan.h"
#include "quant/scheme.h"

namespace dnn::quant {

// The sums and differences of a plan, with the activations at their ends, whose result has so large a step that the whole range of
// a computed operand spans a few of them.
// `groups`: the quantisers of plan.groups.
std::set<NodeId> coarse_sums(const Graph& graph, const Plan& plan, const std::vector<Affine>& groups);

}  // namespace dnn::quant
