// Schedules of gradients; see schedule_gradients.h.
//
// The weight gradient of a convolution (roles: m its output channels, c its input channels, k0.. taps, n and o0.. what is summed
// over): 16 of m in a vector of dy, times broadcasts of x, one for each of a tile of c, into accumulators in registers. These are of a
// few rows of one image, and are added to sums in the task's own memory: those of 16 of m with as many of c as stay near. So x and dy
// are read once for many taps, and the sums' order hangs on no thread.
//
// Depthwise (g channels, no m and no c): 16 channels in vectors of both, taps in registers.
#include "codegen/schedule_gradients.h"

#include <algorithm>
#include <set>

#include "codegen/guards.h"
#include "codegen/inner_loops.h"
#include "codegen/narrow_vectors.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

constexpr int64_t kGradientLanes = 16;  // of a block of channels
// Positions that accumulators are worth filling for, and bytes of sums that a task keeps.
constexpr int64_t kPositions = 48, kSumBytes = int64_t{48} << 10;

int64_t largest_divisor(int64_t n, int64_t most) {
  int64_t best = 1;
  for (int64_t d = 2; d <= std::min(n, most); ++d) best = n % d == 0 ? d : best;
  return best;
}

// { local sum; sum = 0; for ..: sum = sum + term;  after.. } in a nest, taken apart.
struct Sums {
  BufferRef sum;
  Expr term;
  std::vector<Stmt> after;
};

bool take_apart(const Stmt& body, Sums* sums) {
  Stmt inner = body;
  while (inner->kind == StmtKind::For) inner = inner->children[0];
  if (inner->kind != StmtKind::Block || inner->children.size() < 4 || inner->children[0]->kind != StmtKind::Alloc)
    return false;
  sums->sum = inner->children[0]->buffer;
  Stmt add = inner->children[2];
  while (add->kind == StmtKind::For) add = add->children[0];
  if (add->kind != StmtKind::Store || add->buffer != sums->sum || add->value->op != Op::Add) return false;
  sums->term = add->value->args[1];
  sums->after.assign(inner->children.begin() + 3, inner->children.end());
  return true;
}

// True where a kernel copies into a layout of blocks along several axes, as weights lie in.
bool packs(const Kernel& kernel) {
  if (kernel.pattern != "map") return false;
  Stmt inner = kernel.body;
  while (inner->kind == StmtKind::For) inner = inner->children[0];
  if (inner->kind != StmtKind::Store || inner->value->op != Op::Load) return false;
  int blocked = 0;
  for (size_t axis = 0; axis < inner->buffer->shape.size(); ++axis)
    blocked += inner->buffer->layout.block_of(static_cast<int>(axis)) > 1 ? 1 : 0;
  return blocked > 1 && !inner->buffer->layout.has_halo() && inner->value->buffer->layout.row_major();
}

// In the order of what is written: reads go on within some rows that stay in the L1 cache.
Stmt in_order_of_writes(const Stmt& nest) {
  Stmt inner = nest;
  while (inner->kind == StmtKind::For) inner = inner->children[0];
  const Buffer& y = *inner->buffer;
  Stmt body = nest;
  std::vector<std::string> order;
  for (const LayoutDim& dim : y.layout.dims(y.shape)) {
    const int64_t width = y.layout.block_of(dim.axis), all = y.shape[dim.axis];
    const std::string d = cat("d", dim.axis);
    if (width == 1) {
      if (loop_extent(body, d) > 0) order.push_back(d);
      continue;
    }
    if (all % width != 0) return nest;
    if (dim.outermost && all > width) {
      body = split(body, d, width);
      order.push_back(d + "_o");
    } else if (!dim.outermost) {
      order.push_back(all > width ? d + "_i" : d);
    }
  }
  return reorder(body, order);
}

// Sizes of the loops that sum up dense weights' gradients.
struct DenseTiles {
  int64_t unit_blocks = 1;  // of kGradientLanes of m
  int64_t width = 1;        // channels of a block of c
  int64_t blocks = 1;       // of c
  int64_t tile = 1;         // channels of c in registers
  std::string side;         // the taps whose neighbours are in registers, too; or ""
  int64_t across = 1;       // of these
  int64_t together = 1;     // blocks of c whose sums a task keeps
  int64_t rows = 1;         // that accumulators are kept for

  // The block of c at hand.
  Expr block() const { return variable("c_p") * together + variable("c_q"); }
};

class GradientSchedule {
 public:
  GradientSchedule(const Kernel& kernel, const ScheduleOptions& options)
      : kernel_(kernel), body_(simplify(drop_guards(kernel.body))), options_(options) {
    for (const BufferRef& b : kernel.arguments) dtype_ = b->dtype;
  }

