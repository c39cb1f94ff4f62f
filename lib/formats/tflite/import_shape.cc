// Moving elements. Where input and output share one quantisation, the stored numbers move; else real ones, quantised anew.
#include <algorithm>

#include "formats/tflite/imports.h"

namespace dnn::tflite {

void moved(Op& op, size_t at, const std::function<ValueId(ValueId)>& steps) {
  if (op.same_quantization(at, 0)) {
    op.define_raw(0, steps(op.raw(at)));
  } else {
    op.define(0, steps(op.real(at)));
  }
}

int64_t one(Op& op, size_t i) {
  const std::vector<int64_t> values = op.ints(i);
  if (values.size() != 1) op.fail("input ", i, " has ", values.size(), " entries, not one");
  return values[0];
}

ValueId extents(Op& op, size_t i) {
  return op.constant(i) != nullptr ? op.list(op.ints(i)) : op.to_dtype(op.raw(i), DType::Int64);
}

namespace {

void parts(Op& op, size_t at, int64_t axis, const std::vector<int64_t>& sizes) {
  const bool same = op.same_quantization(at, 0);
  std::vector<ValueId> inputs = {same ? op.raw(at) : op.real(at)};
  Attributes attributes = {{"axis", axis}};
  if (sizes.empty()) {
    attributes["num_outputs"] = static_cast<int64_t>(op.output_count());
  } else {
    inputs.push_back(op.list(sizes));
  }
  const std::vector<ValueId> ys = op.emit_many("Split", std::move(inputs), std::move(attributes), op.output_count());
  for (size_t i = 0; i < ys.size(); ++i) {
    if (same) {
      op.define_raw(i, ys[i]);
    } else {
      op.define(i, ys[i]);
    }
  }
}

// Rows of (before, after) as ONNX's befores, then afters.
std::vector<int64_t> pads(Op& op) {
  const std::vector<int64_t> rows = op.ints(1);
  if (rows.size() != 2 * op.shape(0).size()) op.fail(rows.size(), " paddings for rank ", op.shape(0).size());
  std::vector<int64_t> result;
  for (size_t half = 0; half < 2; ++half) {
    for (size_t i = half; i < rows.size(); i += 2) result.push_back(rows[i]);
  }
  return result;
}

}  // namespace

void broadcast_to(Op& op) {
  moved(op, 0, [&](ValueId x) { return op.emit("Expand", {x, extents(op, 1)}); });
}

void concatenation(Op& op) {
  using O = ConcatenationOptions;
  const auto o = op.options<O>();
  bool same = o(&O::activation) == Activation::NONE;
  for (size_t i = 0; i < op.input_count(); ++i) same = same && op.same_quantization(i, 0);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.input_count(); ++i) inputs.push_back(same ? op.raw(i) : op.real(i));
  const ValueId y = op.emit("Concat", std::move(inputs), {{"axis", static_cast<int64_t>(o(&O::axis))}});
  if (same) return op.define_raw(0, y);
  op.define(0, op.activated(y, o(&O::activation)));
}

void expand_dims(Op& op) {
  moved(op, 0, [&](ValueId x) { return op.emit("Unsqueeze", {x, op.list({one(op, 1)})}); });
}

namespace {
// x with its first and last elements along one axis once more, in the other order.
ValueId mirrored(Op& op, ValueId x, int64_t axis, int64_t before, int64_t after) {
  const auto slice = [&](int64_t from, int64_t to, int64_t step) {
    return op.emit("Slice", {x, op.list({from}), op.list({to}), op.list({axis}), op.list({step})});
  };
  std::vector<ValueId> parts;
  if (before > 0) parts.push_back(slice(before - 1, INT64_MIN, -1));
  parts.push_back(x);
  if (after > 0) parts.push_back(slice(-1, -after - 1, -1));
  return parts.size() == 1 ? x : op.emit("Concat", parts, {{"axis", axis}});
}
}  // namespace

void mirror_pad(Op& op) {
  const std::vector<int64_t> border = pads(op);
  const bool symmetric = op.options<MirrorPadOptions>()(&MirrorPadOptions::mode) == MirrorMode::SYMMETRIC;
  if (symmetric && *std::max_element(border.begin(), border.end()) > 1) {
    const size_t rank = border.size() / 2;
    return moved(op, 0, [&](ValueId x) {
      for (size_t i = 0; i < rank; ++i) x = mirrored(op, x, static_cast<int64_t>(i), border[i], border[i + rank]);
      return x;
    });
  }
  const std::string mode = symmetric ? "edge" : "reflect";  // one element deep both are the same
  moved(op, 0, [&](ValueId x) { return op.emit("Pad", {x, op.list(border)}, {{"mode", mode}}); });
}

