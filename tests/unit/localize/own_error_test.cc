// Own errors: each fault where it is, none where a layer only passes it on, none for another way of computing the same.
#include "localize/own_error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convert/surgery.h"
#include "faults/fault.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "localize/localize.h"
#include "unit/localize/isolated.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

// Eight layers, of which most take up what is in front of them.
const char* const kOwnErrorNet = R"(graph "net" {
  opset 28
  input x: float32[1,3,9,9]
  const w1: float32[6,3,3,3] = random(1)
  const scale: float32[6] = {1, 2, 0.5, 1.5, 3, 0.25}
  const shift: float32[6] = {0.5, -1, 0.25, 2, -0.5, 0}
  const mean: float32[6] = {0.1, 0.2, 0.3, 0.4, -0.5, 0.6}
  const variance: float32[6] = {1.5, 0.5, 2, 1, 0.75, 3}
  const w2: float32[6,6,3,3] = random(2)
  const b2: float32[6] = random(3)
  const w3: float32[4,6,3,3] = random(4)
  const wd: float32[4,5] = random(5)
  c1 = Conv(x, w1) @conv1 {pads = [1, 1, 1, 1]}
  n1 = BatchNormalization(c1, scale, shift, mean, variance) @bn1
  r1 = Relu(n1) @relu1
  c2 = Conv(r1, w2, b2) @conv2 {pads = [1, 1, 1, 1]}
  a2 = Add(c2, r1) @add2
  r2 = Relu(a2) @relu2
  c3 = Conv(r2, w3) @conv3 {strides = [2, 2]}
  g3 = GlobalAveragePool(c3) @pool3
  f3 = Flatten(g3) @flatten3
  y = MatMul(f3, wd) @dense3
  output y
})";

// The batch norm folded into the convolution, other names, another order of operands.
const char* const kFolded = R"(graph "folded" {
  opset 28
  input image: float32[1,3,9,9]
  const k: float32[6,3,3,3] = FOLDED_WEIGHTS
  const kb: float32[6] = FOLDED_BIAS
  const w2: float32[6,6,3,3] = random(2)
  const b2: float32[6] = random(3)
  const w3: float32[4,6,3,3] = random(4)
  const wd: float32[4,5] = random(5)
  v0 = Conv(image, k, kb) @a {pads = [1, 1, 1, 1]}
  v1 = Relu(v0) @b
  v2 = Conv(v1, w2, b2) @c {pads = [1, 1, 1, 1]}
  v3 = Add(v1, v2) @d
  v4 = Relu(v3) @e
  v5 = Conv(v4, w3) @f {strides = [2, 2]}
  v6 = GlobalAveragePool(v5) @g
  v7 = Flatten(v6) @h
  v8 = MatMul(v7, wd) @i
  output v8
})";

