// Kendall's tau-b and rank-biased overlap; see ranking.h.
#include "metrics/ranking.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace dnn::metrics {
namespace {

// For each position the first position of its tie group.
std::vector<size_t> tie_starts(const Ranking& ranking) {
  std::vector<size_t> starts(ranking.size());
  for (size_t i = 0; i < ranking.size(); ++i) {
    starts[i] = i > 0 && ranking[i].score == ranking[i - 1].score ? starts[i - 1] : i;
  }
  return starts;
}

// For each depth 1..size the items that are ranked at most so deep, whole tie groups included.
std::vector<size_t> prefix_sizes(const Ranking& ranking) {
  const std::vector<size_t> starts = tie_starts(ranking);
  std::vector<size_t> sizes(ranking.size());
  for (size_t i = ranking.size(); i-- > 0;) {
    const bool tied_with_next = i + 1 < ranking.size() && starts[i + 1] == starts[i];
    sizes[i] = tied_with_next ? sizes[i + 1] : i + 1;
  }
  return sizes;
}

}  // namespace

std::optional<double> kendall_tau_b(const Ranking& a, const Ranking& b) {
  const std::vector<size_t> a_ranks = tie_starts(a), b_ranks = tie_starts(b);
  std::unordered_map<int64_t, size_t> in_b;
  for (size_t i = 0; i < b.size(); ++i) in_b.emplace(b[i].item, b_ranks[i]);
  std::vector<std::pair<size_t, size_t>> common;
  for (size_t i = 0; i < a.size(); ++i) {
    if (const auto it = in_b.find(a[i].item); it != in_b.end()) common.emplace_back(a_ranks[i], it->second);
  }
  int64_t concordant_minus_discordant = 0;
  int64_t n_untied_a = 0, n_untied_b = 0;  // pairs
  for (size_t i = 0; i < common.size(); ++i) {
    for (size_t j = i + 1; j < common.size(); ++j) {
      const int a_order = common[i].first < common[j].first ? 1 : common[i].first > common[j].first ? -1 : 0;
      const int b_order = common[i].second < common[j].second ? 1 : common[i].second > common[j].second ? -1 : 0;
      concordant_minus_discordant += a_order * b_order;
      n_untied_a += a_order != 0;
      n_untied_b += b_order != 0;
    }
  }
  if (n_untied_a == 0 || n_untied_b == 0) return std::nullopt;
  return static_cast<double>(concordant_minus_discordant) /
         std::sqrt(static_cast<double>(n_untied_a) * static_cast<double>(n_untied_b));
}

std::optional<double> rank_biased_overlap(const Ranking& a, const Ranking& b, double p) {
  const Ranking& longer = a.size() >= b.size() ? a : b;
  const Ranking& shorter = a.size() >= b.size() ? b : a;
  if (shorter.empty()) return std::nullopt;
  const auto l = static_cast<double>(longer.size());
  const auto s = static_cast<double>(shorter.size());
  const std::vector<size_t> long_sizes = prefix_sizes(longer), short_sizes = prefix_sizes(shorter);

  enum : uint8_t { kInLonger = 1, kInShorter = 2 };
  std::unordered_map<int64_t, uint8_t> seen;
  double overlap = 0;  // |A n B| of the prefixes
  size_t n_long = 0, n_short = 0;
  auto see = [&](int64_t item, uint8_t side) {
    uint8_t& sides = seen[item];
    if ((sides | side) == (kInLonger | kInShorter) && sides != (kInLonger | kInShorter)) ++overlap;
    sides |= side;
  };
  double sum = 0, overlap_at_s = 0, weight = 1;
  for (size_t i = 0; i < longer.size(); ++i) {
    while (n_long < long_sizes[i]) see(longer[n_long++].item, kInLonger);
    if (i < shorter.size()) {
      while (n_short < short_sizes[i]) see(shorter[n_short++].item, kInShorter);
    }
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
