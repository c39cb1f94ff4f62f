// Register tiles of quantised convolutions: the sizes at which dot products of bytes wait for nothing.
#pragma once
#include <cstdint>

namespace dnn::codegen {

// Lanes of int32 in a vector, as channels are blocked.
inline constexpr int64_t kIntegerLanes = 16;
// Bytes in a dot product.
inline constexpr int64_t kDot = 4;
// Taps of a window that are unrolled, in each direction.
inline constexpr int64_t kMostUnrolledTaps = 5;

// A register tile: columns and rows of positions, and blocks of channels of the output.
struct QuantizedTile {
  int64_t width = 1, rows = 1, across = 1;
};

// A convolution for which a tile is chosen.
struct QuantizedWork {
  int64_t blocks;               // of channels of the output
  int64_t columns, rows;        // positions; rows is 1 where a tile may take one row only
  int64_t block_bytes;          // of the weights of a block
  int64_t vector_registers;     // of the instruction set
  int64_t registers_of_vector;  // that hold a vector of kIntegerLanes sums
};

// The fastest tile by a model of dot products and reads. Several rows only where a tile takes whole ones.
QuantizedTile fastest_tile(const QuantizedWork& work);

}  // namespace dnn::codegen
