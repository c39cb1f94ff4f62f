// Convolutions, pooling, normalisation, resizing, over [N, H, W, C] (domain "nhwc").
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "formats/resampling.h"
#include "formats/tflite/exports.h"
#include "ops/window.h"

namespace dnn::tflite {
namespace {

// A window over height and width, as the format can say it: SAME or VALID, behind a border where neither fits.
struct WrittenSliding {
  Padding padding = Padding::VALID;
  std::vector<int64_t> strides, dilations;
  std::vector<int64_t> border = {0, 0, 0, 0};  // top, left, bottom, right: to be padded first
};

// The window of the node over its spatial extents; negative where the extents are open.
Window window_of(const Export& e, const std::vector<int64_t>& kernel) {
  const std::vector<int64_t> x = e.shape(0);
  if (x[1] < 0 || x[2] < 0) e.refuse("its input's height and width are open; fix them with --shape");
  return Window::of(e.node(), {x[1], x[2]}, kernel);
}

WrittenSliding sliding(const Window& w) {
  WrittenSliding s;
  s.strides = w.strides;
  s.dilations = w.dilations;
  bool same = true, valid = true;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = (w.output[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - w.input[i];
    const int64_t end = std::max<int64_t>(0, reach - w.pad_begin[i]);  // what the last window needs
    s.border[i] = w.pad_begin[i];
    s.border[i + 2] = end;
    // Where windows narrower than their strides leave elements out, LiteRT's XNNPACK (tf.lite 2.21.0) sees none under SAME.
    same = same && reach >= 0 && w.output[i] == (w.input[i] + w.strides[i] - 1) / w.strides[i] &&
           w.pad_begin[i] == reach / 2;
    valid = valid && w.pad_begin[i] == 0 && end == 0;
  }
  if (valid || same) s.border.assign(4, 0);
  s.padding = valid ? Padding::VALID : same ? Padding::SAME : Padding::VALID;
  return s;
}

bool bordered(const WrittenSliding& s) { return s.border != std::vector<int64_t>(4, 0); }

// Input 0 inside its border, filled with `fill`.
int32_t padded(Export& e, const WrittenSliding& s, double fill) {
  if (!bordered(s)) return e.input(0);
  Type type = e.type(0);
  for (size_t i = 0; i < 2; ++i)
    type.shape.value()[i + 1] = Dim(type.shape.value()[i + 1].size + s.border[i] + s.border[i + 2]);
  const int32_t y = e.step("padded", type);
  const std::vector<int32_t> rows = {0,
                                     0,
                                     static_cast<int32_t>(s.border[0]),
                                     static_cast<int32_t>(s.border[2]),
                                     static_cast<int32_t>(s.border[1]),
                                     static_cast<int32_t>(s.border[3]),
                                     0,
                                     0};
  const int32_t pads = e.store("pads", dnn::Tensor::of<int32_t>({4, 2}, rows));
  if (fill == 0) {
    e.op(34, {e.input(0), pads}, {y}, {22, CreateAnyTable(e.builder())});
  } else {
    e.op(60, {e.input(0), pads, e.number(fill)}, {y}, {43, CreateAnyTable(e.builder())});
  }
  return y;
}

int32_t bias_of(Export& e, size_t i, int64_t units) {
  if (e.has_input(i) && !e.quantized()) return e.input(i);
  return e.bias(i, units, e.has_input(i) ? &e.known(i, "bias") : nullptr);
}

int i32(int64_t value) { return static_cast<int>(value); }

void write_blocks(Export& e, int code, int options) {
  const int64_t size = e.node().attribute_int("blocksize", 1);
  if (e.node().attribute_string("mode", "DCR") != "DCR") e.refuse("blocks in the order CRD");
  e.op(code, {e.input(0)}, {e.output()}, {options, CreateBlockOptions(e.builder(), i32(size))});
}

}  // namespace

void write_conv(Export& e) {
  const dnn::Tensor& w = e.known(1, "weight");
  const std::vector<int64_t> x = e.shape(0);
  if (w.rank() != 4 || x[3] < 0) e.refuse("weights of rank ", w.rank(), " over ", x[3], " channels");
  const WrittenSliding s = sliding(window_of(e, {w.dim(2), w.dim(3)}));
  const int64_t group = e.node().attribute_int("group", 1), out = w.dim(0);
  const int32_t in = padded(e, s, 0), bias = bias_of(e, 2, out);
  if (group == x[3] && group > 1 && w.dim(1) == 1) {  // [C * m, 1, H, W] as [1, H, W, C * m]
    const int32_t weights = e.store_input(1, transposed(w, {1, 2, 3, 0}), 3);
    e.op(4, {in, weights, bias}, {e.output()},
         {2, CreateDepthwiseConv2DOptions(e.builder(), s.padding, i32(s.strides[1]), i32(s.strides[0]),
                                          i32(out / group), e.activation(), i32(s.dilations[1]), i32(s.dilations[0]))});
    return;
  }
  const int32_t weights = e.store_input(1, transposed(w, {0, 2, 3, 1}));
  e.op(3, {in, weights, bias}, {e.output()},
       {1, CreateConv2DOptions(e.builder(), s.padding, i32(s.strides[1]), i32(s.strides[0]), e.activation(),
                               i32(s.dilations[1]), i32(s.dilations[0]))});
}

// The whole of what the windows cover, cut to what the padding leaves.
void write_conv_transpose(Export& e) {
  const dnn::Tensor& w = e.known(1, "weight");
  const Node& node = e.node();
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape();
  if (node.attribute_int("group", 1) != 1) e.refuse("transposed convolution in groups");
  for (int64_t d : node.attribute_ints("dilations", {1, 1})) {
    if (d != 1) e.refuse("transposed convolution with dilations");
  }
  if (!e.output_type().fixed()) e.refuse("its extents are open; fix them with --shape");
  const std::vector<int64_t> strides = node.attribute_ints("strides", {1, 1});
  const std::vector<int64_t> pads = node.attribute_ints("pads", {0, 0, 0, 0});
  if (node.attribute_string("auto_pad", "NOTSET") != "NOTSET" || node.has_attribute("output_shape"))
    e.refuse("padding that follows from an output's shape");
  std::vector<int64_t> whole = y;
  bool cut = false;
  for (size_t i = 0; i < 2; ++i) {
    whole[i + 1] = std::max((x[i + 1] - 1) * strides[i] + w.dim(static_cast<int>(i) + 2), pads[i] + y[i + 1]);
    cut = cut || whole[i + 1] != y[i + 1];
  }
  const int32_t weights = e.store_input(1, transposed(w, {1, 2, 3, 0}));
  const int32_t bias = bias_of(e, 2, w.dim(1));
  const int32_t size = e.ints(whole);
  Type type = e.output_type();
  for (size_t i = 1; i < 3; ++i) type.shape.value()[i] = Dim(whole[i]);
  const int32_t result = cut ? e.last_step("whole", type) : e.output();
  e.op(67, {size, weights, e.input(0), bias}, {result},
       {49, CreateTransposeConvOptions(e.builder(), Padding::VALID, i32(strides[1]), i32(strides[0]))});
  if (cut) {
    const int32_t begin = e.ints({0, pads[0], pads[1], 0}), extents = e.ints(y);
    e.op(65, {result, begin, extents}, {e.output()}, {48, CreateAnyTable(e.builder())});
  }
}

void write_max_pool(Export& e) {
  if (e.node().output(1) != kNoValue) e.refuse("indices of largest elements");
  const Window w = window_of(e, {});
  const WrittenSliding s = sliding(w);
  if (w.dilations != std::vector<int64_t>{1, 1}) e.refuse("a dilated window");
  const int32_t in = padded(e, s, std::numeric_limits<float>::lowest());
  e.op(17, {in}, {e.output()},
       {5, CreatePool2DOptions(e.builder(), s.padding, i32(s.strides[1]), i32(s.strides[0]), i32(w.kernel[1]),
                               i32(w.kernel[0]), e.activation())});
}

// TFLite divides by the elements inside the tensor under SAME, by all of the window under VALID. Any other count is a factor
// for each position.
void write_average_pool(Export& e) {
  const Window w = window_of(e, {});
  WrittenSliding s = sliding(w);
  if (w.dilations != std::vector<int64_t>{1, 1}) e.refuse("a dilated window");
  const bool count_padding = e.node().attribute_int("count_include_pad", 0) != 0;
  if (s.padding == Padding::SAME && count_padding) {
    s.padding = Padding::VALID;
    for (size_t i = 0; i < 2; ++i) {
      s.border[i] = w.pad_begin[i];
      s.border[i + 2] =
          std::max<int64_t>(0, (w.output[i] - 1) * w.strides[i] + w.kernel[i] - w.input[i] - w.pad_begin[i]);
    }
  }
  std::vector<float> factors;
  bool even = true;
  for (int64_t h = 0; h < w.output[0] && bordered(s); ++h) {
    for (int64_t v = 0; v < w.output[1]; ++v) {
      const auto taps = [&](size_t axis, int64_t o) {
        return count_padding ? w.taps(axis, o, w.pad_begin[axis], w.pad_end[axis]).count() : w.taps(axis, o).count();
      };
      const int64_t counted = taps(0, h) * taps(1, v), all = w.kernel[0] * w.kernel[1];
      even = even && counted == all;
      factors.push_back(
          static_cast<float>(static_cast<double>(all) / static_cast<double>(std::max<int64_t>(1, counted))));
    }
  }
  if (!even && e.quantized()) e.refuse("windows over quantised numbers that reach past the border unevenly");
  const int32_t in = padded(e, s, 0), result = even ? e.output() : e.step("mean", e.output_type());
  const Activation activation = e.activation();
  e.op(1, {in}, {result},
       {5, CreatePool2DOptions(e.builder(), s.padding, i32(s.strides[1]), i32(s.strides[0]), i32(w.kernel[1]),
                               i32(w.kernel[0]), even ? activation : Activation::NONE)});
  if (even) return;
  const int32_t by = e.store("share", dnn::Tensor::of<float>({1, w.output[0], w.output[1], 1}, factors));
  e.op(18, {result, by}, {e.output()}, {21, CreateArithmeticOptions(e.builder(), activation)});
}

void write_lrn(Export& e) {
  const Node& node = e.node();
  const int64_t size = node.attribute_int("size", 1);
  if (size % 2 == 0) e.refuse("normalisation over an even number of channels");
  e.op(13, {e.input(0)}, {e.output()},
       {13, CreateLocalResponseNormalizationOptions(e.builder(), i32(size / 2), node.attribute_float("bias", 1),
                                                    node.attribute_float("alpha", 1e-4f) / static_cast<float>(size),
                                                    node.attribute_float("beta", 0.75f))});
}

void write_depth_to_space(Export& e) { write_blocks(e, 5, 94); }
void write_space_to_depth(Export& e) { write_blocks(e, 26, 19); }

void write_resize(Export& e) {
  const Node& node = e.node();
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape();
  if (x.size() != 4 || x[0] != y[0] || x[3] != y[3] || y[1] < 1 || y[2] < 1 || x[1] < 1 || x[2] < 1)
    e.refuse("resizing ", shape_text(x), " to ", shape_text(y), "; only height and width can be, to fixed extents");
  const std::string mode = node.attribute_string("mode", "nearest"),
                    at = node.attribute_string("coordinate_transformation_mode", "half_pixel");
  if (node.attribute_int("antialias", 0) != 0) e.refuse("antialiasing");
  if (node.attribute_string("keep_aspect_ratio_policy", "stretch") != "stretch") e.refuse("a kept aspect ratio");
  const int32_t size = e.ints({y[1], y[2]});
  const std::vector<ResizedAxis> axes = resized_axes(node, e.has_input(2) ? e.constant(2) : nullptr, x, y);
  if (mode == "nearest") {
    const auto how = nearest_mode(node, axes);
    if (!how)
      e.refuse("nearest elements by ", node.attribute_string("nearest_mode", "round_prefer_floor"), " of coordinates ",
               at);
    return e.op(97, {e.input(0), size}, {e.output()},
                {74, CreateResizeNearestNeighborOptions(e.builder(), how->corners, how->centres)});
  }
  if (mode != "linear") e.refuse("resizing by ", mode);
  const bool corners = at == "align_corners";
  const bool centres = at == "half_pixel" || (at == "pytorch_half_pixel" && y[1] > 1 && y[2] > 1);
  if (!corners && !centres && at != "asymmetric") e.refuse("coordinates ", at);
  if (const std::string apart = factor_apart(axes, corners); !apart.empty()) e.refuse(apart);
  e.op(23, {e.input(0), size}, {e.output()}, {15, CreateResizeBilinearOptions(e.builder(), 0, 0, corners, centres)});
}

}  // namespace dnn::tflite
