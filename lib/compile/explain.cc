// Explaining a package; see explain.h.
#include "compile/explain.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/counted.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "base/sha256.h"
#include "base/text.h"
#include "graph/text.h"
#include "package/placed.h"
#include "passes/match.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

std::string line(const Json& json) { return json_text(json) + "\n"; }

Json values_json(const Graph& graph, const std::vector<ValueId>& ids) {
  Json list = Json::array();
  for (ValueId id : ids) list.push_back({{"name", graph.value(id).name}, {"type", graph.value(id).type.text()}});
  return list;
}

int64_t constant_bytes(const Package& package) {
  int64_t total = 0;
  for (const Tensor& constant : package.constants.all()) total += static_cast<int64_t>(constant.size_bytes());
  return total;
}

// By name, with its tasks in each variant that has it.
std::string kernel_lines(const Package& package) {
  std::vector<Json> kernels;
  std::map<std::string, size_t> at;
  for (const Variant& variant : package.variants) {
    for (size_t i = 0; i < variant.kernels.size(); ++i) {
      const KernelInfo& kernel = variant.kernels[i];
      const auto [found, fresh] = at.try_emplace(kernel.name, kernels.size());
      if (fresh) {
        kernels.push_back(
            {{"type", "kernel"}, {"name", kernel.name}, {"pattern", kernel.pattern}, {"tasks", Json::object()}});
      }
      kernels[found->second]["tasks"][variant.target.isa] = variant.code.tasks[i];
    }
  }
  std::string out;
  for (const Json& kernel : kernels) out += line(kernel);
  return out;
}

// `isas`: whose steps they are, where not all variants have the same.
std::string step_lines(const Variant& variant, const std::vector<std::string>& isas) {
  std::string out;
  for (size_t i = 0; i < variant.steps.size(); ++i) {
    const Step& step = variant.steps[i];
    const Node& node = variant.graph->node(step.node);
    Json json = {{"type", "step"},
                 {"id", i},
                 {"kernel", step.kernel < 0 ? Json(nullptr) : Json(variant.kernels[step.kernel].name)},
                 {"op", node.op},
                 {"node", node.name},
                 {"sources", sources_of(node)},
                 {"samples", step.samples},
                 {"flops", step.flops},
                 {"bytes", step.bytes}};
    if (!isas.empty()) json["isas"] = isas;
    out += line(json);
  }
  return out;
}

struct StepsOf {
  const Variant* variant;         // the first that has them
  std::vector<std::string> isas;  // of all that have them; empty where that is every variant
};

std::vector<StepsOf> distinct_steps(const Package& package) {
  std::vector<StepsOf> all;
  std::map<std::string, size_t> at;
  for (const Variant& variant : package.variants) {
    const auto [found, fresh] = at.try_emplace(step_lines(variant, {}), all.size());
    if (fresh) all.push_back({&variant, {}});
    all[found->second].isas.push_back(variant.target.isa);
  }
  if (all.size() == 1) all[0].isas.clear();
  return all;
}

std::string steps_table(const Variant& plan) {
  std::string text = "step\tkernel\tnode\tsources\tmflop\tkib\tflop_per_byte\n";
  double flops = 0, bytes = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const Node& node = plan.graph->node(step.node);
    char numbers[96];
    std::snprintf(numbers, sizeof numbers, "%.3f\t%.1f\t%.2f", step.flops / 1e6, step.bytes / 1024,
                  step.bytes > 0 ? step.flops / step.bytes : 0);
    const std::string kernel = step.kernel < 0 ? "interpreted" : plan.kernels[step.kernel].name;
    text += cat(i, "\t", clean(kernel), "\t", clean(node.op), " ", clean(node.name), "\t",
                clean(join(sources_of(node), "+")), "\t", numbers, "\n");
    flops += step.flops;
    bytes += step.bytes;
  }
  char totals[160], batch[96] = "";
  std::snprintf(totals, sizeof totals, "# %zu steps, %zu kernels, %.1f MFLOP, %.1f MiB moved, arena %.2f MiB",
                plan.steps.size(), plan.kernels.size(), flops / 1e6, bytes / 1048576,
                static_cast<double>(plan.arena_bytes) / 1048576);
  if (plan.samples() > 1) {
    const auto alone = std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& s) { return s.samples > 1; });
    std::snprintf(batch, sizeof batch, "; samples go alone through %td steps, in %.2f MiB each", alone,
                  static_cast<double>(plan.sample_arena_bytes) / 1048576);
  }
  return text + totals + batch + "\n";
}

