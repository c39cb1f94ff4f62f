// Sessions with a memory plan; see planned.h.
#include "devices/planned.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "loops/layout.h"

namespace dnn {

PlannedSession::PlannedSession(std::shared_ptr<const Package> package)
    : Session(std::move(package)), slots_(static_cast<size_t>(package_->slots)), profile_(package_->steps.size()) {}

std::vector<Tensor> PlannedSession::execute(const std::vector<Tensor>& inputs, const Observer& observe) {
  using Clock = std::chrono::steady_clock;
  check_inputs(inputs);
  const Graph& graph = package_->graph;
  outputs_.clear();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Argument& where = place(graph.outputs[i]).where;
    const bool direct = where.kind == Argument::Kind::Output && where.at == static_cast<int64_t>(i);
    outputs_.push_back(direct ? Tensor(package_->output_types[i].dtype, package_->output_types[i].fixed_shape())
                              : Tensor());
  }
  inputs_ = &inputs;
  upload_inputs();
  if (observe) {
    for (size_t i = 0; i < inputs.size(); ++i) observe(graph, graph.inputs[i], inputs[i]);
  }
  // In the graph's order, and after the last step of a node: nodes that have none lie where their inputs do.
  std::vector<NodeId> order;
  std::set<NodeId> stepped;
  if (observe) {
    order = graph.order();
    for (const Step& step : package_->steps) stepped.insert(step.node);
  }
  const auto observe_outputs = [&](NodeId node) {
    for (ValueId id : graph.node(node).outputs) {
      if (id != kNoValue) observe(graph, id, fetch(id));
    }
  };
  for (size_t i = 0; i < package_->steps.size(); ++i) {
    const Step& step = package_->steps[i];
    const Clock::time_point start = profiling_ ? Clock::now() : Clock::time_point();
    if (step.kernel >= 0) {
      launch(i);
    } else {
      interpret_step(step);
    }
    if (profiling_) {
      finish();
      profile_[i].time_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
      ++profile_[i].runs;
    }
    if (observe && (i + 1 == package_->steps.size() || package_->steps[i + 1].node != step.node)) {
      auto node = std::find(order.begin(), order.end(), step.node);
      for (observe_outputs(*node); ++node != order.end() && stepped.count(*node) == 0;) observe_outputs(*node);
    }
  }
  finish();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    if (outputs_[i].defined()) {
      read_output(i);
    } else {
      outputs_[i] = fetch(graph.outputs[i]);
    }
  }
  return std::move(outputs_);
}

// A value as a row-major tensor.
Tensor PlannedSession::fetch(ValueId id) {
  const Argument& where = place(id).where;
  const Value& value = package_->graph.value(id);
  const auto at = static_cast<size_t>(where.at);
  switch (where.kind) {
    case Argument::Kind::Slot: return slots_[at];
    case Argument::Kind::Input: return (*inputs_)[at];
    case Argument::Kind::Output:
      finish();
      read_output(at);
      return outputs_[at];
    case Argument::Kind::Constant: return package_->constants[at];
    case Argument::Kind::Arena: break;
    case Argument::Kind::None: return value.constant ? *value.constant : Tensor();
  }
  const Shape shape = value.type.fixed_shape();
  const loops::Layout layout = loops::Layout::parse(place(id).layout);
  Tensor packed(value.type.dtype, {layout.element_count(shape)});
  finish();
  read_arena(where.at, packed.mutable_bytes(), packed.size_bytes());
  return layout.row_major() ? packed.reshaped(shape) : loops::unpack(packed, shape, layout);
}

void PlannedSession::interpret_step(const Step& step) {
  const Node& node = package_->graph.node(step.node);
  std::vector<Tensor> held;
  held.reserve(node.inputs.size());
  std::vector<const Tensor*> inputs;
  for (ValueId id : node.inputs) {
    if (id != kNoValue) held.push_back(fetch(id));
    inputs.push_back(id == kNoValue ? nullptr : &held.back());
  }
  std::map<std::string, Tensor> captured;
  for (ValueId id : captured_values(package_->graph, node)) captured[package_->graph.value(id).name] = fetch(id);
  std::vector<Tensor> results = interpret_node(node, inputs, captured);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId id = node.outputs[i];
    if (id == kNoValue) continue;
    const Argument& where = place(id).where;
    const Value& value = package_->graph.value(id);
    if (where.kind == Argument::Kind::Slot) {
      slots_[static_cast<size_t>(where.at)] = std::move(results[i]);
      continue;
    }
    if (results[i].dtype() != value.type.dtype || results[i].shape() != value.type.fixed_shape()) {
      fail_internal(node.label(), ": made ", Type(results[i]).text(), " where ", value.type.text(), " was inferred");
    }
    if (where.kind == Argument::Kind::Output) {
      outputs_[static_cast<size_t>(where.at)] = std::move(results[i]);
      write_output(static_cast<size_t>(where.at));
    } else {
      write_arena(where.at, results[i].bytes().data(), results[i].size_bytes());
    }
  }
}

}  // namespace dnn
