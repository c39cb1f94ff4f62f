// Register tiles of CPUs: how many columns and blocks of vectors they take, and the loops for them.
#pragma once
#include <initializer_list>
#include <string>
#include <vector>

#include "codegen/cpu_nest.h"

namespace dnn::codegen::cpu {

// Blocks side by side in packed constants, where they divide.
inline constexpr int64_t kPanel = 2;
// Accumulators that hide the latency of a multiply-add; columns of a tile beside a narrower one.
inline constexpr int64_t kNarrow = 8;
// Blocks of channels that share what a tile of a pointwise convolution reads.
inline constexpr int64_t kShare = 4;

// The first of `widths`, none above `widest`, that divides `wide` blocks and leaves a register beside itself; 1: none.
// The parameters' own width, if any, comes before all of them.
int64_t blocks_across(const Nest& nest, std::initializer_list<int64_t> widths, int64_t wide, int64_t widest);

// Columns of a tile: as many accumulators as registers allow beside one operand of each product, for which the other operands
// stay: the weights of `across` blocks for a column's broadcast or all broadcasts for a weight vector, whichever are fewer.
// No more than `limit` (0: none) columns.
int64_t tile_width(const Nest& nest, int64_t extent, int64_t across, int64_t limit);

// A tile's loops: columns, vectors of accumulators and, unless "", blocks of these side by side.
struct TileLoops {
  std::string column;
  std::vector<std::string> vectors;
  std::string across_loop = {};
  int64_t across = 1;
  int64_t limit = 0;  // see tile_width()
};

// The loops with columns times vectors of accumulators in registers.
loops::Stmt register_tile(const Nest& nest, const TileLoops& tile);

}  // namespace dnn::codegen::cpu
