// Runs and blocks of a graph; see blocks.h.
#include "place/blocks.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "place/plan.h"

namespace dnn::place {
namespace {

// By node: whether it reads constants alone, and what such nodes make.
std::vector<bool> of_constants(const Graph& graph, const Uses& uses) {
  std::vector<bool> result(graph.node_slots(), false);
  for (NodeId id : graph.order()) {
    const std::vector<ValueId> read = read_by(graph, graph.node(id));
    const bool constant = std::all_of(read.begin(), read.end(), [&](ValueId v) {
      const NodeId maker = uses.producer[v];
      return (maker >= 0 && result[maker]) || (maker < 0 && graph.constant(v) != nullptr && !graph.is_input(v));
    });
    const auto& outputs = graph.node(id).outputs;
    const bool leaves = std::any_of(outputs.begin(), outputs.end(), [&](ValueId v) { return graph.is_output(v); });
    result[id] = constant && !leaves;
  }
  return result;
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
    for (ValueId v : read_by(graph, graph.node(nodes[i]))) {
      const NodeId maker = uses.producer[v];
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

int64_t bytes_of(const Graph& graph, ValueId v) {
  const Type& type = graph.value(v).type;
  return type.fixed() ? element_count(type.fixed_shape()) * static_cast<int64_t>(dtype_size(type.dtype)) : 0;
}

std::vector<Run> find_runs(const Graph& graph, const std::function<bool(ValueId)>& may_cut) {
  const Uses uses(graph);
  const std::vector<bool> constant = of_constants(graph, uses);
  std::map<NodeId, std::vector<NodeId>> waiting;  // nodes of constants, by their first reader
  std::set<ValueId> live(graph.inputs.begin(), graph.inputs.end());
  std::vector<Run> runs(1);
  runs.back().in = graph.inputs.empty() ? kNoValue : graph.inputs[0];
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (constant[id]) {
      NodeId reader = -1;
      for (ValueId v : node.outputs) {
        if (v == kNoValue || uses.readers[v].empty()) continue;
        reader = uses.readers[v].front();
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
    for (ValueId v : read_by(graph, graph.node(id))) {
      if (uses.readers[v].back() == id && !graph.is_output(v)) live.erase(v);
    }
    for (ValueId v : node.outputs) {
      if (v != kNoValue && (!uses.readers[v].empty() || graph.is_output(v))) live.insert(v);
    }
    if (live.size() != 1 || !may_cut(*live.begin())) continue;
    runs.back().out = *live.begin();
    runs.emplace_back();
    runs.back().in = *live.begin();
  }
  return runs;
}

namespace {

class BlockFinder {
 public:
  explicit BlockFinder(const Graph& graph) : graph_(graph), uses_(graph), constant_(of_constants(graph, uses_)) {}

  std::vector<Block> find() const {
    std::vector<Block> blocks;
    for (const Run& run : find_runs(graph_, [&](ValueId v) { return graph_.value(v).type.fixed(); })) {
      if (run.nodes.empty()) continue;
      Block whole = block_of(run);
      std::vector<Block> inner;
      if (whole.branches.empty()) {
        for (const Run& part : inside(run)) inner.push_back(block_of(part));
      }
      if (std::any_of(inner.begin(), inner.end(), [](const Block& block) { return !block.branches.empty(); })) {
        blocks.insert(blocks.end(), inner.begin(), inner.end());
      } else {
        blocks.push_back(std::move(whole));
      }
    }
    return blocks;
  }

 private:
  Block block_of(const Run& run) const {
    Block block;
    if (run.in != kNoValue) block.bytes_in = bytes_of(graph_, run.in);
    const NodeId last = run.nodes.back();
    const std::vector<NodeId> before(run.nodes.begin(), run.nodes.end() - 1);
    for (std::vector<NodeId>& group : connected(graph_, uses_, before, run.in)) {
      // Constants that the join reads are no branches.
      if (std::all_of(group.begin(), group.end(), [&](NodeId id) { return constant_[id]; })) {
        block.join.insert(block.join.end(), group.begin(), group.end());
        continue;
      }
      Branch branch{std::move(group), 0};
      for (NodeId id : branch.nodes) {
        for (ValueId v : graph_.node(id).outputs) {
          if (v == kNoValue) continue;
          const std::vector<NodeId>& readers = uses_.readers[v];
          if (std::find(readers.begin(), readers.end(), last) != readers.end()) branch.bytes += bytes_of(graph_, v);
        }
      }
      block.branches.push_back(std::move(branch));
    }
    block.join.push_back(last);
    if (block.branches.size() < 2) {
      block.branches.clear();
      block.join = run.nodes;
    }
    const std::vector<ValueId> read = read_by(graph_, graph_.node(last));
    block.join_reads_input = std::find(read.begin(), read.end(), run.in) != read.end();
    return block;
  }

  // The runs within a run, of whose input the last node's own use does not count: branches that a sum goes past.
  std::vector<Run> inside(const Run& run) const {
    const std::set<NodeId> here(run.nodes.begin(), run.nodes.end() - 1);
    std::set<ValueId> live;
    if (run.in != kNoValue && last_of(uses_.readers[run.in], here) >= 0) live.insert(run.in);
    std::vector<Run> runs(1);
    runs.back().in = run.in;
    for (NodeId id : run.nodes) {
      runs.back().nodes.push_back(id);
      if (id == run.nodes.back()) break;
      for (ValueId v : read_by(graph_, graph_.node(id))) {
        const std::vector<NodeId>& readers = uses_.readers[v];
        const bool join_reads = v != run.in && readers.back() == run.nodes.back();
        if (last_of(readers, here) == id && !join_reads) live.erase(v);
      }
      for (ValueId v : graph_.node(id).outputs) {
        if (v != kNoValue && !constant_[id]) live.insert(v);
      }
      if (live.size() != 1 || *live.begin() == run.in || !graph_.value(*live.begin()).type.fixed()) continue;
      runs.back().out = *live.begin();
      runs.emplace_back();
      runs.back().in = *live.begin();
    }
    runs.back().out = run.out;
    return runs;
  }

  // The last of the readers that are nodes of `here`; -1: none is.
  static NodeId last_of(const std::vector<NodeId>& readers, const std::set<NodeId>& here) {
    const auto last = std::find_if(readers.rbegin(), readers.rend(), [&](NodeId id) { return here.count(id) != 0; });
    return last == readers.rend() ? -1 : *last;
  }

  const Graph& graph_;
  const Uses uses_;
  const std::vector<bool> constant_;
};

}  // namespace

std::vector<Block> find_blocks(const Graph& graph) { return BlockFinder(graph).find(); }

}  // namespace dnn::place