std::string numbers(const std::vector<double>& values) {
  std::string text = "{";
  for (size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + exact_text(static_cast<float>(values[i]));
  return text + "}";
}

Graph folded(double epsilon) {
  const Graph net = typed(kOwnErrorNet);
  const auto constant = [&](const char* name) { return to_doubles(*net.constant(net.find_value(name))); };
  std::vector<double> weights = constant("w1"), bias;
  const std::vector<double> scale = constant("scale"), shift = constant("shift"), mean = constant("mean"),
                            variance = constant("variance");
  for (size_t m = 0; m < 6; ++m) {
    const double by = scale[m] / std::sqrt(variance[m] + epsilon);
    for (size_t i = 0; i < 27; ++i) weights[m * 27 + i] *= by;
    bias.push_back(shift[m] - mean[m] * by);
  }
  std::string text = kFolded;
  text.replace(text.find("FOLDED_WEIGHTS"), 14, numbers(weights));
  text.replace(text.find("FOLDED_BIAS"), 11, numbers(bias));
  return typed(text);
}

// The target is given the inputs times `scale`.
LocalizeReport localized_graphs(const Graph& a, const Graph& b, float scale = 1, OwnErrorOptions options = {}) {
  OwnErrors own(a, b, std::move(options));
  Localizer localizer(&a, &b);
  localizer.measure_own(&own);
  for (uint64_t seed : {11, 12, 13}) {
    const Tensor x = random_tensor(DType::Float32, {1, 3, 9, 9}, seed);
    Tensor scaled = x;
    float* values = scaled.mutable_data<float>();
    for (int64_t i = 0; i < scaled.size(); ++i) values[i] *= scale;
    localizer.add(trace_of(a, x), trace_of(b, scaled));
  }
  return localizer.finish({});
}

// The nodes of the source that each finding names.
std::vector<std::string> found_names(const LocalizeReport& report) {
  std::vector<std::string> names;
  for (const Finding& f : report.findings) names.push_back(join(f.source.nodes));
  return names;
}

Graph with_faults(const std::vector<std::string>& specs, Graph graph = typed(kOwnErrorNet)) {
  for (const std::string& spec : specs) inject(graph, spec, 3);
  infer_types(graph);
  return graph;
}

using Names = std::vector<std::string>;

TEST(OwnErrors, AnOutputIsTheOthersOutputWhateverElseIsLikeIt) {
  std::string text = kOwnErrorNet;
  const std::string last = "y = MatMul(f3, wd) @dense3";
  text.replace(text.find(last), last.size(),
               "m = MatMul(f3, wd) @dense3\n  const three: float32[] = {3}\n  y = Mul(m, three) @thrice");
  const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), typed(text));
  EXPECT_TRUE(report.outputs_lined_up);
  EXPECT_FALSE(report.agree());
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].target.values.back(), "y");
  EXPECT_TRUE(localized_graphs(typed(kOwnErrorNet), typed(kOwnErrorNet)).agree());
}

TEST(OwnErrors, AFaultIsFoundWhereItIsAndNowhereBehind) {
  for (const char* spec :
       {"kernel-rotated@conv1", "bn-epsilon@bn1", "weights-float16@conv2", "bias-missing@conv2", "weights-zeroed@conv3",
        "pool-kind@pool3", "stride-wrong@conv3", "operator-other@add2", "weights-scaled@dense3", "weights-nan@conv2"}) {
    SCOPED_TRACE(spec);
    const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), with_faults({spec}));
    const std::string node = std::string(spec).substr(std::string(spec).find('@') + 1);
    EXPECT_EQ(found_names(report), Names{node});
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings[0].sure, "certain");
    EXPECT_EQ(report.findings[0].n_differing, 3);
  }
}

TEST(OwnErrors, EachOfThreeFaultsIsFound) {
  const LocalizeReport report = localized_graphs(
      typed(kOwnErrorNet), with_faults({"kernel-rotated@conv1", "bias-missing@conv2", "weights-int8@dense3"}));
  Names names = found_names(report);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Names{"conv1", "conv2", "dense3"}));
}

TEST(OwnErrors, ALayerThatIsMissingIsNamed) {
  for (const char* spec : {"activation-missing@relu1", "bn-missing@bn1", "activation-missing@relu2"}) {
    SCOPED_TRACE(spec);
    const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), with_faults({spec}));
    ASSERT_FALSE(report.findings.empty());
    const Finding& first = report.findings[0];
    const std::string node = std::string(spec).substr(std::string(spec).find('@') + 1);
    EXPECT_NE(std::find(first.source.nodes.begin(), first.source.nodes.end(), node), first.source.nodes.end())
        << join(first.source.nodes);
    EXPECT_NE(join(first.evidence).find(node + " only in the source"), std::string::npos) << join(first.evidence);
    EXPECT_EQ(first.fix, "insert the missing layer");
  }
}

// In front of a layer and of a skip beside it, both of which are wrong by it.
TEST(OwnErrors, AFaultThatTwoLayersReadIsOneFinding) {
  for (const char* spec : {"activation-missing@relu1", "values-reversed@relu1", "transpose-extra@relu1"}) {
    SCOPED_TRACE(spec);
    const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), with_faults({spec}));
    ASSERT_EQ(report.findings.size(), 1u) << join(found_names(report), "; ");
    const Names& nodes = report.findings[0].source.nodes;
    EXPECT_NE(std::find(nodes.begin(), nodes.end(), "relu1"), nodes.end()) << join(nodes);
  }
}

