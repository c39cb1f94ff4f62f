// Divisions that pay: what dividing layers over devices takes by measured costs, and the search of a placement with divided layers.
#pragma once
#include <vector>

#include "place/costs.h"
#include "place/divide.h"

namespace dnn::place {

// The costs of a chain with all its channels.
struct ChainCost {
  int64_t channels = 0;
  int64_t bytes_in = 0, bytes_out = 0;    // of values that it reads, weights aside, and that the last node makes
  std::vector<double> alone_us, busy_us;  // by device; `busy`: while the other devices work, too
};

ChainCost chain_cost(const Graph& graph, const Chain& chain, const Measured& measured);

// Microseconds from when the chain's input is on the first slice's device until its result is there: all slices at once, each with the way of
// the whole input to its device and of its channels back, then the copy that puts them together. A slice takes its share of the time.
double division_us(const ChainCost& cost, const std::vector<std::vector<CopyCost>>& copy,
                   const std::vector<Slice>& slices);

// The fastest slices by division_us(), in whole blocks of kChannelBlock, of those whose first is on the device `join`. A single slice where
// that is fastest, or the chain has fewer than two blocks.
std::vector<Slice> fastest_slices(const ChainCost& cost, const std::vector<std::vector<CopyCost>>& copy, size_t join);

struct DividedSearch {
  Placement placement;
  double us = 0;  // that the costs predict
  bool proved =
      false;  // as Searched; of placements in which a chain has one device, or is divided while no other node runs
  size_t chains = 0;  // that could be divided
};

// The fastest placement with chains divided where that takes less than alone on each device by kWorthIt. `dearer`: as if copies cost so many times
// what was measured; `us` is with the measured ones.
DividedSearch search_divided(const Graph& graph, const std::vector<Block>& blocks, const Measured& measured,
                             double dearer);

}  // namespace dnn::place
