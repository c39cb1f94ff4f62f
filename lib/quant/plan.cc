// Planning; see plan.h.
#include "quant/plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "base/error.h"
#include "ops/attributes.h"
#include "ops/op.h"
#include "ops/weights.h"
#include "passes/match.h"

namespace dnn::quant {
namespace {

bool is_float32_value(const Graph& graph, ValueId v) {
  return v != kNoValue && graph.value(v).type.dtype == DType::Float32;
}

// Inputs that are numbers of the network, as against shapes, indices, bounds and padding values.
std::vector<ValueId> data_inputs(const Graph& graph, const Node& node, Role role) {
  std::vector<ValueId> result;
  const bool all =
      node.op == "Concat" || node.op == "Add" || node.op == "Mul" || node.op == "Sub" || node.op == "MatMul";
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (i > 0 && !all) break;
    if (role == Role::Weighted && i > 0 && graph.constant(node.inputs[i]) != nullptr) continue;
    if (is_float32_value(graph, node.inputs[i])) result.push_back(node.inputs[i]);
  }
  return result;
}

// The axis of the output channels of a node's constant weights; nullopt where it has none that can be quantised.
std::optional<int64_t> weight_axis(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant(node.input(1));
  if (weights == nullptr || weights->dtype() != DType::Float32 || weights->rank() < 2) return std::nullopt;
  if (node.op == "ConvTranspose" && int_attribute(node, "group") != 1) return -1;
  if (node.op == "MatMul" && weights->rank() != 2) return -1;
  return weight_axes(node, weights->rank())->output;
}

// As an attention mask of infinities is: on the grid of finite numbers it is none.
bool has_special_constant(const Graph& graph, const Node& node) {
  return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
    const Tensor* constant = v == kNoValue ? nullptr : graph.constant(v);
    if (constant == nullptr || constant->dtype() != DType::Float32) return false;
    const std::span<const float> numbers = constant->values<float>();
    return !std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
  });
}

// Why a node of roles.def cannot compute on integers; "" where it can.
std::string obstacle(const Graph& graph, const Node& node, Role role) {
  if (node.outputs.empty() || !is_float32_value(graph, node.outputs[0])) return "it makes no float32 numbers";
  if (node.inputs.empty() || !is_float32_value(graph, node.inputs[0])) return "it reads no float32 numbers";
  if (role == Role::Weighted) {
    if (node.op == "MatMul" && graph.constant(node.input(0)) != nullptr) return "its first operand is constant";
    if (node.op != "MatMul" && !weight_axis(graph, node)) return "its weights are not constant float32";
    if (node.op == "Gemm" && (float_attribute(node, "alpha") != 1 || float_attribute(node, "beta") != 1 ||
                              int_attribute(node, "transA") != 0))
      return "alpha, beta or transA differ from the plain product";
    if (node.input(2) != kNoValue && graph.constant(node.input(2)) == nullptr) return "its bias is computed";
    if (node.op == "Gemm" && node.input(2) != kNoValue && graph.constant(node.input(2))->rank() > 1 &&
        graph.constant(node.input(2))->dim(0) != 1)
      return "its bias is a matrix";
  }
  if (node.op == "Clip" && ((node.input(1) != kNoValue && graph.constant(node.input(1)) == nullptr) ||
                            (node.input(2) != kNoValue && graph.constant(node.input(2)) == nullptr)))
    return "its bounds are computed";
  if (node.op == "Pad" && string_attribute(node, "mode") == "constant" && node.input(2) != kNoValue) {
    const Tensor* value = graph.constant(node.input(2));
    if (value == nullptr || to_doubles(*value)[0] != 0) return "it pads with a number other than 0";
  }
  if (node.op == "Resize" && string_attribute(node, "mode") == "cubic") return "cubic weights leave the range";
  if (role == Role::Moves && node.op == "Dropout" && node.outputs.size() > 1 && node.outputs[1] != kNoValue)
    return "its mask is read";
  if ((role == Role::Computes || node.op == "Concat" || node.op == "PRelu") && has_special_constant(graph, node))
    return "a constant operand is NaN or infinite";
  return "";
}

class Planner {
 public:
  Planner(const Graph& graph, const PlanOptions& options) : graph_(graph), options_(options), uses_(graph) {}

  Plan run() {
    plan_.quantized.assign(graph_.node_slots(), false);
    choose_nodes();
    if (options_.activations) {
      if (options_.real_results) leave_unread();
      choose_values();
    } else {
      for (NodeId id : graph_.order()) plan_.quantized[id] = false;
    }
    return std::move(plan_);
  }

