// Unsigned quantised numbers as signed ones: TFLite's kernels take activations and weights of one type only, and weights with a
// scale per unit only if signed.
#include <algorithm>

#include "formats/tflite/plan.h"
#include "ops/op.h"

namespace dnn::tflite {
namespace {

class Shifter {
 public:
  explicit Shifter(Graph& graph) : graph_(graph), uses_(graph) {}

  void run() {
    if (!mixed() || !possible()) return;
    const std::vector<NodeId> before = graph_.order();
    for (ValueId v : graph_.inputs) {
      if (unsigned_number(v)) enter(v);
    }
    std::set<ValueId> outputs;
    for (ValueId v : graph_.outputs) {
      if (unsigned_number(v) && !graph_.is_input(v)) outputs.insert(v);
    }
    std::vector<NodeId> order = std::move(order_);
    order.insert(order.end(), before.begin(), before.end());
    for (NodeId id : before) shift_zero_point(id);
    for (ValueId v = 0; v < uses_count(); ++v) {
      if (!unsigned_number(v) || graph_.is_input(v) || parameters_.count(v) != 0) continue;
      if (graph_.constant(v) != nullptr) {
        if (uses_.readers[v].empty()) continue;
        graph_.value(v).constant = shifted(*graph_.constant(v));
      }
      graph_.value(v).type.dtype = DType::Int8;
    }
    order_ = std::move(order);
    for (ValueId v : outputs) leave(v);
    graph_.set_order(std::move(order_));
  }

 private:
  ValueId uses_count() const { return static_cast<ValueId>(uses_.producer.size()); }
  bool unsigned_number(ValueId v) const { return v != kNoValue && graph_.value(v).type.dtype == DType::UInt8; }
  bool converts(const Node& node) const { return is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear"); }

  const Node* dequantize(ValueId v) const {
    const NodeId id = v == kNoValue ? -1 : uses_.producer[v];
    return id >= 0 && is_op(graph_.node(id), "DequantizeLinear") ? &graph_.node(id) : nullptr;
  }

  // Whether an operator with signed weights reads unsigned numbers.
  bool mixed() const {
    return std::any_of(graph_.order().begin(), graph_.order().end(), [&](NodeId id) {
      const Node& node = graph_.node(id);
      const bool weighted = node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm" || node.op == "MatMul";
      const Node *x = weighted ? dequantize(node.input(0)) : nullptr,
                 *w = weighted ? dequantize(node.input(1)) : nullptr;
      return x != nullptr && w != nullptr && unsigned_number(x->inputs[0]) &&
             graph_.constant(w->inputs[0]) != nullptr && graph_.value(w->inputs[0]).type.dtype == DType::Int8;
    });
  }

  // Whether nothing but conversions and what moves elements sees the numbers themselves; zero points are constants.
  bool possible() {
    static const std::set<std::string, std::less<>> moves = {
        "Concat", "DepthToSpace", "Expand",  "Flatten",      "Gather", "Identity",  "MaxPool",  "Reshape",
        "Slice",  "Split",        "Squeeze", "SpaceToDepth", "Tile",   "Transpose", "Unsqueeze"};
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      for (ValueId v : captured_values(graph_, node)) {
        if (unsigned_number(v)) return false;
      }
      bool touches = false;
      for (ValueId v : node.inputs) touches = touches || unsigned_number(v);
      for (ValueId v : node.outputs) touches = touches || unsigned_number(v);
      if (!touches) continue;
      if (!converts(node)) {
        if (moves.count(node.op) == 0) return false;
        continue;
      }
      const ValueId zero = node.input(2), number = is_op(node, "QuantizeLinear") ? node.outputs[0] : node.inputs[0];
      if (!unsigned_number(number)) continue;
      if (zero != kNoValue && (graph_.constant(zero) == nullptr || graph_.is_output(zero))) return false;
      if (zero != kNoValue) parameters_.insert(zero);
    }
    const auto converted = [&](ValueId v) {
      const std::vector<NodeId>& readers = uses_.readers[v];
      return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](NodeId id) {
        return is_op(graph_.node(id), "DequantizeLinear") && graph_.node(id).inputs[0] == v;
      });
    };
    for (ValueId v : graph_.inputs) {
      if (unsigned_number(v) && (!converted(v) || graph_.is_output(v))) return false;
    }
    for (ValueId v : graph_.outputs) {
      const NodeId made = uses_.producer[v];
      if (unsigned_number(v) && (made < 0 || !is_op(graph_.node(made), "QuantizeLinear"))) return false;
    }
    return true;
  }

