// GPU schedules: sums of products as tiles that a block's threads compute together, what they read being staged in shared memory; all else
// one thread per element.
//
// A tile is the one of blocked matrix products (as NVIDIA's CUTLASS describes it): rows and columns of threads, each with a register tile
// of its own, go through the depth in chunks, which all of them fetch first. A convolution is such a product, too, whose columns are positions and
// whose depth is channels and taps: what is staged is not a piece of memory but the value of an operand, padding included (the implicit
// product of Chetlur et al., cuDNN, 2014). Each sum is taken from the first product on, so that no rounding changes.
#include <algorithm>

#include "codegen/guards.h"
#include "codegen/matrix_products.h"
#include "codegen/schedule.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// A tile of one block, and of one of its threads.
struct Tile {
  int64_t rows, columns;
  int64_t thread_rows, thread_columns;  // multiples of kQuad
  double share;                         // of the processor's multiply-adds that it is taken to reach: an estimate

  int64_t across() const { return columns / thread_columns; }
  int64_t threads() const { return rows / thread_rows * across(); }
};
constexpr Tile kTiles[] = {{128, 128, 8, 8, 1.0}, {64, 128, 4, 8, 0.9}, {128, 64, 8, 4, 0.9}, {64, 64, 4, 4, 0.75},
                           {32, 64, 4, 4, 0.6},   {64, 32, 4, 4, 0.6},  {32, 32, 4, 4, 0.5}};
static_assert(std::all_of(std::begin(kTiles), std::end(kTiles), [](const Tile& tile) {
  return tile.rows % (tile.thread_rows * kWarpDown) == 0 && tile.columns % (tile.thread_columns * kWarpAcross) == 0;
}));  // whole warps
// Elements that a thread has side by side: as many as a vector load brings.
constexpr int64_t kQuad = 4;
constexpr DType kTileElement = DType::Float32;
// Of the depth, at once; what is added to a staged row that is written across, so that at most two threads of a warp write to a bank; and to
// one whose elements a warp's matrix products read, 8 side by side of each of 4 rows, all from different banks (four write to one).
constexpr int64_t kChunk = 16, kSkew = 4, kMatrixSkew = 8;
// Multiprocessors that tiles are to keep busy: an A100 has 108, an H100 132.
constexpr int64_t kProcessors = 128;
// Below, tiles would be mostly empty.
constexpr int64_t kLeast = 16, kLeastDepth = 8;

// Threads that share few long sums: so many sums side by side, where neighbours in memory belong to neighbouring sums and where to one.
constexpr int64_t kSliceThreads = 256, kWideSide = 32, kNarrowSide = 8;
// Sums that are long, and that are few.
constexpr int64_t kLeastSliced = 128, kMostSliced = 32768;

// Loops that are one axis of the product, outermost first.
struct Axis {
  std::vector<std::pair<std::string, int64_t>> loops;  // name, extent

  int64_t extent() const {
    int64_t n = 1;
    for (const auto& [name, extent] : loops) n *= extent;
    return n;
  }
  bool in(const Expr& e) const {
    return std::any_of(loops.begin(), loops.end(), [&](const auto& l) { return uses_variable(e, l.first); });
  }
  // What each loop's variable is at place `at` of the axis: remainders as differences, which vanish where memory goes as the axis does.
  void place(const Expr& at, std::map<std::string, Expr>* values) const {
    Expr above;
    int64_t inner = extent();
    for (const auto& [name, extent] : loops) {
      inner /= extent;
      const Expr turn = floordiv(at, constant_int(DType::Int64, inner));
      (*values)[name] = above.defined() ? turn - above * constant_int(DType::Int64, extent) : turn;
      above = turn;
    }
  }
};

class GpuSchedule {
 public:
  GpuSchedule(const Kernel& kernel, const std::set<const Buffer*>& packable, const ScheduleOptions& options)
      : kernel_(kernel), packable_(packable), options_(options) {}

  // The kernel in tiles; none where it is no sum of products, or a small one.
  std::optional<Kernel> run() {
    kernel_.body = simplify(drop_guards(kernel_.body));
    if (!recognise() || !divide()) return std::nullopt;
    if (tiles()) {
      pack(&left_, rows_);
      pack(&right_, columns_);
      choose_tile();
      kernel_.body = tiled();
    } else if (slices()) {
      pack(&right_, columns_);
      kernel_.body = sliced();
    } else {
      return std::nullopt;
    }
    if (options_.target.level->contract) kernel_.body = contract_fma(kernel_.body);
    kernel_.body = simplify(kernel_.body);
    return kernel_;
  }

