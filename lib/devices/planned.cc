// Sessions with a memory plan; see planned.h.
#include "devices/planned.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <set>

#include "loops/layout.h"

namespace dnn {

PlannedSession::PlannedSession(std::shared_ptr<const Package> package, const Variant& variant)
    : Session(std::move(package), &variant), slots_(variant.slots), profile_(variant.steps.size()) {}

std::vector<Tensor> PlannedSession::trace(const std::vector<Tensor>& inputs, const Observer& observe) {
  if (!observe) return run(inputs);
  return execute(inputs, [&](ValueId id, const Tensor& value, const Resume&) { observe(graph(), id, value); });
}

std::vector<Tensor> PlannedSession::execute(const std::vector<Tensor>& given, const Fork& observe) {
  const bool stateful = !variant_->state.empty();
  const std::vector<Tensor> filled = stateful ? with_state(given) : std::vector<Tensor>();
  const std::vector<Tensor>& inputs = stateful ? filled : given;
  check_inputs(inputs);
  const Graph& graph = *variant_->graph;
  outputs_.clear();
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const Argument& where = place(graph.outputs[i]).where;
    const bool direct = where.kind == Argument::Kind::Output && where.at == static_cast<int64_t>(i);
    Tensor spare = direct ? take_spare(i) : Tensor();
    if (direct && !spare.defined()) spare = {package_->output_types[i].dtype, package_->output_types[i].fixed_shape()};
    outputs_.push_back(std::move(spare));
  }
  inputs_ = &inputs;
  keep_samples(observe != nullptr);
  upload_inputs();
  // In the graph's order, and after the last step of a node: nodes that have none lie where their inputs do.
  std::vector<NodeId> order;
  std::set<NodeId> stepped;
  size_t next = 0;
  const Resume go_on = [&](const Instead& instead) { return resume(next, instead); };
  if (observe) {
    for (size_t i = 0; i < inputs.size(); ++i) observe(graph.inputs[i], inputs[i], go_on);
    order = graph.order();
    for (const Step& step : variant_->steps) stepped.insert(step.node);
  }
  const auto observe_outputs = [&](NodeId node) {
    for (ValueId id : graph.node(node).outputs) {
      if (id != kNoValue) observe(id, fetch(id), go_on);
    }
  };
  for (size_t i = 0; i < variant_->steps.size(); ++i) {
    const Step& step = variant_->steps[i];
    if (!observe && step.samples > 1) {
      const size_t first = i;
      while (variant_->joins_next(i)) ++i;
      run_samples(first, i);
      continue;
    }
    if (!observe && !profiling_ && step.kernel >= 0) {
      i = launch_from(i) - 1;
      continue;
    }
    run_step(i);
    next = i + 1;
    if (observe && (next == variant_->steps.size() || variant_->steps[next].node != step.node)) {
      auto node = std::find(order.begin(), order.end(), step.node);
      for (observe_outputs(*node); ++node != order.end() && stepped.count(*node) == 0;) observe_outputs(*node);
    }
  }
  std::vector<Tensor> results = gather_outputs();
  if (stateful) keep_state(inputs, results);
  return results;
}

void PlannedSession::run_step(size_t i) {
  using Clock = std::chrono::steady_clock;
  const Step& step = variant_->steps[i];
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

void PlannedSession::launch_samples(size_t, size_t, std::vector<int64_t>*) {
  fail_internal("this device does not run samples one by one");
}

void PlannedSession::run_samples(size_t first, size_t last) {
  if (!profiling_) return launch_samples(first, last, nullptr);
  std::vector<int64_t> times_ns(variant_->steps.size(), 0);
  launch_samples(first, last, &times_ns);
  for (size_t i = first; i <= last; ++i) {
    profile_[i].time_ns += times_ns[i];
    ++profile_[i].runs;
  }
}

std::vector<Tensor> PlannedSession::gather_outputs() {
  finish();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) {
      read_output(i);
    } else {
      outputs_[i] = fetch(graph().outputs[i]);
    }
  }
  return std::move(outputs_);
}

