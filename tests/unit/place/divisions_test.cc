// Costs of divided layers: the fastest slices against all that there are, and the search with tables of costs.
#include "place/divisions.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "graph/text.h"
#include "ops/op.h"
#include "passes/channel_block.h"

namespace dnn::place {
namespace {

using Copies = std::vector<std::vector<CopyCost>>;

// The least of all distributions of whole blocks in which the device `join` has one.
double least_of_all(const ChainCost& cost, const Copies& copy, size_t join) {
  const int64_t blocks = cost.channels / kChannelBlock;
  double least = 1e300;
  std::vector<int64_t> has(copy.size(), 0);
  const std::function<void(size_t, int64_t)> descend = [&](size_t d, int64_t left) {
    if (d == has.size()) {
      if (left != 0 || has[join] == 0) return;
      std::vector<Slice> slices = {{join, has[join] * kChannelBlock}};
      for (size_t other = 0; other < has.size(); ++other) {
        if (other != join && has[other] > 0) slices.push_back({other, has[other] * kChannelBlock});
      }
      least = std::min(least, division_us(cost, copy, slices));
      return;
    }
    for (has[d] = 0; has[d] <= left; ++has[d]) descend(d + 1, left - has[d]);
    has[d] = 0;
  };
  descend(0, blocks);
  return least;
}

TEST(FastestSlices, AreTheBestOfAll) {
  std::mt19937 random(5);
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  int divided = 0;
  for (int round = 0; round < 300; ++round) {
    const size_t devices = 2 + random() % 2;
    ChainCost cost;
    cost.channels = static_cast<int64_t>(kChannelBlock * (2 + random() % 8));
    for (int64_t* bytes : {&cost.bytes_in, &cost.bytes_out}) *bytes = static_cast<int64_t>(uniform(0, 4000));
    Copies copy(devices);
    for (size_t d = 0; d < devices; ++d) {
      cost.alone_us.push_back(uniform(1, 200));
      cost.busy_us.push_back(cost.alone_us.back() * uniform(1, 1.5));
      for (size_t e = 0; e < devices; ++e) copy[d].push_back({uniform(0, 30), uniform(0, 0.01)});
    }
    for (size_t join = 0; join < devices; ++join) {
      const std::vector<Slice> slices = fastest_slices(cost, copy, join);
      int64_t channels = 0;
      for (const Slice& slice : slices) channels += slice.channels;
      ASSERT_EQ(channels, cost.channels);
      ASSERT_EQ(slices.front().part, join);
      ASSERT_NEAR(division_us(cost, copy, slices), least_of_all(cost, copy, join), 1e-6) << "round " << round;
      divided += slices.size() > 1;
    }
  }
  EXPECT_GT(divided, 200);
}

// Two layers in a row, 64 channels each.
struct Table {
  explicit Table(double us_c, double us_d, CopyCost between) {
    graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[1,64,4,4]
  const w: float32[64,64,1,1] = random(1)
  a = Conv(x, w) @one
  b = Relu(a) @relu
  c = Conv(b, w) @two
  output c
})");
    infer_types(graph);
    for (double us : {us_c, us_d}) {
      DeviceCost cost;
      cost.node_us = {us, 0, us};
      cost.busy_us = cost.node_us;
      cost.whole_us = 2 * us;
      measured.devices.push_back(cost);
    }
    measured.copy = {{{}, between}, {between, {}}};
    measured.contention = {1, 1};
  }
  DividedSearch search(double dearer = 1) const { return search_divided(graph, find_blocks(graph), measured, dearer); }

  Graph graph;
  Measured measured;
};

TEST(SearchDivided, DividesWhereItPays) {
  const DividedSearch equal = Table(100, 100, {2, 0}).search();
  ASSERT_EQ(equal.placement.divisions.size(), 2u);
  EXPECT_EQ(equal.chains, 2u);
  EXPECT_EQ(equal.placement.divisions[0].slices, (std::vector<Slice>{{0, 32}, {1, 32}}));
  EXPECT_TRUE(equal.proved);
  EXPECT_DOUBLE_EQ(equal.us, 2 * (50 + 4));
  // Work is shared by speed: three quarters for the device that is three times as fast.
  const DividedSearch unequal = Table(100, 300, {1, 0}).search();
  ASSERT_EQ(unequal.placement.divisions.size(), 2u);
  EXPECT_EQ(unequal.placement.divisions[1].slices, (std::vector<Slice>{{0, 48}, {1, 16}}));
  EXPECT_DOUBLE_EQ(unequal.us, 2 * (75 + 2));
}

TEST(SearchDivided, LeavesLayersWholeWhereItDoesNotPay) {
  EXPECT_TRUE(Table(100, 100, {40, 0}).search().placement.divisions.empty());  // one block: 25 and two ways of 40
  EXPECT_TRUE(Table(100, 100, {2, 0}).search(20).placement.divisions.empty());
  EXPECT_TRUE(Table(10, 1000, {1, 0}).search().placement.divisions.empty());
  const DividedSearch none = Table(100, 100, {60, 0}).search();
  EXPECT_DOUBLE_EQ(none.us, 200);
  EXPECT_TRUE(none.proved);
}

}  // namespace
}  // namespace dnn::place
