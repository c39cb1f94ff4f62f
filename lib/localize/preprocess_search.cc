// Searching preprocessings and labels; see preprocess_search.h.
#include "localize/preprocess_search.h"

#include <algorithm>
#include <cstdlib>

#include "base/error.h"
#include "localize/preprocess_candidates.h"
#include "localize/preprocess_scores.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr size_t kFirstImages = 2;  // that every hypothesis is tried on
constexpr size_t kLastKept = 3;     // hypotheses of a factor that go on to the next
// Shares of the time, where that is limited: for what is judged on, and until the search ends.
constexpr double kJudgedShare = 0.25, kSearchShare = 0.75;
constexpr double kPartly = 0.5, kExplained = 0.9;  // share of the distance
constexpr double kNeeded = 0.25;  // of the distance that remains: what taking a needed change back costs

// A hypothesis with its distances over some images.
struct Ranked {
  Hypothesis hypothesis;
  Nearness nearness;
  double blind = 0;  // distance that no order of classes changes
};

std::vector<Hypothesis> hypotheses(const std::vector<Ranked>& ranking) {
  std::vector<Hypothesis> list;
  for (const Ranked& r : ranking) list.push_back(r.hypothesis);
  return list;
}

// The candidates of all bases, each one once.
template <class Candidates>
std::vector<Hypothesis> spread(const std::vector<Hypothesis>& bases, const Candidates& candidates) {
  std::vector<Hypothesis> list;
  for (const Hypothesis& base : bases) {
    for (const Hypothesis& h : candidates(base)) {
      if (std::find(list.begin(), list.end(), h) == list.end()) list.push_back(h);
    }
  }
  return list;
}

std::vector<size_t> first_of(const std::vector<size_t>& images, size_t n) {
  return {images.begin(), images.begin() + static_cast<std::ptrdiff_t>(n)};
}

// The `n` nearest, and some of those that are nearest but for the order of classes.
std::vector<Ranked> best_of(std::vector<Ranked> ranking, size_t n) {
  std::stable_sort(ranking.begin(), ranking.end(),
                   [](const Ranked& a, const Ranked& b) { return a.nearness.distance < b.nearness.distance; });
  std::vector<Ranked> kept(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(std::min(n, ranking.size())));
  std::stable_sort(ranking.begin(), ranking.end(), [](const Ranked& a, const Ranked& b) { return a.blind < b.blind; });
  for (size_t i = 0; i < std::min(std::max<size_t>(1, n / 4), ranking.size()); ++i) {
    const bool there =
        std::any_of(kept.begin(), kept.end(), [&](const Ranked& k) { return k.hypothesis == ranking[i].hypothesis; });
    if (!there) kept.push_back(ranking[i]);
  }
  return kept;
}

// Labels may agree while outputs differ by a temperature, and the other way round: both must be explained.
PreprocessReport::Verdict verdict_of(const PreprocessReport& report) {
  using Verdict = PreprocessReport::Verdict;
  const double before = static_cast<double>(report.before.n_relabelled),
               after = static_cast<double>(report.after.n_relabelled);
  const bool labels = after <= std::max(0.1 * before, 0.02 * static_cast<double>(report.after.n_images));
  const bool fewer = after < before || before == 0;
  if (report.found == report.assumed) return Verdict::None;
  if (labels && report.explained >= kExplained) return Verdict::Explained;
  return report.explained >= kPartly && fewer ? Verdict::Partly : Verdict::None;
}

// The source's outputs for the images that there is time for, two at least.
std::vector<ClassScores> source_scores(const PreprocessSearch& search) {
  std::vector<ClassScores> scores;
  for (const Image& image : search.images) {
    if (scores.size() >= 2 && search.deadline.until(kJudgedShare / 2).stops()) break;
    const Tensor output = search.source(image);
    if (top_label(output) < 0 || (!scores.empty() && scores[0].size() != static_cast<size_t>(output.size())))
      throw Error(ErrorKind::Negative, "the source's output is no list of classes");
    scores.push_back(to_doubles(output));
  }
  return scores;
}

