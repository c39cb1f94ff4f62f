// Runs and blocks of a graph; see blocks.h.
#include "place/blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace dnn::place {
namespace {

std::vector<ValueId> read_by(const Graph& graph, NodeId id) {
  std::vector<ValueId> values = captured_values(graph, graph.node(id));
  values.insert(values.end(), graph.node(id).inputs.begin(), graph.node(id).inputs.end());
  std::erase(values, kNoValue);
  return values;
}

// By node: whether it reads constants alone, and what such nodes make.
std::vector<bool> of_constants(const Graph& graph, const Uses& uses) {
  std::vector<bool> result(static_cast<size_t>(graph.node_slots()), false);
  for (NodeId id : graph.order()) {
    const std::vector<ValueId> read = read_by(graph, id);
    const bool constant = std::all_of(read.begin(), read.end(), [&](ValueId v) {
      const NodeId maker = uses.producer[static_cast<size_t>(v)];
      return (maker >= 0 && result[static_cast<size_t>(maker)]) ||
             (maker < 0 && graph.constant(v) != nullptr && !graph.is_input(v));
    });
    const auto& outputs = graph.node(id).outputs;
    const bool leaves = std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return graph.is_output(v); });
    result[static_cast<size_t>(id)] = constant && !leaves;
  }
  return result;
}

int64_t bytes_of(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  return type.fixed() ? element_count(type.fixed_shape()) * static_cast<int64_t>(dtype_size(type.dtype)) : 0;
}

// Groups of nodes that are connected by other values than `without`.
std::vector<std::vector<NodeId>> connected(const Graph& graph, const Uses& uses, const std::vector<NodeId>& nodes,
                                           ValueId without) {
  std::map<NodeId, size_t> at;
  for (size_t i = 0; i < nodes.size(); ++i) at[nodes[i]] = i;
  std::vector<size_t> group(nodes.size());
  std::iota(group.begin(), group.end(), size_t{0});
  const auto root = [&](size_t i) {
    while (group[i] != i) i = group[i];
    return i;
  };
  std::map<ValueId, size_t> from_outside;  // values that are made before the run, by their first reader
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (ValueId v : read_by(graph, nodes[i])) {
      const NodeId maker = uses.producer[static_cast<size_t>(v)];
      if (v == without || (maker < 0 && !graph.is_input(v))) continue;
      const auto inside = at.find(maker);
      const size_t other = inside != at.end() ? inside->second : from_outside.emplace(v, i).first->second;
      group[root(std::max(root(i), root(other)))] = root(std::min(root(i), root(other)));
    }
  }
  std::map<size_t, std::vector<NodeId>> groups;
  for (size_t i = 0; i < nodes.size(); ++i) groups[root(i)].push_back(nodes[i]);
  std::vector<std::vector<NodeId>> result;
  for (auto& [first, members] : groups) result.push_back(std::move(members));
  return result;
}

}  // namespace

std::vector<Run> find_runs(const Graph& graph, const std::function<bool(ValueId)>& may_cut) {
  const Uses uses(graph);
  const std::vector<bool> constant = of_constants(graph, uses);
  std::map<NodeId, std::vector<NodeId>> waiting;  // nodes of constants, by their first reader
  std::set<ValueId> live(graph.inputs.begin(), graph.inputs.end());
  std::vector<Run> runs(1);
  runs.back().in = graph.inputs.empty() ? kNoValue : graph.inputs[0];
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (constant[static_cast<size_t>(id)]) {
      NodeId reader = -1;
      for (ValueId v : node.outputs) {
        if (v == kNoValue || uses.readers[static_cast<size_t>(v)].empty()) continue;
        reader = uses.readers[static_cast<size_t>(v)].front();
      }
      if (reader < 0) continue;
      std::vector<NodeId>& list = waiting[reader];
      list.insert(list.end(), waiting[id].begin(), waiting[id].end());
      list.push_back(id);
      continue;
    }
    const std::vector<NodeId>& with_it = waiting[id];
    runs.back().nodes.insert(runs.back().nodes.end(), with_it.begin(), with_it.end());
    runs.back().nodes.push_back(id);
    for (ValueId v : read_by(graph, id)) {
      if (uses.readers[static_cast<size_t>(v)].back() == id && !graph.is_output(v)) live.erase(v);
    }
    for (ValueId v : node.outputs) {
      if (v != kNoValue && (!uses.readers[static_cast<size_t>(v)].empty() || graph.is_output(v))) live.insert(v);
    }
    if (live.size() != 1 || !may_cut(*live.begin())) continue;
    runs.back().out = *live.begin();
    runs.emplace_back();
    runs.back().in = *live.begin();
  }
  return runs;
}

std::vector<Block> find_blocks(const Graph& graph) {
  const Uses uses(graph);
  std::vector<Block> blocks;
  for (Run& run : find_runs(graph, [&](ValueId v) { return graph.value(v).type.fixed(); })) {
    if (run.nodes.empty()) continue;
    Block block;
    if (run.in != kNoValue) block.bytes_in = bytes_of(graph, run.in);
    const NodeId last = run.nodes.back();
    const std::vector<NodeId> before(run.nodes.begin(), run.nodes.end() - 1);
    // Constants that the join reads are no branches.
    const std::vector<bool> constant = of_constants(graph, uses);
    std::vector<std::vector<NodeId>> groups = connected(graph, uses, before, run.in);
    block.join = {};
    for (std::vector<NodeId>& group : groups) {
      const bool is_constant =
          std::all_of(group.begin(), group.end(), [&](NodeId id) { return constant[static_cast<size_t>(id)]; });
      if (is_constant) {
        block.join.insert(block.join.end(), group.begin(), group.end());
        continue;
      }
      Branch branch{std::move(group), 0};
      for (NodeId id : branch.nodes) {
        for (ValueId v : graph.node(id).outputs) {
          if (v == kNoValue) continue;
          const std::vector<NodeId>& readers = uses.readers[static_cast<size_t>(v)];
          if (std::find(readers.begin(), readers.end(), last) != readers.end()) branch.bytes += bytes_of(graph, v);
        }
      }
      block.branches.push_back(std::move(branch));
    }
    block.join.push_back(last);
    if (block.branches.size() < 2) {
      block.branches.clear();
      block.join = run.nodes;
    }
    const std::vector<ValueId> read = read_by(graph, last);
    block.join_reads_input = std::find(read.begin(), read.end(), run.in) != read.end();
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace dnn::place