void pack(Op& op) {
  const auto axis = static_cast<int64_t>(op.options<PackOptions>()(&PackOptions::axis));
  bool same = true;
  for (size_t i = 0; i < op.input_count(); ++i) same = same && op.same_quantization(i, 0);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.input_count(); ++i)
    inputs.push_back(op.emit("Unsqueeze", {same ? op.raw(i) : op.real(i), op.list({axis})}));
  const ValueId y = op.emit("Concat", std::move(inputs), {{"axis", axis}});
  if (same) return op.define_raw(0, y);
  op.define(0, y);
}

// PAD with 0, PADV2 with a value of its own.
void pad(Op& op) {
  std::vector<ValueId> inputs = {op.real(0), op.list(pads(op))};
  if (op.has_input(2)) inputs.push_back(op.real(2));
  op.define(0, op.emit("Pad", std::move(inputs)));
}

// Where a shape is computed only because the batch is open: the result's extents as the file declares them, if what is open of
// the input alone decides what is open of the result; else nothing.
std::vector<int64_t> declared_shape(Op& op) {
  const auto fixed_part = [](const std::vector<int64_t>& extents) {
    int64_t product = 1;
    for (int64_t extent : extents) {
      if (extent > 0 && product > INT32_MAX / extent) return int64_t{0};
      if (extent != -1) product *= extent;
    }
    return std::count(extents.begin(), extents.end(), -1) == 1 ? product : 0;
  };
  std::vector<int64_t> wanted = op.output_shape(0);
  const int64_t part = fixed_part(wanted);
  return part > 0 && part == fixed_part(op.shape(0)) ? wanted : std::vector<int64_t>();
}

void reshape(Op& op) {
  ValueId shape;
  std::vector<int64_t> wanted;
  if (!op.has_input(1)) {
    for (int32_t extent : numbers(op.options<ReshapeOptions>()(&ReshapeOptions::new_shape))) wanted.push_back(extent);
    shape = op.list(wanted);
  } else {
    op.without("new_shape");  // the operand counts
    wanted = op.constant(1) != nullptr ? op.ints(1) : declared_shape(op);
    shape = op.constant(1) != nullptr || wanted.empty() ? extents(op, 1) : op.list(wanted);
  }
  Attributes attributes;
  if (std::find(wanted.begin(), wanted.end(), 0) != wanted.end()) attributes["allowzero"] = int64_t{1};
  moved(op, 0, [&](ValueId x) { return op.emit("Reshape", {x, shape}, std::move(attributes)); });
}

void shape(Op& op) {
  const ValueId y = op.emit("Shape", {op.raw(0)});
  op.define_raw(0, op.output_dtype(0) == DType::Int64 ? y : op.to_dtype(y, op.output_dtype(0)));
}

// SLICE: a size of -1 reaches to the end.
namespace {

// From computed places on, or of computed lengths; a length below 0 reaches the end.
void slice_computed(Op& op) {
  const ValueId begin = op.to_dtype(op.raw(1), DType::Int64), size = op.to_dtype(op.raw(2), DType::Int64);
  const ValueId rest = op.emit("Less", {size, op.list({0})});
  const ValueId end = op.emit("Where", {rest, op.list({INT32_MAX}), op.emit("Add", {begin, size})});
  moved(op, 0, [&](ValueId x) { return op.emit("Slice", {x, begin, end}); });
}

}  // namespace

void slice(Op& op) {
  if (op.constant(1) == nullptr || op.constant(2) == nullptr) return slice_computed(op);
  const std::vector<int64_t> begin = op.ints(1), size = op.ints(2);
  if (begin.size() != size.size()) op.fail(begin.size(), " begins, ", size.size(), " sizes");
  std::vector<int64_t> end, axes;
  for (size_t i = 0; i < begin.size(); ++i) {
    end.push_back(size[i] < 0 ? INT32_MAX : begin[i] + size[i]);
    axes.push_back(static_cast<int64_t>(i));
  }
  moved(op, 0, [&](ValueId x) { return op.emit("Slice", {x, op.list(begin), op.list(end), op.list(axes)}); });
}

void split(Op& op) { parts(op, 1, one(op, 0), {}); }
void split_v(Op& op) { parts(op, 0, one(op, 2), op.ints(1)); }

