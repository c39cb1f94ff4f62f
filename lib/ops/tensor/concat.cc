// Concat: tensors one after another along an axis.
#include "ops/gradient.h"
#include "ops/movement.h"
#include "ops/permute.h"

namespace dnn::concat_ops {
namespace {

int64_t concat_axis(const Node& node, size_t rank) {
  if (!node.has_attribute("axis")) fail_malformed(node.label(), ": attribute 'axis' is missing");
  if (rank == 0) fail_malformed(node.label(), ": scalars have no axis to join");
  return checked_axes(node, {int_attribute(node, "axis")}, rank)[0];
}

// Extents of the result; the inputs agree on all axes but `axis`.
std::vector<Dim> joined(const Node& node, const std::vector<const std::vector<Dim>*>& inputs, size_t axis) {
  std::vector<Dim> out = *inputs[0];
  Shape along;
  bool known = true;
  for (const std::vector<Dim>* in : inputs) {
    if (in->size() != out.size())
      fail_malformed(node.label(), ": ", Type({}, *inputs[0]).text(), " and ", Type({}, *in).text(), " differ in rank");
    for (size_t i = 0; i < out.size(); ++i) {
      const Dim& dim = (*in)[i];
      if (i == axis) {
        known = known && dim.fixed();
        along.push_back(dim.size);
      } else if (out[i].fixed() && dim.fixed() && out[i].size != dim.size) {
        fail_malformed(node.label(), ": ", Type({}, *inputs[0]).text(), " and ", Type({}, *in).text(),
                       " differ beside axis ", axis);
      } else if (!out[i].fixed() && (dim.fixed() || out[i].symbol.empty())) {
        out[i] = dim;
      }
    }
  }
  if (inputs.size() == 1) return out;
  int64_t total = 0;
  for (int64_t extent : along) {
    if (known && __builtin_add_overflow(total, extent, &total)) fail_malformed(node.label(), ": too many elements");
  }
  out[axis] = known ? Dim(total) : Dim();
  return out;
}

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  std::vector<const std::vector<Dim>*> shapes;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Type& input = context.input(i);
    if (type.dtype == DType::Undefined) type.dtype = input.dtype;
    if (input.dtype != DType::Undefined && input.dtype != type.dtype)
      context.fail("inputs of ", dtype_name(type.dtype), " and ", dtype_name(input.dtype));
    if (input.shape) shapes.push_back(&*input.shape);
  }
  if (!shapes.empty()) {
    const size_t axis = concat_axis(context.node, shapes[0]->size());
    std::vector<Dim> dims = joined(context.node, shapes, axis);
    if (shapes.size() < context.inputs.size()) dims[axis] = Dim();
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

void reference(ReferenceContext& context) {
  std::vector<std::vector<Dim>> dims;
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Tensor& input = context.input(i);
    if (input.dtype() != context.input(0).dtype())
      context.fail("inputs of ", dtype_name(context.input(0).dtype()), " and ", dtype_name(input.dtype()));
    dims.push_back(to_dims(input.shape()));
  }
  std::vector<const std::vector<Dim>*> shapes;
  for (const auto& shape : dims) shapes.push_back(&shape);
  const size_t axis = concat_axis(context.node, dims[0].size());
  Tensor y(context.input(0).dtype(), to_shape(joined(context.node, shapes, axis)));
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= y.shape()[i];
  for (size_t i = axis + 1; i < y.shape().size(); ++i) inner *= y.shape()[i];
  const int64_t row = y.shape()[axis] * inner;
  int64_t target = 0;
  for (size_t i = 0; i < context.inputs.size() && y.size() > 0; ++i) {
    const Tensor& input = context.input(i);
    const int64_t n = input.shape()[axis] * inner;
    for (int64_t o = 0; o < outer; ++o) copy_elements(input, o * n, &y, o * row + target, n);
    target += n;
  }
  context.outputs[0] = std::move(y);
}

// One stage per input, its loops over that input's extents.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef y = context.outputs[0];
  if (!has_loops(y)) return;
  const size_t axis = concat_axis(context.node, y->shape.size());
  int64_t start = 0;
  for (const BufferRef& x : context.inputs) {
    const std::vector<Expr> source = map_variables(x->shape.size());
    std::vector<Expr> target = source;
    if (start > 0) target[axis] = target[axis] + start;
    Stmt body = store(y, target, load(x, source));
    for (size_t i = x->shape.size(); i-- > 0;) body = loop(cat("d", i), x->shape[i], std::move(body));
    if (element_count(x->shape) > 0) context.emit("map", std::move(body));
    start += x->shape[axis];
  }
}

void gradient(GradientContext& context) {
  GraphBuilder& build = context.build;
  const size_t axis = concat_axis(context.node, build.shape(context.dy()).size());
  int64_t start = 0;
  for (size_t i = 0; i < context.node.inputs.size(); ++i) {
    const int64_t count = build.shape(context.input(i))[axis];
    if (context.wants(i)) context.set(i, strided_slice(build, context.dy(), axis, start, count, 1));
    start += count;
  }
}

}  // namespace

OpDef define_Concat() {
  OpDef op;
  op.name = "Concat";
  op.since = 13;
  op.max_inputs = -1;
  op.traits = {Trait::Moves};
  op.attributes = {{"axis", required(AttributeType::Int), "axis that is joined"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.gradient = gradient;
  op.permute = permute_axis;
  op.permuted_inputs = -1;
  op.picks = picks_from_all;
  return op;
}

}  // namespace dnn::concat_ops
