// Differences of graphs are named where they are, with the distance of constants.
#include "graph/diff.h"

#include <gtest/gtest.h>

#include <limits>

#include "graph/text.h"

namespace dnn {
namespace {

using Lines = std::vector<std::string>;

Lines difference(const std::string& a, const std::string& b) {
  return graph_difference(parse_graph("graph {\n" + a + "}"), parse_graph("graph {\n" + b + "}"));
}

constexpr char kBase[] =
    "input x: float32[2]\nconst w: float32[2] = {1, 2}\na: float32[2] = Mul(x, w) @mul\nb: float32[2] = Relu(a) "
    "@relu\noutput b\n";

TEST(Diff, NothingBetweenAGraphAndItself) { EXPECT_EQ(difference(kBase, kBase), Lines{}); }

TEST(Diff, NamesAreFollowedByStructure) {
  EXPECT_EQ(difference(kBase,
                       "input in: float32[2]\nconst v: float32[2] = {1, 2}\nc: float32[2] = Mul(in, v) @m\nd: "
                       "float32[2] = Relu(c) @r\noutput d\n"),
            (Lines{"~ input 0 is named: x | in", "~ node 'mul' (Mul) is named: \"mul\" | \"m\"",
                   "~ node 'mul' (Mul): output 0 is named: a | c", "~ node 'relu' (Relu) is named: \"relu\" | \"r\"",
                   "~ node 'relu' (Relu): output 0 is named: b | d"}));
}

TEST(Diff, ConstantsHaveADistance) {
  EXPECT_EQ(
      difference(kBase,
                 "input x: float32[2]\nconst w: float32[2] = {1, 2.5}\na: float32[2] = Mul(x, w) @mul\nb: float32[2] = "
                 "Relu(a) @relu\noutput b\n"),
      (Lines{"~ node 'mul' (Mul): input 1 (w): float32[2]: 1 of 2 elements differ, by at most 0.5, relative 0.2"}));
  EXPECT_EQ(difference(kBase,
                       "input x: float32[2]\nconst w: float64[2] = {1, 2}\na: float32[2] = Mul(x, w) @mul\nb: "
                       "float32[2] = Relu(a) @relu\noutput b\n"),
            (Lines{"~ node 'mul' (Mul): input 1 (w): float32[2] | float64[2]",
                   "~ node 'mul' (Mul): input 1 (w): float32[2]: 0 of 2 elements differ, by at most 0, relative 0"}));
}

TEST(Diff, NodesComeAndGo) {
  EXPECT_EQ(difference(kBase,
                       "input x: float32[2]\nconst w: float32[2] = {1, 2}\na: float32[2] = Mul(x, w) @mul\ne: "
                       "float32[2] = Exp(a) @exp\nb: float32[2] = Relu(e) @relu\noutput b\n"),
            (Lines{"+ node 'exp' (Exp)", "~ node 'relu' (Relu): input 0: a | e"}));
}

TEST(Diff, WiringAttributesAndTypes) {
  EXPECT_EQ(
      difference(
          "input x: float32[2]\ninput y: float32[2]\na: float32[2] = Sub(x, y) @s {k = 1, l = 2}\noutput a\n",
          "input x: float32[2]\ninput y: float32[3]\na: float32[2] = Sub(y, x) @s {k = 3, m = \"z\"}\noutput a\n"),
      (Lines{"~ input y: float32[2] | float32[3]", "~ node 's' (Sub): input 0: x | y",
             "~ node 's' (Sub): input 1: y | x", "~ node 's' (Sub): k: 1 | 3", "- node 's' (Sub): l = 2",
             "+ node 's' (Sub): m = \"z\""}));
}

TEST(Diff, SubgraphsAreCompared) {
  const std::string before =
      "input c: bool[]\ny = If(c) @if {then_branch = graph {\ncapture c: bool[]\nz = Relu(c) @r {k = ";
  const std::string after = "}\noutput z\n}}\noutput y\n";
  EXPECT_EQ(difference(before + "1" + after, before + "2" + after),
            (Lines{"~ node 'if' (If): then_branch: node 'r' (Relu): k: 1 | 2"}));
}

TEST(TensorDistance, CountsNansAndInfinities) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const TensorDistance distance =
      tensor_distance(Tensor::of<float>({5}, {nan, nan, inf, 1, 2}), Tensor::of<float>({5}, {nan, 1, inf, 1, 4}));
  EXPECT_EQ(distance.n_different, 2);
  EXPECT_EQ(distance.max_absolute, std::numeric_limits<double>::infinity());
  EXPECT_EQ(tensor_distance(Tensor::of<float>({1}, {2}), Tensor::of<float>({1}, {4})).max_relative, 0.5);
}

}  // namespace
}  // namespace dnn