std::vector<std::string> nodes_of(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId id : graph.order()) names.push_back(graph.node(id).name);
  return names;
}

// Values of a segment that another part has made, by name.
std::vector<std::vector<std::string>> copied_values(const Package& package) {
  const Graph& graph = package.graph();
  std::map<ValueId, size_t> made_by;  // part
  std::vector<std::vector<std::string>> copied;
  for (const PlacedSegment& s : package.placed->segments) {
    copied.emplace_back();
    for (ValueId v : s.inputs) {
      const auto maker = made_by.find(v);
      if (maker != made_by.end() && maker->second != s.part) copied.back().push_back(graph.value(v).name);
    }
    for (ValueId v : s.outputs) made_by[v] = s.part;
  }
  return copied;
}

// A segment's own package, or the one of which it has steps.
const Package& package_of(const Package& package, const PlacedSegment& s) {
  return s.package == nullptr ? *package.placed->whole : *s.package;
}

size_t steps_of(const PlacedSegment& s) {
  return s.package == nullptr ? s.steps.size() : s.package->variants.front().steps.size();
}

// Nodes of the model that a segment computes, and the bytes of constants that it reads.
std::vector<std::string> segment_nodes(const Package& package, const PlacedSegment& s) {
  if (s.package != nullptr) return nodes_of(s.package->source.structure());
  const Variant& variant = package.placed->whole->variants.front();
  std::vector<std::string> names;
  NodeId last = -1;
  for (size_t step : s.steps) {
    const NodeId id = variant.steps[step].node;
    if (id == last) continue;
    last = id;
    const Node& node = variant.graph->node(id);
    if (node.sources.empty()) names.push_back(node.name);
    names.insert(names.end(), node.sources.begin(), node.sources.end());
  }
  return names;
}

int64_t segment_constant_bytes(const Package& package, const PlacedSegment& s) {
  if (s.package != nullptr) return constant_bytes(*s.package);
  const Package& whole = *package.placed->whole;
  std::set<int64_t> read;
  for (size_t step : s.steps) {
    for (const Argument& a : whole.variants.front().steps[step].arguments) {
      if (a.kind == Argument::Kind::Constant) read.insert(a.at);
    }
  }
  int64_t bytes = 0;
  for (int64_t at : read) bytes += static_cast<int64_t>(whole.constants[at].size_bytes());
  return bytes;
}

// Parts and segments of a placed package, "" of another.
std::string placed_lines(const Package& package) {
  if (package.placed == nullptr) return "";
  std::string out;
  const Graph& graph = package.graph();
  const std::vector<std::vector<std::string>> copied = copied_values(package);
  for (const std::string& part : package.placed->parts) out += line({{"type", "part"}, {"device", part}});
  if (!package.placed->lanes.empty()) out += line({{"type", "lanes"}, {"ways", package.placed->lanes}});
  for (size_t i = 0; i < copied.size(); ++i) {
    const PlacedSegment& s = package.placed->segments[i];
    out += line({{"type", "segment"},
                 {"id", i},
                 {"name", s.name},
                 {"part", package.placed->parts[s.part]},
                 {"way", s.way},
                 {"target", package_of(package, s).backend()},
                 {"inputs", values_json(graph, s.inputs)},
                 {"outputs", values_json(graph, s.outputs)},
                 {"copied", copied[i]},
                 {"nodes", segment_nodes(package, s)},
                 {"steps", steps_of(s)},
                 {"constant_bytes", segment_constant_bytes(package, s)}});
  }
  return out;
}

std::string placed_text(const Package& package) {
  if (package.placed == nullptr) return "";
  const std::vector<std::vector<std::string>> copied = copied_values(package);
  std::string out = "segment\tpart\tsteps\tnodes\tcopied\n";
  for (size_t i = 0; i < copied.size(); ++i) {
    const PlacedSegment& s = package.placed->segments[i];
    out += cat(i, "\t", clean(package.placed->parts[s.part]), "\t", steps_of(s), "\t", clean(s.name), "\t",
               copied[i].empty() ? "-" : clean(join(copied[i], "+")), "\n");
  }
  if (!package.placed->lanes.empty())
    out += cat("\nruns at once\t", package.placed->lanes.size(), "\nways in turn\t", join(package.placed->lanes, " "),
               "\n");
  return out + "\n";
}
}  // namespace

