// dnn.ConvInputGradient and dnn.ConvWeightGradient: the gradients of a Conv. Attributes: those of Conv, `pads` for exactly the
// outputs that dy has, and `input_shape`, the extents of x behind its channels. Made by conv_gradient.h.
//
//   dx[n, c, i] = sum over m, k of dy[n, m, o] * w[m, c, k], for all o and k that read i: o * stride + k * dilation - pad = i
//   dw[m, c, k] = sum over n, o of x[n, c, o * stride + k * dilation - pad] * dy[n, m, o]
//
// Order (reference, and compiled at -O0): dx from the last tap to the first, within each of m; dw over n, then o in row-major order.
// At -O3 dw is added up in parts, each of some rows of one image, which are added in order: the same bits for any number of threads.
#include <algorithm>
#include <numeric>

#include "ops/outputs.h"
#include "ops/window.h"
#include "tensor/dispatch.h"

namespace dnn::conv_gradients_ops {
namespace {

std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Window window_of(const Node& node, const Shape& dy, const std::vector<int64_t>& kernel) {
  Window window = Window::of(node, ints_attribute(node, "input_shape"), kernel);
  if (dy.size() != window.rank() + 2 || window.output != spatial(dy))
    fail_malformed(node.label(), ": the gradient of the output has the extents [", join(dy), "], the window makes [",
                   join(window.output), "]");
  return window;
}

int64_t group_of(const Node& node, int64_t units) {
  const int64_t group = int_attribute(node, "group");
  if (group < 1 || units % group != 0) fail_malformed(node.label(), ": ", units, " channels are no ", group, " groups");
  return group;
}

// dy: [N, M, O...], w: [M, C/group, K...] -> dx: [N, C, I...]
void infer_input(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.input(0).fixed() && context.input(1).fixed()) {
    const Shape dy = context.input(0).fixed_shape(), w = context.input(1).fixed_shape();
    if (dy.size() < 3 || w.size() != dy.size() || w[0] != dy[1]) context.fail("w and dy do not belong together");
    const Window window = window_of(context.node, dy, spatial(w));
    Shape shape = {dy[0], w[1] * group_of(context.node, w[0])};
    shape.insert(shape.end(), window.input.begin(), window.input.end());
    type.shape = std::vector<Dim>(shape.begin(), shape.end());
  }
  context.set_output(0, std::move(type));
}

// x: [N, C, I...], dy: [N, M, O...] -> dw: [M, C/group, K...]
void infer_weight(InferContext& context) {
  expect_dtype(context, 1, context.input(0).dtype);
  Type type;
  type.dtype = context.input(0).dtype;
  if (context.input(0).fixed() && context.input(1).fixed()) {
    const Shape x = context.input(0).fixed_shape(), dy = context.input(1).fixed_shape();
    if (x.size() < 3 || x.size() != dy.size() || x[0] != dy[0] ||
        spatial(x) != ints_attribute(context.node, "input_shape"))
      context.fail("x and dy do not belong together");
    const Window window = window_of(context.node, dy, ints_attribute(context.node, "kernel_shape"));
    const int64_t group = group_of(context.node, dy[1]);
    if (x[1] % group != 0) context.fail(x[1], " channels are no ", group, " groups");
    Shape shape = {dy[1], x[1] / group};
    shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
    type.shape = std::vector<Dim>(shape.begin(), shape.end());
  }
  context.set_output(0, std::move(type));
}

// The planes of one convolution.
struct Extents {
  int64_t n, group, channels, units, plane, positions, taps;  // channels and units of a group
  Extents(const Shape& dy, const Shape& w, const Window& window, int64_t groups)
      : n(dy[0]),
        group(groups),
        channels(w[1]),
        units(w[0] / groups),
        plane(element_count(window.input)),
        positions(element_count(window.output)),
        taps(element_count(window.kernel)) {}
};

template <class T>
Tensor input_gradient(const ReferenceContext& context) {
  using S = Compute<T>;
  const Tensor &dy = context.input(0), &w = context.input(1);
  Tensor dx = allocate_output(context, infer_input);
  const Window window = window_of(context.node, dy.shape(), spatial(w.shape()));
  const Extents e(dy.shape(), w.shape(), window, int_attribute(context.node, "group"));
  const auto offsets = window.tap_offsets();
  const T *from = dy.data<T>(), *weights = w.data<T>();
  T* to = dx.mutable_data<T>();
  const double operations = static_cast<double>(dy.size()) * static_cast<double>(e.channels * e.taps);
  share(context.pool, e.n * e.group * e.channels, operations, [&](int64_t begin, int64_t end) {
    std::vector<S> sums(e.plane);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t c = i % e.channels, g = i / e.channels % e.group, n = i / e.channels / e.group;
      std::fill(sums.begin(), sums.end(), S(0));
      for (int64_t m = g * e.units; m < (g + 1) * e.units; ++m) {
        const T* rows = from + (n * e.group * e.units + m) * e.positions;
        for (int64_t k = e.taps; k-- > 0;) {
          const S weight = widen(weights[(m * e.channels + c) * e.taps + k]);
          for (int64_t p = 0; p < e.positions; ++p) {
            const int64_t at = offsets[k * e.positions + p];
            if (at >= 0) sums[at] += static_cast<S>(widen(rows[p])) * weight;
          }
        }
      }
      for (int64_t p = 0; p < e.plane; ++p) to[i * e.plane + p] = narrow<T>(sums[p]);
    }
  });
  return dx;
}