  static dnn::Tensor shifted(const dnn::Tensor& tensor) {
    dnn::Tensor result(DType::Int8, tensor.shape());
    for (int64_t i = 0; i < tensor.size(); ++i)
      result.mutable_data<int8_t>()[i] = static_cast<int8_t>(static_cast<int>(tensor.data<uint8_t>()[i]) - 128);
    return result;
  }

  // The zero point of a conversion as a signed one; a missing one is 0, -128 now.
  ValueId signed_zero_point(const Node& node) {
    const dnn::Tensor* zero = graph_.constant(node.input(2));
    const dnn::Tensor* scale = graph_.constant(node.input(1));
    const dnn::Tensor old =
        zero != nullptr ? *zero : dnn::Tensor(DType::UInt8, scale == nullptr ? Shape{} : scale->shape());
    return graph_.add_constant(graph_.unused_value_name(graph_.value(node.inputs[1]).name + ".signed"), shifted(old));
  }

  void shift_zero_point(NodeId id) {
    const Node node = graph_.node(id);
    if (!converts(node)) return;
    const ValueId number = is_op(node, "QuantizeLinear") ? node.outputs[0] : node.inputs[0];
    if (!unsigned_number(number)) return;
    const ValueId zero = signed_zero_point(node);
    graph_.node(id).inputs.resize(3, kNoValue);
    graph_.node(id).inputs[2] = zero;
    graph_.node(id).attributes.erase("output_dtype");
  }

  NodeId convert(const Node& like, const char* op, ValueId x, ValueId zero, ValueId y) {
    Node node;
    node.op = op;
    node.inputs = {x, like.inputs[1]};
    if (zero != kNoValue) node.inputs.push_back(zero);
    node.outputs = {y};
    order_.push_back(graph_.add_node(std::move(node)));
    return order_.back();
  }

  ValueId value_like(ValueId v, const char* what, DType dtype) {
    Type type = graph_.value(v).type;
    type.dtype = dtype;
    return graph_.add_value(graph_.unused_value_name(graph_.value(v).name + what), std::move(type));
  }

  // An unsigned input stays one; a requantised copy of it is read.
  void enter(ValueId v) {
    const std::vector<NodeId> readers = uses_.readers[v];
    const Node like = graph_.node(readers[0]);
    const ValueId real = value_like(v, ".real", DType::Float32), copy = value_like(v, ".signed", DType::UInt8);
    convert(like, "DequantizeLinear", v, like.input(2), real);
    convert(like, "QuantizeLinear", real, signed_zero_point(like), copy);
    graph_.value(copy).type.dtype = DType::Int8;
    for (NodeId id : readers) {
      const Node reader = graph_.node(id);
      const ValueId zero = signed_zero_point(reader);
      graph_.node(id).inputs.resize(3, kNoValue);
      graph_.node(id).inputs[0] = copy;
      graph_.node(id).inputs[2] = zero;
    }
  }

  // An unsigned output stays one, made from a signed value.
  void leave(ValueId v) {
    const NodeId made = uses_.producer[v];
    const Node like = graph_.node(made);  // with a signed zero point already
    graph_.value(v).type.dtype = DType::UInt8;
    const ValueId number = value_like(v, ".signed", DType::Int8), real = value_like(v, ".real", DType::Float32);
    graph_.node(made).outputs[0] = number;
    for (NodeId id : uses_.readers[v]) {
      for (ValueId& input : graph_.node(id).inputs) input = input == v ? number : input;
    }
    const dnn::Tensor& zero = *graph_.constant(like.inputs[2]);
    dnn::Tensor old(DType::UInt8, zero.shape());
    for (int64_t i = 0; i < zero.size(); ++i)
      old.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(static_cast<int>(zero.data<int8_t>()[i]) + 128);
    const ValueId before =
        graph_.add_constant(graph_.unused_value_name(graph_.value(v).name + ".zero"), std::move(old));
    convert(like, "DequantizeLinear", number, like.inputs[2], real);
    convert(like, "QuantizeLinear", real, before, v);
  }

  Graph& graph_;
  const Uses uses_;
  std::set<ValueId> parameters_;  // zero points
  std::vector<NodeId> order_;
};

}  // namespace

void make_signed(Graph& graph) { Shifter(graph).run(); }

}  // namespace dnn::tflite
