// Slice and Split: parts of a tensor along its axes.
#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/movement.h"
#include "ops/permute.h"

namespace dnn::slice_ops {
namespace {

// Elements start, start + step, ... of one axis.
struct Range {
  int64_t start = 0, step = 1, count = 0;
};

// What start and end mean on an axis of `extent`, by the clamping rules of Slice.
Range sliced(const Node& node, int64_t start, int64_t end, int64_t step, int64_t extent) {
  if (step == 0) fail_malformed(node.label(), ": a step of 0");
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  Range range;
  range.step = step;
  if (step > 0) {
    range.start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    if (end > range.start) range.count = (end - range.start - 1) / step + 1;
  } else {
    range.start = std::clamp<int64_t>(start, 0, std::max<int64_t>(extent - 1, 0));
    end = std::clamp<int64_t>(end, -1, extent - 1);
    const uint64_t back = uint64_t{0} - static_cast<uint64_t>(step);
    if (end < range.start) range.count = static_cast<int64_t>(static_cast<uint64_t>(range.start - end - 1) / back) + 1;
  }
  return range;
}

struct SliceInputs {
  std::vector<int64_t> starts, ends, axes, steps;

  void complete(const Node& node, size_t rank, bool has_axes, bool has_steps) {
    if (!has_axes) {
      for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
    }
    if (!has_steps) steps.assign(starts.size(), 1);
    if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
      fail_malformed(node.label(), ": ", starts.size(), " starts, ", ends.size(), " ends, ", axes.size(), " axes, ",
                     steps.size(), " steps");
    }
    axes = checked_axes(node, std::move(axes), rank);
  }
};

void infer_slice(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    const auto starts = known_ints(context, 1), ends = known_ints(context, 2);
    const auto axes = context.has_input(3) ? known_ints(context, 3) : std::vector<int64_t>();
    const auto steps = context.has_input(4) ? known_ints(context, 4) : std::vector<int64_t>();
    if (starts && ends && axes && steps) {
      SliceInputs slice{*starts, *ends, *axes, *steps};
      slice.complete(context.node, dims.size(), context.has_input(3), context.has_input(4));
      for (size_t i = 0; i < slice.axes.size(); ++i) {
        Dim& dim = dims[slice.axes[i]];
        if (dim.fixed()) {
          dim = Dim(sliced(context.node, slice.starts[i], slice.ends[i], slice.steps[i], dim.size).count);
        } else if (slice.starts[i] != 0 || slice.ends[i] < INT32_MAX || slice.steps[i] != 1) {
          dim = Dim();
        }
      }
    } else if (context.has_input(3) && axes) {
      for (int64_t axis : checked_axes(context.node, *axes, dims.size())) dims[axis] = Dim();
    } else {
      dims.assign(dims.size(), Dim());
    }
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

std::vector<Range> ranges(const Node& node, const Shape& shape, SliceInputs slice, bool has_axes, bool has_steps) {
  slice.complete(node, shape.size(), has_axes, has_steps);
  std::vector<Range> result;
  for (int64_t extent : shape) result.push_back({0, 1, extent});
  for (size_t i = 0; i < slice.axes.size(); ++i) {
    const size_t axis = slice.axes[i];
    result[axis] = sliced(node, slice.starts[i], slice.ends[i], slice.steps[i], shape[axis]);
  }
  return result;
}

Tensor cut(const Tensor& x, const std::vector<Range>& ranges) {
  Shape shape;
  for (const Range& range : ranges) shape.push_back(range.count);
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  return pick(x, shape,
              [&](size_t axis, int64_t i) { return (ranges[axis].start + i * ranges[axis].step) * stride[axis]; });
}

void reference_slice(ReferenceContext& context) {
  auto values = [&](size_t i) {
    return context.has_input(i) ? int_values(context.node, context.input(i)) : std::vector<int64_t>();
  };
  context.input(1);
  context.input(2);
  const Tensor& x = context.input(0);
  context.outputs[0] = cut(x, ranges(context.node, x.shape(), {values(1), values(2), values(3), values(4)},
                                     context.has_input(3), context.has_input(4)));
}

void emit_cut(LowerContext& context, const loops::BufferRef& y, const std::vector<Range>& ranges) {
  const loops::BufferRef x = context.inputs[0];
  emit_map(context, y, [&](const std::vector<loops::Expr>& indices) {
    std::vector<loops::Expr> source;
    for (size_t i = 0; i < indices.size(); ++i) {
      loops::Expr index = ranges[i].step == 1 || ranges[i].count == 1 ? indices[i] : indices[i] * ranges[i].step;
      if (ranges[i].start != 0) index = index + ranges[i].start;
      source.push_back(index);
    }
    return loops::load(x, source);
  });
}

// Only where the bounds are known: their values are part of the loops.
void lower_slice(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0];
  if (!has_loops(context.outputs[0])) return;
  std::vector<int64_t> values[4];
  for (size_t i = 1; i <= 4; ++i) {
    if (!context.has_input(i)) continue;
    if (context.constant(i) == nullptr) return;
    values[i - 1] = int_values(context.node, *context.constant(i));
  }
  emit_cut(context, context.outputs[0],
           ranges(context.node, x->shape, {values[0], values[1], values[2], values[3]}, context.has_input(3),
                  context.has_input(4)));
}

// Extents of Split's outputs along its axis.
std::vector<int64_t> split_extents(const Node& node, int64_t extent, const std::vector<int64_t>* split) {
  const auto n = static_cast<int64_t>(node.outputs.size());
  std::vector<int64_t> result;
  int64_t rest = extent;
  if (split != nullptr) {
    if (node.has_attribute("num_outputs"))
      fail_malformed(node.label(), ": both input 'split' and attribute 'num_outputs'");
    result = *split;
    for (int64_t part : result) {
      if (part < 0 || part > rest)
        fail_malformed(node.label(), ": split ", shape_text(result), " of an extent of ", extent);
      rest -= part;
    }
    if (rest != 0 || static_cast<int64_t>(result.size()) != n)
      fail_malformed(node.label(), ": split ", shape_text(result), " of an extent of ", extent, " for ", n, " outputs");
    return result;
  }
  if (n == 0 || (node.has_attribute("num_outputs") && int_attribute(node, "num_outputs") != n))
    fail_malformed(node.label(), ": num_outputs is ", int_attribute(node, "num_outputs"), ", the node has ", n);
  const int64_t part = extent / n + (extent % n != 0 ? 1 : 0);
  for (int64_t i = 0; i < n; ++i) {
    result.push_back(std::min(part, rest));
    rest -= result.back();
  }
  return result;
}

void infer_split(InferContext& context) {
  const Type& input = context.input(0);
  std::vector<std::optional<Dim>> parts(context.outputs.size());
  size_t axis = 0;
  const auto known = known_ints(context, 1);
  if (input.shape) {
    if (input.shape->empty()) context.fail("a scalar has no axis to split");
    axis = static_cast<size_t>(context.axis(int_attribute(context.node, "axis"), context.shape(0).size()));
    const Dim& dim = (*input.shape)[axis];
    if (dim.fixed() && (known || !context.has_input(1))) {
      const std::vector<int64_t> extents = split_extents(context.node, dim.size, known ? &*known : nullptr);
      for (size_t i = 0; i < parts.size(); ++i) parts[i] = Dim(extents[i]);
    } else if (known && known->size() == parts.size()) {
      for (size_t i = 0; i < parts.size(); ++i) {
        if ((*known)[i] < 0) context.fail("split ", shape_text(*known));
        parts[i] = Dim((*known)[i]);
      }
    }
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    Type type;
    type.dtype = input.dtype;
    if (input.shape) {
      type.shape = input.shape;
      (*type.shape)[axis] = parts[i].value_or(Dim());
    }
    context.set_output(i, std::move(type));
  }
}

std::vector<std::vector<Range>> split_ranges(const Node& node, const Shape& shape, const std::vector<int64_t>* split) {
  if (shape.empty()) fail_malformed(node.label(), ": a scalar has no axis to split");
  const size_t axis = checked_axes(node, {int_attribute(node, "axis")}, shape.size())[0];
  std::vector<std::vector<Range>> result;
  int64_t start = 0;
  for (int64_t part : split_extents(node, shape[axis], split)) {
    std::vector<Range> ranges;
    for (int64_t extent : shape) ranges.push_back({0, 1, extent});
    ranges[axis] = {start, 1, part};
    start += part;
    result.push_back(std::move(ranges));
  }
  return result;
}

void reference_split(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  std::vector<int64_t> split;
  if (context.has_input(1)) split = int_values(context.node, context.input(1));
  const auto parts = split_ranges(context.node, x.shape(), context.has_input(1) ? &split : nullptr);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (context.wants_output(i)) context.outputs[i] = cut(x, parts[i]);
  }
}

