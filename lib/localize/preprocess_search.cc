// Searching preprocessings and labels; see preprocess_search.h.
#include "localize/preprocess_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "localize/preprocess_candidates.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr size_t kFirstImages = 2;  // that every hypothesis is tried on
constexpr size_t kLastKept = 3;     // hypotheses of a factor that go on to the next
// Shares of the time, where that is limited: for what is judged on, and until the search ends.
constexpr double kJudgedShare = 0.25, kSearchShare = 0.75;
constexpr double kPartly = 0.5, kExplained = 0.9;  // share of the distance
constexpr double kNeeded = 0.25;  // of the distance that remains: what taking a needed change back costs

using Scores = std::vector<double>;

bool probabilities(const std::vector<Scores>& outputs) {
  for (const Scores& row : outputs) {
    double sum = 0;
    for (const double v : row) {
      if (!(v >= 0 && v <= 1)) return false;
      sum += v;
    }
    if (std::abs(sum - 1) > 1e-2) return false;
  }
  return !outputs.empty();
}

Scores softmax(const Scores& row) {
  const double largest = row.empty() ? 0 : *std::max_element(row.begin(), row.end());
  Scores result;
  double sum = 0;
  for (const double v : row) sum += result.emplace_back(std::exp(v - largest));
  for (double& v : result) v /= sum;
  return result;
}

int64_t top(const Scores& row) {
  int64_t best = -1;
  for (size_t i = 0; i < row.size(); ++i) {
    if (!std::isnan(row[i]) && (best < 0 || row[i] > row[best])) best = static_cast<int64_t>(i);
  }
  return best;
}

// Of two scores: nothing where they are the same, NaN and infinities too.
double squared_difference(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b)) ? 0 : (a - b) * (a - b);
}

double relative_distance(double difference, double whole) {
  if (difference == 0) return 0;
  if (!std::isfinite(difference)) return std::numeric_limits<double>::infinity();
  return whole > 0 ? std::sqrt(difference / whole) : 1;
}

class Searcher {
 public:
  explicit Searcher(const PreprocessSearch& search) : search_(search) {
    for (const Image& image : search.images) {
      if (source_.size() >= 2 && search.deadline.until(kJudgedShare / 2).stops()) break;
      const Tensor output = search.source(image);
      if (top_label(output) < 0 || (!source_.empty() && source_[0].size() != static_cast<size_t>(output.size())))
        throw Error(ErrorKind::Negative, "the source's output is no list of classes");
      source_.push_back(to_doubles(output));
    }
    // Every second image is searched, so that both halves hold something of every folder.
    const size_t n = source_.size();
    for (size_t i = 0; i < n; ++i)
      (i % 2 == 0 && searched_.size() < search.n_searched ? searched_ : unseen_).push_back(i);
    n_unseen_ = unseen_.size();
    if (unseen_.empty()) unseen_ = searched_;
    end_ = search.deadline.until(kSearchShare);
  }

