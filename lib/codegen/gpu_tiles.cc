// Tiles of sums of products on GPUs; see gpu_tiles.h.
#include "codegen/gpu_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "codegen/matrix_products.h"
#include "loops/simplify.h"
#include "loops/steps.h"
#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// The last one is the smallest.
constexpr GpuTile kTiles[] = {{128, 128, 8, 8, 1.0}, {64, 128, 4, 8, 0.9}, {128, 64, 8, 4, 0.9}, {64, 64, 4, 4, 0.75},
                              {32, 64, 4, 4, 0.6},   {64, 32, 4, 4, 0.6},  {32, 32, 4, 4, 0.5},  {32, 16, 4, 4, 0.4}};
static_assert(std::all_of(std::begin(kTiles), std::end(kTiles), [](const GpuTile& tile) {
  return tile.rows % (tile.thread_rows * kWarpDown) == 0 && tile.columns % (tile.thread_columns * kWarpAcross) == 0;
}));  // whole warps
// Elements that a thread has side by side: as many as a vector load brings.
constexpr int64_t kQuad = 4;
// Steps of the depth at once, of each slice where there are several; what is added to a staged row that is written across, so that at most two
// threads of a warp write to a bank; and to one whose elements a warp's matrix products read, 8 side by side of each of 4 rows, all from
// different banks (four write to one).
constexpr int64_t kChunk = 16, kSlicedChunk = 8, kSkew = 4, kMatrixSkew = 8;
// Multiprocessors that tiles are to keep busy: an A100 has 108, an H100 132.
constexpr int64_t kProcessors = 128;
// Sums and slices of them that keep a GPU busy.
constexpr int64_t kBusySums = int64_t{1} << 20;

// Steps of the depth that a slice goes through between two barriers.
int64_t chunk_of(int64_t slices) { return slices == 1 ? kChunk : kSlicedChunk; }

bool fits(const GpuTile& tile, int64_t slices, const GpuBlock& block) {
  constexpr int64_t kElement = 4;  // bytes
  const int64_t staged = chunk_of(slices) * slices * (tile.rows + tile.columns + 2 * kMatrixSkew);
  const int64_t parts = slices / 2 * tile.rows * tile.columns;
  return tile.threads() * slices <= block.threads && (staged + parts) * kElement <= block.shared_bytes;
}

Op rounding_to(DType element) { return element == DType::BFloat16 ? Op::RoundBFloat16 : Op::RoundFloat16; }

class TiledSums {
 public:
  TiledSums(const ProductSums& sums, const GpuTile& tile, int64_t slices, MatrixFactors factors, DType element)
      : sums_(sums),
        tile_(tile),
        slices_(slices),
        factors_(factors),
        matrix_unit_(factors != MatrixFactors::None),
        rounds_(rounding_to(element)) {}

  Stmt run() const {
    const Expr row = variable("row"), column = variable("column");
    const auto [in_row, in_column] = in_tile(thread_in_slice(), row, column);
    const Operand left = operand("left", sums_.left, sums_.rows, "row_block", tile_.rows),
                  right = operand("right", sums_.right, sums_.columns, "column_block", tile_.columns);
    const BufferRef sums = buffer("sums", {threads(), tile_.thread_rows, tile_.thread_columns}, Scope::Private);
    const Expr sum = load(sums, {thread_, row, column});

    const Expr depth = slice() * constant_index(chunk()) + variable("depth");
    const Stmt multiply = loop(
        "depth", chunk(),
        each(store(sums, {thread_, row, column},
                   sum + factor(load(left.staged, {depth, in_row})) * factor(load(right.staged, {depth, in_column})))),
        matrix_unit_ ? LoopKind::Matrix : LoopKind::Serial);
    const Expr row_at = variable("row_block") * constant_index(tile_.rows) + in_row,
               column_at = variable("column_block") * constant_index(tile_.columns) + in_column;
    const Expr first = constant_index(0), next = variable("chunk") + constant_index(1);
    const Expr start =
        slices_ == 1 ? sums_.start : select(slice() <= constant_index(0), sums_.start, constant(sums_.sum->dtype, 0));
    std::vector<Stmt> steps = {
        alloc(left.staged), alloc(right.staged), alloc(left.fetched), alloc(right.fetched), alloc(sums),
        all(loops::block({each(store(sums, {thread_, row, column}, start)), fetch(left, first), fetch(right, first)})),
        // The next chunk is on its way from memory while one is multiplied.
        loop("chunk", sums_.depth.blocks(chunk() * slices_),
             loops::block({all(loops::block({stage(left), stage(right)})),
                           all(loops::block({fetch(left, next), fetch(right, next), multiply}))}))};
    if (slices_ > 1) join_slices(sums, &steps);
    Stmt end = finish(sum, row_at, column_at);
    if (slices_ > 1) end = if_then(slice() <= constant_index(0), std::move(end));
    steps.push_back(all(std::move(end)));
    Stmt body = loops::block(std::move(steps));
    body = loop("row_block", sums_.rows.blocks(tile_.rows),
                loop("column_block", sums_.columns.blocks(tile_.columns), std::move(body), LoopKind::Parallel),
                LoopKind::Parallel);
    for (auto l = sums_.tasks.loops.rbegin(); l != sums_.tasks.loops.rend(); ++l)
      body = loop(l->first, l->second, std::move(body), LoopKind::Parallel);
    return body;
  }

