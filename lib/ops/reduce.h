// The axes of a reduction, and how input elements map to output elements.
#pragma once
#include <optional>

#include "ops/op.h"

namespace dnn {

// Which axes a Reduce node reduces, by rank: from its axes input (null: left out) and noop_with_empty_axes.
// Throws Malformed for axes out of range or given twice.
std::vector<bool> reduced_axes(const Node& node, const Tensor* axes, int64_t rank);

// The shape after reducing: reduced axes have extent 1, or are gone.
template <class Extent>
std::vector<Extent> reduced_shape(const std::vector<Extent>& shape, const std::vector<bool>& reduced, bool keepdims) {
  std::vector<Extent> result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!reduced[i]) result.push_back(shape[i]);
    if (reduced[i] && keepdims) result.push_back(Extent(1));
  }
  return result;
}

// Offsets of the elements that one output element reduces, and of the first of each output element, both row-major:
// output i reduces kept[i] + each of inner.
struct ReductionOffsets {
  std::vector<int64_t> kept, inner;
  ReductionOffsets(const Shape& shape, const std::vector<bool>& reduced);
};

// infer() of the Reduce operators: axes in input 1, same dtype.
void infer_reduce(InferContext& context);

}  // namespace dnn
