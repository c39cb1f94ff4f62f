// Parameters of a network; see parameters.h.
#include "train/parameters.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "ops/op.h"

namespace dnn::train {
namespace {

class Search {
 public:
  Search(const Graph& graph, const Frozen& frozen) : graph_(graph), uses_(graph), frozen_(frozen) {}

  Trained run() {
    for (NodeId id : graph_.order()) {  // what a frozen layer shares with others stays as well
      const Node& node = graph_.node(id);
      if (frozen_.count(graph_.value(node.outputs[0]).name) != 0) seen_.insert(node.inputs.begin(), node.inputs.end());
    }
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (frozen_.count(graph_.value(node.outputs[0]).name) == 0) visit(id, node);
    }
    return std::move(result_);
  }

 private:
  void visit(NodeId id, const Node& node) {
    layer_ = graph_.value(node.outputs[0]).name;
    if (has_trait(node, Trait::Weighted)) {
      take(node.input(1), true);
      take(node.input(2), false);
      if (node.op == "MatMul") take(node.input(0), true);
      layers_.insert(node.outputs[0]);
    } else if (node.op == "BatchNormalization" && node.domain.empty()) {
      take(node.input(1), false);
      take(node.input(2), false);
      result_.norms.push_back(id);
    } else if (node.op == "LayerNormalization" || node.op == "RMSNormalization") {
      take(node.input(1), false);
      take(node.input(2), false);
    } else if (node.op == "Dropout" && node.domain.empty()) {
      if (dropout_ratio(graph_, node) > 0) result_.dropouts.push_back(id);
    } else if (node.op == "PRelu") {
      take(node.input(1), false);
    } else if (node.op == "Add") {
      for (size_t i : {0, 1}) {
        if (layers_.count(node.input(1 - i)) != 0) take(node.input(i), false);
      }
    }
  }

  // A constant, or one that is rounded first.
  void take(ValueId v, bool decays) {
    const NodeId maker = v == kNoValue ? -1 : uses_.producer[v];
    if (maker >= 0 && graph_.node(maker).domain == kInternalDomain && graph_.node(maker).op == "FakeQuantize")
      v = graph_.node(maker).inputs[0];
    const Tensor* constant = graph_.constant(v);
    if (constant == nullptr || !is_float(constant->dtype()) || !seen_.insert(v).second) return;
    result_.parameters.push_back({v, decays, layer_});
  }

  const Graph& graph_;
  const Uses uses_;
  const Frozen& frozen_;
  std::set<ValueId> layers_, seen_;
  std::string layer_;
  Trained result_;
};

// The part that a constant plays for the layer or norm that reads it as its operand `i`; "" of what training leaves alone.
std::string role_of(const Node& node, size_t i) {
  if (!node.domain.empty() || i == 0) return "";
  if (has_trait(node, Trait::Weighted)) return i == 1 ? "weight" : i == 2 ? "bias" : "";
  if (node.op == "BatchNormalization") return i < 3 ? cat("norm ", i) : "statistics";
  if (node.op == "LayerNormalization" || node.op == "RMSNormalization") return cat("norm ", i);
  return node.op == "PRelu" ? "slope" : "";
}

bool is_one_number(const Tensor& constant) {
  const std::vector<double> values = to_doubles(constant);
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}

bool matches(const char* pattern, const char* name) {
  for (; *pattern != 0; ++pattern, ++name) {
    if (*pattern == '*') {
      for (const char* rest = name;; ++rest) {
        if (matches(pattern + 1, rest)) return true;
        if (*rest == 0) return false;
      }
    }
    if (*name == 0 || (*pattern != '?' && *pattern != *name)) return false;
  }
  return *name == 0;
}

}  // namespace

bool matches(const std::string& pattern, const std::string& name) { return matches(pattern.c_str(), name.c_str()); }

void separate_constants(Graph& graph) {
  struct Reader {
    std::string role;
    ValueId weights;  // that it reads beside the constant
  };
  std::map<ValueId, Reader> first;
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    Node& node = graph.node(id);
    const ValueId weights = node.input(1);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      const Tensor* constant = graph.constant(v);
      const std::string role = role_of(node, i);
      if (role.empty() || constant == nullptr || !is_float(constant->dtype())) continue;
      const auto [known, is_new] = first.emplace(v, Reader{role, weights});
      if (is_new) continue;
      const bool may_share =
          role == "weight" || role == "slope" || (role == "bias" && known->second.weights == weights);
      if (known->second.role == role && role != "statistics" && (may_share || !is_one_number(*constant))) continue;
      const std::string wanted = cat(graph.value(v).name, "/", graph.value(node.outputs[0]).name);
      node.inputs[i] = graph.add_constant(graph.unused_value_name(wanted), Tensor(*constant));
    }
  }
}

Frozen matching_layers(const Graph& graph, const std::string& option, const std::string& pattern) {
  Frozen found;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::string& made = graph.value(node.outputs[0]).name;
    if (matches(pattern, node.name) || matches(pattern, made)) found.insert(made);
  }
  if (found.empty()) fail_usage(option, " ", pattern, ": no layer has such a name");
  return found;
}

Frozen frozen_layers(const Graph& graph, const std::vector<std::string>& patterns) {
  Frozen frozen;
  for (const std::string& pattern : patterns) frozen.merge(matching_layers(graph, "--freeze", pattern));
  return frozen;
}

double dropout_ratio(const Graph& graph, const Node& dropout) {
  constexpr double kLeftOut = 0.5;  // what ONNX says of a Dropout without a ratio
  if (dropout.input(1) == kNoValue) return kLeftOut;
  const Tensor* ratio = graph.constant(dropout.input(1));
  return ratio != nullptr && is_float(ratio->dtype()) && ratio->size() == 1 ? to_doubles(*ratio)[0] : 0;
}

std::vector<ValueId> untrained_numbers(const Graph& graph, const Trained& trained, const Frozen& frozen) {
  // Those that compute with numbers of the network, and those that bring them to such.
  static const std::set<std::string> kReaders = {
      "Add", "Cast", "Concat",  "Div", "Expand",   "Gather", "GroupNormalization", "Identity", "InstanceNormalization",
      "Mul", "Pow",  "Reshape", "Sub", "Transpose"};
  std::set<ValueId> known;
  for (const Parameter& parameter : trained.parameters) known.insert(parameter.value);
  std::vector<ValueId> left;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.domain.empty() || (kReaders.count(node.op) == 0 && !has_trait(node, Trait::Weighted)) ||
        frozen.count(graph.value(node.outputs[0]).name) != 0)
      continue;
    for (ValueId v : node.inputs) {
      const Tensor* constant = graph.constant(v);
      if (constant != nullptr && is_float(constant->dtype()) && constant->size() > 1 && known.insert(v).second)
        left.push_back(v);
    }
  }
  return left;
}

Trained find_parameters(const Graph& graph, const Frozen& frozen) { return Search(graph, frozen).run(); }

}  // namespace dnn::train
