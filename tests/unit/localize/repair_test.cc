// Repair: every class of faults, alone and together, by the fewest edits; healthy networks and precisions are left as they are.
#include "localize/repair.h"

#include <gtest/gtest.h>

#include <set>

#include "convert/surgery.h"
#include "faults/fault.h"
#include "graph/tensor_text.h"
#include "localize/localize.h"
#include "tensor/compare.h"
#include "unit/faults/network.h"
#include "unit/localize/isolated.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

struct Repaired {
  std::vector<SegmentRepair> repairs;
  std::vector<Edit> edits;
  Graph graph;
};

OwnErrorOptions interpreted_options() {
  OwnErrorOptions options;
  options.keep = 2;
  return options;
}

Repaired repaired_graph(const Graph& source, const Graph& target, const Shape& shape) {
  OwnErrors own(source, target, interpreted_options());
  Localizer localizer(&source, &target);
  localizer.measure_own(&own);
  for (uint64_t seed : {21, 22}) {
    const Tensor x = random_tensor(DType::Float32, shape, seed);
    localizer.add(trace_of(source, x), trace_of(target, x));
  }
  std::vector<size_t> wrong;
  for (const Finding& finding : localizer.finish({}).findings) wrong.push_back(finding.own);
  Repaired result;
  result.repairs = search_repairs(source, target, own, wrong);
  result.edits = edits_together(source, target, &result.repairs);
  result.graph = target;
  EditSource edits(source);
  apply_edits(result.edits, edits, result.graph);
  infer_types(result.graph);
  return result;
}

// On an input that the search did not see, of the largest output.
double distance(const Graph& source, const Graph& target, const Shape& shape) {
  const Tensor x = random_tensor(DType::Float32, shape, 77);
  const Tensor a = interpret(source, {x})[0], b = interpret(target, {x})[0];
  return a.size() != b.size() ? 1e9 : compare(a, b).relative();
}

const Shape kRepairShape = {1, 3, 8, 8};

TEST(Repair, EveryClassOfFaults) {
  const Graph source = typed(kFaultyNet);
  for (const Fault& fault : all_faults()) {
    for (uint64_t seed : {3, 4}) {
      Graph target = parse_graph(kFaultyNet);
      const Injection injection = inject(target, fault.name, seed);
      SCOPED_TRACE(injection.text());
      infer_types(target);
      const Repaired result = repaired_graph(source, target, kRepairShape);
      for (const SegmentRepair& repair : result.repairs) {
        EXPECT_FALSE(repair.edits.empty()) << repair.why_not;
        EXPECT_LE(repair.times_after, 1);
        for (double without : repair.times_without) EXPECT_GT(without, 1);
      }
      EXPECT_LE(distance(source, result.graph, kRepairShape), 1e-4);
    }
  }
}

TEST(Repair, ThreeFaultsAtOnce) {
  const Graph source = typed(kFaultyNet);
  Graph target = parse_graph(kFaultyNet);
  for (const char* spec : {"bn-epsilon@bn1", "bias-missing@conv3", "pool-kind@max4"}) inject(target, spec, 1);
  infer_types(target);
  EXPECT_GT(distance(source, target, kRepairShape), 1e-3);
  const Repaired result = repaired_graph(source, target, kRepairShape);
  EXPECT_EQ(result.repairs.size(), 3u);
  EXPECT_LE(distance(source, result.graph, kRepairShape), 1e-5);
}

// With the stride alone the pool's window is larger than what it reads.
TEST(Repair, ShapesThatFitOnlyTogetherAreMendedTogether) {
  const auto net = [](const char* stride, const char* pads) {
    std::string text = R"(graph "net" {
      opset 28
      input x: float32[1,1,8,8]
      const w1: float32[2,1,3,3] = random(1)
      const w2: float32[2,2,3,3] = random(2)
      c1 = Conv(x, w1) @conv1 {pads = [0, 0, 1, 1], strides = STRIDE}
      c2 = Conv(c1, w2) @conv2 {pads = PADS}
      y = AveragePool(c2) @pool {kernel_shape = [4, 4], strides = [4, 4]}
      output y
    })";
    text.replace(text.find("STRIDE"), 6, stride);
    text.replace(text.find("PADS"), 4, pads);
    return typed(text);
  };
  const Graph source = net("[2, 2]", "[1, 1, 1, 1]"), target = net("[1, 1]", "[0, 0, 0, 0]");
  const Shape shape = {1, 1, 8, 8};
  Repaired result = repaired_graph(source, target, shape);
  ASSERT_EQ(result.repairs.size(), 2u);
  EXPECT_LE(distance(source, result.graph, shape), 1e-6);
  // Alone, the one that no network comes of is left out and says why.
  const bool stride_first = result.repairs[0].edits[0].key == "strides";
  std::vector<SegmentRepair> stride = {result.repairs[stride_first ? 0 : 1]};
  EXPECT_TRUE(edits_together(source, target, &stride).empty());
  EXPECT_TRUE(stride[0].edits.empty());
  EXPECT_NE(stride[0].why_not.find("a window of 4"), std::string::npos) << stride[0].why_not;
}

