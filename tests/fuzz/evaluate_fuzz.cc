// dnn-eval on hostile streams: two runs out of the bytes, or one, evaluated and presented in every form; only Malformed and Unsupported
// may escape.
#include "fuzz/fuzz.h"
#include "metrics/baseline.h"
#include "metrics/bounds.h"
#include "metrics/present.h"
#include "report/ci.h"
#include "stream/stream.h"

namespace {

using namespace dnn;

void add_all(Bytes input, metrics::Evaluation* evaluation) {
  MemorySource source(input);
  stream::Reader reader(source, "fuzz");
  try {
    while (std::optional<stream::Record> record = reader.next()) evaluation->add(std::move(*record));
  } catch (const Error& error) {  // what arrived is evaluated all the same
    if (error.kind() != ErrorKind::Malformed && error.kind() != ErrorKind::Unsupported) throw;
  }
}

}  // namespace

DNN_FUZZ(evaluate) {
  return fuzz::refuse_or_accept([&] {
    metrics::Evaluation evaluation({1e-6, 1e-4}, true, 1 << 16);
    if (size % 2 == 0) evaluation.group_by({"device", "opt", "host.cpu"});
    evaluation.keep_details();
    const Bytes input = fuzz::as_input(data, size);
    add_all(input, &evaluation);
    add_all(input, &evaluation);
    const metrics::Report report = evaluation.finish();
    metrics::report_table(report);
    metrics::disagreement_lines(report);
    metrics::confusion_lines(report);
    metrics::Bounds bounds;
    bounds.min_accuracy = 50;
    bounds.max_disagreement = 1;
    const std::vector<metrics::Check> checks = metrics::judged(report, bounds);
    const std::string json = metrics::report_json(report);
    for (const std::string& text : {json, report::junit_xml(report, checks), report::sarif_json(report, checks),
                                    report::comment_markdown(report, checks, nullptr)}) {
      if (!is_utf8(text)) __builtin_trap();
    }
    // The report is a baseline that nothing is worse than.
    const metrics::Baseline baseline = metrics::parse_baseline(json, "fuzz");
    metrics::compare_with(report, baseline, {});
  });
}
