// Places of elements in one row; see places.h.
#include "formats/places.h"

#include <numeric>

namespace dnn::places {

Places counted(int64_t n) {
  Places all(n);
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

ValueId in_one_row(Decomposition& s, ValueId v) { return s.emit("Reshape", {v, s.list({-1})}); }

ValueId from_front(Decomposition& s, ValueId indices, int64_t extent) {
  const ValueId wide = s.to_dtype(indices, DType::Int64);
  const ValueId n = s.store("extent", Tensor::of<int64_t>({}, {extent})),
                zero = s.store("zero", Tensor::of<int64_t>({}, {0}));
  return s.emit("Where", {s.emit("Less", {wide, zero}), s.emit("Add", {wide, n}), wide});
}

int64_t counted_from_front(int64_t index, int64_t extent) {
  const int64_t at = index < 0 ? index + extent : index;
  return at >= 0 && at < extent ? at : -1;
}

int64_t axis_of(const Decomposition& s, int64_t rank) {
  const int64_t axis = int_attribute(s.node(), "axis");
  return axis < 0 ? axis + rank : axis;
}

Places without_axis(const Shape& shape, int64_t axis, const std::vector<int64_t>& strides) {
  const std::vector<int64_t> own = row_major_strides(shape);
  Places places(element_count(shape), 0);
  for (int64_t i = 0; i < std::ssize(places); ++i) {
    for (int64_t d = 0; d < std::ssize(shape); ++d) {
      if (d != axis) places[i] += i / own[d] % shape[d] * strides[d];
    }
  }
  return places;
}

ValueId rows_of_tuples(Decomposition& s, ValueId tuples, const Shape& data) {
  const Shape shape = s.shape(tuples);
  const int64_t depth = shape.back(), last = std::ssize(shape) - 1;
  int64_t stride = 1;
  for (int64_t d = 0; d < depth; ++d) stride *= data[d];
  ValueId row = kNoValue;
  for (int64_t d = 0; d < depth; ++d) {
    stride /= std::max<int64_t>(1, data[d]);
    const ValueId column =
        s.emit("Gather", {tuples, s.store("column", Tensor::of<int64_t>({}, {d}))}, {{"axis", last}});
    const ValueId part =
        s.emit("Mul", {from_front(s, column, data[d]), s.store("stride", Tensor::of<int64_t>({}, {stride}))});
    row = row == kNoValue ? part : s.emit("Add", {row, part});
  }
  return row;
}

}  // namespace dnn::places