  Kernel run() {
    if (kernel_.pattern == "map") {
      body_ = in_order_of_writes(body_);
    } else if (kernel_.pattern == "channels") {
      channels();
    } else if (!weights()) {
      body_ = vectorise_inner(body_, dtype_, lanes(), level().reassociate);
    }
    if (level().contract) body_ = contract_fma(body_);
    if (native_lanes() < kGradientLanes) body_ = narrow_vectors(body_, native_lanes());
    mark_parallel();
    kernel_.body = simplify(body_);
    return kernel_;
  }

 private:
  const Level& level() const { return *options_.target.level; }
  int64_t native_lanes() const { return options_.target.isa->lanes(dtype_); }
  int64_t bytes() const { return std::max<int64_t>(1, static_cast<int64_t>(dtype_size(dtype_))); }
  int64_t lanes() const { return std::min(kGradientLanes, 64 / bytes()); }
  int64_t extent(const std::string& v) const { return std::max<int64_t>(1, loop_extent(body_, v)); }
  int64_t vector_registers() const { return std::max<int64_t>(1, kGradientLanes / native_lanes()); }
  // Vectors of accumulators beside the operands of a product.
  int64_t accumulators() const {
    return std::max<int64_t>(1, options_.target.isa->vector_registers / vector_registers() - 2);
  }

  std::vector<std::string> axes(const std::string& name) const {
    std::vector<std::string> found;
    for (int i = 0; i < 3; ++i) {
      if (loop_extent(body_, cat(name, i)) > 1) found.push_back(cat(name, i));
    }
    return found;
  }

  // for v..: body, in that order, outermost first.
  Stmt around(const std::vector<std::string>& names, Stmt body) const {
    for (size_t i = names.size(); i-- > 0;) body = loop(names[i], extent(names[i]), std::move(body));
    return body;
  }

  static Stmt vector(const std::string& v, Stmt body) {
    return loop(v, kGradientLanes, std::move(body), LoopKind::Vector);
  }
  static Stmt unrolled(const std::string& v, int64_t n, Stmt body) {
    return loop(v, n, std::move(body), LoopKind::Unrolled);
  }

  // True where v runs along blocks of 16 of what `term` reads, in all that it indexes.
  bool in_blocks(const Expr& term, const std::string& v) const {
    bool good = true;
    rewrite(term, [&](const Expr& e) {
      for (size_t axis = 0; e->op == Op::Load && axis < e->args.size(); ++axis) {
        if (!uses_variable(e->args[axis], v)) continue;
        const Layout& layout = e->buffer->layout;
        good = good && layout.block_of(static_cast<int>(axis)) == kGradientLanes && e->args[axis]->op == Op::Variable;
      }
      return e;
    });
    return good;
  }

  // Rows of the plane that accumulators are kept for.
  int64_t rows_together() const {
    const int64_t rows = extent("o0"), columns = extent("o1") * extent("o2");
    for (int64_t h = 1; h < rows; ++h) {
      if (rows % h == 0 && h * columns >= kPositions) return h;
    }
    return rows;
  }

  // for the positions of these rows: body.
  Stmt over_rows(int64_t rows, Stmt body) const {
    const std::vector<std::string> positions = axes("o");
    for (size_t i = positions.size(); i-- > 0;)
      body = positions[i] == "o0" ? loop("o0_i", rows, std::move(body))
                                  : loop(positions[i], extent(positions[i]), std::move(body));
    return body;
  }

  bool weights() {
    Sums sums;
    if (!level().reassociate || dtype_ != DType::Float32 || native_lanes() < 4 || !take_apart(body_, &sums))
      return false;
    std::map<std::string, Expr> once;  // loops of one turn
    for (const char* v : {"n", "g", "m", "c", "k0", "k1", "k2", "o0", "o1", "o2"}) {
      if (loop_extent(body_, v) == 1) once[v] = constant_index(0);
    }
    sums.term = substitute(sums.term, once);
    for (Stmt& s : sums.after) s = substitute(s, once);
    const bool grouped = loop_extent(body_, "g") > 1;
    if (!grouped && extent("m") > 1 && in_blocks(sums.term, "m")) return dense(sums);
    if (grouped && extent("m") == 1 && extent("c") == 1 && in_blocks(sums.term, "g")) return depthwise(sums);
    return false;
  }

  // The store of what was summed at `at`, in loops over the taps.
  Stmt finished(const Sums& sums, const BufferRef& own, const std::vector<Expr>& at,
                const std::map<std::string, Expr>& place) const {
    const Stmt after = rewrite_expressions(block(sums.after), [&](const Expr& e) {
      return e->op == Op::Load && e->buffer == sums.sum ? load(own, at) : e;
    });
    return around(axes("k"), substitute(after, place));
  }