std::string package_line(const Package& package) {
  const Variant& plan = package.variants.front();
  std::string arenas = cat("arena of ", plan.arena_bytes / 1024, " KiB");
  if (plan.sample_arena_bytes > 0)
    arenas += cat(", ", plan.sample_arena_bytes / 1024, " KiB for each sample on its way");
  return cat(counted(plan.kernels.size(), "kernel"), ", ", counted(plan.steps.size(), "step"), ", ", arenas);
}

std::string explain_passes(const std::vector<PassLog>& log) {
  std::string text = "pass\tlevel\tpatches\tremoved\tadded\tfused\tlayouts\tms\n";
  for (const PassLog& entry : log) {
    int level = 0;
    for (const Pass& pass : passes()) {
      if (pass.name == entry.name) level = pass.level;
    }
    char ms[32];
    std::snprintf(ms, sizeof ms, "%.2f", entry.time_ms);
    text += cat(entry.name, "\tO", level, "\t", entry.patches, "\t", entry.removed, "\t", entry.added, "\t",
                entry.fused, "\t", entry.layouts, "\t", ms, "\n");
  }
  return text;
}

std::string package_to_json(const Package& package) {
  const PackageInfo& info = package.info;
  const Variant& plan = package.variants.front();
  std::string out =
      line({{"type", "package"},
            {"model", {{"path", info.model_path}, {"sha256", info.model_sha256}, {"format", info.model_format}}},
            {"opt", info.opt},
            {"target", package.backend()},
            {"dtype", info.dtype},
            {"compiler", info.compiler},
            {"tool_version", info.tool_version},
            {"keeps_source", package.source.kept()},
            {"passes", info.passes},
            {"inputs", values_json(package.graph(), package.graph().inputs)},
            {"outputs", values_json(package.graph(), package.graph().outputs)},
            {"arena_bytes", plan.arena_bytes},
            {"sample_arena_bytes", plan.sample_arena_bytes},
            {"constants", package.constants.size()},
            {"constant_bytes", constant_bytes(package)}});
  if (package.placed != nullptr) return out + placed_lines(package);
  for (const Variant& variant : package.variants) {
    if (!variant.compiled()) continue;
    const Code& code = variant.code;
    out += line({{"type", "code"},
                 {"isa", variant.target.isa},
                 {"source_bytes", code.source.size()},
                 {"source_sha256", sha256_hex(as_bytes(code.source))},
                 {"binary_bytes", code.binary.size()},
                 {"binary_sha256", code.binary.empty() ? "" : sha256_hex(as_bytes(code.binary))}});
  }
  out += kernel_lines(package);
  for (const StepsOf& steps : distinct_steps(package)) out += step_lines(*steps.variant, steps.isas);
  return out;
}

std::string package_to_text(const Package& package) {
  const PackageInfo& info = package.info;
  std::string out = cat("package of ", dnn::quoted(info.model_path), " (", clean(info.model_format), ", sha256 ",
                        clean(info.model_sha256), ")\n-O", info.opt, " for ",
                        package.backend().empty() ? "the interpreter" : clean(package.backend()), ", ",
                        clean(info.dtype), ", by dnn-tools ", clean(info.tool_version),
                        info.compiler.empty() ? "" : " with " + clean(info.compiler), "\n");
  for (const Variant& variant : package.variants) {
    if (!variant.compiled() || package.placed != nullptr) continue;
    const Code& code = variant.code;
    const std::string& isa = variant.target.isa;
    out +=
        cat("code ", clean(isa.empty() ? package.backend() : isa), ": source ", code.source.size(), " bytes, sha256 ",
            sha256_hex(as_bytes(code.source)).substr(0, 16), ", binary ", code.binary.size(), " bytes\n");
  }
  if (!package.source.kept()) out += "the model's weights are in it only as kernels read them\n";
  if (package.placed != nullptr) return out + "\n" + placed_text(package) + to_text(package.graph());
  out += cat(counted(package.constants.size(), "constant"), " of ", constant_bytes(package), " bytes\n\n",
             explain(package), "\n");
  return out + to_text(package.graph());
}

std::string explain(const Package& package) {
  std::string text;
  for (const StepsOf& steps : distinct_steps(package)) {
    if (!steps.isas.empty()) text += cat("# ", clean(join(steps.isas)), ":\n");
    text += steps_table(*steps.variant);
  }
  return text + "# passes: " + clean(join(package.info.passes)) + "\n";
}

}  // namespace dnn
