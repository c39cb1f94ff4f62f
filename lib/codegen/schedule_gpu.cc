// GPU schedules: sums of products as tiles that a block's threads compute together, what they read being staged in shared memory; all else
// one thread per element.
//
// A tile is the one of blocked matrix products (as NVIDIA's CUTLASS describes it): rows and columns of threads, each with a register tile
// of its own, go through the depth in chunks, which all of them fetch first. A convolution is such a product, too, whose columns are positions and
// whose depth is channels and taps: what is staged is not a piece of memory but the value of an operand, padding included (the implicit
// product of Chetlur et al., cuDNN, 2014). Each sum is taken from the first product on, so that no rounding changes.
#include <algorithm>

#include "codegen/gpu_tiles.h"
#include "codegen/guards.h"
#include "codegen/schedule.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Elements that tiles are of: the sums of float networks and of quantised ones.
constexpr DType kTileElements[] = {DType::Float32, DType::Int32};
// Below, tiles would be mostly empty.
constexpr int64_t kLeast = 16, kLeastDepth = 8;

// Threads that share few long sums: so many sums side by side, where neighbours in memory belong to neighbouring sums and where to one.
constexpr int64_t kSliceThreads = 256, kWideSide = 32, kNarrowSide = 8;
// Sums that are long, and that are few.
constexpr int64_t kLeastSliced = 128, kMostSliced = 32768;

bool fills_tiles(const ProductSums& sums) {
  return sums.rows.extent() >= kLeast && sums.columns.extent() >= kLeast && sums.depth.extent() >= kLeastDepth;
}

// Few long sums, as of a classifier of one image, would leave most of a GPU idle.
bool fills_slices(const ProductSums& sums) {
  return sums.depth.extent() >= kLeastSliced && sums.outer.extent() <= kMostSliced && !sums.columns.loops.empty();
}

// Constants lie in memory as threads read them: side by side what is side by side along the axis.
Expr pack_operand(Kernel* kernel, const std::set<const Buffer*>& packable, const Expr& operand,
                  const ProductAxis& axis) {
  const std::vector<Access> all = accesses(kernel->body);
  return rewrite(operand, [&](const Expr& e) {
    if (e->op != Op::Load || packable.count(e->buffer.get()) == 0 || !e->buffer->layout.row_major()) return e;
    const auto reads_it = [&](const Access& a) { return a.buffer == e->buffer; };
    if (std::count_if(all.begin(), all.end(), reads_it) != 1) return e;
    std::vector<int> order, last;
    for (size_t i = 0; i < e->args.size(); ++i) (axis.in(e->args[i]) ? last : order).push_back(static_cast<int>(i));
    order.insert(order.end(), last.begin(), last.end());
    if (std::is_sorted(order.begin(), order.end())) return e;
    auto other = std::make_shared<Buffer>(*e->buffer);
    other->layout.order(order);
    std::replace(kernel->arguments.begin(), kernel->arguments.end(), e->buffer, BufferRef(other));
    return load(other, e->args);
  });
}

