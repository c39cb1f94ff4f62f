// Gemm: Y = alpha * A' * B' + beta * C, where A' and B' may be transposed and C broadcasts to Y.
//
// Order (reference, and compiled at -O0): the product is summed over k from 0 on; then it is multiplied by alpha (unless
// that is 1) and beta * C (C itself where beta is 1) is added.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/multiply.h"
#include "ops/outputs.h"

namespace dnn::gemm_ops {
namespace {

// a: [M, K] (transA: [K, M]), b: [K, N] (transB: [N, K]), c broadcasts to y: [M, N]
struct Form {
  explicit Form(const Node& node)
      : transpose_a(flag_attribute(node, "transA")),
        transpose_b(flag_attribute(node, "transB")),
        alpha(float_attribute(node, "alpha")),
        beta(float_attribute(node, "beta")) {}
  bool transpose_a, transpose_b;
  float alpha, beta;
};

void infer(InferContext& context) {
  const Form form(context.node);
  Type type;
  type.dtype = context.input(0).dtype;
  expect_dtype(context, 1, type.dtype);
  expect_dtype(context, 2, type.dtype);
  std::vector<Dim> out(2);
  if (context.has_shape(0)) out[0] = context.shape(0, 2)[form.transpose_a ? 1 : 0];
  if (context.has_shape(1)) out[1] = context.shape(1, 2)[form.transpose_b ? 0 : 1];
  if (context.has_shape(0) && context.has_shape(1)) {
    const Dim ka = context.shape(0)[form.transpose_a ? 0 : 1], kb = context.shape(1)[form.transpose_b ? 1 : 0];
    if (ka.fixed() && kb.fixed() && ka.size != kb.size)
      context.fail("operands ", context.input(0).text(), " and ", context.input(1).text(), " do not multiply");
  }
  if (context.has_shape(2)) {
    const auto& c = context.shape(2);
    if (c.size() > 2) context.fail("C is ", context.input(2).text(), ", at most two axes expected");
    for (size_t i = 0; i < c.size(); ++i) {
      const Dim& to = out[2 - c.size() + i];
      if (c[i].fixed() && c[i].size != 1 && to.fixed() && to.size != c[i].size)
        context.fail("C of ", context.input(2).text(), " does not broadcast to ", Type(type.dtype, out).text());
    }
  }
  type.shape = std::move(out);
  context.set_output(0, std::move(type));
}

// alpha or beta as a number of T's; Unsupported where an integer product would need a fraction.
template <class T>
Sum<T> factor(const Node& node, float value) {
  if constexpr (std::is_integral_v<T>) {
    if (value != std::floor(value) || std::fabs(value) >= 0x1p31f)
      fail_unsupported(node.label(), ": Gemm of integers with the factor ", exact_text(value));
    return static_cast<Sum<T>>(static_cast<int64_t>(value));
  } else {
    return static_cast<Sum<T>>(value);
  }
}

template <class T>
void compute(ReferenceContext& context) {
  const Form form(context.node);
  const Tensor &a = context.input(0), &b = context.input(1);
  Tensor y = allocate_output(context, infer);
  const int64_t m = y.dim(0), n = y.dim(1), depth = a.dim(form.transpose_a ? 0 : 1);
  MatrixView<T> left{a.data<T>(), a.dim(1), 1}, right{b.data<T>(), b.dim(1), 1};
  if (form.transpose_a) left = left.transposed();
  if (form.transpose_b) right = right.transposed();
  const T* c = nullptr;
  int64_t c_row = 0, c_column = 0;
  if (context.has_input(2)) {
    const Shape& shape = context.input(2).shape();
    c = context.input(2).data<T>();
    if (!shape.empty() && shape.back() != 1) c_column = 1;
    if (shape.size() == 2 && shape[0] != 1) c_row = shape[1];
  }
  const Sum<T> alpha = factor<T>(context.node, form.alpha), beta = factor<T>(context.node, form.beta);
  T* out = y.mutable_data<T>();
  multiply<Sum<T>>(context.pool, m, n, depth, left, right, [&](int64_t i, int64_t j, Sum<T> sum) {
    if (form.alpha != 1) sum = alpha * sum;
    if (c != nullptr) {
      const auto value = static_cast<Sum<T>>(widen(c[i * c_row + j * c_column]));
      sum += form.beta != 1 ? beta * value : value;
    }
    out[i * n + j] = static_cast<T>(sum);
  });
  context.outputs[0] = std::move(y);
}

void reference(ReferenceContext& context) {
  dispatch_numeric(context.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_integral_v<T> && sizeof(T) < 4) {
      fail_unsupported("no Gemm of ", dtype_name(kDTypeOf<T>), " tensors");
    } else {
      compute<T>(context);
    }
  });
}