template <class T>
Tensor weight_gradient(const ReferenceContext& context) {
  using S = Compute<T>;
  const Tensor &x = context.input(0), &dy = context.input(1);
  Tensor dw = allocate_output(context, infer_weight);
  const Window window = window_of(context.node, dy.shape(), ints_attribute(context.node, "kernel_shape"));
  const Extents e(dy.shape(), dw.shape(), window, int_attribute(context.node, "group"));
  const auto offsets = window.tap_offsets();
  const T *image = x.data<T>(), *gradients = dy.data<T>();
  T* to = dw.mutable_data<T>();
  const double operations = static_cast<double>(dy.size()) * static_cast<double>(e.channels * e.taps);
  share(context.pool, dw.size(), operations, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t k = i % e.taps, c = i / e.taps % e.channels, m = i / e.taps / e.channels, g = m / e.units;
      S sum = 0;
      for (int64_t n = 0; n < e.n; ++n) {
        const T *plane = image + ((n * e.group + g) * e.channels + c) * e.plane,
                *rows = gradients + (n * e.group * e.units + m) * e.positions;
        for (int64_t p = 0; p < e.positions; ++p) {
          const int64_t at = offsets[k * e.positions + p];
          if (at >= 0) sum += static_cast<S>(widen(plane[at])) * static_cast<S>(widen(rows[p]));
        }
      }
      to[i] = narrow<T>(sum);
    }
  });
  return dw;
}

void reference_input(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(),
                 [&](auto tag) { context.outputs[0] = input_gradient<typename decltype(tag)::type>(context); });
}

void reference_weight(ReferenceContext& context) {
  dispatch_float(context.input(0).dtype(),
                 [&](auto tag) { context.outputs[0] = weight_gradient<typename decltype(tag)::type>(context); });
}

// Along one axis, the inputs phase, phase + stride, ...: `count` of them, the q-th of which reads dy at q + t * step - before for
// t = 0 .. taps - 1, with the kernel's tap last - t * apart.
struct Phase {
  int64_t phase, count, taps = 0, last = 0, apart = 1, step = 1, before = 0;
  Phase(const Window& window, size_t axis, int64_t at)
      : phase(at), count((window.input[axis] - at + window.strides[axis] - 1) / window.strides[axis]) {
    const int64_t stride = window.strides[axis], dilation = window.dilations[axis];
    apart = stride / std::gcd(stride, dilation);
    step = apart * dilation / stride;
    for (int64_t k = 0; k < window.kernel[axis]; ++k) {
      const int64_t at_dy = at + window.pad_begin[axis] - k * dilation;
      if (at_dy % stride != 0) continue;
      ++taps;
      last = k;
      before = -at_dy / stride;
    }
  }
};

// One phase of each axis as a convolution: loops n, g, m (input channels), o0.., the reduction c (units), k0.., as Conv's.
void lower_phase(LowerContext& context, const Window& window, const std::vector<Phase>& phases) {
  using namespace loops;
  const BufferRef dy = context.inputs[0], w = context.inputs[1], dx = context.outputs[0];
  const int64_t group = int_attribute(context.node, "group"), channels = w->shape[1], units = w->shape[0] / group;
  const Expr n = variable("n"), g = variable("g"), m = variable("m"), c = variable("c");
  const Expr unit = group == 1 ? c : g * units + c;
  std::vector<Expr> dy_index = {n, unit}, w_index = {unit, m}, dx_index = {n, group == 1 ? m : g * channels + m};
  std::vector<Expr> positions;
  Window reads;  // of dy
  for (size_t i = 0; i < phases.size(); ++i) {
    const Phase& p = phases[i];
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    positions.push_back(o + k * p.step - p.before);
    dy_index.push_back(positions.back());
    w_index.push_back(constant_int(DType::Int64, p.last) - k * p.apart);
    dx_index.push_back(o * window.strides[i] + p.phase);
    reads.kernel.push_back(p.taps);
    reads.strides.push_back(1);
    reads.dilations.push_back(p.step);
    reads.pad_begin.push_back(p.before);
    reads.pad_end.push_back(0);
    reads.input.push_back(window.output[i]);
    reads.output.push_back(p.count);
  }
  const auto around = [&](Stmt body) {
    for (size_t i = phases.size(); i-- > 0;) body = loop(cat("o", i), phases[i].count, std::move(body));
    body = loop("m", channels, std::move(body));
    if (group > 1) body = loop("g", group, std::move(body));
    return loop("n", dy->shape[0], std::move(body));
  };
  const Expr zero = constant(dy->dtype, 0);
  if (element_count(reads.kernel) == 0) {
    context.emit("map", around(store(dx, dx_index, zero)));
    return;
  }
  Expr value = load(dy, dy_index);
  const Expr inside = inside_window(reads, positions);
  if (inside.defined()) value = loops::select(inside, value, zero);
  const BufferRef sum = local_buffer("sum", dy->dtype);
  Stmt reduce = store(sum, {}, load(sum, {}) + value * load(w, w_index));
  for (size_t i = phases.size(); i-- > 0;) reduce = loop(cat("k", i), phases[i].taps, std::move(reduce));
  reduce = loop("c", units, std::move(reduce));
  context.emit(
      "conv", around(block({alloc(sum), store(sum, {}, zero), std::move(reduce), store(dx, dx_index, load(sum, {}))})));
}

