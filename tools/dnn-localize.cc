// dnn-localize: finds the layer in which two networks, or two runs of one, part from each other.
#include "base/file.h"
#include "cli/moved.h"
#include "cli/output.h"
#include "localize/alignment_text.h"
#include "localize/localize_args.h"
#include "localize/precision_model.h"
#include "localize/preprocess_model.h"
#include "localize/present.h"

namespace dnn::tools::dnn_bisect {
cli::Program program();
}
namespace dnn::tools::dnn_repair {
cli::Program program();
}

namespace dnn::tools::dnn_localize {

const cli::Tool kTool = {
    .name = "dnn-localize",
    .summary = "Finds TARGET's wrong layers, or its preprocessing; of one MODEL, the layers that must stay float32.",
    .negative = "a layer is wrong, diverges or must stay float32; an INPUT not judged",
    .examples = {{"dnn-localize --preprocess imagenet-torch right.onnx wrong.onnx photos/", ""},
                 {"dnn-localize --preprocessing right.onnx wrong.onnx photos/", ""}}};

LocalizeReport compare_models(const LocalizeArgs& o) {
  LocalizeRequest request = localize_request(o);
  std::optional<cli::Progress> progress;
  show_samples(&request, &progress);
  return ModelComparison(request).run();
}

LocalizeReport compare_trace_files(const LocalizeArgs& o, std::optional<Error>* cut_off) {
  const std::unique_ptr<ByteSource> a = open_source(o.source), b = open_source(o.target);
  stream::Reader source(*a, source_name(o.source)), target(*b, source_name(o.target));
  Localizer localizer(nullptr, nullptr);
  if (!o.csv.empty()) localizer.measure_statistics();
  if (const auto sampling = o.label_sampling()) localizer.rank_labels(*sampling);
  if (o.json) localizer.show_first(o.tolerance);
  *cut_off = compare_traces(source, target, &localizer);
  try {
    return localizer.finish(o.tolerance);
  } catch (const Error&) {
    if (*cut_off) throw **cut_off;
    throw;
  }
}

bool search_preprocessing(const LocalizeArgs& o) {
  auto request = pair_request<PreprocessRequest>(o, o.source, o.target, o.target_preprocess);
  request.network = o.connected();  // many runs, which compiling pays for
  const SearchedPreprocess searched = search_preprocess_of(request);
  write_report(o, preprocess_report_json(searched), preprocess_report_text(searched));
  return searched.report.verdict == PreprocessReport::Verdict::Agree && searched.report.ran_out != true &&
         !searched.not_judged.any();
}

bool judge_precision(const LocalizeArgs& o) {
  auto request = search_request<PrecisionRequest>(o);
  request.model = o.source;
  request.inputs.insert(request.inputs.begin(), o.target);
  request.network = o.connected();
  request.search.dtype = precision_dtype(cli::precision_name(o.precision));
  if (o.gives("--atol") || o.gives("--rtol"))
    request.search.tolerance = {o.tolerance.atol, o.gives("--rtol") ? o.tolerance.rtol : 0};
  request.search.deadline = o.deadline();
  std::optional<cli::Progress> progress;
  show_samples(&request.search, &progress);
  const JudgedPrecision judged = judge_precision_of(request);
  if (!o.csv.empty()) cli::write_text(o.csv, precision_csv(judged));
  write_report(o, precision_json(judged), precision_text(judged, o.top), o.csv);
  return judged.report.keeps == size_t{0} && judged.report.ran_out != true && !judged.not_judged.any();
}

bool compare(const LocalizeArgs& o, LocalizeTask task) {
  std::optional<Error> cut_off;
  const LocalizeReport report = task == LocalizeTask::Traces ? compare_trace_files(o, &cut_off) : compare_models(o);
  if (!o.aligned.empty()) write_file(o.aligned, alignment_text(report));
  if (!o.csv.empty()) cli::write_text(o.csv, statistics_csv(report));
  const LocalizePresentation how = {o.source, o.target, o.sort, o.top};
  write_report(o, localize_json(report, how), localize_table(report, how), o.csv);
  if (cut_off) throw *cut_off;
  // Compiled with passes, a divergence may be a pass's or a kernel's.
  return report.agree() && report.ran_out != true && !report.not_judged.any() &&
         (!report.first || runs_as_written(o.network));
}

int work(const LocalizeArgs& o) {
  const LocalizeTask task = localize_task(o);
  const bool agree = task == LocalizeTask::Preprocessing ? search_preprocessing(o)
                     : task == LocalizeTask::Precision   ? judge_precision(o)
                                                         : compare(o, task);
  return agree ? 0 : static_cast<int>(ErrorKind::Negative);
}

// Until version 0.4: what became tools of their own.
const std::vector<cli::MovedOption> kMoved = {
    {"--passes", "", "dnn-bisect MODEL INPUT...", &dnn_bisect::program},
    {"--repair", "--output", "dnn-repair SOURCE TARGET INPUT... -o FILE", &dnn_repair::program}};

cli::Program program() { return cli::with_moved(cli::program(kTool, declare_localize, work), kMoved); }

}  // namespace dnn::tools::dnn_localize
