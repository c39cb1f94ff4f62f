// Narrow findings between networks in other forms: a converter's operators are others, and nothing behind a fault lines up by numbers.
#include <gtest/gtest.h>

#include "base/text.h"
#include "graph/tensor_text.h"
#include "localize/localize.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

using Names = std::vector<std::string>;

// Convolution, normalisation and activation, three times, with a residual block around a squeeze.
const char* const kBlocks = R"(graph "blocks" {
  opset 28
  input x: float32[1,3,12,12]
  const w1: float32[6,3,3,3] = random(1)
  const w2: float32[6,6,3,3] = random(2)
  const w3: float32[6,1,3,3] = random(3)
  const w4: float32[6,6,1,1] = random(4)
  const w5: float32[4,6,3,3] = random(5)
  const s: float32[6] = {1.5, 0.75, 1.25, 0.5, 2, 1}
  const h: float32[6] = {0.25, -0.5, 0.125, 1, -0.25, 0.5}
  const m: float32[6] = {0, 0, 0, 0, 0, 0}
  const v: float32[6] = {1, 1, 1, 1, 1, 1}
  const axes: int64[2] = {2, 3}
  c1 = Conv(x, w1) @conv1 {pads = [1, 1, 1, 1]}
  n1 = BatchNormalization(c1, s, h, m, v) @bn1 {epsilon = 0.0}
  a1 = HardSwish(n1) @swish1
  c2 = Conv(a1, w2) @conv2 {pads = [1, 1, 1, 1]}
  n2 = BatchNormalization(c2, s, h, m, v) @bn2 {epsilon = 0.0}
  a2 = HardSwish(n2) @swish2
  c3 = Conv(a2, w3) @conv3 {pads = [1, 1, 1, 1], group = 6}
  n3 = BatchNormalization(c3, s, h, m, v) @bn3 {epsilon = 0.0}
  a3 = HardSwish(n3) @swish3
  p = ReduceMean(a3, axes) @mean
  c4 = Conv(p, w4) @conv4
  g = Sigmoid(c4) @gate
  q = Mul(a3, g) @scaled
  t = Add(q, a1) @added
  y = Conv(t, w5) @conv5
  output y
})";

// The same as another converter writes it: normalisations are in the weights (with_gains() has them), activations are arithmetic, and axes are
// in the order of images.
std::string foreign(const std::string& conv2 = "Conv(v5t, k2) @op6 {pads = [1, 1, 1, 1]}") {
  const std::string begin = R"(graph "foreign" {
  opset 28
  input image: float32[1,3,12,12]
  const k1: float32[6,3,3,3] = random(1)
  const k2: float32[6,6,3,3] = random(2)
  const k3: float32[6,1,3,3] = random(3)
  const k4: float32[6,6,1,1] = random(4)
  const k5: float32[4,6,3,3] = random(5)
  const shift: float32[6] = {0.25, -0.5, 0.125, 1, -0.25, 0.5}
  const where: int64[2] = {1, 2}
  const three: float32[] = {3}
  const sixth: float32[] = {0.16666667}
  const none: float32[] = {0}
  const six: float32[] = {6}
)";
  // Shifted, and the activation; from and to values counted from `at`.
  const auto block = [](const std::string& in, int at) {
    const auto n = [&](int i) { return cat("v", at + i); };
    return cat("  ", n(0), "t = Transpose(", in, ") @turn", at, " {perm = [0, 2, 3, 1]}\n  ", n(1), " = Add(", n(0),
               "t, shift) @op", at + 1, "\n  ", n(2), " = Add(", n(1), ", three) @op", at + 2, "\n  ", n(3), " = Clip(",
               n(2), ", none, six) @op", at + 3, "\n  ", n(4), " = Mul(", n(1), ", ", n(3), ") @op", at + 4, "\n  ",
               n(5), " = Mul(", n(4), ", sixth) @op", at + 5, "\n  ", n(5), "t = Transpose(", n(5), ") @back", at + 5,
               " {perm = [0, 3, 1, 2]}\n");
  };
  return cat(begin, "  u1 = Conv(image, k1) @op0a {pads = [1, 1, 1, 1]}\n", block("u1", 0), "  u2 = ", conv2, "\n",
             block("u2", 6), "  u3 = Conv(v11t, k3) @op12a {pads = [1, 1, 1, 1], group = 6}\n", block("u3", 12),
             "  v18 = ReduceMean(v17, where) @op18\n  v18t = Transpose(v18) @back18 {perm = [0, 3, 1, 2]}\n",
             "  v19 = Conv(v18t, k4) @op19\n  v20 = Sigmoid(v19) @op20\n", "  v21 = Mul(v17t, v20) @op21\n",
             "  v22 = Add(v21, v5t) @op22\n  v23 = Conv(v22, k5) @op23\n  output v23\n}");
}

