// make_branched(): model in, branched graph out.
#include "branch/make.h"

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "branch/evaluate.h"
#include "branch/order.h"
#include "convert/surgery.h"
#include "formats/format.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn::branch {
namespace {

bool is_branched(const StretchPlan& plan) {
  for (const auto& stage : plan.stages) {
    if (stage.size() > 1) return true;
  }
  return false;
}

void set_metadata(Graph& graph, const std::string& key, const std::string& text) {
  std::erase_if(graph.metadata, [&](const auto& entry) { return entry.first == key; });
  graph.metadata.emplace_back(key, text);
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

Graph prepare_source(Graph model) {
  Graph source = place::with_one_sample(std::move(model));
  PassOptions passes;
  passes.changes = "only:fold-constant";
  run_passes(source, passes);
  infer_types(source);
  return source;
}

Graph make_branched(const MakeRequest& request) {
  Graph source = read_model(request.model);
  const std::string batch = open_batch(source), file = std::filesystem::path(request.model).filename().string();
  source = prepare_source(std::move(source));
  const SourceStages stages = find_stages(source);
  StretchPlan plan;
  if (!request.plan.empty()) {
    plan = read_plan(request.plan);
  } else {
    plan = search_branches(source, stages, request.parts, request.search).plan;
  }
  Graph graph = stretch(source, stages, plan, order_channels(source, stages, plan));
  if (!request.plan_out.empty()) write_file(request.plan_out, cat("# ", file, "\n", plan_text(plan, stages)));
  set_metadata(graph, kBranchedKey, file);
  infer_types(graph);
  if (!is_branched(plan)) {
    request.say("no stage is worth branching on these devices; the network is written unbranched");
  } else {
    request.say(cat(std::lround(100 * graph_flops(graph) / graph_flops(source)),
                    " % of the source's arithmetic; train it: the connections between branches are gone"));
    if (request.parts.size() > 1) say_ratio(request, graph, source);
  }
  if (!batch.empty()) set_batch(graph, batch);
  return graph;
}

}  // namespace dnn::branch
