// Products of matrices on CPUs: columns in vectors, register tiles of rows, chunks of the depth; see cpu_patterns.h.
#include <algorithm>
#include <functional>

#include "codegen/cpu_patterns.h"
#include "codegen/cpu_tasks.h"
#include "codegen/cpu_tiles.h"
#include "codegen/dot_products.h"
#include "codegen/fetch_ahead.h"
#include "codegen/inner_loops.h"
#include "loops/simplify.h"

namespace dnn::codegen::cpu {
namespace {

using namespace loops;

// Lines that a processor waits for at once, about, and steps of a reduction over which more than these are spread.
constexpr int64_t kFetches = 16, kSteps = 16;

// A remainder of the columns belongs to the last turn of the loop before it, so that its turns can be tasks.
Stmt rest_in_last_turn(const Stmt& given) {
  Stmt body = simplify(given);
  if (!stores_only(body)) return body;
  const std::function<Stmt(const Stmt&)> visit = [&](const Stmt& s) -> Stmt {
    if (s->kind == StmtKind::For && s->loop == LoopKind::Serial) return rebuild(*s, {visit(s->children[0])});
    if (s->kind != StmtKind::Block || s->children.empty() || s->children[0]->kind != StmtKind::For) return s;
    const Stmt& l = s->children[0];
    if (l->extent < 2) return s;
    const std::vector<Stmt> rest(s->children.begin() + 1, s->children.end());
    const Expr last = constant_int(DType::Int64, l->extent - 1) <= variable(l->variable);
    return loop(l->variable, l->extent, block({l->children[0], if_then(last, block(rest))}), l->loop);
  };
  return visit(body);
}

// The innermost loop of a reduction over k: over few rows so short a one that what each asks for ahead can wait for its lines.
std::string in_few_rows(Nest* nest, const std::string& k, int64_t across) {
  const int64_t depth = nest->extent(k), lines = depth * across * nest->lanes() * nest->bytes() / 64;
  int64_t steps = kSteps;
  while (depth % steps != 0) --steps;
  if (lines <= kFetches * std::max<int64_t>(1, nest->extent("i_o")) || steps * 2 < kSteps) return k;
  nest->body = split(nest->body, k, steps);
  return k + "_i";
}

// True where a tile should be kShare blocks of columns wide: it reads a row of the left-hand matrix half as often, and few enough
// rows that they find room in the L1 cache where they lie a multiple of 4 KB apart. Not where so few blocks of columns
// remain that threads would have nothing to do.
bool shares_rows(const Nest& nest, int64_t rows, int64_t wide) {
  if (wide % kShare != 0 || nest.isa().widest_tile < kShare || rows < 2 * kNarrow) return false;
  return nest.tasks_around("i") * (wide / kShare) * 2 >= nest.processor().least_tasks;
}

int64_t blocks_of_columns(const Nest& nest, int64_t rows, int64_t wide) {
  if (rows < 2) return blocks_across(nest, {4, 8, 7, 6, 5, 3, 2}, wide, wide);
  if (shares_rows(nest, rows, wide)) return blocks_across(nest, {kShare}, wide, nest.isa().widest_tile);
  return blocks_across(nest, {2, 3}, wide, nest.isa().widest_tile);
}

// The depth in chunks.
struct DepthChunks {
  bool carried = false;     // sums wait in the output between them
  std::string shared = {};  // the loop over blocks of columns that use one chunk of the left-hand matrix, if any
};

// A left-hand matrix that does not stay in the L2 cache would come from the L3 for each block of columns: then several of
// these use a chunk of it while it is near. So many of them.
int64_t columns_for_chunk(const Nest& nest, const std::string& columns) {
  const int64_t wide = nest.extent(columns), left = nest.extent("i") * nest.extent("k") * nest.bytes();
  const int64_t tasks = nest.tasks_around("i");
  int64_t shared = 1;
  for (int64_t n = 2; n <= wide && left > nest.chunks().near_bytes; ++n) {
    if (wide % n == 0 && tasks / n * 2 >= nest.processor().least_tasks) shared = n;
  }
  return shared;
}

int64_t product_chunk_bytes(const Nest& nest) {
  const int64_t given = nest.parameters().chunk_kib;
  const bool chosen = given != ScheduleParameters().chunk_kib;
  return (chosen ? given : nest.chunks().product_chunk_kib.value_or(given)) << 10;
}

// The depth in chunks whose part of the right-hand matrix stays in the L1 cache over all rows.
DepthChunks carry_depth(Nest* nest, const std::string& k, int64_t across, const std::string& columns) {
  const int64_t depth = nest->extent(k), most = product_chunk_bytes(*nest) / (across * nest->lanes() * nest->bytes());
  int64_t chunk = 0;
  if (nest->tasks_around("i") < nest->processor().least_tasks / 2 || !nest->holds_sums())
    return {};  // the rows are tasks, too
  for (int64_t n = most; n * 2 > most && chunk == 0; --n) chunk = depth % n == 0 ? n : 0;
  if (chunk == 0 || chunk == depth || !can_carry_sums(nest->body, "i", k)) return {};
  DepthChunks result = {.carried = true};
  if (const int64_t shared = columns_for_chunk(*nest, columns); shared > 1) {
    nest->body = split(nest->body, columns, shared);
    result.shared = columns + "_i";
  }
  nest->body = split(nest->body, k, chunk);
  nest->own_loop = k + "_o";
  nest->body = carry_sums(nest->body, result.shared.empty() ? "i" : result.shared, nest->own_loop);
  return result;
}

// Constants of the next turn of `chunks`, or of `groups` after the last, are asked for ahead.
Stmt fetch(const Nest& nest, const std::string& chunks, const std::string& groups, const std::string& inner,
           const std::string& shared) {
  return fetch_ahead(nest.body, {chunks, groups, inner, shared, nest.chunks().nearest_from}, nest.packed);
}

// Several rows: the columns outermost, so that a block of the weights stays in cache over the rows.
void tile_rows(Nest* nest, const std::string& depth, const std::vector<std::string>& vectors, int64_t across) {
  const std::string columns = across > 1 ? "j_o_o" : "j_o";
  if (nest->holds("i", columns)) nest->move_inside("i", columns);
  const bool streamed = nest->holds(columns, "i");  // else each tile of rows goes through all columns
  DepthChunks chunks;
  if (nest->level().chunk && streamed) chunks = carry_depth(nest, depth, across, columns);
  nest->body = register_tile(
      *nest, {.column = "i", .vectors = vectors, .across_loop = across > 1 ? "j_o_i" : "", .across = across});
  if (chunks.carried) nest->body = even_tasks(*nest, nest->extent("i_o") > 0 ? "i_o" : "i");
  if (!nest->fetches()) return;
  if (chunks.carried) {
    const std::string groups = chunks.shared.empty() ? columns : columns + "_o",
                      inner = in_few_rows(nest, depth + "_i", across);
    nest->body = fetch(*nest, nest->own_loop, groups, inner, chunks.shared);
  } else if (streamed) {
    const std::string inner = in_few_rows(nest, depth, across);
    nest->body = fetch(*nest, columns, columns, inner, "");
  }
}

}  // namespace

Nest matrix_product(Nest nest) {
  const int64_t panel = kPanel * nest.lanes();
  const bool panels = nest.extent("i") >= 2 && nest.extent("j") % panel == 0;
  nest.factor = find_factor(nest, "j", "k");
  const bool dots = nest.factor != nullptr;
  nest = pack_constants(nest, {.v = "j", .width = panels ? panel : nest.lanes(), .pairs = dots ? "k" : ""});
  if (dots) nest.body = in_pairs(nest.body, "k");
  const std::string depth = dots ? "k_o" : "k";  // of the reduction, but for pairs
  // Where columns are left over, the rows must go inside before these are split off; then only what is around makes tasks.
  if (!room_for_padding(nest.body, "j", nest.lanes()) && nest.holds("i", "j") && nest.tasks_around("i") > 1)
    nest.move_inside("i", "j");
  const std::vector<std::string> vectors = nest.vectors_over("j", stores_only(nest.body));
  const int64_t rows = nest.extent("i"), across = blocks_of_columns(nest, rows, nest.extent("j_o"));
  if (across > 1) nest.body = split(nest.body, "j_o", across);
  if (rows >= 2) {
    tile_rows(&nest, depth, vectors, across);
  } else {
    for (const std::string& v : vectors) nest.body = jam(nest.body, v, LoopKind::Vector);
    if (across > 1) nest.body = jam(nest.body, "j_o_i", LoopKind::Unrolled);
  }
  nest.body = rest_in_last_turn(nest.body);
  return nest;
}

}  // namespace dnn::codegen::cpu