  PreprocessReport run() {
    PreprocessReport report;
    report.n_searched = searched_.size();
    Hypothesis assumed;
    assumed.preprocess = search_.assumed;
    assumed.preprocess.name = "custom";  // two names of one preprocessing are one hypothesis
    const Scores& first = target(assumed, searched_[0]);
    report.source_classes = static_cast<int64_t>(source_[0].size());
    report.target_classes = static_cast<int64_t>(first.size());
    if (std::abs(report.source_classes - report.target_classes) > 1)
      throw Error(ErrorKind::Negative, cat("outputs of ", report.source_classes, " and ", report.target_classes,
                                           " classes: a background class would make a difference of one"));
    std::vector<Scores> sample;
    for (size_t i : searched_) {
      if (sample.empty() || !search_.deadline.until(kJudgedShare).stops()) sample.push_back(target(assumed, i));
    }
    report.source_softmax = source_softmax_ = probabilities(source_);
    report.target_softmax = target_softmax_ = probabilities(sample);

    report.assumed = assumed;
    limit_unseen(assumed, search_.deadline.until(kJudgedShare));
    report.before = nearness(assumed, unseen_);
    report.n_unseen = n_unseen_;
    Hypothesis best = assumed;
    const Nearness on_searched = nearness(assumed, run_of_searched(sample.size()));
    if (report.before.n_relabelled + on_searched.n_relabelled == 0 &&
        std::max(report.before.distance, on_searched.distance) <= search_.rtol) {
      report.found = assumed;
      report.after = report.before;
      report.verdict = PreprocessReport::Verdict::Agree;
      report.n_runs = n_runs_;
      report.ran_out = search_.deadline.ran_out();
      return report;
    }
    best = search_all(assumed, &report);
    best = stripped(best, assumed);
    report.found = best;
    limit_unseen(best, search_.deadline);
    report.before = nearness(assumed, unseen_);
    report.n_unseen = n_unseen_;
    report.after = nearness(best, unseen_);
    report.explained =
        report.before.distance > 0 ? std::max(0.0, 1 - report.after.distance / report.before.distance) : 0;
    // Labels may agree while outputs differ by a temperature, and the other way round: both must be explained.
    const double relabelled_before = static_cast<double>(report.before.n_relabelled),
                 relabelled_after = static_cast<double>(report.after.n_relabelled);
    const bool labels =
        relabelled_after <= std::max(0.1 * relabelled_before, 0.02 * static_cast<double>(unseen_.size()));
    using Verdict = PreprocessReport::Verdict;
    const bool fewer = relabelled_after < relabelled_before || relabelled_before == 0;
    report.verdict = best == assumed                            ? Verdict::None
                     : labels && report.explained >= kExplained ? Verdict::Explained
                     : report.explained >= kPartly && fewer     ? Verdict::Partly
                                                                : Verdict::None;
    describe(&report);
    report.n_runs = n_runs_;
    report.ran_out = search_.deadline.ran_out();
    return report;
  }

