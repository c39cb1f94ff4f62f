// The profile's table: rates, and which limit a step meets first.
#include "infer/profile.h"

#include <gtest/gtest.h>

namespace dnn {
namespace {

Variant two_steps() {
  Variant variant;
  Graph graph;
  Node node;
  node.name = "conv";
  node.op = "Conv";
  node.outputs = {graph.add_value("y")};
  graph.add_node(node);
  variant.kernels = {{"conv_1", "conv"}};
  Step step;
  step.kernel = 0;
  step.node = 0;
  step.flops = 1e6;
  step.bytes = 1e3;
  variant.steps.push_back(step);
  step.kernel = -1;
  step.flops = 1e3;
  step.bytes = 1e6;
  variant.steps.push_back(step);
  variant.graph = std::make_shared<const Graph>(std::move(graph));
  return variant;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Profile, SaysWhatBoundsAStep) {
  // 100 GFLOP/s and 10 GB/s: the first step needs 10 us for its arithmetic, the second 100 us for its bytes.
  const Peaks peaks{100, 10, "avx2", 1};
  const std::string table = profile_table(two_steps(), {{40'000, 2}, {400'000, 2}}, peaks, "bfloat16");
  EXPECT_TRUE(holds(table, "peaks measured on 1 thread of avx2: 100.0 GFLOP/s")) << table;
  EXPECT_TRUE(holds(table, "20.0     9.1      50.0      0.1        1.0  compute 50%   bfloat16  conv_1")) << table;
  EXPECT_TRUE(holds(table, "200.0    90.9       0.0      5.0      976.6  memory 50%    bfloat16  interpreted"))
      << table;
  EXPECT_TRUE(holds(table, "all steps")) << table;
}

TEST(Profile, WithoutPeaksNamesNoBound) {
  const std::string table = profile_table(two_steps(), {{40'000, 2}, {0, 0}}, std::nullopt);
  EXPECT_FALSE(holds(table, "compute")) << table;
  EXPECT_FALSE(holds(table, "memory")) << table;
}

}  // namespace
}  // namespace dnn