 private:
  bool quantized(NodeId id) const { return id >= 0 && plan_.quantized[id]; }

  // The end of an operator that was asked to stay in float32 stays there with it, so that nothing is rounded between.
  bool ends_kept(const Node& node) const {
    const ValueId front = front_of(node);
    return front != kNoValue && asked_.count(uses_.producer[front]) != 0;
  }

  // The result of a MatMul of constant weights that `node` adds a bias to; kNoValue where it does not.
  ValueId biased(const Node& node) const {
    if (!options_.real_results || !is_op(node, "Add")) return kNoValue;
    for (const size_t side : {0, 1}) {
      const NodeId maker = node.inputs[side] == kNoValue ? -1 : uses_.producer[node.inputs[side]];
      const Tensor* bias = graph_.constant(node.inputs[1 - side]);
      if (maker < 0 || bias == nullptr || !is_op(graph_.node(maker), "MatMul")) continue;
      const Tensor* weights = graph_.constant(graph_.node(maker).inputs[1]);
      if (weights != nullptr && weights->rank() == 2 && bias->rank() > 0 && bias->size() == weights->dim(1) &&
          bias->dim(bias->rank() - 1) == bias->size() &&
          bias->rank() <= static_cast<int>(graph_.value(node.inputs[side]).type.fixed_shape().size()))
        return node.inputs[side];
    }
    return kNoValue;
  }

  // The result of the operator at whose end `node` is computed, if only it reads that; kNoValue where it is not.
  ValueId front_of(const Node& node) const {
    ValueId front = biased(node);
    if (front == kNoValue && role_of(node) == Role::Activates && options_.fuses && options_.fuses(graph_, node))
      front = node.inputs[0];
    return front != kNoValue && uses_.producer[front] >= 0 && only_reader(graph_, uses_, front) >= 0 ? front : kNoValue;
  }

  bool kept(const Node& node) {
    bool found = false;
    std::vector<std::string> names =
        sources_of(node);  // those of the model's file, of which one operator may be several
    names.push_back(node.name);
    for (const std::string& name : names) {
      if (name.empty() || options_.keep_float.count(name) == 0) continue;
      named_.insert(name);
      found = true;
    }
    for (ValueId v : node.outputs) {
      if (v == kNoValue || options_.keep_float.count(graph_.value(v).name) == 0) continue;
      named_.insert(graph_.value(v).name);
      found = true;
    }
    return found;
  }

