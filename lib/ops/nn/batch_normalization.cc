// BatchNormalization: per-channel normalisation by given statistics, or (training_mode) by the batch's own.
//
// Order (reference, and compiled at -O0): y = (x - mean) / sqrt(var + epsilon) * scale + B, each operation rounded. In
// training mode a channel's mean and (population) variance are sums over its elements in row-major order, divided by
// their number; the running values are input * momentum + batch * (1 - momentum).
#include <cmath>

#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "ops/outputs.h"

namespace dnn::batch_normalization_ops {
namespace {

// x: [N, C, D...] (or [N]: one channel); scale, B, mean, var: [C]
int64_t channels(const Shape& x) { return x.size() > 1 ? x[1] : 1; }

void infer(InferContext& context) {
  const Type& x = context.input(0);
  for (size_t i = 0; i < 5; ++i) expect_float(context, i);
  expect_dtype(context, 2, context.input(1).dtype);
  expect_dtype(context, 4, context.input(3).dtype);
  Dim c = Dim(1);
  if (x.shape) {
    if (x.shape->empty()) context.fail("input ", x.text(), " has no axes");
    if (x.shape->size() > 1) c = (*x.shape)[1];
  } else {
    c = Dim();
  }
  for (size_t i = 1; i < 5; ++i) {
    if (!context.has_shape(i)) continue;
    const Dim length = context.shape(i, 1)[0];
    if (c.fixed() && length.fixed() && c.size != length.size)
      context.fail("input ", i, " is ", context.input(i).text(), ", but ", x.text(), " has ", c.size, " channels");
  }
  context.set_output(0, x);
  for (size_t i = 1; i < 3; ++i) context.set_output(i, context.input(i + 2));
}

template <class C>
struct Parameters {
  std::vector<C> scale, bias, mean, variance;
};

template <class C>
std::vector<C> computed(const Tensor& tensor) {
  const Tensor wide = convert(tensor, kDTypeOf<C>);
  return {wide.data<C>(), wide.data<C>() + wide.size()};
}

// Statistics of the batch itself, and the running ones that follow from it.
template <class T, class C>
void use_batch_statistics(ReferenceContext& context, Parameters<C>& p) {
  const Tensor& x = context.input(0);
  const auto momentum = static_cast<C>(float_attribute(context.node, "momentum"));
  const int64_t c_count = channels(x.shape()), n = x.rank() > 0 ? x.dim(0) : 1;
  const int64_t plane = x.rank() > 1 ? element_count({x.shape().begin() + 2, x.shape().end()}) : 1;
  const T* in = x.data<T>();
  std::vector<C> running_mean, running_variance;
  for (int64_t c = 0; c < c_count; ++c) {
    const auto each = [&](auto&& body) {
      for (int64_t b = 0; b < n; ++b) {
        for (int64_t i = 0; i < plane; ++i) body(static_cast<C>(widen(in[(b * c_count + c) * plane + i])));
      }
    };
    C sum = 0, squares = 0;
    each([&](C value) { sum += value; });
    const C count = static_cast<C>(n * plane), mean = sum / count;
    each([&](C value) { squares += (value - mean) * (value - mean); });
    const C variance = squares / count;
    const size_t at = c;
    running_mean.push_back(p.mean[at] * momentum + mean * (C(1) - momentum));
    running_variance.push_back(p.variance[at] * momentum + variance * (C(1) - momentum));
    p.mean[at] = mean;
    p.variance[at] = variance;
  }
  const DType dtype = context.input(3).dtype();
  if (context.wants_output(1)) context.outputs[1] = convert(Tensor::of<C>({c_count}, running_mean), dtype);
  if (context.wants_output(2)) context.outputs[2] = convert(Tensor::of<C>({c_count}, running_variance), dtype);
}

template <class T, class C>
void normalize(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  Parameters<C> p{computed<C>(context.input(1)), computed<C>(context.input(2)), computed<C>(context.input(3)),
                  computed<C>(context.input(4))};
  if (flag_attribute(context.node, "training_mode")) {
    use_batch_statistics<T, C>(context, p);
  } else if (context.wants_output(1) || context.wants_output(2)) {
    context.fail("has running statistics as outputs without training_mode");
  }
  const auto epsilon = static_cast<C>(float_attribute(context.node, "epsilon"));
  const int64_t c_count = channels(x.shape());
  const int64_t plane = x.rank() > 1 ? element_count({x.shape().begin() + 2, x.shape().end()}) : x.size();
  const int64_t planes = x.rank() > 1 ? x.dim(0) * c_count : 1;
  const T* in = x.data<T>();
  T* out = y.mutable_data<T>();
  share(context.pool, planes, static_cast<double>(4 * x.size()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const size_t c = i % c_count;
      const C mean = p.mean[c], deviation = std::sqrt(p.variance[c] + epsilon), scale = p.scale[c], bias = p.bias[c];
      for (int64_t k = i * plane; k < (i + 1) * plane; ++k)
        out[k] = static_cast<T>((static_cast<C>(widen(in[k])) - mean) / deviation * scale + bias);
    }
  });
  context.outputs[0] = std::move(y);
}

void reference(ReferenceContext& context) {
  infer_outputs(context, infer);
  bool wide = false;
  for (const Tensor* input : context.inputs) wide = wide || (input != nullptr && input->dtype() == DType::Float64);
  dispatch_float(context.input(0).dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (wide) {
      if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) return normalize<T, double>(context);
      fail_unsupported("BatchNormalization of ", dtype_name(kDTypeOf<T>), " with float64 parameters");
    }
    if constexpr (!std::is_same_v<T, double>) normalize<T, float>(context);
  });
}

