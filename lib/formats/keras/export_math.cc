// Activations, sums and products, reductions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "formats/keras/exports.h"
#include "ops/movement.h"

namespace dnn::keras {
namespace {

// The shape of a constant against a value of that many axes, ones in front.
Shape padded_shape(const Tensor& value, size_t rank) {
  Shape shape = value.shape();
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

// A constant that differs along the last axis only, as so many numbers.
std::optional<std::vector<double>> per_channel(const Tensor& value) {
  if (value.rank() > 0 && value.dim(value.rank() - 1) != value.size()) return std::nullopt;
  return to_doubles(value);
}

constexpr size_t kListed = 16;  // longer constants are variables, not options

// x * scale + offset, of one number or of some per channel.
LayerId rescaled(Export& e, LayerId x, const std::vector<double>& scale, const std::vector<double>& offset) {
  const auto option = [](const std::vector<double>& v) { return v.size() == 1 ? Json(v[0]) : Json(v); };
  return e.layer("Rescaling", {{"scale", option(scale)}, {"offset", option(offset)}}, {x}, e.output_type());
}

// The other operand of a constant: which input it is.
std::optional<size_t> constant_operand(const Export& e) {
  for (size_t i : {1, 0}) {
    if (e.constant(i) != nullptr) return i;
  }
  return std::nullopt;
}

// "numpy.Add|Add": the operation, and the layer of two tensors.
std::pair<std::string, std::string> names_of(const Export& e) {
  const std::string detail = find_export(e.node())->detail;
  const size_t bar = detail.find('|');
  return {detail.substr(0, bar), bar == std::string::npos ? "" : detail.substr(bar + 1)};
}

void by_operation(Export& e, Json config = Json::object()) {
  Json args = Json::array();
  for (size_t i = 0; i < e.node().inputs.size(); ++i) args.push_back(e.argument(i));
  e.result(e.operation(names_of(e).first, std::move(config), std::move(args), e.output_type()));
}

// True where Keras' merging layers take the operands: none is a constant, and all are of one rank and of no two batches.
bool merges(const Export& e) {
  const std::vector<int64_t> output = e.output_shape();
  for (size_t i = 0; i < e.node().inputs.size(); ++i) {
    const std::vector<int64_t> x = e.shape(i);
    if (x.size() != output.size() || e.constant(i) != nullptr) return false;
    if (!x.empty() && x[0] >= 0 && output[0] >= 0 && x[0] != output[0]) return false;
  }
  return true;
}

// A bias of a Dense layer from a constant that broadcasts to [rows, units]; nothing when it varies over rows.
std::optional<Tensor> row_bias(const Tensor& c, int64_t units, double beta) {
  const bool single = c.size() == 1;
  if (!single && (c.size() != units || c.shape().back() != units)) return std::nullopt;
  if (!single && beta == 1) return c.reshaped({units});
  std::vector<double> values = to_doubles(c);
  values.resize(units, values[0]);
  for (double& v : values) v *= beta;
  return convert(Tensor::of<double>({units}, values), c.dtype());
}

Tensor scaled(const Tensor& tensor, double by) {
  if (by == 1) return tensor;
  std::vector<double> values = to_doubles(tensor);
  for (double& v : values) v *= by;
  return convert(Tensor::of<double>(tensor.shape(), values), tensor.dtype());
}

// Copies along axes of extent 1.
Tensor broadcast(const Tensor& tensor, const Shape& to) {
  const std::vector<int64_t> stride = row_major_strides(tensor.shape());
  return pick(tensor, to,
              [&](size_t axis, int64_t i) { return tensor.dim(static_cast<int>(axis)) == 1 ? 0 : i * stride[axis]; });
}

void activation(Export& e, const char* name) {
  e.result(e.layer("Activation", {{"activation", name}}, {e.input(0)}, e.output_type()));
}

}  // namespace

Tensor negated(const Tensor& tensor) { return scaled(tensor, -1); }

// As a Normalization without a configured mean: (x - mean) / sqrt(1), with the mean among the weights. Keras 3 forgets a list of
// several axes in an .h5 file, so there it is one axis of all elements.
LayerId add_constant(Export& e, LayerId x, const Type& type, const Tensor& value, const std::string& source) {
  const std::vector<int64_t> whole = e.extents(type);
  const size_t rank = whole.size();
  const Shape shape = padded_shape(value, rank);
  if (shape.size() != rank || shape[0] != 1) e.refuse("a constant of shape ", shape_text(value.shape()));
  std::vector<int64_t> axes;
  Shape extents;
  for (size_t i = 1; i < rank; ++i) {
    if (shape[i] == 1) continue;
    if (shape[i] != whole[i]) e.refuse("a constant of shape ", shape_text(value.shape()));
    axes.push_back(static_cast<int64_t>(i));
    extents.push_back(shape[i]);
  }
  const bool flat = !e.keras3() && axes.size() > 1;
  Tensor mean = negated(value).reshaped(extents);
  Type inner = type;
  if (flat) {
    Shape all = whole;
    all[0] = 1;
    if (*std::min_element(all.begin(), all.end()) < 1)
      e.refuse("a constant beside open extents; fix them with --shape");
    mean = broadcast(mean.reshaped(shape), all);
    mean = mean.reshaped({mean.size()});
    axes = {1};
    extents = mean.shape();
    inner = Type(type.dtype, {type.shape.value()[0], Dim(mean.size())});
    x = reshaped(e, x, inner);
  }
  Tensor ones(DType::Float32, extents);
  std::fill_n(ones.mutable_data<float>(), ones.size(), 1.0f);
  std::vector<Variable> variables = {
      {"mean", source, mean}, {"variance", "", ones}, {"count", "", Tensor::scalar<int64_t>(0)}};
  Json config = {{"axis", axes}, {"mean", nullptr}, {"variance", nullptr}, {"invert", false}};
  const LayerId sum = e.layer("Normalization", std::move(config), {x}, inner, std::move(variables));
  return flat ? reshaped(e, sum, type) : sum;
}

void write_activation(Export& e) { activation(e, find_export(e.node())->detail); }

void write_relu(Export& e) { e.result(e.layer("ReLU", Json::object(), {e.input(0)}, e.output_type())); }

void write_clip(Export& e) {
  const double infinite = std::numeric_limits<double>::infinity();
  const double low = e.has_input(1) ? to_doubles(e.known(1, "lower bound"))[0] : -infinite;
  const double high = e.has_input(2) ? to_doubles(e.known(2, "upper bound"))[0] : infinite;
  if (low == 0) {
    const Json config = high == infinite ? Json::object() : Json{{"max_value", high}};
    return e.result(e.layer("ReLU", config, {e.input(0)}, e.output_type()));
  }
  if (e.keras3()) {
    const auto bound = [](double v) {
      return std::isinf(v) ? (v < 0 ? -3.4028234663852886e38 : 3.4028234663852886e38) : v;
    };
    return e.result(e.operation("numpy.Clip", {{"x_min", bound(low)}, {"x_max", bound(high)}},
                                Json::array({Export::tensor(e.input(0))}), e.output_type()));
  }
  if (std::isinf(low)) e.refuse("an upper bound alone");
  // max(low, min(x, high)) = ReLU(x - low, at most high - low) + low
  const LayerId moved = rescaled(e, e.input(0), {1}, {-low});
  const Json config = high == infinite ? Json::object() : Json{{"max_value", high - low}};
  e.result(rescaled(e, e.layer("ReLU", config, {moved}, e.output_type()), {1}, {low}));
}

void write_leaky_relu(Export& e) {
  const char* key = e.keras3() ? "negative_slope" : "alpha";
  e.result(e.layer("LeakyReLU", {{key, e.node().attribute_float("alpha", 0.01f)}}, {e.input(0)}, e.output_type()));
}

void write_elu(Export& e) {
  e.result(e.layer("ELU", {{"alpha", e.node().attribute_float("alpha", 1)}}, {e.input(0)}, e.output_type()));
}

void write_thresholded_relu(Export& e) {
  const float theta = e.node().attribute_float("alpha", 1);
  e.result(e.layer("ReLU", {{"threshold", theta}}, {e.input(0)}, e.output_type()));
}

void write_gelu(Export& e) {
  if (e.node().attribute_string("approximate", "none") == "none") return activation(e, "gelu");
  e.result(e.operation("nn.Gelu", {{"approximate", true}}, Json::array({Export::tensor(e.input(0))}), e.output_type()));
}

// clip(x * alpha + beta, 0, 1): Keras 3 and 2 have it for 1/6 and 0.2.
void write_hard_sigmoid(Export& e) {
  const float alpha = e.node().attribute_float("alpha", 0.2f), beta = e.node().attribute_float("beta", 0.5f);
  if (e.keras3() && alpha == 1.0f / 6 && beta == 0.5f) return activation(e, "hard_sigmoid");
  const LayerId line = rescaled(e, e.input(0), {static_cast<double>(alpha)}, {static_cast<double>(beta)});
  e.result(e.layer("ReLU", {{"max_value", 1.0}}, {line}, e.output_type()));
}

void write_hard_swish(Export& e) {
  if (e.keras3()) return activation(e, "hard_silu");
  const LayerId x = e.input(0), shifted = rescaled(e, x, {1}, {3});
  const LayerId bounded = e.layer("ReLU", {{"max_value", 6.0}}, {shifted}, e.output_type());
  const LayerId gate = rescaled(e, bounded, {1.0 / 6}, {0});
  e.result(e.layer("Multiply", Json::object(), {x, gate}, e.output_type()));
}

// x * sigmoid(alpha x): Keras has it for 1.
void write_swish(Export& e) {
  const float alpha = e.node().attribute_float("alpha", 1);
  if (alpha == 1) return activation(e, "swish");
  const LayerId x = e.input(0), line = rescaled(e, x, {static_cast<double>(alpha)}, {0});
  const LayerId gate = e.layer("Activation", {{"activation", "sigmoid"}}, {line}, e.output_type());
  e.result(e.layer("Multiply", Json::object(), {x, gate}, e.output_type()));
}

// Slopes broadcast to the input; one for all positions of an axis is shared along it.
void write_prelu(Export& e) {
  const Tensor& slope = e.known(1, "slope");
  const std::vector<int64_t> x = e.shape(0);
  const Shape shape = padded_shape(slope, x.size());
  if (shape.size() != x.size() || shape[0] != 1) e.refuse("slopes of shape ", shape_text(slope.shape()));
  std::vector<int64_t> shared;
  for (size_t i = 1; i < x.size(); ++i) {
    if (shape[i] == 1) shared.push_back(static_cast<int64_t>(i));
  }
  const Json axes = shared.empty() ? Json() : Json(shared);
  e.result(e.layer("PReLU", {{"shared_axes", axes}}, {e.input(0)}, e.output_type(),
                   {{"alpha", e.source_name(1), slope.reshaped(Shape(shape.begin() + 1, shape.end()))}}));
}

void write_softmax(Export& e) {
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  const int64_t axis = e.inner_axis(e.node().attribute_int("axis", -1), rank);
  e.result(e.layer("Softmax", {{"axis", axis == rank - 1 ? -1 : axis}}, {e.input(0)}, e.output_type()));
}

void write_dropout(Export& e) {
  const double rate = e.has_input(1) ? to_doubles(e.known(1, "ratio"))[0] : 0.5;
  if (e.node().output(1) != kNoValue) e.refuse("its mask as an output");
  e.result(e.layer("Dropout", {{"rate", rate}}, {e.input(0)}, e.output_type()));
}

// Sums, differences, products and quotients of two operands.
void write_binary(Export& e) {
  const std::string op = e.node().op;
  if (!is_float(e.output_type().dtype)) {  // layers compute in real numbers
    if (op == "Div") e.refuse("a quotient of integers");
    return by_operation(e);
  }
  const std::optional<size_t> side = constant_operand(e);
  if (!side) {
    const std::string layer = names_of(e).second;
    if (layer.empty() || !merges(e)) return by_operation(e);
    return e.result(e.layer(layer, Json::object(), {e.input(0), e.input(1)}, e.output_type()));
  }
  const Tensor& value = e.known(*side, "operand");
  const LayerId x = e.input(1 - *side);
  const bool keeps = e.shape(1 - *side) == e.output_shape();
  std::optional<std::vector<double>> numbers = keeps ? per_channel(value) : std::nullopt;
  if (numbers && op != "Div" && numbers->size() > kListed) numbers.reset();
  if (numbers) {
    std::vector<double>& v = *numbers;
    if (op == "Add") return e.result(rescaled(e, x, {1}, v));
    if (op == "Mul") return e.result(rescaled(e, x, v, {0}));
    if (op == "Sub" && *side == 0) return e.result(rescaled(e, x, {-1}, v));
    if (op == "Sub") {
      for (double& item : v) item = -item;
      return e.result(rescaled(e, x, {1}, v));
    }
    const bool exact =
        op == "Div" && *side == 1 && std::all_of(v.begin(), v.end(), [](double d) { return std::isfinite(1 / d); });
    if (exact && v.size() <= kListed) {
      for (double& item : v) item = 1 / item;
      return e.result(rescaled(e, x, v, {0}));
    }
  }
  if (e.keras3() && value.size() <= static_cast<int64_t>(kListed)) return by_operation(e);
  if (keeps && op == "Mul" && e.output_shape().size() == 4 && per_channel(value) &&
      value.size() == e.output_shape()[3]) {
    // A factor per channel, as ConvNeXt's LayerScale: a depthwise convolution over windows of one element.
    const Json config = {{"kernel_size", Json::array({1, 1})}, {"use_bias", false}, {"data_format", "channels_last"}};
    return e.result(e.layer("DepthwiseConv2D", config, {x}, e.output_type(),
                            {{"depthwise_kernel", e.source_name(*side), value.reshaped({1, 1, value.size(), 1})}}));
  }
  if (keeps && value.dtype() == DType::Float32 && op == "Add")
    return e.result(add_constant(e, x, e.output_type(), value, e.source_name(*side)));
  if (keeps && value.dtype() == DType::Float32 && op == "Sub" && *side == 1)
    return e.result(add_constant(e, x, e.output_type(), negated(value), e.source_name(*side)));
  by_operation(e);
}

// Any number of operands.
void write_variadic(Export& e) {
  const auto [operation, layer] = names_of(e);
  const size_t n = e.node().inputs.size();
  if (n == 1) {
    e.result(e.input(0));
  } else if (merges(e)) {
    std::vector<LayerId> inputs;
    for (size_t i = 0; i < n; ++i) inputs.push_back(e.input(i));
    e.result(e.layer(layer, Json::object(), inputs, e.output_type()));
  } else if (n == 2 && !operation.empty()) {
    by_operation(e);
  } else {
    e.refuse("operands that are constant or of different ranks or batches");
  }
}

void write_compare(Export& e) { by_operation(e); }

// One operand; what the operation needs besides stands in the node's attributes.
void write_operation(Export& e) { by_operation(e); }

// Means and largest elements over all spatial axes are layers; others are operations.
// Keras counts in int32.
void write_arg_extreme(Export& e) {
  if (e.node().attribute_int("select_last_index", 0) != 0) e.refuse("the last of equal elements");
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  const int64_t axis = e.node().attribute_int("axis", 0);
  const Json config = {{"axis", axis < 0 ? axis + rank : axis},
                       {"keepdims", e.node().attribute_int("keepdims", 1) != 0}};
  Type counted = e.output_type();
  counted.dtype = DType::Int32;
  const LayerId found =
      e.operation(find_export(e.node())->detail, config, Json::array({Export::tensor(e.input(0))}), counted);
  e.result(e.operation("core.Cast", {{"dtype", "int64"}}, Json::array({Export::tensor(found)}), e.output_type()));
}

void write_cumulative_sum(Export& e) {
  if (e.node().attribute_int("exclusive", 0) != 0) e.refuse("sums without their own element");
  if (e.node().attribute_int("reverse", 0) != 0) e.refuse("sums from the end");
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  const int64_t axis = e.known_ints(1, "axis").at(0);
  e.result(e.operation("numpy.Cumsum", {{"axis", axis < 0 ? axis + rank : axis}, {"dtype", nullptr}},
                       Json::array({Export::tensor(e.input(0))}), e.output_type()));
}

void write_reduce(Export& e) {
  const std::vector<int64_t> x = e.shape(0);
  const auto rank = static_cast<int64_t>(x.size());
  std::vector<int64_t> axes;
  if (e.has_input(1)) axes = e.known_ints(1, "list of axes");
  if (axes.empty()) {
    if (e.node().attribute_int("noop_with_empty_axes", 0) != 0) e.refuse("a reduction of no axes");
    axes.resize(x.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  std::sort(axes.begin(), axes.end());
  const bool keep = e.node().attribute_int("keepdims", 1) != 0;
  std::vector<int64_t> last, first;  // spatial axes where the channels stand last, or first
  for (int64_t i = 1; i + 1 < rank; ++i) {
    last.push_back(i);
    first.push_back(i + 1);
  }
  const auto [operation, layer] = names_of(e);
  if (!layer.empty() && rank >= 3 && rank <= 5 && (axes == last || axes == first)) {
    const Json config = {{"data_format", axes == last ? "channels_last" : "channels_first"}, {"keepdims", keep}};
    return e.result(e.layer(cat(layer, rank - 2, "D"), config, {e.input(0)}, e.output_type()));
  }
  e.result(e.operation(operation, {{"axis", axes}, {"keepdims", keep}}, Json::array({Export::tensor(e.input(0))}),
                       e.output_type()));
}

// alpha * A * B + beta * C
void write_dense(Export& e) {
  const Node& node = e.node();
  if (node.attribute_int("transA", 0) != 0) e.refuse("transA");
  const Tensor& b = e.known(1, "weight");
  const Tensor kernel = node.attribute_int("transB", 0) != 0 ? transposed(b, {1, 0}) : b;
  std::vector<Variable> variables = {
      {"kernel", e.source_name(1), scaled(kernel, static_cast<double>(node.attribute_float("alpha", 1)))}};
  if (e.has_input(2)) {
    const Tensor& c = e.known(2, "bias");
    const std::optional<Tensor> row = row_bias(c, kernel.dim(1), static_cast<double>(node.attribute_float("beta", 1)));
    if (!row) e.refuse("a bias of shape ", shape_text(c.shape()));
    variables.push_back({"bias", e.source_name(2), *row});
  }
  Json config = {{"units", kernel.dim(1)}, {"use_bias", e.has_input(2)}};
  config["activation"] = e.take_activation();
  e.result(e.layer("Dense", std::move(config), {e.input(0)}, e.output_type(), std::move(variables)));
}

// A product with a constant matrix is a Dense layer over the last axis, with the bias that is added to it.
void write_matmul(Export& e) {
  const Tensor* b = e.constant(1);
  const size_t rank = e.shape(0).size();
  if (b == nullptr || b->rank() != 2 || rank < 2 || e.constant(0) != nullptr) {
    if (!e.keras3() && rank == 3 && e.shape(1).size() == 3 && e.constant(0) == nullptr && b == nullptr)
      return e.result(e.layer("Dot", {{"axes", Json::array({2, 1})}, {"normalize", false}}, {e.input(0), e.input(1)},
                              e.output_type()));
    return by_operation(e);
  }
  std::vector<Variable> variables = {{"kernel", e.source_name(1), *b}};
  const NodeId next = e.only_reader(e.node().outputs[0]);
  std::optional<Tensor> bias;
  if (next >= 0 && e.graph().node(next).op == "Add" && e.graph().node(next).domain.empty()) {
    const Node& add = e.graph().node(next);
    const size_t side = add.inputs[0] == e.node().outputs[0] ? 1 : 0;
    const Tensor* c = e.graph().constant(add.inputs[side]);
    if (c != nullptr && c->size() == b->dim(1) && c->rank() >= 1 && c->shape().back() == b->dim(1) &&
        static_cast<size_t>(c->rank()) <= rank) {
      bias = c->reshaped({b->dim(1)});
      variables.push_back({"bias", e.graph().value(add.inputs[side]).name, *bias});
    }
  }
  Json config = {{"units", b->dim(1)}, {"use_bias", bias.has_value()}, {"activation", "linear"}};
  const LayerId made = e.layer("Dense", std::move(config), {e.input(0)}, e.output_type(), std::move(variables));
  e.result(made);
  if (bias) {
    e.absorb(next);
    e.result_for(e.graph().node(next).outputs[0], made);
  }
}

}  // namespace dnn::keras
