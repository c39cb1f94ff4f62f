// Blocks: a graph between the values that everything passes through, each as branches that may run at once and what joins them.
#pragma once
#include <functional>
#include <vector>

#include "graph/graph.h"

namespace dnn::place {

// Nodes between two such values. `out`: kNoValue behind the last one.
struct Run {
  std::vector<NodeId> nodes;
  ValueId in = kNoValue, out = kNoValue;
};

// The runs of a graph, in order. What depends on constants alone belongs to its first reader. `may_cut`: values that may end a run.
std::vector<Run> find_runs(const Graph& graph, const std::function<bool(ValueId)>& may_cut);

struct Branch {
  std::vector<NodeId> nodes;
  int64_t bytes = 0;  // that the join reads of it
};

// A run as branches that share its input alone, and the nodes behind them. A run without branches is all `join`.
struct Block {
  std::vector<Branch> branches;  // none, or two and more
  std::vector<NodeId> join;
  int64_t bytes_in = 0;
  bool join_reads_input = false;
};

// The bytes of a value of fixed shape; 0 of others.
int64_t bytes_of(const Graph& graph, ValueId v);

// `graph`: its types inferred and fixed.
std::vector<Block> find_blocks(const Graph& graph);

}  // namespace dnn::place
