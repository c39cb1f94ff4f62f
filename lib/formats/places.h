// Places of elements in a tensor's one row of numbers, for definitions that move or choose elements.
#pragma once
#include <vector>

#include "formats/definitions.h"

namespace dnn::places {

constexpr int64_t kMost = int64_t{1} << 22;  // of a constant that holds a place for each element

using Places = std::vector<int64_t>;

Places counted(int64_t n);  // 0 to n - 1
ValueId in_one_row(Decomposition& s, ValueId v);
// Indices as int64, counted from the front.
ValueId from_front(Decomposition& s, ValueId indices, int64_t extent);
// An index in [-extent, extent) from the front; -1: out of range.
int64_t counted_from_front(int64_t index, int64_t extent);
// Attribute `axis` of a tensor of that rank, from the front.
int64_t axis_of(const Decomposition& s, int64_t rank);
// Places of elements of `shape`, less what the coordinate along the axis adds, in data of those strides.
Places without_axis(const Shape& shape, int64_t axis, const std::vector<int64_t>& strides);
// The row that each tuple of indices names; a row is all that follows the tuples' axes in `data`.
ValueId rows_of_tuples(Decomposition& s, ValueId tuples, const Shape& data);

}  // namespace dnn::places
