// DeformConv: a convolution whose taps are moved by offsets and weighed by a mask (Dai et al.; Zhu et al., "v2").
//
// Order: input channel of the group, then the kernel's axes, outermost first: sum += (sampled * mask) * weight; the bias is
// added last. Samples are bilinear, zero outside of the input. Two spatial axes.
#include <cmath>

#include "ops/convolve.h"
#include "ops/outputs.h"

namespace dnn::deform_conv_ops {
namespace {

// x: [N, C, H, W], w: [M, C/group, kH, kW], offset: [N, G * kH * kW * 2, oH, oW], b: [M], mask: [N, G * kH * kW, oH, oW]
void infer(InferContext& context) {
  const DType dtype = context.input(0).dtype;
  for (size_t i = 0; i < 5; ++i) {
    expect_float(context, i);
    expect_dtype(context, i, dtype);
  }
  Type type = infer_convolution(context, 0, 1, 3, dtype);
  if (type.shape && type.shape->size() != 4)
    fail_unsupported(context.node.label(), ": deformable convolution over ", type.shape->size() - 2, " axes");
  const int64_t groups = int_attribute(context.node, "offset_group");
  if (groups < 1) context.fail("offset_group ", groups, " must be at least 1");
  if (type.fixed() && context.input(0).fixed() && context.input(1).fixed()) {
    const Shape y = type.fixed_shape(), x = context.input(0).fixed_shape(), w = context.input(1).fixed_shape();
    if (x[1] % groups != 0) context.fail("offset_group ", groups, " does not divide ", x[1], " channels");
    const int64_t taps = element_count({groups, w[2], w[3]});
    for (size_t i : {2, 4}) {
      if (!context.has_input(i) || !context.input(i).fixed()) continue;
      const Shape wanted = {x[0], i == 2 ? 2 * taps : taps, y[2], y[3]};
      if (context.input(i).fixed_shape() != wanted)
        context.fail("input ", i, " is ", context.input(i).text(), ", ", shape_text(wanted), " expected");
    }
  }
  context.set_output(0, std::move(type));
}

template <class T>
Compute<T> sample(const T* image, int64_t height, int64_t width, Compute<T> y, Compute<T> x) {
  using C = Compute<T>;
  if (!(y > -1 && y < static_cast<C>(height) && x > -1 && x < static_cast<C>(width))) return 0;
  const C y0 = std::floor(y), x0 = std::floor(x), dy = y - y0, dx = x - x0;
  const auto row = static_cast<int64_t>(y0), column = static_cast<int64_t>(x0);
  const auto at = [&](int64_t r, int64_t c) {
    return r < 0 || r >= height || c < 0 || c >= width ? C(0) : widen(image[r * width + c]);
  };
  return (1 - dy) * ((1 - dx) * at(row, column) + dx * at(row, column + 1)) +
         dy * ((1 - dx) * at(row + 1, column) + dx * at(row + 1, column + 1));
}

template <class T>
void compute(ReferenceContext& context, Tensor& y) {
  using C = Compute<T>;
  const Tensor &x = context.input(0), &w = context.input(1);
  const Window window = Window::of(context.node, {x.dim(2), x.dim(3)}, {w.dim(2), w.dim(3)});
  const int64_t group = int_attribute(context.node, "group"),
                offset_groups = int_attribute(context.node, "offset_group");
  const int64_t channels = x.dim(1), c_per_group = w.dim(1), c_per_offset = channels / offset_groups;
  const int64_t taps = w.dim(2) * w.dim(3), height = x.dim(2), width = x.dim(3), positions = y.dim(2) * y.dim(3);
  const T *in = x.data<T>(), *weight = w.data<T>(), *offset = context.input(2).data<T>();
  const T* bias = context.has_input(3) ? context.input(3).data<T>() : nullptr;
  const T* mask = context.has_input(4) ? context.input(4).data<T>() : nullptr;
  T* out = y.mutable_data<T>();
  std::vector<C> samples(channels * taps);
  for (int64_t n = 0; n < x.dim(0); ++n) {
    for (int64_t p = 0; p < positions; ++p) {
      for (int64_t c = 0; c < channels; ++c) {
        for (int64_t k = 0; k < taps; ++k) {
          const int64_t tap = (n * offset_groups + c / c_per_offset) * taps + k;
          const C dy = widen(offset[2 * tap * positions + p]), dx = widen(offset[(2 * tap + 1) * positions + p]);
          const C at_y = static_cast<C>(window.position(0, p / y.dim(3), k / w.dim(3))) + dy;
          const C at_x = static_cast<C>(window.position(1, p % y.dim(3), k % w.dim(3))) + dx;
          const C value = sample(in + (n * channels + c) * height * width, height, width, at_y, at_x);
          samples[c * taps + k] = mask == nullptr ? value : value * widen(mask[tap * positions + p]);
        }
      }
      for (int64_t m = 0; m < w.dim(0); ++m) {
        const C* first = samples.data() + m / (w.dim(0) / group) * c_per_group * taps;
        C sum = 0;
        for (int64_t i = 0; i < c_per_group * taps; ++i) sum += first[i] * widen(weight[m * c_per_group * taps + i]);
        out[(n * w.dim(0) + m) * positions + p] = narrow<T>(bias == nullptr ? sum : sum + widen(bias[m]));
      }
    }
  }
}

void reference(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  dispatch_float(y.dtype(), [&](auto tag) { compute<typename decltype(tag)::type>(context, y); });
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_DeformConv() {
  OpDef op;
  op.name = "DeformConv";
  op.since = 22;
  op.min_inputs = 3;
  op.max_inputs = 5;
  op.traits = kNoTraits;
  op.attributes = {
      {"kernel_shape", optional(AttributeType::Ints), "extents of the kernel; left out: as the weights say"},
      {"strides", per_axis(1), "step between windows"},
      {"dilations", per_axis(1), "step between the elements of the kernel"},
      {"pads", per_axis(0), "begins, then ends"},
      {"group", 1, "groups of channels"},
      {"offset_group", 1, "groups of channels with offsets of their own"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::deform_conv_ops