TEST(Repair, SaysTheOneConstantOrAttribute) {
  const Graph source = typed(kFaultyNet);
  Graph target = typed(kFaultyNet);
  inject(target, "bn-epsilon@bn1", 1);
  Repaired result = repaired_graph(source, target, kRepairShape);
  ASSERT_EQ(result.edits.size(), 1u);
  EXPECT_EQ(edit_text(result.edits[0]), "attribute: epsilon of what makes n1 from n1");
  target = typed(kFaultyNet);
  inject(target, "kernel-rotated@conv3", 1);
  result = repaired_graph(source, target, kRepairShape);
  ASSERT_EQ(result.edits.size(), 1u);
  EXPECT_EQ(edit_text(result.edits[0]), "constant: input 1 of what makes c3 from c3");
  EXPECT_TRUE(
      result.graph.constant(result.graph.find_value("w3"))->identical(*source.constant(source.find_value("w3"))));
  // conv5 reads the same weights, which were right there.
  EXPECT_LE(distance(source, result.graph, kRepairShape), 0);
}

TEST(Repair, LeavesAHealthyNetworkAlone) {
  const Graph source = typed(kFaultyNet);
  EXPECT_TRUE(repaired_graph(source, source, kRepairShape).edits.empty());
}

const char* const kSource = R"(graph "source" {
  opset 28
  input x: float32[1,3,5,5]
  const w: float32[4,3,3,3] = random(1)
  const scale: float32[4] = {1, 2, 0.5, 1.5}
  const shift: float32[4] = {0.5, -1, 0.25, 2}
  const mean: float32[4] = {0.1, 0.2, 0.3, 0.4}
  const variance: float32[4] = {1.5, 0.5, 2, 1}
  c = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, scale, shift, mean, variance) @bn
  y = Relu(n) @relu
  output y
})";

TEST(Repair, FoldsBatchNormsWhereTheTargetHasNone) {
  const Graph source = typed(kSource);
  const Graph target = typed(R"(graph "target" {
  opset 28
  input x: float32[1,3,5,5]
  const k: float32[4,3,3,3] = random(9)
  const b: float32[4] = random(10)
  n = Conv(x, k, b) @conv {pads = [1, 1, 1, 1]}
  y = Relu(n) @relu
  output y
})");
  const Repaired result = repaired_graph(source, target, {1, 3, 5, 5});
  ASSERT_EQ(result.edits.size(), 2u) << edits_json(result.edits);
  for (const Edit& edit : result.edits) {
    EXPECT_EQ(edit.kind, Edit::Kind::Constant);
    EXPECT_TRUE(edit.folded);
  }
  EXPECT_EQ(result.graph.order().size(), target.order().size());
  EXPECT_LE(distance(source, result.graph, {1, 3, 5, 5}), 1e-6);
}

TEST(Repair, KeepsTheTargetsOrderOfAxes) {
  const Graph source = typed(kSource);
  const Graph target = typed(R"(graph "target" {
  opset 28
  input x: float32[1,3,5,5]
  const w: float32[4,3,3,3] = random(1)
  c = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  t = Transpose(c) @last {perm = [0, 2, 3, 1]}
  y = Relu(t) @relu
  output y
})");
  const Repaired result = repaired_graph(source, target, {1, 3, 5, 5});
  const Tensor x = random_tensor(DType::Float32, {1, 3, 5, 5}, 77);
  const Tensor a = interpret(source, {x})[0].transposed({0, 2, 3, 1}), b = interpret(result.graph, {x})[0];
  ASSERT_EQ(a.shape(), b.shape());
  EXPECT_LE(compare(a, b).relative(), 1e-6);
}