TEST(OwnErrors, ASkipThatIsMissingIsNamedAlthoughItsBranchIsGone) {
  Graph wrong = typed(kOwnErrorNet);
  inject(wrong, "layer-missing@add2", 3);
  const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), wrong);
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].source.nodes, (Names{"add2", "relu2"}));
}

// What only the target's names, and the layers that read it, say: two convolutions read what the missing branch went into.
TEST(OwnErrors, ASkipThatIsMissingUnderOtherNamesIsNamedWhereItWasAdded) {
  const Graph source = typed(R"(graph "net" {
    opset 28
    input x: float32[1,3,9,9]
    const w1: float32[6,3,3,3] = random(1)
    const w2: float32[6,6,3,3] = random(2)
    const w3: float32[4,6,3,3] = random(3)
    const w4: float32[4,6,3,3] = random(4)
    c1 = Conv(x, w1) @conv1 {pads = [1, 1, 1, 1]}
    r1 = Relu(c1) @relu1
    c2 = Conv(r1, w2) @conv2 {pads = [1, 1, 1, 1]}
    a2 = Add(r1, c2) @add2
    r2 = Relu(a2) @relu2
    c3 = Conv(r2, w3) @conv3
    c4 = Conv(r2, w4) @conv4
    y = Add(c3, c4) @add4
    output y
  })");
  const Graph target = typed(R"(graph "renamed" {
    opset 28
    input image: float32[1,3,9,9]
    const k: float32[6,3,3,3] = random(1)
    const l: float32[4,6,3,3] = random(3)
    const m: float32[4,6,3,3] = random(4)
    v0 = Conv(image, k) @a {pads = [1, 1, 1, 1]}
    v1 = Relu(v0) @b
    v2 = Relu(v1) @c
    v3 = Conv(v2, l) @d
    v4 = Conv(v2, m) @e
    z = Add(v3, v4) @f
    output z
  })");
  const LocalizeReport report = localized_graphs(source, target);
  EXPECT_EQ(found_names(report), Names{"add2, relu2"});
  EXPECT_NE(join(report.findings[0].evidence).find("add2 only in the source"), std::string::npos)
      << join(report.findings[0].evidence);
}

// An Add says nothing of which operand is which: behind a fault, branches in another order are not taken for each other.
TEST(OwnErrors, OperandsInAnotherOrderAreNotLinedUpByTheirPlace) {
  const Graph source = typed(R"(graph "net" {
    opset 28
    input x: float32[1,3,9,9]
    const w0: float32[243,6] = random(1)
    const w1: float32[6,4] = random(2)
    const w2: float32[6,4] = random(3)
    const b1: float32[4] = random(4)
    const b2: float32[4] = random(5)
    f0 = Flatten(x) @flat
    s0 = MatMul(f0, w0) @stem
    m1 = MatMul(s0, w1) @left
    a1 = Add(m1, b1) @left_bias
    t1 = Sigmoid(a1) @left_out
    m2 = MatMul(s0, w2) @right
    a2 = Add(m2, b2) @right_bias
    t2 = Tanh(a2) @right_in
    u2 = Sigmoid(t2) @right_out
    y = Add(t1, u2) @sum
    output y
  })");
  const Graph target = typed(R"(graph "folded" {
    opset 28
    input image: float32[1,3,9,9]
    const k0: float32[243,6] = random(9)
    const k1: float32[6,4] = random(2)
    const k2: float32[6,4] = random(3)
    const c1: float32[4] = random(4)
    const c2: float32[4] = random(5)
    e0 = Flatten(image) @h
    v0 = MatMul(e0, k0) @a
    v1 = Gemm(v0, k1, c1) @b
    v2 = Sigmoid(v1) @c
    v3 = Gemm(v0, k2, c2) @d
    v4 = Tanh(v3) @e
    v5 = Sigmoid(v4) @f
    z = Add(v5, v2) @g
    output z
  })");
  EXPECT_EQ(found_names(localized_graphs(source, target)), Names{"stem"});
}

