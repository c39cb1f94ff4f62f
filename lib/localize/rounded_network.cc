// Networks with rounded layers; see rounded_network.h.
#include "localize/rounded_network.h"

#include <algorithm>

#include "base/error.h"
#include "interp/interpreter.h"
#include "localize/isolated.h"

namespace dnn {
namespace {

bool contains(const std::vector<ValueId>& values, ValueId v) {
  return std::find(values.begin(), values.end(), v) != values.end();
}

}  // namespace

RoundedNetwork::RoundedNetwork(Graph graph, DType dtype) : graph_(std::move(graph)), dtype_(dtype) {
  layers_ = computing_layers(graph_);
  std::erase_if(layers_, [](const ComputingLayer& layer) { return layer.outputs.empty(); });
  if (layers_.empty()) fail_unsupported("the model has no layer that computes in float32");
  layer_of_.assign(graph_.node_slots(), -1);
  reads_.resize(graph_.value_count(), 0);
  for (size_t l = 0; l < layers_.size(); ++l) {
    for (NodeId id : layers_[l].nodes) layer_of_[id] = static_cast<int64_t>(l);
    for (ValueId v : layers_[l].inputs) ++reads_[v];
    made_.insert(layers_[l].outputs.begin(), layers_[l].outputs.end());
    last_[layers_[l].outputs.back()] = l;
  }
  for (ValueId v = 0; v < graph_.value_count(); ++v) by_name_[graph_.value(v).name] = v;
}

std::optional<size_t> RoundedNetwork::completed_by(ValueId v) const {
  const auto found = last_.find(v);
  return found == last_.end() ? std::nullopt : std::optional<size_t>(found->second);
}

ValueId RoundedNetwork::own_id(const Graph& compiled, ValueId id) const {
  const auto found = by_name_.find(compiled.value(id).name);
  return found == by_name_.end() ? kNoValue : found->second;
}

void RoundedNetwork::add_ranges(const std::map<ValueId, NumberRange>& ranges) {
  for (const auto& [v, range] : ranges) ranges_[v].add(range);
}

Tensor RoundedNetwork::round_constant(const Node& node, size_t input, const Tensor& constant,
                                      RoundingLoss* loss) const {
  if (node.domain.empty() && node.op == "Resize" && input > 0) return constant;  // extents and regions
  if (dtype_ != DType::Int8) return rounded_to(constant, dtype_, loss);
  const Int8Constant how = int8_constant(node, input, constant.rank());
  if (how.as == Int8Constant::As::Float32) return constant;
  if (how.as == Int8Constant::As::Weight) return rounded_to_int8_symmetric(constant, how.axis, loss);
  NumberRange range;
  range.add(constant);
  return rounded_to_int8(constant, range, loss);
}

Tensor RoundedNetwork::round_value(ValueId v, const Tensor& value, RoundingLoss* loss) const {
  if (value.dtype() != DType::Float32) return value;
  if (dtype_ != DType::Int8) return rounded_to(value, dtype_, loss);
  const auto range = ranges_.find(v);
  return range == ranges_.end() ? value : rounded_to_int8(value, range->second, loss);
}

// An input of a node as the rounded layer reads it.
Tensor RoundedNetwork::rounded_input(const Node& node, size_t input, const ComputingLayer& layer, const Get& get,
                                     SpotLosses* losses) const {
  const ValueId v = node.inputs[input];
  RoundingLoss unused;
  if (const Tensor* constant = graph_.constant(v); constant != nullptr)
    return constant->dtype() == DType::Float32 ? round_constant(node, input, *constant, &unused) : *constant;
  if (!contains(layer.inputs, v)) return get(v);
  // A value that the layer reads twice is rounded once.
  const bool counts = losses != nullptr && losses->count({PrecisionSpot::Role::Input, v}) == 0;
  return round_value(v, get(v), counts ? &(*losses)[{PrecisionSpot::Role::Input, v}] : &unused);
}

// The outputs of a node of a layer, with the layer rounded.
std::vector<Tensor> RoundedNetwork::run_rounded(NodeId id, const Get& get, SpotLosses* losses) const {
  const Node& node = graph_.node(id);
  const ComputingLayer& layer = layers_[layer_of_[id]];
  std::vector<Tensor> rounded(node.inputs.size());
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const bool given = node.inputs[i] != kNoValue;
    if (given) rounded[i] = rounded_input(node, i, layer, get, losses);
    inputs.push_back(given ? &rounded[i] : nullptr);
  }
  std::vector<Tensor> outputs = interpret_node(node, inputs);
  RoundingLoss unused;
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId v = node.outputs[i];
    if (v == kNoValue || (dtype_ == DType::Int8 && !contains(layer.outputs, v))) continue;
    outputs[i] = round_value(v, outputs[i], losses == nullptr ? &unused : &(*losses)[{PrecisionSpot::Role::Output, v}]);
  }
  return outputs;
}

std::vector<Tensor> RoundedNetwork::run_as_it_is(NodeId id, const Get& get) const {
  const Node& node = graph_.node(id);
  std::vector<const Tensor*> given;
  for (ValueId v : node.inputs) given.push_back(v == kNoValue ? nullptr : &get(v));
  std::map<std::string, Tensor> captured;
  for (ValueId v : captured_values(graph_, node)) captured[graph_.value(v).name] = get(v);
  return interpret_node(node, given, captured);
}

std::map<ValueId, Tensor> RoundedNetwork::run_layer(size_t layer, const std::map<ValueId, Tensor>& held,
                                                    SpotLosses* losses) const {
  std::map<ValueId, Tensor> made;
  const auto get = [&](ValueId wanted) -> const Tensor& {
    const auto own = made.find(wanted);
    return own == made.end() ? held.at(wanted) : own->second;
  };
  for (NodeId id : layers_[layer].nodes) {
    const std::vector<Tensor> results = run_rounded(id, get, losses);
    for (size_t i = 0; i < results.size(); ++i) {
      if (graph_.node(id).outputs[i] != kNoValue) made[graph_.node(id).outputs[i]] = results[i];
    }
  }
  return made;
}

std::vector<Tensor> RoundedNetwork::run(const std::vector<Tensor>& inputs, const std::vector<bool>& keep) const {
  std::vector<Tensor> held(graph_.value_count());
  std::vector<int> readers(held.size(), 0);
  for (NodeId id : graph_.order()) {
    for (ValueId v : read_by(id)) ++readers[v];
  }
  for (ValueId v : graph_.outputs) ++readers[v];
  const auto get = [&](ValueId v) -> const Tensor& {
    const Tensor* constant = graph_.constant(v);
    const Tensor& value = held[v];
    return value.defined() || constant == nullptr ? value : *constant;
  };
  for (size_t i = 0; i < inputs.size(); ++i) held[graph_.inputs[i]] = inputs[i];
  for (NodeId id : graph_.order()) {
    const Node& node = graph_.node(id);
    const int64_t layer = layer_of_[id];
    std::vector<Tensor> made = layer >= 0 && !keep[layer] ? run_rounded(id, get, nullptr) : run_as_it_is(id, get);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) held[node.outputs[i]] = std::move(made[i]);
    }
    for (ValueId v : read_by(id)) {
      if (--readers[v] == 0) held[v] = Tensor();
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId v : graph_.outputs) outputs.push_back(get(v));
  return outputs;
}

std::vector<ValueId> RoundedNetwork::read_by(NodeId id) const {
  std::vector<ValueId> read = captured_values(graph_, graph_.node(id));
  for (ValueId v : graph_.node(id).inputs) {
    if (v != kNoValue) read.push_back(v);
  }
  return read;
}

}  // namespace dnn
