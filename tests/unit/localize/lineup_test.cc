// Lining layers up: by name and alias, by place, by order, in the axis order that fits.
#include "localize/lineup.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "graph/text.h"
#include "interp/interpreter.h"
#include "localize/localize.h"

namespace dnn {
namespace {

Layer layer(const std::string& name, const std::string& op, const Shape& shape) {
  Layer result;
  result.name = name;
  result.op = op;
  result.shape = shape;
  return result;
}

std::string pairs_text(const std::vector<Layer>& a, const std::vector<Layer>& b) {
  std::string text;
  for (const LayerPair& pair : line_up(a, b))
    text += cat(a[pair.source].name, "=", b[pair.target].name, ":", by_name(pair.by), " ");
  return text;
}

TEST(LineUp, ByNameThenAliasAndOnlyWhereShapesFit) {
  const std::vector<Layer> a = {layer("x", "Conv", {1, 4, 8, 8}), layer("y", "Relu", {1, 4, 8, 8}),
                                layer("z", "MatMul", {1, 10})};
  std::vector<Layer> b = {layer("z", "MatMul", {1, 12}), layer("x", "Conv", {1, 4, 8, 8}),
                          layer("fused", "Relu", {1, 4, 8, 8})};
  b[2].aliases = {"y"};
  EXPECT_EQ(pairs_text(a, b), "x=x:name y=fused:name ");
}

TEST(LineUp, InputsAndOutputsByPlace) {
  std::vector<Layer> a = {layer("in", "", {1, 3, 8, 8}), layer("out", "Softmax", {1, 10})};
  std::vector<Layer> b = {layer("image", "", {1, 8, 8, 3}), layer("scores", "Identity", {1, 10})};
  a[0].role = b[0].role = stream::Role::Input;
  a[1].role = b[1].role = stream::Role::Output;
  EXPECT_EQ(pairs_text(a, b), "in=image:place out=scores:place ");
}

TEST(LineUp, ByOrderBetweenAnchorsPreferringTheSameOperator) {
  const Shape shape = {1, 4, 8, 8}, channels_last = {1, 8, 8, 4};
  const std::vector<Layer> a = {layer("c1", "Conv", shape), layer("b1", "BatchNormalization", shape),
                                layer("r1", "Relu", shape), layer("anchor", "MaxPool", shape),
                                layer("c2", "Conv", shape)};
  const std::vector<Layer> b = {layer("p", "Conv", channels_last), layer("q", "Relu", channels_last),
                                layer("anchor", "MaxPool", shape), layer("s", "Conv", channels_last)};
  EXPECT_EQ(pairs_text(a, b), "c1=p:order r1=q:order anchor=anchor:name c2=s:order ");
}

TEST(LineUp, OperatorsWithWeightsAreNotLinedUpWithOthers) {
  EXPECT_EQ(pairs_text({layer("a", "Conv", {1, 4})}, {layer("b", "Relu", {1, 4})}), "");
  EXPECT_EQ(pairs_text({layer("a", "Clip", {1, 4})}, {layer("b", "Relu", {1, 4})}), "a=b:order ");
}

TEST(AxisOrders, ChannelsMoveAndExtentsOfOneDoNotCount) {
  EXPECT_EQ(axis_orders({1, 4, 1, 1}, {1, 4}), (std::vector<AxisOrder>{{0}}));
  EXPECT_EQ(axis_orders({1, 3, 5, 7}, {1, 5, 7, 3}), (std::vector<AxisOrder>{{2, 0, 1}}));
  EXPECT_EQ(axis_orders({2, 3, 5, 7}, {2, 5, 7, 3}), (std::vector<AxisOrder>{{0, 3, 1, 2}}));
  EXPECT_TRUE(axis_orders({1, 3, 5, 7}, {1, 7, 5, 3}).empty());
  EXPECT_EQ(axis_orders({1, 4, 4, 4}, {1, 4, 4, 4}).front(), (AxisOrder{0, 1, 2}));
  EXPECT_EQ(axis_orders({}, {1}), (std::vector<AxisOrder>{{0}}));
}

TEST(AxisOrders, ReorderedHoldsTheElementsWhereTheFirstHasThem) {
  const Tensor last = Tensor::of<float>({1, 2, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  const Tensor first = reordered(last, {2, 0, 1}, {1, 3, 2, 2});
  EXPECT_TRUE(first.identical(Tensor::of<float>({1, 3, 2, 2}, {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11})));
}

// ------------------------------------------------------------------------------------------ whole networks

std::vector<stream::TensorRecord> computed_trace_of(const Graph& graph, const Tensor& input) {
  std::vector<stream::TensorRecord> records;
  interpret(graph, {input}, [&](const Graph&, ValueId id, const Tensor& tensor) {
    stream::TensorRecord record;
    record.name = graph.value(id).name;
    record.role = graph.is_output(id) ? stream::Role::Output : stream::Role::Activation;
    record.tensor = tensor;
    records.push_back(record);
  });
  return records;
}

LocalizeReport localized_texts(const std::string& a_text, const std::string& b_text, double rtol = 1e-4) {
  const Graph a = parse_graph(a_text), b = parse_graph(b_text);
  Localizer localizer(&a, &b);
  for (const float sign : {1.0f, -1.0f}) {
    const Tensor x = Tensor::of<float>({1, 4}, {sign, 2, -3 * sign, 4});
    localizer.add(computed_trace_of(a, x), computed_trace_of(b, x));
  }
  return localizer.finish({.atol = 0, .rtol = rtol});
}

const char* const kRight = R"(graph "g" {
  opset 17
  input x: float32[1,4]
  const w: float32[4] = {1, 2, 3, 4}
  const v: float32[4] = {2, 2, 2, 2}
  a: float32[1,4] = Mul(x, w) @scale
  b: float32[1,4] = Neg(a) @negate
  c: float32[1,4] = Add(b, v) @shift
  output c
})";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  text.replace(text.find(what), what.size(), by);
  return text;
}

TEST(Localizer, TellsTheLayerThatMakesAnErrorFromThoseThatPassItOn) {
  const LocalizeReport report = localized_texts(kRight, replaced(kRight, "{1, 2, 3, 4}", "{1, 2, 3, 5}"));
  ASSERT_TRUE(report.first.has_value());
  const LayerResult& first = report.layers[*report.first];
  EXPECT_EQ(report.source[first.source].node, "scale");
  EXPECT_TRUE(first.makes);
  EXPECT_EQ(first.max_abs, 4);
  EXPECT_EQ(first.largest, 16);
  EXPECT_EQ(first.added, first.error);
  EXPECT_EQ(report.n_diverging, 3);
  EXPECT_EQ(report.n_samples, 2);
  const LayerResult& negate = report.layers[*report.first + 1];
  EXPECT_FALSE(negate.makes);
  EXPECT_EQ(negate.input_error, first.error);
  EXPECT_EQ(negate.added, 0);
  EXPECT_EQ(report.n_parameters, 2);
  ASSERT_EQ(report.differences.size(), 1u);
  EXPECT_EQ(report.differences[0].source, "w");
  EXPECT_EQ(report.differences[0].relation, "different");
  EXPECT_EQ(report.differences[0].max_abs, 1);
}

TEST(Localizer, SecondFaultIsSeenBehindTheFirst) {
  const std::string wrong =
      replaced(replaced(kRight, "{1, 2, 3, 4}", "{1, 2, 3, 4.01}"), "{2, 2, 2, 2}", "{9, 9, 9, 9}");
  const LocalizeReport report = localized_texts(kRight, wrong);
  const LayerResult& last = report.layers.back();
  EXPECT_EQ(report.source[last.source].node, "shift");
  EXPECT_GT(last.added, 0.5 * last.error);
}

TEST(Localizer, EqualNetworksAndErrorsWithinTheToleranceDoNotDiverge) {
  EXPECT_FALSE(localized_texts(kRight, kRight).first.has_value());
  const std::string near = replaced(kRight, "{1, 2, 3, 4}", "{1, 2, 3, 4.0001}");
  EXPECT_FALSE(localized_texts(kRight, near).first.has_value());
  EXPECT_TRUE(localized_texts(kRight, near, 1e-6).first.has_value());
}

TEST(Localizer, TestsWhetherALayerErrsMoreWhereLabelsDiffer) {
  const Graph a = parse_graph(kRight), b = parse_graph(replaced(kRight, "{1, 2, 3, 4}", "{1, 2, 3, 5}"));
  Localizer localizer(&a, &b);
  // 2 - 4t against 2 - 5t, beside 1: the labels differ from t = 0.2 to 0.25.
  for (const float t : {0.01f, 0.21f, 0.02f, 0.22f, 0.03f, 0.23f, 0.04f, 0.24f}) {
    const Tensor x = Tensor::of<float>({1, 4}, {1, 1, 1, t});
    localizer.add(computed_trace_of(a, x), computed_trace_of(b, x));
  }
  const LocalizeReport report = localizer.finish({});
  EXPECT_EQ(report.n_relabelled, 4);
  for (const LayerResult& layer : report.layers) {
    const bool input = report.source[layer.source].node.empty();
    EXPECT_EQ(layer.label_effect, input ? 0.0 : 1.0) << report.source[layer.source].name;
    // Four against four: 2 of 70 orders are as telling, for each of three layers (and one that is all ties).
    EXPECT_NEAR(*layer.label_p, input ? 1.0 : 4 * 2.0 / 70, 0.03) << report.source[layer.source].name;
  }
  EXPECT_FALSE(localized_texts(kRight, kRight).layers[0].label_p.has_value());
}

TEST(Localizer, KeepsTheErrorsOfEachSample) {
  const Graph a = parse_graph(kRight), b = parse_graph(replaced(kRight, "{1, 2, 3, 4}", "{1, 2, 3, 5}"));
  Localizer localizer(&a, &b);
  // -4 against -5, beside zeros: a quarter; and where all is 0, nothing.
  for (const auto& [t, name] : {std::pair(1.0f, "a.png"), std::pair(0.0f, "b.png")}) {
    const Tensor x = Tensor::of<float>({1, 4}, {0, 0, 0, -t});
    localizer.add(computed_trace_of(a, x), computed_trace_of(b, x), name);
  }
  const LocalizeReport report = localizer.finish({});
  ASSERT_EQ(report.shown_samples.size(), 2u);
  EXPECT_EQ(report.shown_samples[0].name, "a.png");
  EXPECT_EQ(report.shown_samples[1].name, "b.png");
  EXPECT_FALSE(report.shown_samples[0].relabelled);
  const std::vector<std::optional<double>> quarter = {0.25, 0.0};
  EXPECT_EQ(report.layers[1].sample_errors, quarter);
}

// Two layers: 8192 samples fit.
TEST(Localizer, KeepsErrorsOfSamplesEvenlySpread) {
  const Graph graph = parse_graph("graph \"g\" {\n  opset 17\n  input x: float32[1]\n  y = Neg(x)\n  output y\n}\n");
  Localizer localizer(&graph, &graph);
  const auto trace = computed_trace_of(graph, Tensor::of<float>({1}, {1}));
  constexpr size_t kSamples = kMostSampleErrors;
  for (size_t i = 0; i < kSamples; ++i) localizer.add(trace, trace, cat(i));
  const LocalizeReport report = localizer.finish({});
  ASSERT_EQ(report.layers.size(), 2u);
  ASSERT_EQ(report.shown_samples.size(), kSamples / 2);
  EXPECT_EQ(report.shown_samples[1].name, "2");
  EXPECT_EQ(report.shown_samples.back().name, cat(kSamples - 2));
  EXPECT_EQ(report.layers[1].sample_errors.size(), kSamples / 2);
  EXPECT_EQ(report.layers[1].sample_errors.back(), 0.0);
}

TEST(Localizer, WithdrawsPairsByOrderWhoseFollowersAgree) {
  // The same function by other steps: the inner values have one shape and nothing to do with each other.
  const std::string other = replaced(replaced(kRight, "a: float32[1,4] = Mul(x, w)", "p: float32[1,4] = Neg(x)"),
                                     "b: float32[1,4] = Neg(a)", "b: float32[1,4] = Mul(p, w)");
  const LocalizeReport report = localized_texts(kRight, other);
  EXPECT_FALSE(report.first.has_value());
  EXPECT_EQ(report.n_withdrawn, 1);
}

// The names of fused layers, taken apart, stay in front of the activations; both are given inputs of their own, so that no
// values agree. A layer that has its name behind the activation, too, keeps it.
TEST(Localizer, NamesInFrontOfActivationsAreThoseBehindThem) {
  const std::string text = R"(graph "g" {
  opset 17
  input x: float32[1,4]
  const w: float32[4,4] = random(1)
  const v: float32[4,4] = random(2)
  a = MatMul(x, w) @first
  p = Relu(a) @first_relu
  b = MatMul(p, v) @second
  q = Sigmoid(b) @second_sigmoid
  c = Add(q, p) @sum
  r = Relu(c) @sum_relu
  y = Neg(r) @negate
  output y
})";
  std::string apart = text;
  for (const auto& [from, to] : {std::pair("p", "Relu__1"), std::pair("q", "Sigmoid__2"), std::pair("r", "Relu__3")})
    apart = std::regex_replace(apart, std::regex(cat("\\b", from, "\\b")), to);
  for (const auto& [from, to] : {std::pair("a", "p"), std::pair("b", "q"), std::pair("c", "r")})
    apart = std::regex_replace(apart, std::regex(cat("\\b", from, "\\b")), to);
  const Graph a = parse_graph(text), b = parse_graph(apart);
  const auto pairs = [](const Graph& source, const Graph& target) {
    Localizer localizer(&source, &target);
    localizer.add(computed_trace_of(source, Tensor::of<float>({1, 4}, {1, 2, -3, 4})),
                  computed_trace_of(target, Tensor::of<float>({1, 4}, {90, -70, 55, 81})));
    const LocalizeReport report = localizer.finish({.atol = 0, .rtol = 1e-4});
    std::set<std::string> result;
    for (const LayerResult& layer : report.layers)
      result.insert(cat(report.source[layer.source].name, "=", report.target[layer.target].name));
    return result;
  };
  for (const char* pair : {"p=Relu__1", "q=Sigmoid__2", "r=Relu__3"}) EXPECT_EQ(pairs(a, b).count(pair), 1u) << pair;
  for (const char* pair : {"Relu__1=p", "Sigmoid__2=q", "Relu__3=r"}) EXPECT_EQ(pairs(b, a).count(pair), 1u) << pair;
  for (const char* pair : {"a=a", "p=p", "q=q", "c=c"}) EXPECT_EQ(pairs(a, a).count(pair), 1u) << pair;
}

