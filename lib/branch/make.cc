// make_branched(): model in, branched graph out.
#include "branch/make.h"

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "branch/evaluate.h"
#include "formats/format.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn::branch {
namespace {

double flops_of(const Graph& graph) {
  double sum = 0;
  for (NodeId id : graph.order()) sum += node_flops(graph, graph.node(id));
  return sum;
}

bool is_branched(const StretchPlan& plan) {
  for (const auto& stage : plan.stages) {
    if (stage.size() > 1) return true;
  }
  return false;
}

// Measures all ways to run the network, and says the ratio.
void say_ratio(const MakeRequest& request, const Graph& branched, const Graph& source) {
  EvaluateRequest evaluate;
  evaluate.parts = request.parts;
  evaluate.compile = request.search.compile;
  evaluate.warn = request.warn;
  request.say(result_line(evaluate_graph("branched", branched, source, evaluate)));
}

}  // namespace

Graph make_branched(const MakeRequest& request) {
  Graph source = with_one_sample(read_model(request.model));
  // Nodes that compute shapes and pads are no layers.
  PassOptions passes;
  passes.changes = "only:fold-constant";
  run_passes(source, passes);
  infer_types(source);
  const SourceStages stages = find_stages(source);
  StretchPlan plan;
  if (!request.plan.empty()) {
    plan = read_plan(request.plan);
  } else {
    plan = search_branches(source, stages, request.parts, request.search).plan;
  }
  Graph graph = stretch(source, stages, plan);
  if (!request.plan_out.empty())
    write_file(request.plan_out,
               cat("# ", std::filesystem::path(request.model).filename().string(), "\n", plan_text(plan, stages)));
  graph.metadata.emplace_back(kBranchedKey, std::filesystem::path(request.model).filename().string());
  infer_types(graph);
  if (!is_branched(plan)) {
    request.say("no stage is worth branching on these devices; the network is written as it is");
    return graph;
  }
  request.say(cat(std::lround(100 * flops_of(graph) / flops_of(source)),
                  " % of the source's arithmetic; train it: the connections between branches are gone"));
  if (request.parts.size() > 1) say_ratio(request, graph, source);
  return graph;
}

}  // namespace dnn::branch
