// Repeating nodes of a graph; see recompute.h.
#include "codegen/recompute.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "codegen/memory_plan.h"
#include "codegen/parts.h"
#include "codegen/rematerialize.h"
#include "loops/layout.h"
#include "ops/lowering.h"

namespace dnn::codegen {
namespace {

// Arithmetic in the time of moving one byte, on processors of these days.
constexpr double kFlopsPerByte = 10;

// The order of nodes, by index in the graph's, in which those that make outputs alone stand right behind what they read: that is then
// free sooner.
std::vector<size_t> early_outputs(const Graph& graph) {
  const std::vector<NodeId>& order = graph.order();
  std::vector<size_t> place(static_cast<size_t>(graph.value_count()), 0);  // by value: that of its node
  std::vector<size_t> at(order.size()), result(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const Node& node = graph.node(order[i]);
    const bool only_outputs = captured_values(graph, node).empty() &&
                              std::all_of(node.outputs.begin(), node.outputs.end(),
                                          [&](ValueId v) { return v != kNoValue && graph.is_output(v); });
    at[i] = only_outputs ? 0 : i;
    for (ValueId v : node.inputs) {
      if (only_outputs && v != kNoValue) at[i] = std::max(at[i], place[v]);
    }
    for (ValueId v : node.outputs) {
      if (v != kNoValue) place[v] = at[i];
    }
  }
  std::iota(result.begin(), result.end(), size_t{0});
  std::stable_sort(result.begin(), result.end(), [&](size_t a, size_t b) { return at[a] < at[b]; });
  return result;
}

class Recompute {
 public:
  Recompute(Graph& graph, const Target& target) : graph_(graph) {
    if (target.has_views()) parts_ = find_parts(graph, target.isa->gpu ? kArenaAlign : 1);
    for (const auto& [v, part] : parts_.of) wholes_.insert(part.whole);
    outputs_.insert(graph.outputs.begin(), graph.outputs.end());
  }

  Recomputation run() {
    const std::vector<NodeId> order = graph_.order();
    for (NodeId id : order) {
      for (ValueId v : graph_.node(id).outputs) track(v);
    }
    for (NodeId id : order) problem_.steps.push_back(step_of(id));
    Recomputation result;
    result.before_bytes = planned_bytes(problem_);
    const std::vector<RematerialStep> steps = std::move(problem_.steps);
    problem_.steps.clear();
    for (size_t i : early_outputs(graph_)) {
      order_.push_back(order[i]);
      problem_.steps.push_back(steps[i]);
    }
    const Rematerialized found = rematerialize(problem_);
    result.after_bytes = found.after_bytes;
    result.added = found.added;
    for (const RematerialItem& item : found.items) result.nodes += item.again ? 1 : 0;
    rewrite(found);
    return result;
  }

 private:
  // Gives the value an index if it lies in the arena, and in no other value.
  void track(ValueId v) {
    if (v == kNoValue || graph_.constant(v) != nullptr || parts_.of.count(v) != 0) return;
    const Value& value = graph_.value(v);
    const bool fixed = value.type.fixed() && value.type.dtype != DType::String && dtype_size(value.type.dtype) > 0;
    if (!fixed || (outputs_.count(v) != 0 && value.layout.empty())) return;
    tracked_[v] = static_cast<int>(problem_.bytes.size());
    values_.push_back(v);
    problem_.bytes.push_back(loops::Layout::parse(value.layout).element_count(value.type.fixed_shape()) *
                             static_cast<int64_t>(dtype_size(value.type.dtype)));
  }

  // -1: it does not lie in the arena.
  int index_of(ValueId v) const {
    if (v == kNoValue) return -1;
    const auto part = parts_.of.find(v);
    const auto found = tracked_.find(part == parts_.of.end() ? v : part->second.whole);
    return found == tracked_.end() ? -1 : found->second;
  }