// Weights by the normalisations' gains.
Graph with_gains(const std::string& text) {
  constexpr float kGains[] = {1.5, 0.75, 1.25, 0.5, 2, 1};
  Graph graph = parse_graph(text);
  for (const char* name : {"k1", "k2", "k3"}) {
    Tensor& weights = *graph.value(graph.find_value(name)).constant;
    float* numbers = weights.mutable_data<float>();
    const int64_t row = weights.size() / weights.dim(0);
    for (int64_t i = 0; i < weights.size(); ++i) numbers[i] *= kGains[i / row];
  }
  infer_types(graph);
  return graph;
}

LocalizeReport localized(const std::string& target, const std::string& source = kBlocks) {
  const Graph a = typed(source), b = with_gains(target);
  OwnErrors own(a, b, {});
  Localizer localizer(&a, &b);
  localizer.measure_own(&own);
  for (uint64_t seed : {51, 52}) {
    const Tensor x = random_tensor(DType::Float32, {1, 3, 12, 12}, seed);
    localizer.add(trace_of(a, x), trace_of(b, x));
  }
  return localizer.finish({});
}

TEST(Narrow, AConversionInAnotherFormHasNoFault) {
  const LocalizeReport report = localized(foreign());
  EXPECT_TRUE(report.findings.empty()) << report.findings[0].what;
  EXPECT_TRUE(report.agree());
}

TEST(Narrow, AnAttributeIsNamedAloneAndBeforeItsConsequences) {
  const LocalizeReport report = localized(foreign("Conv(v5t, k2) @op6 {pads = [0, 0, 2, 2]}"));
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& f = report.findings[0];
  EXPECT_EQ(f.source.nodes, (Names{"conv2", "bn2"}));
  EXPECT_EQ(f.what, "op6: pads is [0, 0, 2, 2], in the source [1, 1, 1, 1]");
  EXPECT_EQ(f.fix, "set the attribute as in the source");
}

// Layers behind a wrong stride have other extents in the target, so that no number and no shape of it is the source's.
TEST(Narrow, AStrideThatChangesExtentsIsNamedAlone) {
  const std::string wrong = foreign("Conv(v5t, k2) @op6 {pads = [1, 1, 1, 1], strides = [2, 2]}");
  const LocalizeReport report =
      localized(with_text(wrong, "Add(v21, v5t)", "Add(v21, v20)"), with_text(kBlocks, "Add(q, a1)", "Add(q, g)"));
  ASSERT_FALSE(report.findings.empty());
  const Finding& f = report.findings[0];
  EXPECT_EQ(f.source.nodes, (Names{"conv2", "bn2"})) << f.what;
}

TEST(Narrow, ABiasTooManyIsNamedWithItsLayerAlone) {
  const LocalizeReport report = localized(with_text(foreign(), "Conv(v18t, k4) @op19", "Conv(v18t, k4, shift) @op19"));
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].source.nodes, Names{"conv4"});
}

// A skip that went missing where the sum ends the segment.
TEST(Narrow, ASumThatEndsASegmentIsNamedAsMissing) {
  const LocalizeReport report =
      localized(with_text(foreign(), "v22 = Add(v21, v5t) @op22", "v22 = Identity(v5t) @op22"));
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& f = report.findings[0];
  ASSERT_FALSE(f.source.nodes.empty());
  EXPECT_EQ(f.source.nodes[0], "added");
  EXPECT_LE(f.source.nodes.size(), 2u);
  EXPECT_EQ(f.fix, "insert the missing layer");
}

}  // namespace
}  // namespace dnn
