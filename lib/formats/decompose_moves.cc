// Definitions of operators that move or choose elements, in Gather, Where and arithmetic on places; see definitions.h.
#include <algorithm>
#include <numeric>

#include "formats/places.h"

namespace dnn {
namespace {

using namespace places;

// 0 to depth along the axis of a tensor of that rank.
ValueId along_axis(Decomposition& s, int64_t depth, int64_t axis, int64_t rank) {
  Shape shape(rank, 1);
  shape[axis] = depth;
  return s.store("places", Tensor::of<int64_t>(shape, counted(depth)));
}

bool one_hot(Decomposition& s) {
  const Tensor* depth = s.constant(1);
  if (depth == nullptr || depth->size() != 1 || !s.has_rank() || s.dtype(2) == DType::String) return false;
  const int64_t n = to_int64s(*depth)[0], rank = s.rank() + 1, axis = axis_of(s, rank);
  const auto value = [&](int64_t i) {
    if (const Tensor* known = s.constant(2))
      return s.store("value", convert(Tensor::of<double>({}, {to_doubles(*known)[i]}), known->dtype()));
    const ValueId which = s.store("which", Tensor::of<int64_t>({}, {i}));
    return s.emit("Gather", {s.node().inputs[2], which}, {{"axis", int64_t{0}}});
  };
  const ValueId indices = s.emit("Unsqueeze", {from_front(s, s.x(), n), s.list({axis})});
  const ValueId there = s.emit("Equal", {indices, along_axis(s, n, axis, rank)});
  s.end("Where", {there, value(1), value(0)});
  return true;
}

bool hardmax(Decomposition& s) {
  if (!s.has_rank()) return false;
  const int64_t axis = axis_of(s, s.rank());
  const Dim extent = (*s.type().shape)[axis];
  if (!extent.fixed()) return false;
  const ValueId first = s.emit("ArgMax", {s.x()}, {{"axis", axis}, {"keepdims", int64_t{1}}});
  const ValueId there = s.emit("Equal", {along_axis(s, extent.size, axis, s.rank()), first});
  s.end("Where", {there, s.number(1), s.number(0)});
  return true;
}

bool trilu(Decomposition& s) {
  if (!s.has_rank() || s.rank() < 2 || s.type().dtype == DType::Bool) return false;
  const Dim rows = (*s.type().shape)[s.rank() - 2], columns = (*s.type().shape)[s.rank() - 1];
  const bool given = s.node().input(1) != kNoValue;
  if (!rows.fixed() || !columns.fixed() || (given && s.constant(1) == nullptr)) return false;
  const int64_t k = given ? to_int64s(*s.constant(1))[0] : 0;
  const bool upper = int_attribute(s.node(), "upper") != 0;
  Tensor kept(DType::Bool, {rows.size, columns.size});
  for (int64_t i = 0; i < kept.size(); ++i) {
    const int64_t beyond = i % columns.size - i / columns.size - k;
    kept.mutable_data<bool>()[i] = upper ? beyond >= 0 : beyond <= 0;
  }
  s.end("Where", {s.store("kept", kept), s.x(), s.number(0)});
  return true;
}

bool center_crop_pad(Decomposition& s) {
  const Tensor* wanted = s.constant(1);
  if (wanted == nullptr || !s.has_rank()) return false;
  Places axes = s.node().attribute_ints("axes", counted(s.rank()));
  Places starts, ends, cropped, before(s.rank(), 0), after = before;
  bool pads = false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i] < 0 ? axes[i] + s.rank() : axes[i], to = to_int64s(*wanted)[i];
    const Dim extent = (*s.type().shape)[axis];
    if (!extent.fixed()) return false;
    const int64_t more = to - extent.size;
    if (more < 0) {
      cropped.push_back(axis);
      starts.push_back(-more / 2);
      ends.push_back(-more / 2 + to);
    } else if (more > 0) {
      pads = true;
      before[axis] = more / 2;
      after[axis] = more - more / 2;
    }
  }
  ValueId x = s.x();
  if (!cropped.empty()) x = s.emit("Slice", {x, s.list(starts), s.list(ends), s.list(cropped)});
  if (pads) {
    before.insert(before.end(), after.begin(), after.end());
    x = s.emit("Pad", {x, s.list(before)});
  }
  s.end("Identity", {x});
  return true;
}

// For each element of the result: the one of the data, by its place in one row.
bool end_with_places(Decomposition& s, ValueId from, const Shape& shape, const Places& places) {
  s.end("Gather", {in_one_row(s, from), s.store("places", Tensor::of<int64_t>(shape, places))}, {{"axis", int64_t{0}}});
  return true;
}

