// tflite-arithmetic: operators between DequantizeLinear and QuantizeLinear of 8 bits as TFLite's reference kernels compute them, on
// integers and in fixed point (docs/explanation/integers.md); tflite-micro-arithmetic: as those of TensorFlow Lite Micro, which differ
// in FULLY_CONNECTED alone. `--arithmetic tflite` and `tflite-micro` ask for them; it comes before all other passes and at
// each level, so that all compute the same bits. What TFLite has no such kernel for, or we do not know, is Unsupported: a network is
// predicted as a whole or not at all. Operators on real numbers stay as they are.
#include <algorithm>
#include <cmath>

#include "graph/locate.h"
#include "ops/fixed_point.h"
#include "ops/op.h"
#include "passes/byte_grid.h"
#include "passes/integer_layer.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/tflite_tables.h"

namespace dnn {
namespace {

// Integers and the real numbers that they stand for.
struct Operand {
  ValueId value;
  Grid grid;
};

std::optional<Operand> operand_of(const Graph& graph, const Uses& uses, ValueId value) {
  const NodeId maker = value == kNoValue ? -1 : uses.producer[value];
  if (maker < 0 || !is_op(graph.node(maker), "DequantizeLinear")) return std::nullopt;
  const std::optional<Grid> grid = grid_of(graph, graph.node(maker));
  if (!grid) return std::nullopt;
  return Operand{graph.node(maker).inputs[0], *grid};
}

// Functions that TFLite tabulates in float32.
float logistic(float x) { return 1.0f / (1.0f + std::exp(-x)); }
float tangent(float x) { return std::tanh(x); }
float elu(float x) { return x < 0 ? std::expm1(x) : x; }

// The operator that ends in one QuantizeLinear, with what clamps its result.
class Kernel {
 public:
  Kernel(const Graph& graph, const Uses& uses, NodeId end) : graph_(graph), uses_(uses), end_(end) {}

