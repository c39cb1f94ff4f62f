// Convolutions on CPUs: blocks of channels in vectors, register tiles of columns, chunks of the reduction; see cpu_patterns.h.
#include <algorithm>

#include "codegen/cpu_patterns.h"
#include "codegen/cpu_tasks.h"
#include "codegen/cpu_tiles.h"
#include "codegen/dot_products.h"
#include "codegen/fetch_ahead.h"
#include "codegen/inner_loops.h"
#include "codegen/loop_order.h"
#include "codegen/skip_border.h"

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// Positions of the output for which a chunk of the reduction may pay.
constexpr int64_t kFewPositions = 28;
// The most accumulators of a tile whose blocks share what it reads: so few that the next tile's products begin while they are stored.
constexpr int64_t kSharedTile = 20;
// Accumulators of a tile whose taps are unrolled, and the most of these.
constexpr int64_t kImageTile = 16, kMostUnrolledRow = 7;
// The most blocks in a tile of dot products, which share what they read of the input.
constexpr int64_t kMostAcross = 7;
// Channels of an input that are few products.
constexpr int64_t kFewChannels = 32;
// Half a block more than so many blocks is little.
constexpr int64_t kHalfBlocks = 4;

// Decisions about a convolution that later steps ask for.
struct Convolution {
  std::string column;         // the last axis of positions
  int64_t channels = 0;       // of the input
  bool blocks = false;        // these go block by block
  bool dots = false;          // dot products take pairs of them
  bool half = false;          // the last half block of m has tiles of its own
  bool few = false;           // each element is few products
  bool shared = false;        // blocks of m share what a tile reads
  std::string depth = "c_i";  // of blocks, the innermost loop but for pairs
};

int64_t turns(const Nest& nest, const std::string& v) { return std::max<int64_t>(1, nest.extent(v)); }

bool pointwise(const Nest& nest) { return nest.extent("k0") <= 1 && nest.extent("k1") <= 1; }

Nest pack_weights(const Nest& nest, const Convolution& conv) {
  const int64_t panel = kPanel * nest.lanes();
  return pack_constants(nest, {.v = "m",
                               .width = nest.extent("m") % panel == 0 ? panel : nest.lanes(),
                               .inner = conv.blocks ? "c" : "",
                               .inner_width = conv.blocks ? nest.lanes() : 1,
                               .pairs = conv.dots ? "c" : ""});
}

// Channels of the input: blocks outside of the taps, the channels of a block inside, in pairs where dot products take them.
Stmt divide_depth(const Nest& nest, const Convolution& conv) {
  if (!conv.blocks) return conv.dots ? in_pairs(nest.body, "c") : nest.body;
  Stmt body = at_loop(split(nest.body, "c", nest.lanes()), "c_o", [&](const Stmt& l) {
    std::vector<std::string> inside = nest_variables(l->children[0]);
    if (inside.size() < 2 || inside[0] != "c_i") return l;
    std::vector<std::string> order(inside.begin() + 1, inside.end());
    order.emplace_back("c_i");
    return loop(l->variable, l->extent, reorder(l->children[0], order), l->loop);
  });
  return conv.dots ? in_pairs(in_pairs(body, "c_i"), "c_t") : body;
}

// True where each element of a pointwise convolution is so few products that storing it in order, block by block, counts more than
// reading the input once more for each block.
bool few_products(const Nest& nest, int64_t channels) {
  return nest.chunks().half_vectors && channels <= kFewChannels && pointwise(nest);
}

// True where the last half block of a pointwise convolution's few channels is worth tiles of its own, which read its input once more.
// Rows are tasks then.
bool ends_in_half(const Nest& nest, const std::string& column) {
  const int64_t m = nest.extent("m"), lanes = nest.lanes();
  return nest.chunks().half_vectors && nest.native_lanes() == lanes && m % lanes == lanes / 2 && m > lanes &&
         m < kHalfBlocks * lanes && column == "o1" && pointwise(nest) &&
         nest.extent("o0") >= nest.processor().least_tasks && nest.holds("m", "o0");
}

