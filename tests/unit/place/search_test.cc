// The search of a placement against all placements there are, on random costs; and the blocks that it works on.
#include "place/search.h"

#include <gtest/gtest.h>

#include <random>

#include "graph/text.h"
#include "ops/op.h"

namespace dnn::place {
namespace {

// Every choice of devices for all blocks, their joins and their branches.
class AllChoices {
 public:
  explicit AllChoices(const NetworkCost& cost) : cost_(cost) {
    for (const BlockCost& block : cost.blocks)
      choice_.push_back({0, std::vector<size_t>(block.branch_bytes.size(), 0)});
    descend(0, 0);
  }
  double least() const { return least_; }
  int64_t count() const { return count_; }

 private:
  // The device of the join of a block, then those of its branches, then the next block.
  void descend(size_t block, size_t slot) {
    if (block == choice_.size()) {
      ++count_;
      least_ = std::min(least_, predicted_us(cost_, choice_));
      return;
    }
    if (slot > choice_[block].branches.size()) return descend(block + 1, 0);
    for (size_t d = 0; d < cost_.devices(); ++d) {
      (slot == 0 ? choice_[block].join : choice_[block].branches[slot - 1]) = d;
      descend(block, slot + 1);
    }
  }

  const NetworkCost& cost_;
  std::vector<BlockChoice> choice_;
  double least_ = 1e300;
  int64_t count_ = 0;
};

NetworkCost random_cost(std::mt19937& random, size_t devices, size_t blocks, size_t most_branches, double copy_us) {
  const auto uniform = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  NetworkCost cost;
  cost.copy.resize(devices);
  for (auto& row : cost.copy) {
    for (size_t d = 0; d < devices; ++d) row.push_back({uniform(0, copy_us), uniform(0, copy_us / 1000)});
  }
  for (size_t k = 0; k < blocks; ++k) {
    BlockCost block;
    block.bytes_in = static_cast<int64_t>(uniform(0, 2000));
    block.join_reads_input = random() % 2 == 0;
    size_t branches = random() % (most_branches + 1);
    if (branches == 1) branches = 0;
    for (size_t b = 0; b < branches; ++b) block.branch_bytes.push_back(static_cast<int64_t>(uniform(0, 2000)));
    for (size_t d = 0; d < devices; ++d) {
      std::vector<double> alone, busy;
      for (size_t b = 0; b < branches; ++b) {
        alone.push_back(uniform(1, 100));
        busy.push_back(alone.back() * uniform(1, 1.5));
      }
      block.branch_us.push_back(alone);
      block.busy_us.push_back(busy);
      block.join_us.push_back(uniform(1, 30));
    }
    cost.blocks.push_back(block);
  }
  return cost;
}

TEST(PlaceSearch, FindsWhatAllPlacementsSay) {
  std::mt19937 random(7);
  int split = 0;
  for (int round = 0; round < 200; ++round) {
    const size_t devices = 1 + random() % 3;
    const NetworkCost cost = random_cost(random, devices, 1 + random() % 3, devices == 3 ? 2 : 3, round % 2 ? 5 : 60);
    const Searched found = search_placement(cost);
    const AllChoices all(cost);
    ASSERT_TRUE(found.proved);
    ASSERT_NEAR(found.us, all.least(), 1e-9 * all.least()) << "round " << round << ", of " << all.count();
    ASSERT_NEAR(predicted_us(cost, found.blocks), found.us, 1e-9 * found.us);
    for (const BlockChoice& choice : found.blocks) split += choice.splits();
  }
  EXPECT_GT(split, 20);  // or the test says nothing
}

TEST(PlaceSearch, FreeCopiesReachTheBoundOfEqualBranches) {
  NetworkCost cost;
  cost.copy.assign(2, std::vector<CopyCost>(2));
  const std::vector<double> two = {50, 50};
  cost.blocks.push_back({{two, two}, {two, two}, {1, 1}, {8, 8}, 8, false});
  const Searched found = search_placement(cost);
  EXPECT_TRUE(found.blocks[0].splits());
  EXPECT_DOUBLE_EQ(found.us, 51);
  for (auto& row : cost.copy) {
    for (CopyCost& copy : row) copy.us = 49;
  }
  EXPECT_DOUBLE_EQ(search_placement(cost).us, 50 + 49 + 1);
  for (auto& row : cost.copy) {
    for (CopyCost& copy : row) copy.us = 51;
  }
  EXPECT_FALSE(search_placement(cost).blocks[0].splits());
}

TEST(PlaceSearch, ManyBranchesEndInTime) {
  std::mt19937 random(3);
  NetworkCost cost = random_cost(random, 4, 1, 0, 5);
  BlockCost& block = cost.blocks[0];
  for (int b = 0; b < 40; ++b) {
    block.branch_bytes.push_back(100);
    for (size_t d = 0; d < 4; ++d) {
      block.branch_us[d].push_back(10 + b % 7 + static_cast<double>(d));
      block.busy_us[d].push_back(block.branch_us[d].back());
    }
  }
  const Searched found = search_placement(cost);
  EXPECT_LT(found.us, 0.4 * 40 * 13);
}

TEST(PlaceBlocks, BranchesShareTheInputAlone) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[1,2,4,4]
  const k: float32[1] = {2}
  a = Relu(x) @stem
  b = Neg(a) @left
  c = Abs(b) @left2
  d = Exp(a) @right
  e = Concat(c, d) @join {axis = 1}
  f = Relu(e) @tail
  g = Neg(f) @single
  h = Add(g, f) @residual
  output h
})");
  infer_types(graph);
  std::vector<std::string> lines;
  for (const Block& block : find_blocks(graph)) {
    std::vector<std::string> words;
    for (const Branch& branch : block.branches) {
      std::vector<std::string> names;
      for (NodeId id : branch.nodes) names.push_back(graph.node(id).name);
      words.push_back(cat(join(names, "+"), ":", branch.bytes));
    }
    std::vector<std::string> names;
    for (NodeId id : block.join) names.push_back(graph.node(id).name);
    lines.push_back(
        cat(join(words, " "), "|", join(names, "+"), "|", block.bytes_in, block.join_reads_input ? "*" : ""));
  }
  EXPECT_EQ(join(lines, "\n"),
            "|stem|128*\n"
            "left+left2:128 right:128|join|128\n"
            "|tail|256*\n"
            "|single+residual|256*");
}

// Weights that are unpacked first do not keep the network from being cut, and go where they are read.
TEST(PlaceBlocks, WhatDependsOnConstantsGoesToItsReader) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[2]
  const s: float32[] = {0.5}
  const v: int8[2] = {1, 2}
  const w: int8[2] = {3, 4}
  p = DequantizeLinear(v, s) @first
  q = DequantizeLinear(w, s) @second
  a = Add(x, p) @one
  b = Mul(a, q) @two
  output b
})");
  infer_types(graph);
  const std::vector<Block> blocks = find_blocks(graph);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].join.size(), 2u);
  EXPECT_EQ(graph.node(blocks[1].join[0]).name, "second");
}

}  // namespace
}  // namespace dnn::place