Graph dense(const std::string& weights) {
  return typed(R"(graph "dense" {
  opset 28
  input x: float32[1,4]
  const w: float32[4,2] = )" +
               weights + R"(
  y = MatMul(x, w) @dense
  output y
})");
}

Graph quantised_dense(const std::string& integers, const std::string& scale) {
  return typed(R"(graph "quantised" {
  opset 28
  input x: float32[1,4]
  const q: int8[4,2] = )" +
               integers + R"(
  const s: float32[] = )" +
               scale + R"(
  w = DequantizeLinear(q, s) @weights
  y = MatMul(x, w) @dense
  output y
})");
}

TEST(Repair, StaysInTheTargetsPrecision) {
  const Graph source = dense("{0.5, -0.25, 0.75, 1, -1, 0.125, 0.0625, -0.5}");
  // The same in steps of 1/32 by integers, one of them wrong.
  const Repaired result =
      repaired_graph(source, quantised_dense("{16, -8, 24, 32, -32, 4, 99, -16}", "{0.03125}"), {1, 4});
  ASSERT_EQ(result.edits.size(), 1u);
  const Tensor& integers = *result.graph.constant(result.graph.find_value("q"));
  EXPECT_EQ(integers.dtype(), DType::Int8);
  EXPECT_EQ(integers.values<int8_t>()[6], 2);
  EXPECT_LE(distance(source, result.graph, {1, 4}), 1e-6);
}

// A constant that an edit put into a scale's place may be of other channels than the zero points.
TEST(Edits, RefuseZeroPointsOfOtherChannels) {
  const Graph source = parse_graph(R"(graph "s" {
  opset 28
  input x: float32[1,4]
  const w: float32[4,2] = random(1)
  const s: float32[4] = {1, 2, 0.5, 0.25}
  v = Mul(w, s)
  y = MatMul(x, w)
  output y
})");
  Graph target = parse_graph(R"(graph "t" {
  opset 28
  input x: float32[1,4]
  const q: int8[4,2] = {1, 2, 3, 4, 5, 6, 7, 8}
  const s: float32[2] = {1, 2}
  const z: int8[2] = {1, 2}
  w = DequantizeLinear(q, s, z) {axis = 0}
  y = MatMul(x, w)
  output y
})");
  Edit scale, weights;
  scale.source = "v", scale.target = "w", scale.input = 1;
  weights.source = "y", weights.target = "y", weights.input = 1;
  EditSource from(source);
  try {
    apply_edits({scale, weights}, from, target);
    ADD_FAILURE() << "four scales and two zero points";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Unsupported) << e.what();
    EXPECT_NE(std::string(e.what()).find("zero points"), std::string::npos) << e.what();
  }
}

TEST(Repair, NeverPutsFloatsIntoAQuantisedLayer) {
  const Graph source = dense("{0.51, -0.27, 0.75, 1, -1, 0.125, 0.0625, -0.5}");
  const Repaired result = repaired_graph(source, quantised_dense("{1, -1, 1, 1, -1, 0, 0, -1}", "{0.75}"), {1, 4});
  ASSERT_EQ(result.repairs.size(), 1u);
  EXPECT_TRUE(result.edits.empty()) << edits_json(result.edits);
  EXPECT_NE(result.repairs[0].why_not, "");
}

TEST(Repair, NeverPutsFloat32IntoAFloat16Layer) {
  const Graph source = typed(kSource);
  Graph target = parse_graph(kSource);
  inject(target, "kernel-rotated@conv", 1);
  infer_types(target);
  to_dtype(target, DType::Float16, DType::Float32);
  infer_types(target);
  const Repaired result = repaired_graph(source, target, {1, 3, 5, 5});
  for (NodeId id : result.graph.order()) {
    const Node& node = result.graph.node(id);
    if (node.op != "Conv") continue;
    EXPECT_EQ(result.graph.value(node.output(0)).type.dtype, DType::Float16);
  }
}

TEST(Edits, ThatMakeNoNetworkAreRefused) {
  const Graph source = typed(kSource);
  EditSource from(source);
  const auto refused = [&](const Edit& edit) {
    Graph target = source;
    EXPECT_THROW(apply_edits({edit}, from, target), Error);
  };
  Edit classes;
  classes.kind = Edit::Kind::Classes;
  refused(classes);
  classes.classes = {5};
  refused(classes);
  Edit layers;
  layers.kind = Edit::Kind::Layers;
  layers.output = {"w", "y", {}, {}, {}};  // no layer makes the source's weights
  refused(layers);
  Edit constant;
  constant.source = constant.target = "c";
  constant.input = 1;
  constant.perm = {1, 0};
  refused(constant);
  constant.perm = {1, 0, 2, 3};
  refused(constant);
}

