// Steps of finding an operator that a model spells out: whose value a value is, which factors and terms it has.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {

// One attempt at a pattern, from its last node backwards; collects the nodes that the pattern is made of.
class Recognizer {
 public:
  Recognizer(const Graph& graph, const Uses& uses) : graph_(&graph), uses_(&uses) {}

  const Graph& graph() const { return *graph_; }
  const Uses& uses() const { return *uses_; }

  // The node that makes `v`, where it is this operator; it joins the pattern.
  const Node* maker(ValueId v, std::string_view op) {
    const NodeId id = v == kNoValue ? -1 : uses_->producer[v];
    if (id < 0 || !is_op(graph_->node(id), op)) return nullptr;
    nodes_.insert(id);
    return &graph_->node(id);
  }

  // The number that a constant of one element holds.
  std::optional<double> number(ValueId v) const {
    const Tensor* tensor = graph_->constant(v);
    if (tensor == nullptr || tensor->size() != 1 || !is_float(tensor->dtype())) return std::nullopt;
    return to_doubles(*tensor)[0];
  }

  // What `v` is the sum of: one constant number, and another value; nothing otherwise.
  struct Shifted {
    ValueId value = kNoValue;
    double by = 0;
  };
  std::optional<Shifted> shifted(ValueId v) {
    const Node* add = maker(v, "Add");
    if (add == nullptr) return std::nullopt;
    for (size_t i : {0, 1}) {
      if (const auto by = number(add->inputs[i])) return Shifted{add->inputs[1 - i], *by};
    }
    return std::nullopt;
  }

  // What `v` is the product of, through Mul, Neg, Div by a number, and Pow by a small whole number: a number, and values as
  // often as they are factors. `kept`: values that are factors themselves, however they are made.
  struct Product {
    double number = 1;
    std::vector<ValueId> factors;
    // Takes a factor away; false where it is none.
    bool take(ValueId v);
  };
  Product product(ValueId v, const std::set<ValueId>& kept = {}) {
    Product result;
    multiply(v, kept, kMaxDepth, &result);
    return result;
  }

  // Whether the pattern that ends in `root` can go: what its other nodes make, only the pattern reads.
  bool closed(NodeId root) const;

  // The patch that puts `node` in place of the pattern; it gets the name and the outputs of `root`.
  Patch replacement(NodeId root, Node node, const std::string& what) const;
  // The same with a patch that already holds the constants that `node` reads.
  void replace(NodeId root, Node node, Patch* patch) const;

  const std::set<NodeId>& nodes() const { return nodes_; }
  void drop(NodeId id) { nodes_.erase(id); }
  NodeId producer(ValueId v) const { return uses_->producer[v]; }

 private:
  static constexpr int kMaxDepth = 8;
  void multiply(ValueId v, const std::set<ValueId>& kept, int depth, Product* out);

  const Graph* graph_;  // pointers, so that an attempt can be copied and given up
  const Uses* uses_;
  std::set<NodeId> nodes_;
};

inline bool Recognizer::Product::take(ValueId v) {
  const auto found = std::find(factors.begin(), factors.end(), v);
  if (found == factors.end()) return false;
  factors.erase(found);
  return true;
}

// What is read more than once is a factor itself, but for the value asked for.
inline void Recognizer::multiply(ValueId v, const std::set<ValueId>& kept, int depth, Product* out) {
  if (const auto known = number(v)) {
    out->number *= *known;
    return;
  }
  const NodeId id = uses_->producer[v];
  const bool inside = depth > 0 && id >= 0 && kept.count(v) == 0 && graph_->node(id).domain.empty() &&
                      (depth == kMaxDepth || only_reader(*graph_, *uses_, v) >= 0);
  if (inside && graph_->node(id).op == "Mul") {
    nodes_.insert(id);
    for (ValueId factor : graph_->node(id).inputs) multiply(factor, kept, depth - 1, out);
    return;
  }
  if (inside && graph_->node(id).op == "Neg") {
    nodes_.insert(id);
    out->number = -out->number;
    return multiply(graph_->node(id).inputs[0], kept, depth - 1, out);
  }
  if (inside && graph_->node(id).op == "Div") {
    if (const auto by = number(graph_->node(id).inputs[1]); by && *by != 0) {
      nodes_.insert(id);
      out->number /= *by;
      return multiply(graph_->node(id).inputs[0], kept, depth - 1, out);
    }
  }
  if (inside && graph_->node(id).op == "Pow") {
    const auto power = number(graph_->node(id).inputs[1]);
    if (power && (*power == 2 || *power == 3)) {
      nodes_.insert(id);
      for (int i = 0; i < static_cast<int>(*power); ++i) multiply(graph_->node(id).inputs[0], kept, depth - 1, out);
      return;
    }
  }
  out->factors.push_back(v);
}

inline bool Recognizer::closed(NodeId root) const {
  for (NodeId id : nodes_) {
    if (id == root) continue;
    for (ValueId v : graph_->node(id).outputs) {
      if (v == kNoValue) continue;
      if (graph_->is_output(v)) return false;
      for (NodeId reader : uses_->readers[v]) {
        if (nodes_.count(reader) == 0) return false;
      }
    }
  }
  return nodes_.count(root) != 0;
}

inline void Recognizer::replace(NodeId root, Node node, Patch* patch) const {
  node.name = graph_->node(root).name;
  node.outputs = graph_->node(root).outputs;
  for (NodeId id : graph_->order()) {
    if (nodes_.count(id) == 0) continue;
    for (const std::string& source : sources_of(graph_->node(id))) node.sources.push_back(source);
    patch->remove_node(id);
  }
  patch->add_node(std::move(node));
}

inline Patch Recognizer::replacement(NodeId root, Node node, const std::string& what) const {
  Patch patch(*graph_, label_in(*graph_, graph_->node(root)) + " and those before it are " + what);
  replace(root, std::move(node), &patch);
  return patch;
}

// Whether a constant of the model's is this number, as precisely as its dtype can say it.
inline bool near(double value, double wanted, DType dtype) {
  const double slack = dtype == DType::Float64 || dtype == DType::Float32 ? 1e-6 : 1e-2;
  return std::fabs(value - wanted) <= slack * std::fabs(wanted);
}

}  // namespace dnn