bool gather_elements(Decomposition& s) {
  if (!s.fixed(0) || !s.fixed(1)) return false;
  const ValueId indices = s.node().inputs[1];
  const Shape data = s.shape(s.x()), shape = s.shape(indices);
  if (element_count(shape) > kMost || data.empty()) return false;
  const int64_t axis = axis_of(s, std::ssize(data));
  const std::vector<int64_t> strides = row_major_strides(data);
  Places places = without_axis(shape, axis, strides);
  if (const Tensor* known = s.constant(1)) {
    const Places along = to_int64s(*known);
    for (size_t i = 0; i < places.size(); ++i) {
      const int64_t at = counted_from_front(along[i], data[axis]);
      if (at < 0) return false;
      places[i] += at * strides[axis];
    }
    return end_with_places(s, s.x(), shape, places);
  }
  const ValueId stride = s.store("stride", Tensor::of<int64_t>({}, {strides[axis]}));
  const ValueId along = s.emit("Mul", {from_front(s, indices, data[axis]), stride});
  s.end("Gather", {in_one_row(s, s.x()), s.emit("Add", {along, s.store("others", Tensor::of<int64_t>(shape, places))})},
        {{"axis", int64_t{0}}});
  return true;
}

bool gather_nd(Decomposition& s) {
  if (!s.fixed(0) || !s.fixed(1) || int_attribute(s.node(), "batch_dims") != 0) return false;
  const ValueId indices = s.node().inputs[1];
  const Shape data = s.shape(s.x()), shape = s.shape(indices);
  if (shape.empty()) return false;
  const int64_t depth = shape.back();
  Shape rows = {1};
  for (int64_t d = 0; d < std::ssize(data); ++d) {
    if (d < depth) {
      rows[0] *= data[d];
    } else {
      rows.push_back(data[d]);
    }
  }
  const ValueId place = rows_of_tuples(s, indices, data);
  if (place == kNoValue) return false;
  s.end("Gather", {s.emit("Reshape", {s.x(), s.list(rows)}), place}, {{"axis", int64_t{0}}});
  return true;
}

bool reverse_sequence(Decomposition& s) {
  const Tensor* lengths = s.constant(1);
  if (lengths == nullptr || !s.fixed(0) || element_count(s.shape(s.x())) > kMost) return false;
  const Shape data = s.shape(s.x());
  const int64_t batch = int_attribute(s.node(), "batch_axis"), time = int_attribute(s.node(), "time_axis");
  const std::vector<int64_t> strides = row_major_strides(data);
  const Places n = to_int64s(*lengths);
  Places places = counted(element_count(data));
  for (int64_t i = 0; i < std::ssize(places); ++i) {
    const int64_t length = n[i / strides[batch] % data[batch]], t = i / strides[time] % data[time];
    if (t < length) places[i] = i + (length - 1 - 2 * t) * strides[time];
  }
  return end_with_places(s, s.x(), data, places);
}

// ------------------------------------------------------------------------------------------ samples of images

// One axis of the positions that a grid names, [N, out_h, out_w].
struct SampledAxis {
  ValueId at = kNoValue;  // in elements, brought inside where the padding wants that
  int64_t extent = 1;
};

// Mirrored at both ends: low + |(|x - low| mod 2 range) - ...|, a triangle of that range.
ValueId reflected(Decomposition& s, ValueId at, int64_t extent, bool aligned) {
  const double low = aligned ? 0 : -0.5,
               range = aligned ? static_cast<double>(extent - 1) : static_cast<double>(extent);
  if (range <= 0) return s.emit("Mul", {at, s.number(0)});
  const ValueId away = s.emit("Abs", {s.emit("Sub", {at, s.number(low)})});
  const ValueId turns = s.emit("Floor", {s.emit("Div", {away, s.number(2 * range)})});
  const ValueId rest = s.emit("Sub", {away, s.emit("Mul", {turns, s.number(2 * range)})});
  const ValueId back = s.emit("Abs", {s.emit("Sub", {rest, s.number(range)})});
  return s.emit("Sub", {s.number(low + range), back});
}

ValueId bounded(Decomposition& s, ValueId at, int64_t extent) {
  return s.emit("Min", {s.emit("Max", {at, s.number(0)}), s.number(static_cast<double>(extent - 1))});
}

SampledAxis sampled_axis(Decomposition& s, int64_t which, int64_t extent) {
  const bool aligned = int_attribute(s.node(), "align_corners") != 0;
  const std::string padding = string_attribute(s.node(), "padding_mode");
  const ValueId g =
      s.emit("Gather", {s.node().inputs[1], s.store("axis", Tensor::of<int64_t>({}, {which}))}, {{"axis", int64_t{3}}});
  const ValueId from_zero = s.emit("Add", {g, s.number(1)});
  const double n = static_cast<double>(extent);
  ValueId at = aligned ? s.emit("Mul", {from_zero, s.number((n - 1) / 2)})
                       : s.emit("Sub", {s.emit("Mul", {from_zero, s.number(n / 2)}), s.number(0.5)});
  if (padding == "reflection") at = reflected(s, at, extent, aligned);
  if (padding != "zeros") at = bounded(s, at, extent);
  return {at, extent};
}

