// Ranking by labels: draws that share no sample, Mann-Whitney's test of each, and the Borda count of their ranks.
#include "localize/label_ranking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace dnn {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Of 20 samples every third differs: 13 and 7.
std::vector<bool> labels() {
  std::vector<bool> differs;
  for (int i = 0; i < 20; ++i) differs.push_back(i % 3 == 1);
  return differs;
}

SampleErrors errors_where(double same, double other) {
  SampleErrors errors;
  const std::vector<bool> differs = labels();
  for (size_t i = 0; i < differs.size(); ++i)
    errors.emplace_back(i, (differs[i] ? other : same) * (1 + static_cast<double>(i) / 1000));
  return errors;
}

LabelRanking rank(const std::vector<SampleErrors>& layers, const LabelSampling& sampling) {
  std::vector<const SampleErrors*> pointers;
  for (const SampleErrors& errors : layers) pointers.push_back(&errors);
  return rank_by_labels(pointers, labels(), sampling);
}

std::vector<size_t> order(const LabelRanking& ranking) {
  std::vector<size_t> layers;
  for (const LabelRanking::Row& row : ranking.rows) layers.push_back(row.layer);
  return layers;
}

TEST(LabelRanking, DrawsShareNoSampleAndTheSeedDecides) {
  const std::vector<SampleErrors> layers = {errors_where(1, 2)};
  const LabelRanking ranking = rank(layers, {4, 2, 3, 7});
  EXPECT_EQ(ranking.n_equal, 13);
  EXPECT_EQ(ranking.n_different, 7);
  ASSERT_EQ(ranking.draws.size(), 3u);
  std::set<size_t> drawn;
  for (const LabelRanking::Draw& draw : ranking.draws) {
    EXPECT_EQ(draw.equal.size(), 4u);
    EXPECT_EQ(draw.different.size(), 2u);
    for (size_t sample : draw.equal) EXPECT_TRUE(!labels()[sample] && drawn.insert(sample).second) << sample;
    for (size_t sample : draw.different) EXPECT_TRUE(labels()[sample] && drawn.insert(sample).second) << sample;
  }
  const auto first = [&](uint64_t seed) { return rank(layers, {4, 2, 3, seed}).draws[0].equal; };
  EXPECT_EQ(first(7), ranking.draws[0].equal);
  EXPECT_NE(first(8), ranking.draws[0].equal);
  // The generator is the standard's, so that every machine draws these.
  EXPECT_EQ(first(0), (std::vector<size_t>{8, 11, 14, 15}));
}

TEST(LabelRanking, AsManyDrawsAsThereAreSamplesFor) {
  const std::vector<SampleErrors> layers = {errors_where(1, 2)};
  EXPECT_EQ(rank(layers, {4, 3, 9, 0}).draws.size(), 2u);
  EXPECT_EQ(rank(layers, {13, 7, 3, 0}).draws.size(), 1u);
  for (const LabelSampling& many : {LabelSampling{14, 1, 1, 0}, LabelSampling{1, 8, 1, 0}}) {
    EXPECT_TRUE(rank(layers, many).draws.empty());
    EXPECT_TRUE(rank(layers, many).rows.empty());
  }
}

// Five layers: two that err more on all that differ, one that errs alike, one that errs less, one without errors. By hand, of each
// draw: 3 layers are behind the two, which are level: 3.5; then 2, 1 and 0.
TEST(LabelRanking, CountsPointsAsBordaDoes) {
  SampleErrors alike = errors_where(1, 1);
  for (auto& [sample, error] : alike) error = 1;
  const std::vector<SampleErrors> layers = {
      errors_where(2, 1), alike, errors_where(1, 2), {}, errors_where(0, kInfinite)};
  const LabelRanking ranking = rank(layers, {4, 2, 3, 0});
  EXPECT_EQ(order(ranking), (std::vector<size_t>{2, 4, 1, 0, 3}));
  const std::vector<double> points = {10.5, 10.5, 6, 3, 0};
  const std::vector<std::optional<double>> effects = {1, 1, 0, -1, std::nullopt};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(ranking.rows[i].points, points[i]) << i;
    EXPECT_EQ(ranking.rows[i].effect, std::vector<std::optional<double>>(3, effects[i])) << i;
    EXPECT_EQ(ranking.rows[i].p.size(), 3u);
    EXPECT_EQ(ranking.rows[i].p[0].has_value(), i < 4);
  }
}

// Two draws that disagree, A before B before C and B before C before A: 2 + 0, 1 + 2 and 0 + 1 points. The mean error over both
// would have put A first.
TEST(LabelRanking, JoinsDrawsThatDisagree) {
  const LabelSampling sampling = {4, 3, 2, 3};
  const LabelRanking::Draw first = rank({errors_where(1, 2)}, sampling).draws[0];
  const auto layer = [&](double in_first, double in_second) {
    // Of the three that differ, as many are above all the equal ones.
    SampleErrors errors;
    int seen_first = 0, seen_second = 0;
    const std::vector<bool> differs = labels();
    for (size_t i = 0; i < differs.size(); ++i) {
      const bool is_first = std::find(first.different.begin(), first.different.end(), i) != first.different.end();
      int& seen = is_first ? seen_first : seen_second;
      const double above = is_first ? in_first : in_second;
      errors.emplace_back(i, !differs[i] ? 5 + 0.001 * static_cast<double>(i) : seen++ < above ? 100 : 1);
    }
    return errors;
  };
  const LabelRanking ranking = rank({layer(7, 0), layer(2, 7), layer(1, 2)}, sampling);
  ASSERT_EQ(ranking.draws.size(), 2u);
  EXPECT_EQ(ranking.rows[0].layer, 1u);
  EXPECT_EQ(ranking.rows[0].points, 3);
  EXPECT_EQ(ranking.rows[1].layer, 0u);
  EXPECT_EQ(ranking.rows[1].points, 2);
  EXPECT_EQ(ranking.rows[2].points, 1);
}

// scipy 1.17.1: mannwhitneyu(different, equal), method='auto'; Holm doubles the smaller of two.
TEST(LabelRanking, PIsScipys) {
  const std::vector<bool> differs = {false, false, false, false, false, true, true, true, true};
  const auto errors = [](const std::vector<double>& values) {
    SampleErrors found;
    for (size_t i = 0; i < values.size(); ++i) found.emplace_back(i, values[i]);
    return found;
  };
  const SampleErrors exact = errors({0.1, 0.4, 0.2, 0.3, 0.5, 0.35, 0.6, 0.7, 0.45}),
                     tied = errors({1, 1, 2, 2, 3, 2, 3, 3, kInfinite});
  const auto a = test_by_label(exact, differs), b = test_by_label(tied, differs);
  ASSERT_TRUE(a && b);
  EXPECT_NEAR(a->p, 0.1111111111111111, 1e-12);
  EXPECT_NEAR(b->p, 0.09783166898477647, 1e-12);
  const LabelRanking ranking = rank_by_labels({&exact, &tied}, differs, {5, 4, 1, 0});
  ASSERT_EQ(ranking.rows.size(), 2u);
  for (const LabelRanking::Row& row : ranking.rows) EXPECT_NEAR(row.p[0].value(), 2 * 0.09783166898477647, 1e-12);
}

}  // namespace
}  // namespace dnn
