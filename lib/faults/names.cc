// Naming layers anew; see names.h.
#include "faults/names.h"

#include <map>
#include <set>
#include <vector>

#include "base/text.h"
#include "faults/fault.h"

namespace dnn {
namespace {

std::vector<std::string> shuffled_names(std::vector<std::string> names, FaultRandom& random) {
  for (size_t i = names.size(); i > 1; --i) std::swap(names[i - 1], names[random.below(i)]);
  return names;
}

}  // namespace

std::optional<Renaming> renaming_named(const std::string& name) {
  if (name == "names-random") return Renaming::Random;
  if (name == "names-shifted") return Renaming::Shifted;
  if (name == "names-permuted") return Renaming::Permuted;
  return std::nullopt;
}

void rename_layers(Graph& graph, Renaming how, uint64_t seed) {
  FaultRandom random(seed);
  std::set<ValueId> fixed(graph.outputs.begin(), graph.outputs.end());
  for (NodeId id : graph.order()) {  // subgraphs know them by name
    for (ValueId v : captured_values(graph, graph.node(id))) fixed.insert(v);
  }
  std::vector<ValueId> values;
  std::vector<std::string> names, node_names;
  for (NodeId id : graph.order()) {
    node_names.push_back(graph.node(id).name);
    for (ValueId v : graph.node(id).outputs) {
      if (v == kNoValue || fixed.count(v) != 0) continue;
      values.push_back(v);
      names.push_back(graph.value(v).name);
    }
  }
  const auto random_name = [&](const char* what, size_t i) { return cat(what, i, "_", random.next() % 100000); };
  if (how == Renaming::Random) {
    for (size_t i = 0; i < names.size(); ++i) names[i] = random_name("v", i);
    for (size_t i = 0; i < node_names.size(); ++i) node_names[i] = random_name("n", i);
  } else if (how == Renaming::Permuted) {
    names = shuffled_names(std::move(names), random);
    node_names = shuffled_names(std::move(node_names), random);
  } else {
    // The last of each operator gets a name that there was not.
    std::map<std::string, size_t> value_behind, node_behind;
    size_t at = values.size();
    const std::vector<std::string> old_names = names, old_nodes = node_names;
    for (size_t n = graph.order().size(); n-- > 0;) {
      const Node& node = graph.node(graph.order()[n]);
      const auto next_node = node_behind.find(node.op);
      node_names[n] = next_node == node_behind.end() ? cat(old_nodes[n], "_next") : old_nodes[next_node->second];
      node_behind[node.op] = n;
      for (auto v = node.outputs.rbegin(); v != node.outputs.rend(); ++v) {
        if (*v == kNoValue || fixed.count(*v) != 0) continue;
        --at;
        const auto next = value_behind.find(node.op);
        names[at] = next == value_behind.end() ? cat(old_names[at], "_next") : old_names[next->second];
        value_behind[node.op] = at;
      }
    }
  }
  for (ValueId v : values) {
    graph.value(v).name.clear();
    graph.value(v).aliases.clear();
  }
  for (size_t i = 0; i < values.size(); ++i) graph.value(values[i]).name = graph.unused_value_name(names[i]);
  for (size_t n = 0; n < node_names.size(); ++n) graph.node(graph.order()[n]).name = node_names[n];
}

}  // namespace dnn