TEST(Edits, ComeBackFromText) {
  Edit constant;
  constant.source = "a\n";
  constant.target = "b";
  constant.input = 2;
  constant.perm = {1, 0};
  constant.folded = true;
  Edit attribute;
  attribute.kind = Edit::Kind::Attribute;
  attribute.source = attribute.target = "v";
  attribute.key = "pads";
  Edit layers;
  layers.kind = Edit::Kind::Layers;
  layers.output = {"s", "t", {2, 0, 1}, {1, 4, 5, 6}, {1, 5, 6, 4}};
  layers.inputs = {{"x", "x", {0}, {1, 7}, {1, 7}}};
  layers.source = "s";
  layers.target = "t";
  const std::vector<Edit> edits = {constant, attribute, layers};
  EXPECT_EQ(parse_edits(edits_json(edits), "e.json"), edits);
}

TEST(Edits, HostileTextIsRefusedInOneLine) {
  const std::string constant = R"({"edits": [{"kind": "constant", "source": "a", "target": "b", "input": )";
  const std::string layers = R"({"edits": [{"kind": "layers", "inputs": [], "output": {"source": "a", "target": "b", )";
  for (const std::string& text :
       std::vector<std::string>{"", "{", "[]", R"({"edits": 3})", R"({"edits": [{}]})",
                                R"({"edits": [{"kind": "other", "source": "a", "target": "b"}]})", constant + "-1}]}",
                                constant + R"(1, "perm": [0, 0]}]})", constant + "1e300}]}", constant + "\"1\"}]}",
                                layers + R"("order": [9], "source_shape": [], "target_shape": []}}]})",
                                layers + R"("order": [], "source_shape": [2], "target_shape": [3]}}]})",
                                R"({"edits": [{"kind": "classes", "classes": [-1]}]})",
                                R"({"edits": [{"kind": "preprocess", "preprocess": {"scale": "x"}}]})"}) {
    SCOPED_TRACE(text);
    try {
      parse_edits(text, "e.json");
      FAIL() << "no error";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      EXPECT_EQ(std::string(e.what()).substr(0, 6), "e.json");
    }
  }
}

TEST(Edits, OfOtherModelsAreRefused) {
  const Graph source = typed(kSource);
  Edit edit;
  edit.source = "c";
  edit.target = "nowhere";
  edit.input = 1;
  Graph target = source;
  EditSource from(source);
  EXPECT_THROW(apply_edits({edit}, from, target), Error);
}

TEST(Repair, EndsWithTheTime) {
  const Graph source = typed(kFaultyNet);
  Graph target = parse_graph(kFaultyNet);
  for (const char* spec : {"bn-epsilon@bn1", "bias-missing@conv3", "pool-kind@max4"}) inject(target, spec, 1);
  infer_types(target);
  OwnErrors own(source, target, interpreted_options());
  Localizer localizer(&source, &target);
  localizer.measure_own(&own);
  const Tensor x = random_tensor(DType::Float32, kRepairShape, 21);
  localizer.add(trace_of(source, x), trace_of(target, x));
  std::vector<size_t> wrong;
  for (const Finding& finding : localizer.finish({}).findings) wrong.push_back(finding.own);
  ASSERT_EQ(wrong.size(), 3u);
  size_t most = 0;
  std::set<size_t> counts;
  for (int n = 0; n < 40; ++n) {
    const Deadline deadline = after_questions(n);
    size_t repaired_graph = 0;
    for (const SegmentRepair& repair : search_repairs(source, target, own, wrong, deadline)) {
      repaired_graph += repair.edits.empty() ? 0 : 1;
      if (repair.edits.empty()) {
        EXPECT_EQ(repair.why_not, "the time ran out");
      }
      if (!repair.edits.empty()) {
        EXPECT_LE(repair.times_after, 1);
      }
    }
    EXPECT_GE(repaired_graph, most);
    if (repaired_graph < 3) {
      EXPECT_EQ(deadline.ran_out(), true);
    }
    counts.insert(most = repaired_graph);
  }
  EXPECT_EQ(counts, (std::set<size_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace dnn
