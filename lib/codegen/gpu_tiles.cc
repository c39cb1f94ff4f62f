// Tiles of sums of products on GPUs; see gpu_tiles.h.
#include "codegen/gpu_tiles.h"

#include <algorithm>

#include "codegen/matrix_products.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

constexpr GpuTile kTiles[] = {{128, 128, 8, 8, 1.0}, {64, 128, 4, 8, 0.9}, {128, 64, 8, 4, 0.9}, {64, 64, 4, 4, 0.75},
                              {32, 64, 4, 4, 0.6},   {64, 32, 4, 4, 0.6},  {32, 32, 4, 4, 0.5}};
static_assert(std::all_of(std::begin(kTiles), std::end(kTiles), [](const GpuTile& tile) {
  return tile.rows % (tile.thread_rows * kWarpDown) == 0 && tile.columns % (tile.thread_columns * kWarpAcross) == 0;
}));  // whole warps
// Elements that a thread has side by side: as many as a vector load brings.
constexpr int64_t kQuad = 4;
// Steps of the depth at once; what is added to a staged row that is written across, so that at most two threads of a warp write to a bank; and to
// one whose elements a warp's matrix products read, 8 side by side of each of 4 rows, all from different banks (four write to one).
constexpr int64_t kChunk = 16, kSkew = 4, kMatrixSkew = 8;
// Multiprocessors that tiles are to keep busy: an A100 has 108, an H100 132.
constexpr int64_t kProcessors = 128;

class TiledSums {
 public:
  TiledSums(const ProductSums& sums, const GpuTile& tile, bool matrix_unit)
      : sums_(sums), tile_(tile), matrix_unit_(matrix_unit) {}

  Stmt run() const {
    const int64_t threads = tile_.threads();
    const Expr thread = variable("thread"), row = variable("row"), column = variable("column");
    const auto [in_row, in_column] = in_tile(thread, row, column);
    const auto buffer = [&](const char* name, Shape shape, Scope scope) {
      return std::make_shared<const Buffer>(Buffer{name, sums_.sum->dtype, std::move(shape), {}, scope});
    };
    const bool left_deep = sums_.deep(sums_.left, sums_.rows), right_deep = sums_.deep(sums_.right, sums_.columns);
    const auto skew = [&](bool is_deep) { return matrix_unit_ ? kMatrixSkew : is_deep ? kSkew : 0; };
    const BufferRef left = buffer("left", {kChunk, tile_.rows + skew(left_deep)}, Scope::Shared);
    const BufferRef right = buffer("right", {kChunk, tile_.columns + skew(right_deep)}, Scope::Shared);
    const BufferRef sums = buffer("sums", {threads, tile_.thread_rows, tile_.thread_columns}, Scope::Private);
    const auto each = [&](Stmt body) {  // of a thread's elements
      return loop("row", tile_.thread_rows, loop("column", tile_.thread_columns, std::move(body), LoopKind::Unrolled),
                  LoopKind::Unrolled);
    };
    const auto all = [&](Stmt body) { return loop("thread", threads, std::move(body), LoopKind::Threads); };
    const Expr sum = load(sums, {thread, row, column});

    const Stmt fetch =
        all(loops::block({stage(sums_.left, sums_.rows, "row_block", tile_.rows, left, left_deep),
                          stage(sums_.right, sums_.columns, "column_block", tile_.columns, right, right_deep)}));
    const Expr depth = variable("depth");
    const Stmt multiply = all(loop(
        "depth", kChunk,
        each(store(sums, {thread, row, column}, sum + load(left, {depth, in_row}) * load(right, {depth, in_column}))),
        matrix_unit_ ? LoopKind::Matrix : LoopKind::Serial));
    const Expr row_at = variable("row_block") * constant_index(tile_.rows) + in_row,
               column_at = variable("column_block") * constant_index(tile_.columns) + in_column;
    Stmt body = loops::block({alloc(left), alloc(right), alloc(sums),
                              all(each(store(sums, {thread, row, column}, sums_.start))),
                              loop("chunk", sums_.depth.blocks(kChunk), loops::block({fetch, multiply})),
                              all(finish(sum, row_at, column_at))});
    body = loop("row_block", sums_.rows.blocks(tile_.rows),
                loop("column_block", sums_.columns.blocks(tile_.columns), std::move(body), LoopKind::Parallel),
                LoopKind::Parallel);
    for (auto l = sums_.tasks.loops.rbegin(); l != sums_.tasks.loops.rend(); ++l)
      body = loop(l->first, l->second, std::move(body), LoopKind::Parallel);
    return body;
  }

 private:
  // All threads: a chunk of the operand, [kChunk, size] of it, to shared memory.
  Stmt stage(const Expr& operand, const ProductAxis& axis, const std::string& block, int64_t size, const BufferRef& to,
             bool is_deep) const {
    const int64_t threads = tile_.threads();
    const Expr i = variable("turn") * constant_index(threads) + variable("thread");
    const Expr depth = is_deep ? floormod(i, constant_index(kChunk)) : floordiv(i, constant_index(size));
    const Expr place = is_deep ? floordiv(i, constant_index(kChunk)) : floormod(i, constant_index(size));
    const Expr at = variable(block) * constant_index(size) + place,
               deep = variable("chunk") * constant_index(kChunk) + depth;
    std::map<std::string, Expr> values;
    axis.place(at, &values);
    sums_.depth.place(deep, &values);
    Expr value = substitute(operand, values), inside;
    const auto within = [&](const Expr& e, int64_t extent, int64_t multiple) {
      if (extent % multiple == 0) return;
      const Expr condition = e <= constant_index(extent - 1);
      inside = inside.defined() ? inside && condition : condition;
    };
    within(at, axis.extent(), size);
    within(deep, sums_.depth.extent(), kChunk);
    if (inside.defined()) value = select(inside, value, constant(sums_.sum->dtype, 0));
    return loop("turn", kChunk * size / threads, store(to, {depth, place}, value), LoopKind::Unrolled);
  }