  void choose_nodes() {
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      const Role role = role_of(node);
      const bool keep = kept(node) || ends_kept(node);
      const bool left = options_.left_float.count(id) != 0;
      const bool coarse = options_.coarse.count(id) != 0;
      if (role == Role::Float) continue;
      if (keep && (role == Role::Weighted || role == Role::Computes)) asked_.insert(id);
      const std::string reason = keep     ? "asked for"
                                 : left   ? "the search for --max-drop left it"
                                 : coarse ? "its result's step is too large for an operand"
                                          : obstacle(graph_, node, role);
      if (!reason.empty()) {
        // Of shapes and indices there is nothing to say.
        if (is_float32_value(graph_, node.outputs.empty() ? kNoValue : node.outputs[0])) {
          plan_.left_float.push_back(id);
          plan_.reasons.push_back(reason);
          plan_.chosen.push_back(keep || left || coarse);
        }
        continue;
      }
      plan_.quantized[id] = true;
      const std::optional<int64_t> axis = role == Role::Weighted ? weight_axis(graph_, node) : std::nullopt;
      if (axis) plan_.weights.push_back({id, *axis});
    }
    for (const std::string& name : options_.keep_float) {
      if (named_.count(name) == 0) fail_usage("no node or value is called '", name, "'");
    }
  }

  // What the operator in front computes at its end, so that its own result needs no quantiser: that result, or kNoValue.
  ValueId fused(NodeId id) const {
    const ValueId front = front_of(graph_.node(id));
    if (front == kNoValue || !quantized(uses_.producer[front])) return kNoValue;
    const Role role = role_of(graph_.node(uses_.producer[front]));
    return role == Role::Weighted || role == Role::Computes ? front : kNoValue;
  }

  // Leaves in float32 what makes numbers that no operator on integers reads. A convolution's activation stays with it: runtimes
  // have no convolution of integers that gives real numbers. A network without products stays on integers as it was asked for.
  void leave_unread() {
    if (std::none_of(graph_.order().begin(), graph_.order().end(), [&](NodeId id) {
          const Node& node = graph_.node(id);
          return role_of(node) == Role::Weighted && obstacle(graph_, node, Role::Weighted).empty();
        }))
      return;
    if (options_.integer_outputs) read_.insert(graph_.outputs.begin(), graph_.outputs.end());
    for (auto id = graph_.order().rbegin(); id != graph_.order().rend(); ++id) {
      if (!quantized(*id)) continue;
      const Node& node = graph_.node(*id);
      const Role role = role_of(node);
      const ValueId front = fused(*id);
      const bool serves =
          std::any_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) { return read_.count(v) != 0; });
      if (role != Role::Weighted && !serves &&
          (front == kNoValue || !is_convolution(graph_.node(uses_.producer[front])))) {
        plan_.quantized[*id] = false;
        if (role == Role::Moves || biased(node) != kNoValue) continue;
        plan_.left_float.push_back(*id);
        plan_.reasons.emplace_back("nothing on integers reads what it makes");
        plan_.chosen.push_back(false);
        continue;
      }
      for (ValueId v : data_inputs(graph_, node, role)) read_.insert(v);
    }
  }

  // True of a product whose real result nothing on integers reads.
  bool stays_real(const Node& node) const {
    return options_.real_results && (node.op == "MatMul" || node.op == "Gemm") && read_.count(node.outputs[0]) == 0;
  }

  void need(ValueId v) {
    if (is_float32_value(graph_, v) && graph_.constant(v) == nullptr) needed_.insert(v);
  }

  void choose_values() {
    // What computes needs a quantiser in front and behind; what moves has one where the values it moves have.
    std::set<NodeId> moving;
    for (NodeId id : graph_.order()) {
      if (!quantized(id)) continue;
      const Node& node = graph_.node(id);
      const Role role = role_of(node);
      if (role == Role::Moves) {
        moving.insert(id);
        continue;
      }
      if (const ValueId front = fused(id); front == kNoValue) {
        for (ValueId v : data_inputs(graph_, node, role)) need(v);
      } else {
        inner_.insert(front);
        plan_.ends[uses_.producer[front]] = id;
      }
      if (!stays_real(node)) need(node.outputs[0]);
    }
    for (ValueId v : inner_) needed_.erase(v);
    plan_.integer_outputs = options_.integer_outputs;
    for (ValueId v : graph_.outputs) {
      if (options_.integer_outputs) need(v);
    }
    for (bool again = true; again;) {
      again = false;
      for (NodeId id : moving) {
        const std::vector<ValueId> moved = moved_values(id);
        const auto has = [&](ValueId v) { return needed_.count(v) != 0; };
        if (std::none_of(moved.begin(), moved.end(), has) || std::all_of(moved.begin(), moved.end(), has)) continue;
        for (ValueId v : moved) needed_.insert(v);
        again = true;
      }
    }
    group_values(moving);
  }

  // Values of one scale: constants aside, which are quantised as they are.
  std::vector<ValueId> moved_values(NodeId id) const {
    const Node& node = graph_.node(id);
    std::vector<ValueId> moved;
    for (ValueId v : data_inputs(graph_, node, Role::Moves)) {
      if (graph_.constant(v) == nullptr) moved.push_back(v);
    }
    for (ValueId v : node.outputs) {
      if (is_float32_value(graph_, v)) moved.push_back(v);
    }
    return moved;
  }

  void group_values(const std::set<NodeId>& moving) {
    std::vector<ValueId> parent(graph_.value_count());
    std::iota(parent.begin(), parent.end(), 0);
    const auto root = [&](ValueId v) {
      while (parent[v] != v) v = parent[v];
      return v;
    };
    std::map<ValueId, Role> fixed;  // by root
    for (NodeId id : graph_.order()) {
      const Role role = role_of(graph_.node(id));
      if (quantized(id) && (role == Role::UnitRange || role == Role::SignedUnitRange))
        fixed[graph_.node(id).outputs[0]] = role;
    }
    for (NodeId id : graph_.order()) {
      if (moving.count(id) == 0) continue;
      const std::vector<ValueId> moved = moved_values(id);
      if (moved.empty() || needed_.count(moved[0]) == 0) {
        plan_.quantized[id] = false;  // between what is float32
        continue;
      }
      for (ValueId v : moved) {
        const ValueId a = root(moved[0]), b = root(v);
        if (a == b) continue;
        parent[b] = a;
        // A scale that is fixed holds for what only moves those numbers; joined with others it is chosen for all.
        const auto of_a = fixed.find(a), of_b = fixed.find(b);
        const bool same = of_a != fixed.end() && of_b != fixed.end() && of_a->second == of_b->second;
        const bool joins = graph_.node(id).op == "Concat";
        if (same) continue;
        const std::optional<Role> passed = joins                 ? std::nullopt
                                           : of_a != fixed.end() ? std::optional(of_a->second)
                                           : of_b != fixed.end() ? std::optional(of_b->second)
                                                                 : std::nullopt;
        fixed.erase(a);
        fixed.erase(b);
        if (passed) fixed[a] = *passed;
      }
    }
    plan_.group.assign(graph_.value_count(), -1);
    std::map<ValueId, int> index;
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      if (needed_.count(v) == 0) continue;
      const ValueId r = root(v);
      const auto [at, fresh] = index.try_emplace(r, static_cast<int>(plan_.groups.size()));
      if (fresh) {
        plan_.groups.emplace_back();
        const auto of = fixed.find(r);
        plan_.fixed.push_back(of == fixed.end() ? std::nullopt : std::optional(of->second));
      }
      plan_.group[v] = at->second;
      plan_.groups[at->second].push_back(v);
    }
    plan_.around_zero.assign(plan_.groups.size(), false);
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (!options_.factors_around_zero || !quantized(id) || node.op != "MatMul") continue;
      const int of = plan_.group[node.inputs[1]];
      if (of >= 0) plan_.around_zero[of] = true;
    }
  }

  const Graph& graph_;
  const PlanOptions& options_;
  const Uses uses_;
  Plan plan_;
  std::set<std::string> named_;
  std::set<NodeId> asked_;            // operators that stay in float32 as keep_float says
  std::set<ValueId> needed_, inner_;  // values that get a quantiser; those within an operator and what is at its end
  std::set<ValueId> read_;            // by operators on integers
};

