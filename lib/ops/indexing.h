// Indexing: element offsets that the index tensors of GatherElements, GatherND and the Scatter operators name.
#pragma once
#include <vector>

#include "ops/op.h"

namespace dnn {

// Offsets into a tensor of shape `data` for each element of `indices`, whose values replace the coordinate of `axis`;
// same rank, and no more elements than data along the other axes. Malformed where an index is out of range.
std::vector<int64_t> element_offsets(const Node& node, const Shape& data, const Tensor& indices, size_t axis);

// For index tuples along the last axis of `indices` (after `batch_dims` axes that run along with data's): the offsets of
// the slices they name, `block` elements each.
struct TupleOffsets {
  std::vector<int64_t> offsets;
  int64_t block;
};
TupleOffsets tuple_offsets(const Node& node, const Shape& data, const Tensor& indices, size_t batch_dims);

}  // namespace dnn
