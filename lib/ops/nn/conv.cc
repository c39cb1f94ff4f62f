// Conv: convolution over any number of spatial axes, with groups, strides, dilations and padding.
//
// Reduction order (reference, and compiled at -O0): input channel of the group, then the kernel's axes, outermost first;
// the bias is added last. Padding contributes products with zero, as if the input were padded.
#include "ops/outputs.h"
#include "ops/window.h"
#include "tensor/dispatch.h"

namespace dnn {
namespace {

// x: [N, C, D...], w: [M, C/group, K...], b: [M] -> y: [N, M, O...]
std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

void infer(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  expect_dtype(context, 1, type.dtype);
  expect_dtype(context, 2, type.dtype);
  if (context.has_shape(0) && context.has_shape(1)) {
    const auto &x = context.shape(0), &w = context.shape(1);
    if (x.size() < 3 || x.size() != w.size())
      context.fail("input ", context.input(0).text(), " and weight ", context.input(1).text(), " disagree in rank");
    const int64_t group = context.node.attribute_int("group", 1);
    if (group < 1) context.fail("group ", group, " must be at least 1");
    if (x[1].fixed() && w[1].fixed() && x[1].size != w[1].size * group) {
      context.fail("weight ", context.input(1).text(), " with group ", group, " does not fit input ",
                   context.input(0).text());
    }
    if (w[0].fixed() && w[0].size % group != 0)
      context.fail("weight ", context.input(1).text(), " does not divide into ", group, " groups");
    if (context.has_shape(2)) {
      const Dim bias = context.shape(2, 1)[0];
      if (bias.fixed() && w[0].fixed() && bias.size != w[0].size)
        context.fail("bias ", context.input(2).text(), " does not fit weight ", context.input(1).text());
    }
    std::vector<int64_t> kernel;
    for (size_t i = 2; i < w.size(); ++i) {
      if (w[i].fixed()) kernel.push_back(w[i].size);
    }
    std::vector<Dim> out = {x[0], w[0]};
    if (kernel.size() == w.size() - 2) {
      for (const Dim& dim : window_output(context.node, {x.begin() + 2, x.end()}, kernel)) out.push_back(dim);
    } else {
      out.resize(x.size());
    }
    type.shape = std::move(out);
  }
  context.set_output(0, std::move(type));
}

template <class T>
Tensor convolve(const ReferenceContext& context) {
  const Tensor &x = context.input(0), &w = context.input(1);
  Tensor y = allocate_output(context, infer);
  const Window window = Window::of(context.node, spatial(x.shape()), spatial(w.shape()));
  const int64_t group = context.node.attribute_int("group", 1);
  const size_t rank = window.kernel.size();
  const int64_t c_per_group = w.dim(1), m_per_group = w.dim(0) / group;
  const std::vector<int64_t> x_stride = row_major_strides(x.shape());
  const int64_t positions = element_count(window.output), taps = element_count(window.kernel);
  // Input offset of every (output position, kernel tap), -1 in the padding.
  std::vector<int64_t> offset(static_cast<size_t>(positions * taps));
  std::vector<int64_t> at(rank), tap(rank);
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t rest = p, i = static_cast<int64_t>(rank) - 1; i >= 0;
         rest /= window.output[static_cast<size_t>(i)], --i) {
      at[static_cast<size_t>(i)] = rest % window.output[static_cast<size_t>(i)];
    }
    for (int64_t k = 0; k < taps; ++k) {
      int64_t sum = 0;
      for (int64_t rest = k, i = static_cast<int64_t>(rank) - 1; i >= 0;
           rest /= window.kernel[static_cast<size_t>(i)], --i) {
        const auto a = static_cast<size_t>(i);
        const int64_t position =
            at[a] * window.strides[a] + rest % window.kernel[a] * window.dilations[a] - window.pad_begin[a];
        if (position < 0 || position >= x.dim(static_cast<int>(a) + 2)) sum = -1;
        if (sum >= 0) sum += position * x_stride[a + 2];
      }
      offset[static_cast<size_t>(p * taps + k)] = sum;
    }
  }
  const T *in = x.data<T>(), *weight = w.data<T>(), *bias = context.has_input(2) ? context.input(2).data<T>() : nullptr;
  T* out = y.mutable_data<T>();
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t m = 0; m < w.dim(0); ++m) {
      const T* image = in + n * x_stride[0] + m / m_per_group * c_per_group * x_stride[1];
      const T* filter = weight + m * c_per_group * taps;
      for (int64_t p = 0; p < positions; ++p) {
        Compute<T> sum = 0;
        for (int64_t c = 0; c < c_per_group; ++c) {
          for (int64_t k = 0; k < taps; ++k) {
            const int64_t o = offset[static_cast<size_t>(p * taps + k)];
            sum += (o < 0 ? Compute<T>(0) : widen(image[c * x_stride[1] + o])) * widen(filter[c * taps + k]);
          }
        }
        *out++ = narrow<T>(bias == nullptr ? sum : sum + widen(bias[m]));
      }
    }
  }
  return y;
}

void reference(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(),
                 [&](auto tag) { context.outputs[0] = convolve<typename decltype(tag)::type>(context); });
}

// Loops n, g, m, then the output axes o0.., reduction c, k0..: what schedules name.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], w = context.inputs[1], y = context.outputs[0];
  if (x->dtype != DType::Float32 && x->dtype != DType::Float64) return;
  const Window window = Window::of(context.node, spatial(x->shape), spatial(w->shape));
  const int64_t group = context.node.attribute_int("group", 1), c_per_group = w->shape[1],
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

double flops(const Node&, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const double per_output = 2.0 * static_cast<double>(element_count(inputs[1]) / std::max<int64_t>(1, inputs[1][0]));
  return per_output * static_cast<double>(element_count(outputs[0]));
}

}  // namespace

OpDef define_Conv() {
  OpDef op;
  op.name = "Conv";
  op.since = 22;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn
