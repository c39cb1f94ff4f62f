// CumSum, CumProd: running sums and products along one axis, in its direction or against it.
//
// Order: element by element in the direction of the axis (reverse: against it), from 0 or 1 on; the 16-bit floats
// accumulate in float32, integers wrap. "exclusive" leaves the element itself out.
#include "ops/elementwise.h"

namespace dnn::cumulative_ops {
namespace {

struct RunningSum {
  static constexpr double kStart = 0;
  template <class T>
  T operator()(T so_far, T x) const {
    return elementwise::add(so_far, x);
  }
};
struct RunningProduct {
  static constexpr double kStart = 1;
  template <class T>
  T operator()(T so_far, T x) const {
    return elementwise::multiply(so_far, x);
  }
};

size_t axis_of(const Node& node, const Tensor& axis, int64_t rank) {
  if (axis.size() != 1) fail_malformed(node.label(), ": axis ", shape_text(axis.shape()), " is not a scalar");
  const int64_t at = to_int64s(axis)[0];
  if (at < -rank || at >= rank) fail_malformed(node.label(), ": axis ", at, " is out of range for rank ", rank);
  return at < 0 ? at + rank : at;
}

void infer(InferContext& context) {
  if (context.has_shape(0) && context.known_input(1) != nullptr)
    axis_of(context.node, *context.known_input(1), static_cast<int64_t>(context.shape(0).size()));
  context.set_output(0, context.input(0));
}

template <class Functor>
void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const size_t axis = axis_of(context.node, context.input(1), x.rank());
  const bool exclusive = flag_attribute(context.node, "exclusive"), reverse = flag_attribute(context.node, "reverse");
  const int64_t n = x.shape()[axis], stride = row_major_strides(x.shape())[axis];
  internal::dispatch_domain<Domain::Numbers>(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Functor functor;
    Tensor y(x.dtype(), x.shape());
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    for (int64_t start = 0; start < x.size(); ++start) {
      if (start / stride % n != 0) continue;  // not the first element of its line
      auto sum = static_cast<Compute<T>>(Functor::kStart);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = start + (reverse ? n - 1 - i : i) * stride;
        const Compute<T> before = sum;
        sum = functor(sum, widen(in[at]));
        out[at] = static_cast<T>(exclusive ? before : sum);
      }
    }
    context.outputs[0] = std::move(y);
  });
}

template <class Functor>
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (!is_float(x->dtype) || !loops::has_arithmetic(x->dtype) || context.constant(1) == nullptr) return;
  const size_t axis = axis_of(context.node, *context.constant(1), static_cast<int64_t>(x->shape.size()));
  const bool exclusive = flag_attribute(context.node, "exclusive"), reverse = flag_attribute(context.node, "reverse");
  std::vector<Expr> at;
  for (size_t i = 0; i < x->shape.size(); ++i) at.push_back(variable(i == axis ? "r" : cat("d", i)));
  if (reverse) at[axis] = constant_int(DType::Int64, x->shape[axis] - 1) - variable("r");
  const BufferRef sum = local_buffer("sum", x->dtype);
  const Stmt step = store(sum, {}, Functor()(load(sum, {}), load(x, at))), result = store(y, at, load(sum, {}));
  Stmt body = block({alloc(sum), store(sum, {}, constant(x->dtype, Functor::kStart)),
                     loop("r", x->shape[axis], exclusive ? block({result, step}) : block({step, result}))});
  for (size_t i = x->shape.size(); i-- > 0;) {
    if (i != axis) body = loop(cat("d", i), x->shape[i], std::move(body));
  }
  context.emit("row", std::move(body));
}

template <class Functor>
OpDef cumulative_op(std::string name, int since) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"exclusive", 0, "without the element itself"}, {"reverse", 0, "from the last element"}};
  op.infer = infer;
  op.reference = reference<Functor>;
  op.lower = lower<Functor>;
  return op;
}

}  // namespace

OpDef define_CumProd() { return cumulative_op<RunningProduct>("CumProd", 26); }
OpDef define_CumSum() { return cumulative_op<RunningSum>("CumSum", 14); }

}  // namespace dnn::cumulative_ops