// True where a tile should be kShare blocks of channels wide. A pointwise convolution uses what it reads of the input once a
// tile, and reads it from the L2 cache, as the weights fill the L1. Not where a few columns are left over, nor where
// so few blocks of channels remain that tasks get short pieces of the plane.
bool shares_input(const Nest& nest, const std::string& column, int64_t wide) {
  if (!pointwise(nest)) return false;
  if (wide % kShare != 0 || nest.isa().widest_tile < kShare) return false;
  const int64_t columns = turns(nest, column), rows = turns(nest, "o0");
  const int64_t tile = tile_width(nest, columns, kShare, kSharedTile / kShare), rest = columns % tile;
  if (columns < 2 * tile || (rest > 0 && rest * kShare <= kNarrow)) return false;
  return wide / kShare * rows * columns * 2 >= nest.processor().least_tasks * nest.parameters().chunk_positions;
}

int64_t blocks_of_units(const Nest& nest, const Convolution& conv, int64_t wide) {
  if (conv.shared) return blocks_across(nest, {kShare}, wide, nest.isa().widest_tile);
  if (conv.dots) return blocks_across(nest, {2, 3, 5, 7}, wide, kMostAcross);
  return blocks_across(nest, {2, 3}, wide, conv.few ? 1 : nest.isa().widest_tile);
}

// Positions of the output that a task should have at least, so that it pays to read the weights for it, when there are as
// many tasks as that: the fewer, the shorter.
int64_t least_positions(const Nest& nest, int64_t tasks) {
  const int64_t positions = nest.parameters().chunk_positions;
  if (tasks >= nest.processor().least_tasks) return positions;
  if (tasks == 1) return 1;
  return tasks * 2 >= nest.processor().least_tasks ? positions / 2 : kFewPositions;
}

// Rows of the output in a block, of which each group of channels has its own.
int64_t block_height(const Nest& nest, int64_t groups) {
  const int64_t rows = turns(nest, "o0"), columns = turns(nest, "o1");
  int64_t height = rows;
  for (int64_t n = rows; n >= 1; --n) {
    if (rows % n == 0 && n * columns >= least_positions(nest, groups * (rows / height))) height = n;
  }
  // One too many of a few tasks would leave a thread with nothing beside it: then some shorter ones, half as long at least.
  const auto uneven = [&](int64_t n) { return n > 1 && n < 2 * nest.processor().least_tasks && n % 2 != 0; };
  for (int64_t n = height, least = (height + 1) / 2; uneven(groups * (rows / height)) && n >= least; --n) {
    if (rows % n == 0 && !uneven(groups * (rows / n)) && n * columns >= kFewPositions) height = n;
  }
  return height;
}

// A nest whose rows are in blocks.
struct RowBlocks {
  Nest nest;
  bool carried = false;         // sums wait in the output between chunks
  std::string next_group = {};  // the loop to whose next turn it goes on after a chunk, "" where it is none
};

// Output rows in blocks. Channels in chunks whose weights stay in the L1 cache over such a block; sums wait in the
// output in between. Blocks of rows or channels of the output outermost, whichever reads less anew.
RowBlocks block_rows(Nest nest, int64_t across) {
  const std::string group_loop = across > 1 ? "m_o_o" : "m_o";
  const int64_t groups = turns(nest, group_loop), blocks = turns(nest, "c_o"), rows = turns(nest, "o0"),
                columns = turns(nest, "o1"), lanes = nest.lanes();
  const int64_t block_bytes = turns(nest, "k0") * turns(nest, "k1") * lanes * lanes * across *
                              (nest.factor != nullptr ? nest.bytes() / kPair : nest.bytes());
  const int64_t chunk_bytes = nest.parameters().chunk_kib << 10;  // of weights
  int64_t chunk = 1;
  for (int64_t n = 2; n <= blocks && n * block_bytes <= chunk_bytes; ++n) chunk = blocks % n == 0 ? n : chunk;
  const int64_t height = block_height(nest, groups);
  if (height * columns > 4 * nest.parameters().chunk_positions) return {std::move(nest)};
  const int64_t weights = groups * blocks * block_bytes,
                input = blocks * lanes * rows * columns * nest.bytes();  // read of it, roughly
  RowBlocks result = {std::move(nest)};
  Nest& now = result.nest;
  const std::string rows_loop = height < rows ? "o0_i" : "o0";
  if (height < rows) now.body = split(now.body, "o0", height);
  // A result whose channels do not lie together would be gathered and scattered for each chunk.
  const bool carry =
      chunk_bytes > 0 && height * columns >= kFewPositions && now.output->layout.block_of(1) > 1 && now.holds_sums();
  if (chunk < blocks && carry && can_carry_sums(now.body, rows_loop, "c_o")) {
    if (chunk > 1) now.body = split(now.body, "c_o", chunk);
    now.own_loop = chunk > 1 ? "c_o_o" : "c_o";
    now.body = carry_sums(now.body, rows_loop, now.own_loop);
    result.carried = true;
  }
  const int64_t outer = now.parameters().outer;
  const bool rows_first = outer == 0 ? weights * (rows / height) < input * groups : outer == 2;
  if (height < rows && rows_first && now.holds(group_loop, "o0_o")) now.move_inside(group_loop, "o0_o");
  result.next_group = height == rows || rows_first ? group_loop : "";
  if (now.own_loop.empty() && height > 1) now.own_loop = rows_loop;
  return result;
}