// One stage per output.
void lower_split(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0];
  if (!has_loops(x) || (context.has_input(1) && context.constant(1) == nullptr)) return;
  std::vector<int64_t> split;
  if (context.has_input(1)) split = int_values(context.node, *context.constant(1));
  const auto parts = split_ranges(context.node, x->shape, context.has_input(1) ? &split : nullptr);
  for (size_t i = 0; i < parts.size() && i < context.outputs.size(); ++i) {
    if (context.outputs[i] != nullptr && has_loops(context.outputs[i])) emit_cut(context, context.outputs[i], parts[i]);
  }
}

// Zeros in place of what was cut off.
void gradient_slice(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  std::vector<int64_t> values[4];
  for (size_t i = 1; i < 5; ++i) {
    if (context.input(i) == kNoValue) continue;
    const Tensor* known = build.known(context.input(i));
    if (known == nullptr) fail_unsupported(context.node.label(), ": a gradient needs bounds that are constant");
    values[i - 1] = to_int64s(*known);
  }
  const Shape shape = build.shape(context.input(0));
  const std::vector<Range> cuts = ranges(context.node, shape, {values[0], values[1], values[2], values[3]},
                                         context.input(3) != kNoValue, context.input(4) != kNoValue);
  ValueId dx = context.dy();
  std::vector<int64_t> begin, end;
  std::vector<size_t> axes;
  std::vector<int64_t> steps;
  for (size_t i = 0; i < shape.size(); ++i) {
    Range range = cuts[i];
    if (range.step < 0) {
      dx = reversed(build, dx, i);
      range = {range.start + (range.count - 1) * range.step, -range.step, range.count};
    }
    axes.push_back(i);
    steps.push_back(range.count > 1 ? range.step : 1);
    begin.push_back(range.start);
    end.push_back(shape[i] - range.start - range.count * steps.back());
  }
  context.set(0, pad_with_zeros(build, spread(build, dx, axes, steps), begin, end));
}

