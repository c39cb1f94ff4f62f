// Convolutions, pooling, normalisation, resizing. Activations are NHWC, weights OHWI; the IR's operators want NCHW and OIHW, so
// each stands between Transposes, which settle_transposes() removes afterwards.
#include <algorithm>

#include "formats/resampling.h"
#include "formats/tflite/imports.h"

namespace dnn::tflite {
namespace {

const std::vector<int64_t> kImageRank = {1, 2, 3};  // the axes of one

// One spatial axis of a window that slides.
struct SlidingAxis {
  int64_t in, kernel, stride, dilation;
};

void check_rank(Op& op, size_t rank) {
  if (op.shape(0).size() != rank) op.fail("its input has rank ", op.shape(0).size(), ", not ", rank);
}

// Attributes strides, dilations and padding of windows over height and width. SAME makes ceil(in / stride) positions,
// with the odd element of padding at the end.
Attributes window(Op& op, Padding padding, const SlidingAxis& h, const SlidingAxis& w) {
  Attributes attributes;
  for (const SlidingAxis& axis : {h, w}) {
    if (axis.stride < 1 || axis.dilation < 1 || axis.kernel < 1)
      op.fail("a window of ", axis.kernel, ", stride ", axis.stride, ", dilation ", axis.dilation);
  }
  attributes["strides"] = std::vector<int64_t>{h.stride, w.stride};
  attributes["dilations"] = std::vector<int64_t>{h.dilation, w.dilation};
  if (padding == Padding::VALID) return attributes;
  if (padding != Padding::SAME) op.refuse("padding ", static_cast<int>(padding), " is not read");
  if (h.in < 0 || w.in < 0) {
    attributes["auto_pad"] = std::string("SAME_UPPER");
    return attributes;
  }
  std::vector<int64_t> pads(4);
  for (size_t i = 0; i < 2; ++i) {
    const SlidingAxis& axis = i == 0 ? h : w;
    const int64_t out = (axis.in + axis.stride - 1) / axis.stride;
    const int64_t all = std::max<int64_t>(0, (out - 1) * axis.stride + (axis.kernel - 1) * axis.dilation + 1 - axis.in);
    pads[i] = all / 2;
    pads[i + 2] = all - all / 2;
  }
  if (pads != std::vector<int64_t>(4, 0)) attributes["pads"] = std::move(pads);
  return attributes;
}

// Emits a convolution of weights reordered by `perm`, its bias and activation.
void finish_conv(Op& op, const Permutation& perm, Attributes attributes, Activation activation) {
  std::vector<ValueId> inputs = {op.transpose(op.meets(op.real(0), 0, 1, kImageRank), kToChannelsFirst),
                                 op.transpose(op.real(1), perm)};
  if (op.has_input(2)) inputs.push_back(op.real(2));
  const ValueId y = op.transpose(op.emit("Conv", std::move(inputs), std::move(attributes)), kToChannelsLast);
  op.define(0, op.activated(y, activation));
}

template <class Emit>
void pool(Op& op, const Emit& emit) {
  check_rank(op, 4);
  using O = Pool2DOptions;
  const auto o = op.options<O>();
  const std::vector<int64_t> x = op.shape(0);
  Attributes attributes = window(op, o(&O::padding), {x[1], o(&O::filter_height), o(&O::stride_h), 1},
                                 {x[2], o(&O::filter_width), o(&O::stride_w), 1});
  attributes.erase("dilations");
  attributes["kernel_shape"] = std::vector<int64_t>{o(&O::filter_height), o(&O::filter_width)};
  const ValueId y =
      op.transpose(emit(op.transpose(op.real(0), kToChannelsFirst), std::move(attributes)), kToChannelsLast);
  op.define(0, op.activated(y, o(&O::activation)));
}

void resize(Op& op, Attributes attributes) {
  check_rank(op, 4);
  attributes["axes"] = std::vector<int64_t>{1, 2};
  const std::vector<int64_t> sizes = op.ints(1);
  if (sizes.size() != 2) op.fail("a size of ", sizes.size(), " extents");
  op.define(0, op.emit("Resize", {op.real(0), kNoValue, kNoValue, op.list(sizes)}, std::move(attributes)));
}

void read_blocks(Op& op, const std::string& name) {
  check_rank(op, 4);
  const ValueId x = op.transpose(op.real(0), kToChannelsFirst);
  const auto size = static_cast<int64_t>(op.options<BlockOptions>()(&BlockOptions::block_size));
  op.define(0, op.transpose(op.emit(name, {x}, {{"blocksize", size}}), kToChannelsLast));
}

}  // namespace

void conv(Op& op) {
  check_rank(op, 4);
  using O = Conv2DOptions;
  const auto o = op.options<O>();
  const std::vector<int64_t> x = op.shape(0), w = op.shape(1);
  if (w.size() != 4 || w[3] < 1) op.fail("weights of shape ", shape_text(w));
  Attributes attributes = window(op, o(&O::padding), {x[1], w[1], o(&O::stride_h), o(&O::dilation_h_factor)},
                                 {x[2], w[2], o(&O::stride_w), o(&O::dilation_w_factor)});
  if (x[3] % w[3] != 0) op.fail("weights for ", w[3], " channels, but ", x[3], " come");
  if (x[3] != w[3]) attributes["group"] = x[3] / w[3];
  finish_conv(op, kToChannelsFirst, std::move(attributes), o(&O::activation));
}

void depthwise_conv(Op& op) {
  check_rank(op, 4);
  using O = DepthwiseConv2DOptions;
  const auto o = op.options<O>();
  const std::vector<int64_t> x = op.shape(0), w = op.shape(1);
  if (w.size() != 4 || w[0] != 1 || x[3] < 1 || w[3] % x[3] != 0)
    op.fail("weights of shape ", shape_text(w), " for ", x[3], " channels");
  Attributes attributes = window(op, o(&O::padding), {x[1], w[1], o(&O::stride_h), o(&O::dilation_h_factor)},
                                 {x[2], w[2], o(&O::stride_w), o(&O::dilation_w_factor)});
  attributes["group"] = x[3];
  finish_conv(op, {3, 0, 1, 2}, std::move(attributes), o(&O::activation));
}

void transpose_conv(Op& op) {
  if (op.shape(2).size() != 4) op.fail("its input has rank ", op.shape(2).size(), ", not 4");
  using O = TransposeConvOptions;
  const auto o = op.options<O>();
  const std::vector<int64_t> size = op.ints(0), w = op.shape(1), x = op.shape(2);
  if (w.size() != 4 || size.size() != 4) op.fail("weights of shape ", shape_text(w), ", output of rank ", size.size());
  if (o(&O::stride_h) < 1 || o(&O::stride_w) < 1) op.fail("strides ", o(&O::stride_h), " and ", o(&O::stride_w));
  const std::vector<int64_t> strides = {o(&O::stride_h), o(&O::stride_w)};
  std::vector<int64_t> pads(4), extra(2);
  for (size_t i = 0; i < 2; ++i) {
    if (x[i + 1] < 0) op.refuse("an input of open extents");
    const int64_t whole = (x[i + 1] - 1) * strides[i] + w[i + 1];  // what all windows together cover
    const int64_t cut = whole - size[i + 1];
    if (cut < 0 && -cut >= strides[i]) op.fail("an output of ", size[i + 1], " from windows that cover ", whole);
    extra[i] = std::max<int64_t>(0, -cut);
    pads[i] = o(&O::padding) == Padding::SAME ? std::max<int64_t>(0, cut) / 2 : 0;
    pads[i + 2] = std::max<int64_t>(0, cut) - pads[i];
  }
  std::vector<ValueId> inputs = {op.transpose(op.meets(op.real(2), 2, 1, kImageRank), kToChannelsFirst),
                                 op.transpose(op.real(1), {3, 0, 1, 2})};
  if (op.has_input(3)) inputs.push_back(op.real(3));
  Attributes attributes = {{"strides", strides}, {"pads", pads}};
  if (extra != std::vector<int64_t>(2, 0)) attributes["output_padding"] = extra;
  const ValueId y = op.transpose(op.emit("ConvTranspose", std::move(inputs), std::move(attributes)), kToChannelsLast);
  op.define(0, op.activated(y, o(&O::activation)));
}

void average_pool(Op& op) {
  pool(op, [&](ValueId x, Attributes attributes) { return op.emit("AveragePool", {x}, std::move(attributes)); });
}

void max_pool(Op& op) {
  pool(op, [&](ValueId x, Attributes attributes) { return op.emit("MaxPool", {x}, std::move(attributes)); });
}

// ONNX divides alpha by the size of the window, TFLite does not.
void local_response_normalization(Op& op) {
  check_rank(op, 4);
  using O = LocalResponseNormalizationOptions;
  const auto o = op.options<O>();
  if (o(&O::radius) < 0 || o(&O::radius) > 1 << 20) op.fail("a radius of ", o(&O::radius));
  const int64_t size = 2 * static_cast<int64_t>(o(&O::radius)) + 1;
  const Attributes attributes = {
      {"size", size}, {"alpha", o(&O::alpha) * static_cast<float>(size)}, {"beta", o(&O::beta)}, {"bias", o(&O::bias)}};
  const ValueId x = op.transpose(op.real(0), kToChannelsFirst);
  op.define(0, op.transpose(op.emit("LRN", {x}, attributes), kToChannelsLast));
}

// x / sqrt(max(sum of x^2 along the last axis, 1e-6))
void l2_normalization(Op& op) {
  const ValueId x = op.real(0);
  const ValueId sum = op.emit("ReduceSumSquare", {x, op.list({-1})}, {{"keepdims", int64_t{1}}});
  const ValueId length = op.emit("Sqrt", {op.emit("Max", {sum, op.number(1e-6f)})});
  op.define(0,
            op.activated(op.emit("Div", {x, length}), op.options<ArithmeticOptions>()(&ArithmeticOptions::activation)));
}

void softmax(Op& op) {
  ValueId x = op.real(0);
  const float beta = op.options<SoftmaxOptions>()(&SoftmaxOptions::beta);
  if (beta != 1) x = op.emit("Mul", {x, op.number(beta)});
  op.define(0, op.emit("Softmax", {x}, {{"axis", int64_t{-1}}}));
}

void log_softmax(Op& op) { op.define(0, op.emit("LogSoftmax", {op.real(0)}, {{"axis", int64_t{-1}}})); }

void resize_bilinear(Op& op) {
  using O = ResizeBilinearOptions;
  const auto o = op.options<O>();
  if (o(&O::align_corners) && o(&O::half_pixel_centers)) op.refuse("align_corners with half_pixel_centers is not read");
  const std::string at = o(&O::align_corners)        ? "align_corners"
                         : o(&O::half_pixel_centers) ? "half_pixel"
                                                     : "asymmetric";
  resize(op, {{"mode", std::string("linear")}, {"coordinate_transformation_mode", at}});
}

void resize_nearest(Op& op) {
  using O = ResizeNearestNeighborOptions;
  const auto o = op.options<O>();
  const bool corners = o(&O::align_corners), centres = o(&O::half_pixel_centers);
  if (corners && centres) op.refuse("align_corners with half_pixel_centers is not read");
  Attributes attributes = {{"mode", std::string("nearest")}};
  attributes["coordinate_transformation_mode"] = std::string(corners   ? "align_corners"
                                                             : centres ? "half_pixel"
                                                                       : "asymmetric");
  attributes["nearest_mode"] = std::string(corners || centres ? "round_prefer_ceil" : "floor");
  check_rank(op, 4);
  const std::vector<int64_t> x = op.shape(0), sizes = op.constant(1) != nullptr ? op.ints(1) : std::vector<int64_t>();
  const std::vector<PickedAxis> picked = picked_otherwise(attributes, x, sizes, {corners, centres});
  if (picked.empty()) return resize(op, std::move(attributes));
  moved(op, 0, [&](ValueId v) { return pick_elements(op, v, picked); });
}

void depth_to_space(Op& op) { read_blocks(op, "DepthToSpace"); }
void space_to_depth(Op& op) { read_blocks(op, "SpaceToDepth"); }

}  // namespace dnn::tflite
