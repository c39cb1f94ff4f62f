// Depthwise convolutions and pools on CPUs: windows of one channel; see cpu_patterns.h.
#include <algorithm>

#include "codegen/cpu_patterns.h"
#include "codegen/cpu_tiles.h"
#include "codegen/guards.h"

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// Taps of a depthwise convolution that are unrolled, and those of a row that reads numbers of 16 bits; those of a pool.
constexpr int64_t kMostTaps = 3, kMostWidenedTaps = 5, kMostPoolTaps = 3;

}  // namespace

Nest depthwise(Nest nest) {
  const std::string column = nest.last_output_axis();
  if (nest.level().reassociate) nest.body = start_sums(nest.body, column);
  nest = pack_constants(nest, {.v = "g", .width = nest.lanes()});
  const std::vector<std::string> vectors = nest.vectors_over("g");
  for (const std::string& v : vectors) nest.move_inside(v, column);
  nest.body = register_tile(nest, {.column = column, .vectors = vectors, .across = 2});
  // Numbers of 16 bits take instructions to be read, which neighbouring columns share where a row's taps are unrolled.
  const Buffer* x = nest.input();
  const bool widens = x != nullptr && nest.options->narrow.count(x->name) != 0;
  if (nest.extent("k0") <= kMostTaps) nest.body = with_kind(nest.body, "k0", LoopKind::Unrolled);
  if (nest.extent("k1") <= (widens ? kMostWidenedTaps : kMostTaps))
    nest.body = with_kind(nest.body, "k1", LoopKind::Unrolled);
  return nest;
}

Nest pooling(Nest nest) {
  Stmt& body = nest.body;
  std::string column = nest.last_output_axis();
  const std::string row = column == "o1" ? "o0" : "";
  for (int axis = 0; nest.extent(cat("k", axis)) > 0; ++axis) {
    if (nest.extent(cat("k", axis)) <= kMostPoolTaps) body = with_kind(body, cat("k", axis), LoopKind::Unrolled);
  }
  if (nest.extent(column) > 1) column = set_apart_inside(&body, column);
  const int64_t extent = nest.extent(column), most = std::min(extent, kNarrow / nest.registers_of(1));
  if (most < 2) return nest;
  int64_t tile = most;
  while (tile * 2 > most && extent % tile != 0) --tile;
  body = split(body, column, extent % tile == 0 ? tile : most);
  for (const char* part : {"_i", "_t"}) body = jam(body, column + part, LoopKind::Unrolled);
  if (!row.empty()) body = version_inside(body, row);
  return nest;
}

}  // namespace dnn::codegen::cpu
