// Rank tests and the correction for many tests; see statistics.h.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>

#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

constexpr size_t kExactSeries = 8;        // Mann-Whitney is exact up to here,
constexpr double kExactPairs = 1e7;       // and with fewer pairs of values than this
constexpr size_t kExactDifferences = 50;  // Wilcoxon is exact up to here,
constexpr size_t kExactTied = 13;         // and with ties or zeros up to here

// What a group of t equal values takes from the variance of ranks.
double tie_term(int64_t t) {
  const auto x = static_cast<double>(t);
  return x * x * x - x;
}

// P(U <= u) for series of m and n values without ties: the coefficients of the Gaussian binomial
// (1 - q^(n+1)) ... (1 - q^(n+m)) / ((1 - q) ... (1 - q^m)) count the orders by their U (Mann, Whitney 1947).
double u_at_most(int64_t u, int64_t m, int64_t n) {
  if (m > n) std::swap(m, n);
  std::vector<double> orders(static_cast<size_t>(u) + 1);
  orders[0] = 1;
  double all = 1;
  for (int64_t i = 1; i <= m; ++i) {
    all *= static_cast<double>(n + i) / static_cast<double>(i);
    for (int64_t j = u; j >= n + i; --j) orders[j] -= orders[j - n - i];
    for (int64_t j = i; j <= u; ++j) orders[j] += orders[j - i];
  }
  return std::accumulate(orders.begin(), orders.end(), 0.0) / all;
}

// min(P(R+ <= r), P(R+ >= r)) when each rank falls to either sign alike; ranks and r are doubled to be whole.
double signed_ranks_tail(const std::vector<int64_t>& doubled_ranks, int64_t r) {
  const int64_t all = std::accumulate(doubled_ranks.begin(), doubled_ranks.end(), int64_t{0});
  std::vector<double> ways(static_cast<size_t>(all) + 1);
  ways[0] = 1;
  int64_t reach = 0;
  for (const int64_t rank : doubled_ranks) {
    reach += rank;
    for (int64_t j = reach; j >= rank; --j) ways[j] += ways[j - rank];
  }
  const int64_t smaller = std::min(r, all - r);  // the distribution is symmetric
  const double tail = std::accumulate(ways.begin(), ways.begin() + smaller + 1, 0.0);
  return std::ldexp(tail, -static_cast<int>(doubled_ranks.size()));
}

}  // namespace

std::optional<RankTest> mann_whitney(std::span<const int64_t> a, std::span<const int64_t> b) {
  if (a.empty() || b.empty()) return std::nullopt;
  double doubled_u = 0, ties = 0;  // over the pairs: 2 where b is above a, 1 where they are equal
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const int64_t value = j == b.size() || (i < a.size() && a[i] < b[j]) ? a[i] : b[j];
    const size_t i_before = i, j_before = j;
    while (i < a.size() && a[i] == value) ++i;
    while (j < b.size() && b[j] == value) ++j;
    doubled_u += static_cast<double>(j - j_before) * static_cast<double>(i + i_before);
    ties += tie_term(static_cast<int64_t>((i - i_before) + (j - j_before)));
  }
  const auto n_a = static_cast<double>(a.size()), n_b = static_cast<double>(b.size());
  const double pairs = n_a * n_b, n = n_a + n_b;
  RankTest test{doubled_u / 2, 1, doubled_u / pairs - 1};
  const double greater = std::max(test.statistic, pairs - test.statistic);
  if (std::min(a.size(), b.size()) <= kExactSeries && ties == 0 && pairs <= kExactPairs) {
    test.p = 2 * u_at_most(static_cast<int64_t>(pairs - greater), static_cast<int64_t>(a.size()),
                           static_cast<int64_t>(b.size()));
  } else {
    const double deviation = std::sqrt(pairs / 12 * ((n + 1) - ties / (n * (n - 1))));
    // All values equal: the statistic cannot be anything else.
    test.p = deviation > 0 ? 2 * normal_above((greater - pairs / 2 - 0.5) / deviation) : 1;
  }
  test.p = std::min(test.p, 1.0);
  return test;
}