 private:
  // Rounding changes nothing in Halves: it says that there is nothing beyond them.
  Expr factor(const Expr& staged) const { return factors_ == MatrixFactors::Halves ? unary(rounds_, staged) : staged; }

  // An operand's part that all threads of a block fetch for a chunk: [chunk of all slices, size].
  struct Operand {
    Expr value;
    const ProductAxis& axis;
    std::string block;  // the loop over tiles along the axis
    int64_t size;       // of a tile
    bool deep;
    BufferRef staged, fetched;  // in shared memory; by thread, on its way there
  };

  int64_t chunk() const { return chunk_of(slices_); }
  int64_t threads() const { return tile_.threads() * slices_; }
  Expr slice() const { return floordiv(thread_, constant_index(tile_.threads())); }
  Expr thread_in_slice() const { return slices_ == 1 ? thread_ : floormod(thread_, constant_index(tile_.threads())); }
  BufferRef buffer(const char* name, Shape shape, Scope scope) const {
    return std::make_shared<const Buffer>(Buffer{name, sums_.sum->dtype, std::move(shape), {}, scope});
  }
  Stmt all(Stmt body) const { return loop("thread", threads(), std::move(body), LoopKind::Threads); }
  Stmt each(Stmt body) const {  // of a thread's elements
    return loop("row", tile_.thread_rows, loop("column", tile_.thread_columns, std::move(body), LoopKind::Unrolled),
                LoopKind::Unrolled);
  }

  Operand operand(const std::string& name, const Expr& value, const ProductAxis& axis, const std::string& block,
                  int64_t size) const {
    const bool deep = sums_.deep(value, axis);
    const int64_t skew = matrix_unit_ ? kMatrixSkew : deep ? kSkew : 0;
    return {value,
            axis,
            block,
            size,
            deep,
            buffer(name.c_str(), {chunk() * slices_, size + skew}, Scope::Shared),
            buffer(("next_" + name).c_str(), {threads(), turns(size)}, Scope::Private)};
  }
  // Elements of an operand that a thread fetches for a chunk.
  int64_t turns(int64_t size) const { return chunk() * size / tile_.threads(); }

  // Depth and place of what a thread fetches in a turn.
  std::pair<Expr, Expr> fetched_at(const Operand& of, const Expr& turn) const {
    const Expr i = turn * constant_index(threads()) + thread_;
    const Expr along = constant_index(of.deep ? chunk() * slices_ : of.size);
    const Expr inner = floormod(i, along), outer = floordiv(i, along);
    return of.deep ? std::pair(inner, outer) : std::pair(outer, inner);
  }

  Stmt stage(const Operand& of) const {
    const Expr turn = variable("turn");
    const auto [depth, place] = fetched_at(of, turn);
    return loop("turn", turns(of.size), store(of.staged, {depth, place}, load(of.fetched, {thread_, turn})),
                LoopKind::Unrolled);
  }

  // A thread's elements of the chunk numbered so; zeros beyond the operand.
  Stmt fetch(const Operand& of, const Expr& number) const {
    const Expr turn = variable("turn");
    const auto [depth, place] = fetched_at(of, turn);
    const int64_t step = chunk() * slices_;
    const Expr at = variable(of.block) * constant_index(of.size) + place, deep = number * constant_index(step) + depth;
    std::map<std::string, Expr> values;
    of.axis.place(at, &values);
    sums_.depth.place(deep, &values);
    Expr value = substitute(of.value, values), inside;
    const auto within = [&](const Expr& e, int64_t extent) {
      const Expr condition = e <= constant_index(extent - 1);
      inside = inside.defined() ? inside && condition : condition;
    };
    if (of.axis.extent() % of.size != 0) within(at, of.axis.extent());
    within(deep, sums_.depth.extent());
    value = select(inside, value, constant(sums_.sum->dtype, 0));
    return loop("turn", turns(of.size), store(of.fetched, {thread_, turn}, value), LoopKind::Unrolled);
  }

