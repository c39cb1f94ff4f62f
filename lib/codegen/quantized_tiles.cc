// Register tiles of quantised convolutions; see quantized_tiles.h.
#include "codegen/quantized_tiles.h"

#include <algorithm>
#include <utility>

namespace dnn::codegen {
namespace {

// The most positions of a tile, and rows of them.
constexpr int64_t kMostColumns = 14, kMostRows = 4;
// Vectors of sums that hide a dot product's latency.
constexpr double kLatency = 10;
// Bytes of weights that stay in the L1 cache while the tiles of a row are computed, and how much longer others take to read.
constexpr int64_t kNearWeights = 24 << 10;
constexpr double kFarWeight = 4;

// Half cycles, about, that a step of the reduction takes in such a tile: its dot products, as many as hide their latency at least,
// and what it reads, where a block's weights are read `near` times as slowly as a number of the input.
double step_time(const QuantizedWork& work, const QuantizedTile& t, double near) {
  const auto products = static_cast<double>(t.width * t.rows * t.across * work.registers_of_vector),
             reads = static_cast<double>(t.width * t.rows) +
                     near * static_cast<double>(t.across * work.registers_of_vector);
  return std::max(products, kLatency) + reads / 2;
}

// The same for all columns and rows, of which the last tiles may have fewer.
double tile_time(const QuantizedWork& work, const QuantizedTile& t) {
  double result = 0;
  const double near = work.block_bytes * t.across <= kNearWeights ? 1 : kFarWeight;
  for (const auto& [height, tall] :
       {std::pair(t.rows, work.rows / t.rows), std::pair(work.rows % t.rows, int64_t{1})}) {
    for (const auto& [width, wide] :
         {std::pair(t.width, work.columns / t.width), std::pair(work.columns % t.width, int64_t{1})}) {
      if (height > 0 && width > 0)
        result += static_cast<double>(tall * wide) * step_time(work, {width, height, t.across}, near);
    }
  }
  return result / static_cast<double>(t.across);
}

bool fits_registers(const QuantizedWork& work, const QuantizedTile& t) {
  const int64_t wide = t.across * work.registers_of_vector;
  return t.width * t.rows * wide + wide + 2 <= work.vector_registers;
}

}  // namespace

QuantizedTile fastest_tile(const QuantizedWork& work) {
  QuantizedTile best;
  double least = tile_time(work, best);
  for (int64_t across : {1, 2, 3, 4, 6, 8}) {
    if (across > work.blocks || work.blocks % across != 0) continue;
    for (int64_t tiles = 1; tiles <= work.columns; ++tiles) {
      const int64_t width = (work.columns + tiles - 1) / tiles;
      for (int64_t tall = 1; tall <= (tiles == 1 ? std::min(work.rows, kMostRows) : 1); ++tall) {
        const QuantizedTile t = {width, tall, across};
        if (width * tall > kMostColumns || !fits_registers(work, t)) continue;
        const double needed = tile_time(work, t);
        if (needed < least) best = t, least = needed;
      }
    }
  }
  return best;
}

}  // namespace dnn::codegen
