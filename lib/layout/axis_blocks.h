// Which axes of a reshaped tensor come from which: what a Reshape, Flatten, Squeeze or Unsqueeze does as runs of axes that
// are split, merged or kept.
#pragma once
#include <optional>
#include <vector>

#include "layout/settle.h"

namespace dnn {

// Runs of axes with equally many elements on both sides, in order, as short as can be. Found by place, never by equal
// extents. Axes of extent 1 that have no counterpart belong to no block: they may stand anywhere.
struct AxisBlocks {
  struct Block {
    std::vector<int64_t> in, out;
  };
  size_t in_rank = 0, out_rank = 0;
  std::vector<Block> blocks;

  // Nothing where the extents are not known well enough.
  static std::optional<AxisBlocks> of(const std::vector<Dim>& in, const std::vector<Dim>& out);

  // The order of the input's axes from which the same operation makes the output in order `q`: every block moves whole.
  // Nothing where q tears a block apart. {} is the identity on both sides.
  std::optional<Permutation> backward(const Permutation& q) const;
  // The order of the output's axes that comes of the input's in order `p`.
  std::optional<Permutation> forward(const Permutation& p) const;
};

}  // namespace dnn
