// Conv: convolution over any number of spatial axes, with groups, strides, dilations and padding.
//
// Reduction order (reference, and compiled at -O0): input channel of the group, then the kernel's axes, outermost first;
// the bias is added last. Padding contributes products with zero, as if the input were padded, which schedules of -O3 leave out.
#include "ops/conv_gradient.h"
#include "ops/convolve.h"
#include "ops/outputs.h"
#include "tensor/dispatch.h"

namespace dnn::conv_ops {
namespace {

// x: [N, C, D...], w: [M, C/group, K...], b: [M] -> y: [N, M, O...]
std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

void infer(InferContext& context) {
  const DType dtype = context.input(0).dtype;
  expect_dtype(context, 1, dtype);
  expect_dtype(context, 2, dtype);
  context.set_output(0, infer_convolution(context, 0, 1, 2, dtype));
}

template <class T>
Tensor compute(const ReferenceContext& context) {
  const Tensor &x = context.input(0), &w = context.input(1);
  Tensor y = allocate_output(context, infer);
  const Window window = Window::of(context.node, spatial(x.shape()), spatial(w.shape()));
  const T* bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
  const int64_t channels = y.dim(1), positions = element_count(window.output);
  T* out = y.mutable_data<T>();
  using S = Compute<T>;
  convolve<S>(context.pool, x.data<T>(), x.shape(), w.data<T>(), w.shape(), window,
              int_attribute(context.node, "group"),
              [&](int64_t n, int64_t m, int64_t first, int64_t width, const S* sums) {
                T* to = out + (n * channels + m) * positions + first;
                if (bias == nullptr) {
                  for (int64_t j = 0; j < width; ++j) to[j] = narrow<T>(sums[j]);
                } else {
                  const S added = widen(bias[m]);
                  for (int64_t j = 0; j < width; ++j) to[j] = narrow<T>(sums[j] + added);
                }
              });
  return y;
}

void reference(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(),
                 [&](auto tag) { context.outputs[0] = compute<typename decltype(tag)::type>(context); });
}

// Loops n, g, m, then the output axes o0.., reduction c, k0..: what schedules name.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], w = context.inputs[1], y = context.outputs[0];
  if (x->dtype != DType::Float32 && x->dtype != DType::Float64) return;
  const Window window = Window::of(context.node, spatial(x->shape), spatial(w->shape));
  const int64_t group = int_attribute(context.node, "group"), c_per_group = w->shape[1],
                m_per_group = w->shape[0] / group;
  const size_t rank = window.kernel.size();
  const Expr n = variable("n"), g = variable("g"), m = variable("m"), c = variable("c");
  const Expr channel = group == 1 ? m : g * m_per_group + m;
  std::vector<Expr> x_index = {n, group == 1 ? c : g * c_per_group + c}, w_index = {channel, c}, y_index = {n, channel};
  std::vector<Expr> positions;
  for (size_t i = 0; i < rank; ++i) {
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    const Expr position = o * window.strides[i] + k * window.dilations[i] - window.pad_begin[i];
    positions.push_back(position);
    x_index.push_back(position);
    w_index.push_back(k);
    y_index.push_back(o);
  }
  Expr value = load(x, x_index);
  const Expr inside = inside_window(window, positions);
  if (inside.defined()) value = loops::select(inside, value, constant(x->dtype, 0));
  const BufferRef sum = local_buffer("sum", x->dtype);
  Stmt reduce = store(sum, {}, load(sum, {}) + value * load(w, w_index));
  for (size_t i = rank; i-- > 0;) reduce = loop(cat("k", i), window.kernel[i], std::move(reduce));
  reduce = loop("c", c_per_group, std::move(reduce));
  Expr result = load(sum, {});
  if (context.has_input(2)) result = result + load(context.inputs[2], {channel});
  Stmt body = block({alloc(sum), store(sum, {}, constant(x->dtype, 0)), std::move(reduce), store(y, y_index, result)});
  for (size_t i = rank; i-- > 0;) body = loop(cat("o", i), window.output[i], std::move(body));
  body = loop("m", m_per_group, std::move(body));
  if (group > 1) body = loop("g", group, std::move(body));
  context.emit("conv", loop("n", x->shape[0], std::move(body)));
}

// Without products with the padding.
double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const double inside = Window::of(node, spatial(inputs[0]), spatial(inputs[1])).taps_inside();
  return 2 * static_cast<double>(outputs[0][0] * outputs[0][1] * inputs[1][1]) * inside;
}

void gradient(GradientContext& context) {
  GraphBuilder& build = context.build;
  const Shape x = build.shape(context.input(0)), w = build.shape(context.input(1));
  const Window window = Window::of(context.node, spatial(x), spatial(w));
  const int64_t group = int_attribute(context.node, "group");
  if (context.wants(0)) context.set(0, conv_input_gradient(build, context.dy(), context.input(1), window, group));
  if (context.wants(1)) context.set(1, conv_weight_gradient(build, context.input(0), context.dy(), window, group));
  if (context.wants(2)) context.set(2, conv_bias_gradient(build, context.dy()));
}

}  // namespace

OpDef define_Conv() {
  OpDef op;
  op.name = "Conv";
  op.since = 22;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.traits = {Trait::ChannelsFirst, Trait::Weighted};
  op.attributes = window_attributes(false, {{"group", 1, "groups of channels"}});
  op.infer = infer;
  op.reference = reference;
  op.gradient = gradient;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::conv_ops
