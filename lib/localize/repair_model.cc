// Repairing a model file; see repair_model.h.
#include "localize/repair_model.h"

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "convert/convert.h"
#include "localize/outcome.h"
#include "localize/preprocess_model.h"
#include "localize/side_run.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr int64_t kMostSearched = 8;  // every second of the first samples
constexpr int64_t kMostJudged = 8;    // of the others, layer by layer
constexpr size_t kKept = 8;           // samples on which edits are tried, where their activations leave room
// Shares of the time, where that is limited, at which localising and the search for edits end.
constexpr double kLocalizeShare = 0.5, kEditsShare = 0.75;
constexpr const char* kRanOut = "the time ran out before an edit was found";
constexpr double kApart = 0.1;  // outputs further apart are no rounding, nor steps of quantisation

bool searched(int64_t place) { return place % 2 == 0 && place < 2 * kMostSearched; }

const Format& format_of(const std::string& path, const std::vector<std::string>& shapes) {
  const ModelSource model = open_model(path, shapes);
  if (!model.folder && looks_like_package(model.bytes))
    fail_usage(path, " is a package, compiled already: --repair wants the model that it was made of");
  try {
    return sniff_format(model);
  } catch (Error& e) {
    throw e.within(path);
  }
}

// How far both networks' outputs are from each other, sample by sample; the first always, the others while there is time.
std::vector<Movement> movements(const LocalizeRequest& request) {
  ComparedNetwork source(request, request.source, request.preprocess);
  ComparedNetwork target(request, request.target, target_preprocess_of(request));
  std::vector<Movement> found;
  const auto run = [](const ComparedNetwork& network, const LoadedSample& sample) {
    return outcome_of([&] { return network.session->run(sample.inputs); });
  };
  while (true) {
    const auto load_a = source.samples->next(), load_b = target.samples->next();
    if (!load_a || !load_b || (!found.empty() && request.deadline.stops())) return found;
    const LoadedSample a = (*load_a)(), b = (*load_b)();
    if (a.error || b.error) continue;  // which the search has said
    found.push_back(movement(run(source, a), run(target, b), {.atol = 0, .rtol = kTolerance}));
  }
}

Apart apart(const std::vector<Movement>& movements, size_t n) {
  Apart sum;
  for (size_t i = 0; i < std::min(n, movements.size()); ++i) {
    const Movement& moved = movements[i];
    ++sum.n_images;
    if (moved.relabelled()) ++(moved.excess > 1 ? sum.n_relabelled : sum.n_ties);
    sum.distance = std::max(sum.distance, moved.max_abs == 0 ? 0 : moved.max_abs / moved.largest);
  }
  return sum;
}

// The edits that a preprocessing and an order of classes are; empty, and why, where they do not explain the difference.
std::vector<Edit> preprocess_edits(const RepairRequest& request, std::string* why_not) {
  *why_not = "no layer is wrong by itself, so inputs or outputs may mean something else; ";
  if (!names_images(request.inputs) || request.preprocess.empty()) {
    *why_not += "with images and --preprocess, that is searched too";
    return {};
  }
  PreprocessRequest search;
  search.source = request.source;
  search.target = request.target;
  search.inputs = request.inputs;
  search.preprocess = request.preprocess;
  search.target_preprocess = request.target_preprocess;
  search.network = request.network;
  if (search.network.device == "reference" && !search.network.level) search.network.device = "cpu";  // for many runs
  search.folders = request.folders;
  search.threads = request.threads;
  search.deadline = request.deadline.until(kEditsShare).rest();
  const PreprocessReport found = search_preprocess_of(search).report;
  const auto n_classes = static_cast<size_t>(std::max<int64_t>(found.target_classes, 0));
  std::vector<Edit> edits;
  if (found.verdict != PreprocessReport::Verdict::Explained || found.found.handling != Handling::AsIs) {
    if (found.ran_out.value_or(false)) *why_not += "the time ran out before every preprocessing was tried; so far ";
    *why_not += "no preprocessing or order of classes that a model can hold explains it (--preprocessing says more)";
    return {};
  }
  if (found.found.preprocess != found.assumed.preprocess) {
    Edit& edit = edits.emplace_back();
    edit.kind = Edit::Kind::Preprocess;
    edit.key = to_json(found.found.preprocess);
  }
  if (found.found.labels != found.assumed.labels) {
    Edit& edit = edits.emplace_back();
    edit.kind = Edit::Kind::Classes;
    for (int64_t c = 0; c < found.source_classes; ++c) {
      const int64_t at = found.found.labels.at(c);
      if (at < 0 || static_cast<size_t>(at) >= n_classes) {
        *why_not += cat("class ", c, " of the source is none of the target's");
        return {};
      }
      edit.classes.push_back(static_cast<size_t>(at));
    }
  }
  if (!edits.empty()) why_not->clear();
  return edits;
}

