// Heads are read and drawn; weights that are drawn anew have the rule's spread, and nothing of the old ones is left.
#include "train/head.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "ops/build.h"

namespace dnn::train {
namespace {

Tensor filled(const Shape& shape, float value) {
  Tensor tensor(DType::Float32, shape);
  std::fill_n(tensor.mutable_data<float>(), tensor.size(), value);
  return tensor;
}

// A convolution with a bias, a norm, a Gemm with transB, and a dense layer of MatMul and Add.
Graph head_network() {
  NewGraph net;
  ValueId v = net.input("x", Type(DType::Float32, {1, 8, 3, 3}));
  net.set_name("conv");
  v = net.emit("Conv", {v, net.store("w", filled({16, 8, 3, 3}, 9)), net.store("b", filled({16}, 9))});
  net.set_name("norm");
  v = net.emit("BatchNormalization", {v, net.store("scale", filled({16}, 9)), net.store("shift", filled({16}, 9)),
                                      net.store("mean", filled({16}, 9)), net.store("variance", filled({16}, 9))});
  v = net.emit("Flatten", {v});
  net.set_name("gemm");
  v = net.emit("Gemm", {v, net.store("w", filled({64, 16}, 9)), net.store("b", filled({64}, 9))},
               {{"transB", int64_t{1}}});
  net.set_name("dense");
  v = net.emit("Add", {net.emit("MatMul", {v, net.store("w", filled({64, 36}, 9))}), net.store("b", filled({36}, 9))});
  net.output(v, "y");
  return net.finish();
}

struct Spread {
  double most = 0, deviation = 0;
};

Spread spread_of(const Graph& graph, const std::string& name) {
  const std::vector<double> values = to_doubles(*graph.constant(graph.find_value(name)));
  Spread spread;
  for (double value : values) {
    spread.most = std::max(spread.most, std::abs(value));
    spread.deviation += value * value / static_cast<double>(values.size());
  }
  spread.deviation = std::sqrt(spread.deviation);
  return spread;
}

TEST(Init, TorchsLayersAreEvenWithinTheInputsRoot) {
  Graph graph = head_network();
  draw_weights(graph, Init::Torch, 1);
  const auto expect = [&](const std::string& layer, double fan_in) {
    const double limit = 1 / std::sqrt(fan_in);
    for (const char* part : {"w", "b"}) {
      const Spread spread = spread_of(graph, cat(layer, "/", part));
      EXPECT_LE(spread.most, limit) << layer << part;
      EXPECT_GT(spread.most, 0.8 * limit) << layer << part;
      EXPECT_NEAR(spread.deviation, limit / std::sqrt(3), 0.25 * limit) << layer << part;
    }
  };
  expect("conv", 72);
  expect("gemm", 16);
  expect("dense", 64);
  EXPECT_EQ(spread_of(graph, "norm/scale").deviation, 1);
  EXPECT_EQ(spread_of(graph, "norm/shift").most, 0);
  EXPECT_EQ(spread_of(graph, "norm/mean").most, 0);
  EXPECT_EQ(spread_of(graph, "norm/variance").deviation, 1);
  Graph again = head_network(), other = head_network();
  draw_weights(again, Init::Torch, 1);
  draw_weights(other, Init::Torch, 2);
  EXPECT_TRUE(again.constant(again.find_value("conv/w"))->identical(*graph.constant(graph.find_value("conv/w"))));
  EXPECT_FALSE(other.constant(other.find_value("conv/w"))->identical(*graph.constant(graph.find_value("conv/w"))));
}

TEST(Init, HesConvolutionsAreNormalAndBiasesZero) {
  Graph graph = head_network();
  draw_weights(graph, Init::He, 1);
  EXPECT_NEAR(spread_of(graph, "conv/w").deviation, std::sqrt(2.0 / 72), 0.01);
  EXPECT_NEAR(spread_of(graph, "dense/w").deviation, std::sqrt(2.0 / 100), 0.01);
  for (const char* bias : {"conv/b", "gemm/b", "dense/b"}) EXPECT_EQ(spread_of(graph, bias).most, 0) << bias;
}

TEST(Head, SpecificationsAreRead) {
  EXPECT_TRUE(parse_head("linear").empty());
  const std::vector<HiddenLayer> layers = parse_head("1024:0.5,128");
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].width, 1024);
  EXPECT_EQ(layers[0].dropout, 0.5);
  EXPECT_EQ(layers[1].width, 128);
  EXPECT_EQ(layers[1].dropout, 0);
  for (const char* wrong : {"", "0", "12,", "a", "10:1", "10:-1", "10:x"})
    EXPECT_THROW(parse_head(wrong), Error) << wrong;
}

}  // namespace
}  // namespace dnn::train