// Out of time, segments are left out, and what was not looked at is not called right.
TEST(OwnErrors, EndsWithTheTime) {
  const Graph source = typed(kOwnErrorNet), target = with_faults({"bias-missing@conv2"});
  const Tensor x = random_tensor(DType::Float32, {1, 3, 9, 9}, 21);
  int64_t most = 0;
  bool found_names = false;
  for (const int n : {0, 1, 2, 4, 8, 16, 32, 1000}) {
    OwnErrorOptions options;
    options.deadline = after_questions(n);
    OwnErrors own(source, target, options);
    Localizer localizer(&source, &target);
    localizer.measure_own(&own);
    localizer.add(trace_of(source, x), trace_of(target, x));
    const LocalizeReport report = localizer.finish({});
    const int64_t measured = report.residual->n_same + report.residual->n_rounded + report.residual->n_wrong;
    EXPECT_GE(measured, most);
    most = measured;
    found_names = !report.findings.empty();
    EXPECT_FALSE(report.agree());
    EXPECT_EQ(options.deadline.ran_out() == true, !report.residual->complete || measured < 10);
    if (n == 0) {
      EXPECT_EQ(measured, 0);
      EXPECT_EQ(options.deadline.ran_out(), true);
    }
  }
  EXPECT_TRUE(found_names);
}

TEST(OwnErrors, TheSameNetworkHasNone) {
  const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), typed(kOwnErrorNet));
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.explained);
  EXPECT_EQ(report.residual->n_same, 10);
}

TEST(OwnErrors, InputsThatMeanSomethingElseAreNotExplained) {
  const Graph net = typed(kOwnErrorNet);
  const LocalizeReport same = localized_graphs(net, net), other = localized_graphs(net, net, 2);
  EXPECT_TRUE(same.explained);
  EXPECT_TRUE(other.findings.empty());
  EXPECT_FALSE(other.explained);
}

TEST(OwnErrors, FoldingUnderOtherNamesIsRoundingAndExplained) {
  const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), folded(1e-5));
  EXPECT_EQ(found_names(report), Names{});
  EXPECT_TRUE(report.explained);
  EXPECT_GT(report.residual->n_rounded, 0);
  EXPECT_LT(report.residual->largest_in_bounds, 1);
  EXPECT_GT(report.residual->largest, 0);
}

TEST(OwnErrors, FoldingAWrongEpsilonIsFoundInTheFoldedLayer) {
  const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), folded(1e-3));
  EXPECT_EQ(found_names(report), Names{"conv1, bn1"});
}

TEST(OwnErrors, FaultsBehindAFoldedLayerAreFoundUnderOtherNames) {
  for (const char* spec : {"kernel-rotated@c", "weights-float16@f", "bias-missing@c", "weights-scaled@i"}) {
    SCOPED_TRACE(spec);
    const LocalizeReport report = localized_graphs(typed(kOwnErrorNet), with_faults({spec}, folded(1e-5)));
    ASSERT_EQ(report.findings.size(), 1u) << join(found_names(report), "; ");
    EXPECT_EQ(report.findings[0].target.nodes.back(), std::string(spec).substr(std::string(spec).find('@') + 1));
    EXPECT_LE(report.findings[0].source.nodes.size(), 2u);
  }
}