// Few channels, as of an image: taps that lie side by side read the same elements, which a compiler sees when they are
// unrolled; a wide tile would leave it no registers for that.
bool reads_image(const Nest& nest, const Convolution& conv, const std::string& tap) {
  const int64_t taps = nest.extent(tap);
  return !conv.blocks && !conv.dots && conv.channels < nest.lanes() && taps > 1 && taps <= kMostUnrolledRow;
}

Stmt unroll_image(const Nest& nest, const Convolution& conv, const std::string& tap) {
  Stmt body = with_kind(nest.body, tap, LoopKind::Unrolled);
  // So few products wait for the image, of which the next rows are asked for meanwhile, with so much to do for each line that
  // the L1 cache is right wherever it is for any weights.
  if (nest.parameters().fetch_ahead == 0 || !nest.level().chunk || conv.column != "o1") return body;
  return fetch_input(body, "k0", nest.input(), "o0",
                     nest.chunks().nearest_from < INT64_MAX ? loops::Fetch::First : loops::Fetch::Second);
}

}  // namespace

Nest convolution(Nest nest) {
  Convolution conv = {.column = nest.last_output_axis(), .channels = nest.extent("c")};
  conv.blocks = nest.level().chunk && nest.blocked("c") && conv.channels >= nest.lanes();
  nest.factor = find_factor(nest, "m", "c");
  conv.dots = nest.factor != nullptr;
  if (conv.dots) conv.depth = "c_i_o";
  nest = pack_weights(nest, conv);
  nest.body = divide_depth(nest, conv);
  conv.half = conv.blocks && ends_in_half(nest, conv.column);
  std::vector<std::string> vectors;
  if (conv.half) {
    nest.body = vector_split(move_inside(nest.body, "m", "o0"), "m", nest.lanes(), false, &vectors);
  } else {
    vectors = nest.vectors_over("m");
  }
  const int64_t wide = nest.extent("m_o");
  for (const std::string& v : vectors) nest.move_inside(v, conv.column);
  conv.few = conv.blocks && !conv.dots && few_products(nest, conv.channels);
  conv.shared = conv.blocks && !conv.few && shares_input(nest, conv.column, wide);
  // Not in shared tiles, which take up to 1.1 of the time then (measured; why was not shown).
  if (nest.level().reassociate && !conv.shared) nest.body = start_sums(nest.body, conv.column);
  const int64_t across = blocks_of_units(nest, conv, wide);
  if (across > 1) {
    nest.body = split(nest.body, "m_o", across);
    nest.move_inside("m_o_i", conv.column);
  }
  RowBlocks rows = {std::move(nest)};
  if (conv.blocks && conv.channels % rows.nest.lanes() == 0 && conv.column == "o1" && !conv.half)
    rows = block_rows(std::move(rows.nest), across);
  nest = std::move(rows.nest);
  const std::string tap = "k" + conv.column.substr(1);
  const bool image = reads_image(nest, conv, tap);
  const int64_t accumulators = image                   ? kImageTile
                               : conv.shared           ? kSharedTile
                               : conv.half || conv.few ? kNarrow * across
                                                       : 0;
  nest.body = register_tile(nest, {conv.column, vectors, across > 1 ? "m_o_i" : "", across, accumulators / across});
  if (image) nest.body = unroll_image(nest, conv, tap);
  if (conv.blocks) nest.body = even_tasks(nest, nest.extent("o0_i") > 0 ? "o0_i" : "o0");
  if (nest.fetches() && (rows.carried || !rows.next_group.empty())) {
    const FetchLoops loops = {rows.carried ? nest.own_loop : rows.next_group, rows.next_group, conv.depth, "",
                              nest.chunks().nearest_from};
    nest.body = fetch_ahead(nest.body, loops, nest.packed);
  }
  if (conv.blocks) nest.body = skip_border(nest.body, conv.depth);
  return nest;
}

}  // namespace dnn::codegen::cpu