// The steps from `step` on with other values. What has been computed by then is all in the arena, the slots and the outputs.
std::vector<Tensor> PlannedSession::resume(size_t step, const Instead& instead) {
  finish();
  Tensor arena(DType::UInt8, {variant_->arena_bytes + variant_->samples() * variant_->sample_arena_bytes});
  if (arena.size() > 0) read_arena(0, arena.mutable_bytes(), arena.size_bytes());
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) read_output(i);
  }
  const std::vector<Tensor> slots = slots_, outputs = outputs_;
  for (const auto& [id, tensor] : instead) store(id, tensor);
  for (size_t i = step; i < variant_->steps.size(); ++i) run_step(i);
  std::vector<Tensor> results = gather_outputs();
  slots_ = slots;
  outputs_ = outputs;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].defined()) write_output(i);
  }
  if (arena.size() > 0) write_arena(0, arena.bytes().data(), arena.size_bytes());
  return results;
}

// Calls one(at in the arena, at in the value, bytes) for each piece of a value that lies in the arena or in those of the samples.
template <class Move>
void PlannedSession::move(ValueId id, size_t bytes, Move&& one) {
  const Argument& where = place(id).where;
  if (where.kind == Argument::Kind::Arena) return one(where.at, size_t{0}, bytes);
  const int64_t samples = variant_->samples();
  const size_t part = bytes / static_cast<size_t>(samples);
  for (int64_t s = 0; s < samples; ++s)
    one(variant_->arena_bytes + s * variant_->sample_arena_bytes + where.at, static_cast<size_t>(s) * part, part);
}

// A value as a row-major tensor.
Tensor PlannedSession::fetch(ValueId id) {
  const Argument& where = place(id).where;
  const Value& value = graph().value(id);
  const size_t at = where.at;
  switch (where.kind) {
    case Argument::Kind::Slot: return slots_[at];
    case Argument::Kind::Input: return (*inputs_)[at];
    case Argument::Kind::Output:
      finish();
      read_output(at);
      return outputs_[at];
    case Argument::Kind::Constant: return package_->constants[at];
    case Argument::Kind::Arena:
    case Argument::Kind::Sample: break;
    case Argument::Kind::None: return value.constant ? *value.constant : Tensor();
  }
  const Shape shape = value.type.fixed_shape();
  const loops::Layout layout = loops::Layout::parse(place(id).layout);
  Tensor packed(stored_type(id), {layout.element_count(shape)});
  finish();
  move(id, packed.size_bytes(), [&, to = packed.mutable_bytes()](int64_t at, size_t offset, size_t bytes) {
    read_arena(at, to + offset, bytes);
  });
  const Tensor unpacked = layout.row_major() ? packed.reshaped(shape) : loops::unpack(packed, shape, layout);
  return unpacked.dtype() == value.type.dtype ? unpacked : convert(unpacked, value.type.dtype);
}

void PlannedSession::interpret_step(const Step& step) {
  const Node& node = graph().node(step.node);
  std::vector<Tensor> held;
  held.reserve(node.inputs.size());
  std::vector<const Tensor*> inputs;
  for (ValueId id : node.inputs) {
    if (id != kNoValue) held.push_back(fetch(id));
    inputs.push_back(id == kNoValue ? nullptr : &held.back());
  }
  std::map<std::string, Tensor> captured;
  for (ValueId id : captured_values(graph(), node)) captured[graph().value(id).name] = fetch(id);
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
  const Value& value = graph().value(id);
  const size_t at = where.at;
  if (where.kind == Argument::Kind::Slot) {
    slots_[at] = std::move(tensor);
    return;
  }
  if (tensor.dtype() != value.type.dtype || tensor.shape() != value.type.fixed_shape())
    fail_internal("'", value.name, "': made ", Type(tensor).text(), " where ", value.type.text(), " was inferred");
  if (where.kind == Argument::Kind::Output) {
    outputs_[at] = std::move(tensor);
    write_output(at);
  } else if (where.kind == Argument::Kind::Arena || where.kind == Argument::Kind::Sample) {
    const loops::Layout layout = loops::Layout::parse(place(id).layout);
    if (stored_type(id) != tensor.dtype()) tensor = convert(tensor, stored_type(id));
    const Tensor packed = layout.row_major() ? std::move(tensor) : loops::pack(tensor, layout);
    move(id, packed.size_bytes(), [&, from = packed.bytes().data()](int64_t at, size_t offset, size_t bytes) {
      write_arena(at, from + offset, bytes);
    });
  } else {
    fail_unsupported("'", value.name, "' has no place of its own");
  }
}

}  // namespace dnn
