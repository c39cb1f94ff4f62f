// Einsum of two operands as a product of matrices.
#pragma once
#include <optional>

#include "graph/patch.h"

namespace dnn {

// An Einsum of two float operands whose sums run over axes of both, as MatMul with the Transpose and Reshape around it that it needs: its
// kernels keep sums in registers, and it may be a layer on integers. Nothing for equations with a letter twice in a term, with a sum over an
// axis of one operand alone or with extents that broadcast, and where extents that have to be joined are not known. Types must be inferred.
std::optional<Patch> einsum_as_product(const Graph& graph, NodeId id);

}  // namespace dnn