void search(const RepairRequest& request, RepairReport* report) {
  LocalizeRequest localize = request;
  localize.takes = searched;
  localize.keep = kKept;
  localize.deadline = request.deadline.until(kLocalizeShare);
  ModelComparison comparison(localize);
  const LocalizeReport found = comparison.run();
  report->n_searched = found.n_samples;
  report->findings = found.findings;
  report->n_parameters_differing = static_cast<int64_t>(found.differences.size());
  const bool cut = found.ran_out == true;
  if (found.agree() && !cut) return;
  report->verdict = RepairReport::Verdict::NotRepaired;
  if (found.findings.empty() && cut) {
    report->why_not =
        "the time ran out before all samples and layers were looked at; of those that were, none is wrong";
    return;
  }
  if (found.findings.empty()) {
    report->edits = preprocess_edits(request, &report->why_not);
    return;
  }
  std::vector<size_t> wrong;
  for (const Finding& finding : found.findings) wrong.push_back(finding.own);
  report->repairs = search_repairs(comparison.source(), comparison.target(), comparison.own(), wrong,
                                   request.deadline.until(kEditsShare));
  report->edits = edits_together(comparison.source(), comparison.target(), &report->repairs);
  if (report->edits.empty() && request.deadline.ran_out() == true)
    report->why_not = kRanOut;
  else if (report->edits.empty())
    report->why_not = "no edit that was tried makes a wrong layer right";
}

void write(const RepairRequest& request, RepairReport* report) {
  const Graph source = read_model(open_model(request.source, request.network.shapes));
  Graph target = read_model(open_model(request.target, request.network.shapes));
  EditSource edit_source(source);
  apply_edits(report->edits, edit_source, target);
  infer_types(target);
  ConvertOptions options;
  options.certificate.threads = request.threads;
  options.warn = request.folders.warn;
  if (const auto opset = target.source_opsets.find(""); opset != target.source_opsets.end())
    options.write.opset = static_cast<int>(std::clamp<int64_t>(opset->second, 7, kIrOpset));
  options.keep = true;  // what counts is how far it is from the source
  report->certificate = convert_model(std::move(target), request.output, options);
  report->output = request.output;
}

bool says_preprocess(const std::vector<Edit>& edits) {
  return std::any_of(edits.begin(), edits.end(), [](const Edit& e) { return e.kind == Edit::Kind::Preprocess; });
}

bool keeps_preprocess(const RepairRequest& request) {
  const Graph written = read_model(open_model(request.output, request.network.shapes));
  return std::any_of(written.metadata.begin(), written.metadata.end(),
                     [](const auto& entry) { return entry.first == "preprocess"; });
}

// The samples that the search did not see; where there are none, all.
LocalizeRequest judged_on(const RepairRequest& request, RepairReport* report, std::vector<Movement>* before) {
  LocalizeRequest rest = request;
  rest.takes = [](int64_t place) { return !searched(place); };
  *before = movements(rest);
  if (!before->empty()) return rest;
  report->unseen = false;
  rest.takes = {};
  *before = movements(rest);
  if (before->empty()) throw Error(ErrorKind::Negative, "no input could be read, so nothing is written");
  return rest;
}

void judge(LocalizeRequest rest, const RepairRequest& request, const std::vector<Movement>& before,
           RepairReport* report) {
  rest.target = request.output;
  rest.alignment.clear();  // which names what may be gone
  rest.stored_preprocess = says_preprocess(report->edits);
  const Deadline& deadline = request.deadline;
  const std::vector<Movement> after = movements(rest);
  const size_t n = std::min(before.size(), after.size());
  report->before = apart(before, n);
  report->after = apart(after, n);
  LocalizeRequest again = rest;
  again.takes = [unseen = report->unseen](int64_t place) {
    return unseen ? place % 2 == 1 && place < 2 * kMostJudged : place < kMostJudged;
  };
  report->verdict = RepairReport::Verdict::NotRepaired;
  const auto cut = [&] {
    if (!deadline.stops()) return false;
    report->why_not = "the time ran out before it was judged on all samples";
    return true;
  };
  if (cut()) return;
  try {
    const LocalizeReport found = ModelComparison(again).run();
    report->left = found.findings;
    if (cut()) return;
    if (found.agree() && report->after.n_relabelled == 0 && report->after.distance <= kApart)
      report->verdict = RepairReport::Verdict::Repaired;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Negative) throw;
    report->why_not = e.what();
  }
}

}  // namespace

RepairReport repair_model(const RepairRequest& request) {
  format_of(request.source, request.network.shapes);  // which edits take from
  const Format& format = format_of(request.target, request.network.shapes);
  const Format* wanted = format_for_path(request.output);
  if (wanted != &format)
    fail_usage("--repair ", request.output, ": the target is ", format.name,
               ", and so is what is repaired; its names end in ", format.extensions);
  std::error_code not_there;
  if (std::filesystem::equivalent(request.output, request.source, not_there))
    fail_usage("--repair ", request.output, " is the source");
  if (format.to_files == nullptr) fail_unsupported(request.target, ": ", format.name, " cannot be written");
  RepairReport report;
  report.source = request.source;
  report.target = request.target;
  if (request.apply.empty()) {
    search(request, &report);
  } else {
    report.edits = parse_edits(read_file(request.apply), request.apply);
    if (report.edits.empty()) fail_usage("--apply ", request.apply, " holds no edits: there is nothing to make");
  }
  if (request.found) request.found(report.edits);
  report.ran_out = request.deadline.ran_out();
  if (report.edits.empty()) return report;
  std::vector<Movement> before;
  const LocalizeRequest rest = judged_on(request, &report, &before);  // the target may be what is written
  report.before = apart(before, before.size());
  write(request, &report);
  if (says_preprocess(report.edits) && !keeps_preprocess(request)) {
    report.verdict = RepairReport::Verdict::NotRepaired;
    report.why_not =
        cat(format.name,
            " does not keep what a model says of its preprocessing; run the target with the one that was found");
    return report;
  }
  judge(rest, request, before, &report);
  report.ran_out = request.deadline.ran_out();
  return report;
}

}  // namespace dnn
