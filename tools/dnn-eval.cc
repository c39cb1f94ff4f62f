// dnn-eval: accuracy, latency and agreement of runs, from their streams.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/file.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "metrics/baseline.h"
#include "metrics/bounds.h"
#include "metrics/present.h"
#include "metrics/program.h"
#include "report/ci.h"
#include "report/legacy.h"
#include "stream/stream.h"

namespace {

using namespace dnn;

const cli::Tool kTool = {
    .name = "dnn-eval",
    .summary =
        "Evaluates runs: accuracy, latency and throughput of each, and for every two of them how far labels, "
        "rankings, outputs and times agree. Reads streams; one file or standard input may hold several runs, and the "
        "shards of a run count as one. Samples of two runs are the same when their paths are. A stream that was cut "
        "off is evaluated as far as it goes; exit code 3 says so.",
    .negative = "a bound is missed, or something is worse than in the baseline",
    .examples = {
        {"dnn-infer model.onnx images/ | dnn-eval", "one run"},
        {"cat a.dnns b.dnns | dnn-eval --json=report.json -", "two runs, as a table and as JSON"},
        {"dnn-eval --against main.json --junit tests.xml a.dnns b.dnns",
         "fails when a or b got worse; docs/howto/gate-in-ci.md has more"},
        {"dnn-eval --by device,opt out/net/opt*/*/run.dnns", "devices and levels against each other, pooled"},
        {"dnn-eval --require 'top1_agreement >= 99' --rtol=1e-4 a.dnns b.dnns", "fails when b differs from a"}}};

constexpr int64_t kMostMib = int64_t{1} << 40;

struct Options {
  std::vector<std::string> inputs;
  std::optional<std::string> json;
  std::vector<std::string> by, programs;
  metrics::Bounds bounds;
  std::vector<std::string> requirements;
  std::optional<std::string> against;
  std::string baseline;
  std::vector<std::string> allowances;
  std::optional<std::string> junit, sarif, markdown, legacy_tree, measurements;
  bool disagreements = false, confusion = false;
  int64_t memory_mib = 1024;
  bool list_metrics = false;
};

void declare(cli::Args& args, Options& o) {
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
  args.option(&o.bounds.min_accuracy, "--min-accuracy", "P", "least top-1 accuracy of every run, in percent", 0);
  args.option(&o.bounds.max_disagreement, "--max-disagreement", "P",
              "most samples on which two runs' best labels differ, in percent", 0);
  args.option(&o.bounds.atol, "--atol", "X",
              "two runs' outputs may differ by X + R times the sample's largest reference output", 0);
  args.option(&o.bounds.rtol, "--rtol", "R", "see --atol; each is 0 when only the other is given", 0);
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

using Programs = std::vector<std::unique_ptr<metrics::ProgramMetric>>;

// Reads one file; what ends it early is returned, so that all that arrived can be used first.
std::optional<Error> read(const std::string& path, const Programs& programs, metrics::Evaluation& evaluation) {
  PeekSource source(open_source(path));
  const auto take = [&](stream::Record record) {
    for (const auto& program : programs) program->add(record, &evaluation);
    evaluation.add(std::move(record));
  };
  if (const std::optional<std::string> text = report::json_of(source)) {
    if (!report::is_measurements(*text))
      fail_malformed(source_name(path),
                     ": is JSON, but not Kenning's measurements; dnn-cat --from-json makes a stream "
                     "of JSON lines");
    try {
      for (stream::Record& record : report::records_of_measurements(*text, source_name(path))) take(std::move(record));
    } catch (Error& e) {
      throw e.within(source_name(path));
    }
    return std::nullopt;
  }
  stream::Reader reader(source, source_name(path));
  try {
    while (std::optional<stream::Record> record = reader.next()) take(std::move(*record));
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Malformed) return e;
    throw;
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

// At most one result may go to standard output; the table gives way to it.
void check_standard_output(const Options& o) {
  std::vector<std::string> wanting;
  if (o.disagreements) wanting.emplace_back("--disagreements");
  if (o.confusion) wanting.emplace_back("--confusion");
  for (const auto& [path, name] : {std::pair(&o.json, "--json"),
                                   {&o.junit, "--junit"},
                                   {&o.sarif, "--sarif"},
                                   {&o.markdown, "--markdown"},
                                   {&o.measurements, "--measurements"}}) {
    if (*path == "-") wanting.emplace_back(name);
  }
  if (wanting.size() > 1)
    fail_usage(wanting[0], " and ", wanting[1], " both want standard output", o.json == "-" ? ": use --json=FILE" : "");
}

// All that was asked of the report, and of the streams themselves.
std::vector<metrics::Check> checks_of(const metrics::Report& report, const metrics::Bounds& bounds,
                                      const std::optional<metrics::Comparison>& comparison,
                                      const std::vector<Error>& cut_off) {
  std::vector<metrics::Check> checks = metrics::judged(report, bounds);
  if (comparison) {
    for (metrics::Check& check : metrics::checks_of(*comparison)) checks.push_back(std::move(check));
  }
  for (const Error& error : cut_off) {
    checks.push_back({.kind = "input", .key = "", .rule = "input", .subject = "", .said = error.what()});
  }
  return checks;
}

void write_results(const Options& o, const metrics::Report& report,
                   const std::optional<metrics::Comparison>& comparison, const std::vector<metrics::Check>& checks) {
  if (o.json) cli::write_text(*o.json, metrics::report_json(report, comparison ? &*comparison : nullptr));
  if (o.junit) cli::write_text(*o.junit, report::junit_xml(report, checks));
  if (o.sarif) cli::write_text(*o.sarif, report::sarif_json(report, checks));
  if (o.markdown) cli::write_text(*o.markdown, report::comment_markdown(report, checks, comparison ? &*comparison : nullptr));
  if (o.disagreements) {
    std::cout << metrics::disagreement_lines(report);
  } else if (o.confusion) {
    std::cout << metrics::confusion_lines(report);
  } else if (o.json != "-" && o.junit != "-" && o.sarif != "-" && o.markdown != "-" && o.measurements != "-" &&
             !report.runs.empty()) {
    std::cout << metrics::report_table(report);
    if (comparison) std::cout << "\n" << metrics::comparison_table(*comparison);
  }
  std::cout.flush();
}

int work(const Options& o) {
  if (o.list_metrics) {
    std::cout << metrics::metrics_list();
    return 0;
  }
  check_standard_output(o);
  if (o.legacy_tree && o.legacy_tree->empty()) fail_usage("--legacy-tree wants the name of a folder");
  if (!o.allowances.empty() && !o.against)
    fail_usage("--allow says how much worse than --against's FILE; give that too");
  metrics::Bounds bounds = o.bounds;
  for (const std::string& text : o.requirements) bounds.requirements.push_back(metrics::parse_requirement(text));
  std::vector<metrics::Allowance> allowances;
  for (const std::string& text : o.allowances) allowances.push_back(metrics::parse_allowance(text));
  std::optional<metrics::Baseline> baseline;
  if (o.against) baseline = metrics::parse_baseline(read_file(*o.against), *o.against);
  metrics::Evaluation evaluation(bounds.tolerance(), o.disagreements || o.json,
                                 static_cast<size_t>(std::min(o.memory_mib, kMostMib)) << 20);
  std::vector<std::string> by;
  for (const std::string& text : o.by) {
    for (std::string& field : split(text, ',')) by.push_back(std::move(field));
  }
  if (!by.empty() && !o.baseline.empty())
    fail_usage("--baseline and --by do not go together: with --by every group is held against every other");
  evaluation.group_by(by);
  evaluation.set_baseline(o.baseline);
  if (o.legacy_tree || o.measurements || o.disagreements) evaluation.keep_details();
  Programs programs;
  for (const std::string& command : o.programs) {
    if (!stream::is_command(command)) fail_usage("--metric ", command, ": write it as exec:COMMAND");
    const char* wait = std::getenv(stream::kWaitVariable);
    programs.push_back(
        std::make_unique<metrics::ProgramMetric>(command, stream::seconds_to_wait(wait == nullptr ? "" : wait)));
  }
  std::vector<Error> cut_off;
  for (const std::string& path : o.inputs.empty() ? std::vector<std::string>{"-"} : o.inputs) {
    if (std::optional<Error> error = read(path, programs, evaluation)) cut_off.push_back(std::move(*error));
  }
  for (const auto& program : programs) program->finish(&evaluation);
  const metrics::Report report = evaluation.finish();
  if (o.measurements && report.runs.size() != 1)
    fail_usage("--measurements is for one run, and here are ", report.runs.size(),
               "; --legacy-tree writes a file for each");
  std::optional<metrics::Comparison> comparison;
  if (baseline) comparison = metrics::compare_with(report, *baseline, allowances);
  const std::vector<metrics::Check> checks = checks_of(report, bounds, comparison, cut_off);
  write_results(o, report, comparison, checks);
  if (o.legacy_tree) {
    for (const std::string& note : report::write_legacy_tree(evaluation, report, *o.legacy_tree)) cli::warn(note);
  }
  if (o.measurements) cli::write_text(*o.measurements, report::measurements_json(evaluation, report.runs[0], 0));
  bool missed = false;
  for (const metrics::Check& check : checks) {
    if (check.kept || check.kind == "input") continue;
    cli::say(check.line());
    missed = true;
  }
  if (!cut_off.empty()) {
    for (size_t i = 0; i + 1 < cut_off.size(); ++i) cli::say_error(cut_off[i].what());
    throw cut_off.back();
  }
  return missed ? static_cast<int>(ErrorKind::Negative) : 0;
}

}  // namespace

cli::Program dnn_eval() { return cli::program(kTool, declare, work); }
