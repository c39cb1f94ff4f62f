// Planning; see plan.h.
#include "formats/tflite/plan.h"

#include <algorithm>
#include <limits>

#include "formats/decompose.h"
#include "formats/tflite/export.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace dnn::tflite {
namespace {

bool is_dynamic_quantize(const Node& node) {
  return node.domain == kInternalDomain && node.op == "DynamicFakeQuantize";
}

// Scale and zero point of a QuantizeLinear or DequantizeLinear; nothing where they are computed or lie in blocks.
std::optional<Scales> scales_of(const Graph& graph, const Node& node) {
  const dnn::Tensor *scale = graph.constant(node.input(1)), *zero = graph.constant(node.input(2));
  if (scale == nullptr || (node.input(2) != kNoValue && zero == nullptr)) return std::nullopt;
  if (scale->dtype() != DType::Float32 || scale->rank() > 1 || node.attribute_int("block_size", 0) != 0)
    return std::nullopt;
  Scales result;
  result.scale.assign(scale->values<float>().begin(), scale->values<float>().end());
  result.zero_point.assign(result.scale.size(), 0);
  if (zero != nullptr && zero->size() == scale->size()) result.zero_point = to_int64s(*zero);
  int64_t axis = node.attribute_int("axis", 1);
  const auto& shape = graph.value(node.inputs[0]).type.shape;
  if (axis < 0 && shape) axis += static_cast<int64_t>(shape->size());
  if (result.scale.size() > 1) result.axis = static_cast<int>(axis);
  if (result.scale.empty()) return std::nullopt;
  const auto all_same = [](const auto& all) {
    return std::all_of(all.begin(), all.end(), [&](const auto& one) { return one == all[0]; });
  };
  // One for all channels of what is computed, said for each: the form in which dnn-quantize keeps layers in float32.
  if (graph.constant(node.inputs[0]) == nullptr && all_same(result.scale) && all_same(result.zero_point))
    result = {{result.scale[0]}, {result.zero_point[0]}, 0};
  return result;
}

bool small_integer(DType dtype) { return dtype == DType::Int8 || dtype == DType::UInt8; }

// Elements move, none is computed; the first input's.
bool moves(const Node& node) {
  static const std::set<std::string, std::less<>> names = {"Expand", "Flatten", "Gather", "Identity",  "Reshape",
                                                           "Slice",  "Squeeze", "Tile",   "Transpose", "Unsqueeze"};
  if (node.outputs.size() != 1) return false;
  return node.domain.empty() ? names.count(node.op) != 0 : node.op == "DepthToSpace" || node.op == "SpaceToDepth";
}

// TFLite's kernels move integers of 16 bits, too, but for one (2.21).
bool moves_integers(const Node& node, DType dtype) {
  return moves(node) && (dtype_size(dtype) == 1 || node.op != "DepthToSpace");
}

bool single_scale(const Graph& graph, const Node& node) {
  const auto scales = scales_of(graph, node);
  return scales && scales->single();
}

class Sinker {
 public:
  explicit Sinker(Graph& graph) : graph_(graph) {}

  void run() {
    sink();
    hoist();
    round_late();
    remove_dead_nodes(graph_);
  }

 private:
  ValueId like(ValueId v, DType dtype) {
    Type type = graph_.value(v).type;
    type.dtype = dtype;
    return graph_.add_value(graph_.unused_value_name(graph_.value(v).name + ".quantized"), std::move(type));
  }

  // Moving what DequantizeLinear makes: moving the integers, then DequantizeLinear.
  void sink() {
    std::map<ValueId, NodeId> made;  // by a DequantizeLinear per tensor
    std::vector<NodeId> order;
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      order.push_back(id);
      const Node node = graph_.node(id);
      if (is_op(node, "DequantizeLinear") && single_scale(graph_, node)) made[node.outputs[0]] = id;
      if (!moves(node) || made.count(node.inputs[0]) == 0) continue;
      const Node dequantize = graph_.node(made[node.inputs[0]]);
      if (!moves_integers(node, graph_.value(dequantize.inputs[0]).type.dtype)) continue;
      const ValueId y = node.outputs[0];
      const ValueId moved = like(y, graph_.value(dequantize.inputs[0]).type.dtype);
      graph_.node(id).inputs[0] = dequantize.inputs[0];
      graph_.node(id).outputs[0] = moved;
      Node again = dequantize;
      again.inputs[0] = moved;
      again.outputs[0] = y;
      made[y] = graph_.add_node(std::move(again));
      order.push_back(made[y]);
    }
    graph_.set_order(std::move(order));
    rejoin();
  }

