// Branched networks of imported ones: stages, the channels and weights of branches, the rule of the search, plans as text.
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include "base/error.h"
#include "branch/placement.h"
#include "branch/search.h"
#include "branch/slice.h"
#include "branch/stretch.h"
#include "cache.h"
#include "interp/interpreter.h"
#include "ops/build.h"
#include "ops/op.h"
#include "refused.h"

namespace dnn::branch {
namespace {

// A small residual network: stem, a stage at 16 x 16 of two residual blocks, one at 8 x 8 that begins with a depthwise convolution, a
// concatenation within it, a head.
class Maker {
 public:
  Graph residual() {
    ValueId x = net.input("image", Type(DType::Float32, {1, 3, 32, 32}));
    x = conv("stem", x, 3, 16, 3, 2);
    for (const char* block : {"one", "two"}) {
      const ValueId y = conv(cat(block, ".a"), x, 16, 8, 1, 1);
      x = net.emit("Relu", {net.emit("Add", {conv(cat(block, ".b"), y, 8, 16, 3, 1, 1, false), x})});
    }
    x = conv("down", x, 16, 16, 3, 2, 16);
    const ValueId left = conv("left", x, 16, 8, 1, 1), right = conv("right", x, 16, 16, 1, 1);
    net.set_name("join");
    x = net.emit("Concat", {left, right}, {{"axis", int64_t{1}}});
    x = conv("last", x, 24, 32, 1, 1);
    net.set_name("pool");
    x = net.emit("Flatten", {net.emit("GlobalAveragePool", {x})});
    net.set_name("fc");
    net.output(
        net.emit("Gemm", {x, net.store("w", numbers({5, 32})), net.store("b", numbers({5}))}, {{"transB", int64_t{1}}}),
        "scores");
    return net.finish();
  }

  ValueId conv(const std::string& name, ValueId x, int64_t in, int64_t out, int64_t kernel, int64_t stride,
               int64_t group = 1, bool relu = true) {
    net.set_name(name);
    const std::vector<int64_t> pads(4, kernel / 2);
    const ValueId y = net.emit(
        "Conv", {x, net.store("w", numbers({out, in / group, kernel, kernel})), net.store("b", numbers({out}))},
        {{"strides", std::vector<int64_t>{stride, stride}}, {"pads", pads}, {"group", group}});
    return relu ? net.emit("Relu", {y}) : y;
  }

  Tensor numbers(const Shape& shape) {
    Tensor t(DType::Float32, shape);
    std::uniform_real_distribution<float> some(-0.3f, 0.3f);
    for (int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = some(random);
    return t;
  }

  NewGraph net;
  std::mt19937 random{7};
};

Tensor stretch_image() {
  Tensor x(DType::Float32, {1, 3, 32, 32});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 19) / 9 - 1;
  return x;
}

std::vector<float> scores(const Graph& graph) {
  const Tensor y = interpret(graph, {stretch_image()})[0];
  return {y.values<float>().begin(), y.values<float>().end()};
}

double farthest(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(double{a[i]} - b[i]));
  return most;
}

StretchPlan plan_of(std::vector<std::vector<BranchShape>> stages) {
  StretchPlan plan;
  plan.stages = std::move(stages);
  return plan;
}

std::vector<std::string> names_of(const Graph& graph) {
  std::vector<std::string> names;
  for (NodeId id : graph.order()) names.push_back(graph.node(id).name);
  return names;
}

TEST(BranchStages, BeginWhereTheImageBecomesSmaller) {
  const Graph graph = Maker().residual();
  const SourceStages found = find_stages(graph);
  ASSERT_EQ(found.stages.size(), 2u);
  const SourceStage &first = found.stages[0], &second = found.stages[1];
  ASSERT_EQ(first.blocks.size(), 2u);
  EXPECT_TRUE(first.blocks[0].removable && first.blocks[1].removable);
  EXPECT_EQ(least_depth(first), 1) << "the first block stays";
  EXPECT_EQ(first.height, 16);
  ASSERT_EQ(second.blocks.size(), 3u) << "down; left, right and their concatenation; last";
  EXPECT_EQ(least_depth(second), 3);
  EXPECT_EQ(second.channels, 32);
  EXPECT_EQ(second.height, 8);
}

// Nothing is shared out: the copy is the network.
TEST(Stretch, OfOneBranchAStageIsTheNetwork) {
  const Graph graph = Maker().residual();
  const Graph copy = stretch(graph, find_stages(graph), plan_of({{{"cpu", 2, 1}}, {{"cpu", 3, 1}}}));
  EXPECT_EQ(scores(copy), scores(graph));
  EXPECT_EQ(copy.order().size(), graph.order().size());
}

// Two branches that each have everything: each channel comes twice, each place has half of the weight.
TEST(Stretch, SharesTheWeightsOfChannelsThatComeTwice) {
  const Graph graph = Maker().residual();
  const Graph twice =
      stretch(graph, find_stages(graph), plan_of({{{"cpu", 2, 1}, {"dsp", 2, 1}}, {{"cpu", 3, 1}, {"dsp", 3, 1}}}));
  EXPECT_GT(twice.order().size(), 2 * graph.order().size() - 8);
  EXPECT_LT(farthest(scores(twice), scores(graph)), 1e-6);
}

// A branch computes what the network does without the weights between its channels and the others'.
TEST(Stretch, LeavesOutWhatConnectsTheBranches) {
  const Graph graph = Maker().residual();
  const Graph halves =
      stretch(graph, find_stages(graph), plan_of({{{"cpu", 2, 0.5}, {"dsp", 2, 0.5}}, {{"cpu", 3, 1}}}));
  Graph cut = graph;
  const auto forget = [&](const char* name, int64_t out, int64_t in, int64_t area) {
    const ValueId id = cut.find_value(name);
    Tensor w(DType::Float32, cut.constant(id)->shape());
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t i = 0; i < in; ++i) {
        for (int64_t k = 0; k < area; ++k) {
          const int64_t at = (o * in + i) * area + k;
          w.mutable_data<float>()[at] = o * 2 / out == i * 2 / in ? cut.constant(id)->data<float>()[at] : 0;
        }
      }
    }
    cut.value(id).constant = w;
  };
  // The first layer of a stage reads all channels of the merged tensor.
  forget("one.b/w", 16, 8, 9);
  forget("two.a/w", 8, 16, 1);
  forget("two.b/w", 16, 8, 9);
  EXPECT_LT(farthest(scores(halves), scores(cut)), 1e-6);
  EXPECT_GT(farthest(scores(halves), scores(graph)), 1e-3);
}