// 1 where a place is inside, else 0.
ValueId inside(Decomposition& s, const SampledAxis& axis) {
  const ValueId same = s.emit("Equal", {bounded(s, axis.at, axis.extent), axis.at});
  return s.emit("Where", {same, s.number(1), s.number(0)});
}

// Elements of all channels at those whole places, [N, out_h, out_w, C], 0 outside.
ValueId taken_at(Decomposition& s, ValueId pixels, ValueId first_of_image, const SampledAxis& y, const SampledAxis& x) {
  const auto whole = [&](const SampledAxis& axis) {
    return s.to_dtype(bounded(s, axis.at, axis.extent), DType::Int64);
  };
  const ValueId width = s.store("width", Tensor::of<int64_t>({}, {x.extent}));
  const ValueId in_image = s.emit("Add", {s.emit("Mul", {whole(y), width}), whole(x)});
  const ValueId taken = s.emit("Gather", {pixels, s.emit("Add", {in_image, first_of_image})}, {{"axis", int64_t{0}}});
  if (string_attribute(s.node(), "padding_mode") != "zeros") return taken;
  return s.emit("Mul", {taken, s.emit("Unsqueeze", {s.emit("Mul", {inside(s, y), inside(s, x)}), s.list({3})})});
}

// PyTorch's grid_sampler, of two spatial axes: the nearest element, or the four around each position by their distance.
bool grid_sample(Decomposition& s) {
  const std::string mode = string_attribute(s.node(), "mode");
  const bool nearest = mode == "nearest";
  if (!s.fixed(0) || !s.fixed(1) || s.rank() != 4 || s.type().dtype != DType::Float32 || s.dtype(1) != DType::Float32 ||
      (!nearest && mode != "linear" && mode != "bilinear") ||
      string_attribute(s.node(), "padding_mode") == "reference_border")
    return false;
  const Shape data = s.shape(s.x());
  const int64_t n = data[0], height = data[2], width = data[3];
  const ValueId last = s.emit("Transpose", {s.x()}, {{"perm", Places{0, 2, 3, 1}}});
  const ValueId pixels = s.emit("Reshape", {last, s.list({n * height * width, data[1]})});
  Places firsts;
  for (int64_t i = 0; i < n; ++i) firsts.push_back(i * height * width);
  const ValueId first = s.store("images", Tensor::of<int64_t>({n, 1, 1}, firsts));
  const SampledAxis x = sampled_axis(s, 0, width), y = sampled_axis(s, 1, height);
  const auto rounded = [&](const char* how, const SampledAxis& axis) {
    return SampledAxis{s.emit(how, {axis.at}), axis.extent};
  };
  ValueId sum = kNoValue;
  if (nearest) {
    sum = taken_at(s, pixels, first, rounded("Round", y), rounded("Round", x));
  } else {
    const SampledAxis left = rounded("Floor", x), top = rounded("Floor", y);
    const auto next = [&](const SampledAxis& axis) {
      return SampledAxis{s.emit("Add", {axis.at, s.number(1)}), axis.extent};
    };
    const ValueId beside = s.emit("Sub", {x.at, left.at}), below = s.emit("Sub", {y.at, top.at});
    const auto rest = [&](ValueId part) { return s.emit("Sub", {s.number(1), part}); };
    for (const auto& [row, row_part] : {std::pair(top, rest(below)), {next(top), below}}) {
      for (const auto& [column, part] : {std::pair(left, rest(beside)), {next(left), beside}}) {
        const ValueId weight = s.emit("Unsqueeze", {s.emit("Mul", {row_part, part}), s.list({3})});
        const ValueId term = s.emit("Mul", {taken_at(s, pixels, first, row, column), weight});
        sum = sum == kNoValue ? term : s.emit("Add", {sum, term});
      }
    }
  }
  s.end("Transpose", {sum}, {{"perm", Places{0, 3, 1, 2}}});
  return true;
}

}  // namespace

const std::vector<Definition>& moving_definitions() {
  static const std::vector<Definition> all = {{"CenterCropPad", center_crop_pad},
                                              {"GatherElements", gather_elements},
                                              {"GatherND", gather_nd},
                                              {"GridSample", grid_sample},
                                              {"Hardmax", hardmax},
                                              {"OneHot", one_hot},
                                              {"ReverseSequence", reverse_sequence},
                                              {"Trilu", trilu}};
  return all;
}

}  // namespace dnn