 private:
  // Leaves out unseen images, all but the first, that the target does not run on in time.
  void limit_unseen(const Hypothesis& h, const Deadline& deadline) {
    size_t n = 0;
    for (; n < unseen_.size() && (n == 0 || !deadline.stops()); ++n) target(h, unseen_[n]);
    unseen_.resize(n);
    n_unseen_ = std::min(n_unseen_, n);
  }
  std::vector<size_t> run_of_searched(size_t n) const {
    return {searched_.begin(), searched_.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  struct Ranked {
    Hypothesis hypothesis;
    Nearness nearness;
    double blind = 0;  // distance that no order of classes changes
  };

  void note(const std::string& message) const {
    if (search_.note) search_.note(message);
  }

  // The target's raw output for image i.
  const Scores& target(const Hypothesis& h, size_t i) {
    const std::string key = cat(to_json(h.preprocess), static_cast<int>(h.handling), " ", i);
    const auto found = outputs_.find(key);
    if (found != outputs_.end()) return found->second;
    ++n_runs_;
    const Tensor input = to_tensor(search_.images[i], h.preprocess);
    Scores output = to_doubles(search_.target(handled(input, h.preprocess.layout, h.handling)));
    if (!outputs_.empty() && outputs_.begin()->second.size() != output.size())
      throw Error(ErrorKind::Negative, "the target's output is no list of classes: its extents differ by image");
    return outputs_[key] = std::move(output);
  }

  // Both sides' outputs of image i as scores of one kind.
  std::pair<Scores, Scores> scores(const Hypothesis& h, size_t i) {
    Scores a = source_[i], b = target(h, i);
    if (source_softmax_ && !target_softmax_) b = softmax(b);
    if (target_softmax_ && !source_softmax_) a = softmax(a);
    return {std::move(a), std::move(b)};
  }

  Nearness nearness(const Hypothesis& h, const std::vector<size_t>& images) {
    Nearness result;
    result.n_images = images.size();
    double difference = 0, whole = 0;
    for (size_t i : images) {
      const auto [a, b] = scores(h, i);
      for (size_t c = 0; c < a.size(); ++c) {
        const int64_t to = h.labels.at(static_cast<int64_t>(c));
        if (std::isfinite(a[c])) whole += a[c] * a[c];
        if (to < 0 || to >= static_cast<int64_t>(b.size())) continue;
        difference += squared_difference(a[c], b[to]);
      }
      if (h.labels.at(top(a)) != top(b)) ++result.n_relabelled;
    }
    result.distance = relative_distance(difference, whole);
    return result;
  }

  double blind_distance(const Hypothesis& h, const std::vector<size_t>& images) {
    double difference = 0, whole = 0;
    for (size_t i : images) {
      auto [a, b] = scores(h, i);
      const auto falling = [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x > y; };  // NaN last
      std::sort(a.begin(), a.end(), falling);
      std::sort(b.begin(), b.end(), falling);
      for (size_t c = 0; c < std::min(a.size(), b.size()); ++c) difference += squared_difference(a[c], b[c]);
      for (const double v : a) whole += std::isfinite(v) ? v * v : 0;
    }
    return relative_distance(difference, whole);
  }

  std::vector<int64_t> offsets() const {
    const auto more = static_cast<int64_t>(outputs_.begin()->second.size()) - static_cast<int64_t>(source_[0].size());
    if (more == 1) return {1, 0};
    if (more == -1) return {-1, 0};
    return {0, 1, -1};
  }

  // A hypothesis with the offset of labels that suits it best.
  Ranked ranked(Hypothesis h, const std::vector<size_t>& images) {
    Ranked best;
    best.blind = blind_distance(h, images);
    const LabelMap given = h.labels;
    std::vector<LabelMap> maps;
    for (const int64_t offset : offsets()) maps.push_back({offset, {}});
    if (!given.listed.empty()) maps.push_back(given);
    for (size_t i = 0; i < maps.size(); ++i) {
      h.labels = maps[i];
      const Nearness n = nearness(h, images);
      if (i == 0 || n.distance < best.nearness.distance) {
        best.hypothesis = h;
        best.nearness = n;
      }
    }
    return best;
  }

  // Successive halving: the best few of `candidates` on all searched images, best first. Half of them may owe their place to
  // outputs that are right but for the order of classes. When the time is over, those of the last whole round, which begins with
  // `before`; where there is none, those that it came to.
  std::vector<Ranked> halved(std::vector<Hypothesis> candidates, size_t keep, std::vector<Ranked> before) {
    size_t n = std::min(kFirstImages, searched_.size());
    while (true) {
      const std::vector<size_t> images(searched_.begin(), searched_.begin() + static_cast<std::ptrdiff_t>(n));
      std::vector<Ranked> ranking;
      for (const Hypothesis& h : candidates) {
        if ((!ranking.empty() || !before.empty()) && end_.stops()) break;
        ranking.push_back(ranked(h, images));
      }
      const bool cut = ranking.size() < candidates.size();
      if (cut && !before.empty()) {
        before.resize(std::min(keep, before.size()));
        return before;
      }
      std::stable_sort(ranking.begin(), ranking.end(),
                       [](const Ranked& a, const Ranked& b) { return a.nearness.distance < b.nearness.distance; });
      const bool last = cut || n == searched_.size();
      const size_t left = last ? keep : std::max(keep, candidates.size() / 4);
      std::vector<Ranked> kept(ranking.begin(),
                               ranking.begin() + static_cast<std::ptrdiff_t>(std::min(left, ranking.size())));
      std::stable_sort(ranking.begin(), ranking.end(),
                       [](const Ranked& a, const Ranked& b) { return a.blind < b.blind; });
      for (size_t i = 0; i < std::min(std::max<size_t>(1, left / 4), ranking.size()); ++i) {
        const bool there = std::any_of(kept.begin(), kept.end(),
                                       [&](const Ranked& k) { return k.hypothesis == ranking[i].hypothesis; });
        if (!there) kept.push_back(ranking[i]);
      }
      if (last) return kept;
      before = kept;
      candidates.clear();
      for (const Ranked& k : kept) candidates.push_back(k.hypothesis);
      n = std::min(2 * n, searched_.size());
    }
  }

  static std::vector<Hypothesis> hypotheses(const std::vector<Ranked>& ranking) {
    std::vector<Hypothesis> list;
    for (const Ranked& r : ranking) list.push_back(r.hypothesis);
    return list;
  }

  template <class Candidates>
  static std::vector<Hypothesis> spread(const std::vector<Hypothesis>& bases, const Candidates& candidates) {
    std::vector<Hypothesis> list;
    for (const Hypothesis& base : bases) {
      for (const Hypothesis& h : candidates(base)) {
        if (std::find(list.begin(), list.end(), h) == list.end()) list.push_back(h);
      }
    }
    return list;
  }

  Hypothesis search_all(const Hypothesis& assumed, PreprocessReport* report) {
    const auto arithmetic = [&](const Hypothesis& h) { return arithmetic_candidates(h, search_); };
    const auto geometry = [&](const Hypothesis& h) { return geometry_candidates(h, search_); };
    std::vector<Hypothesis> bases = {assumed};
    std::vector<Ranked> ranking;
    const auto stage = [&](const std::string& name, const std::vector<Hypothesis>& candidates) {
      if (!ranking.empty() && end_.stops()) return;
      note(cat(name, ": ", candidates.size(), " hypotheses"));
      ranking = halved(candidates, kLastKept, ranking);
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

  // The order of classes that suits `h`, where one made on half of the searched images holds on the other half: twice as near as
  // the classes in their places.
  std::optional<LabelMap> permutation(const Hypothesis& h) {
    constexpr size_t kMostClasses = 3000;  // pairs of classes are counted
    if (source_[0].size() > kMostClasses || outputs_.begin()->second.size() > kMostClasses || searched_.size() < 4)
      return std::nullopt;
    const auto half = searched_.begin() + static_cast<std::ptrdiff_t>(searched_.size() / 2);
    const std::vector<size_t> first(searched_.begin(), half), second(half, searched_.end());
    Hypothesis permuted = h;
    permuted.labels = nearest_classes(h, first);
    if (!(nearness(permuted, second).distance < kPartly * nearness(h, second).distance)) return std::nullopt;
    LabelMap map = nearest_classes(h, searched_);
    bool offset = true;
    for (size_t c = 0; c < map.listed.size(); ++c)
      offset = offset && map.listed[c] - static_cast<int64_t>(c) == map.listed[0];
    return offset ? std::nullopt : std::optional<LabelMap>(map);
  }

  // Each class of the source with the class of the target whose outputs over these images are nearest; the nearest pairs first.
  LabelMap nearest_classes(const Hypothesis& h, const std::vector<size_t>& images) {
    const size_t n = source_[0].size(), m = outputs_.begin()->second.size();
    std::vector<Scores> a, b;
    for (size_t i : images) {
      auto [x, y] = scores(h, i);
      a.push_back(std::move(x));
      b.push_back(std::move(y));
    }
    struct Pair {
      float distance;
      uint32_t from, to;
    };
    std::vector<Pair> pairs;
    pairs.reserve(n * m);
    for (size_t c = 0; c < n; ++c) {
      for (size_t d = 0; d < m; ++d) {
        double sum = 0;
        for (size_t i = 0; i < a.size(); ++i) sum += squared_difference(a[i][c], b[i][d]);
        // NaN would be no order.
        pairs.push_back({std::isnan(sum) ? std::numeric_limits<float>::infinity() : static_cast<float>(sum),
                         static_cast<uint32_t>(c), static_cast<uint32_t>(d)});
      }
    }
    std::sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) {
      return std::tie(x.distance, x.from, x.to) < std::tie(y.distance, y.from, y.to);
    });
    LabelMap map;
    map.listed.assign(n, -1);
    std::vector<bool> taken(m, false);
    for (const Pair& pair : pairs) {
      if (map.listed[pair.from] >= 0 || taken[pair.to]) continue;
      map.listed[pair.from] = pair.to;
      taken[pair.to] = true;
    }
    return map;
  }

  struct Factor {
    const char* name;
    std::function<void(Hypothesis* to, const Hypothesis& from)> copy;
    std::function<std::string(const Hypothesis& h)> text;
  };

  static const std::vector<Factor>& factors() {
    static const std::vector<Factor> list = {
        {"arithmetic",
         [](Hypothesis* to, const Hypothesis& from) {
           Preprocess& p = to->preprocess;
           const Preprocess& q = from.preprocess;
           p.scale = q.scale;
           p.divisor = q.divisor;
           p.mean = q.mean;
           p.std = q.std;
           if (p.channels != q.channels) {  // mean and std go with their channels
             std::swap(p.mean[0], p.mean[2]);
             std::swap(p.std[0], p.std[2]);
           }
         },
         [](const Hypothesis& h) { return arithmetic_text(h.preprocess); }},
        {"channels",
         [](Hypothesis* to, const Hypothesis& from) {
           if (to->preprocess.channels != from.preprocess.channels) {
             std::swap(to->preprocess.mean[0], to->preprocess.mean[2]);
             std::swap(to->preprocess.std[0], to->preprocess.std[2]);
           }
           to->preprocess.channels = from.preprocess.channels;
         },
         [](const Hypothesis& h) {
           return h.preprocess.channels == Channels::Rgb   ? "rgb"
                  : h.preprocess.channels == Channels::Bgr ? "bgr"
                                                           : "grey";
         }},
        {"resize",
         [](Hypothesis* to, const Hypothesis& from) {
           to->preprocess.resize = from.preprocess.resize;
           to->preprocess.short_side = from.preprocess.short_side;
         },
         [](const Hypothesis& h) { return resize_text(h.preprocess); }},
        {"filter", [](Hypothesis* to, const Hypothesis& from) { to->preprocess.filter = from.preprocess.filter; },
         [](const Hypothesis& h) { return std::string(filter_name(h.preprocess.filter)); }},
        {"handling", [](Hypothesis* to, const Hypothesis& from) { to->handling = from.handling; },
         [](const Hypothesis& h) { return std::string(handling_name(h.handling)); }},
        {"labels", [](Hypothesis* to, const Hypothesis& from) { to->labels = from.labels; },
         [](const Hypothesis& h) {
           if (!h.labels.listed.empty()) return std::string("permuted");
           return h.labels.offset == 0  ? std::string("the same")
                  : h.labels.offset > 0 ? cat("the source's plus ", h.labels.offset)
                                        : cat("the source's less ", -h.labels.offset);
         }},
    };
    return list;
  }

  // The hypothesis without the changes that it does not need: what taking one back costs is little beside what remains. What is
  // needed becomes the source's where that does as well.
  Hypothesis stripped(Hypothesis best, const Hypothesis& assumed) {
    Hypothesis of_source = assumed;
    if (search_.source_preprocess) of_source.preprocess = *search_.source_preprocess;
    of_source.preprocess.name = assumed.preprocess.name;
    for (const Hypothesis* plain : {&assumed, static_cast<const Hypothesis*>(&of_source)}) {
      for (const Factor& factor : factors()) {
        Hypothesis plainer = best;
        factor.copy(&plainer, *plain);
        if (plainer == best || end_.stops()) continue;
        const Nearness with = nearness(best, searched_), without = nearness(plainer, searched_);
        if (without.distance <= with.distance * (1 + kNeeded) &&
            without.n_relabelled <= with.n_relabelled + searched_.size() / 8)
          best = plainer;
      }
    }
    return best;
  }

  void describe(PreprocessReport* report) {
    for (const Factor& factor : factors()) {
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
        target(without, i);
        judged.push_back(i);
      }
      change.without = nearness(without, judged);
      report->changes.push_back(std::move(change));
    }
  }

  const PreprocessSearch& search_;
  Deadline end_;                           // of the search
  std::vector<Scores> source_;             // by image
  std::map<std::string, Scores> outputs_;  // of the target, by hypothesis and image
  std::vector<size_t> searched_, unseen_;  // images
  bool source_softmax_ = false, target_softmax_ = false;
  size_t n_unseen_ = 0;
  int64_t n_runs_ = 0;
};

std::string three(const std::array<float, 3>& a) {
  if (a[0] == a[1] && a[1] == a[2]) return exact_text(a[0]);
  return cat(exact_text(a[0]), ",", exact_text(a[1]), ",", exact_text(a[2]));
}

}  // namespace

