// integer-arithmetic: what stands between DequantizeLinear and QuantizeLinear as operators on integers. A convolution or fully
// connected layer, with its bias and what clamps its result, and a QLinearConv or QLinearMatMul become one dnn.QuantizedConv: zero points are folded into the bias,
// the three scales into one factor, float32(float32(x * w) / y). Where no QuantizeLinear follows, or another operator comes before
// it, the result are real numbers, with x * w as the factor. Numbers between layers become uint8, int8 ones by 128 added
// to them and to their zero point, which changes no real number.
#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/locate.h"
#include "ops/fixed_point.h"
#include "ops/op.h"
#include "passes/byte_grid.h"
#include "passes/integer_layer.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// A constant that a DequantizeLinear reads, with its scales along `axis`.
struct Quantised {
  const Tensor* integers;
  std::vector<float> scales;  // one, or one for each index of the axis
  std::vector<int64_t> zeros;
};

std::optional<Quantised> constant_of(const Graph& graph, const Uses& uses, ValueId value, int64_t axis) {
  const NodeId maker = value == kNoValue ? -1 : uses.producer[value];
  if (maker < 0 || !is_op(graph.node(maker), "DequantizeLinear")) return std::nullopt;
  const Node& node = graph.node(maker);
  const Tensor *integers = graph.constant(node.inputs[0]), *scale = graph.constant(node.inputs[1]);
  const Tensor* zero = graph.constant(node.input(2));
  if (integers == nullptr || graph.is_input(node.inputs[0]) || scale == nullptr || scale->dtype() != DType::Float32 ||
      (node.input(2) != kNoValue && zero == nullptr) || node.attribute_int("block_size", 0) != 0)
    return std::nullopt;
  const int64_t rank = integers->rank();
  if (scale->size() > 1) {
    int64_t along = node.attribute_int("axis", 1);
    along += along < 0 ? rank : 0;
    if (scale->rank() != 1 || (along != axis && rank > 1) || axis >= rank ||
        scale->size() != integers->dim(static_cast<int>(axis)))
      return std::nullopt;
  }
  Quantised result{integers, {}, {}};
  for (double s : to_doubles(*scale)) {
    if (!(s > 0) || !std::isfinite(s)) return std::nullopt;
    result.scales.push_back(static_cast<float>(s));
  }
  if (zero != nullptr) result.zeros = to_int64s(*zero);
  result.zeros.resize(result.scales.size(), 0);
  return result;
}

// Int8 numbers between a QuantizeLinear and those that read them back, as uint8.
std::optional<Patch> as_unsigned(const Graph& graph, const Uses& uses, NodeId id) {
  const Node& node = graph.node(id);
  const std::optional<Grid> grid = grid_of(graph, node);
  const ValueId y = node.outputs[0];
  if (!grid || grid->dtype != DType::Int8 || graph.is_output(y) || uses.readers[y].empty()) return std::nullopt;
  for (NodeId reader : uses.readers[y]) {
    const Node& back = graph.node(reader);
    if (!is_op(back, "DequantizeLinear") || back.inputs[0] != y || !grid_of(graph, back)) return std::nullopt;
  }
  Patch patch(graph, label_in(graph, node) + " to uint8");
  patch.place_at(id);
  Type type = graph.value(y).type;
  type.dtype = DType::UInt8;
  const ValueId moved = patch.add_value(graph.value(y).name, std::move(type));
  const auto copy = [&](NodeId which, const Grid& old) {
    Node changed = graph.node(which);
    const std::string name = graph.value(changed.inputs[0]).name + ".zero_point";
    changed.inputs.resize(3);
    changed.inputs[2] = patch.add_constant(name, Tensor::scalar(static_cast<uint8_t>(old.zero + 128)));
    changed.attributes.erase("output_dtype");
    changed.sources = sources_of(graph.node(which));
    patch.remove_node(which);
    return changed;
  };
  Node quantize = copy(id, *grid);
  quantize.outputs = {moved};
  patch.add_node(std::move(quantize));
  for (NodeId reader : uses.readers[y]) {
    Node back = copy(reader, *grid_of(graph, graph.node(reader)));
    back.inputs[0] = moved;
    patch.add_node(std::move(back));
  }
  return patch;
}

