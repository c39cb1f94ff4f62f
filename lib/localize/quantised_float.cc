// Undoing quantisation; see quantised_float.h.
#include "localize/quantised_float.h"

#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace dnn {
namespace {

constexpr double kHeldHalf = 0.502;  // rounding to nearest, with scales rounded to float32

class Floats {
 public:
  Floats(const QuantisedSource& source, const Graph& target, const QuantisedVerdict& verdict)
      : source_(source.folded),
        scaled_(source.scaled),
        target_(target),
        verdict_(verdict),
        uses_(target),
        source_uses_(source.folded),
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
      if (node.op == "Pad") pad_with_number(id);
      if (node.op == "DequantizeLinear" && graph_.alive(id)) dequantise(id);
      if (node.op == "QuantizeLinear") quantise(id);
      if (node.domain == kInternalDomain && node.op == "DynamicFakeQuantize") pass_on(id);
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

  // A value that a node makes becomes a constant.
  void fix(ValueId value, Tensor tensor) {
    const NodeId maker = uses_.producer[value];
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
    const auto there = verdict_.match.values.find(theirs.output(0));
    const NodeId maker = there == verdict_.match.values.end() ? -1 : source_uses_.producer[there->second];
    if (has_weight_input(theirs) || maker < 0 || source_.node(maker).op != theirs.op) return;
    for (size_t input = 0; input < theirs.inputs.size(); ++input) {
      const auto held = theirs.inputs[input] == kNoValue ? std::nullopt : quantised_constant(target_, uses_, id, input);
      if (!held) continue;
      for (ValueId v : operands_like(source_.node(maker), input)) {
        const Tensor* ours = source_.constant(v);
        if (ours == nullptr || !is_float(ours->dtype()) || !rounds(to_doubles(*ours), *held)) continue;
        set_numbers(id, input, true, held->shape, to_doubles(*ours));
        break;
      }
    }
  }
  // The operand itself, or either one where their order says nothing.
  static std::vector<ValueId> operands_like(const Node& ours, size_t input) {
    if (has_trait(ours, Trait::Commutes)) return ours.inputs;
    return {ours.input(input)};
  }
  static bool rounds(const std::vector<double>& ours, const QuantisedConstant& held) {
    if (ours.size() != held.numbers.size()) return false;
    for (size_t i = 0; i < ours.size(); ++i) {
      if (!(std::abs(held.numbers[i] - ours[i]) <= kHeldHalf * held.steps[i])) return false;
    }
    return true;
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

  // Integers that are padded are padded with a zero point.
  void pad_with_number(NodeId id) {
    const Tensor* with = target_.constant(target_.node(id).input(2));
    if (with == nullptr || !is_integer(with->dtype()) || with->size() != 1) return;
    for (ValueId v = target_.node(id).output(0); v != kNoValue;) {
      const std::vector<NodeId>& readers = uses_.readers[v];
      if (readers.empty()) return;
      const Node& reader = target_.node(readers[0]);
      if (reader.op != "DequantizeLinear") {
        v = reader.output(0);
        continue;
      }
      const auto scale = scale_of(target_, reader);
      if (!scale) return;
      const double number = (to_doubles(*with)[0] - scale->zero_point) * scale->scale;
      set_constant(graph_, id, 2, convert(Tensor::of<double>(with->shape(), {number}), DType::Float32), "padding");
      return;
    }
  }

  void dequantise(NodeId id) {
    const Node node = target_.node(id);
    const ValueId made = node.output(0);
    const NodeId reader = uses_.readers[made].empty() ? -1 : uses_.readers[made][0];
    if (target_.constant(node.input(0)) != nullptr) {
      if (reader < 0) return;
      const std::vector<ValueId>& inputs = target_.node(reader).inputs;
      const size_t at = std::find(inputs.begin(), inputs.end(), made) - inputs.begin();
      if (const auto held = at < inputs.size() ? quantised_constant(target_, uses_, reader, at) : std::nullopt)
        fix(made, floats(held->shape, held->numbers));
      return;
    }
    if (graph_.is_input(node.input(0))) graph_.value(node.input(0)).type.dtype = DType::Float32;
    pass_on(id);
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
  Graph graph_;
  std::map<ValueId, ValueId> instead_;
};

}  // namespace

Graph float_of(const QuantisedSource& source, const Graph& target, const QuantisedVerdict& verdict) {
  return Floats(source, target, verdict).run();
}

}  // namespace dnn