  std::optional<Patch> patch() {
    const std::optional<Grid> y = grid_of(graph_, graph_.node(end_));
    if (!y) return std::nullopt;
    y_ = *y;
    y_.away = true;
    kept_ = Bounds(y_.dtype);
    if (!find_main()) return std::nullopt;
    if (const std::optional<Operand> x = operand_of(graph_, uses_, value_)) return requantised(*x);
    if (main_ < 0 || !reads_integers(main_)) return quantised();
    if (only_reader(graph_, uses_, value_) < 0) return std::nullopt;
    removed_.push_back(main_);
    const Node& node = graph_.node(main_);
    if (is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Mul")) return pair(node);
    if (is_op(node, "Concat")) return joined(node);
    if (is_op(node, "Softmax")) return softmax(node);
    if (is_op(node, "ReduceMean") || is_op(node, "ReduceSum")) return reduced(node);
    return function(node);
  }

  // The operator that stands in front, for messages.
  std::string label() {
    find_main();
    return label_in(graph_, graph_.node(main_ < 0 ? end_ : main_));
  }

 private:
  // Back over what clamps, whose bounds are those of the result.
  bool find_main() {
    value_ = graph_.node(end_).inputs[0];
    for (main_ = producer(value_); main_ >= 0; main_ = producer(value_)) {
      const Node& node = graph_.node(main_);
      if ((!is_op(node, "Relu") && !is_op(node, "Clip")) || only_reader(graph_, uses_, value_) < 0) break;
      clamps_.push_back(main_);
      value_ = node.inputs[0];
    }
    removed_ = clamps_;
    return std::all_of(clamps_.rbegin(), clamps_.rend(),
                       [&](NodeId id) { return kept_.clamp(graph_, graph_.node(id), y_); });
  }

  NodeId producer(ValueId v) const { return uses_.producer[v]; }

  // True where numbers of the operator were integers: TFLite has a kernel for integers then.
  bool reads_integers(NodeId id) const {
    const std::vector<ValueId>& inputs = graph_.node(id).inputs;
    return std::any_of(inputs.begin(), inputs.end(), [&](ValueId v) {
      const NodeId maker = v == kNoValue ? -1 : producer(v);
      return maker >= 0 && is_op(graph_.node(maker), "DequantizeLinear");
    });
  }

  Patch start(const std::string& what) const {
    Patch patch(graph_, what + " as TFLite computes it");
    patch.place_at(end_);
    for (NodeId id : removed_) patch.remove_node(id);
    patch.remove_node(end_);
    return patch;
  }

  // The node in place of all.
  Node made(const char* op, std::vector<ValueId> inputs) const {
    Node node;
    node.name = graph_.node(removed_.empty() ? end_ : removed_.back()).name;
    node.op = op;
    node.domain = kInternalDomain;
    node.inputs = std::move(inputs);
    node.outputs = graph_.node(end_).outputs;
    for (auto id = removed_.rbegin(); id != removed_.rend(); ++id) {
      for (const std::string& source : sources_of(graph_.node(*id))) node.sources.push_back(source);
    }
    for (const std::string& source : sources_of(graph_.node(end_))) node.sources.push_back(source);
    return node;
  }

  void end_in(Node& node) const {
    node.attributes["zero_point"] = y_.zero;
    node.attributes["low"] = kept_.low;
    node.attributes["high"] = kept_.high;
    node.attributes["to"] = static_cast<int64_t>(y_.dtype);
  }

  static void set(Node& node, const std::string& which, FixedPoint factor) {
    node.attributes[which + "multiplier"] = int64_t{factor.multiplier};
    node.attributes[which + "shift"] = int64_t{factor.shift};
  }

  Patch looked_up(const Operand& x, Tensor table) const {
    Node node = made("ByteTable", {x.value});
    Patch patch = start(label_in(graph_, graph_.node(end_)));
    node.inputs.push_back(patch.add_constant(graph_.value(node.outputs[0]).name + ".table", std::move(table)));
    patch.add_node(std::move(node));
    return patch;
  }

  std::optional<Patch> requantised(const Operand& x) const {
    if (graph_.constant(x.value) != nullptr) return std::nullopt;
    if (same_grid(x.grid, y_) && clamps_.empty()) {
      Patch patch = start(label_in(graph_, graph_.node(end_)));
      patch.redirect(graph_.node(end_).outputs[0], x.value);
      return patch;
    }
    return looked_up(x, tflite_kernels::requantised(x.grid, y_, kept_, !clamps_.empty()));
  }

  // Real numbers, of inputs or of operators on them; a Relu or Clip is one of these.
  Patch quantised() {
    removed_.clear();
    kept_ = Bounds(y_.dtype);
    Node node = made("ToInteger", {graph_.node(end_).inputs[0]});
    node.attributes["scale"] = y_.scale;
    node.attributes["away"] = int64_t{1};
    end_in(node);
    Patch patch = start(label_in(graph_, graph_.node(end_)));
    patch.add_node(std::move(node));
    return patch;
  }

  std::optional<Patch> pair(const Node& node) const {
    const std::optional<Operand> a = operand_of(graph_, uses_, node.inputs[0]),
                                 b = operand_of(graph_, uses_, node.inputs[1]);
    if (!a || !b) return std::nullopt;
    const bool product = is_op(node, "Mul");
    Node made = this->made(product ? "FixedPointProduct" : "FixedPointSum", {a->value, b->value});
    made.attributes["a_zero"] = a->grid.zero;
    made.attributes["b_zero"] = b->grid.zero;
    end_in(made);
    if (product) {
      set(made, "", FixedPoint::of(static_cast<double>(a->grid.scale * b->grid.scale / y_.scale)));
    } else {
      constexpr int kLeft = 20;  // bits that 9-bit differences leave
      const double twice = static_cast<double>(2 * std::max(a->grid.scale, b->grid.scale));
      made.attributes["left"] = int64_t{kLeft};
      made.attributes["sign"] = int64_t{is_op(node, "Sub") ? -1 : 1};
      set(made, "a_", FixedPoint::of(static_cast<double>(a->grid.scale) / twice));
      set(made, "b_", FixedPoint::of(static_cast<double>(b->grid.scale) / twice));
      set(made, "", FixedPoint::of(twice / static_cast<double>(static_cast<float>(1 << kLeft) * y_.scale)));
    }
    Patch patch = start(label_in(graph_, node));
    patch.add_node(std::move(made));
    return patch;
  }

  // Operands on the result's grid, side by side.
  std::optional<Patch> joined(const Node& node) const {
    if (!clamps_.empty()) return std::nullopt;
    std::vector<Operand> operands;
    for (ValueId v : node.inputs) {
      const std::optional<Operand> x = operand_of(graph_, uses_, v);
      if (!x || x->grid.dtype != y_.dtype) return std::nullopt;
      operands.push_back(*x);
    }
    Patch patch = start(label_in(graph_, node));
    Node made = this->made("Concat", {});
    made.domain.clear();
    made.attributes = node.attributes;
    for (const Operand& x : operands) {
      ValueId integers = x.value;
      if (!same_grid(x.grid, y_)) {
        Type type = graph_.value(x.value).type;
        Node table = this->made("ByteTable", {x.value});
        const std::string name = graph_.value(x.value).name;
        table.inputs.push_back(patch.add_constant(name + ".table", tflite_kernels::joined(x.grid, y_)));
        integers = patch.add_value(name + ".requantised", std::move(type));
        table.name += cat("_", made.inputs.size());
        table.outputs = {integers};
        patch.add_node(std::move(table));
      }
      made.inputs.push_back(integers);
    }
    patch.add_node(std::move(made));
    return patch;
  }

  std::optional<Patch> softmax(const Node& node) {
    const auto rank = graph_.value(node.inputs[0]).type.shape ? graph_.value(node.inputs[0]).type.shape->size() : 0;
    const int64_t axis = int_attribute(node, "axis");
    if (!clamps_.empty() || rank == 0 || (axis != -1 && axis != static_cast<int64_t>(rank) - 1)) return std::nullopt;
    float beta = 1;
    ValueId value = node.inputs[0];
    const NodeId factor = producer(value);
    if (factor >= 0 && is_op(graph_.node(factor), "Mul")) {
      const Tensor* number = graph_.constant(graph_.node(factor).inputs[1]);
      if (number == nullptr || number->size() != 1 || only_reader(graph_, uses_, value) < 0) return std::nullopt;
      beta = static_cast<float>(to_doubles(*number)[0]);
      value = graph_.node(factor).inputs[0];
      removed_.push_back(factor);
    }
    const std::optional<Operand> x = operand_of(graph_, uses_, value);
    if (!x) return std::nullopt;
    Node made = this->made("TableSoftmax", {x->value});
    made.attributes = {{"scale", y_.scale}, {"zero_point", y_.zero}, {"to", static_cast<int64_t>(y_.dtype)}};
    Patch patch = start(label_in(graph_, node));
    made.inputs.push_back(patch.add_constant(graph_.value(made.outputs[0]).name + ".powers",
                                             tflite_kernels::softmax_powers(x->grid, beta)));
    patch.add_node(std::move(made));
    return patch;
  }

  std::optional<Patch> reduced(const Node& node) const {
    const std::optional<Operand> x = operand_of(graph_, uses_, node.inputs[0]);
    const Tensor* axes = graph_.constant(node.input(1));
    if (!x || axes == nullptr || axes->size() == 0 || !graph_.value(x->value).type.fixed() || !clamps_.empty())
      return std::nullopt;
    FixedPoint factor = FixedPoint::of(static_cast<double>(x->grid.scale) / static_cast<double>(y_.scale));
    const Shape shape = graph_.value(x->value).type.fixed_shape();
    int64_t elements = 1;
    for (int64_t axis : to_int64s(*axes))
      elements *= shape[axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis];
    if (elements == 0) return std::nullopt;
    if (is_op(node, "ReduceMean")) {  // the number of elements becomes part of the factor
      int shift = 0;
      while (elements >> (shift + 1) != 0) ++shift;
      shift = std::min({shift, 32, 31 + factor.shift});
      factor = {static_cast<int32_t>((int64_t{factor.multiplier} << shift) / elements), factor.shift - shift};
    }
    Node made = this->made("FixedPointMean", {x->value});
    made.attributes["axes"] = to_int64s(*axes);
    made.attributes["keepdims"] = int_attribute(node, "keepdims");
    made.attributes["zero"] = x->grid.zero;
    set(made, "", factor);
    end_in(made);
    Patch patch = start(label_in(graph_, node));
    patch.add_node(std::move(made));
    return patch;
  }

  std::optional<Patch> function(const Node& node) const {
    const std::optional<Operand> x = operand_of(graph_, uses_, node.inputs[0]);
    if (!x || !clamps_.empty() || x->grid.dtype != y_.dtype) return std::nullopt;
    if (is_op(node, "Sigmoid")) return looked_up(*x, tflite_kernels::table_of(x->grid, y_, logistic));
    if (is_op(node, "Tanh")) return looked_up(*x, tflite_kernels::table_of(x->grid, y_, tangent));
    if (is_op(node, "Elu")) return looked_up(*x, tflite_kernels::table_of(x->grid, y_, elu));
    if (is_op(node, "HardSwish")) return looked_up(*x, tflite_kernels::hard_swish(x->grid, y_));
    if (is_op(node, "LeakyRelu"))
      return looked_up(*x, tflite_kernels::leaky_relu(x->grid, y_, float_attribute(node, "alpha")));
    return std::nullopt;
  }

  const Graph& graph_;
  const Uses& uses_;
  NodeId end_, main_ = -1;
  ValueId value_ = kNoValue;              // what `main_` makes
  std::vector<NodeId> clamps_, removed_;  // but for the end, last first
  Grid y_;
  Bounds kept_{DType::UInt8};
};

std::vector<Patch> in_arithmetic_of(const Graph& graph, Rescale rescale) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    if (std::optional<Patch> patch = integers_picked(graph, uses, id, true)) patches.push_back(std::move(*patch));
  }
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    if (!is_op(graph.node(id), "QuantizeLinear")) continue;
    std::optional<Patch> patch = integer_average(graph, uses, id, rescale);
    if (!patch) patch = integer_layer(graph, uses, id, rescale);
    if (!patch) patch = Kernel(graph, uses, id).patch();
    if (patch) patches.push_back(std::move(*patch));
  }
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    if (is_op(graph.node(id), "QuantizeLinear"))
      fail_unsupported(Kernel(graph, uses, id).label(), " on quantised numbers is not computed as TFLite does",
                       "; leave out --arithmetic tflite");
  }
  return patches;
}

}  // namespace

std::vector<Patch> tflite_arithmetic(const Graph& graph, const PassContext&) {
  return in_arithmetic_of(graph, Rescale::Tflite);
}

std::vector<Patch> tflite_micro_arithmetic(const Graph& graph, const PassContext&) {
  return in_arithmetic_of(graph, Rescale::TfliteMicro);
}

}  // namespace dnn
