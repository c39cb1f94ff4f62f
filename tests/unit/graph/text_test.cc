// The text form prints and parses back to the same graph, and says where a text is wrong.
#include "graph/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "graph/tensor_text.h"

namespace dnn {
namespace {

constexpr char kTiny[] = R"(graph "tiny" {
  opset 13
  opset "com.example" 2
  producer "test 1.0"
  doc "two\nlines"
  metadata "key" "a \"quoted\" value"
  input x: float32[batch,3,?,"8"]
  const w: float32[6,2,1,1] = {1, -2.5, 0.1, 1e-05, 1, 2, 3, 4, 5, 6, 7, 8}
  const b: float32[6] = {0, ...}
  c: float32[batch,4,?,?] = Conv(x, w, b) @"my conv" {group = 1, pads = [0, 0, 0, 0]} from "a", "b" doc "first"
  const "odd name": float32[] = {6}
  y, _ = com.example::Odd(c, _, "odd name") {body = graph "inner" {
    capture c: float32[batch,4,?,?]
    input i: int64[]
    d = Relu(c)
    output d
  }, empty = ints[], epsilon = 1e-05, factors = [1.0, inf, -0.0], half = 0.5, names = ["p", "q"], none = floats[], one = 1.0, value = int8[2]{-1, 2}, values = [bool[]{true}, float16[1]{0.5}]}
  output y
  output c
  alias y "was z"
  layout y "1/16,h2+1+1"
  describe y "the answer"
}
)";

TEST(Text, ParsesAndPrintsTheSameText) {
  std::string text = kTiny;
  const Graph graph = parse_graph(text);
  std::string printed = to_text(graph);
  // The printer puts inputs before captures; everything else stands as written.
  const std::string from = "    capture c: float32[batch,4,?,?]\n    input i: int64[]\n";
  const std::string to = "    input i: int64[]\n    capture c: float32[batch,4,?,?]\n";
  text.replace(text.find(from), from.size(), to);
  EXPECT_EQ(printed, text);
  EXPECT_EQ(to_text(parse_graph(printed)), printed);
}

