// Which values share an order of axes; see order_ties.h.
#include "layout/order_ties.h"

#include <algorithm>
#include <numeric>

#include "layout/flexible.h"
#include "layout/permutation.h"
#include "ops/movement.h"

namespace dnn {
namespace {

int rank_of(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  return type.shape ? static_cast<int>(type.shape->size()) : -1;
}

bool has_one_element(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  return type.fixed() && element_count(type.fixed_shape()) == 1;
}

// Sees every value as a root in an order of axes, through the Transposes.
void find_roots(const Graph& graph, OrderTies* ties) {
  for (ValueId v = 0; v < graph.value_count(); ++v) ties->views.push_back({v, {}});
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op != "Transpose" || !node.domain.empty() || rank_of(graph, node.inputs[0]) < 0) continue;
    const size_t n = rank_of(graph, node.inputs[0]);
    Permutation perm = transpose_permutation(node, n);
    if (perm.size() != n) continue;
    const RootView& x = ties->views[node.inputs[0]];
    ties->views[node.outputs[0]] = {x.root, compose(x.perm, normal(std::move(perm)))};
    ties->transposes.insert(id);
  }
  ties->aliases.resize(ties->views.size());
  for (ValueId v = 0; v < graph.value_count(); ++v) ties->aliases[ties->view(v).root].push_back(v);
}

// A Reshape, Flatten, Squeeze or Unsqueeze of extents that are known well enough.
std::optional<Transparent> transparent_reshape(const Graph& graph, const Node& node) {
  const bool reshapes = node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
  if (!reshapes || !node.domain.empty()) return std::nullopt;
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  if (!x.shape || !y.shape) return std::nullopt;
  Transparent t;
  t.blocks = AxisBlocks::of(*x.shape, *y.shape);
  if (!t.blocks) return std::nullopt;
  t.rank = y.shape->size();
  t.outputs = {0};
  t.any = node.outputs[0];
  return t;
}

// A node of OpDef::permute, or of one element at a time.
std::optional<Transparent> transparent_operator(const Graph& graph, const OrderTies& ties, const Node& node) {
  const OpDef* op = flexible_op(node);
  if (op == nullptr || (op->permute == nullptr && op->element == nullptr)) return std::nullopt;
  size_t n = op->permute == nullptr || op->permuted_inputs < 0 ? node.inputs.size() : 1;
  n = std::min(n, node.inputs.size());
  int most = 0;
  for (size_t i = 0; i < n; ++i) {
    const ValueId v = node.inputs[i];
    if (v == kNoValue) continue;
    if (rank_of(graph, v) < 0) return std::nullopt;
    most = std::max(most, rank_of(graph, v));
  }
  if (most < 2) return std::nullopt;
  Transparent t;
  for (size_t i = 0; i < n; ++i) {
    const ValueId v = node.inputs[i];
    if (v == kNoValue || graph.constant(ties.view(v).root) != nullptr) continue;
    if (rank_of(graph, v) == most) {
      t.inputs.push_back(i);
    } else if (!has_one_element(graph, v)) {
      return std::nullopt;
    }
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue && rank_of(graph, node.outputs[i]) == most) t.outputs.push_back(i);
  }
  t.rank = static_cast<size_t>(most);
  if (t.inputs.empty() && t.outputs.empty()) return std::nullopt;
  t.any = t.inputs.empty() ? node.outputs[t.outputs[0]] : node.inputs[t.inputs[0]];
  return t;
}

std::optional<Transparent> describe(const Graph& graph, const OrderTies& ties, NodeId id) {
  const Node& node = graph.node(id);
  std::optional<Transparent> t = transparent_reshape(graph, node);
  if (!t) t = transparent_operator(graph, ties, node);
  PermuteContext trial;
  if (t && !permuted_node(graph, id, *t, {}, &trial)) return std::nullopt;
  return t;
}

// How the node reads its inputs; `t` is null where it is not transparent.
void note_reads(const Graph& graph, NodeId id, const Transparent* t, OrderTies* ties) {
  const Node& node = graph.node(id);
  const bool reshape = node.op == "Reshape" && node.domain.empty() && is_plain_reshape(graph, node);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == kNoValue) continue;
    if (t != nullptr && t->blocks && i == 0) {
      ties->reshaped[v].push_back(id);
      continue;
    }
    const bool tied = t != nullptr && std::find(t->inputs.begin(), t->inputs.end(), i) != t->inputs.end();
    (tied ? ties->in_order : reshape && i == 0 ? ties->flexible : ties->opaque)[v] = true;
  }
}

