// Exclusions in the words of other tools; see exclusions.h.
#include "quant/exclusions.h"

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "passes/match.h"

namespace dnn::quant {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> node_names(const std::vector<Excluded>& excluded) {
  std::vector<std::string> names;
  for (const Excluded& one : excluded) {
    for (const std::string& name : one.nodes) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

std::string json_of(const char* key, const std::vector<std::string>& names) {
  const Json json = {{key, names}};
  return json_text(json) + "\n";
}

std::string for_onnxruntime(const std::vector<Excluded>& excluded) {
  return json_of("nodes_to_exclude", node_names(excluded));
}

std::string for_nncf(const std::vector<Excluded>& excluded) { return json_of("names", node_names(excluded)); }

std::string for_tflite(const std::vector<Excluded>& excluded) {
  std::vector<std::string> names;
  for (const Excluded& one : excluded) names.push_back(one.value);
  return json_of("denylisted_nodes", names);
}

// An argument a line, as `xargs -d '\n'` and mapfile read them.
std::string for_trtexec(const std::vector<Excluded>& excluded) {
  std::vector<std::string> layers;
  for (const std::string& name : node_names(excluded)) {
    if (name.find_first_of(",:*\"\n") != std::string::npos)
      fail_unsupported("node '", name, "': trtexec has no way to write this name in --layerPrecisions");
    layers.push_back(name + ":fp32");
  }
  return layers.empty() ? "" : cat("--precisionConstraints=obey\n--layerPrecisions=", join(layers, ","), "\n");
}

}  // namespace

std::vector<Excluded> excluded_nodes(const Graph& graph, const Plan& plan) {
  std::vector<Excluded> excluded;
  for (size_t i = 0; i < plan.left_float.size(); ++i) {
    if (!plan.chosen[i]) continue;
    const Node& node = graph.node(plan.left_float[i]);
    excluded.push_back({sources_of(node), graph.value(node.outputs[0]).name});
  }
  return excluded;
}

const std::vector<ExclusionTool>& exclusion_tools() {
  static const std::vector<ExclusionTool> rows = {
      {"onnxruntime", for_onnxruntime, "quantize_static(..., **json.load(file)): nodes_to_exclude"},
      {"tflite", for_tflite, "tf.lite.experimental.QuantizationDebugOptions(**json.load(file)): denylisted_nodes"},
      {"nncf", for_nncf, "nncf.quantize(..., ignored_scope=nncf.IgnoredScope(**json.load(file)))"},
      {"trtexec", for_trtexec, "arguments of trtexec --int8, one a line"},
  };
  return rows;
}

const ExclusionTool& exclusion_tool(std::string_view name) {
  std::vector<std::string> names;
  for (const ExclusionTool& tool : exclusion_tools()) {
    if (tool.name == name) return tool;
    names.emplace_back(tool.name);
  }
  fail_usage("--exclusions ", name, ": choose from ", join(names));
}

}  // namespace dnn::quant
