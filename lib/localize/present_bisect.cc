// Presentation of a bisection; see bisect_model.h.
#include <algorithm>
#include <cmath>

#include "base/counted.h"
#include "base/printable.h"
#include "localize/bisect_model.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;
using words::number;

constexpr size_t kMostLines = 8;  // of a list

std::string label(const BisectedModel& b, int64_t index) {
  if (index < 0) return "nothing";
  const bool known = b.labels && index < b.labels->size();
  return known ? plain(b.labels->label(index)) : cat(index);
}

std::string relabelled_lines(const BisectedModel& b, const std::vector<SampleMovement>& samples,
                             const std::string& indent) {
  std::string out;
  for (size_t i = 0; i < std::min(samples.size(), kMostLines); ++i) {
    const SampleMovement& s = samples[i];
    out +=
        cat(indent, plain(b.paths[s.sample]), ": ", label(b, s.movement.from), " -> ", label(b, s.movement.to), "\n");
  }
  if (samples.size() > kMostLines) out += cat(indent, "and ", samples.size() - kMostLines, " more\n");
  return out;
}

std::string joined_plain(const std::vector<std::string>& names) {
  std::vector<std::string> clean;
  for (const std::string& name : names) clean.push_back(plain(name));
  if (clean.size() > kMostLines) {
    const size_t more = clean.size() - kMostLines;
    clean.resize(kMostLines);
    clean.push_back(cat("and ", more, " more"));
  }
  return join(clean);
}

std::string node_line(const NodeText& node) {
  std::string text = plain(node.op);
  const bool itself = node.sources.size() == 1 && node.sources[0] == node.name;
  if (!node.name.empty()) text += " " + plain(node.name);
  if (!node.sources.empty() && !itself) text += cat(" (computes ", joined_plain(node.sources), ")");
  if (!node.values.empty()) text += cat(", makes ", joined_plain(node.values));
  return text;
}

std::string node_lines(const char* title, const std::vector<NodeText>& nodes) {
  std::string out;
  for (size_t i = 0; i < std::min(nodes.size(), kMostLines); ++i)
    out += cat("  ", i == 0 ? title : "       ", " ", node_line(nodes[i]), "\n");
  if (nodes.size() > kMostLines) out += cat("          and ", nodes.size() - kMostLines, " more\n");
  return out;
}

std::string sure(const RewriteFinding& f) {
  if (f.restores) return "certain";
  return f.pass_restores ? "certain of the pass" : "one of several";
}
std::string sure(const KernelFinding& f) {
  if (f.kind == FaultKind::Rounding) return f.restores ? "likely" : "one of several";
  return f.restores ? "certain" : "one of several";
}

std::string bisected_path(const BisectedModel& b, bool of_source) { return of_source ? b.source : b.target; }

std::string rewrite_text(const BisectedModel& b, const RewriteFinding& f) {
  const char* const what = f.kind == FaultKind::Wrong      ? "computes something else"
                           : f.kind == FaultKind::Rounding ? "computes the same and rounds otherwise"
                                                           : "leaves a graph that does not run";
  std::string out =
      cat("pass ", f.pass, ", rewrite ", f.number_in_pass, " of its ", f.n_in_pass, " (", f.number, " of ",
          f.n_rewrites, " of ", bisected_path(b, f.of_source), "): ", what, "\n  ", plain(f.reason), "\n");
  out += node_lines("before", f.before) + node_lines("after ", f.after);
  for (size_t i = 0; i < std::min(f.layouts.size(), kMostLines); ++i)
    out += cat("  layout of ", plain(f.layouts[i].first), ": ", plain(f.layouts[i].second), "\n");
  if (f.kind == FaultKind::Breaks) {
    out += cat("  evidence: the ", counted(f.number - 1, "rewrite"), " before it ", f.number == 2 ? "runs" : "run",
               "; with it: ", plain(f.error), "\n");
  } else {
    out += cat(
        "  evidence: outputs are off the model as written by ", number(f.max_abs_before), " with the ", f.number - 1,
        " before it, by ", number(f.max_abs_after), " with it (largest output ", number(f.largest), ")",
        std::isnan(f.max_abs_float64) ? "" : "; in float64 it alone moves them by " + number(f.max_abs_float64), "\n");
  }
  out += cat("  sure: ", sure(f), "; ",
             f.restores        ? "without this one rewrite all others agree"
             : f.pass_restores ? "without this rewrite outputs still differ, without its pass they agree"
                               : "outputs still differ without its pass",
             "\n");
  if (!f.relabelled.empty())
    out += cat("  labels it changes: ", f.relabelled.size(), "\n", relabelled_lines(b, f.relabelled, "    "));
  return out + cat("  way round: --pass=-", f.pass, "\n");
}

