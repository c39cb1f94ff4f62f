// Orders of axes by local search; see order_search.h.
#include "layout/order_search.h"

#include <algorithm>

#include "layout/permutation.h"

namespace dnn {
namespace {

constexpr int kMaxRounds = 16;
constexpr int kMaxChained = 1 << 17;  // steps along Reshapes in all, so that a hostile graph ends, too

class OrderSearch {
 public:
  OrderSearch(const Graph& graph, const OrderTies& ties) : graph_(graph), ties_(ties), orders_(ties) {}

  // Each group in isolation, then each with those that hang on it by Reshapes.
  AxisOrders run() {
    bool gained = true;
    for (int round = 0; gained && round < kMaxRounds; ++round) {
      gained = false;
      for (size_t at = 0; at < ties_.groups.size(); ++at) gained = improve(at) || gained;
      for (size_t at = 0; at < ties_.groups.size(); ++at) {
        for (const Permutation& candidate : candidates(at)) {
          if (candidate == orders_.perms[at]) continue;
          const std::map<size_t, Permutation> plan = chain(at, candidate);
          if (plan.size() > 1) gained = gains(plan) || gained;
        }
      }
    }
    return std::move(orders_);
  }

 private:
  // The best order of one group while the others keep theirs.
  bool improve(size_t at) {
    bool gained = false;
    std::set<ValueId> roots;
    add_roots(ties_.groups[at], &roots);
    Permutation best = orders_.perms[at];
    std::pair<int, int> least = cost(roots);
    for (const Permutation& candidate : candidates(at)) {
      orders_.perms[at] = candidate;
      const std::pair<int, int> sum = cost(roots);
      if (sum >= least || !possible(ties_.groups[at], candidate)) continue;
      best = candidate;
      least = sum;
      gained = true;
    }
    orders_.perms[at] = best;
    return gained;
  }