bool clips_to(const Graph& graph, const Node& node, double low, double high) {
  const Tensor *from = graph.constant(node.input(1)), *to = graph.constant(node.input(2));
  return from != nullptr && to != nullptr && to_doubles(*from)[0] == low && to_doubles(*to)[0] == high;
}

}  // namespace

int group_of(const Plan& plan, ValueId v) {
  return v == kNoValue || static_cast<size_t>(v) >= plan.group.size() ? -1 : plan.group[v];
}

Role role_of(const Node& node) {
  static const std::map<std::string, Role, std::less<>> rows = {
#define DNN_QUANT_ROLE(op, role) {#op, Role::role},
#include "quant/roles.def"
  };
  const auto row = node.domain.empty() ? rows.find(node.op) : rows.end();
  return row == rows.end() ? Role::Float : row->second;
}

Plan make_plan(const Graph& graph, const PlanOptions& options) { return Planner(graph, options).run(); }

double multiply_adds(const Graph& graph, NodeId id) {
  return role_of(graph.node(id)) == Role::Weighted ? node_flops(graph, graph.node(id)) / 2 : 0;
}

std::vector<NodeId> with_ends(const Plan& plan, NodeId id) {
  std::vector<NodeId> nodes = {id};
  for (auto end = plan.ends.find(id); end != plan.ends.end(); end = plan.ends.find(end->second))
    nodes.push_back(end->second);
  return nodes;
}

std::vector<Layer> layers_of(const Graph& graph, const Plan& plan) {
  std::map<NodeId, size_t> weights;
  for (size_t i = 0; i < plan.weights.size(); ++i) weights[plan.weights[i].node] = i;
  std::set<NodeId> ends;
  for (const auto& [node, end] : plan.ends) ends.insert(end);
  std::vector<Layer> layers;
  for (NodeId id : graph.order()) {
    const auto of = weights.find(id);
    const bool computes = plan.quantized[id] && role_of(graph.node(id)) != Role::Moves;
    if ((!computes && of == weights.end()) || ends.count(id) != 0) continue;
    Layer layer;
    layer.nodes = with_ends(plan, id);
    layer.output = graph.node(layer.nodes.back()).outputs[0];
    if (of != weights.end()) layer.weights = of->second;
    layer.multiply_adds = multiply_adds(graph, id);
    layers.push_back(std::move(layer));
  }
  return layers;
}

bool fuses_in_onnx(const Graph&, const Node& activation) { return role_of(activation) == Role::Activates; }

bool fuses_in_tflite(const Graph& graph, const Node& activation) {
  return activation.op == "Relu" ||
         (activation.op == "Clip" && (clips_to(graph, activation, 0, 6) || clips_to(graph, activation, -1, 1)));
}

// Those that saturation to the range of the result computes.
bool fuses_in_qoperator(const Graph& graph, const Node& activation) {
  if (activation.op != "Clip") return activation.op == "Relu";
  const Tensor* low = graph.constant(activation.input(1));
  return low != nullptr && to_doubles(*low)[0] == 0;
}

}  // namespace dnn::quant