// The factors of sums, for each channel: constants by the end of their names. TFLite rounds the product of two scales to float32 first,
// but for convolutions of int8.
std::vector<std::pair<const char*, Tensor>> factors_of(Rescale rescale, bool convolves, const Grid& x,
                                                       const std::vector<float>& scales, const Grid& y) {
  const Shape shape = {static_cast<int64_t>(scales.size())};
  if (rescale == Rescale::Float) {
    Tensor scale(DType::Float32, shape);
    for (size_t m = 0; m < scales.size(); ++m) {
      const float product = x.scale * scales[m];
      scale.mutable_data<float>()[m] = product / y.scale;  // 1 for real numbers
    }
    return {{".factor", std::move(scale)}};
  }
  if (rescale == Rescale::Tflite && !convolves) {
    Tensor scale(DType::Float64, shape);
    for (size_t m = 0; m < scales.size(); ++m) {
      const double product = static_cast<double>(x.scale) * static_cast<double>(scales[m]);
      scale.mutable_data<double>()[m] = product / static_cast<double>(y.scale);
    }
    return {{".factor", std::move(scale)}};
  }
  Tensor multiplier(DType::Int32, shape), shift(DType::Int32, shape);
  for (size_t m = 0; m < scales.size(); ++m) {
    const bool exact = convolves && x.dtype == DType::Int8;
    const double product = exact ? static_cast<double>(x.scale) * static_cast<double>(scales[m])
                                 : static_cast<double>(x.scale * scales[m]);
    const FixedPoint factor = FixedPoint::of(product / static_cast<double>(y.scale));
    multiplier.mutable_data<int32_t>()[m] = factor.multiplier;
    shift.mutable_data<int32_t>()[m] = factor.shift;
  }
  return {{".multiplier", std::move(multiplier)}, {".shift", std::move(shift)}};
}

// A layer whose result is quantised, taken apart from its end.
class ArithmeticLayer {
 public:
  ArithmeticLayer(const Graph& graph, const Uses& uses, NodeId end, Rescale rescale)
      : graph_(graph), uses_(uses), end_(end), rescale_(rescale) {}

  // A layer whose result stays real: from its operator, or a MatMul's bias, on.
  std::optional<Patch> real_patch() {
    main_ = end_;
    const NodeId reader = is_op(main(), "MatMul") ? only_reader(graph_, uses_, main().outputs[0]) : -1;
    if (reader >= 0 && is_op(graph_.node(reader), "Add")) {
      const Node& add = graph_.node(reader);
      const ValueId other = add.inputs[add.inputs[0] == main().outputs[0] ? 1 : 0];
      if (graph_.constant(other) != nullptr || constant_of(graph_, uses_, other, 0)) added_ = other, end_ = reader;
    }
    if (!find_input() || !find_weights()) return std::nullopt;
    if (!find_bias()) {
      if (end_ == main_) return std::nullopt;
      end_ = main_, added_ = kNoValue;
      if (!find_bias()) return std::nullopt;
    }
    if (end_ != main_) removed_.push_back(main_);
    y_.dtype = DType::Float32;
    return make();
  }

  std::optional<Patch> patch() {
    if (is_op(graph_.node(end_), "QLinearConv") || is_op(graph_.node(end_), "QLinearMatMul")) {
      if (!take_in_one()) return std::nullopt;
      return make();
    }
    const std::optional<Grid> y = grid_of(graph_, graph_.node(end_));
    if (!y || !is_op(graph_.node(end_), "QuantizeLinear")) return std::nullopt;
    y_ = *y;
    y_.away = rescale_ != Rescale::Float;
    kept_ = Bounds(y_.dtype);
    if (!find_main() || !find_input() || !find_weights() || !find_bias()) return std::nullopt;
    return make();
  }

