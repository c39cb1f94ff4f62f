// GlobalAveragePool, GlobalMaxPool, GlobalLpPool: one value per plane.
//
// Order (reference, and compiled at -O0): the plane's elements in row-major order. Average: sum, then divide by their
// number. Max: from the lowest value on, `best > x ? best : x`. Lp: sum of |x|^p (x*x for p = 2), then the root.
#include <cmath>
#include <limits>

#include "ops/gradient.h"
#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::global_pool_ops {
namespace {

enum class Kind : uint8_t { Max, Average, Lp };

// x: [N, C, D...] -> y: [N, C, 1...]
void infer(InferContext& context) {
  expect_float(context, 0);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.has_shape(0)) {
    const auto& x = context.shape(0);
    if (x.size() < 2) context.fail("input ", context.input(0).text(), " has no channels");
    std::vector<Dim> out(x.size(), Dim(1));
    out[0] = x[0];
    out[1] = x[1];
    type.shape = std::move(out);
  }
  context.set_output(0, std::move(type));
}

int64_t lp_power(const Node& node) {
  const int64_t p = int_attribute(node, "p");
  if (p < 1) fail_malformed(node.label(), ": p ", p, " must be at least 1");
  return p;
}

int64_t plane_size(const Shape& shape) { return element_count({shape.begin() + 2, shape.end()}); }

template <Kind kind>
void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  const int64_t p = kind == Kind::Lp ? lp_power(context.node) : 0, size = plane_size(x.shape());
  dispatch_float(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    const T* in = x.data<T>();
    T* out = y.mutable_data<T>();
    for (int64_t plane = 0; plane < y.size(); ++plane, in += size) {
      C sum = kind == Kind::Max ? -std::numeric_limits<C>::infinity() : C(0);
      for (int64_t i = 0; i < size; ++i) {
        const C value = widen(in[i]);
        if constexpr (kind == Kind::Max) {
          sum = sum > value ? sum : value;
        } else if constexpr (kind == Kind::Average) {
          sum += value;
        } else {
          sum += p == 1 ? std::fabs(value) : p == 2 ? value * value : std::pow(std::fabs(value), static_cast<C>(p));
        }
      }
      if (kind == Kind::Average) sum = sum / static_cast<C>(size);
      if (p == 2) sum = std::sqrt(sum);
      if (p > 2) sum = std::pow(sum, C(1) / static_cast<C>(p));
      out[plane] = narrow<T>(sum);
    }
  });
  context.outputs[0] = std::move(y);
}

// Loops n, c, then the plane's axes k0..
template <Kind kind>
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  std::vector<Expr> x_index = {variable("n"), variable("c")}, y_index = x_index;
  for (size_t i = 2; i < x->shape.size(); ++i) {
    x_index.push_back(variable(cat("k", i - 2)));
    y_index.push_back(constant_int(DType::Int64, 0));
  }
  const int64_t p = kind == Kind::Lp ? lp_power(context.node) : 0;
  Expr value = load(x, x_index);
  if (p == 2) value = value * value;
  if (p == 1 || p > 2) value = unary(Op::Abs, value);
  if (p > 2) value = binary(Op::Pow, value, constant(dtype, static_cast<double>(p)));
  const BufferRef sum = local_buffer(kind == Kind::Max ? "best" : "sum", dtype);
  const Expr so_far = load(sum, {});
  Stmt reduce = store(sum, {}, kind == Kind::Max ? loops::max(so_far, value) : so_far + value);
  for (size_t i = x->shape.size(); i-- > 2;) reduce = loop(cat("k", i - 2), x->shape[i], std::move(reduce));
  Expr result = so_far;
  if (kind == Kind::Average) result = result / constant(dtype, static_cast<double>(plane_size(x->shape)));
  if (p == 2) result = unary(Op::Sqrt, result);
  if (p > 2) {
    const double root = dtype == DType::Float64 ? 1.0 / static_cast<double>(p) : double{1.0f / static_cast<float>(p)};
    result = binary(Op::Pow, result, constant(dtype, root));
  }
  const Expr start = constant(dtype, kind == Kind::Max ? -std::numeric_limits<double>::infinity() : 0.0);
  Stmt body = block({alloc(sum), store(sum, {}, start), std::move(reduce), store(y, y_index, result)});
  context.emit("reduce", loop("n", x->shape[0], loop("c", x->shape[1], std::move(body))));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return static_cast<double>(element_count(inputs[0]));
}

void gradient_average(GradientContext& context) {
  if (!context.wants(0)) return;
  GraphBuilder& build = context.build;
  const Shape shape = build.shape(context.input(0));
  const ValueId size = build.number(static_cast<double>(plane_size(shape)), build.dtype(context.dy()));
  context.set(0, expand_to(build, build.emit("Div", {context.dy(), size}), shape));
}

template <Kind kind>
OpDef pool(std::string name) {
  OpDef op;
  op.name = std::move(name);
  op.since = 22;
  op.traits = kind == Kind::Max ? Traits{Trait::ChannelsFirst, Trait::Moves} : Traits{Trait::ChannelsFirst};
  op.infer = infer;
  op.reference = reference<kind>;
  op.lower = lower<kind>;
  op.flops = flops;
  if (kind == Kind::Average) op.gradient = gradient_average;
  return op;
}

}  // namespace

OpDef define_GlobalMaxPool() { return pool<Kind::Max>("GlobalMaxPool"); }
OpDef define_GlobalAveragePool() { return pool<Kind::Average>("GlobalAveragePool"); }
OpDef define_GlobalLpPool() {
  return with_attributes(pool<Kind::Lp>("GlobalLpPool"), {{"p", 2, "exponent of the norm"}});
}

}  // namespace dnn::global_pool_ops