void gradient_split(GradientContext& context) {
  if (!context.wants(0)) return;
  std::vector<ValueId> parts;
  for (size_t i = 0; i < context.node.outputs.size(); ++i) {
    if (context.output(i) == kNoValue) fail_unsupported(context.node.label(), ": a gradient needs all its outputs");
    const ValueId dy = context.output_gradients[i];
    parts.push_back(dy != kNoValue ? dy : zeros_like(context.build, context.output(i)));
  }
  context.set(0, context.build.emit("Concat", parts, {{"axis", int_attribute(context.node, "axis")}}));
}

}  // namespace

OpDef define_Slice() {
  OpDef op;
  op.name = "Slice";
  op.since = 13;
  op.min_inputs = 3;
  op.max_inputs = 5;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.infer = infer_slice;
  op.reference = reference_slice;
  op.lower = lower_slice;
  op.gradient = gradient_slice;
  op.permute = permute_sliced_axes;
  return op;
}

OpDef define_Split() {
  OpDef op;
  op.name = "Split";
  op.since = 18;
  op.max_inputs = 2;
  op.max_outputs = -1;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.attributes = {{"axis", 0, "axis that is split"},
                   {"num_outputs", optional(AttributeType::Int),
                    "equal parts, the last may be smaller; left out: as many as the node has outputs"}};
  op.infer = infer_split;
  op.reference = reference_split;
  op.lower = lower_split;
  op.gradient = gradient_split;
  op.permute = permute_axis;
  return op;
}

}  // namespace dnn::slice_ops