 private:
  const Node& main() const { return graph_.node(main_); }

  bool convolves() const { return is_convolution(main()) || is_op(main(), "QLinearConv"); }

  // True where a layer can read `input_`: of a MatMul all but the last axis are rows.
  bool input_fits() const {
    const Type& type = graph_.value(input_).type;
    if (graph_.constant(input_) != nullptr || !type.shape) return false;
    if (convolves()) return type.shape->size() >= 3;
    return type.shape->size() == 2 || (type.shape->size() > 2 && type.fixed());
  }

  // A layer that one operator spells, with its scales as operands.
  bool take_in_one() {
    main_ = end_;
    const Node& node = main();
    const std::optional<Grid> x = grid_of(graph_, node.inputs[0], node.inputs[1], node.inputs[2]),
                              y = grid_of(graph_, node.outputs[0], node.inputs[6], node.inputs[7]);
    const Tensor *integers = graph_.constant(node.inputs[3]), *scale = graph_.constant(node.inputs[4]);
    const Tensor *zero = graph_.constant(node.inputs[5]), *bias = graph_.constant(node.input(8));
    if (!x || !y || integers == nullptr || scale == nullptr || scale->dtype() != DType::Float32 || zero == nullptr ||
        (node.input(8) != kNoValue && bias == nullptr))
      return false;
    x_ = *x, y_ = *y, kept_ = Bounds(y->dtype), input_ = node.inputs[0];
    if (!input_fits() || integers->rank() < 2 || (!convolves() && integers->rank() != 2)) return false;
    const int64_t axis = convolves() ? 0 : 1;
    const int64_t units = integers->dim(static_cast<int>(axis));
    Quantised w{integers, {}, to_int64s(*zero)};
    for (double s : to_doubles(*scale)) w.scales.push_back(static_cast<float>(s));
    for (const size_t n : {w.scales.size(), w.zeros.size()}) {
      if (n != 1 && static_cast<int64_t>(n) != units) return false;
    }
    if (!take_weights(w, axis)) return false;
    bias_ = bias == nullptr ? std::vector<int64_t>(units, 0) : to_int64s(*bias);
    if (static_cast<int64_t>(bias_.size()) != units) return false;
    fold_zero_point();
    return true;
  }

  NodeId sole_maker(ValueId value) const {
    const NodeId maker = uses_.producer[value];
    return maker >= 0 && only_reader(graph_, uses_, value) >= 0 ? maker : -1;
  }

  // Back over what clamps, to the layer; a MatMul may have its bias added.
  bool find_main() {
    std::vector<NodeId> clamps;
    ValueId value = graph_.node(end_).inputs[0];
    for (NodeId maker = sole_maker(value); maker >= 0; maker = sole_maker(value)) {
      const Node& node = graph_.node(maker);
      removed_.push_back(maker);
      if (is_op(node, "Relu") || is_op(node, "Clip")) {
        clamps.push_back(maker);
        value = node.inputs[0];
        continue;
      }
      if (is_op(node, "Add") && added_ == kNoValue) {
        for (const size_t side : {0, 1}) {
          const NodeId product = sole_maker(node.inputs[side]);
          if (product < 0 || !is_op(graph_.node(product), "MatMul")) continue;
          removed_.push_back(product);
          added_ = node.inputs[1 - side];
          main_ = product;
        }
      } else if (is_convolution(node) || is_op(node, "Gemm") || is_op(node, "MatMul")) {
        main_ = maker;
      }
      break;
    }
    if (main_ < 0) return false;
    return std::all_of(clamps.rbegin(), clamps.rend(),
                       [&](NodeId id) { return kept_.clamp(graph_, graph_.node(id), y_); });
  }

  bool find_input() {
    const NodeId maker = uses_.producer[main().inputs[0]];
    if (maker < 0 || !is_op(graph_.node(maker), "DequantizeLinear")) return false;
    const std::optional<Grid> grid = grid_of(graph_, graph_.node(maker));
    if (!grid) return false;
    x_ = *grid;
    input_ = graph_.node(maker).inputs[0];
    return input_fits();
  }

