// OneHot: a new axis of `depth` places, one of which per index holds the on-value; an index out of range has none.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/movement.h"

namespace dnn::onehot_ops {
namespace {

// Position of the new axis among rank + 1 axes.
size_t new_axis(const Node& node, size_t rank) {
  return checked_axes(node, {int_attribute(node, "axis")}, rank + 1)[0];
}

int64_t checked_depth(const Node& node, const Tensor& depth) {
  if (depth.size() != 1 || to_int64s(depth)[0] < 0) fail_malformed(node.label(), ": depth ", Type(depth).text());
  return to_int64s(depth)[0];
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(2).dtype;
  if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    const size_t axis = new_axis(context.node, dims.size());
    const Tensor* depth = context.known_input(1);
    dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis),
                depth == nullptr ? Dim() : Dim(checked_depth(context.node, *depth)));
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

void reference(ReferenceContext& context) {
  const Tensor &indices = context.input(0), &values = context.input(2);
  const size_t axis = new_axis(context.node, indices.shape().size());
  const int64_t depth = checked_depth(context.node, context.input(1));
  if (values.size() != 2) context.fail("values ", Type(values).text(), ", an off and an on value expected");
  Shape shape = indices.shape();
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), depth);
  if (element_count(shape) > (int64_t{1} << 40)) context.fail("output ", shape_text(shape), " does not fit in memory");
  std::vector<int64_t> places(element_count(shape), 0);
  int64_t inner = 1;
  for (size_t i = axis; i < indices.shape().size(); ++i) inner *= indices.shape()[i];
  const std::vector<int64_t> wanted = to_int64s(indices);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] < -depth || wanted[i] >= depth) continue;
    const int64_t place = wanted[i] < 0 ? wanted[i] + depth : wanted[i], at = static_cast<int64_t>(i);
    places[(at / inner * depth + place) * inner + at % inner] = 1;
  }
  context.outputs[0] = take(values, shape, places);
}

void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef indices = context.inputs[0], values = context.inputs[2], y = context.outputs[0];
  if (!has_loops(y) || !is_integer(indices->dtype) || dtype_bits(indices->dtype) < 8 || indices->dtype == DType::UInt64)
    return;
  const size_t axis = new_axis(context.node, indices->shape.size());
  emit_map(context, y, [&](const std::vector<Expr>& d) {
    std::vector<Expr> source = d;
    source.erase(source.begin() + static_cast<std::ptrdiff_t>(axis));
    const Expr index = cast(DType::Int64, load(indices, source));
    const Expr hit = index == d[axis] || index + y->shape[axis] == d[axis];
    return loops::select(hit, load(values, {1}), load(values, {0}));
  });
}

}  // namespace

OpDef define_OneHot() {
  OpDef op;
  op.name = "OneHot";
  op.since = 28;
  op.min_inputs = op.max_inputs = 3;
  op.traits = {Trait::Moves};
  op.attributes = {{"axis", -1, "axis that is added"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  return op;
}

}  // namespace dnn::onehot_ops
