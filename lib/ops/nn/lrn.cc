// LRN: local response normalisation across channels (Krizhevsky et al., "ImageNet classification", section 3.3).
//
// Order (reference, and compiled at -O0): the squares of the window's channels are summed from the lowest channel on;
// y = x / pow(bias + alpha / size * sum, beta), alpha / size rounded first.
#include <algorithm>
#include <cmath>

#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::lrn_ops {
namespace {

// x, y: [N, C, D...]
struct Form {
  explicit Form(const Node& node)
      : size(int_attribute(node, "size")),
        alpha(float_attribute(node, "alpha")),
        beta(float_attribute(node, "beta")),
        bias(float_attribute(node, "bias")) {
    if (size < 1) fail_malformed(node.label(), ": size ", size, " must be at least 1");
  }
  int64_t before() const { return (size - 1) / 2; }
  int64_t size;
  float alpha, beta, bias;
};

void infer(InferContext& context) {
  expect_float(context, 0);
  if (context.has_shape(0) && context.shape(0).size() < 2)
    context.fail("input ", context.input(0).text(), " has no channels");
  context.set_output(0, context.input(0));
}

template <class T>
void compute(const Form& form, const Tensor& x, Tensor& y) {
  using C = Compute<T>;
  const C scale = static_cast<C>(form.alpha) / static_cast<C>(form.size);
  const int64_t channels = x.dim(1), plane = element_count({x.shape().begin() + 2, x.shape().end()});
  std::vector<C> sums(plane);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    const T* image = x.data<T>() + n * channels * plane;
    T* out = y.mutable_data<T>() + n * channels * plane;
    for (int64_t c = 0; c < channels; ++c) {
      std::fill(sums.begin(), sums.end(), C(0));
      const int64_t low = std::max<int64_t>(0, c - form.before());
      const int64_t high = c + std::min(channels - c, form.size - form.before());
      for (int64_t k = low; k < high; ++k) {
        for (int64_t i = 0; i < plane; ++i) {
          const C value = widen(image[k * plane + i]);
          sums[i] += value * value;
        }
      }
      for (int64_t i = 0; i < plane; ++i) {
        const C base = static_cast<C>(form.bias) + scale * sums[i];
        out[c * plane + i] = narrow<T>(widen(image[c * plane + i]) / std::pow(base, static_cast<C>(form.beta)));
      }
    }
  }
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  const Form form(context.node);
  dispatch_float(y.dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(form, context.input(0), y); });
  context.outputs[0] = std::move(y);
}

// Loops n, c, the spatial axes o0.. and k over the window's channels.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const DType dtype = x->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Form form(context.node);
  const int64_t channels = x->shape[1];
  if (form.size >= 2 * channels) return;
  const Expr c = variable("c"), channel = c + variable("k") - form.before();
  std::vector<Expr> at = {variable("n"), c}, tap = {variable("n"), channel};
  for (size_t i = 2; i < x->shape.size(); ++i) {
    at.push_back(variable(cat("o", i - 2)));
    tap.push_back(at.back());
  }
  const Expr inside = channel >= 0 && channel < channels;
  const Expr square = loops::select(inside, load(x, tap) * load(x, tap), constant(dtype, 0));
  const double scale = dtype == DType::Float64 ? static_cast<double>(form.alpha) / static_cast<double>(form.size)
                                               : double{form.alpha / static_cast<float>(form.size)};
  const BufferRef sum = local_buffer("sum", dtype);
  const Expr base = constant(dtype, form.bias) + constant(dtype, scale) * load(sum, {});
  Stmt body = block({alloc(sum), store(sum, {}, constant(dtype, 0)),
                     loop("k", form.size, store(sum, {}, load(sum, {}) + square)),
                     store(y, at, load(x, at) / binary(Op::Pow, base, constant(dtype, form.beta)))});
  for (size_t i = x->shape.size(); i-- > 2;) body = loop(cat("o", i - 2), x->shape[i], std::move(body));
  context.emit("reduce", loop("n", x->shape[0], loop("c", channels, std::move(body))));
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return (2.0 * static_cast<double>(Form(node).size) + 3) * static_cast<double>(element_count(inputs[0]));
}

}  // namespace

OpDef define_LRN() {
  OpDef op;
  op.name = "LRN";
  op.since = 13;
  op.traits = {Trait::ChannelsFirst};
  op.attributes = {{"alpha", 1e-4F, "factor of the mean square"},
                   {"beta", 0.75F, "exponent"},
                   {"bias", 1.0F, "added to the scaled sum"},
                   {"size", required(AttributeType::Int), "channels of a window"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::lrn_ops