// Successive halving of hypotheses over the searched images, until `end`. All are kept by reference.
class SuccessiveHalving {
 public:
  SuccessiveHalving(PreprocessOutputs* outputs, const std::vector<size_t>& searched, const Deadline& end)
      : outputs_(outputs), searched_(searched), end_(end) {}

  // The best few of `candidates` on all searched images, best first. Half of them may owe their place to outputs that are right
  // but for the order of classes. When the time is over, those of the last whole round, which begins with `before`; without one,
  // those that were judged.
  std::vector<Ranked> best(std::vector<Hypothesis> candidates, std::vector<Ranked> before) {
    size_t n = std::min(kFirstImages, searched_.size());
    while (true) {
      const std::vector<size_t> images = first_of(searched_, n);
      std::vector<Ranked> ranking;
      for (const Hypothesis& h : candidates) {
        if ((!ranking.empty() || !before.empty()) && end_.stops()) break;
        ranking.push_back(ranked(h, images));
      }
      const bool cut = ranking.size() < candidates.size();
      if (cut && !before.empty()) {
        before.resize(std::min(kLastKept, before.size()));
        return before;
      }
      const bool last = cut || n == searched_.size();
      const size_t left = last ? kLastKept : std::max(kLastKept, candidates.size() / 4);
      before = best_of(std::move(ranking), left);
      if (last) return before;
      candidates = hypotheses(before);
      n = std::min(2 * n, searched_.size());
    }
  }

 private:
  // A hypothesis with the offset of labels that suits it best.
  Ranked ranked(Hypothesis h, const std::vector<size_t>& images) {
    const std::vector<ScorePair> scores = outputs_->scores(h, images);
    Ranked best;
    best.blind = sorted_distance(scores);
    std::vector<LabelMap> maps;
    for (const int64_t offset : offsets()) maps.push_back({offset, {}});
    if (!h.labels.listed.empty()) maps.push_back(h.labels);
    for (size_t i = 0; i < maps.size(); ++i) {
      h.labels = maps[i];
      const Nearness n = nearness(scores, h.labels);
      if (i == 0 || n.distance < best.nearness.distance) {
        best.hypothesis = h;
        best.nearness = n;
      }
    }
    return best;
  }

  std::vector<int64_t> offsets() const {
    const auto more =
        static_cast<int64_t>(outputs_->target_classes()) - static_cast<int64_t>(outputs_->source_classes());
    if (more == 1) return {1, 0};
    if (more == -1) return {-1, 0};
    return {0, 1, -1};
  }

  PreprocessOutputs* outputs_;
  const std::vector<size_t>& searched_;
  const Deadline& end_;
};

class Searcher {
 public:
  explicit Searcher(const PreprocessSearch& search)
      : search_(search), outputs_(search.images, search.target, source_scores(search)) {
    // Every second image is searched, so that both halves hold something of every folder.
    const size_t n = outputs_.source().size();
    for (size_t i = 0; i < n; ++i)
      (i % 2 == 0 && searched_.size() < search.n_searched ? searched_ : unseen_).push_back(i);
    n_unseen_ = unseen_.size();
    if (unseen_.empty()) unseen_ = searched_;
    end_ = search.deadline.until(kSearchShare);
  }

  PreprocessReport run() {
    PreprocessReport report;
    report.n_searched = searched_.size();
    report.assumed.preprocess = search_.assumed;
    report.assumed.preprocess.name = "custom";  // two names of one preprocessing are one hypothesis
    report.found = report.assumed;
    const std::vector<size_t> sampled = compare_outputs(&report);
    limit_unseen(report.assumed, search_.deadline.until(kJudgedShare));
    report.before = report.after = outputs_.nearness_of(report.assumed, unseen_);
    report.n_unseen = n_unseen_;
    const Nearness on_searched = outputs_.nearness_of(report.assumed, sampled);
    if (report.before.n_relabelled + on_searched.n_relabelled == 0 &&
        std::max(report.before.distance, on_searched.distance) <= search_.rtol) {
      report.verdict = PreprocessReport::Verdict::Agree;
    } else {
      report.found = stripped(search_all(report.assumed, &report), report.assumed);
      judge_found(&report);
    }
    report.n_runs = outputs_.n_runs();
    report.ran_out = search_.deadline.ran_out();
    return report;
  }

