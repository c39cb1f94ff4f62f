// Register tiles of CPUs; see cpu_tiles.h.
#include "codegen/cpu_tiles.h"

#include <algorithm>

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// The price of a last tile of fewer than 2 * kNarrow accumulators beside its products, in columns.
constexpr int64_t kSliver = 3;

}  // namespace

int64_t blocks_across(const Nest& nest, std::initializer_list<int64_t> widths, int64_t wide, int64_t widest) {
  const int64_t asked = nest.parameters().across;
  const auto fits = [&](int64_t n) { return wide % n == 0 && nest.registers_of(n) + 1 < nest.isa().vector_registers; };
  if (asked > 0 && asked <= wide && fits(asked)) return asked;
  for (int64_t n : widths) {
    if (n <= std::min(wide, widest) && fits(n)) return n;
  }
  return 1;
}

int64_t tile_width(const Nest& nest, int64_t extent, int64_t across, int64_t limit) {
  const int64_t wide = nest.registers_of(across);
  int64_t room = 1;
  while ((room + 1) * wide + std::min(room + 1, wide) + 1 <= nest.isa().vector_registers) ++room;
  if (nest.parameters().tile > 0) return std::min({nest.parameters().tile, room, extent});
  const int64_t most = limit > 0 ? std::min(limit, room) : room;
  if (extent <= most) return extent;
  // A narrower tile takes the columns left over, as long as one of kNarrow columns at least.
  const auto cost = [&](int64_t t) {
    const int64_t rest = extent % t;
    return extent / t * std::max(t, kNarrow / wide) + (rest == 0 ? 0 : std::max(rest, kNarrow / wide)) + extent / t +
           (rest == 0                   ? 0
            : rest * wide < 2 * kNarrow ? kSliver
                                        : 1);
  };
  int64_t best = most;
  for (int64_t t = most; t * 2 > most; --t) best = cost(t) < cost(best) ? t : best;
  return best;
}

Stmt register_tile(const Nest& nest, const TileLoops& tile) {
  const int64_t width = tile_width(nest, nest.extent(tile.column), tile.across, tile.limit);
  Stmt body = nest.body;
  if (width > 1) body = split(body, tile.column, width);
  for (const std::string& v : tile.vectors) body = jam(body, v, LoopKind::Vector);
  if (!tile.across_loop.empty()) body = jam(body, tile.across_loop, LoopKind::Unrolled);
  if (width > 1) {
    body = jam(body, tile.column + "_i", LoopKind::Unrolled);
    body = jam(body, tile.column + "_t", LoopKind::Unrolled);
  }
  return body;
}

}  // namespace dnn::codegen::cpu
