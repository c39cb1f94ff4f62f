// Device lists and rules: letters that are given out, precisions, and lines of a placement file.
#include "place/parts.h"

#include <gtest/gtest.h>

#include "base/affinity.h"
#include "base/error.h"
#include "graph/text.h"
#include "ops/op.h"
#include "place/rules.h"
#include "refused.h"

namespace dnn::place {
namespace {

std::string entries(const std::string& list) {
  std::vector<std::string> result;
  for (const Part& part : parse_parts(list)) result.push_back(part.entry());
  return join(result, ",");
}

TEST(PlaceParts, EntriesWithoutALetterGetTheFirstFreeOne) {
  EXPECT_EQ(entries("C=cpu,G=opencl:0,ssh://board/cpu"), "C=cpu,G=opencl:0,D=ssh://board/cpu");
  EXPECT_EQ(entries("cpu,reference,reference,reference,Z=cpu"), "C=cpu,D=reference,G=reference,A=reference,Z=cpu");
  EXPECT_EQ(entries("cpu,C=reference"), "D=cpu,C=reference");
  // The text of entry() is read again.
  EXPECT_EQ(entries(entries("opencl:0:f32,cpu:int8")), "C=opencl:0:f32,D=cpu:int8");
}

TEST(PlaceParts, PrecisionsStandBehindTheProcessors) {
  const int core = allowed_processors().at(0);
  const std::vector<Part> parts = parse_parts(cat("C=cpu@", core, ":int8,G=opencl:0:int16,D=cpu:f32"));
  EXPECT_EQ(parts[0].precision, "int8");
  EXPECT_EQ(parts[0].cores, std::vector<int>{core});
  EXPECT_EQ(parts[1].device.text(), "opencl:0");
  EXPECT_EQ(parts[1].precision, "int16");
  EXPECT_EQ(parts[2].device.text(), "cpu");
  EXPECT_EQ(refused([] { parse_parts("c=cpu"); }),
            "2 --devices: \"c=cpu\": the letter is not one of CDGABEFHIJKLMNOPQRSTUVWXYZ");
  EXPECT_EQ(refused([] { parse_parts("lib:onnxruntime"); }).substr(0, 2), "4 ");
}

TEST(PlaceParts, ProcessorsOfOneKindAreJoined) {
  const std::vector<int> cores = allowed_processors();
  if (cores.size() < 2) GTEST_SKIP() << "one processor";
  const std::string list = cat("C=cpu@", cores[0], ",G=reference,D=cpu@", cores[1], ":f32");
  const std::vector<Part> joined = joined_parts(parse_parts(list));
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].letter, 'C');
  EXPECT_EQ(joined[0].cores, (std::vector<int>{cores[0], cores[1]}));
  EXPECT_EQ(parse_parts(joined[0].entry())[0].cores, joined[0].cores);
  EXPECT_TRUE(joined_parts(parse_parts(cat("C=cpu@", cores[0], ",D=reference"))).empty());
}

Graph chain() {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[2]
  a = Relu(x) @conv1
  b = Neg(a) @conv2
  c = Abs(b)
  d = Relu(c) @fc
  output d
})");
  infer_types(graph);
  return graph;
}

std::string letters(const std::string& rules) {
  const Graph graph = chain();
  const std::vector<Part> parts = parse_parts("C=reference,D=cpu,X=cpu");
  const std::vector<size_t> places = place_by_rules(graph, parts, rules, "rules.txt").places;
  std::string text;
  for (NodeId id : graph.order()) text += parts[places[static_cast<size_t>(id)]].letter;
  return text;
}

TEST(PlaceRules, NameNodesByNameRangePatternAndOperator) {
  EXPECT_EQ(letters(""), "CCCC");
  EXPECT_EQ(letters("# all\n\n  D *  \r\nC conv2\n"), "DCDD");
  EXPECT_EQ(letters("D conv?"), "DDDD");  // what no line names follows what it reads
  EXPECT_EQ(letters("C *\nX conv2 .. c"), "CXXC");
  EXPECT_EQ(letters("C *\nD op:Relu"), "DCCD");
  EXPECT_EQ(letters("C *\nD c*"), "DDDC");
}

TEST(PlaceRules, AreRefusedWithTheirLine) {
  EXPECT_EQ(refused([] { letters("C *\nQ fc"); }), "2 rules.txt:2: no device has the letter Q; --devices has C, D, X");
  EXPECT_EQ(refused([] { letters("C conv9"); }).substr(0, 60),
            "2 rules.txt:1: the model has no node \"conv9\"; did you mean c");
  EXPECT_EQ(refused([] { letters("C fc .. conv1"); }), "2 rules.txt:1: \"fc\" is behind \"conv1\"; exchange them");
  for (const char* line : {"C", "conv1 C", "CD fc", "C  "})
    EXPECT_EQ(refused([&] { letters(line); }).substr(0, 15), "2 rules.txt:1: ") << line;
}

TEST(PlaceRules, AreWrittenAsTheyAreRead) {
  const Graph graph = chain();
  const std::vector<Part> parts = parse_parts("C=reference,D=cpu");
  for (size_t bits = 0; bits < 16; ++bits) {
    std::vector<size_t> places;
    for (size_t i = 0; i < 4; ++i) places.push_back(bits >> i & 1);
    EXPECT_EQ(place_by_rules(graph, parts, rules_text(graph, parts, {places}), "r").places, places);
  }
}

TEST(PlaceParts, APrecisionThatNoNodeHasIsRefused) {
  const std::vector<Part> parts = parse_parts("C=reference:int8");
  EXPECT_EQ(refused([&] {
              check_precisions(chain(), parts, {0, 0, 0, 0});
            }),
            "4 --devices: C (reference:int8): no node there computes in int8; quantise the network first "
            "(dnn-quantize), or leave out :int8");
  Graph quantised = parse_graph(R"(graph "q" {
  opset 21
  input x: float32[2]
  const s: float32[] = {0.5}
  const z: uint8[] = {3}
  q = QuantizeLinear(x, s, z)
  y = DequantizeLinear(q, s, z)
  output y
})");
  infer_types(quantised);
  check_precisions(quantised, parts, {0, 0});
}

}  // namespace
}  // namespace dnn::place
