// Options of an evaluation; see eval_args.h.
#include "metrics/eval_args.h"

#include <algorithm>

#include "base/text.h"

namespace dnn::metrics {

std::vector<std::string> EvalArgs::on_standard_output() const {
  std::vector<std::string> names;
  if (disagreements) names.emplace_back("--disagreements");
  if (confusion) names.emplace_back("--confusion");
  for (const auto& [path, name] : {std::pair(&json, "--json"),
                                   {&junit, "--junit"},
                                   {&sarif, "--sarif"},
                                   {&markdown, "--markdown"},
                                   {&measurements, "--measurements"}}) {
    if (*path == "-") names.emplace_back(name);
  }
  return names;
}

Bounds EvalArgs::bounds() const {
  Bounds bounds = limits;
  for (const std::string& text : requirements) bounds.requirements.push_back(parse_requirement(text));
  return bounds;
}

std::vector<Allowance> EvalArgs::allowed() const {
  std::vector<Allowance> all;
  for (const std::string& text : allowances) all.push_back(parse_allowance(text));
  return all;
}

std::vector<std::string> EvalArgs::fields() const {
  std::vector<std::string> fields;
  for (const std::string& text : by) {
    for (std::string& field : split(text, ',')) fields.push_back(std::move(field));
  }
  return fields;
}

size_t EvalArgs::memory_bytes() const {
  constexpr int64_t kMostMib = int64_t{1} << 40;
  return static_cast<size_t>(std::min(memory_mib, kMostMib)) << 20;
}

void declare_eval(cli::Args& args, EvalArgs& o) {
  args.positionals(&o.inputs, "STREAM",
                   "streams, or files of Kenning's measurements, to evaluate; '-' or none is standard input", 0);
  args.optional_value(&o.json, "--json", "FILE", "-",
                      "the report as JSON, instead of the table or into FILE beside it");
  args.flag(&o.disagreements, "--disagreements",
            "instead of the table, a line per sample on which two runs' best labels differ: base, run, sample, labels, "
            "names");
  args.flag(&o.confusion, "--confusion",
            "instead of the table, a line per cell of confusion not 0: run, truth, predicted, count");
  args.list(&o.by, "--by", "FIELD[,...]",
            "group the runs by fields of their headers (opt, device, framework, model, host.cpu): each group as one "
            "run, and how runs agree within and between groups");
  args.option(&o.baseline, "--baseline", "RUN", "hold others against it: letter, model or auto (default: first)");
  args.list(&o.programs, "--metric", "CMD", "exec:COMMAND that states values of runs (docs/howto/programs.md)");
  args.list(&o.requirements, "--require", "BOUND",
            "a bound for any metric, as 'top1_agreement >= 99', in the unit of --list-metrics; of every run or pair");
  args.option(&o.limits.min_accuracy, "--min-accuracy", "P", "least top-1 accuracy of every run, in percent", 0);
  args.option(&o.limits.max_disagreement, "--max-disagreement", "P",
              "most samples on which two runs' best labels differ, in percent", 0);
  args.option(&o.limits.atol, "--atol", "X",
              "two runs' outputs may differ by X + R times the sample's largest reference output", 0);
  args.option(&o.limits.rtol, "--rtol", "R", "see --atol; each is 0 when only the other is given", 0);
  args.option(&o.against, "--against", "FILE", "say what is better and worse than in this earlier --json=FILE");
  args.list(&o.allowances, "--allow", "BOUND",
            "how much worse than there, as 'top1_accuracy 0.5' (in its unit), 'latency_p95 20 %' (of what it was)");
  args.option(&o.junit, "--junit", "FILE", "bounds and comparison as test cases in JUnit's XML");
  args.option(&o.sarif, "--sarif", "FILE", "the same as SARIF 2.1.0");
  args.option(&o.markdown, "--markdown", "FILE", "the same and the runs as a comment in Markdown");
  args.option(&o.legacy_tree, "--legacy-tree", "DIR", "write the files of older systems (docs/reference/legacy.md)");
  args.option(&o.measurements, "--measurements", "FILE", "write the run as Kenning does: its times, matrix and usage");
  args.option(&o.memory_mib, "--memory", "MIB", "of full outputs in memory; $TMPDIR has the rest", 0);
  args.flag(&o.list_metrics, "--list-metrics", "print the metrics, tab-separated: key, scope, unit, better, meaning");
}

void check_eval(const EvalArgs& o) {
  if (const std::vector<std::string> wanting = o.on_standard_output(); wanting.size() > 1)
    fail_usage(wanting[0], " and ", wanting[1], " both want standard output", o.json == "-" ? ": use --json=FILE" : "");
  if (o.legacy_tree && o.legacy_tree->empty()) fail_usage("--legacy-tree wants the name of a folder");
  if (!o.allowances.empty() && !o.against)
    fail_usage("--allow says how much worse than --against's FILE; give that too");
  static_cast<void>(o.allowed());  // before anything is read
  if (!o.by.empty() && !o.baseline.empty())
    fail_usage("--baseline and --by do not go together: with --by every group is held against every other");
}

}  // namespace dnn::metrics
