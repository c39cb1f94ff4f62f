// Search: the fastest placement of blocks on devices, by a cost for each block and copy; exact, as it also proves.
#pragma once
#include <cstdint>
#include <vector>

#include "place/blocks.h"

namespace dnn::place {

// The cost of handing a value over: microseconds, and microseconds for each byte.
struct CopyCost {
  double us = 0, us_per_byte = 0;
  double of(int64_t bytes) const { return us + us_per_byte * static_cast<double>(bytes); }
};

struct BlockCost {
  std::vector<std::vector<double>> branch_us,
      busy_us;                        // by device, then branch; `busy`: while the other devices work, too
  std::vector<double> join_us;        // by device
  std::vector<int64_t> branch_bytes;  // that the join reads, by branch
  int64_t bytes_in = 0;
  bool join_reads_input = false;
};

struct NetworkCost {
  std::vector<BlockCost> blocks;
  std::vector<std::vector<CopyCost>>
      copy;  // from device to device; of one to itself: ending a segment there and beginning another

  size_t devices() const { return copy.size(); }
};

// By block: the device of the join, and of each branch.
struct BlockChoice {
  size_t join = 0;
  std::vector<size_t> branches;
  bool splits() const;  // over several devices
};

struct Searched {
  std::vector<BlockChoice> blocks;
  double us = 0;       // that the costs predict
  bool proved = true;  // no choice is predicted to be faster
};

// The device of each node, by NodeId.
std::vector<size_t> places_of(const Graph& graph, const std::vector<Block>& blocks,
                              const std::vector<BlockChoice>& choice);

// How long the costs say that a placement takes.
double predicted_us(const NetworkCost& cost, const std::vector<BlockChoice>& choice);

// The fastest placement: from block to block by dynamic programming over the device that has the value between them, within a block by
// branch and bound over its branches. Exact for these costs, unless a block has so many branches that `proved` says otherwise.
Searched search_placement(const NetworkCost& cost);

}  // namespace dnn::place
