// Moving Transposes; see settle.h.
//
// Every value is seen as a root, which a node other than Transpose makes, in some order of axes. A set of values that
// operators tie together is in one order, {} at first, the model's own; each set in turn takes the order that leaves the
// fewest changes, until none gains. What a root's readers need in another order than it is made in costs a Transpose each.
// A Reshape that splits and merges axes stands between two orders: its output's decides in which it reads (AxisBlocks).
#include "layout/settle.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "layout/axis_blocks.h"
#include "layout/flexible.h"
#include "ops/movement.h"
#include "ops/op.h"
#include "ops/permute.h"

namespace dnn {
namespace {

constexpr int kMaxRounds = 16;
constexpr int kMaxChained = 1 << 17;  // steps along Reshapes in all, so that a hostile graph ends, too

// Permutations are kept normal: the identity is {}.
Permutation normal(Permutation p) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] != static_cast<int64_t>(i)) return p;
  }
  return {};
}

// First p, then q.
Permutation compose(const Permutation& p, const Permutation& q) {
  if (p.empty()) return q;
  if (q.empty()) return p;
  Permutation r;
  for (int64_t i : q) r.push_back(p[i]);
  return normal(std::move(r));
}

Permutation inverse(const Permutation& p) {
  Permutation r(p.size());
  for (size_t i = 0; i < p.size(); ++i) r[p[i]] = static_cast<int64_t>(i);
  return r;
}

Permutation full(const Permutation& p, size_t rank) {
  if (!p.empty()) return p;
  Permutation r(rank);
  std::iota(r.begin(), r.end(), 0);
  return r;
}

const OpDef* op_of(const Node& node) {
  return node.domain == kFlexibleDomain ? find_flexible(node.op) : find_op(node.domain, node.op);
}

Type permuted(const Type& type, const Permutation& p) {
  Type result = type;
  for (size_t i = 0; i < p.size(); ++i) (*result.shape)[i] = (*type.shape)[p[i]];
  return result;
}

class Settler {
 public:
  Settler(Graph& graph, const std::set<ValueId>& unnamed) : graph_(graph), unnamed_(unnamed), uses_(graph) {}

  void run() {
    resolve();
    tie();
    search();
    rewrite();
  }

 private:
  // A value as a root in an order of axes.
  struct View {
    ValueId root = kNoValue;
    Permutation perm;
  };

  // A node that computes alike in any order, and the values that are in its order.
  struct Transparent {
    size_t rank = 0;
    std::vector<size_t> inputs, outputs;
    ValueId any = kNoValue;            // one of those values
    std::optional<AxisBlocks> blocks;  // of a Reshape: only its output is in that order
  };

  struct Group {
    std::vector<ValueId> values;
    std::vector<NodeId> nodes;
    Permutation perm;
  };

  int rank(ValueId v) const {
    const Type& type = graph_.value(v).type;
    return type.shape ? static_cast<int>(type.shape->size()) : -1;
  }

  // --- what is what ---

