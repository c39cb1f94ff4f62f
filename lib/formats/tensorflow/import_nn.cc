// Convolutions, pooling, normalisation, resizing. Activations are NHWC or NCHW, weights HWIO; the IR's operators want NCHW and
// OIHW, so each stands between Transposes, which settle_transposes() removes afterwards.
#include <algorithm>
#include <cmath>

#include "formats/resampling.h"
#include "formats/tensorflow/imports.h"

namespace dnn::tensorflow {
namespace {

// Which axes are the spatial ones.
struct Layout {
  bool first = false;  // channels first
  size_t h() const { return first ? 2 : 1; }
  size_t w() const { return first ? 3 : 2; }
  size_t c() const { return first ? 1 : 3; }
};

Layout layout_of(Op& op) {
  const std::string format = op.text("data_format", "NHWC");
  if (format == "NHWC") return {false};
  if (format == "NCHW") return {true};
  op.refuse("data_format ", quoted(format), " is not read");
}

ValueId first(Op& op, const Layout& layout, ValueId v) { return layout.first ? v : op.transpose(v, kToChannelsFirst); }
ValueId back(Op& op, const Layout& layout, ValueId v) { return layout.first ? v : op.transpose(v, kToChannelsLast); }

// Extents of a tensor of rank 4, open ones (and an unknown rank) as -1.
std::vector<int64_t> image_extents(Op& op, ValueId v) {
  if (!op.ranked(v)) return std::vector<int64_t>(4, -1);
  std::vector<int64_t> shape = op.shape(v);
  if (shape.size() != 4) op.fail("its input has rank ", shape.size(), ", not 4");
  return shape;
}

// The spatial entries of an attribute with one entry per axis; 1 where there is none.
std::vector<int64_t> spatial(Op& op, const std::string& key, const Layout& layout) {
  const std::vector<int64_t> all = op.integers(key);
  if (all.empty()) return {1, 1};
  if (all.size() != 4) op.fail("attribute ", key, " has ", all.size(), " entries, not 4");
  if (all[0] != 1 || all[layout.c()] != 1) op.refuse(key, " over batch or channels");
  std::vector<int64_t> result = {all[layout.h()], all[layout.w()]};
  if (result[0] < 1 || result[1] < 1 || result[0] > INT32_MAX || result[1] > INT32_MAX)
    op.fail("attribute ", key, " is ", shape_text(all));
  return result;
}

// Sets pads, or auto_pad where extents are open. SAME makes ceil(in / stride) positions, the odd element of padding at the end.
void set_padding(Op& op, const Layout& layout, const std::vector<int64_t>& x, const std::vector<int64_t>& kernel,
                 const std::vector<int64_t>& strides, const std::vector<int64_t>& dilations, Attributes* attributes) {
  const std::string padding = op.text("padding", "");
  std::vector<int64_t> pads(4);
  if (padding == "EXPLICIT") {
    const std::vector<int64_t> all = op.integers("explicit_paddings");
    if (all.size() != 8) op.fail("attribute explicit_paddings has ", all.size(), " entries, not 8");
    for (size_t i = 0; i < 2; ++i) {
      const size_t axis = i == 0 ? layout.h() : layout.w();
      pads[i] = all[2 * axis];
      pads[i + 2] = all[2 * axis + 1];
    }
    if (all[0] != 0 || all[1] != 0 || all[2 * layout.c()] != 0 || all[2 * layout.c() + 1] != 0)
      op.refuse("padding of batch or channels");
    if (*std::min_element(pads.begin(), pads.end()) < 0 || *std::max_element(pads.begin(), pads.end()) > INT32_MAX)
      op.fail("attribute explicit_paddings is ", shape_text(all));
  } else if (padding == "SAME") {
    for (size_t i = 0; i < 2; ++i) {
      const int64_t in = x[i == 0 ? layout.h() : layout.w()];
      if (in < 0) {
        (*attributes)["auto_pad"] = std::string("SAME_UPPER");
        return;
      }
      const int64_t out = (in + strides[i] - 1) / strides[i];
      const int64_t all = std::max<int64_t>(0, (out - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - in);
      pads[i] = all / 2;
      pads[i + 2] = all - all / 2;
    }
  } else if (padding != "VALID") {
    op.fail("attribute padding is ", quoted(padding));
  }
  if (pads != std::vector<int64_t>(4, 0)) (*attributes)["pads"] = pads;
}

std::vector<int64_t> kernel_shape(Op& op, ValueId weight) {
  std::vector<int64_t> w = op.shape(weight);
  if (w.size() != 4 || *std::min_element(w.begin(), w.end()) < 1) op.refuse("weights of shape ", shape_text(w));
  return w;
}

// Emits the convolution of `x` with a weight in the IR's order.
void finish(Op& op, const Layout& layout, ValueId x, ValueId weight, Attributes attributes) {
  const ValueId y = back(op, layout, op.emit("Conv", {first(op, layout, x), weight}, attributes));
  const bool plain = !layout.first && op.text("padding", "") == "VALID" &&
                     spatial(op, "strides", layout) == std::vector<int64_t>{1, 1} &&
                     spatial(op, "dilations", layout) == std::vector<int64_t>{1, 1};
  op.define(0, y);
  op.source().convolved[y] = {x, weight, std::move(attributes), plain};
}

Attributes windows(Op& op, const Layout& layout, ValueId x, const std::vector<int64_t>& kernel) {
  const std::vector<int64_t> strides = spatial(op, "strides", layout), dilations = spatial(op, "dilations", layout);
  Attributes attributes = {{"strides", strides}, {"dilations", dilations}};
  set_padding(op, layout, image_extents(op, x), kernel, strides, dilations, &attributes);
  return attributes;
}

void pool(Op& op, const char* name) {
  const Layout layout = layout_of(op);
  const ValueId x = op.in(0);
  std::vector<int64_t> kernel, strides;
  if (op.input_count() == 3) {  // MaxPoolV2 computes them
    const std::vector<int64_t> size = op.ints(1), step = op.ints(2);
    if (size.size() != 4 || step.size() != 4) op.fail("a window of ", size.size(), " extents");
    kernel = {size[layout.h()], size[layout.w()]};
    strides = {step[layout.h()], step[layout.w()]};
    if (size[0] != 1 || size[layout.c()] != 1 || step[0] != 1 || step[layout.c()] != 1)
      op.refuse("pooling over batch or channels");
    for (int64_t v : {kernel[0], kernel[1], strides[0], strides[1]}) {
      if (v < 1 || v > INT32_MAX) op.fail("a window of ", shape_text(kernel), " and strides of ", shape_text(strides));
    }
  } else {
    kernel = spatial(op, "ksize", layout);
    strides = spatial(op, "strides", layout);
  }
  Attributes attributes = {{"kernel_shape", kernel}, {"strides", strides}};
  set_padding(op, layout, image_extents(op, x), kernel, strides, {1, 1}, &attributes);
  op.define(0, back(op, layout, op.emit(name, {first(op, layout, x)}, std::move(attributes))));
}

void resize(Op& op, ValueId x, Attributes attributes) {
  image_extents(op, x);
  attributes["axes"] = std::vector<int64_t>{1, 2};
  op.define(0, op.emit("Resize", {x, kNoValue, kNoValue, op.extents(1)}, std::move(attributes)));
}

}  // namespace

void conv(Op& op) {
  const Layout layout = layout_of(op);
  const ValueId x = op.in(0), weight = op.in(1);
  const std::vector<int64_t> w = kernel_shape(op, weight), shape = image_extents(op, x);  // w: [H, W, I, O]
  Attributes attributes = windows(op, layout, x, w);
  const int64_t channels = shape[layout.c()];
  if (channels >= 0 && channels % w[2] != 0) op.fail("weights for ", w[2], " channels, but ", channels, " come");
  if (channels > w[2]) attributes["group"] = channels / w[2];
  finish(op, layout, x, op.transpose(weight, {3, 2, 0, 1}), std::move(attributes));
}

// The weight [H, W, C, m] is [C * m, 1, H, W] of a convolution in C groups.
void depthwise_conv(Op& op) {
  const Layout layout = layout_of(op);
  const ValueId x = op.in(0), weight = op.in(1);
  const std::vector<int64_t> w = kernel_shape(op, weight);
  Attributes attributes = windows(op, layout, x, w);
  attributes["group"] = w[2];
  const ValueId grouped = op.reshape(op.transpose(weight, {2, 3, 0, 1}), {w[2] * w[3], 1, w[0], w[1]});
  finish(op, layout, x, grouped, std::move(attributes));
}

// The gradient of a convolution by its input, which decoders use to enlarge: the output's extents are given.
void conv_backprop_input(Op& op) {
  const Layout layout = layout_of(op);
  const ValueId weight = op.in(1), x = op.in(2);
  const std::vector<int64_t> w = kernel_shape(op, weight), in = image_extents(op, x);  // w: [H, W, O, I]
  const std::vector<int64_t> strides = spatial(op, "strides", layout), dilations = spatial(op, "dilations", layout);
  std::vector<int64_t> out(4, -1);
  if (const auto given = op.dims(0)) {
    if (given->size() != 4) op.fail("an output of rank ", given->size());
    for (size_t i = 0; i < 4; ++i) out[i] = (*given)[i].size;
  }
  const std::string padding = op.text("padding", "");
  if (padding != "SAME" && padding != "VALID") op.refuse("padding ", quoted(padding), " is not read");
  std::vector<int64_t> pads(4), extra(2);
  for (size_t i = 0; i < 2; ++i) {
    const size_t axis = i == 0 ? layout.h() : layout.w();
    const int64_t reach = (w[i] - 1) * dilations[i] + 1;
    int64_t cut = padding == "SAME" ? std::max<int64_t>(0, reach - strides[i]) : 0;  // where extents are open
    if (in[axis] >= 0 && out[axis] >= 0) {
      const int64_t whole = (in[axis] - 1) * strides[i] + reach;  // what all windows together cover
      cut = whole - out[axis];
      if (cut < 0 && -cut >= strides[i]) op.fail("an output of ", out[axis], " from windows that cover ", whole);
      if (cut > 0 && padding == "VALID") op.fail("an output of ", out[axis], " from windows that cover ", whole);
      extra[i] = std::max<int64_t>(0, -cut);
      cut = std::max<int64_t>(0, cut);
    }
    pads[i] = cut / 2;
    pads[i + 2] = cut - cut / 2;
  }
  Attributes attributes = {{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
  if (extra != std::vector<int64_t>(2, 0)) attributes["output_padding"] = extra;
  const ValueId y =
      op.emit("ConvTranspose", {first(op, layout, x), op.transpose(weight, {3, 2, 0, 1})}, std::move(attributes));
  op.define(0, back(op, layout, y));
}

// The bias of a convolution or product becomes its own where nothing else reads the sum without it.
void bias_add(Op& op) {
  const Layout layout = layout_of(op);
  const ValueId x = op.in(0);
  ValueId bias = op.in(1);
  if (op.rank(bias) != 1) op.fail("a bias of rank ", op.rank(bias));
  const int64_t rank = layout.first ? op.rank(x) : 0;
  if (layout.first && rank > 2) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
    bias = op.emit("Unsqueeze", {bias, op.list(axes)});
  }
  const ValueId y = op.emit("Add", {x, bias});
  op.mark_bias(y, op.in(1));
  op.define(0, y);
}

void batch_norm(Op& op) {
  if (op.flag("is_training", true))
    op.refuse("it normalises by the batch's own mean, as in training; freeze the graph for inference");
  const Layout layout = layout_of(op);
  std::vector<ValueId> inputs = {first(op, layout, op.in(0))};
  for (size_t i = 1; i < 5; ++i) inputs.push_back(op.in(i));
  const ValueId y = op.emit("BatchNormalization", std::move(inputs), {{"epsilon", op.number_of("epsilon", 1e-4f)}});
  op.define(0, back(op, layout, y));
}

void max_pool(Op& op) { pool(op, "MaxPool"); }
void avg_pool(Op& op) { pool(op, "AveragePool"); }

// ONNX divides alpha by the size of the window, TensorFlow does not.
void lrn(Op& op) {
  const int64_t radius = op.integer("depth_radius", 5);
  if (radius < 0 || radius > 1 << 20) op.fail("a radius of ", radius);
  const int64_t size = 2 * radius + 1;
  const Attributes attributes = {{"size", size},
                                 {"alpha", op.number_of("alpha", 1) * static_cast<float>(size)},
                                 {"beta", op.number_of("beta", 0.5f)},
                                 {"bias", op.number_of("bias", 1)}};
  op.define(0, op.transpose(op.emit("LRN", {op.transpose(op.in(0), kToChannelsFirst)}, attributes), kToChannelsLast));
}

void resize_bilinear(Op& op) {
  const bool corners = op.flag("align_corners", false), centres = op.flag("half_pixel_centers", false);
  const std::string at = corners ? "align_corners" : centres ? "half_pixel" : "asymmetric";
  // The result is float32 whatever T is.
  const ValueId x = op.to_dtype(op.in(0), DType::Float32);
  resize(op, x, {{"mode", std::string("linear")}, {"coordinate_transformation_mode", at}});
}

void resize_nearest(Op& op) {
  Attributes attributes = {{"mode", std::string("nearest")}};
  const bool corners = op.flag("align_corners", false), centres = op.flag("half_pixel_centers", false);
  const std::string at = corners ? "align_corners" : centres ? "half_pixel" : "asymmetric";
  attributes["coordinate_transformation_mode"] = at;
  attributes["nearest_mode"] = std::string(corners || centres ? "round_prefer_ceil" : "floor");
  const std::vector<int64_t> sizes = op.constant(1) != nullptr ? op.ints(1) : std::vector<int64_t>();
  const std::vector<PickedAxis> picked =
      picked_otherwise(attributes, image_extents(op, op.in(0)), sizes, {corners, centres});
  if (picked.empty()) return resize(op, op.in(0), std::move(attributes));
  op.define(0, pick_elements(op, op.in(0), picked));
}

void blocks(Op& op) {
  const Layout layout = layout_of(op);
  const ValueId x = first(op, layout, op.in(0));
  op.define(0, back(op, layout, op.emit(op.row().as, {x}, {{"blocksize", op.integer("block_size", 0)}})));
}

namespace {

// Two block extents and (before, after) of both axes.
Source::Spaced block_inputs(Op& op) {
  Source::Spaced result;
  result.x = op.in(0);
  result.block = op.ints(1);
  const Tensor* pads = op.constant(2);
  if (pads == nullptr) op.refuse("its paddings are computed");
  result.pads = to_int64s(*pads);
  if (result.block.size() != 2 || result.pads.size() != 4 || op.rank(result.x) != 4)
    op.refuse("blocks over other than height and width of [N, H, W, C]");
  for (int64_t b : result.block) {
    if (b < 1 || b > 1 << 16) op.fail("a block of ", b);
  }
  for (int64_t p : result.pads) {
    if (p < 0 || p > INT32_MAX) op.fail("a padding of ", p);
  }
  return result;
}

}  // namespace

// [N, H, W, C] as [bh * bw * N, H / bh, W / bw, C]: what follows sees every bh-th row and bw-th column.
void space_to_batch(Op& op) {
  const Source::Spaced s = block_inputs(op);
  const std::vector<int64_t> x = op.shape(s.x);
  if (x[1] < 0 || x[2] < 0 || x[3] < 0) op.refuse("an input of open extents");
  const int64_t h = x[1] + s.pads[0] + s.pads[1], w = x[2] + s.pads[2] + s.pads[3];
  if (h % s.block[0] != 0 || w % s.block[1] != 0) op.fail("blocks of ", shape_text(s.block), " over ", h, " x ", w);
  const ValueId padded = op.emit("Pad", {s.x, op.list({0, s.pads[0], s.pads[2], 0, 0, s.pads[1], s.pads[3], 0})});
  const int64_t rows = h / s.block[0], columns = w / s.block[1];
  const ValueId cut = op.reshape(padded, {-1, rows, s.block[0], columns, s.block[1], x[3]});
  const ValueId y = op.reshape(op.transpose(cut, {2, 4, 0, 1, 3, 5}), {-1, rows, columns, x[3]});
  op.define(0, y);
  op.source().spaced[y] = s;
}

// The way back. Around a plain convolution, the three are one with dilations.
void batch_to_space(Op& op) {
  const Source::Spaced s = block_inputs(op);
  const auto convolved = op.source().convolved.find(s.x);
  if (convolved != op.source().convolved.end() && convolved->second.plain) {
    const auto spaced = op.source().spaced.find(convolved->second.x);
    if (spaced != op.source().spaced.end() && spaced->second.block == s.block) {
      const std::vector<int64_t>&before = spaced->second.pads, &crops = s.pads;
      const std::vector<int64_t> pads = {before[0] - crops[0], before[2] - crops[2], before[1] - crops[1],
                                         before[3] - crops[3]};
      if (*std::min_element(pads.begin(), pads.end()) >= 0) {
        Attributes attributes = convolved->second.attributes;
        attributes["dilations"] = s.block;
        attributes["pads"] = pads;
        const ValueId x = op.transpose(spaced->second.x, kToChannelsFirst);
        return op.define(0, op.transpose(op.emit("Conv", {x, convolved->second.weight}, attributes), kToChannelsLast));
      }
    }
  }
  const std::vector<int64_t> x = op.shape(s.x);
  if (x[1] < 0 || x[2] < 0 || x[3] < 0) op.refuse("an input of open extents");
  const ValueId apart = op.reshape(s.x, {s.block[0], s.block[1], -1, x[1], x[2], x[3]});
  const int64_t h = x[1] * s.block[0], w = x[2] * s.block[1];
  const ValueId whole = op.reshape(op.transpose(apart, {2, 3, 0, 4, 1, 5}), {-1, h, w, x[3]});
  op.define(0, op.emit("Slice", {whole, op.list({s.pads[0], s.pads[2]}), op.list({h - s.pads[1], w - s.pads[3]}),
                                 op.list({1, 2})}));
}

// Numbers rounded to the 2^bits steps of a quantised type and back.
void fake_quant(Op& op) {
  if (op.integer("num_bits", 8) != 8 || op.flag("narrow_range", false))
    op.refuse("fake quantisation to other than all of 8 bits is not read");
  std::vector<double> low = {static_cast<double>(op.number_of("min", -6))},
                      high = {static_cast<double>(op.number_of("max", 6))};
  if (op.input_count() == 3) {
    if (op.constant(1) == nullptr || op.constant(2) == nullptr) op.refuse("its range is computed");
    low = to_doubles(*op.constant(1));
    high = to_doubles(*op.constant(2));
  }
  if (low.size() != high.size()) op.fail(low.size(), " lower and ", high.size(), " upper bounds");
  std::vector<float> scale;
  std::vector<uint8_t> zero;
  for (size_t i = 0; i < low.size(); ++i) {
    const double step = (high[i] - low[i]) / 255;
    if (!(step > 0) || low[i] > 0 || high[i] < 0) op.refuse("a range from ", low[i], " to ", high[i]);
    scale.push_back(static_cast<float>(step));
    zero.push_back(static_cast<uint8_t>(std::clamp(std::floor(-low[i] / step + 0.5), 0.0, 255.0)));
  }
  const bool channels = op.node_op() == "FakeQuantWithMinMaxVarsPerChannel";
  const Shape shape = channels ? Shape{static_cast<int64_t>(scale.size())} : Shape{};
  if (!channels && scale.size() != 1) op.fail(scale.size(), " ranges");
  Attributes attributes;
  if (channels) attributes["axis"] = op.rank(op.in(0)) - 1;
  const ValueId s = op.store("scale", Tensor::of<float>(shape, scale)),
                z = op.store("zero_point", Tensor::of<uint8_t>(shape, zero));
  const ValueId q = op.emit("QuantizeLinear", {op.in(0), s, z}, attributes);
  op.define(0, op.emit("DequantizeLinear", {q, s, z}, attributes));
}

}  // namespace dnn::tensorflow
