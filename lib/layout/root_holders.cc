// Holders of roots; see root_holders.h.
#include "layout/root_holders.h"

#include <algorithm>

#include "layout/permutation.h"

namespace dnn {

// Among the values in that order, an output of the graph, else one whose name is the model's.
ValueId RootHolders::choose_home(ValueId root, const Permutation& home) {
  if (graph_.is_input(root) || graph_.constant(root) != nullptr || uses_.producer[root] < 0) return root;
  std::vector<ValueId> choice;
  if (home.empty() || ties_.pinned.count(root) == 0) choice.push_back(root);
  for (ValueId v : ties_.aliases[root]) {
    if (v != root && ties_.view(v).perm == home) choice.push_back(v);
  }
  const auto best = [&](const auto& wanted) {
    const auto found = std::find_if(choice.begin(), choice.end(), wanted);
    return found == choice.end() ? kNoValue : *found;
  };
  ValueId chosen = best([&](ValueId v) { return ties_.pinned.count(v) != 0; });
  if (chosen == kNoValue) chosen = best([&](ValueId v) { return named(v); });
  if (chosen == kNoValue && !choice.empty()) chosen = choice[0];
  if (chosen == kNoValue) chosen = graph_.add_value(reordered_name(root));
  const Type type = permuted(graph_.value(root).type, home);
  graph_.value(chosen).type = type;
  for (ValueId v : choice) {
    if (v != chosen && named(v)) graph_.value(chosen).aliases.push_back(graph_.value(v).name);
  }
  taken_.insert(chosen);
  return chosen;
}

ValueId RootHolders::home(ValueId root) {
  auto [at, fresh] = homes_.try_emplace(root, kNoValue);
  if (fresh) {
    at->second = choose_home(root, orders_.made(root));
    held_[{root, orders_.made(root)}] = at->second;
  }
  return at->second;
}

ValueId RootHolders::hold(ValueId root, const Permutation& perm, ValueId wanted) {
  const ValueId from = home(root);
  const auto held = held_.find({root, perm});
  if (held != held_.end() && (wanted == kNoValue || wanted == held->second)) return held->second;
  if (wanted != kNoValue && taken_.count(wanted) != 0) return wanted;
  ValueId to = wanted;
  for (ValueId v : ties_.aliases[root]) {
    if (to == kNoValue && ties_.view(v).perm == perm && taken_.count(v) == 0) to = v;
  }
  if (to == kNoValue) to = graph_.add_value(reordered_name(from));
  const Permutation change = change_of_order(orders_.made(root), perm);
  graph_.value(to).type = permuted(graph_.value(from).type, change);
  taken_.insert(to);
  held_.try_emplace({root, perm}, to);
  if (graph_.constant(root) != nullptr && ties_.pinned.count(to) == 0) {
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
  append(graph_.add_node(std::move(node)));
  return to;
}

ValueId RootHolders::operand(ValueId v, const Permutation& perm, size_t rank) {
  const RootView& at = ties_.view(v);
  if (perm.empty() || graph_.constant(at.root)->size() == 1) return hold(at.root, at.perm);
  const auto key = std::make_pair(v, perm);
  const auto found = operands_.find(key);
  if (found != operands_.end()) return found->second;
  Tensor tensor = transposed(*graph_.constant(at.root), at.perm);
  Shape shape(rank - tensor.shape().size(), 1);
  shape.insert(shape.end(), tensor.shape().begin(), tensor.shape().end());
  tensor = transposed(tensor.reshaped(std::move(shape)), perm);
  const ValueId made = graph_.add_constant(reordered_name(at.root), std::move(tensor));
  reordered_.emplace_back(at.root, made);
  return operands_[key] = made;
}

void RootHolders::finish() {
  for (NodeId id : ties_.transposes) graph_.remove_node(id);
  graph_.set_order(std::move(nodes_));
  name_holders();
  release_constants();
}

// An invented value takes the name of a model's that is the same in an order that nothing wants.
void RootHolders::name_holders() {
  for (const auto& [root, holder] : homes_) {
    if (named(holder) || graph_.is_output(holder)) continue;
    for (ValueId v : ties_.aliases[root]) {
      if (v == holder || !named(v) || taken_.count(v) != 0 || ties_.pinned.count(v) != 0) continue;
      std::swap(graph_.value(v).name, graph_.value(holder).name);
      break;
    }
  }
}

// Constants that nothing reads any more give up their bytes, and their name to the one in another order.
void RootHolders::release_constants() {
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

}  // namespace dnn
