// Drawing samples and counting points; see label_ranking.h.
#include "localize/label_ranking.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace dnn {
namespace {

// In a random order (Fisher, Yates, in Durstenfeld's form), the generator's numbers taken as they are, since the standard leaves open how
// its distributions use them.
void shuffle(std::vector<size_t>* samples, std::mt19937_64* random) {
  for (size_t left = samples->size(); left > 1; --left) std::swap((*samples)[left - 1], (*samples)[(*random)() % left]);
}

std::vector<size_t> part(const std::vector<size_t>& samples, int64_t which, int64_t n) {
  const auto begin = samples.begin() + static_cast<std::ptrdiff_t>(which * n);
  std::vector<size_t> taken(begin, begin + static_cast<std::ptrdiff_t>(n));
  std::sort(taken.begin(), taken.end());
  return taken;
}

// Points by layer: of each a point for every other that it is ahead of, half of one for those that it is level with.
std::vector<double> borda_points(const std::vector<std::optional<double>>& effects) {
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  std::vector<double> sorted;
  for (const std::optional<double>& effect : effects) sorted.push_back(effect.value_or(kNone));
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> points;
  for (const std::optional<double>& effect : effects) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), effect.value_or(kNone));
    points.push_back(static_cast<double>(first - sorted.begin()) + static_cast<double>(last - first - 1) / 2);
  }
  return points;
}

}  // namespace

std::optional<metrics::RankTest> test_by_label(const SampleErrors& errors, const std::vector<bool>& differs) {
  std::vector<double> sorted;
  for (const auto& [sample, error] : errors) sorted.push_back(error);
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> same, other;
  for (const auto& [sample, error] : errors) {
    const auto rank = std::lower_bound(sorted.begin(), sorted.end(), error) - sorted.begin();
    (differs[sample] ? other : same).push_back(rank);
  }
  std::sort(same.begin(), same.end());
  std::sort(other.begin(), other.end());
  return metrics::mann_whitney(same, other);
}

LabelRanking rank_by_labels(const std::vector<const SampleErrors*>& layers, const std::vector<bool>& differs,
                            const LabelSampling& sampling) {
  LabelRanking ranking;
  ranking.asked = sampling;
  std::vector<size_t> equal, different;
  for (size_t i = 0; i < differs.size(); ++i) (differs[i] ? different : equal).push_back(i);
  ranking.n_equal = static_cast<int64_t>(equal.size());
  ranking.n_different = static_cast<int64_t>(different.size());
  std::mt19937_64 random(sampling.seed);
  shuffle(&equal, &random);
  shuffle(&different, &random);
  const int64_t n_draws =
      std::min({sampling.n_repeats, ranking.n_equal / sampling.n_equal, ranking.n_different / sampling.n_different});
  if (n_draws == 0) return ranking;
  ranking.rows.resize(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) ranking.rows[i].layer = i;
  for (int64_t d = 0; d < n_draws; ++d) {
    const LabelRanking::Draw& draw = ranking.draws.emplace_back(
        LabelRanking::Draw{part(equal, d, sampling.n_equal), part(different, d, sampling.n_different)});
    std::vector<std::optional<double>> effects;
    std::vector<size_t> tested;
    std::vector<double> p;
    for (size_t i = 0; i < layers.size(); ++i) {
      SampleErrors drawn;
      for (const auto& error : *layers[i]) {
        const size_t sample = error.first;
        const std::vector<size_t>& from = differs[sample] ? draw.different : draw.equal;
        if (std::binary_search(from.begin(), from.end(), sample)) drawn.push_back(error);
      }
      const auto test = test_by_label(drawn, differs);
      effects.push_back(test ? test->effect : std::nullopt);
      ranking.rows[i].effect.push_back(effects.back());
      ranking.rows[i].p.emplace_back();
      if (!test) continue;
      tested.push_back(i);
      p.push_back(test->p);
    }
    const std::vector<double> corrected = metrics::holm(p);
    for (size_t k = 0; k < tested.size(); ++k) ranking.rows[tested[k]].p.back() = corrected[k];
    const std::vector<double> points = borda_points(effects);
    for (size_t i = 0; i < layers.size(); ++i) ranking.rows[i].points += points[i];
  }
  std::stable_sort(ranking.rows.begin(), ranking.rows.end(),
                   [](const LabelRanking::Row& a, const LabelRanking::Row& b) { return a.points > b.points; });
  return ranking;
}

}  // namespace dnn
