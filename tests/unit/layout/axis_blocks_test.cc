// Which axes a Reshape splits, merges and keeps, and the orders it can stand between.
#include "layout/axis_blocks.h"

#include <gtest/gtest.h>

namespace dnn {
namespace {

std::vector<Dim> dims(const std::vector<int64_t>& extents) { return {extents.begin(), extents.end()}; }

std::string text(const AxisBlocks& blocks) {
  std::string result;
  for (const AxisBlocks::Block& block : blocks.blocks)
    result += cat(result.empty() ? "" : " ", shape_text(block.in), "-", shape_text(block.out));
  return result;
}

std::string blocks(const std::vector<Dim>& in, const std::vector<Dim>& out) {
  const auto found = AxisBlocks::of(in, out);
  return found ? text(*found) : "none";
}

TEST(AxisBlocks, SplitMergeAndKeep) {
  EXPECT_EQ(blocks(dims({2, 116, 28, 28}), dims({2, 2, 58, 28, 28})), "[0]-[0] [1]-[1,2] [2]-[3] [3]-[4]");
  EXPECT_EQ(blocks(dims({2, 6, 4, 4}), dims({2, 96})), "[0]-[0] [1,2,3]-[1]");
  EXPECT_EQ(blocks(dims({6, 4}), dims({4, 6})), "[0,1]-[0,1]");
  EXPECT_EQ(blocks(dims({4, 4, 4}), dims({16, 4})), "[0,1]-[0] [2]-[1]");  // by place: equal extents mislead nobody
  EXPECT_EQ(blocks(dims({1, 3, 3}), dims({1, 9})), "[0]-[0] [1,2]-[1]");
}

TEST(AxisBlocks, ExtentsOfOneAreFree) {
  EXPECT_EQ(blocks(dims({8, 5, 1, 1}), dims({8, 5})), "[0]-[0] [1]-[1]");
  EXPECT_EQ(blocks(dims({8, 1, 1, 5}), dims({8, 5})), "[0]-[0] [3]-[1]");
  EXPECT_EQ(blocks(dims({2, 1, 3}), dims({6})), "[0,2]-[0]");
}

TEST(AxisBlocks, OpenExtents) {
  const std::vector<Dim> in = {Dim(std::string("batch")), 3, 4, 4};
  EXPECT_EQ(blocks(in, {Dim(std::string("batch")), 48}), "[0]-[0] [1,2,3]-[1]");
  EXPECT_EQ(blocks(in, {Dim(std::string("other")), 48}), "none");
  EXPECT_EQ(blocks({Dim(), 3}, {Dim(), 3}), "none");
  EXPECT_EQ(blocks(dims({0, 3}), dims({0, 3})), "none");
  EXPECT_EQ(blocks(dims({2, 3}), dims({7})), "none");
  EXPECT_EQ(blocks(dims({int64_t{1} << 40, int64_t{1} << 40}), dims({1, 5})), "none");
}

TEST(AxisBlocks, OrdersOnBothSides) {
  const auto shuffle = AxisBlocks::of(dims({1, 6, 4, 4}), dims({1, 2, 3, 4, 4}));
  ASSERT_TRUE(shuffle);
  EXPECT_EQ(shuffle->backward({0, 3, 4, 1, 2}), Permutation({0, 2, 3, 1}));
  EXPECT_EQ(shuffle->forward({0, 2, 3, 1}), Permutation({0, 3, 4, 1, 2}));
  EXPECT_EQ(shuffle->backward({0, 3, 4, 2, 1}),
            std::nullopt);  // groups and channels exchanged: no order of the channels
  EXPECT_EQ(shuffle->backward({}), Permutation());
  const auto flatten = AxisBlocks::of(dims({2, 3, 4, 4}), dims({2, 48}));
  ASSERT_TRUE(flatten);
  EXPECT_EQ(flatten->forward({0, 2, 3, 1}), std::nullopt);
  EXPECT_EQ(flatten->forward({1, 2, 3, 0}), Permutation({1, 0}));
}

}  // namespace
}  // namespace dnn
