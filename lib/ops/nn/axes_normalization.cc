// LpNormalization, MeanVarianceNormalization: rows along given axes by their norm, or by their mean and deviation.
//
// Order (reference, and compiled at -O0), along the row in row-major order. LpNormalization: norm = sum |x| (p = 1) or
// sqrt(sum x * x) (p = 2); y = x / norm, 0 where the norm is 0. MeanVarianceNormalization: mean = sum(x) / n; deviation =
// sqrt(sum of (x - mean)^2, / n) + 1e-9; y = (x - mean) / deviation.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/outputs.h"
#include "ops/rows.h"

namespace dnn::axes_normalization_ops {
namespace {

constexpr double kDeviationFloor = 1e-9;  // of the function body in ONNX's operator text

bool lp(const Node& node) { return node.op == "LpNormalization"; }

// Which axes a row spans.
std::vector<bool> row_axes(const Node& node, size_t rank) {
  std::vector<int64_t> axes;
  if (lp(node)) {
    axes = {int_attribute(node, "axis")};
  } else {
    axes = ints_attribute(node, "axes");
  }
  std::vector<bool> in_row(rank, false);
  for (int64_t axis : axes) {
    const int64_t at = axis < 0 ? axis + static_cast<int64_t>(rank) : axis;
    if (at < 0 || at >= static_cast<int64_t>(rank))
      fail_malformed(node.label(), ": axis ", axis, " is out of range for rank ", rank);
    in_row[at] = true;
  }
  return in_row;
}

int64_t norm_power(const Node& node) {
  const int64_t p = int_attribute(node, "p");
  if (p != 1 && p != 2) fail_malformed(node.label(), ": p ", p, " must be 1 or 2");
  return p;
}

void infer(InferContext& context) {
  expect_float(context, 0);
  if (lp(context.node)) norm_power(context.node);
  if (context.has_shape(0)) row_axes(context.node, context.shape(0).size());
  context.set_output(0, context.input(0));
}

template <class T>
void compute(const Node& node, const Tensor& x, Tensor& y) {
  using C = Compute<T>;
  const std::vector<bool> in_row = row_axes(node, x.shape().size());
  Shape rows = x.shape();
  int64_t size = 1;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!in_row[i]) continue;
    size *= rows[i];
    rows[i] = 1;
  }
  const std::vector<int64_t> row_of = broadcast_offsets(x.shape(), {rows})[0];
  const size_t n_rows = element_count(rows);
  std::vector<C> mean(n_rows, 0), norm(n_rows, 0);
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  const auto each = [&](auto&& body) {
    for (int64_t i = 0; i < x.size(); ++i) body(i, row_of[i]);
  };
  if (lp(node)) {
    const int64_t p = norm_power(node);
    each([&](int64_t i, size_t r) { norm[r] += p == 1 ? std::fabs(widen(in[i])) : widen(in[i]) * widen(in[i]); });
    if (p == 2) {
      for (C& value : norm) value = std::sqrt(value);
    }
    each([&](int64_t i, size_t r) { out[i] = narrow<T>(norm[r] == 0 ? C(0) : widen(in[i]) / norm[r]); });
    return;
  }
  each([&](int64_t i, size_t r) { mean[r] += widen(in[i]); });
  for (C& value : mean) value = value / static_cast<C>(size);
  each([&](int64_t i, size_t r) { norm[r] += (widen(in[i]) - mean[r]) * (widen(in[i]) - mean[r]); });
  for (C& value : norm) value = std::sqrt(value / static_cast<C>(size)) + static_cast<C>(kDeviationFloor);
  each([&](int64_t i, size_t r) { out[i] = narrow<T>((widen(in[i]) - mean[r]) / norm[r]); });
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  dispatch_float(y.dtype(),
                 [&](auto tag) { compute<typename decltype(tag)::type>(context.node, context.input(0), y); });
  context.outputs[0] = std::move(y);
}

// Loops d.. over the rows; then r.., s.., t.. along the row's axes.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const RowLoops rows(x->shape, row_axes(context.node, x->shape.size()));
  const BufferRef mean = local_buffer("mean", dtype), norm = local_buffer("norm", dtype);
  const Expr zero = constant(dtype, 0);
  if (lp(context.node)) {
    const int64_t p = norm_power(context.node);
    const Expr r = load(x, rows.indices("r")), t = load(x, rows.indices("t")), total = load(norm, {});
    context.emit("row",
                 rows.around(block(
                     {alloc(norm), store(norm, {}, zero),
                      rows.along("r", store(norm, {}, total + (p == 1 ? unary(Op::Abs, r) : r * r))),
                      p == 2 ? store(norm, {}, unary(Op::Sqrt, total)) : nullptr,
                      rows.along("t", store(y, rows.indices("t"), loops::select(total == zero, zero, t / total)))})));
    return;
  }
  const Expr n = constant(dtype, static_cast<double>(rows.size())), floor = constant(dtype, kDeviationFloor);
  const auto centred = [&](const char* along) { return load(x, rows.indices(along)) - load(mean, {}); };
  context.emit("row",
               rows.around(block({alloc(mean), alloc(norm), store(mean, {}, zero),
                                  rows.along("r", store(mean, {}, load(mean, {}) + load(x, rows.indices("r")))),
                                  store(mean, {}, load(mean, {}) / n), store(norm, {}, zero),
                                  rows.along("s", store(norm, {}, load(norm, {}) + centred("s") * centred("s"))),
                                  store(norm, {}, unary(Op::Sqrt, load(norm, {}) / n) + floor),
                                  rows.along("t", store(y, rows.indices("t"), centred("t") / load(norm, {})))})));
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 6.0 * static_cast<double>(element_count(inputs[0]));
}

OpDef normalization(std::string name, int since) {
  OpDef op;
  op.name = std::move(name);
  op.since = since;
  op.traits = kNoTraits;
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace

OpDef define_LpNormalization() {
  return with_attributes(normalization("LpNormalization", 22),
                         {{"axis", -1, "axis that is normalised"}, {"p", 2, "exponent of the norm"}});
}
OpDef define_MeanVarianceNormalization() {
  return with_attributes(normalization("MeanVarianceNormalization", 13),
                         {{"axes", std::vector<int64_t>{0, 2, 3}, "axes that are normalised"}});
}

}  // namespace dnn::axes_normalization_ops