std::string kernel_text(const BisectedModel& b, const KernelFinding& f) {
  std::string out = cat("kernel ", joined_plain(f.kernels), " of ", bisected_path(b, f.of_source), ": ",
                        f.kind == FaultKind::Wrong ? "computes something else" : "rounds otherwise", "\n  node  ",
                        node_line(f.node), "\n");
  if (!f.rewrite.empty()) out += cat("  made by ", plain(f.rewrite), "\n");
  if (!f.layout.empty()) out += cat("  layout ", plain(f.layout), "\n");
  if (!f.shared_with.empty()) out += cat("  run too by ", joined_plain(f.shared_with), "\n");
  out += cat("  evidence: on the same inputs the interpreter makes ", words::precise(f.expected), " of element ", f.at,
             " of ", plain(f.value), ", the kernel ", words::precise(f.got), " (largest ", number(f.largest),
             "); this alone moves the outputs by ", number(f.output_max_abs), ", all kernels not named here by ",
             number(f.remaining_max_abs), "\n  sure: ", sure(f), "\n");
  if (!f.relabelled.empty()) out += "  labels it changes:\n" + relabelled_lines(b, f.relabelled, "    ");
  return out;
}

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json node_json(const NodeText& node) {
  return {{"name", node.name}, {"op", node.op}, {"sources", node.sources}, {"values", node.values}};
}

Json nodes_json(const std::vector<NodeText>& nodes) {
  Json list = Json::array();
  for (const NodeText& node : nodes) list.push_back(node_json(node));
  return list;
}

Json relabelled_json(const BisectedModel& b, const std::vector<SampleMovement>& samples) {
  Json list = Json::array();
  for (const SampleMovement& s : samples) {
    list.push_back({{"path", b.paths[s.sample]},
                    {"from", s.movement.from},
                    {"to", s.movement.to},
                    {"from_label", label(b, s.movement.from)},
                    {"to_label", label(b, s.movement.to)},
                    {"max_abs", words::json_number(s.movement.max_abs)}});
  }
  return list;
}

Json rewrite_json(const BisectedModel& b, const RewriteFinding& f) {
  Json json = {{"side", f.of_source ? "source" : "target"},
               {"pass", f.pass},
               {"number", f.number},
               {"rewrites", f.n_rewrites},
               {"number_in_pass", f.number_in_pass},
               {"rewrites_of_pass", f.n_in_pass},
               {"reason", f.reason},
               {"kind", fault_name(f.kind)},
               {"sure", sure(f)},
               {"before", nodes_json(f.before)},
               {"after", nodes_json(f.after)},
               {"layouts", Json::array()},
               {"max_abs_before", words::json_number(f.max_abs_before)},
               {"max_abs_after", words::json_number(f.max_abs_after)},
               {"max_abs_float64", words::json_number(f.max_abs_float64)},
               {"largest", words::json_number(f.largest)},
               {"error", f.error},
               {"relabelled", relabelled_json(b, f.relabelled)},
               {"probes", Json::array()}};
  for (const auto& [value, layout] : f.layouts) json["layouts"].push_back({{"value", value}, {"layout", layout}});
  for (const Probe& probe : f.probes) {
    json["probes"].push_back({{"rewrites", probe.n_rewrites},
                              {"end_of", probe.after},
                              {"max_abs", words::json_number(probe.max_abs)},
                              {"departs", probe.departs},
                              {"error", probe.error}});
  }
  return json;
}

Json kernel_json(const BisectedModel& b, const KernelFinding& f) {
  return {{"side", f.of_source ? "source" : "target"},
          {"node", node_json(f.node)},
          {"kernels", f.kernels},
          {"patterns", f.patterns},
          {"shared_with", f.shared_with},
          {"layout", f.layout},
          {"rewrite", f.rewrite},
          {"kind", fault_name(f.kind)},
          {"sure", sure(f)},
          {"value", f.value},
          {"element", f.at},
          {"expected", words::json_number(f.expected)},
          {"got", words::json_number(f.got)},
          {"max_abs", words::json_number(f.max_abs)},
          {"largest", words::json_number(f.largest)},
          {"output_max_abs", words::json_number(f.output_max_abs)},
          {"remaining_max_abs", words::json_number(f.remaining_max_abs)},
          {"relabelled", relabelled_json(b, f.relabelled)}};
}

}  // namespace

