// Convolutions, pooling, normalisation, resizing, over [N, H, W, C] (domain "nhwc") where there are channels.
#include <algorithm>
#include <cmath>
#include <functional>

#include "formats/keras/exports.h"
#include "formats/resampling.h"
#include "ops/window.h"

namespace dnn::keras {
namespace {

// A window over height and width, as Keras can say it: "same" or "valid", behind a border where neither fits.
struct Sliding {
  std::string padding = "valid";
  std::vector<int64_t> strides, dilations, kernel;
  std::vector<int64_t> border = {0, 0, 0, 0};  // top, left, bottom, right
};

bool bordered(const Sliding& s) { return s.border != std::vector<int64_t>(4, 0); }

Sliding sliding(const Export& e, const std::vector<int64_t>& kernel) {
  const std::vector<int64_t> x = e.shape(0);
  const Node& node = e.node();
  Sliding s;
  s.kernel = kernel;
  s.strides = node.attribute_ints("strides", {1, 1});
  s.dilations = node.attribute_ints("dilations", {1, 1});
  const std::string automatic = node.attribute_string("auto_pad", "NOTSET");
  const bool open = x[1] < 0 || x[2] < 0;
  if (automatic == "SAME_UPPER" || automatic == "VALID") {
    s.padding = automatic == "VALID" ? "valid" : "same";
    return s;
  }
  if (open && (automatic != "NOTSET" || node.attribute_int("ceil_mode", 0) != 0))
    e.refuse("its input's height and width are open; fix them with --shape");
  bool same = true;
  if (open) {
    s.border = node.attribute_ints("pads", {0, 0, 0, 0});
    for (size_t i = 0; i < 2; ++i) {
      const int64_t reach = (kernel[i] - 1) * s.dilations[i];
      same = same && s.strides[i] == 1 && s.border[i] == reach / 2 && s.border[i + 2] == reach - reach / 2;
    }
  } else {
    const Window w = Window::of(node, {x[1], x[2]}, kernel);
    for (size_t i = 0; i < 2; ++i) {
      const int64_t reach = (w.output[i] - 1) * w.strides[i] + (w.kernel[i] - 1) * w.dilations[i] + 1 - w.input[i];
      const int64_t all = std::max<int64_t>(0, reach), needed = std::max<int64_t>(0, reach - w.pad_begin[i]);
      s.border[i] = w.pad_begin[i];
      // All that the model says, unless that makes the window fall once more.
      s.border[i + 2] = w.pad_end[i] - needed < w.strides[i] ? std::max(w.pad_end[i], needed) : needed;
      same = same && w.output[i] == (w.input[i] + w.strides[i] - 1) / w.strides[i] && w.pad_begin[i] == all / 2;
      if (w.pad_begin[i] == 0 && needed == 0) s.border[i + 2] = 0;
    }
  }
  if (!bordered(s)) return s;
  if (same) {
    s.padding = "same";
    s.border.assign(4, 0);
  }
  return s;
}

// The type of an image inside a border, or cut by a negative one.
Type bordered_type(const Type& type, const std::vector<int64_t>& border) {
  std::vector<Dim> dims = type.shape.value();
  for (size_t i = 0; i < 2; ++i) {
    if (dims[i + 1].fixed()) dims[i + 1] = Dim(dims[i + 1].size + border[i] + border[i + 2]);
  }
  return {type.dtype, std::move(dims)};
}

Json pairs(int64_t top, int64_t bottom, int64_t left, int64_t right) {
  return Json::array({Json::array({top, bottom}), Json::array({left, right})});
}

// Input 0 inside its border of zeros.
LayerId padded(Export& e, const Sliding& s) {
  const LayerId x = e.input(0);
  if (!bordered(s)) return x;
  Type type = e.type(0);
  for (size_t i = 0; i < 2; ++i) {
    Dim& dim = (*type.shape)[i + 1];
    if (dim.fixed()) dim = Dim(dim.size + s.border[i] + s.border[i + 2]);
  }
  return e.layer(
      "ZeroPadding2D",
      {{"padding", pairs(s.border[0], s.border[2], s.border[1], s.border[3])}, {"data_format", "channels_last"}}, {x},
      type);
}

Json window_config(const Sliding& s) {
  return {{"strides", s.strides}, {"padding", s.padding}, {"data_format", "channels_last"}};
}

// Whether a value cannot be negative, so that a border of zeros changes no maximum.
bool never_negative(const Graph& graph, const Uses& uses, ValueId v, int depth) {
  const NodeId id = uses.producer[v];
  if (id < 0 || depth > 16) return false;
  const Node& node = graph.node(id);
  static const std::set<std::string, std::less<>> yes = {"Relu", "Sigmoid",     "Softmax",  "Exp",
                                                         "Abs",  "HardSigmoid", "Softplus", "Sqrt"};
  static const std::set<std::string, std::less<>> passes = {
      "MaxPool", "AveragePool", "Concat", "Dropout", "Identity", "Transpose", "Reshape", "Add", "Mul", "ReduceMean"};
  if (yes.count(node.op) != 0) return true;
  if (node.op == "Clip") {
    const Tensor* low = graph.constant(node.input(1));
    return low != nullptr && to_doubles(*low)[0] >= 0;
  }
  if (passes.count(node.op) == 0) return false;
  const size_t n = node.op == "Concat" || node.op == "Add" || node.op == "Mul" ? node.inputs.size() : 1;
  for (size_t i = 0; i < n; ++i) {
    if (!never_negative(graph, uses, node.inputs[i], depth + 1)) return false;
  }
  return true;
}

Json with_bias(Json config, bool bias) {
  config["use_bias"] = bias;
  return config;
}

}  // namespace

void write_conv(Export& e) {
  const Tensor& w = e.known(1, "weight");
  const std::vector<int64_t> x = e.shape(0);
  if (w.rank() != 4 || x[3] < 0) e.refuse("weights of rank ", w.rank(), " over ", x[3], " channels");
  const Sliding s = sliding(e, {w.dim(2), w.dim(3)});
  const int64_t group = e.node().attribute_int("group", 1);
  const LayerId in = padded(e, s);
  Json config = with_bias(window_config(s), e.has_input(2));
  config["kernel_size"] = s.kernel;
  config["dilation_rate"] = s.dilations;
  std::vector<Variable> variables;
  const bool strided = s.strides != std::vector<int64_t>{1, 1}, dilated = s.dilations != std::vector<int64_t>{1, 1};
  if (strided && dilated) e.refuse("strides together with dilations");
  const bool depthwise = group == x[3] && group > 1 && w.dim(1) == 1 && s.strides[0] == s.strides[1];
  if (depthwise) {  // [C * m, 1, H, W] as [H, W, C, m]
    const Tensor split = w.reshaped({group, w.dim(0) / group, w.dim(2), w.dim(3)});
    config["depth_multiplier"] = w.dim(0) / group;
    variables.push_back({"depthwise_kernel", e.source_name(1), transposed(split, {2, 3, 0, 1})});
  } else {
    config["filters"] = w.dim(0);
    config["groups"] = group;
    variables.push_back({"kernel", e.source_name(1), transposed(w, {2, 3, 1, 0})});
  }
  if (e.has_input(2)) variables.push_back({"bias", e.source_name(2), e.known(2, "bias")});
  config["activation"] = e.take_activation();
  e.result(e.layer(depthwise ? "DepthwiseConv2D" : "Conv2D", std::move(config), {in}, e.output_type(),
                   std::move(variables)));
}

// All that the windows cover, cut to what the padding leaves.
void write_conv_transpose(Export& e) {
  const Tensor& w = e.known(1, "weight");
  const Node& node = e.node();
  if (node.attribute_int("group", 1) != 1) e.refuse("groups");
  if (!e.type(0).shape || e.output_shape()[1] < 0 || e.output_shape()[2] < 0)
    e.refuse("its extents are open; fix them with --shape");
  if (node.attribute_string("auto_pad", "NOTSET") != "NOTSET" || node.has_attribute("output_shape"))
    e.refuse("padding that follows from an output's shape");
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape(), strides = node.attribute_ints("strides", {1, 1}),
                             dilations = node.attribute_ints("dilations", {1, 1}),
                             pads = node.attribute_ints("pads", {0, 0, 0, 0});
  std::vector<int64_t> extra(2), cut(4);
  bool same = true, more = false;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t reach = (w.dim(static_cast<int>(i) + 2) - 1) * dilations[i] + 1;
    const int64_t whole = (x[i + 1] - 1) * strides[i] + std::max(reach, strides[i]);
    const int64_t all = std::max<int64_t>(0, reach - strides[i]);
    same = same && y[i + 1] == x[i + 1] * strides[i] && pads[i] == all / 2 && reach >= strides[i];
    extra[i] = std::max<int64_t>(0, pads[i] + y[i + 1] - whole);
    more = more || extra[i] > 0;
    cut[i] = pads[i];
    cut[i + 2] = std::max<int64_t>(0, whole - pads[i] - y[i + 1]);
  }
  const bool cuts = !same && cut != std::vector<int64_t>(4, 0);
  Json config = {{"filters", w.dim(1)},        {"kernel_size", Json::array({w.dim(2), w.dim(3)})},
                 {"strides", strides},         {"padding", same ? "same" : "valid"},
                 {"dilation_rate", dilations}, {"data_format", "channels_last"},
                 {"use_bias", e.has_input(2)}};
  if (!same && more) {  // then it counts from the reach of the windows
    for (size_t i = 0; i < 2; ++i) {
      const int64_t reach = (w.dim(static_cast<int>(i) + 2) - 1) * dilations[i] + 1;
      extra[i] = std::max<int64_t>(pads[i] + y[i + 1] - (x[i + 1] - 1) * strides[i] - reach, 0);
      if (extra[i] >= strides[i]) e.refuse("output_padding that is not below the stride");
    }
    config["output_padding"] = extra;
  }
  std::vector<Variable> variables = {{"kernel", e.source_name(1), transposed(w, {2, 3, 1, 0})}};
  if (e.has_input(2)) variables.push_back({"bias", e.source_name(2), e.known(2, "bias")});
  const Type type = cuts ? bordered_type(e.output_type(), cut) : e.output_type();
  if (!cuts) config["activation"] = e.take_activation();
  LayerId result = e.layer("Conv2DTranspose", std::move(config), {e.input(0)}, type, std::move(variables));
  if (cuts) {
    result =
        e.layer("Cropping2D", {{"cropping", pairs(cut[0], cut[2], cut[1], cut[3])}, {"data_format", "channels_last"}},
                {result}, e.output_type());
  }
  e.result(result);
}

