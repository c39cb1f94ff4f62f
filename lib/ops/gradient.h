// Steps that the gradients of several operators share.
#pragma once
#include <vector>

#include "ops/build.h"

namespace dnn {

// `v` summed over the axes along which a tensor of that shape is broadcast to it.
ValueId sum_to(GraphBuilder& build, ValueId v, const Shape& shape);
ValueId reshape_to(GraphBuilder& build, ValueId v, const Shape& shape);
ValueId expand_to(GraphBuilder& build, ValueId v, const Shape& shape);
ValueId reduce_sum(GraphBuilder& build, ValueId v, const std::vector<int64_t>& axes, bool keepdims);
// Sums over all but the channels, [C], of a: [N, C, D...], and with b and shift: [C] also those of a * (b - shift).
std::vector<ValueId> channel_sums(GraphBuilder& build, ValueId a, ValueId b = kNoValue, ValueId shift = kNoValue);
// dy where y lies between two numbers, else 0; either may be kNoValue. `closed`: the bounds themselves are between.
ValueId gate(GraphBuilder& build, ValueId dy, ValueId y, ValueId low, ValueId high, bool closed = false);
ValueId zeros_like(GraphBuilder& build, ValueId v);
// begin[i] and end[i] elements of value 0 around axis i; negative ones are cut off.
ValueId pad_with_zeros(GraphBuilder& build, ValueId v, const std::vector<int64_t>& begin,
                       const std::vector<int64_t>& end);
// Elements start, start + step, ... of an axis, `count` of them.
ValueId strided_slice(GraphBuilder& build, ValueId v, size_t axis, int64_t start, int64_t count, int64_t step);
// `step` - 1 zeros behind each element along each of these axes.
ValueId spread(GraphBuilder& build, ValueId v, const std::vector<size_t>& axes, const std::vector<int64_t>& steps);
// The elements of an axis from the last to the first.
ValueId reversed(GraphBuilder& build, ValueId v, size_t axis);

}  // namespace dnn
