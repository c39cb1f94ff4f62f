// Where the channels lie in a layer's weights, held to the operators' own inference of shapes.
#include "ops/weights.h"

#include <gtest/gtest.h>

#include "ops/build.h"
#include "ops/op.h"

namespace dnn {
namespace {

Node layer_of(const std::string& op, Attributes attributes = {}) {
  Node node;
  node.op = op;
  node.attributes = std::move(attributes);
  return node;
}

// Shapes of a layer that makes 5 channels of 3, its weights laid out as weight_axes() says; the channels that it makes.
int64_t channels_made(const std::string& op, const Attributes& attributes, size_t rank, size_t channel_axis) {
  const std::optional<WeightAxes> axes = weight_axes(layer_of(op, attributes), static_cast<int>(rank));
  if (!axes) return -1;
  Shape weights(rank, 1), input(rank, 1);
  weights[static_cast<size_t>(axes->output)] = 5;
  weights[static_cast<size_t>(axes->input)] = 3;
  input[channel_axis] = 3;
  NewGraph graph;
  const auto add = [&](const char* name, const Shape& shape) {
    return graph.input(name, Type(DType::Float32, {shape.begin(), shape.end()}));
  };
  const ValueId x = add("x", input), w = add("w", weights);
  return graph.shape(graph.emit(op, {x, w}, attributes))[channel_axis];
}

TEST(WeightAxes, AgreeWithTheShapesThatOperatorsTake) {
  for (const size_t rank : {3, 4, 5}) {
    EXPECT_EQ(channels_made("Conv", {}, rank, 1), 5) << rank;
    EXPECT_EQ(channels_made("ConvTranspose", {}, rank, 1), 5) << rank;
    EXPECT_EQ(channels_made("MatMul", {}, rank, rank - 1), 5) << rank;
  }
  EXPECT_EQ(channels_made("MatMul", {}, 2, 1), 5);
  EXPECT_EQ(channels_made("Gemm", {}, 2, 1), 5);
  EXPECT_EQ(channels_made("Gemm", {{"transB", int64_t{1}}}, 2, 1), 5);
}

TEST(WeightAxes, AreThoseOfEachOperatorOfOnnxWithWeightsAndOfNoOther) {
  for (const OpDef& op : all_ops()) {
    if (!op.domain.empty()) continue;
    EXPECT_EQ(weight_axes(layer_of(op.name), 4).has_value(), op.traits.has(Trait::Weighted)) << op.name;
    EXPECT_EQ(multiplies_weights(op.name), op.traits.has(Trait::Weighted)) << op.name;
    EXPECT_FALSE(weight_axes(layer_of(op.name), 1)) << op.name;
  }
  EXPECT_FALSE(multiplies_weights("NoSuchOperator"));
  Node foreign = layer_of("Conv");
  foreign.domain = "com.example";
  EXPECT_FALSE(weight_axes(foreign, 4));
  EXPECT_FALSE(is_convolution(foreign));
  EXPECT_TRUE(is_convolution(layer_of("Conv")));
  EXPECT_FALSE(is_convolution(layer_of("ConvTranspose")));
  EXPECT_FALSE(is_convolution(layer_of("ConvInteger")));
}

}  // namespace
}  // namespace dnn
