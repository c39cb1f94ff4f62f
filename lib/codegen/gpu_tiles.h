// Tiles of sums of products that a block of a GPU's threads computes together.
#pragma once
#include <set>
#include <string>

#include "codegen/parameters.h"
#include "codegen/product_sums.h"
#include "target/isa.h"

namespace dnn::codegen {

// A tile of one block, and of one of its threads.
struct GpuTile {
  int64_t rows, columns;
  int64_t thread_rows, thread_columns;  // multiples of a quad
  double share;                         // of the processor's multiply-adds that it is taken to reach: an estimate

  int64_t across() const { return columns / thread_columns; }
  int64_t threads() const { return rows / thread_rows * across(); }
};

// Parts of the depth that threads of a block go through beside each other, where sums may be taken in another order: a power of two, more of
// them the fewer sums there are to keep a GPU busy. Not by the tile, so that all tiles give the same bits.
int64_t gpu_slices(const ProductSums& sums, const GpuBlock& block);

// Puts the depth in the order in which slices go through it.
void order_depth(int64_t slices, ProductSums* sums);

// The one whose rows and columns were asked for, or that of the least time by the tiles that each multiprocessor goes through.
// Those that a block does not hold are left out.
GpuTile choose_gpu_tile(const ProductSums& sums, int64_t slices, const GpuBlock& block,
                        const ScheduleParameters& asked);

// How a warp's matrix instructions take factors, of which they keep 11 bits (matrix_products.h).
enum class MatrixFactors : uint8_t {
  None,     // each thread multiplies for itself
  Split,    // float32 numbers as sums of two
  Halves,   // floats of 16 bits of the element type, as they are
  Integers  // small ones, as they are
};

// Tells what the factors of `sums` are, where they have no more than 11 bits: floats of 16 bits of type `element`, rounded to it or out of the
// buffers named `exact`, or integers of a byte, less a zero point, of which eight products add up without rounding. None where they may have more.
MatrixFactors short_factors(const ProductSums& sums, const std::set<std::string>& exact, DType element);

// The sums by such tiles. `element`: of `Halves`.
loops::Stmt tiled_sums(const ProductSums& sums, const GpuTile& tile, int64_t slices, MatrixFactors factors,
                       DType element);

}  // namespace dnn::codegen
