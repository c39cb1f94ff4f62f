// Searching the preprocessing of model files; see preprocess_model.h.
#include "localize/preprocess_model.h"

#include <algorithm>

#include "base/counted.h"
#include "base/printable.h"
#include "localize/localize_models.h"
#include "localize/words.h"

namespace dnn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostImages = 216;  // held decoded: 16 searched, 200 unseen

// A network with one image as input.
struct Network : OpenedNetwork {
  Network(const PreprocessRequest& request, const std::string& path)
      : OpenedNetwork(path, request.network, request.folders, request.threads, "3") {
    if (package->graph().outputs.empty()) fail_usage(path, ": has no output");
  }
  Preprocess preprocess(const std::string& name, const PreprocessOptions& options, bool orientation) const {
    std::optional<Preprocess> found = choose_preprocess(*package, plan, name, options, orientation);
    if (!found) fail_usage("say the right preprocessing of the source, --preprocess ", join(preprocess_names(), "|"));
    return *found;
  }
  Tensor run(const Tensor& input) const { return session->run({fit(input, plan.slots[0])})[0]; }
};

// The images that the inputs name; of many, as many as are held, evenly spread.
std::vector<Image> load_images(const PreprocessRequest& request, const Network& network, const Deadline& deadline,
                               NotJudged* not_judged) {
  if (!names_images(request.inputs)) fail_usage("a preprocessing is of images: INPUT names none");
  std::vector<Image> images;
  SourceOptions options;
  options.inputs = request.inputs;
  options.apply_orientation = request.apply_orientation;
  options.preprocessor = [&](const stream::Sample& sample) {
    Image image;
    image.height = static_cast<int>(sample.tensor.dim(0));
    image.width = static_cast<int>(sample.tensor.dim(1));
    const auto pixels = sample.tensor.values<uint8_t>();
    image.rgb.assign(pixels.begin(), pixels.end());
    images.push_back(std::move(image));
    return Tensor(DType::Float32, network.plan.slots[0].shape);
  };
  const std::unique_ptr<SampleSource> source = open_samples(options, network.plan);
  const int64_t count = source->count().value_or(kMostImages);
  int64_t i = 0, taken = 0;
  for (auto load = source->next(); load; load = source->next(), ++i) {
    const bool too_many = count > kMostImages && i * kMostImages / count < taken;
    if (too_many || (images.size() >= 2 && deadline.stops())) {
      ++not_judged->left_out;
      continue;
    }
    const LoadedSample sample = (*load)();
    const std::string complaint = sample.error ? cat(sample.error->what(), "; skipped") : sample.warning;
    if (!complaint.empty() && request.folders.warn) request.folders.warn(complaint);
    ++(sample.error ? not_judged->unread : taken);
  }
  return images;
}

std::string percent(size_t part, size_t whole) {
  return whole == 0 ? "0" : number_text(100.0 * static_cast<double>(part) / static_cast<double>(whole), "%.1f");
}

std::string nearness_text(const Nearness& n) {
  return cat(percent(n.n_relabelled, n.n_images), " % of labels differ, outputs by ", words::number(n.distance));
}

std::string labels_text(const LabelMap& labels) {
  if (!labels.listed.empty()) return "permuted";
  if (labels.offset == 0) return "";
  return labels.offset > 0 ? cat("class + ", labels.offset) : cat("class - ", -labels.offset);
}

std::string hypothesis_text(const Hypothesis& h) {
  std::string text = preprocess_spec(h.preprocess);
  if (h.handling != Handling::AsIs) text += cat("; ", handling_name(h.handling));
  if (!h.labels.identity()) text += "; " + labels_text(h.labels);
  return text;
}

Json nearness_json(const Nearness& n) {
  return {{"images", n.n_images}, {"labels_differing", n.n_relabelled}, {"distance", words::json_number(n.distance)}};
}

Json hypothesis_json(const Hypothesis& h) {
  return {{"spec", preprocess_spec(h.preprocess)},
          {"preprocess", Json::parse(to_json(h.preprocess))},
          {"handling", handling_name(h.handling)},
          {"label_offset", h.labels.offset},
          {"label_permutation", h.labels.listed}};
}

}  // namespace