std::optional<RankTest> wilcoxon(std::span<const int64_t> differences) {
  // Twice the size of each difference that is not 0, and 1 more where it is positive: sorted, equal sizes are neighbours.
  std::vector<uint64_t> sizes;
  sizes.reserve(differences.size());
  for (const int64_t d : differences) {
    if (d != 0) sizes.push_back(2 * static_cast<uint64_t>(std::abs(d)) + (d > 0 ? 1 : 0));
  }
  std::sort(sizes.begin(), sizes.end());
  const bool small = differences.size() <= kExactDifferences;
  std::vector<int64_t> doubled_ranks;  // of a small sample
  int64_t doubled_plus = 0;
  double ties = 0;
  for (size_t first = 0, last = 0; first < sizes.size(); first = last) {
    int64_t n_positive = 0;
    for (last = first; last < sizes.size() && sizes[last] / 2 == sizes[first] / 2; ++last) {
      n_positive += static_cast<int64_t>(sizes[last] % 2);
    }
    const auto doubled_rank = static_cast<int64_t>(first + last + 1);
    doubled_plus += n_positive * doubled_rank;
    ties += tie_term(static_cast<int64_t>(last - first));
    if (small) doubled_ranks.insert(doubled_ranks.end(), last - first, doubled_rank);
  }
  const auto n = static_cast<double>(sizes.size());
  const double all = n * (n + 1) / 2, plus = static_cast<double>(doubled_plus) / 2;
  RankTest test{std::min(plus, all - plus), 1, std::nullopt};
  if (all > 0) test.effect = (2 * plus - all) / all;
  const bool regular = ties == 0 && sizes.size() == differences.size();
  if (differences.empty()) return std::nullopt;
  if ((small && regular) || differences.size() <= kExactTied) {
    test.p = std::min(1.0, 2 * signed_ranks_tail(doubled_ranks, doubled_plus));
  } else {
    const double variance = (n * (n + 1) * (2 * n + 1) - ties / 2) / 24;
    if (variance <= 0) return std::nullopt;
    test.p = std::min(1.0, 2 * normal_above(std::abs(plus - all / 2) / std::sqrt(variance)));
  }
  return test;
}

std::optional<RankTest> kruskal_wallis(const std::vector<std::span<const int64_t>>& groups) {
  if (groups.size() < 2) return std::nullopt;
  // The next value of each series, the least first; series are merged in place, for together they can be large.
  using Next = std::pair<int64_t, uint32_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next;
  for (size_t g = 0; g < groups.size(); ++g) {
    if (groups[g].empty()) return std::nullopt;
    next.emplace(groups[g][0], static_cast<uint32_t>(g));
  }
  std::vector<size_t> n_taken(groups.size());
  std::vector<double> rank_sums(groups.size());
  std::vector<std::pair<uint32_t, size_t>> tied;  // of one value: how often each group has it
  double ties = 0;
  size_t n_values = 0;
  while (!next.empty()) {
    const int64_t value = next.top().first;
    const size_t first = n_values;
    tied.clear();
    while (!next.empty() && next.top().first == value) {
      const uint32_t g = next.top().second;
      next.pop();
      const size_t from = n_taken[g];
      size_t& to = n_taken[g];
      while (to < groups[g].size() && groups[g][to] == value) ++to;
      if (to < groups[g].size()) next.emplace(groups[g][to], g);
      tied.emplace_back(g, to - from);
      n_values += to - from;
    }
    const double rank = static_cast<double>(first + n_values + 1) / 2;
    for (const auto& [g, count] : tied) rank_sums[g] += rank * static_cast<double>(count);
    ties += tie_term(static_cast<int64_t>(n_values - first));
  }
  const auto n = static_cast<double>(n_values);
  const double correction = 1 - ties / (n * n * n - n);
  if (!(correction > 0)) return std::nullopt;
  double spread = 0;
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto size = static_cast<double>(groups[g].size());
    const double distance = rank_sums[g] / size - (n + 1) / 2;
    spread += size * distance * distance;
  }
  const double h = 12 / (n * (n + 1)) * spread / correction;
  return RankTest{h, chi_square_above(h, static_cast<double>(groups.size() - 1)), h / (n - 1)};
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return p[x] < p[y]; });
  std::vector<double> adjusted(p.size());
  double least = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    least = std::max(least, std::min(1.0, static_cast<double>(p.size() - i) * p[order[i]]));
    adjusted[order[i]] = least;
  }
  return adjusted;
}

}  // namespace dnn::metrics