TEST(Stretch, LeavesOutBlocksOfAShorterBranch) {
  const Graph graph = Maker().residual();
  const Graph one = stretch(graph, find_stages(graph), plan_of({{{"cpu", 2, 1}, {"dsp", 1, 1}}, {{"cpu", 3, 1}}}));
  const std::vector<std::string> names = names_of(one);
  EXPECT_EQ(std::count(names.begin(), names.end(), "s1_dsp_one.a"), 2) << "convolution and activation";
  EXPECT_EQ(std::count(names.begin(), names.end(), "s1_dsp_two.a"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "s1_cpu_two.a"), 2);
  EXPECT_EQ(std::count(names.begin(), names.end(), "s1_cpu_mp_end_concat"), 1);
}

// Any widths cover all channels, in any network: three branches, thirds and eighths, depthwise layers and concatenations.
TEST(Stretch, OfAnyWidthsRunsInSegments) {
  const Graph graph = Maker().residual();
  for (const auto& [a, b, c] : std::vector<std::tuple<double, double, double>>{
           {0.34, 0.33, 0.33}, {0.25, 0.625, 0.125}, {0.875, 0.5, 0.25}, {0.125, 0.125, 0.75}}) {
    const Graph three = place::with_one_sample(stretch(
        graph, find_stages(graph),
        plan_of({{{"cpu", 1, a}, {"dsp", 2, b}, {"gpu", 2, c}}, {{"cpu", 3, b}, {"dsp", 3, c}, {"gpu", 3, a}}})));
    verify(three);
    CompileOptions options;
    options.opt = 0;
    options.build.cache_folder = test_cache();
    const auto session = open_parallel(three, parse_parts("C=reference,D=reference,G=reference"), options);
    const Tensor together = session->run({stretch_image()})[0];
    EXPECT_TRUE(together.identical(interpret(three, {stretch_image()})[0])) << a << " " << b << " " << c;
    EXPECT_EQ(session->plan().merges(), 2);
  }
}

TEST(Stretch, RefusesPlansThatDoNotFit) {
  const Graph graph = Maker().residual();
  const SourceStages stages = find_stages(graph);
  EXPECT_NE(refused([&] {
              stretch(graph, stages, plan_of({{{"cpu", 2, 1}}}));
            }).find("2 the plan has 1 stages"),
            std::string::npos);
  EXPECT_NE(refused([&] {
              stretch(graph, stages, plan_of({{{"cpu", 2, 1}}, {{"cpu", 2, 1}}}));
            }).find("stage 2: a branch of 2 blocks"),
            std::string::npos);
  EXPECT_NE(refused([&] {
              stretch(graph, stages, plan_of({{{"cpu", 2, 0.5}, {"dsp", 2, 0.25}}, {{"cpu", 3, 1}}}));
            }).find("stage 1: the branches' WIDTHS sum up to less than 1"),
            std::string::npos);
}

