// Which channels branches have: clusters of layers come apart, what all read is in all branches, and less is lost than by the source's order.
#include "branch/order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "interp/interpreter.h"
#include "ops/build.h"

namespace dnn::branch {
namespace {

constexpr int64_t kWide = 16;

// A stem, a stage of four 1x1 layers at 8 x 8, and one at 4 x 4. `weight` of output o and input i of the stage's layers.
Graph layered(const std::function<float(int64_t, int64_t)>& weight) {
  NewGraph net;
  std::mt19937 random{5};
  std::uniform_real_distribution<float> some(-0.5f, 0.5f);
  const auto layer = [&](const std::string& name, ValueId x, int64_t in, int64_t out, int64_t stride, bool given) {
    Tensor w(DType::Float32, {out, in, 1, 1});
    for (int64_t i = 0; i < w.size(); ++i) w.mutable_data<float>()[i] = given ? weight(i / in, i % in) : some(random);
    net.set_name(name);
    return net.emit("Relu", {net.emit("Conv", {x, net.store(cat(name, ".w"), w)},
                                      {{"strides", std::vector<int64_t>{stride, stride}}})});
  };
  ValueId x = net.input("image", Type(DType::Float32, {1, 3, 16, 16}));
  x = layer("stem", x, 3, kWide, 2, false);
  x = layer("first", x, kWide, kWide, 1, false);
  for (const char* name : {"second", "third", "fourth"}) x = layer(name, x, kWide, kWide, 1, true);
  x = layer("down", x, kWide, 8, 2, false);
  x = layer("last", x, 8, 8, 1, false);
  net.output(net.emit("Flatten", {net.emit("GlobalAveragePool", {x})}), "scores");
  return net.finish();
}

StretchPlan halves(const SourceStages& stages, double width) {
  StretchPlan plan;
  for (const SourceStage& stage : stages.stages) {
    const auto depth = static_cast<int64_t>(stage.blocks.size());
    plan.stages.push_back({{"cpu", depth, 1}});
  }
  const auto depth = static_cast<int64_t>(stages.stages[0].blocks.size());
  plan.stages[0] = {{"cpu", depth, width}, {"dsp", depth, width}};
  return plan;
}

std::vector<float> scores_of(const Graph& graph) {
  Tensor x(DType::Float32, {1, 3, 16, 16});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 23) / 11 - 1;
  const Tensor y = interpret(graph, {x})[0];
  return {y.values<float>().begin(), y.values<float>().end()};
}

double farthest_of(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - b[i]));
  return most;
}

// Channels of one parity are computed from those of the same parity: two networks, which the source's order cuts in the middle of both.
TEST(ChannelOrder, TakesClustersApart) {
  const Graph graph = layered(
      [](int64_t o, int64_t i) { return o % 2 == i % 2 ? 0.1f + 0.01f * static_cast<float>((o + i) % 5) : 0.f; });
  const SourceStages stages = find_stages(graph);
  const StretchPlan plan = halves(stages, 0.5);
  const ChannelOrders orders = order_channels(graph, stages, plan);
  EXPECT_NEAR(lost_share(graph, stages, plan, {}), 0.5, 0.01);
  EXPECT_EQ(lost_share(graph, stages, plan, orders), 0);
  EXPECT_LT(farthest_of(scores_of(stretch(graph, stages, plan, orders)), scores_of(graph)), 1e-6);
  EXPECT_GT(farthest_of(scores_of(stretch(graph, stages, plan)), scores_of(graph)), 1e-2);
}

// All that a row reads comes from channels 0, 5, 10 and 15: with a quarter in common, these are in both branches.
TEST(ChannelOrder, GivesAllBranchesWhatEverybodyReads) {
  const Graph graph = layered([](int64_t, int64_t i) { return i % 5 == 0 ? 0.5f : 0.01f; });
  const SourceStages stages = find_stages(graph);
  const StretchPlan plan = halves(stages, 0.625);
  const ChannelOrders orders = order_channels(graph, stages, plan);
  EXPECT_GT(lost_share(graph, stages, plan, {}), 0.2);
  EXPECT_LT(lost_share(graph, stages, plan, orders), 0.01);
}

// Random weights: by whatever order much is lost, and by the one that is found less.
TEST(ChannelOrder, LosesLessThanTheSourcesOrder) {
  std::mt19937 random{3};
  std::normal_distribution<float> normal;
  const Graph graph = layered([&](int64_t, int64_t) { return normal(random); });
  const SourceStages stages = find_stages(graph);
  for (const double width : {0.5, 0.625, 0.75}) {
    const StretchPlan plan = halves(stages, width);
    const ChannelOrders orders = order_channels(graph, stages, plan);
    EXPECT_LT(lost_share(graph, stages, plan, orders), 0.9 * lost_share(graph, stages, plan, {})) << width;
    for (const auto& [layer, order] : orders) {
      std::vector<int64_t> sorted = order;
      std::sort(sorted.begin(), sorted.end());
      for (int64_t c = 0; c < kWide; ++c) ASSERT_EQ(sorted[c], c) << "each channel once";
    }
  }
}

// With all channels in all branches nothing is lost, and no order is better than another.
TEST(ChannelOrder, KeepsTheNetworkOfWholeBranches) {
  std::mt19937 random{4};
  std::normal_distribution<float> normal;
  const Graph graph = layered([&](int64_t, int64_t) { return 0.3f * normal(random); });
  const SourceStages stages = find_stages(graph);
  const StretchPlan plan = halves(stages, 1);
  const ChannelOrders orders = order_channels(graph, stages, plan);
  EXPECT_EQ(lost_share(graph, stages, plan, orders), 0);
  EXPECT_LT(farthest_of(scores_of(stretch(graph, stages, plan, orders)), scores_of(graph)), 1e-5);
}

}  // namespace
}  // namespace dnn::branch