// Each sum by several threads, which take turns along the depth, and then one that adds theirs up. Neighbours among threads read
// neighbours in memory.
Stmt sliced(const ProductSums& sums) {
  const bool is_deep = sums.deep(sums.right, sums.columns);
  const int64_t outputs = is_deep ? kNarrowSide : kWideSide, slices = kSliceThreads / outputs;
  const Expr thread = variable("thread");
  const Expr output = is_deep ? floordiv(thread, constant_index(slices)) : floormod(thread, constant_index(outputs));
  const Expr slice = is_deep ? floormod(thread, constant_index(slices)) : floordiv(thread, constant_index(outputs));
  const auto shared =
      std::make_shared<const Buffer>(Buffer{"parts", sums.sum->dtype, {slices, outputs}, {}, Scope::Shared});
  const auto at_output = [&](const Expr& o) { return variable("output_block") * constant_index(outputs) + o; };

  std::map<std::string, Expr> values;
  const Expr depth = variable("chunk") * constant_index(slices) + slice;
  sums.outer.place(at_output(output), &values);
  sums.depth.place(depth, &values);
  const BufferRef part = local_buffer("part", sums.sum->dtype);
  Stmt add = store(part, {}, load(part, {}) + substitute(sums.left * sums.right, values));
  add = loop("chunk", sums.depth.blocks(slices), if_within(depth, sums.depth.extent(), slices, std::move(add)));
  const Stmt parts = loops::block({alloc(part), store(part, {}, constant(sums.sum->dtype, 0)),
                                   if_within(at_output(output), sums.outer.extent(), outputs, std::move(add)),
                                   store(shared, {slice, output}, load(part, {}))});

  sums.outer.place(at_output(thread), &values);
  std::vector<Stmt> ending = {
      alloc(sums.sum), store(sums.sum, {}, sums.start),
      loop("slice", slices, store(sums.sum, {}, load(sums.sum, {}) + load(shared, {variable("slice"), thread})))};
  for (const Stmt& s : sums.rest) ending.push_back(substitute(s, values));
  const Stmt whole =
      if_then(thread <= constant_index(outputs - 1),
              if_within(at_output(thread), sums.outer.extent(), outputs, loops::block(std::move(ending))));
  const auto all = [&](Stmt body) { return loop("thread", kSliceThreads, std::move(body), LoopKind::Threads); };
  return loop("output_block", sums.outer.blocks(outputs), loops::block({alloc(shared), all(parts), all(whole)}),
              LoopKind::Parallel);
}

MatrixFactors matrix_factors(const ProductSums& sums, const ScheduleOptions& options) {
  const Target& target = options.target;
  const MatrixFactors few = short_factors(sums, options.exact, target.element);
  if (few == MatrixFactors::Halves && target.multiplies_halves_exactly()) return few;
  if (few == MatrixFactors::Integers && target.multiplies_bytes_exactly()) return few;
  return is_float(sums.sum->dtype) && target.uses_matrix_unit() ? MatrixFactors::Split : MatrixFactors::None;
}

// The kernel in tiles or slices; none where it is no sum of products, or a small one.
std::optional<Kernel> by_blocks(Kernel kernel, const std::set<const Buffer*>& packable,
                                const ScheduleOptions& options) {
  kernel.body = simplify(drop_guards(kernel.body));
  std::optional<ProductSums> sums;
  for (const DType element : kTileElements) {
    if (!sums) sums = find_product_sums(kernel.body, element);
  }
  if (!sums) return std::nullopt;
  const bool tiles = fills_tiles(*sums), is_real = is_float(sums->sum->dtype);
  const bool any_order = options.target.level->reassociate || !is_real;
  if (!tiles && !(any_order && fills_slices(*sums))) return std::nullopt;
  const int64_t slices = tiles && any_order ? gpu_slices(*sums, options.target.isa->block) : 1;
  if (tiles) sums->left = pack_operand(&kernel, packable, sums->left, sums->rows);
  sums->right = pack_operand(&kernel, packable, sums->right, sums->columns);
  order_depth(slices, &*sums);
  kernel.body = tiles ? tiled_sums(*sums, choose_gpu_tile(*sums, slices, options.target.isa->block, options.parameters),
                                   slices, matrix_factors(*sums, options), options.target.element)
                      : sliced(*sums);
  if (options.target.level->contract && !kernel.exact) kernel.body = contract_fma(kernel.body);
  kernel.body = simplify(kernel.body);
  return kernel;
}

}  // namespace

Kernel schedule_gpu(const Kernel& kernel, const std::set<const Buffer*>& packable, const ScheduleOptions& options) {
  if (std::optional<Kernel> blocks = by_blocks(kernel, packable, options)) return *blocks;
  return schedule_cpu(kernel, packable, options);
}

}  // namespace dnn::codegen
