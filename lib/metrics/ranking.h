// Comparing two rankings of scored items: Kendall's tau-b and rank-biased overlap.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dnn::metrics {

struct Scored {
  int64_t item = 0;
  double score = 0;
};

// One place of a ranking, in 4 bytes.
class Ranked {
 public:
  static constexpr int64_t kLeast = -(int64_t{1} << 30), kMost = (int64_t{1} << 30) - 1;
  // `tied`: with the place before it. The item must lie within the bounds.
  Ranked(int64_t item, bool tied) : bits_(static_cast<int32_t>(item * 2 + (tied ? 1 : 0))) {}
  int64_t item() const { return bits_ >> 1; }
  bool tied() const { return (bits_ & 1) != 0; }

 private:
  int32_t bits_;
};
// Best first, no item twice.
using Ranking = std::span<const Ranked>;

// The ranking of a list that is best first: neighbours of equal score are tied, its scores tell nothing else. An item that comes
// again is left out. Throws Malformed where an item is out of Ranked's bounds.
std::vector<Ranked> ranking_of(std::span<const Scored> list);

// Kendall's tau-b (Kendall 1945) between the ranks of the items that both rankings hold; nullopt when fewer than two
// are common or when one ranking ties them all.
std::optional<double> kendall_tau_b(Ranking a, Ranking b);

// Extrapolated rank-biased overlap (Webber, Moffat, Zobel: A similarity measure for indefinite rankings, ACM TOIS 2010):
// equation 32, for lists of any two lengths. Where a tie straddles depth d, agreement at d is 2|A n B| / (|A| + |B|) of
// the sets with all the tied items in them (their section 4.6). In [0, 1]; nullopt when a list is empty.
std::optional<double> rank_biased_overlap(Ranking a, Ranking b, double p);

// The p that dnn-eval uses: the first five ranks carry 0.76 of the weight.
inline constexpr double kRboPersistence = 0.9;

}  // namespace dnn::metrics