  // The i-th of a thread's elements along an axis: kQuad side by side, the next ones as many further on as the other threads have.
  static Expr element(const Expr& thread, const Expr& i, int64_t each, int64_t threads) {
    if (each == kQuad) return thread * constant_index(kQuad) + i;
    return floordiv(i, constant_index(kQuad)) * constant_index(kQuad * threads) + thread * constant_index(kQuad) +
           floormod(i, constant_index(kQuad));
  }

  // Where in the block's tile a thread's elements are.
  std::pair<Expr, Expr> in_tile(const Expr& thread, const Expr& row, const Expr& column) const {
    const int64_t across = tile_.across(), down = tile_.threads() / across;
    if (!matrix_unit_) {
      return {element(floordiv(thread, constant_index(across)), row, tile_.thread_rows, down),
              element(floormod(thread, constant_index(across)), column, tile_.thread_columns, across)};
    }
    const int64_t warp_rows = tile_.thread_rows * kWarpDown, warp_columns = tile_.thread_columns * kWarpAcross;
    const int64_t warps_across = tile_.columns / warp_columns;
    const Expr warp = floordiv(thread, constant_index(kWarp)), lane = floormod(thread, constant_index(kWarp));
    return {floordiv(warp, constant_index(warps_across)) * constant_index(warp_rows) + matrix_row(lane, row),
            floormod(warp, constant_index(warps_across)) * constant_index(warp_columns) + matrix_column(lane, column)};
  }

  // The statements behind a sum, for each element of a thread's tile that the result has. Its locals are as many as these.
  Stmt finish(const Expr& sum, const Expr& row_at, const Expr& column_at) const {
    std::map<std::string, Expr> values;
    sums_.rows.place(row_at, &values);
    sums_.columns.place(column_at, &values);
    std::map<const Buffer*, BufferRef> own;
    std::vector<Stmt> locals, rest;
    const Expr row = variable("row"), column = variable("column");
    const auto at = [&](const std::vector<Expr>& indices) {
      std::vector<Expr> longer = {row, column};
      longer.insert(longer.end(), indices.begin(), indices.end());
      return longer;
    };
    for (const Stmt& s : sums_.rest) {
      if (s->kind == StmtKind::Alloc) {
        Shape shape = {tile_.thread_rows, tile_.thread_columns};
        shape.insert(shape.end(), s->buffer->shape.begin(), s->buffer->shape.end());
        own[s->buffer.get()] = local_buffer(s->buffer->name, s->buffer->dtype, shape);
        locals.push_back(alloc(own.at(s->buffer.get())));
        continue;
      }
      const Stmt placed = rewrite_expressions(substitute(s, values), [&](const Expr& e) {
        if (e->op != Op::Load) return e;
        if (e->buffer == sums_.sum) return sum;
        const auto found = own.find(e->buffer.get());
        return found == own.end() ? e : load(found->second, at(e->args));
      });
      const auto found = s->kind == StmtKind::Store ? own.find(s->buffer.get()) : own.end();
      rest.push_back(found == own.end() ? placed : store(found->second, at(placed->indices), placed->value));
    }
    Stmt body = loops::block(std::move(rest));
    body = if_within(column_at, sums_.columns.extent(), tile_.columns, std::move(body));
    body = if_within(row_at, sums_.rows.extent(), tile_.rows, std::move(body));
    locals.push_back(loop("row", tile_.thread_rows,
                          loop("column", tile_.thread_columns, std::move(body), LoopKind::Unrolled),
                          LoopKind::Unrolled));
    return loops::block(std::move(locals));
  }

  const ProductSums& sums_;
  const GpuTile& tile_;
  const bool matrix_unit_;
};

}  // namespace

GpuTile choose_gpu_tile(const ProductSums& sums, const ScheduleParameters& asked) {
  const auto found = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const GpuTile& tile) {
    return tile.rows == asked.across && tile.columns == asked.tile;
  });
  if (found != std::end(kTiles)) return *found;
  GpuTile best = kTiles[0];
  double least = 0;
  for (const GpuTile& tile : kTiles) {
    const int64_t n = sums.tasks.extent() * sums.rows.blocks(tile.rows) * sums.columns.blocks(tile.columns);
    const int64_t turns = (n + kProcessors - 1) / kProcessors;
    const double time = static_cast<double>(turns * tile.rows * tile.columns) / tile.share;
    if (&tile != kTiles && time >= least) continue;
    best = tile;
    least = time;
  }
  return best;
}

Stmt tiled_sums(const ProductSums& sums, const GpuTile& tile, bool matrix_unit) {
  return TiledSums(sums, tile, matrix_unit).run();
}

}  // namespace dnn::codegen