 private:
  // for ..: { local sum; sum = start; for ..: sum = sum + left * right; rest }
  bool recognise() {
    Stmt s = kernel_.body;
    for (; s->kind == StmtKind::For; s = s->children[0]) outer_.loops.emplace_back(s->variable, s->extent);
    if (s->kind != StmtKind::Block || s->children.size() < 4) return false;
    const Stmt &local = s->children[0], &start = s->children[1];
    Stmt sum = s->children[2];
    if (local->kind != StmtKind::Alloc || !local->buffer->shape.empty() || start->kind != StmtKind::Store ||
        start->buffer != local->buffer)
      return false;
    for (; sum->kind == StmtKind::For; sum = sum->children[0]) depth_.loops.emplace_back(sum->variable, sum->extent);
    sum_ = local->buffer;
    if (sum->kind != StmtKind::Store || sum->buffer != sum_ || sum->value->op != Op::Add || sum_->dtype != kTileElement)
      return false;
    const Expr &before = sum->value->args[0], &product = sum->value->args[1];
    if (before->op != Op::Load || before->buffer != sum_ || product->op != Op::Mul) return false;
    start_ = start->value;
    left_ = product->args[0];
    right_ = product->args[1];
    rest_.assign(s->children.begin() + 3, s->children.end());
    return std::all_of(rest_.begin(), rest_.end(),
                       [](const Stmt& r) { return r->kind == StmtKind::Alloc || r->kind == StmtKind::Store; });
  }

  // Columns are what the innermost loop is of, as neighbours in the result; what both operands depend on, or none, are tasks.
  bool divide() {
    if (outer_.loops.empty()) return false;
    Axis last;
    last.loops = {outer_.loops.back()};
    if (last.in(left_)) std::swap(left_, right_);
    for (const auto& l : outer_.loops) {
      const bool in_left = uses_variable(left_, l.first), in_right = uses_variable(right_, l.first);
      (in_left == in_right ? tasks_ : in_left ? rows_ : columns_).loops.push_back(l);
    }
    return !reads_sum(start_) && !outer_.in(start_);
  }

  bool tiles() const {
    return rows_.extent() >= kLeast && columns_.extent() >= kLeast && depth_.extent() >= kLeastDepth;
  }

  // Few long sums, as of a classifier of one image, would leave most of a GPU idle.
  bool slices() const {
    return options_.target.level->reassociate && depth_.extent() >= kLeastSliced && outer_.extent() <= kMostSliced &&
           !columns_.loops.empty();
  }