  bool find_weights() {
    const Node& node = main();
    const bool conv = is_convolution(node);
    if (is_op(node, "Gemm") && (node.attribute_int("transA", 0) != 0 || node.attribute_float("alpha", 1) != 1 ||
                                node.attribute_float("beta", 1) != 1))
      return false;
    const int64_t axis = weight_axes(node, 2)->output;  // of a MatMul's, which must be a matrix
    const std::optional<Quantised> w = constant_of(graph_, uses_, node.inputs[1], axis);
    if (!w || !is_byte(w->integers->dtype()) || w->integers->rank() < 2 || (!conv && w->integers->rank() != 2))
      return false;
    return take_weights(*w, axis);
  }

  // As int8 [M, ...] less their zero points.
  bool take_weights(const Quantised& w, int64_t axis) {
    const Tensor& from = *w.integers;
    channels_ = from.dim(static_cast<int>(axis));
    const int64_t each = channels_ == 0 ? 0 : from.size() / channels_;
    scales_ = w.scales;
    std::vector<int64_t> zeros = w.zeros;
    scales_.resize(channels_, scales_.empty() ? 1 : scales_[0]);
    zeros.resize(channels_, zeros.empty() ? 0 : zeros[0]);
    const std::vector<int64_t> values = to_int64s(from);
    // A zero point in the middle leaves 9 bits, which int16 holds.
    const auto range = [&](size_t i) {
      return values[i] - zeros[axis == 0 ? i / static_cast<size_t>(each) : i % static_cast<size_t>(channels_)];
    };
    bool narrow = true;
    for (size_t i = 0; i < values.size(); ++i) narrow = narrow && range(i) >= -128 && range(i) <= 127;
    weights_ = Tensor(narrow ? DType::Int8 : DType::Int16, axis == 0 ? from.shape() : Shape{from.dim(1), from.dim(0)});
    sums_.assign(channels_, 0);
    for (int64_t m = 0; m < channels_; ++m) {
      for (int64_t k = 0; k < each; ++k) {
        const int64_t at = axis == 0 ? m * each + k : k * channels_ + m;
        const int64_t value = values[at] - zeros[m];
        const size_t to = m * each + k;
        if (narrow) {
          weights_.mutable_data<int8_t>()[to] = static_cast<int8_t>(value);
        } else {
          weights_.mutable_data<int16_t>()[to] = static_cast<int16_t>(value);
        }
        sums_[m] += value;
      }
    }
    return true;
  }

  // In units of the products, less what x's zero point adds to each sum.
  bool find_bias() {
    const ValueId value = is_op(main(), "MatMul") ? added_ : main().input(2);
    bias_.assign(channels_, 0);
    if (value != kNoValue && !read_bias(value)) return false;
    fold_zero_point();
    return true;
  }

  void fold_zero_point() {
    for (size_t m = 0; m < bias_.size(); ++m)
      bias_[m] = static_cast<int32_t>(static_cast<uint32_t>(bias_[m] - x_.zero * sums_[m]));
  }

  // A number for each channel, in a sum of the product's own shape.
  bool by_channel(const Tensor& bias) const {
    const auto& shape = graph_.value(main().outputs[0]).type.shape;
    if (bias.size() != channels_ || !shape || bias.rank() > static_cast<int>(shape->size())) return false;
    return bias.rank() == 0 || bias.dim(bias.rank() - 1) == channels_;
  }