  DenseTiles dense_tiles(const Expr& term) const {
    const int64_t channels = extent("c");
    const std::vector<std::string> taps = axes("k");
    DenseTiles t;
    t.unit_blocks = (extent("m") + kGradientLanes - 1) / kGradientLanes;
    t.width = in_blocks(term, "c") && channels > 1 ? kGradientLanes : largest_divisor(channels, kGradientLanes);
    t.blocks = (channels + t.width - 1) / t.width;
    t.tile = largest_divisor(t.width, accumulators());
    // Few channels, as of an image: neighbouring taps in registers, too.
    if (!taps.empty() && t.tile == t.width && t.width * extent(taps.back()) <= accumulators()) {
      t.side = taps.back();
      t.across = extent(t.side);
    }
    int64_t all_taps = 1;
    for (const std::string& k : taps) all_taps *= extent(k);
    const int64_t block_bytes = all_taps * t.width * kGradientLanes * bytes();
    for (int64_t d = 1; d <= t.blocks; ++d) {
      if (t.blocks % d == 0 && d * block_bytes <= kSumBytes &&
          t.unit_blocks * (t.blocks / d) >= options_.target.processor->least_tasks)
        t.together = d;
    }
    t.rows = rows_together();
    return t;
  }

  // Indices of a task's sums: block of c, taps, channels of c and m.
  std::vector<Expr> dense_at(const Expr& c, const Expr& m) const {
    std::vector<Expr> at = {variable("c_q")};
    for (const std::string& k : axes("k")) at.push_back(variable(k));
    at.push_back(c);
    at.push_back(m);
    return at;
  }

  // Adds all products to a task's sums, by way of accumulators.
  Stmt dense_products(const DenseTiles& t, const Expr& term, const BufferRef& own) const {
    const BufferRef tile_sums = local_buffer("tile", dtype_, {t.tile, t.across, kGradientLanes});
    const Expr in_block = variable("c_t") * t.tile + variable("c_i");
    const std::map<std::string, Expr> place = {{"m", variable("m_o") * kGradientLanes + variable("m_i")},
                                               {"c", t.block() * t.width + in_block},
                                               {"o0", variable("o0_o") * t.rows + variable("o0_i")}};
    const std::vector<Expr> tile_at = {variable("c_i"), t.side.empty() ? constant_index(0) : variable(t.side),
                                       variable("m_i")};
    const auto in_tile = [&](Stmt body) {
      body = vector("m_i", std::move(body));
      if (!t.side.empty()) body = unrolled(t.side, t.across, std::move(body));
      return unrolled("c_i", t.tile, std::move(body));
    };
    Stmt add =
        over_rows(t.rows, in_tile(store(tile_sums, tile_at, load(tile_sums, tile_at) + substitute(term, place))));
    const std::vector<Expr> here = dense_at(in_block, variable("m_i"));
    Stmt body = block({alloc(tile_sums), in_tile(store(tile_sums, tile_at, constant(dtype_, 0))), std::move(add),
                       in_tile(store(own, here, load(own, here) + load(tile_sums, tile_at)))});
    body = loop("c_t", t.width / t.tile, std::move(body));
    std::vector<std::string> serial = axes("k");
    if (!t.side.empty()) serial.pop_back();
    body = loop("c_q", t.together, around(serial, std::move(body)));
    body = loop("o0_o", extent("o0") / t.rows, std::move(body));
    return around({"n"}, std::move(body));
  }

  // Stores a task's sums.
  Stmt dense_results(const DenseTiles& t, const Sums& sums, const BufferRef& own) const {
    const int64_t units = extent("m"), channels = extent("c");
    const Expr m = variable("m_o") * kGradientLanes + variable("m_f"), c = t.block() * t.width + variable("c_f");
    Stmt end = finished(sums, own, dense_at(variable("c_f"), variable("m_f")), {{"m", m}, {"c", c}});
    if (t.blocks * t.width > channels) end = if_then(c < constant_index(channels), std::move(end));
    end = loop("c_q", t.together, loop("c_f", t.width, std::move(end)));
    if (t.unit_blocks * kGradientLanes > units) end = if_then(m < constant_index(units), std::move(end));
    return loop("m_f", kGradientLanes, std::move(end));
  }

  bool dense(const Sums& sums) {
    const DenseTiles t = dense_tiles(sums.term);
    Shape shape = {t.together};
    for (const std::string& k : axes("k")) shape.push_back(extent(k));
    shape.push_back(t.width);
    shape.push_back(kGradientLanes);
    const BufferRef own = local_buffer("sums", dtype_, shape);
    const std::vector<Expr> at = dense_at(variable("c_z"), variable("m_z"));
    const Stmt clear = loop(
        "c_q", t.together, around(axes("k"), loop("c_z", t.width, vector("m_z", store(own, at, constant(dtype_, 0))))));
    Stmt body = block({alloc(own), clear, dense_products(t, sums.term, own), dense_results(t, sums, own)});
    body_ = loop("m_o", t.unit_blocks, loop("c_p", t.blocks / t.together, std::move(body)));
    return true;
  }