std::string_view handling_name(Handling handling) {
  switch (handling) {
    case Handling::AsIs: return "as it is";
    case Handling::OtherLayout: return "bytes of the other layout";
    case Handling::Transposed: return "height and width exchanged";
    case Handling::UpsideDown: return "upside down";
    case Handling::Mirrored: return "mirrored";
  }
  return "";
}

std::string_view verdict_name(PreprocessReport::Verdict verdict) {
  switch (verdict) {
    case PreprocessReport::Verdict::Agree: return "agree";
    case PreprocessReport::Verdict::Explained: return "explained";
    case PreprocessReport::Verdict::Partly: return "partly";
    case PreprocessReport::Verdict::None: return "none";
  }
  return "";
}

std::string arithmetic_text(const Preprocess& p) {
  std::string text = "x";
  if (p.scale != 1) text += " * " + exact_text(p.scale);
  if (p.divisor != 1) text += "/" + exact_text(p.divisor);
  const std::array<float, 3> zero{0, 0, 0}, one{1, 1, 1};
  if (p.mean != zero) text += ", less " + three(p.mean);
  if (p.std != one) text += ", by " + three(p.std);
  return text;
}

std::string resize_text(const Preprocess& p) {
  if (p.resize == ResizeMode::None) return "none";
  return p.resize == ResizeMode::Stretch ? "stretch" : cat("crop:", p.short_side);
}