  bool reads_sum(const Expr& e) const {
    return (e->op == Op::Load && e->buffer == sum_) ||
           std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return reads_sum(a); });
  }

  // Constants lie in memory as threads read them: side by side what is side by side along the axis.
  void pack(Expr* operand, const Axis& axis) {
    const std::vector<Access> all = accesses(kernel_.body);
    *operand = rewrite(*operand, [&](const Expr& e) {
      if (e->op != Op::Load || packable_.count(e->buffer.get()) == 0 || !e->buffer->layout.row_major()) return e;
      const auto reads_it = [&](const Access& a) { return a.buffer == e->buffer; };
      if (std::count_if(all.begin(), all.end(), reads_it) != 1) return e;
      std::vector<int> order, last;
      for (size_t i = 0; i < e->args.size(); ++i) (axis.in(e->args[i]) ? last : order).push_back(static_cast<int>(i));
      order.insert(order.end(), last.begin(), last.end());
      if (std::is_sorted(order.begin(), order.end())) return e;
      auto other = std::make_shared<Buffer>(*e->buffer);
      other->layout.order(order);
      std::replace(kernel_.arguments.begin(), kernel_.arguments.end(), e->buffer, BufferRef(other));
      return load(other, e->args);
    });
  }

  // The one whose rows and columns were asked for, or that of the least time by the tiles that each multiprocessor goes through.
  void choose_tile() {
    const ScheduleParameters& asked = options_.parameters;
    const auto found = std::find_if(std::begin(kTiles), std::end(kTiles), [&](const Tile& tile) {
      return tile.rows == asked.across && tile.columns == asked.tile;
    });
    if (found != std::end(kTiles)) {
      tile_ = *found;
      return;
    }
    double least = 0;
    for (const Tile& tile : kTiles) {
      const int64_t n = tasks_.extent() * blocks(rows_, tile.rows) * blocks(columns_, tile.columns);
      const int64_t turns = (n + kProcessors - 1) / kProcessors;
      const double time = static_cast<double>(turns * tile.rows * tile.columns) / tile.share;
      if (&tile != kTiles && time >= least) continue;
      tile_ = tile;
      least = time;
    }
  }

  static int64_t blocks(const Axis& axis, int64_t size) { return (axis.extent() + size - 1) / size; }

  // Whether the operand's neighbours in memory are neighbours in the depth and not along the axis.
  bool deep(const Expr& operand, const Axis& axis) const {
    if (operand->op != Op::Load)
      return std::any_of(operand->args.begin(), operand->args.end(), [&](const Expr& a) { return deep(a, axis); });
    Ranges ranges;
    for (const Axis* a : {&outer_, &depth_}) {
      for (const auto& [name, extent] : a->loops) ranges[name] = {0, extent - 1};
    }
    const Expr offset = simplify(flat_offset(*operand->buffer, operand->args), ranges);
    const auto beside = [&](const Axis& a) {
      int64_t step = 0;
      return linear_coefficient(offset, a.loops.back().first, ranges, &step) && step == 1;
    };
    return beside(depth_) && !beside(axis);
  }

  // All threads: a chunk of the operand, [kChunk, size] of it, to shared memory.
  Stmt stage(const Expr& operand, const Axis& axis, const std::string& block, int64_t size, const BufferRef& to,
             bool is_deep) const {
    const int64_t threads = tile_.threads();
    const Expr i = variable("turn") * constant_index(threads) + variable("thread");
    const Expr depth = is_deep ? floormod(i, constant_index(kChunk)) : floordiv(i, constant_index(size));
    const Expr place = is_deep ? floordiv(i, constant_index(kChunk)) : floormod(i, constant_index(size));
    const Expr at = variable(block) * constant_index(size) + place,
               deep = variable("chunk") * constant_index(kChunk) + depth;
    std::map<std::string, Expr> values;
    axis.place(at, &values);
    depth_.place(deep, &values);
    Expr value = substitute(operand, values), inside;
    const auto within = [&](const Expr& e, int64_t extent, int64_t multiple) {
      if (extent % multiple == 0) return;
      const Expr condition = e <= constant_index(extent - 1);
      inside = inside.defined() ? inside && condition : condition;
    };
    within(at, axis.extent(), size);
    within(deep, depth_.extent(), kChunk);
    if (inside.defined()) value = select(inside, value, constant(sum_->dtype, 0));
    return loop("turn", kChunk * size / threads, store(to, {depth, place}, value), LoopKind::Unrolled);
  }

  // Of a thread's elements along an axis the i-th: kQuad side by side, the next ones as many further on as the other threads have.
  static Expr element(const Expr& thread, const Expr& i, int64_t each, int64_t threads) {
    if (each == kQuad) return thread * constant_index(kQuad) + i;
    return floordiv(i, constant_index(kQuad)) * constant_index(kQuad * threads) + thread * constant_index(kQuad) +
           floormod(i, constant_index(kQuad));
  }

  // Where in the block's tile a thread's elements are.
  std::pair<Expr, Expr> in_tile(const Expr& thread, const Expr& row, const Expr& column) const {
    const int64_t across = tile_.across(), down = tile_.threads() / across;
    if (!options_.target.uses_matrix_unit()) {
      return {element(floordiv(thread, constant_index(across)), row, tile_.thread_rows, down),
              element(floormod(thread, constant_index(across)), column, tile_.thread_columns, across)};
    }
    const int64_t warp_rows = tile_.thread_rows * kWarpDown, warp_columns = tile_.thread_columns * kWarpAcross;
    const int64_t warps_across = tile_.columns / warp_columns;
    const Expr warp = floordiv(thread, constant_index(kWarp)), lane = floormod(thread, constant_index(kWarp));
    return {floordiv(warp, constant_index(warps_across)) * constant_index(warp_rows) + matrix_row(lane, row),
            floormod(warp, constant_index(warps_across)) * constant_index(warp_columns) + matrix_column(lane, column)};
  }

  Stmt tiled() const {
    const int64_t threads = tile_.threads();
    const Expr thread = variable("thread"), row = variable("row"), column = variable("column");
    const auto [in_row, in_column] = in_tile(thread, row, column);
    const auto buffer = [&](const char* name, Shape shape, Scope scope) {
      return std::make_shared<const Buffer>(Buffer{name, sum_->dtype, std::move(shape), {}, scope});
    };
    const bool left_deep = deep(left_, rows_), right_deep = deep(right_, columns_);
    const auto skew = [&](bool is_deep) {
      return options_.target.uses_matrix_unit() ? kMatrixSkew : is_deep ? kSkew : 0;
    };
    const BufferRef left = buffer("left", {kChunk, tile_.rows + skew(left_deep)}, Scope::Shared);
    const BufferRef right = buffer("right", {kChunk, tile_.columns + skew(right_deep)}, Scope::Shared);
    const BufferRef sums = buffer("sums", {threads, tile_.thread_rows, tile_.thread_columns}, Scope::Private);
    const auto each = [&](Stmt body) {  // of a thread's elements
      return loop("row", tile_.thread_rows, loop("column", tile_.thread_columns, std::move(body), LoopKind::Unrolled),
                  LoopKind::Unrolled);
    };
    const auto all = [&](Stmt body) { return loop("thread", threads, std::move(body), LoopKind::Threads); };
    const Expr sum = load(sums, {thread, row, column});

    const Stmt fetch = all(loops::block({stage(left_, rows_, "row_block", tile_.rows, left, left_deep),
                                         stage(right_, columns_, "column_block", tile_.columns, right, right_deep)}));
    const Expr depth = variable("depth");
    const Stmt multiply = all(loop(
        "depth", kChunk,
        each(store(sums, {thread, row, column}, sum + load(left, {depth, in_row}) * load(right, {depth, in_column}))),
        options_.target.uses_matrix_unit() ? LoopKind::Matrix : LoopKind::Serial));
    const Expr row_at = variable("row_block") * constant_index(tile_.rows) + in_row,
               column_at = variable("column_block") * constant_index(tile_.columns) + in_column;
    Stmt body = loops::block(
        {alloc(left), alloc(right), alloc(sums), all(each(store(sums, {thread, row, column}, start_))),
         loop("chunk", blocks(depth_, kChunk), loops::block({fetch, multiply})), all(finish(sum, row_at, column_at))});
    body = loop("row_block", blocks(rows_, tile_.rows),
                loop("column_block", blocks(columns_, tile_.columns), std::move(body), LoopKind::Parallel),
                LoopKind::Parallel);
    for (auto l = tasks_.loops.rbegin(); l != tasks_.loops.rend(); ++l)
      body = loop(l->first, l->second, std::move(body), LoopKind::Parallel);
    return body;
  }

  // Each sum by several threads, which take turns along the depth, and then one that adds theirs up. Neighbours among threads read
  // neighbours in memory.
  Stmt sliced() const {
    const bool is_deep = deep(right_, columns_);
    const int64_t outputs = is_deep ? kNarrowSide : kWideSide, slices = kSliceThreads / outputs;
    const Expr thread = variable("thread");
    const Expr output = is_deep ? floordiv(thread, constant_index(slices)) : floormod(thread, constant_index(outputs));
    const Expr slice = is_deep ? floormod(thread, constant_index(slices)) : floordiv(thread, constant_index(outputs));
    const auto shared =
        std::make_shared<const Buffer>(Buffer{"parts", sum_->dtype, {slices, outputs}, {}, Scope::Shared});
    const auto at_output = [&](const Expr& o) { return variable("output_block") * constant_index(outputs) + o; };
    const auto within = [&](const Expr& e, int64_t extent, int64_t multiple, Stmt body) {
      return extent % multiple == 0 ? body : if_then(e <= constant_index(extent - 1), std::move(body));
    };

    std::map<std::string, Expr> values;
    const Expr depth = variable("chunk") * constant_index(slices) + slice;
    outer_.place(at_output(output), &values);
    depth_.place(depth, &values);
    const BufferRef part = local_buffer("part", sum_->dtype);
    Stmt add = store(part, {}, load(part, {}) + substitute(left_ * right_, values));
    add = loop("chunk", blocks(depth_, slices), within(depth, depth_.extent(), slices, std::move(add)));
    const Stmt parts = loops::block({alloc(part), store(part, {}, constant(sum_->dtype, 0)),
                                     within(at_output(output), outer_.extent(), outputs, std::move(add)),
                                     store(shared, {slice, output}, load(part, {}))});

    outer_.place(at_output(thread), &values);
    std::vector<Stmt> ending = {
        alloc(sum_), store(sum_, {}, start_),
        loop("slice", slices, store(sum_, {}, load(sum_, {}) + load(shared, {variable("slice"), thread})))};
    for (const Stmt& s : rest_) ending.push_back(substitute(s, values));
    const Stmt whole = if_then(thread <= constant_index(outputs - 1),
                               within(at_output(thread), outer_.extent(), outputs, loops::block(std::move(ending))));
    const auto all = [&](Stmt body) { return loop("thread", kSliceThreads, std::move(body), LoopKind::Threads); };
    return loop("output_block", blocks(outer_, outputs), loops::block({alloc(shared), all(parts), all(whole)}),
                LoopKind::Parallel);
  }

  // What follows a sum, for each element of a thread's tile that the result has. Its locals are as many as these.
  Stmt finish(const Expr& sum, const Expr& row_at, const Expr& column_at) const {
    std::map<std::string, Expr> values;
    rows_.place(row_at, &values);
    columns_.place(column_at, &values);
    std::map<const Buffer*, BufferRef> own;
    std::vector<Stmt> locals, rest;
    const Expr row = variable("row"), column = variable("column");
    const auto at = [&](const std::vector<Expr>& indices) {
      std::vector<Expr> longer = {row, column};
      longer.insert(longer.end(), indices.begin(), indices.end());
      return longer;
    };
    for (const Stmt& s : rest_) {
      if (s->kind == StmtKind::Alloc) {
        Shape shape = {tile_.thread_rows, tile_.thread_columns};
        shape.insert(shape.end(), s->buffer->shape.begin(), s->buffer->shape.end());
        own[s->buffer.get()] = local_buffer(s->buffer->name, s->buffer->dtype, shape);
        locals.push_back(alloc(own.at(s->buffer.get())));
        continue;
      }
      const Stmt placed = rewrite_expressions(substitute(s, values), [&](const Expr& e) {
        if (e->op != Op::Load) return e;
        if (e->buffer == sum_) return sum;
        const auto found = own.find(e->buffer.get());
        return found == own.end() ? e : load(found->second, at(e->args));
      });
      const auto found = s->kind == StmtKind::Store ? own.find(s->buffer.get()) : own.end();
      rest.push_back(found == own.end() ? placed : store(found->second, at(placed->indices), placed->value));
    }
    Stmt body = loops::block(std::move(rest));
    const auto within = [&](const Expr& e, int64_t extent, int64_t multiple) {
      if (extent % multiple != 0) body = if_then(e <= constant_index(extent - 1), body);
    };
    within(column_at, columns_.extent(), tile_.columns);
    within(row_at, rows_.extent(), tile_.rows);
    locals.push_back(loop("row", tile_.thread_rows,
                          loop("column", tile_.thread_columns, std::move(body), LoopKind::Unrolled),
                          LoopKind::Unrolled));
    return loops::block(std::move(locals));
  }

  Kernel kernel_;
  const std::set<const Buffer*>& packable_;
  const ScheduleOptions& options_;
  Axis outer_, tasks_, rows_, columns_, depth_;
  BufferRef sum_;
  Expr start_, left_, right_;
  std::vector<Stmt> rest_;
  Tile tile_ = kTiles[0];
};

}  // namespace

Kernel schedule_gpu(const Kernel& kernel, const std::set<const Buffer*>& packable, const ScheduleOptions& options) {
  if (std::optional<Kernel> tiled = GpuSchedule(kernel, packable, options).run()) return *tiled;
  return schedule_cpu(kernel, packable, options);
}

}  // namespace dnn::codegen
