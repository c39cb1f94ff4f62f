// Convolutions, pooling, normalisation, resizing, over [N, H, W, C] (domain "nhwc").
#include <algorithm>
#include <cmath>
#include <limits>

#include "formats/resampling.h"
#include "formats/tensorflow/exports.h"
#include "ops/window.h"

namespace dnn::tensorflow {
namespace {

// A window over height and width, as the format can say it: SAME or VALID, behind a border where neither fits.
struct Sliding {
  bool same = false;
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> border = {0, 0, 0, 0};  // top, left, bottom, right: to be padded first
  Window window;                               // where the extents are known

  bool bordered() const { return border != std::vector<int64_t>(4, 0); }
  bool known() const { return !window.output.empty(); }
  bool dilated() const { return dilations != std::vector<int64_t>{1, 1}; }
  std::string padding() const { return same ? "SAME" : "VALID"; }
};

// Of open extents: what the attributes say of any.
Sliding open_window(const Export& e, std::vector<int64_t> kernel) {
  const Node& node = e.node();
  Sliding s;
  s.kernel = kernel.empty() ? node.attribute_ints("kernel_shape") : std::move(kernel);
  s.strides = node.attribute_ints("strides", {1, 1});
  s.dilations = node.attribute_ints("dilations", {1, 1});
  const std::string automatic = node.attribute_string("auto_pad", "NOTSET");
  if (node.attribute_int("ceil_mode", 0) != 0 || automatic == "SAME_LOWER")
    e.refuse("its input's height and width are open; fix them with --shape");
  s.same = automatic == "SAME_UPPER";
  if (automatic == "NOTSET") s.border = node.attribute_ints("pads", {0, 0, 0, 0});
  return s;
}

Sliding sliding(const Export& e, const std::vector<int64_t>& kernel) {
  const std::vector<int64_t> x = e.shape(0);
  if (x[1] < 0 || x[2] < 0) return open_window(e, kernel);
  Sliding s;
  s.window = Window::of(e.node(), {x[1], x[2]}, kernel);
  const Window& w = s.window;
  s.kernel = w.kernel;
  s.strides = w.strides;
  s.dilations = w.dilations;
  bool same = true, valid = true;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = (w.output[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - w.input[i];
    const int64_t end = std::max<int64_t>(0, reach - w.pad_begin[i]);  // what the last window needs
    s.border[i] = w.pad_begin[i];
    s.border[i + 2] = end;
    const int64_t all = std::max<int64_t>(0, reach);
    same = same && w.output[i] == (w.input[i] + w.strides[i] - 1) / w.strides[i] && w.pad_begin[i] == all / 2;
    valid = valid && w.pad_begin[i] == 0 && end == 0;
  }
  if (valid || same) s.border.assign(4, 0);
  s.same = same && !valid;
  return s;
}

// Input 0 inside its border, filled with `fill`.
Edge padded(Export& e, const Sliding& s, double fill) {
  if (!s.bordered()) return e.input(0);
  const std::vector<int32_t> rows = {0,
                                     0,
                                     static_cast<int32_t>(s.border[0]),
                                     static_cast<int32_t>(s.border[2]),
                                     static_cast<int32_t>(s.border[1]),
                                     static_cast<int32_t>(s.border[3]),
                                     0,
                                     0};
  const Edge pads = e.store("paddings", Tensor::of<int32_t>({4, 2}, rows));
  NodeBuilder node = e.step(fill == 0 ? "Pad" : "PadV2", "Pad");
  node.in(e.input(0)).in(pads).type("T", e.dtype(0)).type("Tpaddings", DT_INT32);
  if (fill != 0) node.in(e.number(fill));
  return e.add(std::move(node));
}

std::vector<int64_t> over(const std::vector<int64_t>& hw) { return {1, hw[0], hw[1], 1}; }

NodeBuilder& slide(NodeBuilder& node, const Sliding& s) {
  node.integers("strides", over(s.strides)).text("padding", s.padding()).text("data_format", "NHWC");
  return node;
}

// [N, H, W, C] as blocks, so that a convolution without dilations sees every d-th element; and the way back.
Edge to_blocks(Export& e, const Sliding& s, std::vector<int32_t>* crops, Sliding* inner) {
  if (!s.known()) e.refuse("a dilated convolution of open height and width; fix them with --shape");
  std::vector<int32_t> pads;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t begin = s.window.pad_begin[i];
    const int64_t reach = (s.window.output[i] - 1) + (s.kernel[i] - 1) * s.dilations[i] + 1;
    const int64_t whole = std::max(reach, s.window.input[i] + begin);
    const int64_t extra = (s.dilations[i] - whole % s.dilations[i]) % s.dilations[i];
    pads.push_back(static_cast<int32_t>(begin));
    pads.push_back(static_cast<int32_t>(whole + extra - s.window.input[i] - begin));
    crops->push_back(0);
    crops->push_back(static_cast<int32_t>(whole + extra - (s.kernel[i] - 1) * s.dilations[i] - s.window.output[i]));
  }
  *inner = s;
  inner->same = false;
  inner->dilations = {1, 1};
  const Edge block = e.ints(s.dilations), rows = e.store("paddings", Tensor::of<int32_t>({2, 2}, pads));
  return e.add(e.step("SpaceToBatchND", "SpaceToBatchND")
                   .in({e.input(0), block, rows})
                   .type("T", e.dtype(0))
                   .type("Tblock_shape", DT_INT32)
                   .type("Tpaddings", DT_INT32));
}

}  // namespace

// Groups are one convolution each over a part of the channels, unless each channel is a group.
void write_conv(Export& e) {
  const std::vector<int64_t> x = e.shape(0), ws = e.shape(1);
  const Tensor& w = e.known(1, "weight");
  if (w.rank() != 4 || x[3] < 0) e.refuse("weights of rank ", w.rank(), " over ", x[3], " channels");
  const Sliding s = sliding(e, {w.dim(2), w.dim(3)});
  const int64_t group = e.node().attribute_int("group", 1), out = w.dim(0);
  const bool biased = e.has_input(2), depthwise = group == x[3] && group > 1 && w.dim(1) == 1;
  const bool stretched = s.strides[0] != 1 || s.strides[1] != 1;
  // TensorFlow's depthwise kernels take one stride for both axes, and no dilations: those are written as it does, in blocks.
  const bool blocks = depthwise && s.dilated();
  if (depthwise && s.strides[0] != s.strides[1]) e.refuse("a depthwise convolution of strides ", shape_text(s.strides));
  if (blocks && stretched) e.refuse("a depthwise convolution with strides and dilations");
  Sliding inner = s;
  std::vector<int32_t> crops;
  const Edge in = blocks ? to_blocks(e, s, &crops, &inner) : padded(e, s, 0);
  const auto convolution = [&](const char* op, const Edge& from, const Edge& weight, bool last) {
    NodeBuilder node = last ? e.last(op) : e.step(op, group > 1 && !depthwise ? op : "");
    node.in(from).in(weight).type("T", e.dtype(0)).integers("dilations", over(inner.dilations));
    return slide(node, inner);
  };
  NodeBuilder node("", "");
  if (depthwise) {  // [C * m, 1, H, W] as [H, W, C, m]
    const int64_t m = out / group;
    const Tensor apart = w.reshaped({group, m, w.dim(2), w.dim(3)});
    const Edge weight = e.store_input(1, transposed(apart, {2, 3, 0, 1}));
    node = convolution("DepthwiseConv2dNative", in, weight, !biased && !blocks);
  } else if (group == 1) {
    node = convolution("Conv2D", in, e.store_input(1, transposed(w, {2, 3, 1, 0})), !biased);
  } else {
    const Edge weight = e.store_input(1, transposed(w, {2, 3, 1, 0}));
    const auto parts = [&](const char* what, const Edge& from, int64_t axis) {
      return e.add(
          e.step("Split", what).in(e.integer(axis)).in(from).type("T", e.dtype(0)).integer("num_split", group));
    };
    const Edge xs = parts("Split", in, 3), weights = parts("Split", weight, 3);
    std::vector<Edge> ys;
    for (int64_t g = 0; g < group; ++g)
      ys.push_back(e.add(convolution("Conv2D", cat(xs, ":", g), cat(weights, ":", g), false)));
    const Edge axis = e.integer(3);
    node = biased ? e.step("ConcatV2") : e.last("ConcatV2");
    node.in(ys).in(axis).type("T", e.dtype(0)).type("Tidx", DT_INT32).integer("N", group);
  }
  if (blocks) {
    const Edge y = e.add(std::move(node));
    const Edge block = e.ints(s.dilations), rows = e.store("crops", Tensor::of<int32_t>({2, 2}, crops));
    node = biased ? e.step("BatchToSpaceND", "BatchToSpaceND") : e.last("BatchToSpaceND");
    node.in({y, block, rows}).type("T", e.dtype(0)).type("Tblock_shape", DT_INT32).type("Tcrops", DT_INT32);
  }
  if (!biased) return e.finish(std::move(node));
  const Edge sum = e.add(std::move(node));
  e.finish(e.last("BiasAdd").in(sum).in(e.input(2)).type("T", e.dtype(0)));
}

// The whole of what the windows cover, cut to what the padding leaves.
void write_conv_transpose(Export& e) {
  const Tensor& w = e.known(1, "weight");
  const Node& node = e.node();
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape();
  if (node.attribute_int("group", 1) != 1) e.refuse("transposed convolution in groups");
  const std::vector<int64_t> dilations = node.attribute_ints("dilations", {1, 1});
  if (dilations != std::vector<int64_t>{1, 1}) e.refuse("transposed convolution with dilations");
  if (x[1] < 0 || x[2] < 0) e.refuse("its height and width are open; fix them with --shape");
  const std::vector<int64_t> strides = node.attribute_ints("strides", {1, 1});
  const std::vector<int64_t> pads = node.attribute_ints("pads", {0, 0, 0, 0});
  if (node.attribute_string("auto_pad", "NOTSET") != "NOTSET" || node.has_attribute("output_shape"))
    e.refuse("padding that follows from an output's shape");
  std::vector<int64_t> whole = y;
  bool cut = false, same = true;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t all = (x[i + 1] - 1) * strides[i] + w.dim(static_cast<int>(i) + 2);
    whole[i + 1] = std::max(all, pads[i] + y[i + 1]);
    cut = cut || whole[i + 1] != y[i + 1];
    // SAME of the convolution that this is the way back of
    const int64_t needed = std::max<int64_t>(0, all - y[i + 1]);
    same = same && x[i + 1] == (y[i + 1] + strides[i] - 1) / strides[i] && pads[i] == needed / 2;
  }
  if (same) {
    whole = y;
    cut = false;
  }
  const bool biased = e.has_input(2);
  Edge size;
  if (y[0] >= 0) {
    size = e.ints(whole);
  } else {  // the batch is the input's
    const Edge all = e.add(e.step("Shape", "Shape").in(e.input(0)).type("T", e.dtype(0)).type("out_type", DT_INT32));
    const auto one = [&](int32_t v) { return e.store("bound", Tensor::of<int32_t>({1}, {v})); };
    const Edge from = one(0), to = one(1), step = one(1);
    const Edge batch = e.add(e.step("StridedSlice", "batch")
                                 .in({all, from, to, step})
                                 .type("T", DT_INT32)
                                 .type("Index", DT_INT32)
                                 .integer("shrink_axis_mask", 0));
    const Edge rest = e.ints({whole[1], whole[2], whole[3]}), axis = e.integer(0);
    size = e.add(
        e.step("ConcatV2", "size").in({batch, rest, axis}).type("T", DT_INT32).type("Tidx", DT_INT32).integer("N", 2));
  }
  const Edge weight = e.store_input(1, transposed(w, {2, 3, 1, 0}));
  NodeBuilder made = biased || cut ? e.step("Conv2DBackpropInput") : e.last("Conv2DBackpropInput");
  made.in({size, weight, e.input(0)}).type("T", e.dtype(0)).integers("strides", over(strides));
  made.text("padding", same ? "SAME" : "VALID").text("data_format", "NHWC").integers("dilations", {1, 1, 1, 1});
  if (cut) {
    const Edge result = e.add(std::move(made));
    const Edge begin = e.ints({0, pads[0], pads[1], 0}), extents = e.ints({-1, y[1], y[2], y[3]});
    made = biased ? e.step("Slice", "Slice") : e.last("Slice");
    made.in({result, begin, extents}).type("T", e.dtype(0)).type("Index", DT_INT32);
  }
  if (!biased) return e.finish(std::move(made));
  const Edge sum = e.add(std::move(made));
  e.finish(e.last("BiasAdd").in(sum).in(e.input(2)).type("T", e.dtype(0)));
}