TEST(Localizer, NothingInCommonIsAnAnswer) {
  Localizer localizer(nullptr, nullptr);
  EXPECT_THROW(localizer.finish({}), Error);
}

TEST(ParameterRelation, HintsAtWhatAConverterDid) {
  Tensor kernel(DType::Float32, {2, 3, 2, 2});
  for (int i = 0; i < 24; ++i) kernel.mutable_data<float>()[i] = static_cast<float>(i * i % 23);
  const auto element = [&](int o, int c, int y, int x) { return kernel.data<float>()[((o * 3 + c) * 2 + y) * 2 + x]; };
  std::vector<float> rotated, mirrored_channels, hwio, hwio_rotated;
  for (int o = 0; o < 2; ++o)
    for (int c = 0; c < 3; ++c)
      for (int y = 0; y < 2; ++y)
        for (int x = 0; x < 2; ++x) {
          rotated.push_back(element(o, c, 1 - y, 1 - x));
          mirrored_channels.push_back(element(o, 2 - c, y, x));
        }
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 2; ++x)
      for (int c = 0; c < 3; ++c)
        for (int o = 0; o < 2; ++o) {
          hwio.push_back(element(o, c, y, x));
          hwio_rotated.push_back(element(o, c, 1 - y, 1 - x));
        }
  const auto relation = [&](const Shape& shape, const std::vector<float>& values) {
    return parameter_relation(kernel, Tensor::of<float>(shape, values), {});
  };
  EXPECT_EQ(parameter_relation(kernel, kernel, {}), "");
  EXPECT_EQ(relation({2, 3, 2, 2}, rotated), "kernel rotated by 180 degrees");
  EXPECT_EQ(relation({2, 3, 2, 2}, mirrored_channels), "channels reversed");
  EXPECT_EQ(relation({2, 2, 3, 2}, hwio), "axes permuted");
  EXPECT_EQ(relation({2, 2, 3, 2}, hwio_rotated), "axes permuted, kernel rotated by 180 degrees");
  rotated[5] += 1;
  EXPECT_EQ(relation({2, 3, 2, 2}, rotated), "different");
  EXPECT_EQ(parameter_relation(kernel, Tensor(DType::Float32, {2, 3, 2}), {}), "of another size");
}

}  // namespace
}  // namespace dnn
