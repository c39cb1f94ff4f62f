// QOperator; see qoperator.h. The operators' inputs are those that contrib.cc reads.
#include "formats/onnx/qoperator.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "base/error.h"
#include "formats/onnx/contrib.h"
#include "ops/attributes.h"
#include "ops/quantization.h"

namespace dnn::onnx {
namespace {

bool is_op(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

struct IntegerRow {
  const char* op;       // on real numbers
  const char* name;     // on integers
  bool contrib = true;  // ONNX Runtime's, not ONNX's
  size_t operands = 1;  // numbers, each with its scale and zero point; 0: all inputs, behind the result's scale
};
constexpr IntegerRow kIntegerRows[] = {{"Conv", "QLinearConv", false, 2},
                                       {"MatMul", "QLinearMatMul", false, 2},
                                       {"Gemm", "QGemm", true, 2},
                                       {"Add", "QLinearAdd", true, 2},
                                       {"Mul", "QLinearMul", true, 2},
                                       {"AveragePool", "QLinearAveragePool"},
                                       {"GlobalAveragePool", "QLinearGlobalAveragePool"},
                                       {"LeakyRelu", "QLinearLeakyRelu"},
                                       {"Sigmoid", "QLinearSigmoid"},
                                       {"Concat", "QLinearConcat", true, 0}};

// Operators that move numbers, or choose among them: on integers of one scale they are the same.
bool moves(const Node& node) {
  static const std::set<std::string, std::less<>> names = {
      "Concat", "DepthToSpace", "Expand",  "Flatten",      "Gather", "Identity",  "MaxPool",
      "Slice",  "Reshape",      "Squeeze", "SpaceToDepth", "Tile",   "Transpose", "Unsqueeze"};
  return node.domain.empty() && names.count(node.op) != 0;
}

// Integers with their scale and zero point.
struct Stored {
  ValueId value = kNoValue, scale = kNoValue, zero = kNoValue;
  int64_t axis = -1;  // of the scales; -1: one
};

class Collapse {
 public:
  explicit Collapse(Graph& graph) : graph_(graph), uses_(graph) {}

  void run() {
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      if (graph_.alive(id)) collapse(id);
    }
    sort_nodes(graph_);
    remove_dead_nodes(graph_);
  }

 private:
  bool small(ValueId v) const {
    return graph_.value(v).type.dtype == DType::Int8 || graph_.value(v).type.dtype == DType::UInt8;
  }

  // The scales and zero points that DequantizeLinear or QuantizeLinear gives integers; nullopt where their scales are computed or no plain ones.
  std::optional<Stored> said_by(const Node& node, ValueId integers) {
    const Tensor *scale = graph_.constant(node.input(1)), *zero = graph_.constant(node.input(2));
    if (scale == nullptr || scale->dtype() != DType::Float32 || node.attribute_int("block_size", 0) != 0 ||
        (node.input(2) != kNoValue && zero == nullptr))
      return std::nullopt;
    Stored stored = {integers, node.inputs[1], node.input(2), -1};
    if (scale->size() > 1) stored.axis = int_attribute(node, "axis");
    if (stored.zero == kNoValue) {
      const Tensor none(graph_.value(integers).type.dtype, scale->shape());
      stored.zero = graph_.add_constant(graph_.unused_value_name(graph_.value(integers).name + ".zero_point"), none);
    }
    return stored;
  }

  std::optional<Stored> stored(ValueId real) {
    const NodeId id =
        real == kNoValue || static_cast<size_t>(real) >= uses_.producer.size() ? -1 : uses_.producer[real];
    if (id < 0 || !is_op(graph_.node(id), "DequantizeLinear")) return std::nullopt;
    const Node node = graph_.node(id);
    return said_by(node, node.inputs[0]);
  }

  // A scale for all numbers, of 8-bit integers.
  std::optional<Stored> plain(ValueId real) {
    std::optional<Stored> found = stored(real);
    return found && found->axis < 0 && small(found->value) ? found : std::nullopt;
  }

  // The nodes behind `id` down to its QuantizeLinear: an activation that saturation makes needless may lie between.
  struct End {
    std::vector<NodeId> nodes;
    Stored result;
  };
  std::optional<End> end_of(NodeId id) {
    End end;
    ValueId y = graph_.node(id).outputs[0];
    NodeId activation = -1;
    while (true) {
      const std::vector<NodeId>& readers = uses_.readers[y];
      if (readers.size() != 1 || graph_.is_output(y)) return std::nullopt;
      const Node& reader = graph_.node(readers[0]);
      if (reader.inputs[0] != y) return std::nullopt;
      end.nodes.push_back(readers[0]);
      if (is_op(reader, "QuantizeLinear")) break;
      if (activation >= 0 || (!is_op(reader, "Relu") && !is_op(reader, "Clip"))) return std::nullopt;
      activation = readers[0];
      y = reader.outputs[0];
    }
    const Node quantize = graph_.node(end.nodes.back());
    const std::optional<Stored> result = said_by(quantize, quantize.outputs[0]);
    if (!result || result->axis >= 0 || !small(result->value)) return std::nullopt;
    end.result = *result;
    if (activation >= 0 && !needless(graph_.node(activation), *result)) return std::nullopt;
    return end;
  }

  // True where the integers' ends lie within the activation's bounds.
  bool needless(const Node& activation, const Stored& result) const {
    const auto scale = static_cast<double>(graph_.constant(result.scale)->data<float>()[0]);
    const auto zero = static_cast<double>(to_int64s(*graph_.constant(result.zero))[0]);
    const DType dtype = graph_.value(result.value).type.dtype;
    const auto within = [&](size_t input, bool low) {
      if (input > 0 && activation.input(input) == kNoValue) return true;
      const Tensor* bound = input == 0 ? nullptr : graph_.constant(activation.input(input));
      if (input > 0 && bound == nullptr) return false;
      const double at = std::nearbyint((bound == nullptr ? 0 : to_doubles(*bound)[0]) / scale) + zero;
      return low ? at <= static_cast<double>(integer_lowest(dtype)) : at >= static_cast<double>(integer_highest(dtype));
    };
    if (activation.op == "Relu") return within(0, true);
    return within(1, true) && within(2, false);
  }

  bool same_scale(const Stored& a, const Stored& b) const {
    return graph_.value(a.value).type.dtype == graph_.value(b.value).type.dtype &&
           graph_.constant(a.scale)->identical(*graph_.constant(b.scale)) &&
           graph_.constant(a.zero)->identical(*graph_.constant(b.zero));
  }

  // Integers of 32 bits in the scale of products; nullopt where a node's bias is something else. kNoValue: it has none.
  std::optional<ValueId> bias(const Node& node, const Stored& x, const Stored& w) {
    if (node.input(2) == kNoValue) return kNoValue;
    const std::optional<Stored> b = stored(node.inputs[2]);
    if (!b || graph_.value(b->value).type.dtype != DType::Int32) return std::nullopt;
    const Tensor &of_b = *graph_.constant(b->scale), &of_w = *graph_.constant(w.scale);
    if (of_b.size() != of_w.size()) return std::nullopt;
    const float of_x = graph_.constant(x.scale)->data<float>()[0];
    for (int64_t i = 0; i < of_w.size(); ++i) {
      if (of_b.data<float>()[i] != of_x * of_w.data<float>()[i]) return std::nullopt;
    }
    return b->value;
  }

  void collapse(NodeId id) {
    const Node node = graph_.node(id);
    if (!node.domain.empty() || node.inputs.empty() || node.outputs.empty() ||
        std::count(node.outputs.begin() + 1, node.outputs.end(), kNoValue) + 1 !=
            static_cast<std::ptrdiff_t>(node.outputs.size()))
      return;
    const auto* row = std::find_if(std::begin(kIntegerRows), std::end(kIntegerRows),
                                   [&](const IntegerRow& r) { return node.op == r.op; });
    if (row == std::end(kIntegerRows) && !moves(node)) return;
    const std::optional<End> end = end_of(id);
    if (!end) return;
    if (moves(node) && move(id, *end)) return;
    if (row == std::end(kIntegerRows)) return;
    std::optional<Node> made = row->operands == 0 ? joined(node, *end) : computed(node, *row, *end);
    if (!made) return;
    made->op = row->name;
    made->domain = row->contrib ? std::string(kContribDomain) : "";
    replace(id, std::move(*made), *end);
  }

  void replace(NodeId id, Node made, const End& end) {
    made.outputs = {end.result.value};
    for (NodeId gone : end.nodes) graph_.remove_node(gone);
    graph_.node(id) = std::move(made);
  }

  // The same operator on the integers, where all have one scale.
  bool move(NodeId id, const End& end) {
    Node made = graph_.node(id);
    if (end.nodes.size() > 1) return false;
    const size_t numbers = made.op == "Concat" ? made.inputs.size() : 1;
    for (size_t i = 0; i < numbers; ++i) {
      const std::optional<Stored> x = plain(made.inputs[i]);
      if (!x || !same_scale(*x, end.result)) return false;
      made.inputs[i] = x->value;
    }
    replace(id, std::move(made), end);
    return true;
  }

  std::optional<Node> joined(const Node& node, const End& end) {
    Node made = node;
    made.inputs = {end.result.scale, end.result.zero};
    for (ValueId v : node.inputs) {
      const std::optional<Stored> x = plain(v);
      if (!x) return std::nullopt;
      made.inputs.insert(made.inputs.end(), {x->value, x->scale, x->zero});
    }
    return made;
  }

  std::optional<Node> computed(const Node& node, const IntegerRow& row, const End& end) {
    const std::optional<Stored> x = plain(node.inputs[0]);
    if (!x) return std::nullopt;
    Node made = node;
    made.inputs = {x->value, x->scale, x->zero};
    std::optional<Stored> w;
    if (row.operands == 2) {
      w = stored(node.inputs[1]);
      if (!w || !small(w->value)) return std::nullopt;
      const bool weights = node.op == "Conv" || node.op == "Gemm" || node.op == "MatMul";
      if (w->axis >= 0 && (!weights || w->axis != unit_axis(node, w->value))) return std::nullopt;
      made.inputs.insert(made.inputs.end(), {w->value, w->scale, w->zero});
    }
    ValueId added = kNoValue;
    if (node.op == "Conv" || node.op == "Gemm") {
      const std::optional<ValueId> b = bias(node, *x, *w);
      if (!b) return std::nullopt;
      added = *b;
    }
    if (node.op == "Gemm") {
      if (float_attribute(node, "alpha") != 1 || float_attribute(node, "beta") != 1) return std::nullopt;
      made.attributes.erase("beta");
      made.inputs.push_back(added);
    }
    made.inputs.insert(made.inputs.end(), {end.result.scale, end.result.zero});
    if (node.op == "Conv" && added != kNoValue) made.inputs.push_back(added);
    return made;
  }

  // The axis of the output channels of weights; -2: unknown.
  int64_t unit_axis(const Node& node, ValueId weights) const {
    if (node.op == "Conv") return 0;
    if (node.op == "Gemm") return int_attribute(node, "transB") != 0 ? 0 : 1;
    const auto& shape = graph_.value(weights).type.shape;
    return shape && shape->size() == 2 ? 1 : -2;
  }

  Graph& graph_;
  const Uses uses_;
};

}  // namespace

void to_qoperator(Graph& graph) { Collapse(graph).run(); }

}  // namespace dnn::onnx
