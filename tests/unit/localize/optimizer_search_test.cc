// Optimiser search: each pass that changes what a model computes, or leaves what does not run, is named and left out.
#include "localize/optimizer_search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "graph/text.h"
#include "ops/op.h"

namespace dnn {
namespace {

Graph optimized_net() {
  Graph graph = parse_graph(R"(graph "net" {
  opset 17
  input x: float32[1,4]
  const w: float32[4,3] = random(1)
  a = Relu(x) @positive
  b = MatMul(a, w) @product
  y = Tanh(b) @bend
  output y
})");
  infer_types(graph);
  return graph;
}

const std::vector<std::string> kPasses = {"a", "b", "c", "d", "e", "f"};

// Passes that give nodes of a name another operator; "" for one that leaves what does not run.
Optimizer optimizer(const std::map<std::string, std::pair<std::string, std::string>>& faults) {
  const auto apply = [faults](const std::vector<std::string>& passes) {
    Graph graph = optimized_net();
    for (const std::string& pass : passes) {
      const auto fault = faults.find(pass);
      if (fault == faults.end()) continue;
      if (fault->second.first.empty()) fail_unsupported("it does not run");
      for (NodeId id : graph.order()) {
        if (graph.node(id).name == fault->second.first) graph.node(id).op = fault->second.second;
      }
    }
    return graph;
  };
  return {"stand-in", kPasses, apply};
}

OptimizerReport searched_passes(const std::map<std::string, std::pair<std::string, std::string>>& faults) {
  const std::vector<BisectSample> samples = {{"zeros", {Tensor(DType::Float32, {1, 4})}},
                                             {"ramp", {Tensor::of<float>({1, 4}, {-1, 0.5F, 1, 2})}}};
  return search_optimizer(optimized_net(), samples, optimizer(faults), {});
}

TEST(OptimizerSearch, AgreesWhereNoPassIsWrong) {
  const OptimizerReport report = searched_passes({});
  EXPECT_FALSE(report.differs);
  EXPECT_EQ(report.n_runs, 1U);
}

TEST(OptimizerSearch, NamesEachPassThatIsWrong) {
  for (const std::string& pass : kPasses) {
    const OptimizerReport report = searched_passes({{pass, {"positive", "Abs"}}});
    ASSERT_EQ(report.findings.size(), 1U) << pass;
    EXPECT_EQ(report.findings[0].pass, pass);
    EXPECT_EQ(report.findings[0].max_abs_before, 0);
    EXPECT_GT(report.findings[0].max_abs_after, 0.1);
    EXPECT_EQ(report.findings[0].gone, (std::vector<std::pair<std::string, std::string>>{{"positive", "Relu"}}));
    EXPECT_EQ(report.findings[0].new_nodes, (std::vector<std::pair<std::string, std::string>>{{"positive", "Abs"}}));
    EXPECT_EQ(report.differs_most, 1U);
    EXPECT_TRUE(report.mended);
  }
  const OptimizerReport two = searched_passes({{"b", {"positive", "Abs"}}, {"e", {"bend", "Sigmoid"}}});
  ASSERT_EQ(two.findings.size(), 2U);
  EXPECT_EQ(two.findings[0].pass, "b");
  EXPECT_EQ(two.findings[1].pass, "e");
  EXPECT_TRUE(two.mended);
}

TEST(OptimizerSearch, SaysWhatDoesNotRun) {
  const OptimizerReport report = searched_passes({{"d", {"", ""}}});
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].pass, "d");
  EXPECT_EQ(report.findings[0].error, "it does not run");
  EXPECT_EQ(report.error, "it does not run");
  EXPECT_TRUE(report.mended);
}

}  // namespace
}  // namespace dnn