  bool read_bias(ValueId value) {
    const auto unit = [&](size_t m) { return x_.scale * scales_[m]; };
    const size_t wide = channels_;
    if (const Tensor* real = graph_.constant(value); real != nullptr) {
      const std::vector<double> numbers = real->dtype() == DType::Float32 ? to_doubles(*real) : std::vector<double>();
      if (numbers.size() != wide || !by_channel(*real)) return false;
      for (size_t m = 0; m < wide; ++m) {
        const double integer = std::nearbyint(numbers[m] / static_cast<double>(unit(m)));
        if (!(std::fabs(integer) < 0x1p30)) return false;
        bias_[m] = static_cast<int64_t>(integer);
      }
      return true;
    }
    const std::optional<Quantised> b = constant_of(graph_, uses_, value, 0);
    if (!b || b->integers->dtype() != DType::Int32 || !by_channel(*b->integers)) return false;
    const std::vector<int64_t> integers = to_int64s(*b->integers);
    for (size_t m = 0; m < wide; ++m) {
      const size_t at = b->scales.size() == 1 ? 0 : m;
      const double ratio = static_cast<double>(b->scales[at]) / static_cast<double>(unit(m));
      const auto moved = static_cast<double>(integers[m] - b->zeros[at]);
      // Writers round the product of two scales in their own way.
      const bool same = std::fabs(ratio - 1) < 0x1p-20;
      const double integer = same ? moved : std::nearbyint(moved * ratio);
      if (!(std::fabs(integer) < 0x1p31)) return false;
      bias_[m] = static_cast<int64_t>(integer);
    }
    return true;
  }

  Patch make() {
    const Node &first = main(), &end = graph_.node(end_);
    Patch patch(graph_, label_in(graph_, first) + " on integers");
    patch.place_at(end_);
    Node node;
    node.op = "QuantizedConv";
    node.domain = kInternalDomain;
    node.name = first.name;
    if (convolves()) node.attributes = first.attributes;
    node.attributes["padding"] = x_.zero;
    if (y_.dtype != DType::Float32) {
      node.attributes["zero_point"] = y_.zero;
      node.attributes["low"] = kept_.low;
      node.attributes["high"] = kept_.high;
    }
    node.attributes["to"] = static_cast<int64_t>(y_.dtype);
    Tensor bias(DType::Int32, {channels_});
    for (size_t m = 0; m < bias_.size(); ++m) bias.mutable_data<int32_t>()[m] = static_cast<int32_t>(bias_[m]);
    const bool in_one = is_op(first, "QLinearConv") || is_op(first, "QLinearMatMul");
    const std::string& name = graph_.value(first.inputs[in_one ? 3 : 1]).name;
    node.inputs = {input_, patch.add_constant(name + ".integers", weights_),
                   patch.add_constant(name + ".bias", std::move(bias))};
    for (auto& [what, factor] : factors_of(rescale_, convolves(), x_, scales_, y_))
      node.inputs.push_back(patch.add_constant(name + what, std::move(factor)));
    node.outputs = end.outputs;
    const Type& x = graph_.value(input_).type;
    const bool rows = !convolves() && x.shape->size() > 2;
    if (rows) {
      const Shape from = x.fixed_shape();
      const int64_t all = element_count(from) / std::max<int64_t>(1, from.back());
      node.inputs[0] = patch.add_value(name + ".rows", Type(x.dtype, {all, from.back()}));
      reshape(patch, input_, {all, from.back()}, node.inputs[0], first.name + "_rows", sources_of(first));
      node.outputs = {patch.add_value(name + ".products", Type(y_.dtype, {all, channels_}))};
    }
    for (auto id = removed_.rbegin(); id != removed_.rend(); ++id) {
      for (const std::string& source : sources_of(graph_.node(*id))) node.sources.push_back(source);
      patch.remove_node(*id);
    }
    for (const std::string& source : sources_of(end)) node.sources.push_back(source);
    patch.remove_node(end_);
    patch.add_node(node);
    const Type& y = graph_.value(end.outputs[0]).type;
    if (rows) reshape(patch, node.outputs[0], y.fixed_shape(), end.outputs[0], first.name + "_shape", node.sources);
    return patch;
  }