void lower_input(LowerContext& context) {
  const DType dtype = context.inputs[0]->dtype;
  if (dtype != DType::Float32 && dtype != DType::Float64) return;
  const Window window = window_of(context.node, context.inputs[0]->shape, spatial(context.inputs[1]->shape));
  std::vector<int64_t> at(window.rank(), 0);
  while (true) {
    std::vector<Phase> phases;
    for (size_t i = 0; i < at.size(); ++i) phases.emplace_back(window, i, at[i]);
    if (std::all_of(phases.begin(), phases.end(), [](const Phase& p) { return p.count > 0; }))
      lower_phase(context, window, phases);
    size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == window.strides[axis - 1]) at[--axis] = 0;
    if (axis == 0) return;
  }
}

// Loops g, m, c and the taps k0.., the reduction n and the outputs o0..: what schedules name.
void lower_weight(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], dy = context.inputs[1], dw = context.outputs[0];
  if (x->dtype != DType::Float32 && x->dtype != DType::Float64) return;
  const Window window = window_of(context.node, dy->shape, ints_attribute(context.node, "kernel_shape"));
  const int64_t group = int_attribute(context.node, "group"), channels = dw->shape[1], units = dw->shape[0] / group;
  const size_t rank = window.rank();
  const Expr n = variable("n"), g = variable("g"), m = variable("m"), c = variable("c");
  const Expr unit = group == 1 ? m : g * units + m;
  std::vector<Expr> x_index = {n, group == 1 ? c : g * channels + c}, dy_index = {n, unit}, dw_index = {unit, c};
  std::vector<Expr> positions;
  for (size_t i = 0; i < rank; ++i) {
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    positions.push_back(o * window.strides[i] + k * window.dilations[i] - window.pad_begin[i]);
    x_index.push_back(positions.back());
    dy_index.push_back(o);
    dw_index.push_back(k);
  }
  Expr value = load(x, x_index);
  const Expr inside = inside_window(window, positions);
  if (inside.defined()) value = loops::select(inside, value, constant(x->dtype, 0));
  const BufferRef sum = local_buffer("sum", x->dtype);
  Stmt reduce = store(sum, {}, load(sum, {}) + value * load(dy, dy_index));
  for (size_t i = rank; i-- > 0;) reduce = loop(cat("o", i), window.output[i], std::move(reduce));
  reduce = loop("n", x->shape[0], std::move(reduce));
  Stmt body =
      block({alloc(sum), store(sum, {}, constant(x->dtype, 0)), std::move(reduce), store(dw, dw_index, load(sum, {}))});
  for (size_t i = rank; i-- > 0;) body = loop(cat("k", i), window.kernel[i], std::move(body));
  body = loop("m", units, loop("c", channels, std::move(body)));
  if (group > 1) body = loop("g", group, std::move(body));
  context.emit("conv_weights", std::move(body));
}

// As the convolution's: one product for each pair of a tap and a position inside.
double flops_input(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>&) {
  const Window window = window_of(node, inputs[0], spatial(inputs[1]));
  return 2 * static_cast<double>(inputs[0][0] * inputs[0][1] * inputs[1][1]) * window.taps_inside();
}

double flops_weight(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const Window window = window_of(node, inputs[1], ints_attribute(node, "kernel_shape"));
  return 2 * static_cast<double>(inputs[1][0] * inputs[1][1] * outputs[0][1]) * window.taps_inside();
}

OpDef gradient_op(std::string name, bool kernel_required) {
  OpDef op;
  op.name = std::move(name);
  op.domain = kInternalDomain;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = window_attributes(
      kernel_required, {{"group", 1, "groups of channels"},
                        {"input_shape", required(AttributeType::Ints), "extents of the convolution's input"}});
  return op;
}

}  // namespace

OpDef define_ConvInputGradient() {
  OpDef op = gradient_op("ConvInputGradient", false);
  op.infer = infer_input;
  op.reference = reference_input;
  op.lower = lower_input;
  op.flops = flops_input;
  return op;
}

OpDef define_ConvWeightGradient() {
  OpDef op = gradient_op("ConvWeightGradient", true);
  op.infer = infer_weight;
  op.reference = reference_weight;
  op.lower = lower_weight;
  op.flops = flops_weight;
  return op;
}

}  // namespace dnn::conv_gradients_ops
