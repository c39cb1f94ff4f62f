// Repairing a model file; see repair_model.h.
#include "localize/repair_model.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "base/file.h"
#include "convert/convert.h"
#include "localize/outcome.h"
#include "localize/preprocess_model.h"
#include "localize/quantised_cost.h"
#include "localize/side_run.h"
#include "ops/op.h"

namespace dnn {
namespace {

constexpr size_t kMostSearched = 8;  // samples that edits are searched on
constexpr size_t kKept = 8;          // samples on which edits are tried, where their activations leave room
// Shares of the time, where that is limited, at which localising and the search for edits end.
constexpr double kLocalizeShare = 0.5, kEditsShare = 0.75;
constexpr const char* kRanOut = "the time ran out before an edit was found";
constexpr double kApart = 0.1;  // outputs further apart are no rounding, nor steps of quantisation

const Format& repairable_format(const std::string& path, const std::vector<std::string>& shapes) {
  const ModelSource model = open_model(path, shapes);
  if (!model.folder && looks_like_package(model.bytes))
    fail_usage(path, " is a package, compiled already: give the model that it was made of");
  try {
    return sniff_format(model);
  } catch (Error& e) {
    throw e.within(path);
  }
}

// How far both networks' outputs are from each other, by the sample's place among those that are given.
struct MovedPlaces {
  std::map<int64_t, Movement> by_place;
  NotJudged not_judged;
};

// The first sample always, the others while there is time.
MovedPlaces movements(const LocalizeRequest& request, const Deadline& deadline) {
  ComparedNetwork source(request, request.network, request.source, request.preprocess);
  ComparedNetwork target(request, request.network, request.target, target_preprocess_of(request));
  MovedPlaces found;
  const auto run = [](const ComparedNetwork& network, const LoadedSample& sample) {
    return outcome_of([&] {
      std::vector<Tensor> outputs = network.session->run(sample.inputs);
      for (size_t i = 0; i < outputs.size(); ++i) outputs[i] = as_numbers(network.graph, i, outputs[i]);
      return outputs;
    });
  };
  for (int64_t place = 0;; ++place) {
    const auto load_a = source.samples->next(), load_b = target.samples->next();
    if (!load_a || !load_b) return found;
    if (!found.by_place.empty() && deadline.stops()) {
      found.not_judged.left_out = std::max<int64_t>(1, source.samples->count().value_or(0) - place);
      return found;
    }
    const LoadedSample a = (*load_a)(), b = (*load_b)();
    if (a.error || b.error) {  // which localising warns of
      ++found.not_judged.unread;
      continue;
    }
    found.by_place[place] = movement(run(source, a), run(target, b), {.atol = 0, .rtol = kTolerance});
  }
}

Apart apart(const MovedPlaces& moved, const std::function<bool(int64_t place)>& takes) {
  Apart sum;
  for (const auto& [place, m] : moved.by_place) {
    if (!takes(place)) continue;
    ++sum.n_images;
    if (m.relabelled()) ++(m.excess > 1 ? sum.n_relabelled : sum.n_ties);
    sum.distance = std::max(sum.distance, m.max_abs == 0 ? 0 : m.max_abs / m.largest);
  }
  return sum;
}

// The places that edits are searched on: every second of those whose outputs differ, then every second of the others, so that what
// is held back shows a fault as well as what is searched.
std::set<int64_t> searched_places(const MovedPlaces& moved) {
  std::vector<int64_t> differing, others;
  for (const auto& [place, m] : moved.by_place) (m.excess > 1 ? differing : others).push_back(place);
  std::set<int64_t> places;
  for (const std::vector<int64_t>* list : {&differing, &others}) {
    for (size_t i = 0; i < list->size() && places.size() < kMostSearched; i += 2) places.insert((*list)[i]);
  }
  return places;
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
  const size_t n_classes = std::max<int64_t>(found.target_classes, 0);
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
      edit.classes.push_back(at);
    }
  }
  if (!edits.empty()) why_not->clear();
  return edits;
}

