// Expand and Tile: the elements of a tensor repeated along its axes.
#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/movement.h"

namespace dnn::expand_ops {
namespace {

std::vector<Dim> expanded_dims(const Node& node, const std::vector<Dim>& in, const std::vector<int64_t>& wanted) {
  element_count(wanted);  // refuses negative extents
  return broadcast_dims(node, in, to_dims(wanted));
}

void infer_expand(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const std::vector<Dim>& in = context.shape(0);
    if (const auto wanted = known_ints(context, 1)) {
      type.shape = expanded_dims(context.node, in, *wanted);
    } else if (const int64_t rank = known_length(context, 1); rank >= 0) {
      type.shape = std::vector<Dim>(std::max(in.size(), static_cast<size_t>(rank)));
    }
  }
  context.set_output(0, std::move(type));
}

void reference_expand(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Shape shape =
      to_shape(expanded_dims(context.node, to_dims(x.shape()), int_values(context.node, context.input(1))));
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  const size_t added = shape.size() - x.shape().size();
  context.outputs[0] = pick(x, shape, [&](size_t axis, int64_t i) {
    return axis < added || x.shape()[axis - added] == 1 ? 0 : i * stride[axis - added];
  });
}

void lower_expand(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0];
  if (!has_loops(context.outputs[0])) return;
  emit_map(context, context.outputs[0], [&](const std::vector<loops::Expr>& indices) {
    return loops::load(x, broadcast_indices(x->shape, indices));
  });
}

std::vector<Dim> tiled_dims(const Node& node, const std::vector<Dim>& in, const std::vector<int64_t>& repeats) {
  if (repeats.size() != in.size())
    fail_malformed(node.label(), ": ", repeats.size(), " repeats for ", Type({}, in).text());
  std::vector<Dim> out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (repeats[i] < 0) fail_malformed(node.label(), ": repeats ", shape_text(repeats));
    out.push_back(repeats[i] == 1 ? in[i] : in[i].fixed() ? Dim(element_count({in[i].size, repeats[i]})) : Dim());
  }
  return out;
}

void infer_tile(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const std::vector<Dim>& in = context.shape(0);
    if (const auto repeats = known_ints(context, 1)) {
      type.shape = tiled_dims(context.node, in, *repeats);
    } else {
      type.shape = std::vector<Dim>(in.size());
    }
  }
  context.set_output(0, std::move(type));
}

void reference_tile(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const Shape shape =
      to_shape(tiled_dims(context.node, to_dims(x.shape()), int_values(context.node, context.input(1))));
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  context.outputs[0] = pick(x, shape, [&](size_t axis, int64_t i) { return i % x.shape()[axis] * stride[axis]; });
}

void lower_tile(LowerContext& context) {
  const loops::BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!has_loops(y)) return;
  emit_map(context, y, [&](const std::vector<loops::Expr>& indices) {
    std::vector<loops::Expr> source;
    for (size_t i = 0; i < indices.size(); ++i) {
      source.push_back(y->shape[i] == x->shape[i] ? indices[i] : loops::floormod(indices[i], x->shape[i]));
    }
    return loops::load(x, source);
  });
}

OpDef define(std::string name, void (*infer)(InferContext&), void (*reference)(ReferenceContext&),
             void (*lower)(LowerContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = 13;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.picks = picks_from_first;
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  return op;
}

}  // namespace

OpDef define_Expand() {
  OpDef op = define("Expand", infer_expand, reference_expand, lower_expand);
  op.gradient = [](GradientContext& context) {
    if (context.wants(0)) context.set(0, sum_to(context.build, context.dy(), context.build.shape(context.input(0))));
  };
  return op;
}
OpDef define_Tile() { return define("Tile", infer_tile, reference_tile, lower_tile); }

}  // namespace dnn::expand_ops