void write_max_pool(Export& e) {
  if (e.node().output(1) != kNoValue) e.refuse("indices of largest elements");
  const Sliding s = sliding(e, e.node().attribute_ints("kernel_shape"));
  if (s.dilations != std::vector<int64_t>{1, 1}) e.refuse("dilations");
  LayerId in = -1;
  if (!bordered(s) || never_negative(e.graph(), e.plan().uses(), e.node().inputs[0], 0)) {
    in = padded(e, s);
  } else {
    if (!e.keras3()) e.refuse("a border around values that may be negative; a .keras file can hold it");
    const Type type = bordered_type(e.type(0), s.border);
    Json widths = Json::array({Json::array({0, 0})});
    for (size_t i = 0; i < 2; ++i) widths.push_back(Json::array({s.border[i], s.border[i + 2]}));
    widths.push_back(Json::array({0, 0}));
    in = e.operation("numpy.Pad", {{"pad_width", widths}, {"mode", "constant"}},
                     Json::array({Export::tensor(e.input(0))}), type, {{"constant_values", -3.4028234663852886e38}});
  }
  Json config = window_config(s);
  config["pool_size"] = s.kernel;
  e.result(e.layer("MaxPooling2D", std::move(config), {in}, e.output_type()));
}

// "same" leaves the padding out of the mean, as ONNX does by default; a border counts.
void write_average_pool(Export& e) {
  const Sliding s = sliding(e, e.node().attribute_ints("kernel_shape"));
  if (s.dilations != std::vector<int64_t>{1, 1}) e.refuse("dilations");
  const bool counts = e.node().attribute_int("count_include_pad", 0) != 0;
  Sliding border = s;
  if (s.padding == "same" && counts) {
    std::vector<int64_t> pads = e.node().attribute_ints("pads", {0, 0, 0, 0});
    if (e.node().attribute_string("auto_pad", "NOTSET") != "NOTSET") {
      const std::vector<int64_t> x = e.shape(0);
      if (x[1] < 0 || x[2] < 0) e.refuse("its input's height and width are open; fix them with --shape");
      const Window w = Window::of(e.node(), {x[1], x[2]}, s.kernel);
      pads = {w.pad_begin[0], w.pad_begin[1], w.pad_end[0], w.pad_end[1]};
    }
    if (e.node().attribute_int("ceil_mode", 0) != 0) e.refuse("a mean that counts part of its padding");
    border.padding = "valid";
    border.border = pads;
  } else if (bordered(s) && !counts) {
    e.refuse("padding that is left out of the mean and is not \"same\"");
  } else if (bordered(s) && e.node().attribute_int("ceil_mode", 0) != 0) {
    const std::vector<int64_t> pads = e.node().attribute_ints("pads", {0, 0, 0, 0});
    if (pads != s.border) e.refuse("a mean that counts part of its padding");
  }
  Json config = window_config(border);
  config["pool_size"] = s.kernel;
  const LayerId in = padded(e, border);
  e.result(e.layer("AveragePooling2D", std::move(config), {in}, e.output_type()));
}

