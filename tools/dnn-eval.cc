// dnn-eval: accuracy, latency and agreement of runs, from their streams.
#include <algorithm>
#include <iostream>

#include "base/text.h"
#include "cli/cli.h"
#include "cli/console.h"
#include "cli/output.h"
#include "metrics/bounds.h"
#include "metrics/present.h"
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
    .negative = "a bound is missed",
    .examples = {
        {"dnn-infer model.onnx images/ | dnn-eval", "one run"},
        {"cat a.dnns b.dnns | dnn-eval --json=report.json -", "two runs, as a table and as JSON"},
        {"dnn-eval --by device,opt out/net/opt*/*/run.dnns", "devices and levels against each other, pooled"},
        {"dnn-eval --require 'top1_agreement >= 99' --rtol=1e-4 a.dnns b.dnns", "fails when b differs from a"}}};

struct Options {
  std::vector<std::string> inputs;
  std::optional<std::string> json;
  std::vector<std::string> by;
  metrics::Bounds bounds;
  std::vector<std::string> requirements;
  bool disagreements = false, confusion = false;
  bool list_metrics = false;
};

void declare(cli::Args& args, Options& o) {
  args.positionals(&o.inputs, "STREAM", "streams to evaluate; '-' or none is standard input", 0);
  args.optional_value(&o.json, "--json", "FILE", "-",
                      "the report as JSON, instead of the table or into FILE beside it");
  args.flag(
      &o.disagreements, "--disagreements",
      "instead of the table, one tab-separated line per sample and pair whose best labels differ: base, run, sample, "
      "base's label, run's label");
  args.flag(
      &o.confusion, "--confusion",
      "instead of the table, one tab-separated line per cell of the confusion matrices that is not 0: run, truth, "
      "predicted label, count");
  args.list(
      &o.by, "--by", "FIELD[,...]",
      "group the runs by fields of their headers, as opt, device, framework, model, format, host.cpu; instead of the "
      "pairs of runs the table has each group as one run, and how runs agree within and between groups");
  args.list(&o.requirements, "--require", "BOUND",
            "a bound for any metric, as 'top1_agreement >= 99', in the unit that --list-metrics names; of every run or "
            "pair; may be repeated");
  args.option(&o.bounds.min_accuracy, "--min-accuracy", "P", "least top-1 accuracy of every run, in percent", 0);
  args.option(&o.bounds.max_disagreement, "--max-disagreement", "P",
              "most samples on which two runs' best labels differ, in percent", 0);
  args.option(&o.bounds.atol, "--atol", "X",
              "two runs' outputs may differ by X + R times the sample's largest reference output", 0);
  args.option(&o.bounds.rtol, "--rtol", "R", "see --atol; each is 0 when only the other is given", 0);
  args.flag(&o.list_metrics, "--list-metrics", "print the metrics, tab-separated: key, scope, unit, better, meaning");
}

// Reads one file; what ends it early is returned, so that all that arrived can be used first.
std::optional<Error> read(const std::string& path, metrics::Evaluation& evaluation) {
  const std::unique_ptr<ByteSource> source = open_source(path);
  stream::Reader reader(*source, source_name(path));
  try {
    while (std::optional<stream::Record> record = reader.next()) evaluation.add(std::move(*record));
  } catch (const Error& e) {
    if (e.kind() == ErrorKind::Malformed) return e;
    throw;
  }
  return reader.truncated() ? std::optional(reader.truncation()) : std::nullopt;
}

int work(const Options& o) {
  if (o.list_metrics) {
    std::cout << metrics::metrics_list();
    return 0;
  }
  if (o.confusion && o.disagreements) fail_usage("--confusion and --disagreements both want standard output");
  if (o.json == "-" && (o.confusion || o.disagreements))
    fail_usage("--json and ", o.confusion ? "--confusion" : "--disagreements",
               " both want standard output: use --json=FILE");
  metrics::Bounds bounds = o.bounds;
  for (const std::string& text : o.requirements) bounds.requirements.push_back(metrics::parse_requirement(text));
  metrics::Evaluation evaluation(bounds.tolerance(), o.disagreements || o.json);
  std::vector<std::string> by;
  for (const std::string& text : o.by) {
    for (std::string& field : split(text, ',')) by.push_back(std::move(field));
  }
  evaluation.group_by(by);
  std::optional<Error> cut_off;
  for (const std::string& path : o.inputs.empty() ? std::vector<std::string>{"-"} : o.inputs) {
    if (std::optional<Error> error = read(path, evaluation)) {
      if (cut_off) cli::say_error(cut_off->what());
      cut_off = std::move(error);
    }
  }
  const metrics::Report report = evaluation.finish();
  if (o.json) {
    cli::Output output(*o.json, cli::Output::Content::Text);
    output.write(metrics::report_json(report));
    output.commit();
  }
  if (o.disagreements) {
    std::cout << metrics::disagreement_lines(report);
  } else if (o.confusion) {
    std::cout << metrics::confusion_lines(report);
  } else if (o.json != "-" && !report.runs.empty()) {
    std::cout << metrics::report_table(report);
  }
  std::cout.flush();
  const std::vector<std::string> missed = metrics::missed(report, bounds);
  for (const std::string& line : missed) cli::say(line);
  if (cut_off) throw *cut_off;
  return missed.empty() ? 0 : static_cast<int>(ErrorKind::Negative);
}

}  // namespace

int main(int argc, char** argv) { return cli::run(kTool, argc, argv, declare, work); }