  void resolve() {
    for (ValueId v = 0; v < graph_.value_count(); ++v) views_.push_back({v, {}});
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.op != "Transpose" || !node.domain.empty() || rank(node.inputs[0]) < 0) continue;
      Permutation perm = node.attribute_ints("perm");
      const size_t n = rank(node.inputs[0]);
      if (!node.has_attribute("perm")) {
        perm = full({}, n);
        std::reverse(perm.begin(), perm.end());
      }
      if (perm.size() != n) continue;
      const View& x = views_[node.inputs[0]];
      views_[node.outputs[0]] = {x.root, compose(x.perm, normal(std::move(perm)))};
      transposes_.insert(id);
    }
    aliases_.resize(views_.size());
    for (ValueId v = 0; v < graph_.value_count(); ++v) aliases_[view(v).root].push_back(v);
  }

  const View& view(ValueId v) const { return views_[v]; }
  bool constant(ValueId v) const { return graph_.constant(view(v).root) != nullptr; }

  bool single(ValueId v) const {
    const Type& type = graph_.value(v).type;
    return type.fixed() && element_count(type.fixed_shape()) == 1;
  }

  // A Reshape, Flatten, Squeeze or Unsqueeze of extents that are known well enough.
  bool describe_reshape(NodeId id, Transparent* out) const {
    const Node& node = graph_.node(id);
    const bool reshapes =
        node.op == "Reshape" || node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
    if (!reshapes || !node.domain.empty()) return false;
    const Type &x = graph_.value(node.inputs[0]).type, &y = graph_.value(node.outputs[0]).type;
    if (!x.shape || !y.shape) return false;
    out->blocks = AxisBlocks::of(*x.shape, *y.shape);
    if (!out->blocks) return false;
    out->rank = y.shape->size();
    out->outputs = {0};
    out->any = node.outputs[0];
    return true;
  }

  bool describe(NodeId id, Transparent* out) const {
    if (describe_reshape(id, out)) return true;
    const Node& node = graph_.node(id);
    const OpDef* op = op_of(node);
    if (op == nullptr || (op->permute == nullptr && op->element == nullptr)) return false;
    size_t n = op->permute == nullptr || op->permuted_inputs < 0 ? node.inputs.size() : 1;
    n = std::min(n, node.inputs.size());
    int most = 0;
    for (size_t i = 0; i < n; ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue) continue;
      if (rank(v) < 0) return false;
      most = std::max(most, rank(v));
    }
    if (most < 2) return false;
    for (size_t i = 0; i < n; ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue || constant(v)) continue;
      if (rank(v) == most) {
        out->inputs.push_back(i);
      } else if (!single(v)) {
        return false;
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue && rank(node.outputs[i]) == most) out->outputs.push_back(i);
    }
    out->rank = static_cast<size_t>(most);
    if (out->inputs.empty() && out->outputs.empty()) return false;
    out->any = out->inputs.empty() ? node.outputs[out->outputs[0]] : node.inputs[out->inputs[0]];
    return true;
  }

  // The node for tensors in order `perm`, or false where it cannot be.
  bool rewritten(NodeId id, const Permutation& perm, PermuteContext* context) const {
    const Node& node = graph_.node(id);
    const OpDef* op = op_of(node);
    context->node = node;
    context->perm = full(perm, transparent_.at(id).rank);
    for (ValueId v : node.inputs) context->constants.push_back(v == kNoValue ? nullptr : graph_.constant(v));
    context->constants.resize(std::max<size_t>(context->constants.size(), 5));
    if (transparent_.at(id).blocks)
      return transparent_.at(id).blocks->backward(perm) && open_extents(node.outputs[0]) <= 1;
    return op->permute == nullptr || op->permute(*context);
  }

  int64_t open_extents(ValueId v) const {
    const auto& shape = *graph_.value(v).type.shape;
    return std::count_if(shape.begin(), shape.end(), [](const Dim& dim) { return !dim.fixed(); });
  }

  void tie() {
    std::vector<ValueId> parent(views_.size());
    std::iota(parent.begin(), parent.end(), 0);
    const auto find = [&](ValueId v) {
      while (parent[v] != v) {
        v = parent[v] = parent[parent[v]];
      }
      return v;
    };
    opaque_.resize(views_.size());
    flexible_.resize(views_.size());
    in_order_.resize(views_.size());
    for (NodeId id : graph_.order()) {
      if (transposes_.count(id) != 0) continue;
      const Node& node = graph_.node(id);
      for (ValueId v : captured_values(graph_, node)) pinned_.insert(v);
      Transparent t;
      if (describe(id, &t)) {
        transparent_[id] = t;
        PermuteContext trial;
        if (!rewritten(id, {}, &trial)) transparent_.erase(id);
      }
      const auto found = transparent_.find(id);
      const bool reshape = node.op == "Reshape" && node.domain.empty() && plain_reshape(node);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId v = node.inputs[i];
        if (v == kNoValue) continue;
        const bool tied =
            found != transparent_.end() && std::find(t.inputs.begin(), t.inputs.end(), i) != t.inputs.end();
        if (found != transparent_.end() && t.blocks && i == 0) {
          reshaped_[v].push_back(id);
          continue;
        }
        (tied ? in_order_ : reshape && i == 0 ? flexible_ : opaque_)[v] = true;
      }
      if (found == transparent_.end()) continue;
      for (size_t i : t.inputs) parent[find(node.inputs[i])] = find(t.any);
      for (size_t i : t.outputs) {
        parent[find(node.outputs[i])] = find(t.any);
        made_in_order_.insert(node.outputs[i]);
      }
    }
    for (ValueId v : graph_.outputs) pinned_.insert(v);
    group_.assign(views_.size(), -1);
    std::map<ValueId, int> index;
    for (const auto& [id, t] : transparent_) {
      const Node& node = graph_.node(id);
      const ValueId top = find(t.any);
      const int n = index.try_emplace(top, static_cast<int>(groups_.size())).first->second;
      if (n == static_cast<int>(groups_.size())) groups_.emplace_back();
      groups_[n].nodes.push_back(id);
      const auto enter = [&](ValueId v) {
        int& g = group_[v];
        if (g < 0) groups_[n].values.push_back(v);
        g = n;
      };
      for (size_t i : t.inputs) enter(node.inputs[i]);
      for (size_t i : t.outputs) enter(node.outputs[i]);
    }
  }

  // A Reshape whose result depends on its input's elements alone, not on its extents: no extent is copied.
  bool plain_reshape(const Node& node) const {
    const Tensor* shape = graph_.constant(node.input(1));
    if (shape == nullptr) return false;
    const std::vector<int64_t> extents = to_int64s(*shape);
    return std::find(extents.begin(), extents.end(), 0) == extents.end();
  }

  // --- the search ---

  const Permutation& order_of(ValueId v) const { return groups_[group_[v]].perm; }

  // The order of axes in which a root comes into being.
  Permutation made(ValueId root) const { return made_in_order_.count(root) != 0 ? order_of(root) : Permutation(); }

  // Whether a root's elements lie alike in memory in both orders: they differ in the place of extents of 1 only.
  bool alike(ValueId root, const Permutation& p, const Permutation& q) const {
    const Type& type = graph_.value(root).type;
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

  // The orders in which a root is read, and whether operators that could take another one read it so.
  std::map<Permutation, bool> needs(ValueId root) const {
    std::map<Permutation, bool> result;
    const Permutation home = made(root);
    for (ValueId v : aliases_[root]) {
      const size_t at = v;
      const Permutation& p = view(v).perm;
      if (opaque_[at] || pinned_.count(v) != 0 || (flexible_[at] && !alike(root, p, home)))
        result.try_emplace(p, false);
      if (in_order_[at]) result[compose(p, order_of(v))] = true;
      const auto reshapes = reshaped_.find(v);
      if (reshapes == reshaped_.end()) continue;
      for (NodeId id : reshapes->second) {
        const auto back = transparent_.at(id).blocks->backward(order_of(graph_.node(id).outputs[0]));
        if (back && !alike(root, compose(p, *back), home)) result.try_emplace(compose(p, *back), false);
      }
    }
    return result;
  }

  // Transposes first; among equals, those in front of operators that could do without count more, so that these stay
  // beside what makes their inputs, which fusion wants.
  std::pair<int, int> cost(const std::set<ValueId>& roots) const {
    std::pair<int, int> sum;
    for (ValueId root : roots) {
      if (graph_.constant(root) != nullptr) continue;
      const Permutation home = made(root);
      for (const auto& [perm, avoidable] : needs(root)) {
        if (perm == home) continue;
        ++sum.first;
        if (avoidable) ++sum.second;
      }
    }
    return sum;
  }

  std::set<Permutation> candidates(const Group& group) const {
    std::set<Permutation> result = {{}};
    for (ValueId v : group.values) {
      const View& at = view(v);
      if (graph_.constant(at.root) != nullptr) continue;
      std::map<Permutation, bool> wanted = needs(at.root);
      wanted.try_emplace(made(at.root), false);
      for (const auto& [w, avoidable] : wanted) {
        if (made_in_order_.count(v) == 0) {
          result.insert(at.perm.empty() ? w : compose(inverse(at.perm), w));
        } else {
          result.insert(w);
        }
      }
    }
    for (NodeId id : group.nodes) {  // what the input of a Reshape is in already
      const Transparent& t = transparent_.at(id);
      if (!t.blocks) continue;
      const View& x = view(graph_.node(id).inputs[0]);
      const Permutation home = made(x.root);
      const auto there = t.blocks->forward(x.perm.empty() ? home : compose(inverse(x.perm), home));
      if (there) result.insert(*there);
    }
    return result;
  }

  bool possible(const Group& group, const Permutation& perm) const {
    return std::all_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
      PermuteContext context;
      return (perm.empty() || transparent_.at(id).rank == perm.size()) && rewritten(id, perm, &context);
    });
  }

  // The roots whose readers a group's order matters to.
  void add_roots(const Group& group, std::set<ValueId>* roots) const {
    for (ValueId v : group.values) roots->insert(view(v).root);
    for (NodeId id : group.nodes) {
      if (transparent_.at(id).blocks) roots->insert(view(graph_.node(id).inputs[0]).root);
    }
  }

  // Orders for this group and those that Reshapes tie to it, as far as they lead.
  std::map<size_t, Permutation> chain(size_t first, const Permutation& candidate) {
    constexpr size_t kMaxGroups = 64;  // longer chains turn in parts
    std::map<size_t, Permutation> plan;
    std::vector<std::pair<size_t, Permutation>> todo = {{first, candidate}};
    while (!todo.empty() && plan.size() < kMaxGroups && ++chained_ < kMaxChained) {
      const auto [at, perm] = std::move(todo.back());
      todo.pop_back();
      const Group& group = groups_[at];
      if (plan.count(at) != 0 || !possible(group, perm)) continue;
      plan[at] = perm;
      for (NodeId id : group.nodes) {
        const Transparent& t = transparent_.at(id);
        if (!t.blocks) continue;
        const View& x = view(graph_.node(id).inputs[0]);
        const auto back = t.blocks->backward(perm);
        if (back && made_in_order_.count(x.root) != 0) todo.emplace_back(group_of(x.root), compose(x.perm, *back));
      }
      for (ValueId root : group.values) {
        if (made_in_order_.count(root) == 0) continue;
        for (ValueId v : aliases_[root]) {
          const auto reshapes = reshaped_.find(v);
          if (reshapes == reshaped_.end()) continue;
          const Permutation& own = view(v).perm;
          for (NodeId id : reshapes->second) {
            const auto there = transparent_.at(id).blocks->forward(own.empty() ? perm : compose(inverse(own), perm));
            if (there) todo.emplace_back(group_of(graph_.node(id).outputs[0]), *there);
          }
        }
      }
    }
    return plan;
  }

  size_t group_of(ValueId v) const { return static_cast<size_t>(group_[v]); }

  // Takes the orders of `plan` where that leaves fewer changes.
  bool gains(const std::map<size_t, Permutation>& plan) {
    std::set<ValueId> roots;
    for (const auto& [at, perm] : plan) add_roots(groups_[at], &roots);
    const std::pair<int, int> before = cost(roots);
    std::map<size_t, Permutation> old;
    const auto take = [&](const std::map<size_t, Permutation>& orders) {
      for (const auto& [at, perm] : orders) groups_[at].perm = perm;
    };
    for (const auto& [at, perm] : plan) old[at] = groups_[at].perm;
    take(plan);
    if (cost(roots) < before) return true;
    take(old);
    return false;
  }

  // Each group by itself, then each with those that hang on it by Reshapes.
  void search() {
    bool gained = true;
    for (int round = 0; gained && round < kMaxRounds; ++round) {
      gained = false;
      for (Group& group : groups_) {
        std::set<ValueId> roots;
        add_roots(group, &roots);
        Permutation best = group.perm;
        std::pair<int, int> least = cost(roots);
        for (const Permutation& candidate : candidates(group)) {
          group.perm = candidate;
          const std::pair<int, int> sum = cost(roots);
          if (sum >= least || !possible(group, candidate)) continue;
          best = candidate;
          least = sum;
          gained = true;
        }
        group.perm = best;
      }
      for (size_t at = 0; at < groups_.size(); ++at) {
        for (const Permutation& candidate : candidates(groups_[at])) {
          if (candidate == groups_[at].perm) continue;
          const std::map<size_t, Permutation> plan = chain(at, candidate);
          if (plan.size() > 1) gained = gains(plan) || gained;
        }
      }
    }
  }

  // --- the result ---

  bool named(ValueId v) const { return unnamed_.count(v) == 0; }

  // The value that holds a root as it is made: among those in that order, an output of the graph, else one whose name is
  // the model's.
  ValueId choose_home(ValueId root, const Permutation& home) {
    if (graph_.is_input(root) || graph_.constant(root) != nullptr || uses_.producer[root] < 0) return root;
    std::vector<ValueId> choice;
    if (home.empty() || pinned_.count(root) == 0) choice.push_back(root);
    for (ValueId v : aliases_[root]) {
      if (v != root && view(v).perm == home) choice.push_back(v);
    }
    const auto best = [&](const auto& wanted) {
      const auto found = std::find_if(choice.begin(), choice.end(), wanted);
      return found == choice.end() ? kNoValue : *found;
    };
    ValueId chosen = best([&](ValueId v) { return pinned_.count(v) != 0; });
    if (chosen == kNoValue) chosen = best([&](ValueId v) { return named(v); });
    if (chosen == kNoValue && !choice.empty()) chosen = choice[0];
    if (chosen == kNoValue) chosen = graph_.add_value(graph_.unused_value_name(graph_.value(root).name + ".reordered"));
    const Type type = permuted(graph_.value(root).type, home);
    graph_.value(chosen).type = type;
    for (ValueId v : choice) {
      if (v != chosen && named(v)) graph_.value(chosen).aliases.push_back(graph_.value(v).name);
    }
    taken_.insert(chosen);
    return chosen;
  }

  ValueId home(ValueId root) {
    auto [at, fresh] = homes_.try_emplace(root, kNoValue);
    if (fresh) {
      at->second = choose_home(root, made(root));
      held_[{root, made(root)}] = at->second;
    }
    return at->second;
  }

  // The value that holds the root in this order, made by a Transpose put at the end of the new order if need be.
  // `wanted`: the value that it must be; kNoValue: any.
  ValueId hold(ValueId root, const Permutation& perm, ValueId wanted = kNoValue) {
    const ValueId from = home(root);
    const auto held = held_.find({root, perm});
    if (held != held_.end() && (wanted == kNoValue || wanted == held->second)) return held->second;
    if (wanted != kNoValue && taken_.count(wanted) != 0) return wanted;
    ValueId to = wanted;
    for (ValueId v : aliases_[root]) {
      if (to == kNoValue && view(v).perm == perm && taken_.count(v) == 0) to = v;
    }
    if (to == kNoValue) to = graph_.add_value(graph_.unused_value_name(graph_.value(from).name + ".reordered"));
    const Permutation home_perm = made(root);
    const Permutation change = home_perm.empty() ? perm : compose(inverse(home_perm), perm);
    graph_.value(to).type = permuted(graph_.value(from).type, change);
    taken_.insert(to);
    held_.try_emplace({root, perm}, to);
    if (graph_.constant(root) != nullptr && pinned_.count(to) == 0) {
      graph_.value(to).constant = transposed(*graph_.constant(root), change);
      reordered_.emplace_back(root, to);
      return to;
    }
    Node node;
    node.name = graph_.value(to).name;
    node.op = change.empty() ? "Identity" : "Transpose";
    if (!change.empty()) node.attributes["perm"] = change;
    node.inputs = {from};
    node.outputs = {to};
    order_.push_back(graph_.add_node(std::move(node)));
    return to;
  }

  // A constant operand in order `perm` of tensors of this rank; fewer axes are the last ones, as in broadcasting.
  ValueId operand(ValueId v, const Permutation& perm, size_t rank) {
    const View& at = view(v);
    if (perm.empty() || graph_.constant(at.root)->size() == 1) return hold(at.root, at.perm);
    const auto key = std::make_pair(v, perm);
    const auto found = operands_.find(key);
    if (found != operands_.end()) return found->second;
    Tensor tensor = transposed(*graph_.constant(at.root), at.perm);
    Shape shape(rank - tensor.shape().size(), 1);
    shape.insert(shape.end(), tensor.shape().begin(), tensor.shape().end());
    tensor = transposed(tensor.reshaped(std::move(shape)), perm);
    const ValueId made =
        graph_.add_constant(graph_.unused_value_name(graph_.value(at.root).name + ".reordered"), std::move(tensor));
    reordered_.emplace_back(at.root, made);
    return operands_[key] = made;
  }

  // A Reshape whose output is in order `q`: it reads its input as it is made, where the elements lie as it wants them.
  void place_reshape(NodeId id, const AxisBlocks& blocks, const Permutation& q) {
    const ValueId v = graph_.node(id).inputs[0];
    const View at = view(v);
    const Permutation home_perm = made(at.root), wanted = compose(at.perm, *blocks.backward(q));
    const bool as_made = alike(at.root, wanted, home_perm);
    const ValueId x = as_made ? home(at.root) : hold(at.root, wanted);
    const Permutation perm = as_made ? home_perm : wanted;
    // the order of x, seen from the model's input
    const Permutation seen = at.perm.empty() ? perm : compose(inverse(at.perm), perm);
    Node& node = graph_.node(id);
    node.inputs[0] = x;
    if (stays(node, blocks, q, seen)) return;
    std::vector<int64_t> extents;
    for (int64_t axis : full(q, blocks.out_rank)) {
      const Dim& dim = (*graph_.value(node.outputs[0]).type.shape)[axis];
      extents.push_back(dim.fixed() ? dim.size : -1);
    }
    node.op = "Reshape";
    node.attributes.clear();
    const ValueId list = graph_.add_constant(graph_.unused_value_name(graph_.value(node.outputs[0]).name + ".extents"),
                                             Tensor::of<int64_t>({static_cast<int64_t>(extents.size())}, extents));
    graph_.node(id).inputs = {x, list};
  }

  // Whether the node as it is makes the output in order `q` of its input in order `seen`.
  bool stays(const Node& node, const AxisBlocks& blocks, const Permutation& q, const Permutation& seen) const {
    if (!q.empty()) return false;
    if (seen.empty() || (node.op == "Reshape" && plain_reshape(node))) return true;
    if (node.op != "Flatten") return false;
    auto axis = node.attribute_int("axis", 1);
    if (axis < 0) axis += static_cast<int64_t>(blocks.in_rank);
    for (int64_t i = 0; i < axis; ++i) {
      if (seen[i] >= axis) return false;
    }
    return true;
  }

  void place_transparent(NodeId id, const Transparent& t) {
    if (t.blocks) return place_reshape(id, *t.blocks, order_of(t.any));
    const Permutation perm = order_of(t.any);
    PermuteContext context;
    if (!rewritten(id, perm, &context)) fail_internal(graph_.node(id).label(), ": cannot be reordered after all");
    const Node node = graph_.node(id);  // a copy: holding a view may add nodes
    const OpDef* op = op_of(node);
    const bool all = op->permute == nullptr || op->permuted_inputs < 0;
    Node next = perm.empty() ? node : context.node;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId v = node.inputs[i];
      if (v == kNoValue) continue;
      if (std::find(t.inputs.begin(), t.inputs.end(), i) != t.inputs.end()) {
        next.inputs[i] = hold(view(v).root, compose(view(v).perm, perm));
      } else if (constant(v) && (all || i == 0)) {
        next.inputs[i] = operand(v, perm, t.rank);
      } else {
        next.inputs[i] = hold(view(v).root, view(v).perm);
      }
    }
    if (!perm.empty()) {
      for (auto& [i, tensor] : context.replaced) {
        next.inputs.resize(std::max(next.inputs.size(), i + 1), kNoValue);
        next.inputs[i] = graph_.add_constant(graph_.unused_value_name(graph_.value(next.outputs[0]).name + ".axes"),
                                             std::move(tensor));
      }
    }
    graph_.node(id) = std::move(next);
  }

  void place_opaque(NodeId id) {
    const bool reshape =
        graph_.node(id).op == "Reshape" && graph_.node(id).domain.empty() && plain_reshape(graph_.node(id));
    for (ValueId v : captured_values(graph_, graph_.node(id))) hold(view(v).root, view(v).perm, v);
    for (size_t i = 0; i < graph_.node(id).inputs.size(); ++i) {
      const ValueId v = graph_.node(id).inputs[i];
      if (v == kNoValue) continue;
      const View& at = view(v);
      const bool any = reshape && i == 0 && alike(at.root, at.perm, made(at.root));
      const ValueId held = any ? home(at.root) : hold(at.root, at.perm);
      graph_.node(id).inputs[i] = held;
    }
  }

  void rewrite() {
    const std::vector<NodeId> before = graph_.order();
    for (NodeId id : before) {
      if (transposes_.count(id) != 0) continue;
      const auto found = transparent_.find(id);
      if (found != transparent_.end()) {
        place_transparent(id, found->second);
      } else {
        place_opaque(id);
      }
      for (ValueId& v : graph_.node(id).outputs) {
        if (v != kNoValue) v = home(v);
      }
      order_.push_back(id);
    }
    for (ValueId v : graph_.outputs) hold(view(v).root, view(v).perm, v);
    for (NodeId id : transposes_) graph_.remove_node(id);
    graph_.set_order(std::move(order_));
    name();
    release();
  }

  // An invented value takes the name of a model's that is the same in an order that nothing wants.
  void name() {
    for (const auto& [root, holder] : homes_) {
      if (named(holder) || graph_.is_output(holder)) continue;
      for (ValueId v : aliases_[root]) {
        if (v == holder || !named(v) || taken_.count(v) != 0 || pinned_.count(v) != 0) continue;
        std::swap(graph_.value(v).name, graph_.value(holder).name);
        break;
      }
    }
  }

  // Constants that nothing reads any more give up their bytes, and their name to the one in another order.
  void release() {
    const Uses uses(graph_);
    std::set<ValueId> given;
    for (const auto& [from, to] : reordered_) {
      if (given.insert(from).second && uses.readers[from].empty() && !graph_.is_output(from) &&
          graph_.value(from).constant)
        std::swap(graph_.value(from).name, graph_.value(to).name);
    }
    for (ValueId v = 0; v < graph_.value_count(); ++v) {
      if (graph_.value(v).constant && uses.readers[v].empty() && !graph_.is_output(v)) graph_.value(v).constant.reset();
    }
  }

  Graph& graph_;
  const std::set<ValueId>& unnamed_;
  Uses uses_;
  std::vector<View> views_;                    // by ValueId, as of the start
  std::vector<std::vector<ValueId>> aliases_;  // by root: the values that are views of it, itself among them
  std::set<NodeId> transposes_;
  std::map<NodeId, Transparent> transparent_;
  std::map<ValueId, std::vector<NodeId>> reshaped_;  // what Reshapes of `transparent_` read, and which they are
  std::vector<bool> opaque_, flexible_, in_order_;   // by ValueId: how it is read
  std::set<ValueId> made_in_order_;                  // roots that transparent nodes make
  std::set<ValueId> pinned_;                         // must stay as they are, under their names
  std::vector<Group> groups_;
  std::vector<int> group_;  // by ValueId; -1: none
  int chained_ = 0;

  std::map<ValueId, ValueId> homes_;
  std::map<std::pair<ValueId, Permutation>, ValueId> held_, operands_;
  std::set<ValueId> taken_;
  std::vector<std::pair<ValueId, ValueId>> reordered_;  // constants: from, to
  std::vector<NodeId> order_;
};

}  // namespace

Tensor transposed(const Tensor& tensor, const Permutation& perm) {
  if (perm.empty()) return tensor;
  if (tensor.dtype() != DType::String) return tensor.transposed(perm);
  const std::vector<int64_t> stride = row_major_strides(tensor.shape());
  Shape shape;
  for (int64_t axis : perm) shape.push_back(tensor.dim(static_cast<int>(axis)));
  return pick(tensor, shape, [&](size_t axis, int64_t i) { return i * stride[perm[axis]]; });
}

void settle_transposes(Graph& graph, const std::set<ValueId>& unnamed) {
  Settler(graph, unnamed).run();
  verify(graph);
}

}  // namespace dnn