std::string bisect_text(const BisectedModel& b) {
  const BisectReport& r = b.report;
  std::string out = cat("model ", plain(b.model), "\nsource ", b.source, "\ntarget ", b.target, "\n",
                        counted(r.n_samples, "sample"), b.not_judged.text(), "; outputs differ by up to ",
                        number(r.max_abs), r.largest > 0 ? " of " + number(r.largest) : "", "; ", r.relabelled.size(),
                        r.relabelled.size() == 1 ? " label changes" : " labels change", "\n");
  out += relabelled_lines(b, r.relabelled, "  ");
  for (const auto& [side, error] : {std::pair("source", r.source_error), std::pair("target", r.target_error)}) {
    if (!error.empty()) out += cat("the ", side, " does not run: ", plain(error), "\n");
  }
  if (!r.differs())
    return out + (r.ran_out == true    ? "the two agree on these; the time ran out (--time-limit) before all samples\n"
                  : b.not_judged.any() ? "the two agree on these\n"
                                       : "the two agree\n");
  const bool none_runs = !r.source_error.empty() && !r.target_error.empty() && r.max_abs == 0;
  if (none_runs && !r.source_departs && !r.target_departs)
    return out + "nor does the model as written, on the interpreter: there is nothing to search" +
           (b.reduced ? " or to reduce\n" : "\n");
  if (!r.source_departs && !r.target_departs) {
    out += "neither departs from the model as written, on the interpreter: the two round apart\n";
  } else {
    if (!r.beyond_tolerance) out += "all within the tolerance: these images are near ties\n";
    out += cat("off the model as written, on the interpreter: ",
               r.source_departs && r.target_departs ? "both"
               : r.source_departs                   ? "the source"
                                                    : "the target",
               "\n");
  }
  if (r.ran_out == true)
    out += "the time ran out (--time-limit): samples, rewrites or kernels were left out, and what follows is not all\n";
  for (const UnfinishedSearch& u : r.unfinished)
    out += cat("not searched to the end: of the ", u.of_source ? "source" : "target", "'s ",
               counted(u.n_rewrites, "rewrite"), ", one of ", u.after + 1, " to ", u.before, " (", join(u.passes),
               ") is the first that departs\n");
  size_t n = 0;
  for (const RewriteFinding& f : r.rewrites) out += cat("\n", ++n, ". ", rewrite_text(b, f));
  for (const KernelFinding& f : r.kernels) out += cat("\n", ++n, ". ", kernel_text(b, f));
  if (n == 0 && r.ran_out != true) out += "no single rewrite or kernel of ours makes it\n";
  if (r.after) {
    out += cat("\nwith ", r.rewrites.size() == 1 ? "this" : "all of these",
               " left out, on all samples: outputs differ by up to ", number(r.after->max_abs), ", ",
               r.after->relabelled, r.after->relabelled == 1 ? " label changes\n" : " labels change\n");
  }
  if (b.reduced && b.reduced->folder.empty()) {
    out += cat("\nnot reduced: ", plain(b.reduced->why_not), "\n");
  } else if (b.reduced) {
    out += cat("\nreduced to ", b.reduced->n_nodes, " of ", counted(b.reduced->n_nodes_before, "node"),
               ", which differ by ", number(b.reduced->max_abs),
               b.reduced->files_differ ? "" : "; read back from its file it no longer differs", ": ",
               plain(b.reduced->folder), "/reduced.onnx, inputs.npz, report.md\n");
  }
  return out;
}

std::string bisect_json(const BisectedModel& b) {
  const BisectReport& r = b.report;
  const auto side = [](const std::string& name, bool departs, const std::string& error) {
    return Json{{"name", name}, {"departs", departs}, {"error", error}};
  };
  Json json = {{"model", b.model},
               {"source", side(b.source, r.source_departs, r.source_error)},
               {"target", side(b.target, r.target_departs, r.target_error)},
               {"samples", r.n_samples},
               {"atol", b.tolerance.atol},
               {"rtol", b.tolerance.rtol},
               {"differs", r.differs()},
               {"max_abs", words::json_number(r.max_abs)},
               {"largest", words::json_number(r.largest)},
               {"relabelled", relabelled_json(b, r.relabelled)},
               {"searched", Json::array()},
               {"rewrites", Json::array()},
               {"kernels", Json::array()},
               {"after", nullptr},
               {"reduced", nullptr}};
  for (size_t i : r.searched) json["searched"].push_back(b.paths[i]);
  for (const RewriteFinding& f : r.rewrites) json["rewrites"].push_back(rewrite_json(b, f));
  for (const KernelFinding& f : r.kernels) json["kernels"].push_back(kernel_json(b, f));
  b.not_judged.put_into(&json);
  if (r.ran_out) json["ran_out"] = *r.ran_out;
  if (r.ran_out) json["unfinished"] = Json::array();
  for (const UnfinishedSearch& u : r.unfinished)
    json["unfinished"].push_back({{"side", u.of_source ? "source" : "target"},
                                  {"from", u.after + 1},
                                  {"to", u.before},
                                  {"rewrites", u.n_rewrites},
                                  {"passes", u.passes}});
  if (r.after) json["after"] = {{"max_abs", words::json_number(r.after->max_abs)}, {"relabelled", r.after->relabelled}};
  if (b.reduced)
    json["reduced"] = {{"folder", text_or_null(b.reduced->folder)}, {"nodes", b.reduced->n_nodes},
                       {"nodes_before", b.reduced->n_nodes_before}, {"max_abs", words::json_number(b.reduced->max_abs)},
                       {"files_differ", b.reduced->files_differ},   {"why_not", text_or_null(b.reduced->why_not)}};
  return words::json_line(json);
}

}  // namespace dnn
