// Rankings against values that scipy.stats.kendalltau and a direct sum of Webber's equation 32 over sets gave.
#include "metrics/ranking.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/error.h"

namespace dnn::metrics {
namespace {

using ScoredList = std::vector<Scored>;

std::optional<double> tau_of(const ScoredList& a, const ScoredList& b) {
  return kendall_tau_b(ranking_of(a), ranking_of(b));
}
std::optional<double> rbo_of(const ScoredList& a, const ScoredList& b) {
  return rank_biased_overlap(ranking_of(a), ranking_of(b), 0.9);
}

struct Case {
  ScoredList a, b;
  double tau, rbo;  // tau NaN: not defined
};

const Case kCases[] = {
    {{{1, 5}, {2, 4}, {3, 3}, {4, 2}, {5, 1}}, {{1, 5}, {2, 4}, {3, 3}, {4, 2}, {5, 1}}, 0.9999999999999999, 1.0},
    {{{1, 5}, {2, 4}, {3, 3}, {4, 2}, {5, 1}},
     {{5, 5}, {4, 4}, {3, 3}, {2, 2}, {1, 1}},
     -0.9999999999999999,
     0.7377750000000001},
    {{{1, 5}, {2, 4}, {3, 3}, {4, 2}, {5, 1}},
     {{2, 9}, {1, 8}, {3, 7}, {6, 6}, {4, 5}},
     0.6666666666666669,
     0.7505550000000001},
    {{{1, 5}, {2, 4}, {3, 3}}, {{4, 3}, {5, 2}, {6, 1}}, NAN, 0.0},
    {{{1, 5}, {2, 5}, {3, 3}, {4, 2}, {5, 1}},
     {{2, 9}, {1, 8}, {3, 7}, {5, 7}, {7, 7}},
     0.7999999999999999,
     0.7908966666666667},
    {{{1, 5}, {2, 4}, {3, 3}},
     {{3, 9}, {1, 8}, {9, 7}, {2, 6}, {8, 5}, {7, 4}},
     -0.33333333333333337,
     0.7147619999999999},
    {{{1, 5}, {2, 4}, {3, 3}},
     {{3, 9}, {1, 8}, {9, 7}, {2, 7}, {8, 5}, {7, 4}},
     -0.33333333333333337,
     0.8434285714285714},
    {{{1, 1}, {2, 1}, {3, 1}}, {{1, 3}, {2, 2}, {3, 1}}, NAN, 0.932},
    {{{10, 9}, {4, 7}, {12, 7}, {1, 4}, {2, 4}, {13, 2}, {8, 2}, {16, 2}, {5, 1}, {9, 1}},
     {{17, 10}, {13, 9}, {1, 7}, {3, 7}, {7, 5}, {10, 4}, {14, 3}, {9, 3}, {0, 1}, {12, 1}},
     -0.19999999999999998,
     0.30772749053571435},
    {{{17, 11}, {3, 10}, {9, 10}, {5, 9}, {18, 9}, {19, 8}, {14, 4}, {10, 2}, {15, 2}, {16, 1}},
     {{13, 10}, {10, 10}, {14, 9}, {17, 8}, {11, 8}, {4, 6}, {3, 5}, {12, 5}, {2, 2}, {19, 2}},
     -0.39999999999999997,
     0.29767564285913317},
    {{{3, 10}, {16, 10}, {13, 10}, {5, 9}, {10, 8}, {2, 8}, {7, 6}, {6, 6}, {0, 6}, {15, 2}},
     {{2, 11}, {19, 11}, {8, 10}, {15, 8}, {18, 8}, {0, 7}, {11, 6}, {13, 6}, {4, 5}, {10, 1}},
     -0.31622776601683794,
     0.2654675506443851},
    {{{5, 9}, {3, 8}, {15, 8}, {1, 7}, {6, 7}, {12, 7}, {4, 5}, {2, 3}, {11, 3}, {18, 2}},
     {{13, 11}, {17, 10}, {8, 8}, {19, 5}, {11, 4}, {10, 4}, {6, 3}, {3, 3}, {2, 3}, {1, 1}},
     -0.40089186286863654,
     0.24738578550000004},
    {{{9, 11}, {0, 10}, {4, 10}, {13, 9}, {11, 6}, {19, 3}},
     {{1, 10}, {14, 10}, {17, 8}, {12, 6}, {16, 4}, {6, 4}, {18, 3}, {19, 2}, {7, 2}, {10, 2}, {13, 1}, {0, 1}},
     -0.816496580927726,
     0.10013145601500004},
};

TEST(Ranking, MatchesScipyAndTheDirectFormula) {
  for (size_t i = 0; i < std::size(kCases); ++i) {
    const auto& [a, b, tau, rbo] = kCases[i];
    for (bool swapped : {false, true}) {
      const std::optional<double> our_tau = swapped ? tau_of(b, a) : tau_of(a, b);
      EXPECT_EQ(our_tau.has_value(), !std::isnan(tau)) << "case " << i;
      if (our_tau) {
        EXPECT_NEAR(*our_tau, tau, 1e-12) << "case " << i;
      }
      EXPECT_NEAR(*(swapped ? rbo_of(b, a) : rbo_of(a, b)), rbo, 1e-12) << "case " << i;
    }
  }
}

// Letters as items, best first.
std::vector<Ranked> letters(const std::string& text) {
  ScoredList list;
  for (const char c : text) list.push_back({c, -static_cast<double>(list.size())});
  return ranking_of(list);
}

// Figure 5 of Webber, Moffat, Zobel 2010: <a b c d e f g> and <z c a v w x y>, their agreement at each depth and its mean. Both
// follow from the extrapolated values of prefixes, which differ by p^(d-1) (A_d - A_(d-1)).
TEST(Ranking, RboOfThePapersExample) {
  const double agreement[] = {0, 0, 0.667, 0.5, 0.4, 0.333, 0.286},
               average[] = {0, 0, 0.222, 0.292, 0.313, 0.317, 0.312};
  const std::string a = "abcdefg", b = "zcavwxy";
  double before = 0, a_d = 0, sum = 0;
  for (size_t d = 1; d <= a.size(); ++d) {
    const double rbo = *rank_biased_overlap(letters(a.substr(0, d)), letters(b.substr(0, d)), 0.9);
    a_d += (rbo - before) / std::pow(0.9, d - 1);
    before = rbo;
    sum += a_d;
    EXPECT_NEAR(a_d, agreement[d - 1], 0.0005) << d;
    EXPECT_NEAR(sum / static_cast<double>(d), average[d - 1], 0.0005) << d;
  }
}

// Of these and the alphabet William Webber's own program gave these values, as github.com/mpetri/rbo publishes them.
TEST(Ranking, RboOfItsAuthorsProgram) {
  struct Known {
    const char* other;
    double p, rbo;
  };
  const Known known[] = {{"karfvodcjmwgzlypebunq", 0.9, 0.468431},
                         {"zhatsimjpnkvcfxwqgoeryubd", 0.9, 0.364444},
                         {"f", 0.9, 0.053090},
                         {"sozxjfdenvqkbgryapc", 0.9, 0.307626},
                         {"zclx", 0.9, 0.233312},
                         {"nxqyk", 0.9, 0.049050},
                         {"afcmleivjhs", 0.1, 0.951493},
                         {"av", 0.2, 0.9},
                         {"afdqwtvehcpubinloygrs", 0.4, 0.782330},
                         {"bcxhkur", 0.4, 0.212763}};
  for (const Known& k : known) {
    const std::vector<Ranked> alphabet = letters("abcdefghijklmnopqrstuvwxyz");
    EXPECT_NEAR(*rank_biased_overlap(alphabet, letters(k.other), k.p), k.rbo, 1e-6) << k.other;
    EXPECT_NEAR(*rank_biased_overlap(letters(k.other), alphabet, k.p), k.rbo, 1e-6) << k.other;
  }
}

TEST(Ranking, TauLooksAtRanksAndNotAtItemNumbers) {
  const ScoredList a = {{900, 3}, {5, 2}, {77, 1}};
  EXPECT_EQ(tau_of(a, {{900, 30}, {5, 20}, {77, 10}}), 1);
  EXPECT_EQ(tau_of(a, {{77, 30}, {5, 20}, {900, 10}}), -1);
}

TEST(Ranking, RboWeighsTheTopMost) {
  const ScoredList a = {{1, 5}, {2, 4}, {3, 3}, {4, 2}};
  const ScoredList top_swapped = {{2, 5}, {1, 4}, {3, 3}, {4, 2}};
  const ScoredList end_swapped = {{1, 5}, {2, 4}, {4, 3}, {3, 2}};
  EXPECT_LT(*rbo_of(a, top_swapped), *rbo_of(a, end_swapped));
  EXPECT_EQ(rbo_of({}, a), std::nullopt);
}

TEST(Ranking, AnItemCountsWhereItStandsFirst) {
  const std::vector<Ranked> ranking = ranking_of(ScoredList{{-1, 3}, {7, 2}, {-1, 2}, {8, 2}, {Ranked::kMost, 1}});
  ASSERT_EQ(ranking.size(), 4u);
  EXPECT_EQ(ranking[0].item(), -1);
  EXPECT_EQ(ranking[3].item(), Ranked::kMost);
  EXPECT_FALSE(ranking[1].tied());
  EXPECT_TRUE(ranking[2].tied());
  EXPECT_EQ(ranking_of(ScoredList{{Ranked::kLeast, 0}})[0].item(), Ranked::kLeast);
  EXPECT_THROW(ranking_of(ScoredList{{Ranked::kMost + 1, 0}}), Error);
  ScoredList alternating;
  for (int64_t i = 0; i < 40; ++i) alternating.push_back({i % 20, static_cast<double>(-i)});
  EXPECT_EQ(ranking_of(alternating).size(), 20u);
  EXPECT_NEAR(*rbo_of(alternating, alternating), 1, 1e-12);
  EXPECT_EQ(tau_of(alternating, ScoredList(alternating.rbegin(), alternating.rend())), -1);
}

}  // namespace
}  // namespace dnn::metrics