void write_max_pool(Export& e) {
  if (e.node().output(1) != kNoValue) e.refuse("indices of largest elements");
  const Sliding s = sliding(e, {});
  if (s.dilated()) e.refuse("a dilated window");
  const Edge in = padded(e, s, static_cast<double>(std::numeric_limits<float>::lowest()));
  NodeBuilder node = e.last("MaxPool");
  node.in(in).type("T", e.dtype(0)).integers("ksize", over(s.kernel));
  e.finish(slide(node, s));
}

// TensorFlow divides by the elements inside the tensor under SAME, by all of the window under VALID. Any other count is a factor
// for each position.
void write_average_pool(Export& e) {
  Sliding s = sliding(e, {});
  if (s.dilated()) e.refuse("a dilated window");
  const Window& w = s.window;
  const bool count_padding = e.node().attribute_int("count_include_pad", 0) != 0;
  if (!s.known() && (s.bordered() || (s.same && count_padding)) && !count_padding)
    e.refuse("its input's height and width are open; fix them with --shape");
  if (!s.known() && s.same && count_padding) e.refuse("its input's height and width are open; fix them with --shape");
  if (s.same && count_padding) {
    s.same = false;
    for (size_t i = 0; i < 2; ++i) {
      s.border[i] = w.pad_begin[i];
      s.border[i + 2] =
          std::max<int64_t>(0, (w.output[i] - 1) * w.strides[i] + w.kernel[i] - w.input[i] - w.pad_begin[i]);
    }
  }
  std::vector<float> factors;
  bool even = true;
  for (int64_t h = 0; s.known() && s.bordered() && h < w.output[0]; ++h) {
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
  const Edge in = padded(e, s, 0);
  NodeBuilder node = even ? e.last("AvgPool") : e.step("AvgPool", "AvgPool");
  node.in(in).type("T", e.dtype(0)).integers("ksize", over(s.kernel));
  slide(node, s);
  if (even) return e.finish(std::move(node));
  const Edge mean = e.add(std::move(node));
  const Tensor share = Tensor::of<float>({1, w.output[0], w.output[1], 1}, factors);
  const Edge by = e.store("share", convert(share, e.type(0).dtype));
  e.finish(e.last("Mul").in(mean).in(by).type("T", e.dtype(0)));
}

// (x - mean) * scale / sqrt(variance + epsilon) + bias as a factor and a term per channel.
void write_as_scale_and_shift(Export& e, size_t axes_behind_channels) {
  std::vector<std::vector<double>> v;
  for (size_t i = 1; i < 5; ++i) v.push_back(to_doubles(e.known(i, "parameter")));
  const auto epsilon = static_cast<double>(e.node().attribute_float("epsilon", 1e-5f));
  std::vector<double> factor, term;
  for (size_t c = 0; c < v[0].size(); ++c) {
    factor.push_back(v[0][c] / std::sqrt(v[3][c] + epsilon));
    term.push_back(v[1][c] - v[2][c] * factor.back());
  }
  Shape shape(1 + axes_behind_channels, 1);
  shape[0] = static_cast<int64_t>(factor.size());
  const DType dtype = e.type(0).dtype;
  const Edge by = e.store("scale", convert(Tensor::of<double>(shape, factor), dtype)),
             plus = e.store("shift", convert(Tensor::of<double>(shape, term), dtype));
  const Edge product = e.add(e.step("Mul").in(e.input(0)).in(by).type("T", e.dtype(0)));
  e.finish(e.last("AddV2").in(product).in(plus).type("T", e.dtype(0)));
}

// Parameters of FusedBatchNormV3 are float32 beside data of 16 bits; there is none for float64.
void write_batch_norm(Export& e) {
  const Node& node = e.node();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) e.refuse("its running mean and variance as outputs");
  }
  const DType dtype = e.type(0).dtype;
  if (dtype == DType::Float64) return write_as_scale_and_shift(e, 0);
  for (size_t i : {3, 4}) e.file().not_trained(node.inputs[i]);
  NodeBuilder made = e.last("FusedBatchNormV3");
  made.in(e.input(0));
  for (size_t i = 1; i < 5; ++i)
    made.in(dtype == DType::Float32 ? e.input(i) : e.store_input(i, convert(e.known(i, "parameter"), DType::Float32)));
  made.type("T", e.dtype(0)).type("U", DT_FLOAT).number("epsilon", node.attribute_float("epsilon", 1e-5f));
  made.flag("is_training", false).text("data_format", "NHWC");
  e.finish(std::move(made));
}

