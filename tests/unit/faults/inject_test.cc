// Injected faults: every class on a network that can have it, at the place that is said, the same for the same seed.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "faults/fault.h"
#include "graph/diff.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "unit/faults/network.h"

namespace dnn {
namespace {

Graph parsed() { return parse_graph(kFaultyNet); }

TEST(Inject, EveryClassChangesTheNetworkAndLeavesItOneThatRuns) {
  const Tensor x = random_tensor(DType::Float32, {1, 3, 8, 8}, 99);
  for (const Fault& fault : all_faults()) {
    SCOPED_TRACE(fault.name);
    const Graph before = parsed();
    Graph after = before;
    Injection done;
    ASSERT_NO_THROW(done = inject(after, fault.name, 5));
    EXPECT_FALSE(done.what.empty());
    ASSERT_FALSE(done.values.empty());
    for (const std::string& value : done.values) EXPECT_NE(before.find_value(value), kNoValue) << value;
    EXPECT_FALSE(graph_difference(before, after).empty());
    const std::vector<Tensor> outputs = interpret(after, {x});
    EXPECT_EQ(outputs[0].shape(), interpret(before, {x})[0].shape());
  }
}

// So that the next node is tried on the same copy.
TEST(Inject, WhereItCannotBeTheNetworkStays) {
  std::string text = kFaultyNet;
  const std::string pool = "kernel_shape = [3, 3], pads = [1, 1, 1, 1]}";
  text.insert(text.find(pool, text.find("MaxPool")), "dilations = [2, 2], storage_order = 0, ");
  text.replace(text.find("pads = [1, 1, 1, 1]}", text.find("MaxPool")), 20, "pads = [2, 2, 2, 2]}");
  Graph before = parse_graph(text);
  infer_types(before);
  const Uses uses(before);
  size_t refused = 0;
  for (const Fault& fault : all_faults()) {
    for (NodeId id : before.order()) {
      SCOPED_TRACE(cat(fault.name, " ", before.node(id).label()));
      Graph after = before;
      FaultRandom random(3);
      FaultContext context{after, uses, id, random, {}, {}};
      if (fault.apply(context)) continue;
      ++refused;
      EXPECT_TRUE(graph_difference(before, after).empty());
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(Inject, TheSameSeedMakesTheSameFault) {
  for (const Fault& fault : all_faults()) {
    SCOPED_TRACE(fault.name);
    Graph a = parsed(), b = parsed();
    EXPECT_EQ(inject(a, fault.name, 7).text(), inject(b, fault.name, 7).text());
    EXPECT_TRUE(graph_difference(a, b).empty());
  }
}

TEST(Inject, SeedsChooseAmongTheNodes) {
  std::vector<std::string> nodes;
  for (uint64_t seed = 0; seed < 16; ++seed) {
    Graph graph = parsed();
    nodes.push_back(inject(graph, "kernel-rotated", seed).node);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  EXPECT_GT(nodes.size(), 2u);
}

TEST(Inject, AtANodeOrAtWhatItMakes) {
  for (const char* spec : {"bn-epsilon@bn1", "bn-epsilon@n1"}) {
    Graph graph = parsed();
    const Injection done = inject(graph, spec, 0);
    EXPECT_EQ(done.node, "bn1");
    EXPECT_EQ(done.what, "epsilon 0.001 -> 1e-05");
    EXPECT_EQ(done.values, std::vector<std::string>{"n1"});
    EXPECT_EQ(graph_difference(parsed(), graph).size(), 1u);
  }
}

TEST(Inject, AConstantThatOthersReadTooIsChangedForThisNodeAlone) {
  Graph graph = parsed();
  inject(graph, "filters-shuffled@conv3", 1);
  const Uses uses(graph);
  const ValueId kept = graph.find_value("w3");
  ASSERT_NE(kept, kNoValue);
  ASSERT_EQ(uses.readers[static_cast<size_t>(kept)].size(), 1u);
  EXPECT_EQ(graph.node(uses.readers[static_cast<size_t>(kept)][0]).name, "conv5");
}

TEST(Inject, AMissingLayerIsAtFaultWithThoseBehindIt) {
  Graph graph = parsed();
  const Injection done = inject(graph, "activation-missing@relu1", 0);
  EXPECT_EQ(done.nodes, (std::vector<std::string>{"relu1", "conv2", "add3"}));
  EXPECT_EQ(graph.find_value("r1") == kNoValue || Uses(graph).producer[static_cast<size_t>(graph.find_value("r1"))] < 0,
            true);
}

ErrorKind kind_of_failure(const std::string& spec) {
  Graph graph = parsed();
  try {
    inject(graph, spec, 0);
  } catch (const Error& e) {
    EXPECT_TRUE(graph_difference(parsed(), graph).empty());
    return e.kind();
  }
  return ErrorKind::Internal;
}

// What no input shows is no fault.
TEST(Inject, WhatChangesNothingIsRefused) {
  const auto refused = [](const std::string& fault, const std::string& nodes) {
    Graph graph = parse_graph(cat(R"(graph "net" {
  opset 28
  input x: float32[1,2,4,4]
  const w: float32[2,2,1,1] = {1, 2, 3, 4}
  const b: float32[2] = {0, 0}
)",
                                  nodes, "\n  output y\n}"));
    try {
      inject(graph, fault, 0);
    } catch (const Error& e) {
      return e.kind() == ErrorKind::Unsupported;
    }
    return false;
  };
  EXPECT_TRUE(refused("activation-extra", "a = Conv(x, w)\n y = Relu(a)"));
  EXPECT_FALSE(refused("activation-extra", "a = Conv(x, w)\n y = Tanh(a)"));
  EXPECT_TRUE(refused("count-include-pad", "y = AveragePool(x) {kernel_shape = [2, 2]}"));
  EXPECT_FALSE(refused("count-include-pad", "y = AveragePool(x) {kernel_shape = [2, 2], pads = [1, 1, 0, 0]}"));
  EXPECT_TRUE(refused("stride-wrong", "a = GlobalAveragePool(x)\n y = Conv(a, w)"));
  EXPECT_FALSE(refused("stride-wrong", "a = Conv(x, w)\n y = GlobalAveragePool(a)"));
  EXPECT_TRUE(refused("bias-scaled", "y = Conv(x, w, b)"));
}

TEST(Inject, AsManyWeightsAreDamagedAsItSays) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Graph graph = parse_graph(R"(graph "net" {
  opset 28
  input x: float32[1,8]
  const w: float32[8,8] = random(1)
  y = MatMul(x, w)
  output y
})");
    const std::vector<double> before = to_doubles(*graph.constant(graph.find_value("w")));
    EXPECT_EQ(inject(graph, "signs-flipped", seed).what, "8 of 64 weights with the other sign");
    const std::vector<double> after = to_doubles(*graph.constant(graph.node(graph.order()[0]).inputs[1]));
    size_t n = 0;
    for (size_t i = 0; i < before.size(); ++i) n += before[i] == after[i] ? 0 : 1;
    EXPECT_EQ(n, 8u) << seed;
  }
}

TEST(Inject, InputChannelsOfATransposedConvolutionComeFirst) {
  Graph graph = parse_graph(R"(graph "net" {
  opset 28
  input x: float32[1,2,4,4]
  const w: float32[2,1,1,1] = {1, 2}
  y = ConvTranspose(x, w)
  output y
})");
  inject(graph, "channels-reversed", 0);
  EXPECT_EQ(to_doubles(*graph.constant(graph.node(graph.order()[0]).inputs[1])), (std::vector<double>{2, 1}));
}

TEST(Inject, WhatIsNotThereIsRefusedByName) {
  EXPECT_EQ(kind_of_failure("bn-epsilo"), ErrorKind::Usage);
  EXPECT_EQ(kind_of_failure("bn-epsilon@bn2"), ErrorKind::Usage);
  EXPECT_EQ(kind_of_failure("bn-epsilon@conv1"), ErrorKind::Unsupported);
  EXPECT_EQ(kind_of_failure(""), ErrorKind::Usage);
}

TEST(Inject, ReportIsJson) {
  Graph graph = parsed();
  const std::vector<Injection> done = {inject(graph, "bn-epsilon@bn1", 3)};
  EXPECT_EQ(
      injections_json(done),
      R"({"faults":[{"fault":"bn-epsilon","seed":3,"node":"bn1","op":"BatchNormalization","what":"epsilon 0.001 -> 1e-05","nodes":["bn1"],"values":["n1"]}]})");
}

}  // namespace
}  // namespace dnn
