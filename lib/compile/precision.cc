// Networks at reduced precision; see precision.h.
#include "compile/precision.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "interp/interpreter.h"
#include "ops/op.h"
#include "ops/underflow.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

bool is_float32(const Graph& graph, ValueId v) { return v != kNoValue && graph.value(v).type.dtype == DType::Float32; }

class Reduction {
 public:
  Reduction(Graph& graph, DType to) : graph_(graph), to_(to), uses_(graph) {}

  void run() {
    find_layers();
    for (NodeId id : layers_) {
      for (const size_t operand : {0, 1}) {
        const ValueId v = graph_.node(id).inputs[operand];
        if (is_constant(v)) {
          const ValueId rounded = rounded_constant(v);
          graph_.node(id).inputs[operand] = rounded;
        } else if (behind_[v]) {
          mark(v);
        }
      }
    }
    if (rounded_constants_.empty() && marked_.empty())
      fail_unsupported("the model has no layer in float32, so nothing of it can run in ", dtype_name(to_));
    insert();
  }

 private:
  NodeId producer(ValueId v) const { return uses_.producer[v]; }
  bool is_constant(ValueId v) const { return graph_.constant(v) != nullptr && !graph_.is_input(v); }

  // True for numbers that stand for integers: such layers are computed on these.
  bool is_quantised(ValueId v) const {
    const NodeId maker = producer(v);
    if (maker < 0) return false;
    const Node& node = graph_.node(maker);
    if (is_op(node, "DequantizeLinear")) return true;
    const size_t picked = picked_inputs(node);
    for (size_t i = 0; i < picked; ++i) {
      if (node.input(i) != kNoValue && is_quantised(node.inputs[i])) return true;
    }
    return false;
  }

  bool is_layer(const Node& node) const {
    return node.domain.empty() && has_trait(node, Trait::Weighted) && is_float32(graph_, node.input(0)) &&
           is_float32(graph_, node.input(1)) && !is_quantised(node.inputs[0]) && !is_quantised(node.inputs[1]);
  }

  // Layers, and the values that have one before them: the others are the model's inputs and what is made of these alone.
  void find_layers() {
    behind_.assign(graph_.value_count(), false);
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      bool behind = is_layer(node);
      if (behind) layers_.push_back(id);
      for (ValueId v : node.inputs) behind = behind || (v != kNoValue && behind_[v]);
      for (ValueId v : node.outputs) {
        if (v != kNoValue) behind_[v] = behind;
      }
    }
  }

  // `v` is to hold rounded numbers: those of which it consists, where it has them from others, else its own.
  void mark(ValueId v) {
    if (!seen_.insert(v).second) return;
    const Node& node = graph_.node(producer(v));
    const OpDef* op = find_op(node.domain, node.op);
    const size_t picked = picked_inputs(node);
    bool from_others = picked > 0 && (op->fill_input < 0 || node.input(op->fill_input) == kNoValue);
    for (size_t i = 0; i < picked; ++i)
      from_others = from_others && node.inputs[i] != kNoValue && behind_[node.inputs[i]];
    if (!from_others) {
      marked_.insert(v);
      return;
    }
    for (size_t i = 0; i < picked; ++i) mark(node.inputs[i]);
  }

  ValueId rounded_constant(ValueId v) {
    const auto [entry, fresh] = rounded_constants_.try_emplace(v, v);
    if (!fresh) return entry->second;
    const Tensor rounded = convert(convert(*graph_.constant(v), to_), DType::Float32);
    check_range(v, rounded);
    const std::vector<NodeId>& readers = uses_.readers[v];
    const bool alone = !graph_.is_output(v) && std::all_of(readers.begin(), readers.end(), [&](NodeId id) {
      const std::vector<ValueId>& inputs = graph_.node(id).inputs;
      return std::find(layers_.begin(), layers_.end(), id) != layers_.end() &&
             std::find(inputs.begin() + 2, inputs.end(), v) == inputs.end();
    });
    if (alone) {
      graph_.value(v).constant = rounded;
    } else {
      const std::string name = graph_.unused_value_name(cat(graph_.value(v).name, ".", dtype_name(to_)));
      entry->second = graph_.add_constant(name, rounded);
    }
    return entry->second;
  }

  void check_range(ValueId v, const Tensor& rounded) const {
    const Tensor before = graph_.constant(v)->arranged_copy();
    for (int64_t i = 0; i < before.size(); ++i) {
      const float from = before.data<float>()[i];
      if (std::isfinite(from) && !std::isfinite(rounded.data<float>()[i]))
        fail_unsupported("the weight ", from, " in '", graph_.value(v).name, "' is beyond the numbers of ",
                         dtype_name(to_));
    }
  }

  // Each marked value is made by a rounding of what its producer makes.
  void insert() {
    std::vector<NodeId> order;
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      order.push_back(id);
      for (size_t i = 0; i < graph_.node(id).outputs.size(); ++i) {
        const ValueId v = graph_.node(id).outputs[i];
        if (marked_.count(v) == 0) continue;
        const ValueId exact =
            graph_.add_value(graph_.unused_value_name(graph_.value(v).name + ".unrounded"), graph_.value(v).type);
        graph_.node(id).outputs[i] = exact;
        Node round;
        round.op = "RoundTo";
        round.domain = kInternalDomain;
        round.name = graph_.node(id).name;
        round.inputs = {exact};
        round.outputs = {v};
        round.attributes["to"] = static_cast<int64_t>(to_);
        round.sources = sources_of(graph_.node(id));
        order.push_back(graph_.add_node(std::move(round)));
      }
    }
    graph_.set_order(std::move(order));
  }

  Graph& graph_;
  const DType to_;
  const Uses uses_;
  std::vector<NodeId> layers_;
  std::vector<bool> behind_;  // by value: a layer has part in it
  std::set<ValueId> seen_, marked_;
  std::map<ValueId, ValueId> rounded_constants_;
};

Graph reduced(const Graph& source, DType to, const std::function<void(const std::string& message)>& warn) {
  Graph graph = source;
  infer_types(graph);
  // Weights are rounded as they are multiplied: with what normalisations and scales behind a layer make of them. What a quantised model
  // takes as real numbers stays for the passes that compute on its integers.
  const bool integers = std::any_of(graph.order().begin(), graph.order().end(),
                                    [&](NodeId id) { return is_op(graph.node(id), "DequantizeLinear"); });
  PassOptions passes;
  passes.changes = cat("only:simplify-inference,", integers ? "" : "fold-constant,", "fold-scale-axis");
  run_passes(graph, passes);
  if (warn && to == DType::Float16) {
    if (const std::string lost = underflow_text(float16_underflow(graph)); !lost.empty()) warn(lost);
  }
  Reduction(graph, to).run();
  infer_types(graph);
  verify(graph);
  return graph;
}

}  // namespace

Graph at_element(const Graph& graph, DType element, const std::function<void(const std::string& message)>& warn) {
  if (element == DType::Float16 || element == DType::BFloat16) return reduced(graph, element, warn);
  if (element != DType::Float64) return graph;
  Graph wide = graph;
  infer_types(wide);  // some nodes stay in the type that they have
  wide = widen_to_float64(wide);
  infer_types(wide);
  return wide;
}

}  // namespace dnn