// A batch norm of other than four axes.
void write_batch_norm_elsewhere(Export& e) {
  const size_t rank = e.shape(0).size();
  if (rank < 2) e.refuse("an input of rank ", rank);
  write_as_scale_and_shift(e, rank - 2);
}

void write_lrn(Export& e) {
  const Node& node = e.node();
  const int64_t size = node.attribute_int("size", 1);
  if (size % 2 == 0) e.refuse("normalisation over an even number of channels");
  e.finish(e.last("LRN")
               .in(e.input(0))
               .type("T", e.dtype(0))
               .integer("depth_radius", size / 2)
               .number("bias", node.attribute_float("bias", 1))
               .number("alpha", node.attribute_float("alpha", 1e-4f) / static_cast<float>(size))
               .number("beta", node.attribute_float("beta", 0.75f)));
}

void write_blocks(Export& e) {
  const Node& node = e.node();
  if (node.attribute_string("mode", "DCR") != "DCR") e.refuse("blocks in the order CRD");
  NodeBuilder made = e.last(e.as());
  made.in(e.input(0)).type("T", e.dtype(0)).integer("block_size", node.attribute_int("blocksize", 1));
  e.finish(std::move(made.text("data_format", "NHWC")));
}

void write_resize(Export& e) {
  const Node& node = e.node();
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape();
  if (x.size() != 4 || x[3] != y[3] || y[1] < 0 || y[2] < 0)
    e.refuse("resizing ", shape_text(x), " to ", shape_text(y), "; only height and width can be, to fixed extents");
  const std::string mode = node.attribute_string("mode", "nearest"),
                    at = node.attribute_string("coordinate_transformation_mode", "half_pixel"),
                    nearest = node.attribute_string("nearest_mode", "round_prefer_floor");
  if (node.attribute_int("antialias", 0) != 0) e.refuse("antialiasing");
  if (mode != "linear" && mode != "nearest") e.refuse("resizing by ", mode);
  const std::vector<ResizedAxis> axes = resized_axes(node, e.has_input(2) ? e.constant(2) : nullptr, x, y);
  bool corners = at == "align_corners";
  bool centres = at == "half_pixel" || (at == "pytorch_half_pixel" && y[1] > 1 && y[2] > 1);
  if (mode == "linear") {
    if (!corners && !centres && at != "asymmetric") e.refuse("coordinates ", at);
    if (const std::string apart = factor_apart(axes, corners); !apart.empty()) e.refuse(apart);
  } else if (x[1] > 0 && x[2] > 0) {
    const auto how = nearest_mode(node, axes);
    if (!how) e.refuse("nearest elements by ", nearest, " of coordinates ", at);
    corners = how->corners;
    centres = how->centres;
  } else if ((!corners && !centres && at != "asymmetric") ||
             nearest != (corners || centres ? "round_prefer_ceil" : "floor")) {
    e.refuse("nearest elements by ", nearest, " of coordinates ", at);
  }
  // ResizeBilinear makes float32 of all types.
  const DType dtype = e.type(0).dtype;
  const bool is_narrow = mode == "linear" && (dtype == DType::Float16 || dtype == DType::BFloat16);
  if (mode == "linear" && dtype != DType::Float32 && !is_narrow)
    e.refuse("linear resizing of ", dtype_name(dtype), ", which is float32 there");
  const char* op = mode == "linear" ? "ResizeBilinear" : "ResizeNearestNeighbor";
  NodeBuilder made = is_narrow ? e.step(op) : e.last(op);
  made.in(e.input(0)).in(e.ints({y[1], y[2]})).type("T", e.dtype(0));
  made.flag("align_corners", corners).flag("half_pixel_centers", centres);
  if (!is_narrow) return e.finish(std::move(made));
  e.finish(e.last("Cast").in(e.add(std::move(made))).type("SrcT", DT_FLOAT).type("DstT", e.dtype(0)));
}

}  // namespace dnn::tensorflow
