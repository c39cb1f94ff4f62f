// Searching an optimiser's passes on a model file; see optimizer_model.h.
#include "localize/optimizer_model.h"

#include <algorithm>
#include <filesystem>

#include "base/child.h"
#include "base/counted.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/process.h"
#include "convert/convert.h"
#include "devices/library.h"
#include "localize/words.h"
#include "ops/op.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;
using words::number;

constexpr double kLimitSeconds = 600;  // of one command
constexpr size_t kMostNodes = 8;       // of a list

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

std::string last_line(const std::string& text) {
  std::string last = "it says nothing";
  for (const std::string& line : split(text, '\n')) {
    if (!line.empty()) last = line;
  }
  return last;
}

// The optimised file as the model that was given: bound to the same extents.
Graph read_optimized(const std::string& path) {
  Graph graph = read_model(open_model(path, {}));
  fix_open_extents(graph);
  infer_types(graph);
  return graph;
}

std::string node_list(const char* title, const std::vector<std::pair<std::string, std::string>>& nodes) {
  if (nodes.empty()) return "";
  std::vector<std::string> texts;
  for (size_t i = 0; i < std::min(nodes.size(), kMostNodes); ++i)
    texts.push_back(cat(plain(nodes[i].second), " ", plain(nodes[i].first)));
  if (nodes.size() > kMostNodes) texts.push_back(cat("and ", nodes.size() - kMostNodes, " more"));
  return cat("   ", title, " ", join(texts), "\n");
}

Json named_nodes_json(const std::vector<std::pair<std::string, std::string>>& nodes) {
  Json list = Json::array();
  for (const auto& [name, op] : nodes) list.push_back({{"name", name}, {"op", op}});
  return list;
}

}  // namespace

Optimizer open_optimizer(const std::string& text, const Graph& model, const std::string& folder,
                         const DeviceOptions& options) {
  const std::vector<std::string> command =
      is_name(text) ? adapter_command(cat("--optimizer ", text), cat("optimize_", text, ".py"), "ONNXRUNTIME", options)
                    : words_of(text, "--optimizer");
  const auto run = [command](std::vector<std::string> more) {
    std::vector<std::string> words = command;
    words.insert(words.end(), more.begin(), more.end());
    return run_process(words, "", kLimitSeconds);
  };
  const ProcessResult listed = run({"passes"});
  if (listed.exit_code != 0) fail_environment("--optimizer ", text, ": ", plain(last_line(listed.output)));
  Optimizer optimizer;
  optimizer.name = text;
  for (const std::string& line : split(listed.output, '\n')) {
    if (!line.empty()) optimizer.passes.push_back(line);
  }
  if (optimizer.passes.empty()) fail_environment("--optimizer ", text, ": it lists no passes");
  ConvertOptions convert;
  convert.certify = false;
  convert.write.newer_opset = true;
  const std::string source = folder + "/model.onnx", target = folder + "/optimised.onnx";
  convert_model(model, source, convert);
  optimizer.apply = [=](const std::vector<std::string>& passes) {
    std::error_code ignored;
    std::filesystem::remove(target, ignored);
    std::vector<std::string> words = {"apply", source, target};
    words.insert(words.end(), passes.begin(), passes.end());
    const ProcessResult done = run(words);
    if (done.timed_out) fail_unsupported("the optimiser is not over after ", kLimitSeconds, " s");
    if (done.exit_code != 0) fail_unsupported("the optimiser fails: ", plain(last_line(done.output)));
    return read_optimized(target);
  };
  return optimizer;
}

OptimizedModel optimizer_model(const BisectRequest& request, const std::string& name) {
  const std::shared_ptr<const Package> written = open_as_written(request, request.target);
  const Graph& model = written->source.graph();
  const TemporaryFolder folder(std::filesystem::temp_directory_path().string());
  DeviceOptions device;
  device.variable = request.target.variable;
  const Optimizer optimizer = open_optimizer(name, model, folder.path(), device);
  OptimizedModel result;
  result.model = request.model;
  result.optimizer = optimizer.name;
  result.tolerance = request.options.tolerance;
  OptimizerOptions options;
  options.tolerance = request.options.tolerance;
  options.note = request.options.note;
  options.deadline = request.options.deadline.rest();
  const HeldSamples held = hold_samples(request, *written, options.deadline);
  for (const BisectSample& sample : held.samples) result.paths.push_back(sample.path);
  result.not_judged = held.not_judged;
  result.report = search_optimizer(model, held.samples, optimizer, options);
  return result;
}

std::string optimizer_text(const OptimizedModel& o) {
  const OptimizerReport& r = o.report;
  std::string out =
      cat("model ", plain(o.model), "\noptimiser ", plain(o.optimizer), ", ", r.n_passes,
          r.n_passes == 1 ? " pass" : " passes", "\n", counted(r.n_samples, "sample"), o.not_judged.text(),
          "; outputs differ by up to ", number(r.max_abs), r.largest > 0 ? " of " + number(r.largest) : "", "\n");
  if (!r.error.empty()) out += cat("what the passes leave does not run: ", plain(r.error), "\n");
  if (!r.differs) return out + "what the passes leave agrees\n";
  size_t n = 0;
  for (const OptimizerFinding& f : r.findings) {
    out += cat("\n", ++n, ". pass ", plain(f.pass), ": ");
    out += f.error.empty() ? cat("outputs are off by ", number(f.max_abs_before), " with the passes before it, by ",
                                 number(f.max_abs_after), " of ", number(f.largest), " with it\n")
                           : cat("what it leaves does not run: ", plain(f.error), "\n");
    out += node_list("gone:", f.gone) + node_list("new: ", f.new_nodes);
  }
  if (r.findings.empty())
    out += !r.ended          ? "the time ran out (--time-limit) before a pass was found\n"
           : r.error.empty() ? "it differs with no pass at all: reading and writing do it\n"
                             : "so it is with no pass at all\n";
  if (!r.findings.empty())
    out += cat("\nwith ", r.findings.size() == 1 ? "this pass" : "these passes", " left out: outputs differ by up to ",
               number(r.remaining_max_abs), r.mended ? ": mended\n" : "\n");
  return out;
}

std::string optimizer_json(const OptimizedModel& o) {
  const OptimizerReport& r = o.report;
  Json json = {{"model", o.model},
               {"optimizer", o.optimizer},
               {"passes", r.n_passes},
               {"samples", r.n_samples},
               {"atol", o.tolerance.atol},
               {"rtol", o.tolerance.rtol},
               {"differs", r.differs},
               {"max_abs", words::json_number(r.max_abs)},
               {"largest", words::json_number(r.largest)},
               {"error", r.error},
               {"sample", o.paths.empty() ? Json() : Json(o.paths[r.differs_most])},
               {"findings", Json::array()},
               {"runs", r.n_runs},
               {"ended", r.ended},
               {"remaining_max_abs", words::json_number(r.remaining_max_abs)},
               {"mended", r.mended}};
  for (const OptimizerFinding& f : r.findings)
    json["findings"].push_back({{"pass", f.pass},
                                {"max_abs_before", words::json_number(f.max_abs_before)},
                                {"max_abs_after", words::json_number(f.max_abs_after)},
                                {"largest", words::json_number(f.largest)},
                                {"error", f.error},
                                {"gone", named_nodes_json(f.gone)},
                                {"new", named_nodes_json(f.new_nodes)}});
  o.not_judged.put_into(&json);
  return words::json_line(json);
}

}  // namespace dnn
