// Searching nodes by device on a model file; see partition_model.h.
#include "localize/partition_model.h"

#include <filesystem>

#include "base/counted.h"
#include "base/file.h"
#include "base/printable.h"
#include "convert/convert.h"
#include "convert/framework_file.h"
#include "localize/side_run.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;
using words::number;

// The device that is doubted, for whole models and parts of them.
class Doubted {
 public:
  Doubted(const BisectRequest& request, const Graph& whole, const std::shared_ptr<const Package>& written)
      : request_(request), whole_(whole), written_(written), side_(side_of(request, request.target)) {
    const NetworkOptions& network = request.target;
    if (network.device.framework() == nullptr) return;
    side_.run.opt = framework_level(network);
    side_.run.trust_model = network.trust_model;
  }

  std::string name() const {
    const std::optional<int> level =
        side_.device.framework() == nullptr ? std::optional(side_.compile.opt) : side_.run.opt;
    return cat(side_.device.text(), level ? cat(" -O", *level) : "");
  }

  std::vector<Outcome> run(const Graph& model, const std::vector<std::vector<Tensor>>& inputs) {
    std::vector<Outcome> outcomes;
    if (side_.device.framework() == nullptr) {
      SideRun run(model, side_, {});
      for (const std::vector<Tensor>& sample : inputs) outcomes.push_back(run.run(sample));
      return outcomes;
    }
    try {
      const FrameworkSession opened = &model == &whole_ ? open(request_.model, written_) : open_part(model);
      for (const std::vector<Tensor>& sample : inputs)
        outcomes.push_back(outcome_of([&] { return opened.session->run(sample); }));
    } catch (const Error& e) {
      if (e.kind() == ErrorKind::Usage || &model == &whole_) throw;
      outcomes.assign(inputs.size(), {{}, e.what()});
    }
    return outcomes;
  }

 private:
  FrameworkSession open(const std::string& path, const std::shared_ptr<const Package>& written) const {
    return open_in_framework(side_.device, path, written, side_.run, false, request_.folders.warn);
  }

  FrameworkSession open_part(const Graph& part) {
    folder_.emplace(std::filesystem::temp_directory_path().string());
    OneModelRequest request = request_;
    request.model = folder_->path() + "/part.onnx";
    ConvertOptions options;
    options.certify = false;
    options.write.newer_opset = true;
    convert_model(part, request.model, options);
    NetworkOptions network = request_.target;
    network.shapes.clear();
    return open(request.model, open_as_written(request, network));
  }

  const BisectRequest& request_;
  const Graph& whole_;
  std::shared_ptr<const Package> written_;
  BisectSide side_;
  std::optional<TemporaryFolder> folder_;
};

std::string names_of(const PartitionFinding& finding) {
  std::vector<std::string> names;
  for (const NodeText& node : finding.nodes) {
    const std::string& name = node.name.empty() && !node.values.empty() ? node.values[0] : node.name;
    names.push_back(cat(plain(node.op), " ", plain(name)));
  }
  return join(names);
}

}  // namespace

PartitionedModel partition_model(const BisectRequest& request) {
  const std::shared_ptr<const Package> written = open_as_written(request, request.target);
  const Graph& model = written->source.graph();
  Doubted doubted(request, model, written);
  PartitionedModel result;
  result.model = request.model;
  result.device = doubted.name();
  result.tolerance = request.options.tolerance;
  PartitionOptions options;
  options.tolerance = request.options.tolerance;
  options.note = request.options.note;
  options.deadline = request.options.deadline.rest();
  const HeldSamples held = hold_samples(request, *written, options.deadline);
  for (const BisectSample& sample : held.samples) result.paths.push_back(sample.path);
  result.not_judged = held.not_judged;
  result.report = search_partition(
      model, held.samples, [&](const Graph& graph, const auto& inputs) { return doubted.run(graph, inputs); }, options);
  return result;
}

std::string partition_text(const PartitionedModel& p) {
  const PartitionReport& r = p.report;
  std::string out = cat("model ", plain(p.model), "\nsource reference\ntarget ", plain(p.device), "\n",
                        counted(r.n_samples, "sample"), p.not_judged.text(), "; outputs differ by up to ",
                        number(r.max_abs), r.largest > 0 ? " of " + number(r.largest) : "", "\n");
  if (!r.error.empty()) out += cat("the target does not run: ", plain(r.error), "\n");
  if (!r.differs) return out + "the two agree\n";
  if (r.findings.empty())
    return out + (r.ended ? "no node differs, given what the interpreter computes in front of it: roundings add up\n"
                          : "the time ran out (--time-limit) before a node was found\n");
  size_t n = 0;
  for (const PartitionFinding& f : r.findings) {
    out += cat("\n", ++n, ". ", names_of(f), ": ");
    if (!f.error.empty()) {
      out += cat("the target does not run ", f.nodes.size() == 1 ? "it" : "them", ": ", plain(f.error), "\n");
    } else {
      out += cat("wrong by ", number(f.max_abs), " of ", number(f.largest), " in ", plain(f.value),
                 ", given what the interpreter computes in front",
                 f.nodes.size() == 1 ? "" : "; none of its halves is wrong alone", "\n");
    }
  }
  if (!r.ended) out += "\nthe time ran out (--time-limit): there may be others\n";
  return out + cat("\nwith ", r.findings.size() == 1 && r.findings[0].nodes.size() == 1 ? "this node" : "these nodes",
                   " on reference and all others on ", plain(p.device), ": outputs differ by up to ",
                   number(r.remaining_max_abs), r.mended ? ": mended\n" : ": not mended\n");
}

std::string partition_json(const PartitionedModel& p) {
  const PartitionReport& r = p.report;
  Json json = {{"model", p.model},
               {"device", p.device},
               {"samples", r.n_samples},
               {"atol", p.tolerance.atol},
               {"rtol", p.tolerance.rtol},
               {"differs", r.differs},
               {"max_abs", words::json_number(r.max_abs)},
               {"largest", words::json_number(r.largest)},
               {"error", r.error},
               {"sample", p.paths.empty() ? Json() : Json(p.paths[r.differs_most])},
               {"findings", Json::array()},
               {"exclude", Json::array()},
               {"runs", r.n_runs},
               {"ended", r.ended},
               {"remaining_max_abs", words::json_number(r.remaining_max_abs)},
               {"mended", r.mended}};
  for (const PartitionFinding& f : r.findings) {
    Json nodes = Json::array();
    for (const NodeText& node : f.nodes) {
      nodes.push_back({{"name", node.name}, {"op", node.op}, {"sources", node.sources}, {"values", node.values}});
      json["exclude"].push_back(node.name);
    }
    json["findings"].push_back({{"nodes", nodes},
                                {"value", f.value},
                                {"max_abs", words::json_number(f.max_abs)},
                                {"largest", words::json_number(f.largest)},
                                {"error", f.error}});
  }
  p.not_judged.put_into(&json);
  return words::json_line(json);
}

}  // namespace dnn