  static void reshape(Patch& patch, ValueId from, const Shape& shape, ValueId to, const std::string& name,
                      std::vector<std::string> sources) {
    Node node;
    node.name = name;
    node.op = "Reshape";
    node.attributes["allowzero"] = int64_t{1};
    node.inputs = {
        from, patch.add_constant(name + ".shape", Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape))};
    node.outputs = {to};
    node.sources = std::move(sources);
    patch.add_node(std::move(node));
  }

  const Graph& graph_;
  const Uses& uses_;
  NodeId end_, main_ = -1;
  const Rescale rescale_;
  std::vector<NodeId> removed_;  // but for the end, last first
  ValueId input_ = kNoValue, added_ = kNoValue;
  Grid x_, y_;
  Bounds kept_{DType::UInt8};
  int64_t channels_ = 0;
  Tensor weights_;
  std::vector<float> scales_;
  std::vector<int64_t> sums_, bias_;
};

}  // namespace

std::optional<Patch> integer_layer(const Graph& graph, const Uses& uses, NodeId end, Rescale rescale) {
  return ArithmeticLayer(graph, uses, end, rescale).patch();
}

std::optional<Patch> integers_picked(const Graph& graph, const Uses& uses, NodeId id, bool before_quantizers) {
  const Node& node = graph.node(id);
  const size_t picked = picked_inputs(node);
  if (picked == 0 || !node.domain.empty()) return std::nullopt;
  const int fill_input = find_op(node.domain, node.op)->fill_input;
  std::optional<Grid> grid;
  bool constants = true;
  for (size_t i = 0; i < picked; ++i) {
    const NodeId maker = node.inputs[i] == kNoValue ? -1 : uses.producer[node.inputs[i]];
    if (maker < 0 || !is_op(graph.node(maker), "DequantizeLinear")) return std::nullopt;
    const std::optional<Grid> own = grid_of(graph, graph.node(maker));
    if (!own || (grid && !same_grid(*grid, *own))) return std::nullopt;
    grid = own;
    constants = constants && graph.constant(graph.node(maker).inputs[0]) != nullptr;
  }
  for (ValueId y : node.outputs) {
    if (y == kNoValue || !graph.value(y).type.fixed()) return std::nullopt;
    const NodeId reader = only_reader(graph, uses, y);
    // integer-maps joins the three.
    if (!before_quantizers && fill_input < 0 && node.outputs.size() == 1 && reader >= 0 &&
        is_op(graph.node(reader), "QuantizeLinear"))
      return std::nullopt;
  }
  if (constants) return std::nullopt;
  Patch patch(graph, label_in(graph, node) + " of integers");
  patch.place_at(id);
  Node moved = node;
  moved.sources = sources_of(node);
  for (size_t i = 0; i < picked; ++i) moved.inputs[i] = graph.node(uses.producer[node.inputs[i]]).inputs[0];
  if (fill_input >= 0) {
    const ValueId given = node.input(fill_input);
    const Tensor* number = graph.constant(given);
    if (given != kNoValue && (number == nullptr || number->size() != 1)) return std::nullopt;
    const auto real = given == kNoValue ? 0.0f : static_cast<float>(to_doubles(*number)[0]);
    const int64_t integer = grid->of(real);
    if (static_cast<float>(integer - grid->zero) * grid->scale != real) return std::nullopt;
    moved.inputs.resize(std::max(moved.inputs.size(), static_cast<size_t>(fill_input) + 1), kNoValue);
    const Tensor fill = convert(Tensor::scalar(integer), grid->dtype);
    moved.inputs[fill_input] = patch.add_constant(graph.value(node.outputs[0]).name + ".fill", fill);
  }
  const Node& first = graph.node(uses.producer[node.inputs[0]]);
  std::vector<Node> back;
  for (ValueId& y : moved.outputs) {
    Type type = graph.value(y).type;
    type.dtype = grid->dtype;
    Node real = first;
    real.outputs = {y};
    real.sources = sources_of(node);
    real.inputs[0] = y = patch.add_value(graph.value(y).name + ".integers", std::move(type));
    back.push_back(std::move(real));
  }
  patch.add_node(std::move(moved));
  for (Node& real : back) patch.add_node(std::move(real));
  patch.remove_node(id);
  return patch;
}