void squeeze(Op& op) {
  std::vector<int64_t> axes;
  for (int32_t axis : numbers(op.options<SqueezeOptions>()(&SqueezeOptions::squeeze_dims))) axes.push_back(axis);
  const std::vector<int64_t> x = op.shape(0);
  for (size_t i = 0; axes.empty() && i < x.size(); ++i) {
    if (x[i] == 1) axes.push_back(static_cast<int64_t>(i));
  }
  moved(op, 0, [&](ValueId v) {
    return axes.empty() ? op.emit("Identity", {v}) : op.emit("Squeeze", {v, op.list(axes)});
  });
}

namespace {
// One entry of a StridedSlice: an axis of its own (`fresh`), or one of the input that is cut and may go.
struct Cut {
  int64_t axis = 0, begin = 0, end = 0, stride = 1;
  bool fresh = false, gone = false;
};

// Bits of the masks: begin or end is left open, the axis keeps one element and goes, is new, or stands for all that are not named.
std::vector<Cut> cuts(Op& op) {
  using O = StridedSliceOptions;
  const auto o = op.options<O>();
  const std::vector<int64_t> begin = op.ints(1), end = op.ints(2), stride = op.ints(3);
  if (o(&O::offset)) op.refuse("ends relative to begins are not read");
  if (begin.size() != end.size() || begin.size() != stride.size() || begin.size() > 31)
    op.fail(begin.size(), " begins, ", end.size(), " ends, ", stride.size(), " strides");
  const auto set = [&](int mask, size_t i) { return ((mask >> i) & 1) != 0; };
  const auto rank = static_cast<int64_t>(op.shape(0).size());
  int64_t named = 0;
  for (size_t i = 0; i < begin.size(); ++i)
    named += set(o(&O::new_axis_mask), i) || set(o(&O::ellipsis_mask), i) ? 0 : 1;
  std::vector<Cut> result;
  int64_t axis = 0;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (set(o(&O::ellipsis_mask), i)) {
      for (int64_t k = named; k < rank; ++k) result.push_back({axis++, 0, INT32_MAX, 1});
      continue;
    }
    if (set(o(&O::new_axis_mask), i)) {
      result.push_back({0, 0, 0, 1, true});
      continue;
    }
    Cut cut{axis++, begin[i], end[i], stride[i]};
    if (cut.stride == 0) op.fail("a stride of 0");
    if (set(o(&O::shrink_axis_mask), i)) {
      cut.end = cut.begin == -1 ? INT32_MAX : cut.begin + 1;
      cut.stride = 1;
      cut.gone = true;
    } else {
      if (set(o(&O::begin_mask), i)) cut.begin = cut.stride > 0 ? 0 : INT32_MAX;
      if (set(o(&O::end_mask), i)) cut.end = cut.stride > 0 ? INT32_MAX : -INT32_MAX;
    }
    result.push_back(cut);
  }
  return result;
}
}  // namespace

void strided_slice(Op& op) {
  std::vector<int64_t> begin, end, stride, axes, gone, fresh;
  int64_t place = 0;
  for (const Cut& cut : cuts(op)) {
    if (cut.fresh) {
      fresh.push_back(place++);
      continue;
    }
    axes.push_back(cut.axis);
    begin.push_back(cut.begin);
    end.push_back(cut.end);
    stride.push_back(cut.stride);
    if (cut.gone) gone.push_back(cut.axis);
    place += cut.gone ? 0 : 1;
  }
  moved(op, 0, [&](ValueId x) {
    ValueId y = op.emit("Slice", {x, op.list(begin), op.list(end), op.list(axes), op.list(stride)});
    if (!gone.empty()) y = op.emit("Squeeze", {y, op.list(gone)});
    return fresh.empty() ? y : op.emit("Unsqueeze", {y, op.list(fresh)});
  });
}

void tile(Op& op) {
  moved(op, 0, [&](ValueId x) { return op.emit("Tile", {x, extents(op, 1)}); });
}

void transpose(Op& op) {
  std::vector<int64_t> perm = op.ints(1);
  moved(op, 0, [&](ValueId x) { return op.transpose(x, perm); });
}

void unpack(Op& op) {
  const auto axis = static_cast<int64_t>(op.options<UnpackOptions>()(&UnpackOptions::axis));
  const bool same = op.same_quantization(0, 0);
  const std::vector<ValueId> ys =
      op.emit_many("Split", {same ? op.raw(0) : op.real(0)},
                   {{"axis", axis}, {"num_outputs", static_cast<int64_t>(op.output_count())}}, op.output_count());
  for (size_t i = 0; i < ys.size(); ++i) {
    const ValueId y = op.emit("Squeeze", {ys[i], op.list({axis})});
    if (same) {
      op.define_raw(i, y);
    } else {
      op.define(i, y);
    }
  }
}

}  // namespace dnn::tflite