TEST(Text, ReadsWhatItSays) {
  const Graph graph = parse_graph(kTiny);
  const Node& conv = graph.node(graph.order()[0]);
  EXPECT_EQ(conv.name, "my conv");
  EXPECT_EQ(conv.attribute_int("group", 0), 1);
  EXPECT_EQ(conv.sources, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(graph.constant(conv.inputs[1])->data<float>()[3], 1e-05f);
  const Node& odd = graph.node(graph.order()[1]);
  EXPECT_EQ(odd.inputs[1], kNoValue);
  EXPECT_EQ(odd.outputs[1], kNoValue);
  EXPECT_EQ(odd.attribute_float("one", 0), 1.0f);
  EXPECT_TRUE(std::signbit(odd.attribute_floats("factors")[2]));
  const Type& type = graph.value(graph.inputs[0]).type;
  EXPECT_EQ((*type.shape)[0].symbol, "batch");
  EXPECT_EQ((*type.shape)[3].symbol, "8");
  EXPECT_FALSE((*type.shape)[2].fixed());
}

// Every type, with codes that stress it, through text and back.
TEST(Text, EveryElementTypeIsExact) {
  std::mt19937_64 random(3);
  for (int code = 1; code <= 28; ++code) {
    const DType dtype = dtype_from_onnx(code);
    if (dtype == DType::String) continue;
    for (int64_t n : {0, 1, 7, 100}) {
      Tensor tensor(dtype, {n});
      uint8_t* bytes = reinterpret_cast<uint8_t*>(tensor.mutable_bytes());
      for (size_t i = 0; i < tensor.size_bytes(); ++i) {
        bytes[i] = static_cast<uint8_t>(random());
        if (dtype == DType::Bool) bytes[i] &= 1;
        if (dtype_bits(dtype) < 8) {
          bytes[i] &= static_cast<uint8_t>((1 << dtype_bits(dtype)) - 1);
          const bool negative = dtype_class(dtype) == DTypeClass::Signed && (bytes[i] >> (dtype_bits(dtype) - 1)) != 0;
          if (negative) bytes[i] |= static_cast<uint8_t>(0xff << dtype_bits(dtype));
        }
      }
      Graph graph;
      graph.outputs = {graph.add_constant("c", tensor)};
      const Graph back = parse_graph(to_text(graph, {.inline_elements = 32, .inline_all = true}));
      EXPECT_TRUE(back.constant(back.outputs[0])->identical(tensor)) << dtype_name(dtype) << " of " << n;
    }
  }
}

TEST(Text, StringsKeepEveryByte) {
  Tensor tensor(DType::String, {2});
  for (int c = 0; c < 256; ++c) tensor.mutable_strings()[0] += static_cast<char>(c);
  Graph graph;
  graph.outputs = {graph.add_constant(tensor.strings()[0], tensor)};
  const Graph back = parse_graph(to_text(graph));
  EXPECT_TRUE(back.constant(back.outputs[0])->identical(tensor));
  EXPECT_EQ(back.value(back.outputs[0]).name, tensor.strings()[0]);
}

TEST(Text, NansKeepTheirBitsInAttributes) {
  Graph graph;
  const uint32_t bits = 0xffc12345u;
  float odd;
  std::memcpy(&odd, &bits, sizeof odd);
  Node node;
  node.op = "Odd";
  node.attributes["a"] = odd;
  node.attributes["b"] = std::numeric_limits<float>::quiet_NaN();
  node.attributes["c"] = -std::numeric_limits<float>::infinity();
  graph.add_node(node);
  const Graph back = parse_graph(to_text(graph));
  const float read = back.node(0).attribute_float("a", 0);
  EXPECT_EQ(std::memcmp(&read, &bits, sizeof bits), 0);
  EXPECT_TRUE(std::isnan(back.node(0).attribute_float("b", 0)));
  EXPECT_EQ(back.node(0).attribute_float("c", 0), -std::numeric_limits<float>::infinity());
}

TEST(Text, LargeConstantsAreReferencesUnlessAllIsAsked) {
  Graph graph;
  graph.outputs = {graph.add_constant("w", random_tensor(DType::Float32, {40}, 1))};
  const std::string text = to_text(graph);
  EXPECT_NE(text.find("const w: float32[40] = sha256 \""), std::string::npos) << text;
  EXPECT_THROW(parse_graph(text), Error);
}

TEST(Text, RandomConstantsAreTheSameEverywhere) {
  const Graph graph = parse_graph("graph {\n const a: float32[3] = random(7)\n output a\n}");
  const float* values = graph.constant(graph.outputs[0])->data<float>();
  EXPECT_EQ(values[0], -0.22034060955047607f);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(values[i] >= -1 && values[i] < 1);
}

struct Wrong {
  const char* text;
  const char* message;
};

TEST(Text, SaysWhatIsWrongAndWhere) {
  const Wrong cases[] = {
      {"", "line 1: 'graph' expected, the text ends"},
      {"graph {\n  y = Relu(x)\n}", "line 2: value \"x\" is not defined above"},
      {"graph {\n input x\n input x\n}", "line 3: value \"x\" is defined twice"},
      {"graph {\n const c: float32[2] = {1}\n}", "line 2: 2 elements expected, found 1"},
      {"graph {\n const c: float32[2] = {1, 2, 3}\n}", "line 2: more than 2 elements"},
      {"graph {\n const c: int8[1] = {128}\n}", "line 2: no int8 element, found \"128\""},
      {"graph {\n const c: float32[9000000000] = {0, ...}\n}",
       "line 2: the constants expand to more than 268435456 bytes"},
      {"graph {\n const c: float33[1] = {0}\n}", "line 2: there is no element type \"float33\""},
      {"graph {\n x = \"a\n}", "line 2: a quoted text does not end"},
      {"graph {\n y = Relu() {a = []}\n}",
       "line 2: an empty list needs its type: ints[], floats[], strings[] or tensors[]"},
      {"graph {\n y = Relu() {a = [1, \"b\"]}\n}", "line 2: a list mixes types"},
      {"graph {\n}\ngraph {}", "line 3: the text goes on behind the graph"},
  };
  for (const Wrong& wrong : cases) {
    try {
      parse_graph(wrong.text);
      FAIL() << wrong.text;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), wrong.message);
      EXPECT_EQ(error.kind(), ErrorKind::Malformed);
    }
  }
}

TEST(Text, DeepNestingIsRefused) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "graph {\n y = If() {b = ";
  EXPECT_THROW(parse_graph(text), Error);
}

}  // namespace
}  // namespace dnn
