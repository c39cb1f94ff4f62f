// Values in 16 bits; see narrow_values.h.
#include "codegen/narrow_values.h"

#include <algorithm>
#include <map>

#include "loops/steps.h"
#include "ops/lowering.h"

namespace dnn::codegen {
namespace {

using namespace loops;

class NarrowValues {
 public:
  NarrowValues(const Graph& graph, const Parts& parts, DType to)
      : graph_(graph), parts_(parts), to_(to), rounds_(to == DType::BFloat16 ? Op::RoundBFloat16 : Op::RoundFloat16) {}

  std::set<ValueId> run() {
    for (const std::vector<ValueId>& ends : {graph_.inputs, graph_.outputs}) refused_.insert(ends.begin(), ends.end());
    for (NodeId id : graph_.order()) visit(id);
    std::map<ValueId, std::vector<ValueId>> together;
    for (ValueId v : made_) together[whole_of(v)].push_back(v);
    std::set<ValueId> result;
    for (const auto& [whole, values] : together) {
      if (std::all_of(values.begin(), values.end(),
                      [&](ValueId v) { return fits_.count(v) != 0 && refused_.count(v) == 0; }))
        result.insert(values.begin(), values.end());
    }
    return result;
  }

 private:
  ValueId whole_of(ValueId v) const {
    const auto part = parts_.of.find(v);
    return part == parts_.of.end() ? v : part->second.whole;
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    made_.insert(node.outputs.begin(), node.outputs.end());
    made_.erase(kNoValue);
    if (parts_.idle.count(id) != 0) {
      // Its results are other values, in their memory. The second input of a Reshape is no number of the result.
      const size_t shown = node.op == "Concat" ? node.inputs.size() : 1;
      if (std::all_of(node.inputs.begin(), node.inputs.begin() + static_cast<std::ptrdiff_t>(shown),
                      [&](ValueId v) { return fits_.count(v) != 0; }))
        fits_.insert(node.outputs.begin(), node.outputs.end());
      return;
    }
    const LowerContext lowered = lower_node(graph_, node);
    if (lowered.stages.empty()) {
      refused_.insert(node.inputs.begin(), node.inputs.end());
      refused_.insert(node.outputs.begin(), node.outputs.end());
      const std::vector<ValueId> captured = captured_values(graph_, node);
      refused_.insert(captured.begin(), captured.end());
      return;
    }
    others_.clear();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != kNoValue && fits_.count(node.inputs[i]) == 0) others_hold(lowered.inputs[i].get());
    }
    // A buffer is thought to hold such numbers until something else is stored to it.
    for (bool again = true; again;) {
      again = false;
      for (const LowerContext::Stage& stage : lowered.stages) again = stores(stage.body) || again;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && lowered.outputs[i]->dtype == DType::Float32 && holds(lowered.outputs[i].get()))
        fits_.insert(node.outputs[i]);
    }
  }

  bool holds(const Buffer* buffer) const { return others_.count(buffer) == 0; }
  void others_hold(const Buffer* buffer) { others_.insert(buffer); }

  // True where a store has shown that its buffer holds other numbers.
  bool stores(const Stmt& s) {
    if (s->kind == StmtKind::Store && holds(s->buffer.get()) && !fits(s->value)) {
      others_hold(s->buffer.get());
      return true;
    }
    bool found = false;
    for (const Stmt& child : s->children) found = stores(child) || found;
    return found;
  }

  bool fits(const Expr& e) const {
    if (e->op == rounds_) return true;
    switch (e->op) {
      case Op::Constant:
        return to_ == DType::BFloat16
                   ? static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(e->f)))) == e->f
                   : static_cast<double>(static_cast<float>(Half(static_cast<float>(e->f)))) == e->f;
      case Op::Load: return e->dtype == DType::Float32 && holds(e->buffer.get());
      case Op::Select: return fits(e->args[1]) && fits(e->args[2]);
      case Op::Neg:
      case Op::Abs:
      case Op::Min:
      case Op::Max: return std::all_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return fits(a); });
      default: return false;
    }
  }

  const Graph& graph_;
  const Parts& parts_;
  const DType to_;
  const Op rounds_;
  std::set<ValueId> made_, fits_, refused_;
  std::set<const Buffer*> others_;  // of the buffers of a node: those that hold other numbers
};

}  // namespace

std::set<ValueId> narrow_values(const Graph& graph, const Parts& parts, DType to) {
  return NarrowValues(graph, parts, to).run();
}

}  // namespace dnn::codegen
