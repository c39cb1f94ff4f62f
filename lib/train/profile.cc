// The tables of a step's time; see profile.h.
#include "train/profile.h"

#include <algorithm>
#include <cstdio>
#include <map>

#include "base/counted.h"
#include "devices/peaks.h"
#include "infer/profile.h"
#include "ops/lowering.h"
#include "target/isa.h"

namespace dnn::train {
namespace {

struct Sums {
  double time_ns = 0, flops = 0, bytes = 0;
  int64_t nodes = 0;
};

// "gradient ConvInputGradient", "recompute Conv"; the names are those that a step's nodes, or else their results, are made with.
std::string kind_of(const Graph& graph, const Node& node) {
  const std::string& name = node.name.empty() ? graph.value(node.outputs[0]).name : node.name;
  const auto begins = [&](const char* prefix) { return name.rfind(prefix, 0) == 0; };
  const char* part = begins("recompute/")                                       ? "recompute "
                     : begins("gradient/")                                      ? "gradient "
                     : begins("update/") || begins("clip") || begins("gather/") ? "update "
                                                                                : "forward ";
  return part + head_of(node).node->op;
}

}  // namespace

std::string step_profile(const Session& session, int64_t batch) {
  const std::vector<StepProfile> profile = session.profile();
  const Variant& variant = session.variant();
  std::map<std::string, Sums> kinds;
  Sums all;
  int64_t runs = 0;
  for (size_t i = 0; i < std::min(profile.size(), variant.steps.size()); ++i) {
    if (profile[i].runs == 0) continue;
    runs = std::max(runs, profile[i].runs);
    const double ns = static_cast<double>(profile[i].time_ns) / static_cast<double>(profile[i].runs);
    for (Sums* sums : {&all, &kinds[kind_of(*variant.graph, variant.graph->node(variant.steps[i].node))]}) {
      sums->time_ns += ns;
      sums->flops += variant.steps[i].flops;
      sums->bytes += variant.steps[i].bytes;
      ++sums->nodes;
    }
  }
  if (runs == 0) return "";
  std::vector<std::pair<std::string, Sums>> rows(kinds.begin(), kinds.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.second.time_ns > b.second.time_ns; });
  rows.emplace_back("all", all);
  std::string text =
      cat("where ", batch == 0 ? "the optimiser's part of a step" : cat("a step of ", counted(batch, "sample")),
          " goes, mean of ", runs, "\n");
  char line[160];
  std::snprintf(line, sizeof line, "%10s %6s %8s %8s %6s  %s\n", "ms", "%", "GFLOP/s", "GB/s", "nodes", "kind");
  text += line;
  for (const auto& [kind, sums] : rows) {
    std::snprintf(line, sizeof line, "%10.3f %6.1f %8.1f %8.1f %6d  ", sums.time_ns / 1e6,
                  100 * sums.time_ns / std::max(all.time_ns, 1.0), sums.flops / std::max(sums.time_ns, 1.0),
                  sums.bytes / std::max(sums.time_ns, 1.0), static_cast<int>(sums.nodes));
    text += line + kind + "\n";
  }
  std::optional<Peaks> peaks;
  if (find_isa(Language::C, session.isa()) != nullptr) peaks = measure_peaks(session.isa(), session.threads());
  return text + profile_table(variant, profile, peaks, session.package().info.dtype);
}

}  // namespace dnn::train