// Disjoint sets of values.
class ValueSets {
 public:
  explicit ValueSets(size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }

  // One value that stands for the set.
  ValueId find(ValueId v) {
    while (parent_[v] != v) {
      v = parent_[v] = parent_[parent_[v]];
    }
    return v;
  }
  void unite(ValueId v, ValueId w) { parent_[find(v)] = find(w); }

 private:
  std::vector<ValueId> parent_;
};

// The sets of values that transparent nodes read or make, in the order of those nodes.
void number_groups(const Graph& graph, ValueSets& sets, OrderTies* ties) {
  ties->group.assign(ties->views.size(), -1);
  std::map<ValueId, int> index;
  for (const auto& [id, t] : ties->transparent) {
    const Node& node = graph.node(id);
    const int n = index.try_emplace(sets.find(t.any), static_cast<int>(ties->groups.size())).first->second;
    if (n == static_cast<int>(ties->groups.size())) ties->groups.emplace_back();
    OrderGroup& group = ties->groups[n];
    group.nodes.push_back(id);
    const auto enter = [&](ValueId v) {
      int& g = ties->group[v];
      if (g < 0) group.values.push_back(v);
      g = n;
    };
    for (size_t i : t.inputs) enter(node.inputs[i]);
    for (size_t i : t.outputs) enter(node.outputs[i]);
  }
}

}  // namespace

OrderTies find_order_ties(const Graph& graph) {
  OrderTies ties;
  find_roots(graph, &ties);
  ValueSets sets(ties.views.size());
  ties.opaque.resize(ties.views.size());
  ties.flexible.resize(ties.views.size());
  ties.in_order.resize(ties.views.size());
  for (NodeId id : graph.order()) {
    if (ties.transposes.count(id) != 0) continue;
    const Node& node = graph.node(id);
    for (ValueId v : captured_values(graph, node)) ties.pinned.insert(v);
    std::optional<Transparent> t = describe(graph, ties, id);
    note_reads(graph, id, t ? &*t : nullptr, &ties);
    if (!t) continue;
    for (size_t i : t->inputs) sets.unite(node.inputs[i], t->any);
    for (size_t i : t->outputs) {
      sets.unite(node.outputs[i], t->any);
      ties.made_in_order.insert(node.outputs[i]);
    }
    ties.transparent.emplace(id, std::move(*t));
  }
  for (ValueId v : graph.outputs) ties.pinned.insert(v);
  number_groups(graph, sets, &ties);
  return ties;
}

const OpDef* flexible_op(const Node& node) {
  return node.domain == kFlexibleDomain ? find_flexible(node.op) : find_op(node.domain, node.op);
}

bool permuted_node(const Graph& graph, NodeId id, const Transparent& t, const Permutation& perm,
                   PermuteContext* context) {
  const Node& node = graph.node(id);
  const OpDef* op = flexible_op(node);
  context->node = node;
  context->perm = full(perm, t.rank);
  for (ValueId v : node.inputs) context->constants.push_back(v == kNoValue ? nullptr : graph.constant(v));
  context->constants.resize(std::max<size_t>(context->constants.size(), 5));
  if (t.blocks) {
    const auto& shape = *graph.value(node.outputs[0]).type.shape;
    const auto open = std::count_if(shape.begin(), shape.end(), [](const Dim& dim) { return !dim.fixed(); });
    return open <= 1 && t.blocks->backward(perm);
  }
  return op->permute == nullptr || op->permute(*context);
}

bool is_plain_reshape(const Graph& graph, const Node& node) {
  const Tensor* shape = graph.constant(node.input(1));
  if (shape == nullptr) return false;
  const std::vector<int64_t> extents = to_int64s(*shape);
  return std::find(extents.begin(), extents.end(), 0) == extents.end();
}

bool same_in_memory(const Graph& graph, ValueId root, const Permutation& p, const Permutation& q) {
  const Type& type = graph.value(root).type;
  if (p == q) return true;
  if (!type.shape) return false;
  const auto order = [&](const Permutation& perm) {
    Permutation axes = full(perm, type.shape->size());
    const auto single = [&](int64_t a) { return (*type.shape)[a].size == 1; };
    axes.erase(std::remove_if(axes.begin(), axes.end(), single), axes.end());
    return axes;
  };
  return order(p) == order(q);
}

}  // namespace dnn