std::optional<Patch> integer_average(const Graph& graph, const Uses& uses, NodeId end, Rescale rescale) {
  std::optional<Grid> y = grid_of(graph, graph.node(end));
  if (!y || !is_op(graph.node(end), "QuantizeLinear")) return std::nullopt;
  y->away = rescale != Rescale::Float;
  std::vector<NodeId> removed;
  Bounds kept(y->dtype);
  NodeId main = -1;
  for (ValueId value = graph.node(end).inputs[0]; only_reader(graph, uses, value) >= 0;) {
    main = uses.producer[value];
    if (main < 0) return std::nullopt;
    removed.push_back(main);
    if (!is_op(graph.node(main), "Relu") && !is_op(graph.node(main), "Clip")) break;
    value = graph.node(main).inputs[0];
  }
  if (main < 0) return std::nullopt;
  for (auto clamp = removed.rbegin() + 1; clamp != removed.rend(); ++clamp) {
    if (!kept.clamp(graph, graph.node(*clamp), *y)) return std::nullopt;
  }
  const Node& node = graph.node(main);
  const bool global = is_op(node, "GlobalAveragePool");
  if (!global && !is_op(node, "AveragePool")) return std::nullopt;
  const NodeId maker = uses.producer[node.inputs[0]];
  if (maker < 0 || !is_op(graph.node(maker), "DequantizeLinear")) return std::nullopt;
  const std::optional<Grid> x = grid_of(graph, graph.node(maker));
  const ValueId integers = graph.node(maker).inputs[0];
  if (!x || graph.constant(integers) != nullptr || !graph.value(integers).type.fixed()) return std::nullopt;
  if (rescale != Rescale::Float && !same_grid(*x, *y)) return std::nullopt;
  Patch patch(graph, label_in(graph, node) + " on integers");
  patch.place_at(end);
  Node made = node;
  made.op = "QuantizedAverage";
  made.domain = kInternalDomain;
  made.attributes["global"] = int64_t{global};
  if (rescale != Rescale::Float) made.attributes["whole"] = int64_t{1};
  made.attributes["padding"] = x->zero;
  made.attributes["input_scale"] = x->scale;
  made.attributes["scale"] = y->scale;
  made.attributes["zero_point"] = y->zero;
  made.attributes["low"] = kept.low;
  made.attributes["high"] = kept.high;
  made.attributes["to"] = static_cast<int64_t>(y->dtype);
  made.inputs = {integers};
  made.outputs = graph.node(end).outputs;
  made.sources.clear();
  removed.insert(removed.begin(), end);
  for (auto id = removed.rbegin(); id != removed.rend(); ++id) {
    for (const std::string& source : sources_of(graph.node(*id))) made.sources.push_back(source);
    patch.remove_node(*id);
  }
  patch.add_node(std::move(made));
  return patch;
}

std::vector<Patch> integer_arithmetic(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    if (!is_op(graph.node(id), "QuantizeLinear")) continue;
    if (std::optional<Patch> patch = as_unsigned(graph, uses, id)) patches.push_back(std::move(*patch));
  }
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    if (std::optional<Patch> patch = integers_picked(graph, uses, id, false)) patches.push_back(std::move(*patch));
  }
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (std::optional<Patch> patch = integer_average(graph, uses, id, Rescale::Float))
      patches.push_back(std::move(*patch));
    if (!is_op(node, "QuantizeLinear") && !is_op(node, "QLinearConv") && !is_op(node, "QLinearMatMul")) continue;
    if (std::optional<Patch> patch = ArithmeticLayer(graph, uses, id, Rescale::Float).patch())
      patches.push_back(std::move(*patch));
  }
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_convolution(node) && !is_op(node, "Gemm") && !is_op(node, "MatMul")) continue;
    if (std::optional<Patch> patch = ArithmeticLayer(graph, uses, id, Rescale::Float).real_patch())
      patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