void write_batch_normalization(Export& e) {
  if (e.node().attribute_int("training_mode", 0) != 0) e.refuse("training mode");
  const size_t rank = e.shape(0).size();
  const bool last = e.node().domain == "nhwc" || rank == 2;
  Json config = {{"axis", last ? -1 : 1},
                 {"epsilon", e.node().attribute_float("epsilon", 1e-5f)},
                 {"momentum", e.node().attribute_float("momentum", 0.9f)},
                 {"center", true},
                 {"scale", true}};
  std::vector<Variable> variables;
  const char* const roles[] = {"gamma", "beta", "moving_mean", "moving_variance"};
  for (size_t i = 0; i < 4; ++i) variables.push_back({roles[i], e.source_name(i + 1), e.known(i + 1, roles[i])});
  e.result(e.layer("BatchNormalization", std::move(config), {e.input(0)}, e.output_type(), std::move(variables)));
}

void write_group_normalization(Export& e) {
  const bool instance = e.node().op == "InstanceNormalization", last = e.node().domain == "nhwc";
  Json config = {{"groups", instance ? -1 : e.node().attribute_int("num_groups", 1)},
                 {"axis", last ? -1 : 1},
                 {"epsilon", e.node().attribute_float("epsilon", 1e-5f)},
                 {"center", true},
                 {"scale", true}};
  std::vector<Variable> variables = {{"gamma", e.source_name(1), e.known(1, "scale")},
                                     {"beta", e.source_name(2), e.known(2, "bias")}};
  e.result(e.layer("GroupNormalization", std::move(config), {e.input(0)}, e.output_type(), std::move(variables)));
}