SearchedPreprocess search_preprocess_of(const PreprocessRequest& request) {
  const Network source(request, request.source), target(request, request.target);
  PreprocessSearch search;
  search.deadline = request.deadline.rest();  // compiling is no part of the search
  const Preprocess right = source.preprocess(request.preprocess, request.spelled_out, false);
  search.source_preprocess = target.preprocess(request.preprocess, request.spelled_out, false);
  search.assumed = *search.source_preprocess;
  if (!request.target_preprocess.empty()) {
    std::string name;
    PreprocessOptions options;
    parse_preprocess_spec(request.target_preprocess, &name, &options);
    search.assumed = target.preprocess(name, options, false);
  }
  NotJudged not_judged;
  search.images = load_images(request, source, search.deadline.until(kLoadShare), &not_judged);
  search.source = [&](const Image& image) { return source.run(to_tensor(image, right)); };
  search.target = [&](const Tensor& input) { return target.run(input); };
  search.rtol = request.rtol;
  search.note = request.folders.note;
  SearchedPreprocess searched = {request.source, request.target, search_preprocess(search), not_judged};
  // What the search itself left out, for want of time.
  const PreprocessReport& report = searched.report;
  searched.not_judged.left_out +=
      static_cast<int64_t>(search.images.size() - std::min(search.images.size(), report.n_searched + report.n_unseen));
  return searched;
}

std::string preprocess_report_text(const SearchedPreprocess& s) {
  const PreprocessReport& r = s.report;
  using Verdict = PreprocessReport::Verdict;
  std::string out =
      cat("source ", plain(s.source), "\ntarget ", plain(s.target), "\n",
          counted(static_cast<int64_t>(r.n_searched + r.n_unseen), "image"), ": ", r.n_searched, " searched, ",
          r.n_unseen, r.n_unseen == 0 ? " unseen, so judged on itself" : " unseen until the end", s.not_judged.text(),
          "; ", counted(r.n_runs, "run"), " of the target\n");
  if (r.source_softmax != r.target_softmax)
    out += cat("the ", r.source_softmax ? "source" : "target",
               " gives probabilities; the other's are computed from its outputs\n");
  if (r.ran_out == true) out += "the time ran out (--time-limit): hypotheses or images were left out\n";
  out += cat("as assumed: ", hypothesis_text(r.assumed), "\n  ", nearness_text(r.before), "\n");
  if (r.verdict == Verdict::Agree)
    return out + (s.not_judged.any() ? "the two agree on these" : "the two agree") + ": there is nothing to explain\n";
  if (r.verdict == Verdict::None) {
    out += "none: no other preprocessing or order of labels explains the difference\n";
    if (r.found == r.assumed) return out;
  }
  out += cat(r.verdict == Verdict::Explained ? "explained by"
             : r.verdict == Verdict::Partly  ? "partly explained by"
                                             : "the best found is",
             ": ", hypothesis_text(r.found), "\n  ", nearness_text(r.after), "; it removes ",
             number_text(100 * r.explained, "%.4g"), " % of the distance\n");
  for (const PreprocessChange& c : r.changes)
    out += cat("  ", c.factor, ": ", c.from, " -> ", c.to, "\n    without it ", nearness_text(c.without), "\n");
  if (!r.others.empty()) {
    out += "next best, on the images of the search:\n";
    for (const auto& [h, n] : r.others) out += cat("  ", hypothesis_text(h), "\n    ", nearness_text(n), "\n");
  }
  if (r.verdict != Verdict::None)
    out += cat("to use it: --preprocess and what follows, of ", preprocess_spec(r.found.preprocess), "\n");
  return out;
}

std::string preprocess_report_json(const SearchedPreprocess& s) {
  const PreprocessReport& r = s.report;
  Json json = {{"source", s.source},
               {"target", s.target},
               {"verdict", verdict_name(r.verdict)},
               {"searched", r.n_searched},
               {"unseen", r.n_unseen},
               {"runs", r.n_runs},
               {"source_classes", r.source_classes},
               {"target_classes", r.target_classes},
               {"source_softmax", r.source_softmax},
               {"target_softmax", r.target_softmax},
               {"assumed", hypothesis_json(r.assumed)},
               {"before", nearness_json(r.before)},
               {"found", hypothesis_json(r.found)},
               {"after", nearness_json(r.after)},
               {"explained", words::json_number(r.explained)},
               {"changes", Json::array()},
               {"others", Json::array()}};
  s.not_judged.put_into(&json);
  if (r.ran_out) json["ran_out"] = *r.ran_out;
  for (const PreprocessChange& c : r.changes)
    json["changes"].push_back(
        {{"factor", c.factor}, {"from", c.from}, {"to", c.to}, {"without", nearness_json(c.without)}});
  for (const auto& [h, n] : r.others) {
    Json entry = hypothesis_json(h);
    entry["nearness"] = nearness_json(n);
    json["others"].push_back(std::move(entry));
  }
  return words::json_line(json);
}

}  // namespace dnn