  // DequantizeLinear and then QuantizeLinear of the same scale, to the integers that there were.
  void rejoin() {
    Uses uses(graph_);
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      const Node node = graph_.node(id);
      if (!is_op(node, "QuantizeLinear")) continue;
      const NodeId before = uses.producer[node.inputs[0]];
      if (before < 0 || !is_op(graph_.node(before), "DequantizeLinear")) continue;
      const ValueId x = graph_.node(before).inputs[0], y = node.outputs[0];
      const auto from = scales_of(graph_, graph_.node(before)), to = scales_of(graph_, node);
      if (!from || !to || !(*from == *to) || graph_.value(x).type.dtype != graph_.value(y).type.dtype) continue;
      graph_.node(id) = Node();
      graph_.node(id).op = "Identity";
      graph_.node(id).name = node.name;
      graph_.node(id).inputs = {x};
      graph_.node(id).outputs = {y};
      // What made x makes y, where only this reads it.
      const NodeId maker = uses.producer[x];
      const std::vector<NodeId>& readers = uses.readers[x];
      const bool alone = readers.size() == 1 && readers[0] == before && !graph_.is_output(x) &&
                         uses.readers[node.inputs[0]].size() == 1 && !graph_.is_output(node.inputs[0]);
      if (maker < 0 || !alone || graph_.node(maker).outputs.size() != 1) continue;
      graph_.node(maker).outputs[0] = y;
      uses.producer[y] = maker;  // another pair may follow
      graph_.remove_node(id);
      graph_.remove_node(before);
    }
  }

  // Transpose of what a DynamicFakeQuantize rounds: Transpose, then DynamicFakeQuantize, next to the weights that it is for.
  void round_late() {
    const Uses uses(graph_);
    std::vector<NodeId> order;
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      order.push_back(id);
      const ValueId x = graph_.node(id).input(0);
      const NodeId before = x == kNoValue ? -1 : uses.producer[x];
      if (!is_op(graph_.node(id), "Transpose") || before < 0 || !is_dynamic_quantize(graph_.node(before))) continue;
      Node round = graph_.node(before);
      const Type& type = graph_.value(x).type;
      const std::vector<int64_t> perm = transpose_permutation(graph_.node(id), type.shape ? type.shape->size() : 0);
      std::vector<int64_t> axes;
      for (int64_t axis : ints_attribute(round, "axes")) {
        axis += axis < 0 ? static_cast<int64_t>(perm.size()) : 0;
        axes.push_back(std::find(perm.begin(), perm.end(), axis) - perm.begin());
      }
      const ValueId y = graph_.node(id).outputs[0];
      graph_.node(id).inputs[0] = round.inputs[0];
      graph_.node(id).outputs[0] = like(y, graph_.value(y).type.dtype);
      round.inputs[0] = graph_.node(id).outputs[0];
      round.outputs[0] = y;
      round.attributes["axes"] = std::move(axes);
      order.push_back(graph_.add_node(std::move(round)));
    }
    graph_.set_order(std::move(order));
  }

  // QuantizeLinear of what was moved: QuantizeLinear, then moving the integers. Nodes change places.
  void hoist() {
    const Uses uses(graph_);
    const auto alone = [&](ValueId v) { return uses.readers[v].size() == 1 && !graph_.is_output(v); };
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      if (!is_op(graph_.node(id), "QuantizeLinear") || !single_scale(graph_, graph_.node(id))) continue;
      NodeId at = id;
      while (true) {
        const Node quantize = graph_.node(at);
        const ValueId x = quantize.inputs[0];
        if (static_cast<size_t>(x) >= uses.producer.size() || !alone(x)) break;
        const NodeId before = uses.producer[x];
        if (before < 0 || !moves_integers(graph_.node(before), graph_.value(quantize.outputs[0]).type.dtype)) break;
        Node move = graph_.node(before), first = quantize;
        first.inputs[0] = move.inputs[0];
        first.outputs[0] = like(move.inputs[0], graph_.value(quantize.outputs[0]).type.dtype);
        move.inputs[0] = first.outputs[0];
        move.outputs[0] = quantize.outputs[0];
        graph_.node(before) = std::move(first);
        graph_.node(at) = std::move(move);
        at = before;
      }
    }
  }

  Graph& graph_;
};