void lower(LowerContext& context) {
  using namespace loops;
  const DType dtype = context.inputs[0]->dtype;
  if ((dtype != DType::Float32 && dtype != DType::Float64) || flag_attribute(context.node, "training_mode")) return;
  for (const BufferRef& input : context.inputs) {
    if (input->dtype != dtype) return;
  }
  const Expr epsilon = constant(dtype, float_attribute(context.node, "epsilon"));
  emit_map(context, context.outputs[0], [&](const std::vector<Expr>& indices) {
    const Expr c = indices.size() > 1 ? indices[1] : constant_int(DType::Int64, 0);
    const auto parameter = [&](size_t i) { return load(context.inputs[i], {c}); };
    return (load(context.inputs[0], indices) - parameter(3)) / unary(Op::Sqrt, parameter(4) + epsilon) * parameter(1) +
           parameter(2);
  });
}

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  return 4.0 * static_cast<double>(element_count(inputs[0]));
}

// With the statistics that are given, through which gradients go on. Training gives a node that uses the batch's own those before.
void gradient(GradientContext& context) {
  if (flag_attribute(context.node, "training_mode"))
    fail_unsupported(context.node.label(), ": no gradient of training_mode 1");
  GraphBuilder& build = context.build;
  const ValueId x = context.input(0), dy = context.dy();
  const Shape shape = build.shape(x);
  if (shape.size() < 2) fail_unsupported(context.node.label(), ": no gradient without an axis of channels");
  const DType dtype = build.dtype(x);
  Shape broadcast(shape.size(), 1);
  broadcast[1] = shape[1];
  const auto node = [&](const char* op, ValueId a, ValueId b) { return build.emit(op, {a, b}); };
  const ValueId scale = context.input(1), mean = context.input(3);
  const ValueId variance =
      node("Add", context.input(4), build.number(double{float_attribute(context.node, "epsilon")}, dtype));
  const ValueId deviation = build.emit("Sqrt", {variance}), factor = node("Div", scale, deviation);
  if (context.wants(0)) context.set(0, node("Mul", dy, reshape_to(build, factor, broadcast)));
  if (!context.wants(1) && !context.wants(2) && !context.wants(3) && !context.wants(4)) return;
  const bool products = context.wants(1) || context.wants(4);
  const std::vector<ValueId> sums = products ? channel_sums(build, dy, x, mean) : channel_sums(build, dy);
  if (context.wants(1)) context.set(1, node("Div", sums[1], deviation));
  if (context.wants(2)) context.set(2, sums[0]);
  if (context.wants(3)) context.set(3, build.emit("Neg", {node("Mul", sums[0], factor)}));
  if (context.wants(4)) {
    const ValueId half = node("Mul", factor, build.number(-0.5, dtype));
    context.set(4, node("Mul", sums[1], node("Div", half, variance)));
  }
}

}  // namespace

OpDef define_BatchNormalization() {
  OpDef op;
  op.name = "BatchNormalization";
  op.since = 15;
  op.min_inputs = op.max_inputs = 5;
  op.max_outputs = 3;
  op.traits = {Trait::ChannelsFirst};
  op.attributes = {{"epsilon", 1e-5F, "added to the variance"},
                   {"momentum", 0.9F, "share of the old running statistics"},
                   {"training_mode", 0, "statistics of the batch, not the given ones"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::batch_normalization_ops
