// dnn-eval: accuracy, latency and agreement of runs, from their streams.
#include <iostream>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "metrics/eval_args.h"
#include "metrics/present.h"
#include "metrics/program.h"
#include "report/ci.h"
#include "report/legacy.h"
#include "report/read_runs.h"

namespace dnn::tools::dnn_eval {

using metrics::EvalArgs;

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

// Reads all files; what ends some early is returned, so that all that arrived can be used first.
std::vector<Error> read(const EvalArgs& o, metrics::Evaluation* evaluation) {
  const auto programs =
      metrics::start_metrics(o.programs, stream::seconds_to_wait(cli::variable(stream::kWaitVariable)));
  const auto take = [&](stream::Record record) {
    for (const auto& program : programs) program->add(record, evaluation);
    evaluation->add(std::move(record));
  };
  const auto refuse = [](const std::string&) {
    fail_malformed("is JSON, but not Kenning's measurements; dnn-cat --from-json makes a stream of JSON lines");
  };
  std::vector<Error> cut_off;
  for (const std::string& path : o.files()) {
    if (std::optional<Error> error = report::read_runs(path, take, refuse)) cut_off.push_back(std::move(*error));
  }
  for (const auto& program : programs) program->finish(evaluation);
  return cut_off;
}

void write_results(const EvalArgs& o, const metrics::Report& report, const metrics::Comparison* comparison,
                   const std::vector<metrics::Check>& checks) {
  if (o.json) cli::write_text(*o.json, metrics::report_json(report, comparison));
  if (o.junit) cli::write_text(*o.junit, report::junit_xml(report, checks));
  if (o.sarif) cli::write_text(*o.sarif, report::sarif_json(report, checks));
  if (o.markdown) cli::write_text(*o.markdown, report::comment_markdown(report, checks, comparison));
  if (o.disagreements) {
    std::cout << metrics::disagreement_lines(report);
  } else if (o.confusion) {
    std::cout << metrics::confusion_lines(report);
  } else if (o.on_standard_output().empty() && !report.runs.empty()) {
    std::cout << metrics::report_table(report);
    if (comparison != nullptr) std::cout << "\n" << metrics::comparison_table(*comparison);
  }
  std::cout.flush();
}

// Says what is missed; whether there was anything.
bool say_missed(const std::vector<metrics::Check>& checks) {
  bool missed = false;
  for (const metrics::Check& check : checks) {
    if (check.kept || check.kind == "input") continue;
    cli::say(check.line());
    missed = true;
  }
  return missed;
}

int work(const EvalArgs& o) {
  if (o.list_metrics) {
    std::cout << metrics::metrics_list();
    return 0;
  }
  metrics::check_eval(o);
  const metrics::Bounds bounds = o.bounds();
  std::optional<metrics::Baseline> baseline;
  if (o.against) baseline = metrics::parse_baseline(read_file(*o.against), *o.against);
  metrics::Evaluation evaluation(bounds.tolerance(), o.disagreements || o.json, o.memory_bytes());
  evaluation.group_by(o.fields());
  evaluation.set_baseline(o.baseline);
  if (o.legacy_tree || o.measurements || o.disagreements) evaluation.keep_details();
  const std::vector<Error> cut_off = read(o, &evaluation);
  const metrics::Report report = evaluation.finish();
  if (o.measurements && report.runs.size() != 1)
    fail_usage("--measurements is for one run, and here are ", report.runs.size(),
               "; --legacy-tree writes a file for each");
  for (const std::string& note : metrics::shard_notes(report)) cli::warn(note);
  std::optional<metrics::Comparison> compared;
  if (baseline) compared = metrics::compare_with(report, *baseline, o.allowed());
  const metrics::Comparison* const comparison = compared ? &*compared : nullptr;
  const std::vector<metrics::Check> checks = metrics::all_checks(report, bounds, comparison, cut_off);
  write_results(o, report, comparison, checks);
  if (o.legacy_tree) {
    for (const std::string& note : report::write_legacy_tree(evaluation, report, *o.legacy_tree)) cli::warn(note);
  }
  if (o.measurements) cli::write_text(*o.measurements, report::measurements_json(evaluation, report.runs[0], 0));
  const bool missed = say_missed(checks);
  if (!cut_off.empty()) {
    for (size_t i = 0; i + 1 < cut_off.size(); ++i) cli::say_error(cut_off[i].what());
    throw cut_off.back();
  }
  return missed ? static_cast<int>(ErrorKind::Negative) : 0;
}

cli::Program program() { return cli::program(kTool, metrics::declare_eval, work); }

}  // namespace dnn::tools::dnn_eval
