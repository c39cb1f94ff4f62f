// Undoing quantisation; see quantised_float.h.
#include "localize/quantised_float.h"

#include <algorithm>
#include <cmath>

#include "localize/quantised_operands.h"
#include "ops/op.h"

namespace dnn {
namespace {

class Floats {
 public:
  Floats(const QuantisedSource& source, const Graph& target, const QuantisedVerdict& verdict)
      : source_(source.folded),
        scaled_(source.scaled),
        target_(target),
        verdict_(verdict),
        uses_(target),
        source_uses_(source.folded),
        operands_(source.folded),
        graph_(target) {}

  Graph run() {
    for (const QuantisedLayer& layer : verdict_.match.layers) {
      take_source_weights(layer);
      take_source_bias(layer);
    }
    for (NodeId id : target_.order()) take_source_operands(id);
    for (const auto& [theirs, ours] : scaled_.norms) scale_norm_back(theirs, ours);
    for (NodeId id : target_.order()) {
      const Node& node = target_.node(id);
      if (!is_quantiser(node)) move_numbers(id);
      if (node.op == "DequantizeLinear" && graph_.alive(id) && graph_.node(id).op == node.op) dequantise(id);
      if (node.op == "QuantizeLinear") quantise(id);
      if (node.domain == kInternalDomain && node.op == "DynamicFakeQuantize") pass_on(id);
    }
    for (const auto& [id, bounded] : verdict_.match.idle) {
      instead_[target_.node(id).output(0)] = bounded;
      graph_.remove_node(id);
    }
    for (NodeId id : graph_.order()) {
      for (ValueId& v : graph_.node(id).inputs) v = instead_of(v);
      for (ValueId v : graph_.node(id).outputs) {
        if (v != kNoValue) graph_.value(v).type = {};
      }
    }
    sort_nodes(graph_);
    remove_dead_nodes(graph_);
    verify(graph_);
    infer_types(graph_);
    return std::move(graph_);
  }

 private:
  ValueId instead_of(ValueId v) const {
    for (auto found = instead_.find(v); found != instead_.end(); found = instead_.find(v)) v = found->second;
    return v;
  }

  // A value that a node makes becomes a constant; an output of the network is handed one.
  void fix(ValueId value, Tensor tensor) {
    const NodeId maker = uses_.producer[value];
    if (maker >= 0 && graph_.is_output(value)) {
      Node& here = graph_.node(maker);
      here.op = "Identity";
      here.domain.clear();
      here.attributes.clear();
      here.inputs = {graph_.add_constant(graph_.unused_value_name("constant"), std::move(tensor))};
      return;
    }
    if (maker >= 0 && graph_.alive(maker)) graph_.remove_node(maker);
    graph_.value(value).type = Type(tensor);
    graph_.value(value).constant = std::move(tensor);
  }

  static Tensor floats(const Shape& shape, const std::vector<double>& numbers) {
    return convert(Tensor::of<double>(shape, numbers), DType::Float32);
  }

  const LayerScales* scales_of(NodeId source) const {
    const auto found = scaled_.layers.find(source);
    return found == scaled_.layers.end() ? nullptr : &found->second;
  }

  // A constant at an input becomes other numbers.
  void set_numbers(NodeId node, size_t input, bool held, const Shape& shape, const std::vector<double>& numbers) {
    const ValueId value = target_.node(node).input(input);
    if (held)
      fix(value, floats(shape, numbers));
    else
      set_constant(graph_, node, input, floats(shape, numbers), target_.value(value).name);
  }

  void take_source_weights(const QuantisedLayer& layer) {
    const Node& ours = source_.node(layer.source);
    const Node& theirs = target_.node(layer.target);
    const auto verdict = verdict_.weights.find(layer.target);
    const bool right = verdict != verdict_.weights.end() && verdict->second;
    const LayerScales* scales = scales_of(layer.source);
    if (!right && scales == nullptr) return;
    const auto held = quantised_constant(target_, uses_, layer.target, 1);
    const Tensor *tensor = source_.constant(ours.input(1)), *plain = target_.constant(theirs.input(1));
    if (tensor == nullptr || (!held && plain == nullptr)) return;
    const Shape shape = held ? held->shape : plain->shape();
    std::vector<double> numbers = held ? held->numbers : to_doubles(*plain);
    const auto to = weight_rows(theirs, shape, numbers);
    const auto from = weight_rows(ours, tensor->shape(), to_doubles(*tensor));
    if (!to || !from || to->numbers.size() != from->numbers.size()) return;
    const std::vector<double> factors =
        scales == nullptr ? std::vector<double>() : element_scales(ours, *from, *scales);
    for (size_t place = 0; place < from->numbers.size(); ++place)
      numbers[to->elements[place]] = right ? from->numbers[place] : to->numbers[place] / factors[place];
    set_numbers(layer.target, 1, held.has_value(), shape, numbers);
  }