  bool depthwise(const Sums& sums) {
    const int64_t groups = extent("g"), blocks = (groups + kGradientLanes - 1) / kGradientLanes, rows = rows_together();
    const std::vector<std::string> taps = axes("k");
    std::vector<std::string> spelt = taps, serial;  // taps in registers, and outside of their loops
    const auto count = [&](const std::vector<std::string>& names) {
      int64_t n = 1;
      for (const std::string& k : names) n *= extent(k);
      return n;
    };
    while (!spelt.empty() && count(spelt) > accumulators()) {
      serial.push_back(spelt.front());
      spelt.erase(spelt.begin());
    }
    Shape own_shape, tile_shape;
    std::vector<Expr> own_at, tile_at;
    for (const std::string& k : taps) {
      own_shape.push_back(extent(k));
      own_at.push_back(variable(k));
    }
    for (const std::string& k : spelt) {
      tile_shape.push_back(extent(k));
      tile_at.push_back(variable(k));
    }
    own_shape.push_back(kGradientLanes);
    tile_shape.push_back(kGradientLanes);
    tile_at.push_back(variable("g_i"));
    const auto at = [&](const char* lane) {
      std::vector<Expr> all = own_at;
      all.push_back(variable(lane));
      return all;
    };
    const BufferRef own = local_buffer("sums", dtype_, own_shape), tile = local_buffer("tile", dtype_, tile_shape);
    const auto in_tile = [&](Stmt body) {
      body = vector("g_i", std::move(body));
      for (size_t i = spelt.size(); i-- > 0;) body = unrolled(spelt[i], extent(spelt[i]), std::move(body));
      return body;
    };
    const std::map<std::string, Expr> place = {{"g", variable("g_o") * kGradientLanes + variable("g_i")},
                                               {"o0", variable("o0_o") * rows + variable("o0_i")}};
    Stmt add = over_rows(rows, in_tile(store(tile, tile_at, load(tile, tile_at) + substitute(sums.term, place))));
    Stmt body = block({alloc(tile), in_tile(store(tile, tile_at, constant(dtype_, 0))), std::move(add),
                       in_tile(store(own, at("g_i"), load(own, at("g_i")) + load(tile, tile_at)))});
    body = loop("o0_o", extent("o0") / rows, around(serial, std::move(body)));
    body = around({"n"}, std::move(body));
    const Expr g = variable("g_o") * kGradientLanes + variable("g_f");
    Stmt end = finished(sums, own, at("g_f"), {{"g", g}});
    if (blocks * kGradientLanes > groups) end = if_then(g < constant_index(groups), std::move(end));
    body_ = loop("g_o", blocks,
                 block({alloc(own), around(taps, vector("g_z", store(own, at("g_z"), constant(dtype_, 0)))),
                        std::move(body), loop("g_f", kGradientLanes, std::move(end))}));
    return true;
  }

  // Channels in vectors, where they lie side by side.
  void channels() {
    std::vector<std::string> vectors;
    const Stmt split =
        native_lanes() > 1 && loop_extent(body_, "c") > 1 ? vector_split(body_, "c", lanes(), false, &vectors) : body_;
    const Ranges ranges = loop_ranges(split);
    const bool good = std::all_of(vectors.begin(), vectors.end(),
                                  [&](const std::string& v) { return vectorises(split, v, dtype_, ranges); });
    if (!good || vectors.empty()) {
      body_ = vectorise_inner(body_, dtype_, lanes(), level().reassociate);
      return;
    }
    body_ = split;
    for (const std::string& v : vectors) body_ = jam(body_, v, LoopKind::Vector);
  }

  // Each turn of the perfect nest stores elements of its own.
  void mark_parallel() {
    int64_t tasks = 1;
    for (const std::string& v : nest_variables(body_)) {
      if (tasks >= options_.target.processor->parallel_tasks || outer_kind(body_, v) != LoopKind::Serial) break;
      body_ = with_kind(body_, v, LoopKind::Parallel);
      tasks *= std::max<int64_t>(1, loop_extent(body_, v));
    }
  }

  Kernel kernel_;
  Stmt body_;
  const ScheduleOptions& options_;
  DType dtype_ = DType::Float32;
};

}  // namespace

bool is_gradient(const Kernel& kernel) {
  return kernel.pattern == "conv_weights" || kernel.pattern == "channels" || packs(kernel);
}

Kernel schedule_gradient(const Kernel& kernel, const ScheduleOptions& options) {
  return GradientSchedule(kernel, options).run();
}

}  // namespace dnn::codegen