// The layers that are wrong, made right one by one, and the edits of all together.
void repair_layers(const RepairRequest& request, ModelComparison& comparison, RepairReport* report) {
  const QuantisedPair* quantised = comparison.quantised();
  std::vector<size_t> wrong;
  for (size_t i = 0; i < report->findings.size(); ++i) {
    const Finding& finding = report->findings[i];
    if (!finding.quantised) {
      wrong.push_back(finding.own);
      continue;
    }
    const QuantisedFault& fault = quantised->verdict().faults[*finding.quantised];
    SegmentRepair& repair = report->repairs.emplace_back();
    repair.own = finding.own == Finding::kNoOwn ? Finding::kNoOwn - 1 - *finding.quantised : finding.own;
    report->findings[i].own = repair.own;
    repair.edits = fault.edits;
    repair.times_before = fault.times;
    repair.times_without.assign(fault.edits.size(), fault.times);
    if (fault.edits.empty()) repair.why_not = "no edit in the target's own format mends it";
  }
  for (SegmentRepair& repair : search_repairs(comparison.source(), comparison.target(), comparison.own(), wrong,
                                              request.deadline.until(kEditsShare), quantised))
    report->repairs.push_back(std::move(repair));
  report->edits = edits_together(comparison.source(), comparison.written(), &report->repairs);
  if (report->edits.empty() && request.deadline.ran_out() == true)
    report->why_not = kRanOut;
  else if (report->edits.empty())
    report->why_not = "no edit that was tried makes a wrong layer right";
}

void search(const RepairRequest& request, const std::set<int64_t>& places, RepairReport* report) {
  LocalizeRequest localize = request;
  localize.takes = [&](int64_t place) { return places.count(place) != 0; };
  localize.keep = kKept;
  localize.keep_showing = true;
  localize.deadline = request.deadline.until(kLocalizeShare);
  auto comparison = std::make_unique<ModelComparison>(localize);
  LocalizeReport found = comparison->run();
  report->n_searched = found.n_samples;
  bool cut = found.ran_out == true;
  // What is healthy on these has to be so on all: the others are looked at in the same way.
  const bool others = !std::all_of(report->places.begin(), report->places.end(), localize.takes);
  if (found.agree() && !cut && others) {
    localize.takes = [&](int64_t place) { return places.count(place) == 0; };
    comparison = std::make_unique<ModelComparison>(localize);
    found = comparison->run();
    cut = found.ran_out == true;
    report->n_searched += found.n_samples;
    report->unseen = found.agree() && !cut;
  }
  report->findings = found.findings;
  report->n_parameters_differing = static_cast<int64_t>(found.differences.size());
  const bool all = !report->not_judged.any();
  if (found.agree() && !cut && all) return;
  report->verdict = RepairReport::Verdict::NotRepaired;
  if (found.findings.empty() && cut) {
    report->why_not =
        "the time ran out before all samples and layers were looked at; of those that were, none is wrong";
    return;
  }
  if (found.agree()) {
    report->why_not = "no layer is wrong on the inputs that were judged, which are not all";
    return;
  }
  if (found.findings.empty()) {
    report->edits = preprocess_edits(request, &report->why_not);
    return;
  }
  repair_layers(request, *comparison, report);
}

// What operators on integers make that stay such operators when they are read.
std::set<std::string> made_on_integers(const Graph& graph) {
  std::set<std::string> made;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == "QLinearConv" || node.op == "QLinearMatMul") made.insert(graph.value(node.output(0)).name);
  }
  return made;
}

void write(const RepairRequest& request, RepairReport* report) {
  const Graph source = read_model(open_model(request.source, request.network.shapes));
  Graph target = read_model(open_model(request.target, request.network.shapes));
  const std::set<std::string> on_integers = made_on_integers(target);
  // Edits name what the search saw, which has quantisers in place of operators on integers.
  if (Graph expanded = with_quantisers(target); QuantisedPair::is_one(source, expanded)) target = std::move(expanded);
  EditSource edit_source(source);
  apply_edits(report->edits, edit_source, target);
  infer_types(target);
  ConvertOptions options;
  options.write.qoperator = !on_integers.empty();
  if (options.write.qoperator) settle_products(&target);
  options.certificate.threads = request.threads;
  options.warn = request.folders.warn;
  if (const auto opset = target.source_opsets.find(""); opset != target.source_opsets.end())
    options.write.opset = static_cast<int>(std::clamp<int64_t>(opset->second, 7, kIrOpset));
  options.keep = true;  // what counts is how far it is from the source
  report->certificate = convert_model(std::move(target), request.output, options);
  report->output = request.output;
  if (on_integers.empty()) return;
  const std::set<std::string> kept = made_on_integers(read_model(open_model(request.output, request.network.shapes)));
  std::set_difference(on_integers.begin(), on_integers.end(), kept.begin(), kept.end(),
                      std::back_inserter(report->between_quantisers));
}

bool says_preprocess(const std::vector<Edit>& edits) {
  return std::any_of(edits.begin(), edits.end(), [](const Edit& e) { return e.kind == Edit::Kind::Preprocess; });
}

