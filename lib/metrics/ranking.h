// Comparing two rankings of scored items: Kendall's tau-b and rank-biased overlap.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace dnn::metrics {

struct Scored {
  int64_t item = 0;
  double score = 0;
};
// Best first, no item twice. Neighbours of equal score are tied; the order of a list counts, its scores only tell ties.
using Ranking = std::vector<Scored>;

// Kendall's tau-b (Kendall 1945) between the ranks of the items that both rankings hold; nullopt when fewer than two
// are common or when one ranking ties them all.
std::optional<double> kendall_tau_b(const Ranking& a, const Ranking& b);

// Extrapolated rank-biased overlap (Webber, Moffat, Zobel: A similarity measure for indefinite rankings, ACM TOIS 2010):
// equation 32, for lists of any two lengths. Where a tie straddles depth d, agreement at d is 2|A n B| / (|A| + |B|) of
// the sets with all the tied items in them (their section 4.6). In [0, 1]; nullopt when a list is empty.
std::optional<double> rank_biased_overlap(const Ranking& a, const Ranking& b, double p);

// The p that dnn-eval uses: the first five ranks carry 0.76 of the weight.
inline constexpr double kRboPersistence = 0.9;

}  // namespace dnn::metrics
