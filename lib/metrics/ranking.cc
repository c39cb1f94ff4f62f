// Kendall's tau-b and rank-biased overlap; see ranking.h.
#include "metrics/ranking.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "base/error.h"

namespace dnn::metrics {
namespace {

// A number for each place of a ranking; those of short ones need no memory of their own, for pairs of runs have millions.
class Numbers {
 public:
  explicit Numbers(size_t n) : many_(n > few_.size() ? n : 0) {}
  size_t& operator[](size_t i) { return many_.empty() ? few_[i] : many_[i]; }
  size_t operator[](size_t i) const { return many_.empty() ? few_[i] : many_[i]; }

 private:
  std::array<size_t, 16> few_;
  std::vector<size_t> many_;
};

constexpr size_t kNoRank = SIZE_MAX;

// For each place of `a` that of its item in `b`, or kAbsent.
Numbers places_in(Ranking b, Ranking a) {
  constexpr size_t kSearched = 16;
  Numbers places(a.size());
  if (b.size() <= kSearched) {
    for (size_t i = 0; i < a.size(); ++i) {
      size_t j = 0;
      while (j < b.size() && b[j].item() != a[i].item()) ++j;
      places[i] = j < b.size() ? j : kNoRank;
    }
    return places;
  }
  std::unordered_map<int64_t, size_t> in_b;
  for (size_t j = 0; j < b.size(); ++j) in_b.emplace(b[j].item(), j);
  for (size_t i = 0; i < a.size(); ++i) {
    const auto it = in_b.find(a[i].item());
    places[i] = it == in_b.end() ? kNoRank : it->second;
  }
  return places;
}

// For each position the first position of its tie group.
Numbers tie_starts(Ranking ranking) {
  Numbers starts(ranking.size());
  for (size_t i = 0; i < ranking.size(); ++i) starts[i] = i > 0 && ranking[i].tied() ? starts[i - 1] : i;
  return starts;
}

// For each depth 1..size the items that are ranked at most so deep, whole tie groups included.
Numbers prefix_sizes(Ranking ranking) {
  Numbers sizes(ranking.size());
  for (size_t i = ranking.size(); i-- > 0;) {
    const bool tied_with_next = i + 1 < ranking.size() && ranking[i + 1].tied();
    sizes[i] = tied_with_next ? sizes[i + 1] : i + 1;
  }
  return sizes;
}

}  // namespace

std::vector<Ranked> ranking_of(std::span<const Scored> list) {
  std::vector<Ranked> ranking;
  ranking.reserve(list.size());
  std::unordered_map<int64_t, bool> seen;
  constexpr size_t kSearched = 16;
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t item = list[i].item;
    if (item < Ranked::kLeast || item > Ranked::kMost) fail_malformed("class ", item, " is out of range");
    const bool again = list.size() > kSearched
                           ? !seen.emplace(item, true).second
                           : std::any_of(ranking.begin(), ranking.end(), [&](Ranked r) { return r.item() == item; });
    if (!again) ranking.emplace_back(item, i > 0 && !ranking.empty() && list[i].score == list[i - 1].score);
  }
  return ranking;
}

std::optional<double> kendall_tau_b(Ranking a, Ranking b) {
  const Numbers a_starts = tie_starts(a), b_starts = tie_starts(b), places = places_in(b, a);
  Numbers a_ranks(a.size()), b_ranks(a.size());  // of the common items
  size_t n_common = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (places[i] == kNoRank) continue;
    a_ranks[n_common] = a_starts[i];
    b_ranks[n_common++] = b_starts[places[i]];
  }
  int64_t concordant_minus_discordant = 0;
  int64_t n_untied_a = 0, n_untied_b = 0;  // pairs
  for (size_t i = 0; i < n_common; ++i) {
    for (size_t j = i + 1; j < n_common; ++j) {
      const int a_order = (a_ranks[i] < a_ranks[j]) - (a_ranks[i] > a_ranks[j]);
      const int b_order = (b_ranks[i] < b_ranks[j]) - (b_ranks[i] > b_ranks[j]);
      concordant_minus_discordant += a_order * b_order;
      n_untied_a += a_order != 0;
      n_untied_b += b_order != 0;
    }
  }
  if (n_untied_a == 0 || n_untied_b == 0) return std::nullopt;
  return static_cast<double>(concordant_minus_discordant) /
         std::sqrt(static_cast<double>(n_untied_a) * static_cast<double>(n_untied_b));
}

std::optional<double> rank_biased_overlap(Ranking a, Ranking b, double p) {
  const Ranking longer = a.size() >= b.size() ? a : b;
  const Ranking shorter = a.size() >= b.size() ? b : a;
  if (shorter.empty()) return std::nullopt;
  const auto l = static_cast<double>(longer.size());
  const auto s = static_cast<double>(shorter.size());
  const Numbers long_sizes = prefix_sizes(longer), short_sizes = prefix_sizes(shorter);
  const Numbers in_shorter = places_in(shorter, longer), in_longer = places_in(longer, shorter);

  double overlap = 0;  // |A n B| of the prefixes
  size_t n_long = 0, n_short = 0;
  double sum = 0, overlap_at_s = 0, weight = 1;
  for (size_t i = 0; i < longer.size(); ++i) {
    for (; n_long < long_sizes[i]; ++n_long) overlap += in_shorter[n_long] < n_short ? 1 : 0;
    for (; i < shorter.size() && n_short < short_sizes[i]; ++n_short) overlap += in_longer[n_short] < n_long ? 1 : 0;
    const auto depth = static_cast<double>(i + 1);
    weight *= p;
    if (i < shorter.size()) {
      sum += 2 * overlap / static_cast<double>(n_long + n_short) * weight;
      overlap_at_s = overlap;
    } else {
      // A prefix longer than its depth (a tie in the longer list) counts as that long.
      sum += (overlap / static_cast<double>(n_long) + overlap_at_s * (depth - s) / (s * depth)) * weight;
    }
  }
  return (1 - p) / p * sum + ((overlap - overlap_at_s) / l + overlap_at_s / s) * weight;
}

}  // namespace dnn::metrics