bool keeps_preprocess(const RepairRequest& request) {
  const Graph written = read_model(open_model(request.output, request.network.shapes));
  return std::any_of(written.metadata.begin(), written.metadata.end(),
                     [](const auto& entry) { return entry.first == "preprocess"; });
}

std::string not_explained(const OutputNoise& noise) {
  if (!noise.why_not.empty()) return "it could not be run beside the source: " + noise.why_not;
  return cat(
      "no layer is wrong by itself, but as it runs its outputs are further from the source's than its quantisers "
      "explain",
      noise.from.empty() ? "" : cat(", from ", noise.from, " on"));
}

// What was written, on all inputs: those that the search did not see are told of, those that it saw have to be right as well.
void judge(const RepairRequest& request, const MovedPlaces& before, const std::set<int64_t>& places,
           RepairReport* report) {
  LocalizeRequest again = request;
  again.target = request.output;
  again.alignment.clear();  // which names what may be gone
  again.stored_preprocess = says_preprocess(report->edits);
  const Deadline& deadline = request.deadline;
  const MovedPlaces after = movements(again, deadline);
  const auto both = [&](int64_t place) {
    return before.by_place.count(place) != 0 && after.by_place.count(place) != 0;
  };
  const auto told = [&](int64_t place) { return both(place) && (!report->unseen || places.count(place) == 0); };
  report->before = apart(before, told);
  report->after = apart(after, told);
  const Apart all = apart(after, [](int64_t) { return true; });
  report->verdict = RepairReport::Verdict::NotRepaired;
  const auto cut = [&] {
    if (!deadline.stops()) return false;
    report->why_not = "the time ran out before it was judged on all samples";
    return true;
  };
  if (cut()) return;
  try {
    ModelComparison comparison(again);
    const LocalizeReport found = comparison.run();
    report->left = found.findings;
    report->n_judged = found.n_samples;
    report->not_judged = found.not_judged;
    if (cut()) return;
    if (report->not_judged.any()) {
      report->why_not = "not every input could be judged";
      return;
    }
    if (!found.agree()) return;
    bool near = all.n_relabelled == 0 && all.distance <= kApart;
    if (found.quantisation) {
      report->noise = comparison.noise();
      if (cut()) return;
      near = report->noise->holds();
      if (!near) report->why_not = not_explained(*report->noise);
    }
    if (near) report->verdict = RepairReport::Verdict::Repaired;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Negative) throw;
    report->why_not = e.what();
  }
}

}  // namespace

RepairReport repair_model(const RepairRequest& request) {
  repairable_format(request.source, request.network.shapes);  // which edits take from
  const Format& format = repairable_format(request.target, request.network.shapes);
  const Format* wanted = format_for_path(request.output);
  if (wanted != &format)
    fail_usage("-o ", request.output, ": the target is ", format.name,
               ", and so is what is repaired; its names end in ", format.extensions);
  std::error_code not_there;
  if (std::filesystem::equivalent(request.output, request.source, not_there))
    fail_usage("-o ", request.output, " is the source");
  if (format.to_files == nullptr) fail_unsupported(request.target, ": ", format.name, " cannot be written");
  RepairReport report;
  report.source = request.source;
  report.target = request.target;
  const MovedPlaces before = movements(request, request.deadline.until(kLocalizeShare));
  if (before.by_place.empty()) throw Error(ErrorKind::Negative, "no input could be read, so nothing is written");
  for (const auto& [place, moved] : before.by_place) report.places.push_back(place);
  report.not_judged = before.not_judged;
  const std::set<int64_t> places = searched_places(before);
  // The target may be what is written, so what it was like is known by then.
  if (request.apply.empty()) {
    search(request, places, &report);
  } else {
    report.edits = parse_edits(read_file(request.apply), request.apply);
    if (report.edits.empty()) fail_usage("--apply ", request.apply, " holds no edits: there is nothing to make");
  }
  if (request.found) request.found(report.edits);
  report.ran_out = request.deadline.ran_out();
  if (report.edits.empty()) report.n_judged = report.n_searched;
  if (report.edits.empty()) return report;
  report.unseen = report.unseen && places.size() < before.by_place.size();
  const auto told = [&](int64_t place) { return !report.unseen || places.count(place) == 0; };
  report.before = apart(before, told);
  write(request, &report);
  if (says_preprocess(report.edits) && !keeps_preprocess(request)) {
    report.verdict = RepairReport::Verdict::NotRepaired;
    report.why_not =
        cat(format.name,
            " does not keep what a model says of its preprocessing; run the target with the one that was found");
    return report;
  }
  judge(request, before, places, &report);
  report.ran_out = request.deadline.ran_out();
  return report;
}

}  // namespace dnn