TEST(Segments, BeginAtTheNearestJointsAndLeaveOutWhatIsConstant) {
  const Graph net = typed(kOwnErrorNet);
  const std::vector<ValueId> ends = {net.find_value("x"), net.find_value("r1"), net.find_value("r2"), kNoValue,
                                     net.find_value("y")};
  const std::vector<Segment> segments = cut_at(net, ends);
  ASSERT_EQ(segments.size(), 3u);
  EXPECT_EQ(segments[0].joint, 1u);
  EXPECT_EQ(segments[0].inputs, std::vector<size_t>{0});
  EXPECT_EQ(segments[0].nodes.size(), 3u);
  EXPECT_EQ(segments[1].inputs, std::vector<size_t>{1});
  EXPECT_EQ(segments[1].nodes.size(), 3u);
  EXPECT_EQ(segments[2].nodes.size(), 4u);
  EXPECT_FALSE(segments[2].open);
  const std::vector<Segment> open = cut_at(net, {kNoValue, net.find_value("r1")});
  EXPECT_TRUE(open[0].open);
  const SegmentGraph part = graph_of(net, ends, {&segments[1]}, {{1, net.value(net.find_value("r1")).type}});
  EXPECT_NO_THROW(verify(part.graph));
  EXPECT_EQ(part.graph.inputs.size(), 1u);
  EXPECT_EQ(part.graph.order().size(), 3u);
}

TEST(Align, ByValuesParametersAndWiringWhereNamesSayNothing) {
  const Graph a = typed(kOwnErrorNet), b = with_faults({"kernel-rotated@a"}, folded(1e-5));
  const LocalizeReport report = localized_graphs(a, b);
  ASSERT_EQ(report.findings.size(), 1u) << join(found_names(report), "; ");
  EXPECT_EQ(report.findings[0].target.nodes, Names{"a"});
  EXPECT_EQ(report.findings[0].source.nodes, (Names{"conv1", "bn1"}));
}

// Behind a wrong layer no activation tells what is what, and in a deep network there is no time to try: a layer that others have been
// folded into is lined up with what comes out of them, not with the layer of its own operator.
TEST(Align, FoldedLayersBehindAFaultWithoutATrial) {
  std::string text = R"(graph "deep" {
  opset 28
  input x: float32[1,3,9,9]
)";
  const int n = 6;
  for (int i = 0; i < n; ++i) {
    const std::string k = std::to_string(i), before = i == 0 ? "x" : "r" + std::to_string(i - 1);
    text += cat("  const w", k, ": float32[4,", i == 0 ? 3 : 4, ",3,3] = random(", i + 1, ")\n");
    text += cat("  const s", k, ": float32[4] = {1, 2, 0.5, 1.5}\n  const h", k, ": float32[4] = {0.5, -1, 0.25, 0}\n");
    text +=
        cat("  const m", k, ": float32[4] = {0.1, 0.2, 0.3, -0.5}\n  const v", k, ": float32[4] = {1.5, 0.5, 2, 1}\n");
    text += cat("  c", k, " = Conv(", before, ", w", k, ") @conv", k, " {pads = [1, 1, 1, 1]}\n");
    text += cat("  n", k, " = BatchNormalization(c", k, ", s", k, ", h", k, ", m", k, ", v", k, ") @bn", k, "\n");
    text += cat("  r", k, " = Relu(n", k, ") @relu", k, "\n");
  }
  text += cat("  output r", n - 1, "\n}");
  const Graph a = typed(text);
  for (const bool renamed : {true, false}) {  // or the folded layer has the convolution's name
    Graph b = with_faults({"kernel-rotated@conv1"}, a);
    ASSERT_EQ(fold_batch_norms(b), n);
    for (ValueId v = 0; v < b.value_count() && renamed; ++v) b.value(v).name = cat("other", v);
    for (NodeId id : b.order()) b.node(id).name = renamed ? cat("node", id) : b.node(id).name;
    for (int i = 0; i < n && !renamed; ++i)
      std::swap(b.value(b.find_value(cat("c", i))).name, b.value(b.find_value(cat("n", i))).name);
    infer_types(b);
    OwnErrorOptions options;
    options.refine_flops = 0;
    EXPECT_EQ(found_names(localized_graphs(a, b, 1, options)), Names{"conv1, bn1"});
    for (int threads : {1, 3}) {  // the same on any number of them
      ThreadPool pool(threads);
      options.pool = &pool;
      EXPECT_EQ(found_names(localized_graphs(a, b, 1, options)), Names{"conv1, bn1"});
    }
  }
}

}  // namespace
}  // namespace dnn
