// Rewrites of a model as the pass runner applies them: the first so many, without some, and what one of them changed.
#pragma once
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compile/compile.h"
#include "localize/bisect_findings.h"

namespace dnn {

// What is left out: rewrites by key, and whole passes.
struct LeftOut {
  std::set<std::string> rewrites, passes;
  bool empty() const { return rewrites.empty() && passes.empty(); }
};

// Says which rewrite it is, whatever was applied before it: pass, reason and the values that the removed nodes make.
std::string rewrite_key(const Graph& graph, const std::string& pass, const Patch& patch);

// `options` with this left out.
CompileOptions leaving_out(const CompileOptions& options, const LeftOut& left_out);

struct Rewritten {
  struct Applied {
    std::string pass, key, reason;
    int node_slots = 0;  // of the graph behind it: nodes above the last one's are its own
  };
  Graph graph;
  std::vector<Applied> applied;
  std::vector<std::pair<std::string, int64_t>> ends;  // passes in order, with the rewrites applied by then
  std::string error;                                  // why there is no graph
};

// `model` under the passes of `options`, after `stop_after` rewrites (-1: all). Errors of the passes are caught.
Rewritten rewritten(const Graph& model, const CompileOptions& options, int64_t stop_after, const LeftOut& left_out);

NodeText node_text(const Graph& graph, const Node& node);
// What became of nodes and layouts from `before` to `after`, which is `before` with one more rewrite.
void describe_change(const Graph& before, const Graph& after, RewriteFinding* finding);

}  // namespace dnn