std::string preprocess_spec(const Preprocess& p) {
  // The named one that leaves least to spell out. Where the model leaves its extents open, those that crop are none.
  const bool is_open = p.height == 0 || p.width == 0;
  std::string best;
  for (const std::string_view name : preprocess_names()) {
    if (is_open && name != "none") continue;
    const Preprocess named = named_preprocess(name, p.height, p.width, p.layout);
    std::string spec(name);
    if (p.resize != named.resize || p.short_side != named.short_side) spec += " resize=" + resize_text(p);
    if (p.filter != named.filter) spec += cat(" filter=", filter_name(p.filter));
    if (p.scale != named.scale || p.divisor != named.divisor)
      spec += cat(" scale=", exact_text(p.scale), "/", exact_text(p.divisor));
    if (p.mean != named.mean) spec += " mean=" + three(p.mean);
    if (p.std != named.std) spec += " std=" + three(p.std);
    if (p.channels != named.channels && p.channels != Channels::Grey)
      spec += p.channels == Channels::Rgb ? " channels=rgb" : " channels=bgr";
    if (best.empty() || spec.size() < best.size()) best = spec;
  }
  return best;
}

void parse_preprocess_spec(const std::string& spec, std::string* name, PreprocessOptions* options) {
  const std::map<std::string, std::string PreprocessOptions::*> keys = {
      {"resize", &PreprocessOptions::resize}, {"filter", &PreprocessOptions::filter},
      {"scale", &PreprocessOptions::scale},   {"mean", &PreprocessOptions::mean},
      {"std", &PreprocessOptions::std},       {"channels", &PreprocessOptions::channels},
      {"layout", &PreprocessOptions::layout}, {"resize-compat", &PreprocessOptions::pass_order}};
  for (const std::string& word : split(spec, ' ')) {
    if (word.empty()) continue;
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      if (!name->empty()) fail_usage("preprocessing '", spec, "': '", *name, "' and '", word, "' are two names");
      *name = word;
      continue;
    }
    const auto key = keys.find(word.substr(0, equals));
    if (key == keys.end()) {
      std::vector<std::string> known;
      for (const auto& [text, member] : keys) known.push_back(text);
      fail_usage("preprocessing '", spec, "': '", word.substr(0, equals), "' is none of ", join(known));
    }
    options->*(key->second) = word.substr(equals + 1);
  }
}

PreprocessReport search_preprocess(const PreprocessSearch& search) {
  if (search.images.empty()) throw Error(ErrorKind::Negative, "there is no image");
  return Searcher(search).run();
}

}  // namespace dnn