  RematerialStep step_of(NodeId id) {
    const Node& node = graph_.node(id);
    RematerialStep step;
    const auto add_once = [](std::vector<int>& list, int i) {
      if (i >= 0 && std::find(list.begin(), list.end(), i) == list.end()) list.push_back(i);
    };
    step.repeatable = is_repeatable(node);
    for (ValueId v : node.outputs) {
      const int i = index_of(v);
      const bool first = i >= 0 && made_.insert(i).second;
      add_once(first ? step.makes : step.reads, i);  // parts are written into what is there
      step.kept = step.kept || (v != kNoValue && (i < 0 || !first || outputs_.count(v) != 0));
    }
    for (const std::vector<ValueId>& read : {node.inputs, captured_values(graph_, node)}) {
      for (ValueId v : read) {
        const int i = index_of(v);
        if (std::find(step.makes.begin(), step.makes.end(), i) == step.makes.end()) add_once(step.reads, i);
      }
    }
    if (parts_.idle.count(id) != 0) return step;
    double bytes = 0;
    for (const std::vector<ValueId>& all : {node.inputs, node.outputs}) {
      for (ValueId v : all) bytes += v == kNoValue ? 0 : bytes_of(v);
    }
    step.cost = std::max(bytes, node_flops(graph_, node) / kFlopsPerByte);
    if (can_lower(graph_, node)) {
      for (const loops::BufferRef& t : lower_node(graph_, node).temporaries)
        step.temporary_bytes += t->layout.element_count(t->shape) * static_cast<int64_t>(dtype_size(t->dtype));
    }
    return step;
  }

  double bytes_of(ValueId v) const {
    const Type& type = graph_.value(v).type;
    if (!type.fixed() || type.dtype == DType::String) return 0;
    return static_cast<double>(element_count(type.fixed_shape())) * static_cast<double>(dtype_size(type.dtype));
  }

  bool is_repeatable(const Node& node) const {
    const OpDef* op = find_op(node.domain, node.op);
    if (op == nullptr || !op->deterministic || !captured_values(graph_, node).empty()) return false;
    const bool has_subgraph = std::any_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
      return std::holds_alternative<std::shared_ptr<const Graph>>(attribute.second);
    });
    if (has_subgraph && head_of(node).node == &node) return false;
    return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
      return v != kNoValue && tracked_.count(v) != 0 && wholes_.count(v) == 0 && outputs_.count(v) == 0;
    });
  }

  void rewrite(const Rematerialized& found) {
    std::vector<ValueId> value_of = values_;  // by version
    value_of.resize(found.value_of.size(), kNoValue);
    std::vector<Node> nodes;  // as they were
    for (NodeId id : order_) nodes.push_back(graph_.node(id));
    std::set<NodeId> there;
    std::vector<NodeId> order;
    for (const RematerialItem& item : found.items) {
      const RematerialStep& step = problem_.steps[item.step];
      NodeId id = order_[item.step];
      if (item.again) {
        Node node = nodes[item.step];
        node.name = "recompute/" + (node.name.empty() ? node.op : node.name);
        for (size_t k = 0; k < step.makes.size(); ++k) {
          const ValueId before = values_[step.makes[k]];
          Value value = graph_.value(before);
          value.name = graph_.unused_value_name(value.name + "/again");
          value.aliases.clear();
          const ValueId again = graph_.add_value(std::move(value));
          value_of[item.makes[k]] = again;
          std::replace(node.outputs.begin(), node.outputs.end(), before, again);
        }
        for (size_t k = 0; k < step.reads.size(); ++k)
          std::replace(node.inputs.begin(), node.inputs.end(), values_[step.reads[k]], value_of[item.reads[k]]);
        id = graph_.add_node(std::move(node));
      } else {
        there.insert(id);
        std::vector<ValueId>& inputs = graph_.node(id).inputs;
        for (size_t k = 0; k < step.reads.size(); ++k)
          std::replace(inputs.begin(), inputs.end(), values_[step.reads[k]], value_of[item.reads[k]]);
      }
      order.push_back(id);
    }
    for (NodeId id : order_) {
      if (there.count(id) == 0) graph_.remove_node(id);
    }
    graph_.set_order(std::move(order));
    verify(graph_);
  }

  Graph& graph_;
  Parts parts_;
  std::set<ValueId> wholes_, outputs_;
  std::vector<NodeId> order_;
  std::map<ValueId, int> tracked_;
  std::vector<ValueId> values_;  // by index
  std::set<int> made_;
  RematerialProblem problem_;
};

}  // namespace

Recomputation recompute(Graph& graph, const Target& target) { return Recompute(graph, target).run(); }

}  // namespace dnn::codegen
