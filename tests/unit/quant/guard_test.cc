// Layers that stay in float32 between integers: written so that ONNX Runtime leaves them, with the same numbers.
#include "quant/guard.h"

#include <gtest/gtest.h>

#include "formats/format.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn::quant {
namespace {

// A layer in float32, and what follows it.
Graph guarded_case(const std::string& layer, const std::string& rest) {
  Graph graph = parse_graph(cat(R"(graph "g" {
  input x: float32[1,4,5,5]
  const s: float32[] = {0.05}
  const z: int8[] = {3}
  const w: float32[6,4,3,3] = random(1)
  const zero: float32[] = {0}
  const six: float32[] = {6}
  q = QuantizeLinear(x, s, z)
  d = DequantizeLinear(q, s, z) @shared
  k = )",
                                layer, "\n", rest, "\n  output y\n}"));
  infer_types(graph);
  return graph;
}

const char* const kToIntegers =
    "  r = Relu(k)\n  c = Clip(r, zero, six)\n  p = QuantizeLinear(c, s, z)\n  y = DequantizeLinear(p, s, z)";

TEST(Guard, GivesALayerItsOwnScalesByChannel) {
  const Graph before = guarded_case("Conv(d, w)", kToIntegers);
  Graph after = before;
  EXPECT_EQ(guard_float_layers(after), 1);
  ASSERT_NO_THROW(verify(after));
  infer_types(after);
  const NodeId conv = Uses(after).producer[after.find_value("k")];
  const NodeId maker = Uses(after).producer[after.node(conv).inputs[0]];
  EXPECT_EQ(after.constant(after.node(maker).inputs[1])->shape(), (Shape{4}));
  EXPECT_EQ(after.constant(after.node(maker).inputs[2])->shape(), (Shape{4}));
  Tensor x(DType::Float32, {1, 4, 5, 5});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 17 - 8) * 0.31F;
  EXPECT_TRUE(interpret(before, {x})[0].identical(interpret(after, {x})[0]));
}

TEST(Guard, LeavesWhatTheRuntimeLeaves) {
  for (const auto& [layer, rest] : std::vector<std::pair<std::string, std::string>>{
           {"Conv(d, w)", "  y = Relu(k)"},  // no integers behind it
           {"Conv(d, w)", "  p = QuantizeLinear(k, s, z)\n  y = DequantizeLinear(p, s, z)\n  output k"},  // read twice
           {"Conv(x, w)", kToIntegers},  // none in front
           {"Relu(d)", kToIntegers}}) {
    Graph graph = guarded_case(layer, rest);
    const std::string before = to_text(graph);
    EXPECT_EQ(guard_float_layers(graph), 0) << layer << rest;
    EXPECT_EQ(to_text(graph), before);
  }
}

// The same scale for each channel is one scale, which is all that TFLite can say of numbers that are computed.
TEST(Guard, IsOneScaleToTflite) {
  Graph graph = guarded_case("Conv(d, w)", kToIntegers);
  guard_float_layers(graph);
  infer_types(graph);
  EXPECT_NO_THROW(find_format("tflite")->to_files(graph, {}));
}

}  // namespace
}  // namespace dnn::quant