// The activation that a node is, as TFLite's operators can do it at their end.
Activation activation_of(const Graph& graph, const Node& node) {
  if (!node.domain.empty()) return Activation::NONE;
  if (node.op == "Relu") return Activation::RELU;
  if (node.op != "Clip") return Activation::NONE;
  const dnn::Tensor *low = graph.constant(node.input(1)), *high = graph.constant(node.input(2));
  if (low == nullptr || high == nullptr) return Activation::NONE;
  const double from = to_doubles(*low)[0], to = to_doubles(*high)[0];
  return from == 0 && to == 6 ? Activation::RELU6 : from == -1 && to == 1 ? Activation::RELU_N1_TO_1 : Activation::NONE;
}

class Planner {
 public:
  explicit Planner(const Graph& graph) : graph_(graph), uses_(graph) {}

  Plan run() {
    find_scales();
    find_unbounded();
    for (NodeId id : graph_.order()) {
      if (plan_.skipped.count(id) == 0 && !is_dynamic_quantize(graph_.node(id))) plan_node(id);
    }
    skip_conversions();
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (is_dynamic_quantize(node) && plan_.skipped.count(id) == 0)
        fail_unsupported(node.label(), ": rounds what meets no int8 weights, which TFLite cannot say");
    }
    return std::move(plan_);
  }

 private:
  const Node* dequantize(ValueId v) const {
    const NodeId id = v == kNoValue ? -1 : uses_.producer[v];
    return id >= 0 && is_op(graph_.node(id), "DequantizeLinear") ? &graph_.node(id) : nullptr;
  }

  // A constant of 16-bit floats that a Cast widens.
  const Node* widened(ValueId v) const {
    const NodeId id = v == kNoValue ? -1 : uses_.producer[v];
    if (id < 0 || !is_op(graph_.node(id), "Cast") || dtype(v) != DType::Float32) return nullptr;
    const ValueId x = graph_.node(id).inputs[0];
    return graph_.constant(x) != nullptr && dtype(x) == DType::Float16 ? &graph_.node(id) : nullptr;
  }

  DType dtype(ValueId v) const { return graph_.value(v).type.dtype; }

  // Tells the scales of a value; two that differ cannot be written.
  bool tell(ValueId v, const Scales& scales) {
    const auto [at, fresh] = plan_.scales.try_emplace(v, scales);
    if (!fresh && !(at->second == scales))
      fail_unsupported("value '", graph_.value(v).name, "' is quantised in two scales, which TFLite cannot say");
    return fresh;
  }

  void find_scales() {
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      const bool quantizes = is_op(node, "QuantizeLinear");
      if (!quantizes && !is_op(node, "DequantizeLinear")) continue;
      const auto scales = scales_of(graph_, node);
      if (!scales) fail_unsupported(node.label(), ": its scale is computed or lies in blocks, which TFLite cannot say");
      tell(quantizes ? node.outputs[0] : node.inputs[0], *scales);
    }
    const auto pass_on = [&](NodeId id) {
      const Node& node = graph_.node(id);
      const bool joins = is_op(node, "Concat") || is_op(node, "Split") || node.op == "MaxPool";
      if (!moves(node) && !joins) return;
      std::vector<ValueId> alike = {node.inputs[0]};
      if (is_op(node, "Concat")) alike = node.inputs;
      for (ValueId v : node.outputs) alike.push_back(v);
      for (ValueId v : alike) {
        const auto known = v == kNoValue ? plan_.scales.end() : plan_.scales.find(v);
        if (known == plan_.scales.end() || !known->second.single()) continue;
        const Scales scales = known->second;
        for (ValueId other : alike) {
          if (other != kNoValue && dtype(other) == dtype(v)) tell(other, scales);
        }
        return;
      }
    };
    std::vector<NodeId> order = graph_.order();
    for (NodeId id : order) pass_on(id);
    std::reverse(order.begin(), order.end());
    for (NodeId id : order) pass_on(id);
  }

  // Values that a division or a power makes, and those that are made of them, up to what brings all numbers into a range.
  void find_unbounded() {
    static const std::set<std::string> makes = {"Div", "Exp", "Log", "Pow", "Reciprocal"};
    static const std::set<std::string> ends = {"Clip",    "HardSigmoid", "QuantizeLinear", "Sigmoid", "Sign",
                                               "Softmax", "Tanh"};
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (!node.domain.empty() || ends.count(node.op) != 0) continue;
      const bool passes_on =
          std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return unbounded_.count(v) != 0; });
      if (passes_on || makes.count(node.op) != 0) unbounded_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  void plan_node(NodeId id) {
    const Node& node = graph_.node(id);
    PlannedNode planned;
    for (const ExportRow& row : export_rows()) {
      if (node.domain == row.domain && node.op == row.op) planned.row = &row;
    }
    if (planned.row == nullptr)
      fail_unsupported(node.label(), " has no counterpart in TFLite that can be written", way_out(graph_, node));
    planned.inputs.assign(node.inputs.size(), kNoValue);
    planned.output = node.outputs[0];
    const std::vector<NodeId>& readers = uses_.readers[planned.output];
    if (planned.row->fuses && readers.size() == 1 && !graph_.is_output(planned.output)) {
      planned.activation = activation_of(graph_, graph_.node(readers[0]));
      if (planned.activation != Activation::NONE) {
        planned.output = graph_.node(readers[0]).outputs[0];
        plan_.skipped.insert(readers[0]);
      }
    }
    if (is_op(node, "QuantizeLinear")) {  // from one scale to another
      if (const Node* from = dequantize(node.inputs[0]); from != nullptr && small_integer(dtype(from->inputs[0])))
        planned.inputs[0] = from->inputs[0];
      planned.unbounded = unbounded_.count(node.inputs[0]) != 0;
    } else if (planned.row->on_quantized == OnQuantized::Order) {
      if (const Node* from = dequantize(node.inputs[0]); from != nullptr && plan_.scales.at(from->inputs[0]).single())
        planned.inputs[0] = from->inputs[0];
    }
    for (size_t i = 1; weighted(node) && i < node.inputs.size(); ++i) {
      if (const Node* wide = widened(node.inputs[i])) planned.inputs[i] = wide->inputs[0];
    }
    if (planned.row->on_quantized != OnQuantized::Never && planned.row->on_quantized != OnQuantized::Order &&
        !bounds_in_numbers(node)) {
      quantize(node, &planned);
    }
    plan_.nodes[id] = std::move(planned);
  }

  // A Clip that is none of the format's activations: its bounds would have to be in the scales of both sides.
  bool bounds_in_numbers(const Node& node) const {
    if (!is_op(node, "Clip") || activation_of(graph_, node) != Activation::NONE) return false;
    const dnn::Tensor* low = graph_.constant(node.input(1));
    return node.input(2) != kNoValue || low == nullptr || to_doubles(*low)[0] != 0;
  }

  bool weighted(const Node& node) const {
    return (node.domain == "nhwc" && (node.op == "Conv" || node.op == "ConvTranspose")) || is_op(node, "Gemm") ||
           (is_op(node, "MatMul") && rank(node.inputs[1]) == 2);
  }
  size_t rank(ValueId v) const {
    const auto& shape = graph_.value(v).type.shape;
    return shape ? shape->size() : 0;
  }

  // Whether the format's kernels take these weights: signed ones around 0, per tensor or per unit; unsigned ones per tensor.
  bool fits(const Node& node, ValueId weights) const {
    const Scales& scales = plan_.scales.at(weights);
    if (graph_.constant(weights) == nullptr || !small_integer(dtype(weights))) return false;
    if (dtype(weights) == DType::Int8 && !scales.symmetric()) return false;
    if (scales.single()) return true;
    const int units = node.op == "ConvTranspose"                                  ? 1
                      : node.op == "MatMul"                                       ? 1
                      : node.op == "Gemm" && node.attribute_int("transB", 0) == 0 ? 1
                                                                                  : 0;
    return dtype(weights) == DType::Int8 && scales.axis == units;
  }

  // Whether every kernel of the format's for integers gives the numbers that the graph says. XNNPACK's BATCH_MATMUL takes the
  // second operand's zero point for 0 (TFLite 2.21). A result in a scale of the operator's own loses what a finer one holds.
  bool exact_in_integers(const Node& node, const ExportRow& row, ValueId result) const {
    if (is_op(node, "MatMul") && !weighted(node)) {
      const Node* second = dequantize(node.inputs[1]);
      return second != nullptr && plan_.scales.at(second->inputs[0]).symmetric();
    }
    if (row.on_quantized != OnQuantized::Fixed) return true;
    return plan_.scales.at(result).scale[0] >= fixed_scales(node.op, dtype(result)).scale[0];
  }

  // Input `i` of a node whose quantised numbers are `wanted`; false where it stands in the way. Sets `raw` where it is
  // taken as stored.
  bool operand(const Node& node, size_t i, DType wanted, ValueId* raw) const {
    const ValueId v = node.inputs[i];
    if (v == kNoValue || !is_float(dtype(v))) return true;
    const Node* from = dequantize(v);
    const bool weight = weighted(node) && i == 1, bias = weighted(node) && i == 2;
    if (from == nullptr) {  // a bias is quantised when it is written, other numbers are parameters
      const bool parameter = node.op == "Clip" || node.op == "Pad" || node.op == "Resize" || bias;
      return i > 0 && parameter && graph_.constant(v) != nullptr;
    }
    const ValueId stored = from->inputs[0];
    if (bias) {
      if (dtype(stored) != DType::Int32 || graph_.constant(stored) == nullptr) return false;
    } else if (dtype(stored) != wanted || (weight ? !fits(node, stored) : !plan_.scales.at(stored).single())) {
      return false;
    }
    *raw = stored;
    return true;
  }

  void quantize(const Node& node, PlannedNode* planned) {
    const ValueId y = planned->output;
    const std::vector<NodeId>& readers = uses_.readers[y];
    const bool alone = readers.size() == 1 && !graph_.is_output(y);
    const NodeId behind = alone && is_op(graph_.node(readers[0]), "QuantizeLinear") ? readers[0] : -1;
    std::vector<ValueId> inputs = planned->inputs;  // what they would be
    const Node* data = node.inputs.empty() ? nullptr : dequantize(node.inputs[0]);
    if (behind >= 0 && data != nullptr) {
      const ValueId result = graph_.node(behind).outputs[0];
      bool whole = small_integer(dtype(result)) && plan_.scales.at(result).single();
      if (is_op(node, "MatMul") && !weighted(node)) whole = whole && dtype(result) == DType::Int8;
      whole = whole && exact_in_integers(node, *planned->row, result);
      for (size_t i = 0; i < node.inputs.size(); ++i) whole = whole && operand(node, i, dtype(result), &inputs[i]);
      if (whole) {
        planned->inputs = std::move(inputs);
        planned->output = result;
        planned->quantized = true;
        plan_.skipped.insert(behind);
        return;
      }
    }
    // Weights alone: the format's kernels round the real numbers that meet integers. Where the graph does not, DEQUANTIZE comes
    // first.
    const Node* weights = weighted(node) ? dequantize(node.inputs[1]) : nullptr;
    if (weights == nullptr || dtype(weights->inputs[0]) != DType::Int8 || !fits(node, weights->inputs[0])) return;
    planned->inputs[1] = weights->inputs[0];
    const Node* rounds = rounded(node);
    planned->widens = rounds == nullptr;
    if (rounds != nullptr) planned->inputs[0] = rounds->inputs[0];
  }

  // The DynamicFakeQuantize that makes a node's input 0, where it rounds as the format's kernel for the node does.
  const Node* rounded(const Node& node) const {
    const NodeId id = uses_.producer[node.inputs[0]];
    if (id < 0 || !is_dynamic_quantize(graph_.node(id))) return nullptr;
    const auto n = static_cast<int64_t>(rank(node.inputs[0]));
    std::vector<int64_t> axes = ints_attribute(graph_.node(id), "axes"), wanted = {n - 1};
    for (int64_t& axis : axes) axis += axis < 0 ? n : 0;
    std::sort(axes.begin(), axes.end());
    if (node.domain == "nhwc") wanted = {1, 2, 3};
    return n > 0 && axes == wanted ? &graph_.node(id) : nullptr;
  }

  // A DequantizeLinear, a DynamicFakeQuantize, or a Cast of 16-bit weights, all of whose readers take the stored numbers is not written.
  void skip_conversions() {
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (!is_op(node, "DequantizeLinear") && !is_dynamic_quantize(node) && widened(node.outputs[0]) == nullptr)
        continue;
      if (graph_.is_output(node.outputs[0])) continue;
      const std::vector<NodeId>& readers = uses_.readers[node.outputs[0]];
      const bool unread = std::all_of(readers.begin(), readers.end(), [&](NodeId reader) {
        const auto planned = plan_.nodes.find(reader);
        if (planned == plan_.nodes.end()) return false;
        const Node& by = graph_.node(reader);
        for (size_t i = 0; i < by.inputs.size(); ++i) {
          if (by.inputs[i] == node.outputs[0] && planned->second.inputs[i] == kNoValue) return false;
        }
        return true;
      });
      if (unread) plan_.skipped.insert(id);
    }
  }

  const Graph& graph_;
  const Uses uses_;
  std::set<ValueId> unbounded_;
  Plan plan_;
};

}  // namespace

void move_quantized(Graph& graph) { Sinker(graph).run(); }

Plan make_plan(const Graph& graph) { return Planner(graph).run(); }

}  // namespace dnn::tflite
