// Partition search: each node that a device computes wrongly, nodes that are wrong only together, and what mends the model.
#include "localize/partition.h"

#include <gtest/gtest.h>

#include <set>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {
namespace {

Graph partition_net() {
  Graph graph = parse_graph(R"(graph "net" {
  opset 17
  input x: float32[1,2,8,8]
  const w: float32[2,2,1,1] = {1, 2, 3, 4}
  const u: float32[3,2,3,3] = random(3)
  a = Conv(x, w) @mix
  b = Relu(a) @positive
  c = Sigmoid(b) @squash
  d = Tanh(b) @bend
  e = Mul(c, d) @gate
  f = Conv(e, u) @widen
  g = Relu(f) @again
  h = GlobalAveragePool(g) @mean
  y = Flatten(h) @flat
  output y
})");
  infer_types(graph);
  return graph;
}

std::vector<BisectSample> two_samples() {
  std::vector<float> values;
  for (int i = 0; i < 128; ++i) values.push_back(static_cast<float>(i % 7) / 5 - 0.3F);
  return {{"zero", {Tensor(DType::Float32, {1, 2, 8, 8})}}, {"ramp", {Tensor::of<float>({1, 2, 8, 8}, values)}}};
}

struct Wrong {
  std::string node, by, with;  // another operator for a node, where the graph also holds `with` ("": always)
};

RunSamples wrong_device(const std::vector<Wrong>& faults, const std::string& refuses = "") {
  return [=](const Graph& graph, const std::vector<std::vector<Tensor>>& inputs) {
    Graph copy = graph;
    std::set<std::string> there = {""};
    for (NodeId id : copy.order()) there.insert(copy.node(id).name);
    for (NodeId id : copy.order()) {
      for (const Wrong& wrong : faults) {
        if (copy.node(id).name == wrong.node && there.count(wrong.with) != 0) copy.node(id).op = wrong.by;
      }
    }
    std::vector<Outcome> outcomes;
    for (const std::vector<Tensor>& sample : inputs) {
      const bool refused = !refuses.empty() && there.count(refuses) != 0;
      outcomes.push_back(refused ? Outcome{{}, "no such operator"} : Outcome{interpret(copy, sample), ""});
    }
    return outcomes;
  };
}

std::vector<std::string> found(const PartitionReport& report) {
  std::vector<std::string> all;
  for (const PartitionFinding& finding : report.findings) {
    std::string names;
    for (const NodeText& node : finding.nodes) names += (names.empty() ? "" : "+") + node.name;
    all.push_back(names);
  }
  return all;
}

PartitionReport search(const RunSamples& device, size_t max_runs = 400) {
  PartitionOptions options;
  options.max_runs = max_runs;
  return search_partition(partition_net(), two_samples(), device, options);
}

TEST(Partition, FindsEachNodeThatIsWrongAndMends) {
  const PartitionReport one = search(wrong_device({{"bend", "Sigmoid", ""}}));
  EXPECT_EQ(found(one), (std::vector<std::string>{"bend"}));
  EXPECT_EQ(one.differs_most, 0U);  // the outputs of zeros are 0, which nothing may be off
  EXPECT_EQ(one.findings[0].value, "d");
  EXPECT_TRUE(one.mended);
  EXPECT_TRUE(one.ended);
  EXPECT_EQ(one.remaining_max_abs, 0);
  const PartitionReport two = search(wrong_device({{"positive", "Abs", ""}, {"again", "Abs", ""}}));
  EXPECT_EQ(found(two), (std::vector<std::string>{"positive", "again"}));
  EXPECT_TRUE(two.mended);
}

TEST(Partition, NodesThatAreWrongOnlyTogetherAreOneFinding) {
  const PartitionReport fused = search(wrong_device({{"gate", "Add", "squash"}}));
  EXPECT_EQ(found(fused), (std::vector<std::string>{"squash+bend+gate"}));
  EXPECT_TRUE(fused.mended);
}

TEST(Partition, SaysWhatTheDeviceDoesNotRun) {
  const PartitionReport refused = search(wrong_device({}, "widen"));
  EXPECT_EQ(refused.error, "no such operator");
  EXPECT_EQ(found(refused), (std::vector<std::string>{"widen"}));
  EXPECT_EQ(refused.findings[0].error, "no such operator");
  EXPECT_TRUE(refused.mended);
}

TEST(Partition, AgreesAndEndsInTime) {
  EXPECT_FALSE(search(wrong_device({})).differs);
  const PartitionReport stopped = search(wrong_device({{"bend", "Sigmoid", ""}}), 2);
  EXPECT_TRUE(stopped.differs);
  EXPECT_FALSE(stopped.ended);
}

}  // namespace
}  // namespace dnn
