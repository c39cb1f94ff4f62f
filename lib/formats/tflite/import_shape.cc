// Moving elements. Where input and output share one quantisation, the stored numbers move; else real ones, quantised anew.
#include <algorithm>

#include "formats/tflite/imports.h"

namespace dnn::tflite {
namespace {

// Applies `steps` to input `at` and makes output 0 of it.
template <class Steps>
void moved(Op& op, size_t at, const Steps& steps) {
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

// Input i as a list of int64, computed or not.
ValueId extents(Op& op, size_t i) {
  return op.constant(i) != nullptr ? op.list(op.ints(i)) : op.to_dtype(op.raw(i), DType::Int64);
}

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
  const auto* o = op.options<ConcatenationOptions>();
  bool same = o->activation() == Activation::NONE;
  for (size_t i = 0; i < op.input_count(); ++i) same = same && op.same_quantization(i, 0);
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < op.input_count(); ++i) inputs.push_back(same ? op.raw(i) : op.real(i));
  const ValueId y = op.emit("Concat", std::move(inputs), {{"axis", static_cast<int64_t>(o->axis())}});
  if (same) return op.define_raw(0, y);
  op.define(0, op.activated(y, o->activation()));
}

void expand_dims(Op& op) {
  moved(op, 0, [&](ValueId x) { return op.emit("Unsqueeze", {x, op.list({one(op, 1)})}); });
}

void gather(Op& op) {
  const auto* o = op.options<GatherOptions>();
  if (o->batch_dims() != 0) op.refuse("batch_dims ", o->batch_dims(), " is not read");
  moved(op, 0, [&](ValueId x) {
    return op.emit("Gather", {x, op.raw(1)}, {{"axis", static_cast<int64_t>(o->axis())}});
  });
}

void mirror_pad(Op& op) {
  const std::vector<int64_t> border = pads(op);
  std::string mode = "reflect";
  if (op.options<MirrorPadOptions>()->mode() == MirrorMode::SYMMETRIC) {  // one element deep it repeats the edge
    if (*std::max_element(border.begin(), border.end()) > 1) op.refuse("symmetric padding deeper than 1 is not read");
    mode = "edge";
  }
  moved(op, 0, [&](ValueId x) { return op.emit("Pad", {x, op.list(border)}, {{"mode", mode}}); });
}

void pack(Op& op) {
  const auto axis = static_cast<int64_t>(op.options<PackOptions>()->axis());
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
    for (int32_t extent : numbers(op.options<ReshapeOptions>()->new_shape())) wanted.push_back(extent);
    shape = op.list(wanted);
  } else {
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
void slice(Op& op) {
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
  for (int32_t axis : numbers(op.options<SqueezeOptions>()->squeeze_dims())) axes.push_back(axis);
  const std::vector<int64_t> x = op.shape(0);
  for (size_t i = 0; axes.empty() && i < x.size(); ++i) {
    if (x[i] == 1) axes.push_back(static_cast<int64_t>(i));
  }
  moved(op, 0, [&](ValueId v) {
    return axes.empty() ? op.emit("Identity", {v}) : op.emit("Squeeze", {v, op.list(axes)});
  });
}

// Bits of the masks: begin or end is left open, or the axis keeps one element and goes.
void strided_slice(Op& op) {
  const auto* o = op.options<StridedSliceOptions>();
  std::vector<int64_t> begin = op.ints(1), end = op.ints(2), stride = op.ints(3), axes, gone;
  if (o->ellipsis_mask() != 0 || o->new_axis_mask() != 0) op.refuse("ellipsis and new axes are not read");
  if (o->offset()) op.refuse("ends relative to begins are not read");
  if (begin.size() != end.size() || begin.size() != stride.size() || begin.size() > 31)
    op.fail(begin.size(), " begins, ", end.size(), " ends, ", stride.size(), " strides");
  for (size_t i = 0; i < begin.size(); ++i) {
    const auto bit = static_cast<int64_t>(1) << i;
    axes.push_back(static_cast<int64_t>(i));
    if (stride[i] == 0) op.fail("a stride of 0");
    if ((o->shrink_axis_mask() & bit) != 0) {
      end[i] = begin[i] == -1 ? INT32_MAX : begin[i] + 1;
      stride[i] = 1;
      gone.push_back(static_cast<int64_t>(i));
      continue;
    }
    if ((o->begin_mask() & bit) != 0) begin[i] = stride[i] > 0 ? 0 : INT32_MAX;
    if ((o->end_mask() & bit) != 0) end[i] = stride[i] > 0 ? INT32_MAX : -INT32_MAX;
  }
  moved(op, 0, [&](ValueId x) {
    const ValueId y = op.emit("Slice", {x, op.list(begin), op.list(end), op.list(axes), op.list(stride)});
    return gone.empty() ? y : op.emit("Squeeze", {y, op.list(gone)});
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
  const auto axis = static_cast<int64_t>(op.options<UnpackOptions>()->axis());
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