  // The orders in which a root is read, and whether operators that could take another one read it so.
  std::map<Permutation, bool> needs(ValueId root) const {
    std::map<Permutation, bool> result;
    const Permutation home = orders_.made(root);
    for (ValueId v : ties_.aliases[root]) {
      const Permutation& p = ties_.view(v).perm;
      const bool as_it_is = ties_.opaque[v] || ties_.pinned.count(v) != 0;
      if (as_it_is || (ties_.flexible[v] && !same_in_memory(graph_, root, p, home))) result.try_emplace(p, false);
      if (ties_.in_order[v]) result[compose(p, orders_.of(v))] = true;
      const auto reshapes = ties_.reshaped.find(v);
      if (reshapes == ties_.reshaped.end()) continue;
      for (NodeId id : reshapes->second) {
        const auto back = ties_.transparent.at(id).blocks->backward(orders_.of(graph_.node(id).outputs[0]));
        if (back && !same_in_memory(graph_, root, compose(p, *back), home))
          result.try_emplace(compose(p, *back), false);
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
      const Permutation home = orders_.made(root);
      for (const auto& [perm, avoidable] : needs(root)) {
        if (perm == home) continue;
        ++sum.first;
        if (avoidable) ++sum.second;
      }
    }
    return sum;
  }

  std::set<Permutation> candidates(size_t at) const {
    const OrderGroup& group = ties_.groups[at];
    std::set<Permutation> result = {{}};
    for (ValueId v : group.values) {
      const RootView& x = ties_.view(v);
      if (graph_.constant(x.root) != nullptr) continue;
      std::map<Permutation, bool> wanted = needs(x.root);
      wanted.try_emplace(orders_.made(x.root), false);
      for (const auto& [w, avoidable] : wanted)
        result.insert(ties_.made_in_order.count(v) == 0 ? change_of_order(x.perm, w) : w);
    }
    for (NodeId id : group.nodes) {  // what the input of a Reshape is in already
      const Transparent& t = ties_.transparent.at(id);
      if (!t.blocks) continue;
      const RootView& x = ties_.view(graph_.node(id).inputs[0]);
      const auto there = t.blocks->forward(change_of_order(x.perm, orders_.made(x.root)));
      if (there) result.insert(*there);
    }
    return result;
  }

  bool possible(const OrderGroup& group, const Permutation& perm) const {
    return std::all_of(group.nodes.begin(), group.nodes.end(), [&](NodeId id) {
      const Transparent& t = ties_.transparent.at(id);
      PermuteContext context;
      return (perm.empty() || t.rank == perm.size()) && permuted_node(graph_, id, t, perm, &context);
    });
  }

  // The roots whose readers a group's order matters to.
  void add_roots(const OrderGroup& group, std::set<ValueId>* roots) const {
    for (ValueId v : group.values) roots->insert(ties_.view(v).root);
    for (NodeId id : group.nodes) {
      if (ties_.transparent.at(id).blocks) roots->insert(ties_.view(graph_.node(id).inputs[0]).root);
    }
  }

  using Step = std::pair<size_t, Permutation>;  // a group and an order for it

  // Orders for this group and those that Reshapes tie to it, as far as they lead.
  std::map<size_t, Permutation> chain(size_t first, const Permutation& candidate) {
    constexpr size_t kMaxGroups = 64;  // longer chains turn in parts
    std::map<size_t, Permutation> plan;
    std::vector<Step> todo = {{first, candidate}};
    while (!todo.empty() && plan.size() < kMaxGroups && ++chained_ < kMaxChained) {
      const auto [at, perm] = std::move(todo.back());
      todo.pop_back();
      const OrderGroup& group = ties_.groups[at];
      if (plan.count(at) != 0 || !possible(group, perm)) continue;
      plan[at] = perm;
      follow_back(group, perm, &todo);
      follow_forward(group, perm, &todo);
    }
    return plan;
  }

  // The groups that the group's Reshapes read.
  void follow_back(const OrderGroup& group, const Permutation& perm, std::vector<Step>* todo) const {
    for (NodeId id : group.nodes) {
      const Transparent& t = ties_.transparent.at(id);
      if (!t.blocks) continue;
      const RootView& x = ties_.view(graph_.node(id).inputs[0]);
      const auto back = t.blocks->backward(perm);
      if (back && ties_.made_in_order.count(x.root) != 0)
        todo->emplace_back(ties_.group_of(x.root), compose(x.perm, *back));
    }
  }

  // Those of the Reshapes that read the group.
  void follow_forward(const OrderGroup& group, const Permutation& perm, std::vector<Step>* todo) const {
    for (ValueId root : group.values) {
      if (ties_.made_in_order.count(root) == 0) continue;
      for (ValueId v : ties_.aliases[root]) {
        const auto reshapes = ties_.reshaped.find(v);
        if (reshapes == ties_.reshaped.end()) continue;
        const Permutation order = change_of_order(ties_.view(v).perm, perm);
        for (NodeId id : reshapes->second) {
          const auto there = ties_.transparent.at(id).blocks->forward(order);
          if (there) todo->emplace_back(ties_.group_of(graph_.node(id).outputs[0]), *there);
        }
      }
    }
  }

  // Takes the orders of `plan` where that leaves fewer changes.
  bool gains(const std::map<size_t, Permutation>& plan) {
    std::set<ValueId> roots;
    for (const auto& [at, perm] : plan) add_roots(ties_.groups[at], &roots);
    const std::pair<int, int> before = cost(roots);
    std::map<size_t, Permutation> old;
    const auto take = [&](const std::map<size_t, Permutation>& orders) {
      for (const auto& [at, perm] : orders) orders_.perms[at] = perm;
    };
    for (const auto& [at, perm] : plan) old[at] = orders_.perms[at];
    take(plan);
    if (cost(roots) < before) return true;
    take(old);
    return false;
  }

  const Graph& graph_;
  const OrderTies& ties_;
  AxisOrders orders_;
  int chained_ = 0;
};

}  // namespace

AxisOrders search_orders(const Graph& graph, const OrderTies& ties) { return OrderSearch(graph, ties).run(); }

}  // namespace dnn