// Loops i, j and the reduction k.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef a = context.inputs[0], b = context.inputs[1], y = context.outputs[0];
  const DType dtype = a->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Form form(context.node);
  const Expr i = variable("i"), j = variable("j"), k = variable("k");
  const Expr product = load(a, form.transpose_a ? std::vector<Expr>{k, i} : std::vector<Expr>{i, k}) *
                       load(b, form.transpose_b ? std::vector<Expr>{j, k} : std::vector<Expr>{k, j});
  const BufferRef sum = local_buffer("sum", dtype);
  Expr result = load(sum, {});
  if (form.alpha != 1) result = constant(dtype, form.alpha) * result;
  if (context.has_input(2)) {
    const BufferRef c = context.inputs[2];
    const Expr value = load(c, broadcast_indices(c->shape, {i, j}));
    result = result + (form.beta != 1 ? constant(dtype, form.beta) * value : value);
  }
  const Stmt body = block({alloc(sum), store(sum, {}, constant(dtype, 0)),
                           loop("k", a->shape[form.transpose_a ? 0 : 1], store(sum, {}, load(sum, {}) + product)),
                           store(y, {i, j}, result)});
  context.emit("matmul", loop("i", y->shape[0], loop("j", y->shape[1], body)));
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const auto depth = static_cast<double>(inputs[0][Form(node).transpose_a ? 0 : 1]);
  return 2.0 * depth * static_cast<double>(element_count(outputs[0]));
}

void gradient(GradientContext& context) {
  const Form form(context.node);
  GraphBuilder& build = context.build;
  const ValueId a = context.input(0), b = context.input(1), dy = context.dy();
  const auto product = [&](ValueId left, ValueId right, bool transpose_left, bool transpose_right) {
    return build.emit("Gemm", {left, right},
                      {{"alpha", form.alpha},
                       {"transA", int64_t{transpose_left ? 1 : 0}},
                       {"transB", int64_t{transpose_right ? 1 : 0}}});
  };
  if (context.wants(0)) {
    context.set(0,
                form.transpose_a ? product(b, dy, form.transpose_b, true) : product(dy, b, false, !form.transpose_b));
  }
  if (context.wants(1)) {
    context.set(1,
                form.transpose_b ? product(dy, a, true, form.transpose_a) : product(a, dy, !form.transpose_a, false));
  }
  if (context.wants(2)) {
    ValueId dc = sum_to(build, dy, build.shape(context.input(2)));
    if (form.beta != 1) dc = build.emit("Mul", {dc, build.number(double{form.beta}, build.dtype(dc))});
    context.set(2, dc);
  }
}

}  // namespace

OpDef define_Gemm() {
  OpDef op;
  op.name = "Gemm";
  op.since = 13;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.traits = {Trait::Weighted};
  op.attributes = {{"alpha", 1.0F, "factor of A B"},
                   {"beta", 1.0F, "factor of C"},
                   {"transA", 0, "A is transposed"},
                   {"transB", 0, "B is transposed"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::gemm_ops