void write_layer_normalization(Export& e) {
  const Node& node = e.node();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) e.refuse("its mean or deviation as outputs");
  }
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  std::vector<int64_t> axes;
  Shape extents;
  for (int64_t i = e.inner_axis(node.attribute_int("axis", -1), rank); i < rank; ++i) {
    axes.push_back(i);
    extents.push_back(e.shape(0)[i]);
  }
  // Keras 3 forgets a list of several axes in an .h5 file.
  const bool flat = !e.keras3() && axes.size() > 1;
  Type type = e.output_type();
  if (flat) {
    extents = {element_count(extents)};
    if (extents[0] < 1) e.refuse("its extents are open; fix them with --shape");
    std::vector<Dim> dims(type.shape->begin(), type.shape->begin() + axes[0]);
    dims.emplace_back(extents[0]);
    type = Type(type.dtype, std::move(dims));
    axes = {axes[0]};
  }
  Json config = {
      {"axis", axes}, {"epsilon", node.attribute_float("epsilon", 1e-5f)}, {"center", e.has_input(2)}, {"scale", true}};
  std::vector<Variable> variables;
  const char* const roles[] = {"gamma", "beta"};
  for (size_t i = 0; i < 2; ++i) {
    if (!e.has_input(i + 1)) continue;
    const Tensor& value = e.known(i + 1, roles[i]);
    if (value.size() != element_count(extents)) e.refuse("a ", roles[i], " of shape ", shape_text(value.shape()));
    variables.push_back({roles[i], e.source_name(i + 1), value.reshaped(extents)});
  }
  const LayerId x = flat ? reshaped(e, e.input(0), type) : e.input(0);
  const LayerId y = e.layer("LayerNormalization", std::move(config), {x}, type, std::move(variables));
  e.result(flat ? reshaped(e, y, e.output_type()) : y);
}