  // The sums of all slices to the first's, in halves: those of the second half are handed over in shared memory.
  void join_slices(const BufferRef& sums, std::vector<Stmt>* steps) const {
    const Expr row = variable("row"), column = variable("column");
    const int64_t elements = tile_.thread_rows * tile_.thread_columns;
    const BufferRef parts = buffer("parts", {slices_ / 2, elements, tile_.threads()}, Scope::Shared);
    steps->push_back(alloc(parts));
    for (int64_t half = slices_ / 2; half >= 1; half /= 2) {
      const Expr element = row * constant_index(tile_.thread_columns) + column,
                 sum = load(sums, {thread_, row, column});
      const Expr giver = slice() - constant_index(half), is_second = constant_index(half) <= slice();
      steps->push_back(all(if_then(is_second && slice() <= constant_index(2 * half - 1),
                                   each(store(parts, {giver, element, thread_in_slice()}, sum)))));
      steps->push_back(all(if_then(
          slice() <= constant_index(half - 1),
          each(store(sums, {thread_, row, column}, sum + load(parts, {slice(), element, thread_in_slice()}))))));
    }
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
  const int64_t slices_;
  const MatrixFactors factors_;
  const bool matrix_unit_;
  const Op rounds_;
  const Expr thread_ = variable("thread");
};

// The most that an integer made of bytes is away from 0; none where it may be anything.
std::optional<int64_t> most_of_bytes(const Expr& e) {
  if (e->op == Op::Cast && is_byte(e->args[0]->dtype)) return e->args[0]->dtype == DType::Int8 ? 128 : 255;
  if (e->op == Op::Constant && is_integer(e->dtype)) return std::abs(e->i);
  const bool either = e->op == Op::Select, both = e->op == Op::Add || e->op == Op::Sub;
  if (!either && !both) return std::nullopt;
  const auto a = most_of_bytes(e->args[either ? 1 : 0]), b = most_of_bytes(e->args[either ? 2 : 1]);
  if (!a || !b) return std::nullopt;
  return either ? std::max(*a, *b) : *a + *b;
}

bool holds_halves(const Expr& e, const std::set<std::string>& exact, DType element) {
  if (e->op == Op::Load) return exact.count(e->buffer->name) != 0;
  if (e->op == Op::Select) return holds_halves(e->args[1], exact, element) && holds_halves(e->args[2], exact, element);
  return e->op == rounding_to(element) || (e->op == Op::Constant && e->f == 0);
}

}  // namespace

MatrixFactors short_factors(const ProductSums& sums, const std::set<std::string>& exact, DType element) {
  if (sums.sum->dtype == DType::Float32) {
    const bool halves = holds_halves(sums.left, exact, element) && holds_halves(sums.right, exact, element);
    return halves ? MatrixFactors::Halves : MatrixFactors::None;
  }
  constexpr int64_t kMostFactor = int64_t{1} << 11, kMostSum = int64_t{1} << 24;  // that TF32 and float32 hold exactly
  const auto left = most_of_bytes(sums.left), right = most_of_bytes(sums.right);
  const bool fit =
      left && right && *left <= kMostFactor && *right <= kMostFactor && *left * *right * kMatrixDepth <= kMostSum;
  return fit && sums.sum->dtype == DType::Int32 ? MatrixFactors::Integers : MatrixFactors::None;
}

// Several slices have few steps each, so that an index may not divide by the taps at every one of them: where a chunk of all slices fits into the
// channels, which come first, the taps come to be outermost, and most chunks have one tap.
void order_depth(int64_t slices, ProductSums* sums) {
  auto& loops = sums->depth.loops;
  if (slices > 1 && loops.size() > 1 && loops.front().second % (slices * kSlicedChunk) == 0)
    std::rotate(loops.begin(), loops.begin() + 1, loops.end());
}

int64_t gpu_slices(const ProductSums& sums, const GpuBlock& block) {
  int64_t slices = 1;
  while (fits(std::end(kTiles)[-1], 2 * slices, block) && sums.outer.extent() * 2 * slices <= kBusySums &&
         sums.depth.extent() >= 4 * slices * kSlicedChunk)
    slices *= 2;
  return slices;
}

GpuTile choose_gpu_tile(const ProductSums& sums, int64_t slices, const GpuBlock& block,
                        const ScheduleParameters& asked) {
  const auto found = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const GpuTile& tile) {
    return tile.rows == asked.across && tile.columns == asked.tile && fits(tile, slices, block);
  });
  if (found != std::end(kTiles)) return *found;
  std::optional<GpuTile> best;
  double least = 0;
  for (const GpuTile& tile : kTiles) {
    const int64_t n = sums.tasks.extent() * sums.rows.blocks(tile.rows) * sums.columns.blocks(tile.columns);
    const int64_t turns = (n + kProcessors - 1) / kProcessors;
    const double time = static_cast<double>(turns * tile.rows * tile.columns) / tile.share;
    if (!fits(tile, slices, block) || (best && time >= least)) continue;
    best = tile;
    least = time;
  }
  return *best;
}

Stmt tiled_sums(const ProductSums& sums, const GpuTile& tile, int64_t slices, MatrixFactors factors, DType element) {
  return TiledSums(sums, tile, slices, factors, element).run();
}

}  // namespace dnn::codegen