  void take_source_bias(const QuantisedLayer& layer) {
    const Node& theirs = target_.node(layer.target);
    const auto verdict = verdict_.biases.find(layer.target);
    const bool right = verdict != verdict_.biases.end() && verdict->second;
    const LayerScales* scales = scales_of(layer.source);
    const bool scaled = scales != nullptr && !scales->rows.empty();
    if ((!right && !scaled) || theirs.op == "MatMul" || theirs.input(2) == kNoValue) return;
    const auto held = quantised_constant(target_, uses_, layer.target, 2);
    const Tensor* plain = target_.constant(theirs.input(2));
    if (!held && plain == nullptr) return;
    const Shape shape = held ? held->shape : plain->shape();
    std::vector<double> numbers = layer.bias;
    if (numbers.empty()) numbers.assign(element_count(shape), 0);
    if (!right) numbers = held ? held->numbers : to_doubles(*plain);
    if (static_cast<int64_t>(numbers.size()) != element_count(shape)) return;
    // The judge compared it with the scaled source, whose bias layer.bias is.
    for (size_t row = 0; scaled && row < numbers.size(); ++row) numbers[row] *= scales->rows[row % scales->rows.size()];
    set_numbers(layer.target, 2, held.has_value(), shape, numbers);
  }

  // Integers that other operators read, as a batch norm's scales or what is added: the source's numbers in their place, where they are
  // roundings of these.
  void take_source_operands(NodeId id) {
    const Node& theirs = target_.node(id);
    if (has_weight_input(theirs)) return;
    for (size_t input = 0; input < theirs.inputs.size(); ++input) {
      const auto held = theirs.inputs[input] == kNoValue ? std::nullopt : quantised_constant(target_, uses_, id, input);
      if (!held) continue;
      if (const auto numbers = source_operand(theirs, input, *held))
        set_numbers(id, input, true, held->shape, *numbers);
    }
  }
  // The numbers that the node of the source reads there that computes the same value; else any constant of the source, for the operator may be
  // written otherwise.
  std::optional<std::vector<double>> source_operand(const Node& theirs, size_t input,
                                                    const QuantisedConstant& held) const {
    const auto there = verdict_.match.values.find(theirs.output(0));
    const NodeId maker = there == verdict_.match.values.end() ? -1 : source_uses_.producer[there->second];
    if (maker >= 0 && source_.node(maker).op == theirs.op) {
      for (ValueId v : operands_like(source_.node(maker), input)) {
        const Tensor* ours = source_.constant(v);
        if (ours == nullptr || !is_float(ours->dtype())) continue;
        const std::vector<double> numbers = to_doubles(*ours);
        if (rounding_apart(numbers, held.numbers, held.steps)) return numbers;
      }
    }
    return operands_.rounded_to(held.numbers, held.steps);
  }
  // The operand itself, or either one where their order says nothing.
  static std::vector<ValueId> operands_like(const Node& ours, size_t input) {
    if (has_trait(ours, Trait::Commutes)) return ours.inputs;
    return {ours.input(input)};
  }

  void scale_norm_back(NodeId theirs, NodeId ours) {
    const LayerScales* scales = scales_of(ours);
    for (size_t input : {1, 2}) {
      const ValueId value = target_.node(theirs).input(input);
      const Tensor* tensor = value == kNoValue ? nullptr : target_.constant(value);
      if (scales == nullptr || tensor == nullptr) continue;
      std::vector<double> numbers = to_doubles(*tensor);
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] *= scales->rows[i % scales->rows.size()];
      set_numbers(theirs, input, false, tensor->shape(), numbers);
    }
  }

  static bool is_quantiser(const Node& node) { return node.op == "QuantizeLinear" || node.op == "DequantizeLinear"; }

  // The scale of integers behind operators that only hand them on.
  std::optional<QuantisedScale> scale_behind(ValueId value) const {
    std::vector<ValueId> open = {value};
    for (size_t i = 0; i < open.size(); ++i) {
      for (NodeId id : uses_.readers[open[i]]) {
        const Node& reader = target_.node(id);
        if (reader.op == "DequantizeLinear") return scale_of(target_, reader);
        const ValueId made = reader.output(0);
        if (made != kNoValue && target_.value(made).type.dtype == target_.value(value).type.dtype) open.push_back(made);
      }
    }
    return std::nullopt;
  }

