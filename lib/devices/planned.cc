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

std::vector<Tensor> PlannedSession::trace(const std::vector<Tensor>& inputs, const Observer& observe) {
  if (!observe) return run(inputs);
  return execute(inputs, [&](ValueId id, const Tensor& value, const Resume&) { observe(package_->graph, id, value); });
}

std::vector<Tensor> PlannedSession::execute(const std::vector<Tensor>& inputs, const Fork& observe) {
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
  // In the graph's order, and after the last step of a node: nodes that have none lie where their inputs do.
  std::vector<NodeId> order;
  std::set<NodeId> stepped;
  size_t next = 0;
  const Resume go_on = [&](const Instead& instead) { return resume(next, instead); };
  if (observe) {
    for (size_t i = 0; i < inputs.size(); ++i) observe(graph.inputs[i], inputs[i], go_on);
    order = graph.order();
    for (const Step& step : package_->steps) stepped.insert(step.node);
  }
  const auto observe_outputs = [&](NodeId node) {
    for (ValueId id : graph.node(node).outputs) {
      if (id != kNoValue) observe(id, fetch(id), go_on);
    }
  };
  for (size_t i = 0; i < package_->steps.size(); ++i) {
    const Step& step = package_->steps[i];
    run_step(i);
    next = i + 1;
    if (observe && (next == package_->steps.size() || package_->steps[next].node != step.node)) {
      auto node = std::find(order.begin(), order.end(), step.node);
      for (observe_outputs(*node); ++node != order.end() && stepped.count(*node) == 0;) observe_outputs(*node);
    }
  }
  return collect();
}

void PlannedSession::run_step(size_t i) {
  using Clock = std::chrono::steady_clock;
  const Step& step = package_->steps[i];
  const Clock::time_point start = profiling_ ? Clock::now() : Clock::time_point();
  if (step.kernel >= 0) {
    launch(i);
  } else {
    interpret_step(step);
  }
  if (!profiling_) return;
  finish();
  profile_[i].time_ns += std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - start).count();
  ++profile_[i].runs;
}

std::vector<Tensor> PlannedSession::collect() {
  finish();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) {
      read_output(i);
    } else {
      outputs_[i] = fetch(package_->graph.outputs[i]);
    }
  }
  return std::move(outputs_);
}

// The steps from `step` on with other values. What has been computed by then is all in the arena, the slots and the outputs.
std::vector<Tensor> PlannedSession::resume(size_t step, const Instead& instead) {
  finish();
  Tensor arena(DType::UInt8, {package_->arena_bytes});
  if (arena.size() > 0) read_arena(0, arena.mutable_bytes(), arena.size_bytes());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) read_output(i);
  }
  const std::vector<Tensor> slots = slots_, outputs = outputs_;
  for (const auto& [id, tensor] : instead) store(id, tensor);
  for (size_t i = step; i < package_->steps.size(); ++i) run_step(i);
  std::vector<Tensor> results = collect();
  slots_ = slots;
  outputs_ = outputs;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) write_output(i);
  }
  if (arena.size() > 0) write_arena(0, arena.bytes().data(), arena.size_bytes());
  return results;
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
    store(id, std::move(results[i]));
  }
}

// A row-major tensor where the value lies.
void PlannedSession::store(ValueId id, Tensor tensor) {
  const Argument& where = place(id).where;
  const Value& value = package_->graph.value(id);
  const auto at = static_cast<size_t>(where.at);
  if (where.kind == Argument::Kind::Slot) {
    slots_[at] = std::move(tensor);
    return;
  }
  if (tensor.dtype() != value.type.dtype || tensor.shape() != value.type.fixed_shape())
    fail_internal("'", value.name, "': made ", Type(tensor).text(), " where ", value.type.text(), " was inferred");
  if (where.kind == Argument::Kind::Output) {
    outputs_[at] = std::move(tensor);
    write_output(at);
  } else if (where.kind == Argument::Kind::Arena) {
    const loops::Layout layout = loops::Layout::parse(place(id).layout);
    const Tensor packed = layout.row_major() ? std::move(tensor) : loops::pack(tensor, layout);
    write_arena(where.at, packed.bytes().data(), packed.size_bytes());
  } else {
    fail_unsupported("'", value.name, "' has no place of its own");
  }
}

}  // namespace dnn
