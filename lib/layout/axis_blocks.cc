// Runs of axes; see axis_blocks.h.
#include "layout/axis_blocks.h"

#include <algorithm>
#include <numeric>

namespace dnn {
namespace {

bool is_one(const Dim& dim) { return dim.fixed() && dim.size == 1; }

// How many elements a run of axes has: a number times the open extents.
struct Count {
  int64_t number = 1;
  std::vector<std::string> symbols;  // sorted

  // False where nothing can be said: an unknown extent without a name, none at all, or too many elements to count.
  bool add(const Dim& dim) {
    if (!dim.fixed()) {
      if (dim.symbol.empty()) return false;
      symbols.insert(std::upper_bound(symbols.begin(), symbols.end(), dim.symbol), dim.symbol);
      return true;
    }
    return dim.size > 0 && !__builtin_mul_overflow(number, dim.size, &number);
  }
  bool operator==(const Count&) const = default;
};

// Which side of a run lacks elements: 0 the first, 1 the second; a run begins on both.
size_t shorter(const Count& a, const Count& b) {
  if (a.symbols != b.symbols) return a.symbols.size() <= b.symbols.size() ? 0 : 1;
  return a.number <= b.number ? 0 : 1;
}

// The blocks in another order, of the axes on one side, read off `order`; where each block stands contiguous.
std::optional<std::vector<size_t>> block_order(const std::vector<std::vector<int64_t>>& sides, const Permutation& order,
                                               size_t rank) {
  std::vector<size_t> of_axis(rank, sides.size()), result;
  for (size_t b = 0; b < sides.size(); ++b) {
    for (int64_t axis : sides[b]) of_axis[axis] = b;
  }
  size_t next = 0;  // the axis of the last block that has to come now
  for (size_t i = 0; i < rank; ++i) {
    const int64_t axis = order.empty() ? static_cast<int64_t>(i) : order[i];
    const size_t b = of_axis[axis];
    if (b == sides.size()) continue;
    if (result.empty() || next == sides[result.back()].size()) {
      result.push_back(b);
      next = 0;
    }
    if (result.back() != b || sides[b][next] != axis) return std::nullopt;
    ++next;
  }
  return result;
}

// The order of all axes of one side that has the blocks in this order; an axis of no block stays behind the axis that it
// stands behind.
Permutation whole_order(const std::vector<std::vector<int64_t>>& sides, const std::vector<size_t>& blocks,
                        size_t rank) {
  std::vector<bool> in_block(rank, false);
  for (const auto& side : sides) {
    for (int64_t axis : side) in_block[axis] = true;
  }
  Permutation result;
  const auto followers = [&](size_t from) {
    for (size_t i = from; i < rank && !in_block[i]; ++i) result.push_back(static_cast<int64_t>(i));
  };
  followers(0);
  for (size_t b : blocks) {
    for (int64_t axis : sides[b]) {
      result.push_back(axis);
      followers(static_cast<size_t>(axis) + 1);
    }
  }
  for (size_t i = 0; i < rank; ++i) {
    if (result[i] != static_cast<int64_t>(i)) return result;
  }
  return {};
}

}  // namespace

std::optional<AxisBlocks> AxisBlocks::of(const std::vector<Dim>& in, const std::vector<Dim>& out) {
  AxisBlocks result;
  result.in_rank = in.size();
  result.out_rank = out.size();
  const std::vector<Dim>* sides[] = {&in, &out};
  size_t at[] = {0, 0};
  const auto left = [&](size_t side) { return at[side] < sides[side]->size(); };
  const auto dim = [&](size_t side) -> const Dim& { return (*sides[side])[at[side]]; };
  while (left(0) || left(1)) {
    const bool one[] = {left(0) && is_one(dim(0)), left(1) && is_one(dim(1))};
    if (one[0] != one[1]) {  // an axis of extent 1 on one side only
      ++at[one[0] ? 0 : 1];
      continue;
    }
    if (!left(0) || !left(1)) return std::nullopt;
    Block block;
    Count count[2];
    const auto take = [&](size_t side) {
      (side == 0 ? block.in : block.out).push_back(static_cast<int64_t>(at[side]));
      const bool known = count[side].add(dim(side));
      ++at[side];
      return known;
    };
    if (!take(0) || !take(1)) return std::nullopt;
    while (!(count[0] == count[1])) {
      const size_t side = shorter(count[0], count[1]);
      while (left(side) && is_one(dim(side))) ++at[side];
      if (!left(side) || !take(side)) return std::nullopt;
    }
    result.blocks.push_back(std::move(block));
  }
  return result;
}

std::optional<Permutation> AxisBlocks::backward(const Permutation& q) const {
  std::vector<std::vector<int64_t>> ins, outs;
  for (const Block& block : blocks) {
    ins.push_back(block.in);
    outs.push_back(block.out);
  }
  const auto order = block_order(outs, q, out_rank);
  if (!order) return std::nullopt;
  return whole_order(ins, *order, in_rank);
}

std::optional<Permutation> AxisBlocks::forward(const Permutation& p) const {
  AxisBlocks turned;
  turned.in_rank = out_rank;
  turned.out_rank = in_rank;
  for (const Block& block : blocks) turned.blocks.push_back({block.out, block.in});
  return turned.backward(p);
}

}  // namespace dnn
