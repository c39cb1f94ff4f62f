// Rewrites as the pass runner applies them; see rewrites.h.
#include "localize/rewrites.h"

#include <algorithm>
#include <memory>

#include "compile/precision.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {

std::string rewrite_key(const Graph& graph, const std::string& pass, const Patch& patch) {
  std::string key = pass + "\n" + patch.reason();
  for (NodeId id : patch.removed()) {
    if (id >= graph.node_slots()) continue;
    for (ValueId v : graph.node(id).outputs) key += "\n" + (v == kNoValue ? "" : graph.value(v).name);
  }
  return key;
}

CompileOptions leaving_out(const CompileOptions& options, const LeftOut& left_out) {
  CompileOptions result = options;
  if (left_out.empty()) return result;
  result.allow = [left_out, inner = options.allow](const Graph& graph, const std::string& pass, const Patch& patch) {
    return left_out.passes.count(pass) == 0 && left_out.rewrites.count(rewrite_key(graph, pass, patch)) == 0 &&
           (!inner || inner(graph, pass, patch));
  };
  return result;
}

Rewritten rewritten(const Graph& model, const CompileOptions& given, int64_t stop_after, const LeftOut& left_out) {
  Rewritten result;
  const CompileOptions options = leaving_out(given, left_out);
  PassOptions passes = pass_options(options);
  if (stop_after >= 0) passes.stop_after = stop_after;
  // The key as it is when the rewrite is allowed: applying it changes the graph that names what it removes.
  auto key = std::make_shared<std::string>();
  passes.allow = [key, allow = options.allow](const Graph& graph, const std::string& pass, const Patch& patch) {
    *key = rewrite_key(graph, pass, patch);
    return !allow || allow(graph, pass, patch);
  };
  passes.on_patch = [&](int64_t, const std::string& pass, const Patch& patch) {
    result.applied.push_back({pass, *key, patch.reason(), result.graph.node_slots()});
  };
  passes.after_pass = [&](const std::string& pass, const Graph&) {
    result.ends.emplace_back(pass, static_cast<int64_t>(result.applied.size()));
  };
  try {
    result.graph = at_element(model, options.element);
    infer_types(result.graph);
    verify(result.graph);
    run_passes(result.graph, passes);
  } catch (const Error& e) {
    result.error = e.what();
  }
  return result;
}

NodeText node_text(const Graph& graph, const Node& node) {
  NodeText text;
  text.name = node.name;
  text.op = node.domain.empty() ? node.op : node.domain + "." + node.op;
  text.sources = node.sources;
  if (text.sources.empty() && !node.name.empty()) text.sources = {node.name};
  for (ValueId v : node.outputs) {
    if (v != kNoValue) text.values.push_back(graph.value(v).name);
  }
  return text;
}

void describe_change(const Graph& before, const Graph& after, RewriteFinding* finding) {
  constexpr size_t kMost = 64;  // of each list
  const auto alive = [](const Graph& graph, NodeId id) { return id < graph.node_slots() && graph.alive(id); };
  for (NodeId id = 0; id < before.node_slots(); ++id) {
    if (alive(before, id) && !alive(after, id) && finding->before.size() < kMost)
      finding->before.push_back(node_text(before, before.node(id)));
  }
  for (NodeId id = 0; id < after.node_slots(); ++id) {
    if (alive(after, id) && !alive(before, id) && finding->after.size() < kMost)
      finding->after.push_back(node_text(after, after.node(id)));
  }
  for (ValueId id = 0; id < after.value_count(); ++id) {
    const std::string was = id < before.value_count() ? before.value(id).layout : "";
    if (was != after.value(id).layout && finding->layouts.size() < kMost)
      finding->layouts.emplace_back(after.value(id).name, after.value(id).layout);
  }
}

}  // namespace dnn
