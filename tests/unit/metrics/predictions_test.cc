// What is kept of predictions comes back, before and after memory is given back.
#include "metrics/predictions.h"

#include <gtest/gtest.h>

namespace dnn::metrics {
namespace {

TEST(Predictions, ComeBack) {
  Predictions kept;
  const std::vector<Ranked> three = ranking_of(std::vector<Scored>{{7, 3}, {-1, 2}, {9, 2}}), none;
  Outcome outcome;
  outcome.labels = three;
  outcome.truth = int64_t{1} << 40;
  outcome.batch = 4;
  EXPECT_EQ(kept.find(5), kept.size());
  ASSERT_EQ(kept.add(5, outcome, {}), 0u);
  kept.add_latency(0, 10);
  kept.add_latency(0, 21);
  outcome = {};
  outcome.labels = none;
  Shelf shelf(0);
  const Shelved y[] = {shelf.put("y", Tensor(DType::Float32, {2}))};
  ASSERT_EQ(kept.add(2, outcome, y), 1u);
  kept.shrink();
  outcome.labels = three;
  ASSERT_EQ(kept.add(9, outcome, {}), 2u);  // of a later shard
  EXPECT_EQ(kept.find(5), 0u);
  EXPECT_EQ(kept.find(2), 1u);
  EXPECT_EQ(kept.find(9), 2u);
  EXPECT_EQ(kept.find(3), 3u);
  EXPECT_EQ(kept.find(1000), 3u);
  kept.add_output(2, shelf.put("late", Tensor(DType::Float32, {3})));
  kept.add_output(1, shelf.put("later", Tensor(DType::Int8, {1})));
  kept.shrink();
  shelf.close();

  const Outcome first = kept[0], second = kept[1], third = kept[2];
  ASSERT_EQ(first.labels.size(), 3u);
  EXPECT_EQ(first.labels[1].item(), -1);
  EXPECT_TRUE(first.labels[2].tied());
  EXPECT_EQ(first.truth, int64_t{1} << 40);
  EXPECT_EQ(first.latency_ns, 15);
  EXPECT_EQ(first.batch, 4);
  EXPECT_TRUE(kept.outputs(0).empty());
  EXPECT_TRUE(second.labels.empty());
  EXPECT_EQ(second.truth, std::nullopt);
  EXPECT_EQ(second.latency_ns, std::nullopt);
  ASSERT_EQ(kept.outputs(1).size(), 2u);
  EXPECT_EQ(shelf.get(kept.outputs(1)[0].second).first, "y");
  EXPECT_EQ(shelf.get(kept.outputs(1)[1].second).first, "later");
  EXPECT_EQ(third.labels.size(), 3u);
  ASSERT_EQ(kept.outputs(2).size(), 1u);
  EXPECT_EQ(shelf.get(kept.outputs(2)[0].second).second.shape(), (Shape{3}));
}

}  // namespace
}  // namespace dnn::metrics