void write_resize(Export& e) {
  const Node& node = e.node();
  const std::vector<int64_t> x = e.shape(0), y = e.output_shape();
  if (x.size() != 4 || x[3] != y[3] || y[1] < 0 || y[2] < 0 || x[1] < 1 || x[2] < 1)
    e.refuse("resizing ", shape_text(x), " to ", shape_text(y), "; only height and width can be, to fixed extents");
  const std::string mode = node.attribute_string("mode", "nearest"),
                    at = node.attribute_string("coordinate_transformation_mode", "half_pixel"),
                    nearest = node.attribute_string("nearest_mode", "round_prefer_floor");
  if (node.attribute_int("antialias", 0) != 0) e.refuse("antialiasing");
  const bool whole = y[1] % x[1] == 0 && y[2] % x[2] == 0;
  const bool centres = at == "half_pixel" || (at == "pytorch_half_pixel" && y[1] > 1 && y[2] > 1);
  const std::vector<ResizedAxis> axes = resized_axes(node, e.has_input(2) ? e.constant(2) : nullptr, x, y);
  if (mode == "linear") {
    if (!centres) e.refuse("coordinates ", at);
    if (const std::string apart = factor_apart(axes, false); !apart.empty()) e.refuse(apart);
  } else if (mode == "nearest") {
    const bool same = std::all_of(axes.begin(), axes.end(), [&](const ResizedAxis& axis) {
      std::vector<int64_t> picked = picked_elements(axis.in, axis.out, false, true);
      for (size_t i = 0; whole && i < picked.size(); ++i) picked[i] = static_cast<int64_t>(i) / (axis.out / axis.in);
      return picked == nearest_elements(node.attributes, axis.in, axis.out, axis.factor);
    });
    if (!same) e.refuse("nearest elements by ", nearest, " of coordinates ", at);
  } else {
    e.refuse("resizing by ", mode);
  }
  const std::string interpolation = mode == "linear" ? "bilinear" : "nearest";
  if (whole) {
    e.result(e.layer("UpSampling2D",
                     {{"size", Json::array({y[1] / x[1], y[2] / x[2]})},
                      {"interpolation", interpolation},
                      {"data_format", "channels_last"}},
                     {e.input(0)}, e.output_type()));
  } else {
    e.result(e.layer("Resizing", {{"height", y[1]}, {"width", y[2]}, {"interpolation", interpolation}}, {e.input(0)},
                     e.output_type()));
  }
}

}  // namespace dnn::keras
