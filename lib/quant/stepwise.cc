// Running a network layer by layer; see stepwise.h.
#include "quant/stepwise.h"

#include <algorithm>

#include "base/error.h"
#include "interp/interpreter.h"

namespace dnn::quant {
namespace {

// Weights as the integers stand for them.
Tensor real_weights(const QuantizedWeights& weights, int64_t axis) {
  const Tensor& q = weights.values;
  Tensor real(DType::Float32, q.shape());
  const size_t step = axis < 0 ? q.size() : row_major_strides(q.shape())[axis];
  const std::span<const int8_t> from = q.values<int8_t>();
  float* to = real.mutable_data<float>();
  for (size_t i = 0; i < from.size(); ++i)
    to[i] = static_cast<float>(from[i]) * weights.scales[i / step % weights.scales.size()];
  return real;
}

// Puts other weights and their bias into the first node of a layer's graph.
void put(Graph* cut, const Alternative& other) {
  const NodeId id = cut->order().front();
  set_constant(*cut, id, 1, other.weights, "other");
  if (!other.bias) return;
  const ValueId bias = cut->add_constant(cut->unused_value_name("other_bias"), *other.bias);
  Node& node = cut->node(id);
  node.inputs.resize(std::max<size_t>(node.inputs.size(), 3), kNoValue);
  node.inputs[2] = bias;
}

}  // namespace

Alternatives alternatives_of(const Rounding& rounding) {
  Alternatives alternatives;
  for (size_t i = 0; i < rounding.plan.weights.size(); ++i) {
    const Weights& which = rounding.plan.weights[i];
    Alternative& other = alternatives[i];
    other.weights = real_weights(rounding.weights[i].weights, which.axis);
    const auto bias = rounding.quantizers.biases.find(which.node);
    if (bias != rounding.quantizers.biases.end()) other.bias = bias->second;
  }
  return alternatives;
}

Stepwise::Stepwise(const Graph& graph, const std::vector<Layer>& layers, const Alternatives& alternatives,
                   const CalibrateOptions& options)
    : graph_(graph) {
  CompileOptions compile = options.compile;
  compile.device = "cpu";
  compile.opt = 2;  // sums in the network's order, so that the figures are the same on any processor
  compile.pass_changes.clear();
  const Uses uses(graph);
  std::map<NodeId, size_t> layer_of;
  for (size_t l = 0; l < layers.size(); ++l) {
    for (NodeId id : layers[l].nodes) layer_of[id] = l;
  }
  step_of_layer_.resize(layers.size());
  for (NodeId id : graph.order()) {
    const auto at = layer_of.find(id);
    const Layer* layer = at == layer_of.end() ? nullptr : &layers[at->second];
    const std::vector<NodeId> nodes = layer == nullptr ? std::vector<NodeId>{id} : layer->nodes;
    if (nodes.back() != id) continue;  // a layer's step stands where the layer ends
    Step step = step_of(nodes, uses);
    if (step.inputs.empty()) {
      std::vector<const Tensor*> read;
      for (ValueId v : graph.node(id).inputs) read.push_back(constant(v));
      const std::vector<Tensor> made = interpret_node(graph.node(id), read);
      for (size_t i = 0; i < made.size(); ++i) {
        if (graph.node(id).outputs[i] != kNoValue) computed_[graph.node(id).outputs[i]] = made[i];
      }
      continue;
    }
    Graph cut = cut_out(nodes, step);
    step.package = std::make_shared<const Package>(dnn::compile(cut, compile));
    if (layer != nullptr) step_of_layer_[at->second] = steps_.size();
    const auto other = layer != nullptr && layer->weights ? alternatives.find(*layer->weights) : alternatives.end();
    if (other != alternatives.end()) {
      put(&cut, other->second);
      step.other = std::make_shared<const Package>(dnn::compile(cut, compile));
    }
    steps_.push_back(std::move(step));
  }
}

const Tensor* Stepwise::constant(ValueId v) const {
  const auto at = computed_.find(v);
  return at == computed_.end() ? graph_.constant(v) : &at->second;
}

Stepwise::Step Stepwise::step_of(const std::vector<NodeId>& nodes, const Uses& uses) const {
  const auto own = [&](NodeId id) { return std::find(nodes.begin(), nodes.end(), id) != nodes.end(); };
  Step step;
  for (NodeId id : nodes) {
    std::vector<ValueId> read = captured_values(graph_, graph_.node(id));
    read.insert(read.end(), graph_.node(id).inputs.begin(), graph_.node(id).inputs.end());
    for (ValueId v : read) {
      const bool given = v != kNoValue && constant(v) == nullptr && !own(uses.producer[v]);
      if (given && std::find(step.inputs.begin(), step.inputs.end(), v) == step.inputs.end()) step.inputs.push_back(v);
    }
    for (ValueId v : graph_.node(id).outputs) {
      if (v == kNoValue) continue;
      const std::vector<NodeId>& readers = uses.readers[v];
      if (nodes.back() == id || graph_.is_output(v) || !std::all_of(readers.begin(), readers.end(), own))
        step.outputs.push_back(v);
    }
  }
  return step;
}

// The nodes as a network of their own. Its first node is nodes.front().
Graph Stepwise::cut_out(const std::vector<NodeId>& nodes, const Step& step) const {
  Graph cut;
  cut.name = "step";
  std::map<ValueId, ValueId> of;
  const auto copied = [&](ValueId v) {
    if (v == kNoValue) return kNoValue;
    const auto [at, fresh] = of.try_emplace(v, kNoValue);
    if (fresh) {
      Value value;
      value.name = graph_.value(v).name;
      value.type = graph_.value(v).type;
      if (const Tensor* known = constant(v)) value.constant = *known;
      at->second = cut.add_value(std::move(value));
    }
    return at->second;
  };
  for (ValueId v : step.inputs) cut.inputs.push_back(copied(v));
  for (NodeId id : nodes) {
    Node node = graph_.node(id);
    for (ValueId v : captured_values(graph_, node)) copied(v);
    for (ValueId& v : node.inputs) v = copied(v);
    for (ValueId& v : node.outputs) v = copied(v);
    cut.add_node(std::move(node));
  }
  for (ValueId v : step.outputs) cut.outputs.push_back(copied(v));
  return cut;
}

Stepwise::Worker Stepwise::worker() const {
  Worker worker;
  worker.of_ = this;
  for (const Step& step : steps_) {
    worker.steps_.push_back(open_session("cpu", step.package, {.threads = 1, .isa = {}}));
    worker.others_.push_back(step.other ? open_session("cpu", step.other, {.threads = 1, .isa = {}}) : nullptr);
  }
  return worker;
}

Stepwise::Values Stepwise::Worker::run(const std::vector<Tensor>& inputs) {
  const Graph& graph = of_->graph_;
  Values values(graph.value_count());
  for (const auto& [v, tensor] : of_->computed_) values[v] = tensor;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  for (size_t s = 0; s < of_->steps_.size(); ++s) {
    const Step& step = of_->steps_[s];
    std::vector<Tensor> read;
    for (ValueId v : step.inputs) read.push_back(values[v]);
    std::vector<Tensor> made = steps_[s]->run(read);
    for (size_t i = 0; i < made.size(); ++i) values[step.outputs[i]] = std::move(made[i]);
  }
  return values;
}

std::vector<Tensor> Stepwise::Worker::rerun(const Values& base, ValueId value, const Tensor& instead) {
  std::map<ValueId, Tensor> changed = {{value, instead}};
  const auto now = [&](ValueId v) -> const Tensor& {
    const auto at = changed.find(v);
    return at == changed.end() ? base[v] : at->second;
  };
  for (size_t s = 0; s < of_->steps_.size(); ++s) {
    const Step& step = of_->steps_[s];
    const auto is_changed = [&](ValueId v) { return changed.count(v) != 0; };
    if (std::none_of(step.inputs.begin(), step.inputs.end(), is_changed)) continue;
    std::vector<Tensor> read;
    for (ValueId v : step.inputs) read.push_back(now(v));
    std::vector<Tensor> made = steps_[s]->run(read);
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i].identical(base[step.outputs[i]])) changed[step.outputs[i]] = std::move(made[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (ValueId v : of_->graph_.outputs) outputs.push_back(now(v));
  return outputs;
}

Tensor Stepwise::Worker::with_alternative(const Values& base, size_t layer) {
  const size_t s = of_->step_of_layer_[layer];
  if (others_[s] == nullptr) fail_internal("a layer without alternative weights");
  std::vector<Tensor> read;
  for (ValueId v : of_->steps_[s].inputs) read.push_back(base[v]);
  return std::move(others_[s]->run(read)[0]);
}

}  // namespace dnn::quant