 private:
  // Classes and kinds of both outputs, as assumed; returns the searched images that there was time for.
  std::vector<size_t> compare_outputs(PreprocessReport* report) {
    const size_t target_classes = outputs_.target(report->assumed, searched_[0]).size();
    report->source_classes = static_cast<int64_t>(outputs_.source_classes());
    report->target_classes = static_cast<int64_t>(target_classes);
    if (std::abs(report->source_classes - report->target_classes) > 1)
      throw Error(ErrorKind::Negative, cat("outputs of ", report->source_classes, " and ", report->target_classes,
                                           " classes: a background class would make a difference of one"));
    std::vector<ClassScores> sample;
    for (size_t i : searched_) {
      if (sample.empty() || !search_.deadline.until(kJudgedShare).stops())
        sample.push_back(outputs_.target(report->assumed, i));
    }
    report->source_softmax = are_probabilities(outputs_.source());
    report->target_softmax = are_probabilities(sample);
    outputs_.set_probabilities(report->source_softmax, report->target_softmax);
    return first_of(searched_, sample.size());
  }

  // Leaves out unseen images, all but the first, that the target does not run on in time.
  void limit_unseen(const Hypothesis& h, const Deadline& deadline) {
    size_t n = 0;
    for (; n < unseen_.size() && (n == 0 || !deadline.stops()); ++n) outputs_.target(h, unseen_[n]);
    unseen_.resize(n);
    n_unseen_ = std::min(n_unseen_, n);
  }

  void note(const std::string& message) const {
    if (search_.note) search_.note(message);
  }

  Hypothesis search_all(const Hypothesis& assumed, PreprocessReport* report) {
    std::vector<Preprocess> of_sides = {search_.assumed};
    if (search_.source_preprocess) of_sides.push_back(*search_.source_preprocess);
    const auto arithmetic = [&](const Hypothesis& h) { return arithmetic_candidates(h, of_sides); };
    const auto geometry = [&](const Hypothesis& h) { return geometry_candidates(h, of_sides); };
    SuccessiveHalving halving(&outputs_, searched_, end_);
    std::vector<Hypothesis> bases = {assumed};
    std::vector<Ranked> ranking;
    const auto stage = [&](const std::string& name, const std::vector<Hypothesis>& candidates) {
      if (!ranking.empty() && end_.stops()) return;
      note(cat(name, ": ", candidates.size(), " hypotheses"));
      ranking = halving.best(candidates, ranking);
      bases = hypotheses(ranking);
    };
    stage("arithmetic and handling", spread(spread(bases, handling_candidates), arithmetic));
    stage("geometry", spread(bases, geometry));
    stage("filter", spread(bases, filter_candidates));
    // What a wrong geometry hid: the arithmetic again, and the order of classes.
    stage("arithmetic again", spread(bases, arithmetic));
    std::vector<Hypothesis> permuted = bases;
    for (const Hypothesis& base : bases) {
      if (end_.stops()) break;
      if (std::optional<LabelMap> labels = permutation(base)) {
        permuted.push_back(base);
        permuted.back().labels = *labels;
      }
    }
    stage("labels", permuted);
    for (size_t i = 1; i < ranking.size(); ++i) report->others.emplace_back(ranking[i].hypothesis, ranking[i].nearness);
    return ranking[0].hypothesis;
  }

