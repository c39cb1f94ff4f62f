// Channels first; see channels_first.h.
#include "layout/channels_first.h"

#include <map>

#include "layout/flexible.h"
#include "layout/settle.h"

namespace dnn {
namespace {

constexpr int64_t kLast = 3;  // of four axes

bool permute_flexible(PermuteContext& context) {
  const int64_t axis = context.moved(context.node.attribute_int("axis", kLast));
  context.node.attributes["axis"] = axis;
  return axis == 1 || axis == kLast;
}

OpDef flexible(const char* name) {
  OpDef op;
  op.name = name;
  op.domain = kFlexibleDomain;
  op.permute = permute_flexible;
  return op;
}

bool has_channels_last(const Graph& graph) {
  const auto made_by = [&](const char* tool) { return starts_with(graph.producer, tool); };
  return graph.source_opsets.empty() && (made_by("keras ") || made_by("tensorflow") || made_by("tflite"));
}

class ChannelsFirstMover {
 public:
  explicit ChannelsFirstMover(Graph& graph) : graph_(graph) {}

  void run() {
    if (!mark()) return;
    settle_transposes(graph_, invented());
    const std::vector<NodeId> before = graph_.order();
    for (NodeId id : before) place(id);
    graph_.set_order(std::move(order_));
    remove_dead_nodes(graph_);
    const Uses uses(graph_);
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      if (uses.readers[v].empty() && !graph_.is_output(v)) graph_.value(v).constant.reset();
    }
    verify(graph_);
  }

 private:
  bool mark() {
    bool any = false;
    for (NodeId id : graph_.order()) {
      Node& node = graph_.node(id);
      if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue) continue;
      const auto& shape = graph_.value(node.inputs[0]).type.shape;
      if (!shape || shape->size() != kLast + 1) continue;
      const Tensor* weight = graph_.constant(node.input(1));
      const int64_t axis = node.attribute_int("axis", -1);
      const bool normal = node.op == "LayerNormalization" && node.outputs.size() == 1 && (axis == -1 || axis == kLast);
      const bool dense = node.op == "MatMul" && weight != nullptr && weight->rank() == 2;
      if (!normal && !dense) continue;
      if (normal && (weight == nullptr || weight->rank() != 1 ||
                     (node.input(2) != kNoValue && graph_.constant(node.input(2)) == nullptr)))
        continue;
      node.domain = kFlexibleDomain;
      node.attributes["axis"] = kLast;
      any = true;
    }
    return any;
  }

