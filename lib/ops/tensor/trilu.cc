// Trilu: the upper or lower triangle of matrices, zero elsewhere.
#include "ops/elementwise.h"
#include "ops/movement.h"

namespace dnn::trilu_ops {
namespace {

void infer(InferContext& context) {
  if (context.has_shape(0) && context.shape(0).size() < 2)
    context.fail("input ", context.input(0).text(), " is not a matrix");
  context.set_output(0, context.input(0));
}

// The diagonal, clamped to where it changes something: beyond `limit` all or nothing stays.
int64_t diagonal(const Node& node, const Tensor* k, const Shape& shape) {
  if (k == nullptr) return 0;
  const std::vector<int64_t> values = int_values(node, *k);
  if (values.size() != 1) fail_malformed(node.label(), ": k ", Type(*k).text());
  const int64_t limit = shape[shape.size() - 2] + shape.back();
  return std::clamp(values[0], -limit, limit);
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() < 2) context.fail("input ", Type(x).text(), " is not a matrix");
  const bool upper = flag_attribute(context.node, "upper");
  const int64_t k = diagonal(context.node, context.has_input(1) ? &context.input(1) : nullptr, x.shape());
  const int64_t rows = x.shape()[x.shape().size() - 2], columns = x.shape().back();
  Tensor y(x.dtype(), x.shape());
  for (int64_t row = 0; x.size() > 0 && row < x.size() / columns; ++row) {
    const int64_t edge = row % rows + k;  // the diagonal's column
    const int64_t from = upper ? std::clamp<int64_t>(edge, 0, columns) : 0,
                  to = upper ? columns : std::clamp<int64_t>(edge + 1, 0, columns);
    copy_elements(x, row * columns + from, &y, row * columns + from, to - from);
  }
  context.outputs[0] = std::move(y);
}

void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!has_loops(y) || (context.has_input(1) && context.constant(1) == nullptr)) return;
  const bool upper = flag_attribute(context.node, "upper");
  const int64_t k = diagonal(context.node, context.constant(1), x->shape);
  emit_map(context, y, [&](const std::vector<Expr>& d) {
    const Expr edge = d[d.size() - 2] + k;
    const Expr& column = d.back();
    return loops::select(upper ? column >= edge : column <= edge, load(x, d), constant(x->dtype, 0));
  });
}

}  // namespace

OpDef define_Trilu() {
  OpDef op;
  op.name = "Trilu";
  op.since = 14;
  op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"upper", 1, "the upper triangle, not the lower"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  return op;
}

}  // namespace dnn::trilu_ops