  // The order of classes that suits `h`, if the one that half of the searched images suggest holds on the other half: it must come
  // twice as near as the classes in their places.
  std::optional<LabelMap> permutation(const Hypothesis& h) {
    constexpr size_t kMostClasses = 3000;  // pairs of classes are counted
    if (std::max(outputs_.source_classes(), outputs_.target_classes()) > kMostClasses || searched_.size() < 4)
      return std::nullopt;
    const auto half = searched_.begin() + static_cast<std::ptrdiff_t>(searched_.size() / 2);
    const std::vector<ScorePair> first = outputs_.scores(h, {searched_.begin(), half}),
                                 second = outputs_.scores(h, {half, searched_.end()});
    const double permuted = nearness(second, nearest_classes(first)).distance;
    if (!(permuted < kPartly * nearness(second, h.labels).distance)) return std::nullopt;
    LabelMap map = nearest_classes(outputs_.scores(h, searched_));
    bool offset = true;
    for (size_t c = 0; c < map.listed.size(); ++c)
      offset = offset && map.listed[c] - static_cast<int64_t>(c) == map.listed[0];
    return offset ? std::nullopt : std::optional<LabelMap>(map);
  }

  // The hypothesis without the changes that it does not need: what taking one back costs is little beside what remains. What is
  // needed becomes the source's where that does as well.
  Hypothesis stripped(Hypothesis best, const Hypothesis& assumed) {
    Hypothesis of_source = assumed;
    if (search_.source_preprocess) of_source.preprocess = *search_.source_preprocess;
    of_source.preprocess.name = assumed.preprocess.name;
    for (const Hypothesis* plain : {&assumed, static_cast<const Hypothesis*>(&of_source)}) {
      for (const PreprocessFactor& factor : preprocess_factors()) {
        Hypothesis plainer = best;
        factor.copy(&plainer, *plain);
        if (plainer == best || end_.stops()) continue;
        const Nearness with = outputs_.nearness_of(best, searched_), without = outputs_.nearness_of(plainer, searched_);
        if (without.distance <= with.distance * (1 + kNeeded) &&
            without.n_relabelled <= with.n_relabelled + searched_.size() / 8)
          best = plainer;
      }
    }
    return best;
  }

  // Judges the finding on the unseen images, as a whole and change by change.
  void judge_found(PreprocessReport* report) {
    limit_unseen(report->found, search_.deadline);
    report->before = outputs_.nearness_of(report->assumed, unseen_);
    report->n_unseen = n_unseen_;
    report->after = outputs_.nearness_of(report->found, unseen_);
    report->explained =
        report->before.distance > 0 ? std::max(0.0, 1 - report->after.distance / report->before.distance) : 0;
    report->verdict = verdict_of(*report);
    describe(report);
  }

  void describe(PreprocessReport* report) {
    for (const PreprocessFactor& factor : preprocess_factors()) {
      Hypothesis without = report->found;
      factor.copy(&without, report->assumed);
      if (without == report->found) continue;
      PreprocessChange change;
      change.factor = factor.name;
      change.from = factor.text(report->assumed);
      change.to = factor.text(report->found);
      std::vector<size_t> judged;
      for (size_t i : unseen_) {
        if (!judged.empty() && search_.deadline.stops()) break;
        outputs_.target(without, i);
        judged.push_back(i);
      }
      change.without = outputs_.nearness_of(without, judged);
      report->changes.push_back(std::move(change));
    }
  }

  const PreprocessSearch& search_;
  PreprocessOutputs outputs_;
  Deadline end_;                           // of the search
  std::vector<size_t> searched_, unseen_;  // images
  size_t n_unseen_ = 0;
};

}  // namespace

std::string_view verdict_name(PreprocessReport::Verdict verdict) {
  switch (verdict) {
    case PreprocessReport::Verdict::Agree: return "agree";
    case PreprocessReport::Verdict::Explained: return "explained";
    case PreprocessReport::Verdict::Partly: return "partly";
    case PreprocessReport::Verdict::None: return "none";
  }
  return "";
}

PreprocessReport search_preprocess(const PreprocessSearch& search) {
  if (search.images.empty()) throw Error(ErrorKind::Negative, "there is no image");
  return Searcher(search).run();
}

}  // namespace dnn