  // The numbers that integers are, or the source's that they are roundings of.
  std::vector<double> source_numbers(const Tensor& integers, const QuantisedScale& scale) const {
    std::vector<double> numbers = to_doubles(integers);
    for (double& x : numbers) x = (x - scale.zero_point) * scale.scale;
    return operands_.rounded_to(numbers, std::vector<double>(numbers.size(), scale.scale)).value_or(numbers);
  }

  // Constants among integers that are moved, as what a Pad pads with or a Concat joins: the numbers that they are.
  void move_numbers(NodeId id) {
    const Node node = target_.node(id);
    const ValueId made = node.output(0);
    if (made == kNoValue || !is_integer(target_.value(made).type.dtype) ||
        dtype_bits(target_.value(made).type.dtype) > 16)
      return;
    std::optional<QuantisedScale> scale;
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      const ValueId v = node.inputs[input];
      const Tensor* integers = v == kNoValue ? nullptr : target_.constant(v);
      if (integers == nullptr || integers->dtype() != target_.value(made).type.dtype) continue;
      if (!scale) scale = scale_behind(made);
      if (!scale) return;
      set_numbers(id, input, false, integers->shape(), source_numbers(*integers, *scale));
    }
  }

  void dequantise(NodeId id) {
    const Node node = target_.node(id);
    const ValueId made = node.output(0);
    const NodeId reader = uses_.readers[made].empty() ? -1 : uses_.readers[made][0];
    if (target_.constant(node.input(0)) != nullptr) {
      if (reader < 0) {
        hand_out(node);
        return;
      }
      const std::vector<ValueId>& inputs = target_.node(reader).inputs;
      const size_t at = std::find(inputs.begin(), inputs.end(), made) - inputs.begin();
      if (const auto held = at < inputs.size() ? quantised_constant(target_, uses_, reader, at) : std::nullopt)
        fix(made, floats(held->shape, held->numbers));
      return;
    }
    if (graph_.is_input(node.input(0))) graph_.value(node.input(0)).type.dtype = DType::Float32;
    pass_on(id);
  }

  // A constant that nothing reads but the network's caller.
  void hand_out(const Node& node) {
    const auto scale = scale_of(target_, node);
    if (!scale) return;
    const Tensor& integers = *target_.constant(node.input(0));
    const std::vector<double> numbers = source_numbers(integers, *scale);
    fix(node.output(0), floats(integers.shape(), numbers));
  }

  void quantise(NodeId id) {
    const Node node = target_.node(id);
    if (target_.constant(node.input(0)) != nullptr) return;
    const auto clamp = verdict_.match.clamps.find(id);
    if (clamp == verdict_.match.clamps.end()) {
      pass_on(id);
      return;
    }
    const Node& activation = source_.node(clamp->second);
    Node& here = graph_.node(id);
    here.op = activation.op;
    here.domain = activation.domain;
    here.attributes = activation.attributes;
    here.inputs = {node.input(0)};
    for (size_t i = 1; i < activation.inputs.size(); ++i) {
      const Tensor* bound = source_.constant(activation.input(i));
      here.inputs.push_back(bound == nullptr ? kNoValue
                                             : graph_.add_constant(graph_.unused_value_name("bound"), *bound));
    }
  }

  // Who reads what a node makes reads what it reads; an output of the network stays its own value.
  void pass_on(NodeId id) {
    const Node node = target_.node(id);
    const ValueId made = node.output(0);
    if (graph_.is_output(made)) {
      Node& here = graph_.node(id);
      here.op = "Identity";
      here.domain.clear();
      here.attributes.clear();
      here.inputs = {node.input(0)};
      return;
    }
    instead_[made] = node.input(0);
    graph_.remove_node(id);
  }

  const Graph& source_;
  const ScaledChannels& scaled_;
  const Graph& target_;
  const QuantisedVerdict& verdict_;
  const Uses uses_, source_uses_;
  const SourceOperands operands_;
  Graph graph_;
  std::map<ValueId, ValueId> instead_;
};

}  // namespace

Graph float_of(const QuantisedSource& source, const Graph& target, const QuantisedVerdict& verdict) {
  return Floats(source, target, verdict).run();
}

}  // namespace dnn
