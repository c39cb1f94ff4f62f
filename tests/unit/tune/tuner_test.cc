// Spaces, tuners and the cost model, on workloads whose times are made up.
#include "tune/tuner.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "tune/cost_model.h"

namespace dnn::tune {
namespace {

using codegen::ScheduleParameters;

// Two of the axes, and not all of their values.
Space space() {
  Space result;
  for (const auto& [name, n] : {std::pair("tile", size_t{8}), std::pair("chunk_kib", size_t{7})}) {
    for (const codegen::ScheduleParameter& p : codegen::schedule_parameters()) {
      if (name == std::string(p.name)) result.axes.push_back({&p, {p.values.begin(), p.values.begin() + n}});
    }
  }
  return result;
}

// Additive in the logarithm, with one best point: tile 6, chunk_kib 10.
double cost(const ScheduleParameters& p) {
  return std::exp(0.02 * std::abs(static_cast<double>(p.tile) - 6) +
                  0.01 * std::abs(static_cast<double>(p.chunk_kib) - 10) - 0.22);
}

Search fresh() {
  Search search;
  search.pattern = "conv";
  search.space = space();
  search.tried = {search.space.start()};
  search.trials = {{search.space.start(), 1}};
  return search;
}

// Trials until none is left or `most` are made; true when no point came twice and all lay in the space.
bool go(const Tuner& tuner, std::vector<Search>& searches, size_t which, int most, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  Search& search = searches[which];
  for (int i = 0; i < most; ++i) {
    const std::optional<Point> point = tuner.propose(searches, which, random);
    if (!point) break;
    for (size_t k = 0; k < point->size(); ++k) {
      if ((*point)[k] < 0 || static_cast<size_t>((*point)[k]) >= search.space.axes[k].values.size()) return false;
    }
    if (!search.tried.insert(*point).second) return false;
    search.trials.push_back({*point, cost(search.space.at(*point))});
  }
  return true;
}

TEST(Space, PointsAreParameters) {
  const Space two = space();
  ASSERT_EQ(two.axes.size(), 2U);
  EXPECT_EQ(two.size(), 8 * 7);
  EXPECT_EQ(two.at(two.start()), ScheduleParameters{});
  ScheduleParameters some;
  some.tile = 5, some.chunk_kib = 28;
  ASSERT_TRUE(two.point_of(some).has_value());
  EXPECT_EQ(two.at(*two.point_of(some)), some);
  some.outer = 2;  // no axis here
  EXPECT_FALSE(two.point_of(some).has_value());
  some.outer = 0, some.tile = 9;
  EXPECT_FALSE(two.point_of(some).has_value());
  const Space whole = whole_space();
  EXPECT_EQ(whole.at(whole.start()), ScheduleParameters{});
  EXPECT_EQ(whole.axes.size(), codegen::schedule_parameters().size());
}

TEST(Tuners, TryEachPointOnceAndEndWhenAllAreTried) {
  for (const Tuner& tuner : tuners()) {
    std::vector<Search> searches = {fresh()};
    EXPECT_TRUE(go(tuner, searches, 0, 1000)) << tuner.name;
    EXPECT_EQ(searches[0].tried.size(), 56U) << tuner.name;
    EXPECT_EQ(searches[0].space.at(searches[0].best()->point).tile, 6) << tuner.name;
    EXPECT_EQ(searches[0].space.at(searches[0].best()->point).chunk_kib, 10) << tuner.name;
  }
}

TEST(Tuners, DrawTheSameFromTheSameSeed) {
  for (const Tuner& tuner : tuners()) {
    std::vector<Search> a = {fresh()}, b = a;
    go(tuner, a, 0, 20, 7);
    go(tuner, b, 0, 20, 7);
    for (size_t i = 0; i < 20; ++i) EXPECT_EQ(a[0].trials[i].point, b[0].trials[i].point) << tuner.name << " " << i;
  }
}

// Mean trials up to the best point, over seeds.
double trials_to_best(const Tuner& tuner) {
  double sum = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    std::vector<Search> searches = {fresh()};
    go(tuner, searches, 0, 1000, seed);
    sum += static_cast<double>(searches[0].best() - searches[0].trials.data());
  }
  return sum / 20;
}

TEST(Tuners, ThatLearnFindTheBestSooner) {
  const double random = trials_to_best(find_tuner("random"));
  EXPECT_NEAR(random, 28, 6);  // half of 56
  EXPECT_LT(trials_to_best(find_tuner("genetic")), random);
  EXPECT_LT(trials_to_best(find_tuner("model")), 0.6 * random);
}

TEST(Tuners, AnUnknownOneIsRefused) { EXPECT_THROW(find_tuner("xgb"), Error); }

// Of a kernel that was not tried at all the model expects what it saw of others of its pattern.
TEST(CostModel, LearnsFromOtherKernelsOfThePattern) {
  std::vector<Search> searches = {fresh(), fresh(), fresh()};
  searches[2].pattern = "matmul";
  go(find_tuner("grid"), searches, 0, 1000);
  const auto best_of = [&](size_t which) {
    const CostModel model(searches, which);
    std::pair<double, ScheduleParameters> best{1e9, {}};
    for (const Trial& trial : searches[0].trials) {
      if (const double expected = model.cost(trial.point); expected < best.first)
        best = {expected, searches[which].space.at(trial.point)};
    }
    return best.second;
  };
  EXPECT_EQ(best_of(1).tile, 6);
  EXPECT_EQ(best_of(1).chunk_kib, 10);
  EXPECT_EQ(best_of(2), ScheduleParameters{}) << "no trial of its own pattern but the default's";
}

TEST(CostModel, IsNearWhatWasMeasured) {
  std::vector<Search> searches = {fresh()};
  go(find_tuner("grid"), searches, 0, 1000);
  const CostModel model(searches, 0);
  for (const Trial& trial : searches[0].trials) {
    if (trial.point == searches[0].space.start()) continue;  // its cost is 1 by definition
    EXPECT_NEAR(model.cost(trial.point) / trial.cost, 1, 0.06);
  }
}

}  // namespace
}  // namespace dnn::tune