  // Values whose names readers made up: of a node's, and what it does.
  std::set<ValueId> invented() const {
    std::set<ValueId> result;
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      for (ValueId v : node.outputs) {
        if (v == kNoValue || node.name.empty()) continue;
        const std::string& name = graph_.value(v).name;
        const bool step = starts_with(name, node.name + "/");
        if (step || (node.op == "Transpose" && name.find("/Transpose") != std::string::npos)) result.insert(v);
      }
    }
    return result;
  }

  void place(NodeId id) {
    if (!graph_.alive(id)) return;  // a bias that a convolution took
    if (graph_.node(id).domain != kFlexibleDomain) return order_.push_back(id);
    const bool moved = graph_.node(id).attribute_int("axis", kLast) == 1;
    graph_.node(id).domain.clear();
    if (graph_.node(id).op == "MatMul") {
      graph_.node(id).attributes.clear();
      if (moved) as_convolution(id);
      order_.push_back(id);
    } else if (moved) {
      spell_out(id);
    } else {
      graph_.node(id).attributes["axis"] = int64_t{-1};
      order_.push_back(id);
    }
  }

  // A constant in another shape, or turned, in place of the one that node reads; it takes the name.
  template <class Arrange>
  ValueId rearranged(ValueId v, const std::string& how, const Arrange& arrange) {
    const auto [at, fresh] = arranged_.try_emplace({v, how}, kNoValue);
    if (!fresh) return at->second;
    at->second =
        graph_.add_constant(graph_.unused_value_name(graph_.value(v).name + "." + how), arrange(*graph_.constant(v)));
    std::swap(graph_.value(at->second).name, graph_.value(v).name);
    return at->second;
  }

  // [in, out] as a kernel [out, in, 1, 1].
  void as_convolution(NodeId id) {
    const ValueId weight = rearranged(graph_.node(id).inputs[1], "kernel", [](const Tensor& t) {
      return transposed(t, {1, 0}).reshaped({t.dim(1), t.dim(0), 1, 1});
    });
    Node& node = graph_.node(id);
    node.op = "Conv";
    node.inputs[1] = weight;
    node.attributes = {{"kernel_shape", std::vector<int64_t>{1, 1}}};
    take_bias(id);
  }

  // The Add behind it that alone reads it, of a constant per channel, becomes the bias.
  void take_bias(NodeId id) {
    const ValueId y = graph_.node(id).outputs[0];
    const Uses uses(graph_);
    const std::vector<NodeId>& readers = uses.readers[y];
    if (readers.size() != 1 || graph_.is_output(y)) return;
    const Node& add = graph_.node(readers[0]);
    if (add.op != "Add" || !add.domain.empty() || add.inputs[0] == add.inputs[1]) return;
    const ValueId other = add.inputs[add.inputs[0] == y ? 1 : 0];
    const Tensor* bias = graph_.constant(other);
    const int64_t n = graph_.constant(graph_.node(id).inputs[1])->dim(0);
    if (bias == nullptr || bias->size() != n || bias->rank() < 3 || bias->dim(bias->rank() - 3) != n) return;
    const ValueId row = rearranged(other, "bias", [&](const Tensor& t) { return t.reshaped({n}); });
    const ValueId sum = graph_.node(readers[0]).outputs[0];
    Node& node = graph_.node(id);
    if (!add.name.empty()) node.name = add.name;
    node.inputs.push_back(row);
    node.outputs[0] = sum;
    graph_.remove_node(readers[0]);
  }

  ValueId step(const std::string& name, const std::string& op, std::vector<ValueId> inputs, const Type& type,
               ValueId to = kNoValue) {
    Node node;
    node.name = to == kNoValue ? cat(name, "/", op) : name;
    node.op = op;
    node.inputs = std::move(inputs);
    const ValueId made = to != kNoValue ? to : graph_.add_value(graph_.unused_value_name(node.name), type);
    node.outputs = {made};
    if (op == "ReduceMean") node.attributes["keepdims"] = int64_t{1};
    order_.push_back(graph_.add_node(std::move(node)));
    return made;
  }

  // (x - mean) / sqrt(mean((x - mean)^2) + epsilon) * scale + bias, means over axis 1.
  void spell_out(NodeId id) {
    const Node node = graph_.node(id);
    graph_.remove_node(id);
    const Type type = graph_.value(node.outputs[0]).type;
    std::vector<Dim> dims = type.shape.value();
    dims.at(1) = Dim(1);
    const Type one(type.dtype, std::move(dims));
    const std::string name = node.name.empty() ? graph_.value(node.outputs[0]).name : node.name;
    if (axes_ == kNoValue)
      axes_ = graph_.add_constant(graph_.unused_value_name("channels"), Tensor::of<int64_t>({1}, {1}));
    const auto epsilon = static_cast<double>(node.attribute_float("epsilon", 1e-5f));
    const ValueId small =
        graph_.add_constant(graph_.unused_value_name(name + "/epsilon"), convert(Tensor::scalar(epsilon), type.dtype));
    const auto column = [&](ValueId v) {
      return rearranged(v, "column", [](const Tensor& t) { return t.reshaped({t.size(), 1, 1}); });
    };
    const ValueId x = node.inputs[0];
    const ValueId centred = step(name, "Sub", {x, step(name, "ReduceMean", {x, axes_}, one)}, type);
    const ValueId square = step(name, "Mul", {centred, centred}, type);
    const ValueId variance = step(name, "ReduceMean", {square, axes_}, one);
    const ValueId root = step(name, "Sqrt", {step(name, "Add", {variance, small}, one)}, one);
    const ValueId normal = step(name, "Div", {centred, root}, type);
    const bool shifts = node.input(2) != kNoValue;
    const ValueId scaled =
        step(name, "Mul", {normal, column(node.inputs[1])}, type, shifts ? kNoValue : node.outputs[0]);
    if (shifts) step(name, "Add", {scaled, column(node.inputs[2])}, type, node.outputs[0]);
  }

  Graph& graph_;
  std::vector<NodeId> order_;
  std::map<std::pair<ValueId, std::string>, ValueId> arranged_;
  ValueId axes_ = kNoValue;
};

}  // namespace

const OpDef* find_flexible(std::string_view name) {
  static const OpDef rows[] = {flexible("LayerNormalization"), flexible("MatMul")};
  for (const OpDef& op : rows) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

void to_channels_first(Graph& graph) {
  if (!has_channels_last(graph)) return;
  infer_types(graph);
  ChannelsFirstMover(graph).run();
  infer_types(graph);
}

}  // namespace dnn