// An operator that mixes channels gets all of them, or is refused by name where the branches have not all.
TEST(Stretch, RefusesOperatorsThatBranchesCannotHave) {
  Maker maker;
  ValueId x = maker.net.input("image", Type(DType::Float32, {1, 3, 16, 16}));
  x = maker.conv("stem", x, 3, 16, 3, 2);
  x = maker.conv("a", x, 16, 16, 3, 2);
  maker.net.set_name("norm");
  x = maker.net.emit("LRN", {x}, {{"size", int64_t{3}}});
  maker.net.output(maker.conv("b", x, 16, 16, 1, 1), "y");
  const Graph graph = maker.net.finish();
  const SourceStages stages = find_stages(graph);
  const auto depth = static_cast<int64_t>(stages.stages[0].blocks.size());
  EXPECT_EQ(refused([&] { stretch(graph, stages, plan_of({{{"cpu", depth, 1}, {"dsp", depth, 1}}})); }), "accepted");
  EXPECT_EQ(refused([&] {
              stretch(graph, stages, plan_of({{{"cpu", depth, 0.5}, {"dsp", depth, 0.5}}}));
            }),
            "4 node 'norm' (LRN): channel 8 is in none of the branches");
}

TEST(Stretch, PlansAreTextAndBack) {
  const SourceStages stages = find_stages(Maker().residual());
  StretchPlan plan = plan_of({{{"cpu", 2, 0.625}, {"gpu", 1, 0.5}}, {{"gpu", 3, 1}}});
  plan.main_device = "gpu";
  const std::string path = ::testing::TempDir() + "/plan.yaml";
  std::ofstream(path) << plan_text(plan, stages);
  const StretchPlan again = read_plan(path);
  EXPECT_EQ(plan_text(again, stages), plan_text(plan, stages));
  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"STAGES: []", "plan.yaml:1: STAGES is missing"},
           {"STAGES:\n- {DEVICES: [cpu], DEPTHS: [1, 2], WIDTHS: [1]}", "plan.yaml:2: DEVICES, DEPTHS and WIDTHS"},
           {"STAGES:\n- {DEVICES: [npu], DEPTHS: [1], WIDTHS: [1]}", "npu is no device"},
           {"STAGES:\n- {DEVICES: [cpu], DEPTHS: [1], WIDTHS: [2]}", "is no number from 0.01 to 1"},
           {"STAGES:\n- {DEVICES: [cpu, cpu], DEPTHS: [1, 1], WIDTHS: [1, 1]}", "two branches for cpu"},
           {"WIDTHS: 3", "plan.yaml:1: \"WIDTHS\" is no key"}}) {
    std::ofstream(path) << text;
    const std::string message = refused([&] { read_plan(path); });
    EXPECT_EQ(message.substr(0, 2), "3 ") << message;
    EXPECT_NE(message.find(said), std::string::npos) << message;
  }
}

// The published rule: at least 0.4 of the arithmetic in one branch, 0.8 in all, none above 0.8 of the time; then the shortest.
TEST(BranchSearch, ChoosesByTheRule) {
  const std::vector<Candidate> whole = {{0, 3, 1, 100, 1000}, {1, 3, 1, 100, 2000}};
  std::vector<Candidate> all = whole;
  const SearchOptions rule;
  EXPECT_TRUE(choose_branches(all, whole, rule).empty());
  all.push_back({0, 3, 0.75, 60, 640});
  all.push_back({0, 3, 0.875, 75, 780});
  all.push_back({1, 2, 0.25, 18, 420});
  EXPECT_TRUE(choose_branches(all, whole, rule).empty() == false);
  all.push_back({1, 3, 0.5, 25, 650});
  const std::vector<Candidate> chosen = choose_branches(all, whole, rule);
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].us, 640);
  EXPECT_EQ(chosen[1].us, 650) << "60 and 25 of 100 are enough, and 650 us less than 780";
  const std::vector<Candidate> with_less = choose_branches(slower(all, {false, true}, 1.5), whole, rule);
  ASSERT_EQ(with_less.size(), 2u);
  EXPECT_EQ(with_less[0].us, 780) << "the second part as slow as 975 us for half of the channels: it has a quarter";
  EXPECT_EQ(with_less[1].width, 0.25);
  SearchOptions dear;
  dear.merge_us = 400;
  EXPECT_TRUE(choose_branches(all, whole, dear).empty()) << "a merge costs more than the 350 us that it saves";
  SearchOptions strict;
  strict.alpha = 0.8;
  EXPECT_TRUE(choose_branches(all, whole, strict).empty());
}

TEST(BranchStages, AreRefusedWhereThereAreNone) {
  Maker maker;
  const ValueId x = maker.net.input("image", Type(DType::Float32, {1, 3, 8, 8}));
  maker.net.output(maker.conv("only", x, 3, 4, 3, 1), "y");
  const Graph flat = maker.net.finish();
  EXPECT_NE(refused([&] { find_stages(flat); }).find("4 no stages"), std::string::npos);
  NewGraph vector;
  vector.output(vector.emit("Relu", {vector.input("x", Type(DType::Float32, {1, 8}))}), "y");
  const Graph no_image = vector.finish();
  EXPECT_NE(refused([&] { find_stages(no_image); }).find("float32[1,8]"), std::string::npos);
}

}  // namespace
}  // namespace dnn::branch
