// CPU schedules: vector loops over contiguous elements, register tiles for reductions, parallel outer loops.
#include <algorithm>

#include "codegen/dot_products.h"
#include "codegen/fetch_ahead.h"
#include "codegen/guards.h"
#include "codegen/halve_tasks.h"
#include "codegen/inner_loops.h"
#include "codegen/loop_order.h"
#include "codegen/narrow_vectors.h"
#include "codegen/schedule.h"
#include "codegen/schedule_gradients.h"
#include "codegen/schedule_quantized.h"
#include "codegen/skip_border.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// What is read keeps its type.
Stmt replace_buffer(const Stmt& stmt, const Buffer* from, const BufferRef& to) {
  return rewrite_expressions(stmt, [&](const Expr& e) {
    if (e->op != Op::Load || e->buffer.get() != from) return e;
    return to->dtype == from->dtype ? load(to, e->args) : cast(from->dtype, load(to, e->args));
  });
}

// Elements of a block, which vector loops run over: in as many registers as they take, but no more than so many bytes.
constexpr int64_t kBlock = 16, kBlockBytes = 64;
// Blocks side by side in packed constants, where they divide.
constexpr int64_t kPanel = 2;
// Positions of the output for which a chunk of the reduction may pay.
constexpr int64_t kFewPositions = 28;
// Accumulators that hide the latency of a multiply-add; columns of a tile beside a narrower one.
constexpr int64_t kNarrow = 8;
// What a last tile of fewer than 2 * kNarrow accumulators costs beside its products, in columns.
constexpr int64_t kSliver = 3;
// Blocks of channels that share what a tile of a pointwise convolution reads, and the most accumulators of such a tile: so
// few that the next tile's products begin while they are stored.
constexpr int64_t kShare = 4, kSharedTile = 20;
// Lines that a processor waits for at once, about, and steps of a reduction over which more than these are spread.
constexpr int64_t kFetches = 16, kSteps = 16;
// Accumulators of a tile whose taps are spelt out, and the most of these; of those of a pool.
constexpr int64_t kImageTile = 16, kMostSpeltTaps = 7, kMostPoolTaps = 3;
// Taps of a depthwise convolution that are unrolled, and those of a row that reads numbers of 16 bits.
constexpr int64_t kMostTaps = 3, kMostWidenedTaps = 5;
// The most blocks in a tile of dot products, which share what they read of the input.
constexpr int64_t kMostAcross = 7;
// Channels of an input that are few products.
constexpr int64_t kFewChannels = 32;
// Half a block more than so many blocks is little.
constexpr int64_t kHalfBlocks = 4;
// Of so many tasks, one too many is little.
constexpr int64_t kManyTasks = 16;

class CpuSchedule {
 public:
  CpuSchedule(const Kernel& kernel, const std::set<const Buffer*>& packable, const ScheduleOptions& options)
      : kernel_(kernel), body_(kernel.body), packable_(packable), options_(options), dtype_(output()->dtype) {}

  Kernel run() {
    body_ = simplify(drop_guards(body_));
    const bool vectors = in_vectors();
    if (kernel_.pattern == "border") {
      border();
    } else if (kernel_.pattern == "conv" && vectors && loop_extent(body_, "m") >= 2) {
      convolution();
    } else if (kernel_.pattern == "conv" && vectors && loop_extent(body_, "g") >= 8 && loop_extent(body_, "m") == 0 &&
               loop_extent(body_, "c") == 0 && blocked("g")) {
      depthwise();
    } else if (kernel_.pattern == "winograd" && vectors && loop_extent(body_, "v") >= 2) {
      for (const std::string& v : vectors_over("v")) body_ = jam(body_, v, LoopKind::Vector);
    } else if (kernel_.pattern == "matmul" && vectors) {
      matmul();
    } else if (kernel_.pattern == "pool" && vectors && level().chunk && blocked_channels()) {
      pooling();
    } else {
      elementwise();
    }
    if (level().contract) body_ = contract_fma(body_);
    if (native_lanes() < lanes()) body_ = narrow_vectors(body_, native_lanes());
    mark_parallel();
    kernel_.body = simplify(body_);
    return kernel_;
  }

 private:
  BufferRef output() const {
    for (const Access& access : accesses(kernel_.body)) {
      if (access.is_store && access.buffer->scope == Scope::Global) return access.buffer;
    }
    fail_internal("kernel ", kernel_.name, " stores nothing");
  }

  // What a convolution reads beside its weights.
  const Buffer* input() const {
    for (const Access& access : accesses(body_)) {
      if (!access.is_store && access.buffer->scope == Scope::Global && packed_.count(access.buffer.get()) == 0 &&
          access.buffer->shape.size() == output()->shape.size())
        return access.buffer.get();
    }
    return nullptr;
  }

  const Isa& isa() const { return *options_.target.isa; }
  const Processor& processor() const { return *options_.target.processor; }
  const Level& level() const { return *options_.target.level; }
  const Chunks& chunks() const { return options_.target.chunks(); }

  int64_t lanes() const { return isa().gpu ? 1 : std::min(kBlock, kBlockBytes / bytes()); }

  bool in_vectors() const { return lanes() > 1 && has_vectors(dtype_); }

  int64_t bytes() const { return std::max<int64_t>(1, static_cast<int64_t>(dtype_size(dtype_))); }

  const ScheduleParameters& parameters() const { return options_.parameters; }

  int64_t chunk_bytes() const { return parameters().chunk_kib << 10; }  // of weights

  int64_t product_chunk_bytes() const {
    const bool chosen = parameters().chunk_kib != ScheduleParameters().chunk_kib;
    return chosen ? chunk_bytes() : chunks().product_chunk_kib.value_or(parameters().chunk_kib) << 10;
  }

  int64_t native_lanes() const { return isa().lanes(dtype_); }

  // Registers that hold `blocks` blocks.
  int64_t registers_of(int64_t blocks) const { return blocks * std::max<int64_t>(1, lanes() / native_lanes()); }

  // All axes, those of the loops around v's first, then the one that v indexes: the order in which its blocks are read where no
  // loop goes inside of others later.
  std::vector<int> order_of_reading(const std::vector<Expr>& indices, const std::string& v) const {
    std::vector<int> order;
    const auto add = [&](const std::string& name) {
      for (size_t axis = 0; axis < indices.size(); ++axis) {
        if (indices[axis]->op == Op::Variable && indices[axis]->name == name) order.push_back(static_cast<int>(axis));
      }
    };
    for (const std::string& name : nest_variables(body_)) {
      if (name == v) break;
      add(name);
    }
    add(v);
    for (int axis = 0; axis < static_cast<int>(indices.size()); ++axis) {
      if (std::find(order.begin(), order.end(), axis) == order.end()) order.push_back(axis);
    }
    return order;
  }

  // Gives constants that v indexes a layout in which v's blocks of `width` lie innermost, padded to whole blocks, and one
  // block after the other, so that what a tile reads lies together. Of the factors of dot products pairs along `pairs` lie within these
  // blocks, in 16 bits.
  void pack_constants(const std::string& v, int64_t width, const std::string& inner = "", int64_t inner_width = 1,
                      const std::string& pairs = "") {
    for (const Access& access : accesses(body_)) {
      if (packable_.count(access.buffer.get()) == 0 || !access.buffer->layout.row_major()) continue;
      const bool dots = !pairs.empty() && access.buffer.get() == factor_;
      loops::Layout layout;
      for (const auto& [name, block] : {std::pair(inner, dots ? inner_width / kPair : inner_width), std::pair(v, width),
                                        std::pair(dots ? pairs : "", kPair)}) {
        for (size_t axis = 0; axis < access.indices.size(); ++axis) {
          if (access.indices[axis]->op != Op::Variable || access.indices[axis]->name != name || block == 1) continue;
          layout.block(static_cast<int>(axis), block);
          if (name == v && axis > 0) layout.order(order_of_reading(access.indices, v));
        }
      }
      if (layout.row_major() || (layout.text() == cat(access.indices.size() - 1, "/", width) &&
                                 access.buffer->shape.back() % width == 0 && access.indices.size() == 1)) {
        continue;
      }
      auto packed = std::make_shared<Buffer>(*access.buffer);
      packed->layout = layout;
      if (dots) packed->dtype = options_.target.element;
      packed_.insert(packed.get());
      replace(access.buffer.get(), packed);
    }
  }

  void replace(const Buffer* from, const BufferRef& to) {
    body_ = replace_buffer(body_, from, to);
    for (BufferRef& argument : kernel_.arguments) {
      if (argument.get() == from) argument = to;
    }
  }

  // v in vectors: padded to whole blocks where the buffers have room, else with the last elements `twice` or in narrowing
  // vectors.
  std::vector<std::string> vectors_over(const std::string& v, bool twice = false) {
    if (room_for_padding(body_, v, lanes())) {
      body_ = split_padded(body_, v, lanes());
      return {v + "_i"};
    }
    std::vector<std::string> names;
    body_ = vector_split(body_, v, lanes(), twice, &names);
    return names;
  }

  bool blocked(const std::string& v) const {  // whether v runs along a blocked axis of some activation
    for (const Access& access : accesses(body_)) {
      for (size_t axis = 0; axis < access.indices.size(); ++axis) {
        if (access.buffer->layout.block_of(static_cast<int>(axis)) > 1 && packable_.count(access.buffer.get()) == 0 &&
            uses_variable(access.indices[axis], v)) {
          return true;
        }
      }
    }
    return false;
  }

  // A few rows of zeros: the channels of a block in vectors, and block by block, which are tasks then.
  void border() {
    const BufferRef y = output();
    for (size_t axis = 0; axis < y->shape.size() && in_vectors(); ++axis) {
      const std::string v = cat("d", axis);
      if (y->layout.block_of(static_cast<int>(axis)) != lanes() || !room_for_padding(body_, v, lanes())) continue;
      body_ = with_kind(split_padded(body_, v, lanes()), v + "_i", LoopKind::Vector);
      body_ = outermost(body_, v + "_o");
    }
  }

  // m (output channels) in vectors, the last output axis in a register tile: each input element is one broadcast.
  void convolution() {
    const std::string column = last_output_axis();
    const int64_t channels = loop_extent(body_, "c");
    const bool blocks = level().chunk && blocked("c") && channels >= lanes();
    const int64_t m = loop_extent(body_, "m"), panel = kPanel * lanes();
    const bool dots = finds_pairs("m", "c");
    pack_constants("m", m % panel == 0 ? panel : lanes(), blocks ? "c" : "", blocks ? lanes() : 1, dots ? "c" : "");
    if (blocks) {
      body_ = split(body_, "c", lanes());
      body_ = at_loop(body_, "c_o", [&](const Stmt& l) {
        std::vector<std::string> inside = nest_variables(l->children[0]);
        if (inside.size() < 2 || inside[0] != "c_i") return l;
        std::vector<std::string> order(inside.begin() + 1, inside.end());
        order.emplace_back("c_i");
        return loop(l->variable, l->extent, reorder(l->children[0], order), l->loop);
      });
    }
    if (dots && blocks) body_ = in_pairs(in_pairs(body_, "c_i"), "c_t");
    if (dots && !blocks) body_ = in_pairs(body_, "c");
    const std::string depth = dots ? "c_i_o" : "c_i";  // of blocks, the innermost loop but for pairs
    const bool half = blocks && ends_in_half(column);
    std::vector<std::string> vectors;
    if (half) {
      body_ = vector_split(move_inside("m", "o0"), "m", lanes(), false, &vectors);
    } else {
      vectors = vectors_over("m");
    }
    const int64_t wide = loop_extent(body_, "m_o");
    for (const std::string& v : vectors) body_ = move_inside(v, column);
    const bool few = blocks && !dots && few_products(channels);
    const bool shared = blocks && !few && shares_input(column, wide);
    // Not in shared tiles, which take up to 1.1 of the time then (measured; why was not shown).
    if (level().reassociate && !shared) body_ = start_sums(body_, column);
    const int64_t across = shared ? blocks_across({kShare}, wide, isa().widest_tile)
                           : dots ? blocks_across({2, 3, 5, 7}, wide, kMostAcross)
                                  : blocks_across({2, 3}, wide, few ? 1 : isa().widest_tile);
    if (across > 1) {
      body_ = split(body_, "m_o", across);
      body_ = move_inside("m_o_i", column);
    }
    if (blocks && channels % lanes() == 0 && column == "o1" && !half) block_rows(across);
    // Few channels, as of an image: taps that lie side by side read the same elements, which a compiler sees when they are
    // spelt out; a wide tile would leave it no registers for that.
    const std::string tap = "k" + column.substr(1);
    const int64_t taps = loop_extent(body_, tap);
    const bool image = !blocks && !dots && channels < lanes() && taps > 1 && taps <= kMostSpeltTaps;
    const int64_t accumulators = image ? kImageTile : shared ? kSharedTile : half || few ? kNarrow * across : 0;
    register_tile(column, vectors, across > 1 ? "m_o_i" : "", across, accumulators / across);
    if (image) {
      body_ = with_kind(body_, tap, LoopKind::Unrolled);
      // So few products wait for the image, of which the next rows are asked for meanwhile, with so much to do for each line that
      // the first cache is right wherever it is for any weights.
      if (parameters().fetch_ahead != 0 && level().chunk && column == "o1")
        body_ = fetch_input(body_, "k0", input(), "o0",
                            chunks().nearest_from < INT64_MAX ? loops::Fetch::First : loops::Fetch::Second);
    }
    if (blocks) even_tasks(loop_extent(body_, "o0_i") > 0 ? "o0_i" : "o0");
    if (fetches() && (carried_ || !next_group_.empty())) fetch(carried_ ? chunks_ : next_group_, next_group_, depth);
    if (blocks) body_ = skip_border(body_, depth);
  }

  // Whether each element of a pointwise convolution is so few products that storing it in order, block by block, counts more than reading the
  // input once more for each block.
  bool few_products(int64_t channels) const {
    return chunks().half_vectors && channels <= kFewChannels && loop_extent(body_, "k0") <= 1 &&
           loop_extent(body_, "k1") <= 1;
  }

  // Whether the last half block of a pointwise convolution's few channels is worth tiles of its own, which read its input once more. Rows
  // are tasks then.
  bool ends_in_half(const std::string& column) const {
    const int64_t m = loop_extent(body_, "m");
    return chunks().half_vectors && native_lanes() == lanes() && m % lanes() == lanes() / 2 && m > lanes() &&
           m < kHalfBlocks * lanes() && column == "o1" && loop_extent(body_, "k0") <= 1 &&
           loop_extent(body_, "k1") <= 1 && loop_extent(body_, "o0") >= processor().least_tasks &&
           nest_holds("m", "o0");
  }

  // Whether a tile should be kShare blocks of channels wide. A pointwise convolution uses what it reads of the input once a
  // tile, and reads it from the second cache, as the weights fill the first. Not where a few columns are left over, nor where
  // so few blocks of channels remain that tasks get short pieces of the plane.
  bool shares_input(const std::string& column, int64_t wide) const {
    if (loop_extent(body_, "k0") > 1 || loop_extent(body_, "k1") > 1) return false;
    if (wide % kShare != 0 || isa().widest_tile < kShare) return false;
    const int64_t columns = std::max<int64_t>(1, loop_extent(body_, column));
    const int64_t rows = std::max<int64_t>(1, loop_extent(body_, "o0"));
    const int64_t tile = tile_width(columns, kShare, kSharedTile / kShare), rest = columns % tile;
    if (columns < 2 * tile || (rest > 0 && rest * kShare <= kNarrow)) return false;
    return wide / kShare * rows * columns * 2 >= processor().least_tasks * parameters().chunk_positions;
  }

  // Output rows in blocks. Channels in chunks whose weights stay in the first cache over such a block; sums wait in the
  // output in between. Blocks of rows or channels of the output outermost, whichever reads less anew.
  void block_rows(int64_t across) {
    const auto extent = [&](const std::string& v) { return std::max<int64_t>(1, loop_extent(body_, v)); };
    const std::string groups = across > 1 ? "m_o_o" : "m_o";
    const int64_t blocks = extent("c_o"), rows = extent("o0"), columns = extent("o1");
    const int64_t block_bytes =
        extent("k0") * extent("k1") * lanes() * lanes() * across * (factor_ != nullptr ? bytes() / kPair : bytes());
    int64_t chunk = 1, height = rows;
    for (int64_t n = 2; n <= blocks && n * block_bytes <= chunk_bytes(); ++n) chunk = blocks % n == 0 ? n : chunk;
    for (int64_t n = rows; n >= 1; --n) {
      const int64_t tasks = extent(groups) * (rows / height);
      if (rows % n == 0 && n * columns >= least_positions(tasks)) height = n;
    }
    // Of a few tasks, one too many would leave a thread with nothing beside it: then some shorter ones, half as long at least.
    const auto uneven = [&](int64_t n) { return n > 1 && n < 2 * processor().least_tasks && n % 2 != 0; };
    for (int64_t n = height, least = (height + 1) / 2; uneven(extent(groups) * (rows / height)) && n >= least; --n) {
      if (rows % n == 0 && !uneven(extent(groups) * (rows / n)) && n * columns >= kFewPositions) height = n;
    }
    if (height * columns > 4 * parameters().chunk_positions) return;
    const int64_t weights = extent(groups) * blocks * block_bytes,
                  input = blocks * lanes() * rows * columns * bytes();  // what is read of it, roughly
    const std::string rows_loop = height < rows ? "o0_i" : "o0";
    if (height < rows) body_ = split(body_, "o0", height);
    // A result whose channels do not lie together would be gathered and scattered for each chunk.
    const bool carry =
        chunk_bytes() > 0 && height * columns >= kFewPositions && output()->layout.block_of(1) > 1 && holds_sums();
    if (chunk < blocks && carry && can_carry_sums(body_, rows_loop, "c_o")) {
      if (chunk > 1) body_ = split(body_, "c_o", chunk);
      chunks_ = chunk > 1 ? "c_o_o" : "c_o";
      body_ = carry_sums(body_, rows_loop, chunks_);
      carried_ = true;
    }
    const bool rows_first =
        parameters().outer == 0 ? weights * (rows / height) < input * extent(groups) : parameters().outer == 2;
    if (height < rows && rows_first && nest_holds(groups, "o0_o")) body_ = move_inside(groups, "o0_o");
    next_group_ = height == rows || rows_first ? groups : "";
    if (chunks_.empty() && height > 1) chunks_ = rows_loop;
  }

  // Whether sums may wait in the output, which in 16 bits would round them.
  bool holds_sums() const { return options_.narrow.count(output()->name) == 0; }

  // Whether dot products may take pairs along k, where v runs over vectors; then they have factor_.
  bool finds_pairs(const std::string& v, const std::string& k) {
    if (options_.target.uses_dot())
      factor_ = factor_of_pairs(body_, v, k, options_.narrow, [&](const Buffer& b) {
        return options_.factors.count(b.name) != 0 && packable_.count(&b) != 0 && b.layout.row_major();
      });
    return factor_ != nullptr;
  }

  // Positions of the output that a task should have at least, so that it pays to read the weights for it, when there are as
  // many tasks as that: the fewer, the shorter.
  int64_t least_positions(int64_t tasks) const {
    if (tasks >= processor().least_tasks) return parameters().chunk_positions;
    if (tasks == 1) return 1;
    if (tasks * 2 >= processor().least_tasks) return parameters().chunk_positions / 2;
    return kFewPositions;
  }

  // Depthwise: the channel itself in vectors, taps unrolled over a tile of columns.
  void depthwise() {
    const std::string column = last_output_axis();
    if (level().reassociate) body_ = start_sums(body_, column);
    pack_constants("g", lanes());
    const std::vector<std::string> vectors = vectors_over("g");
    for (const std::string& v : vectors) body_ = move_inside(v, column);
    register_tile(column, vectors, "", 2);
    // What lies in 16 bits takes instructions to be read, which neighbouring columns share where a row's taps are unrolled.
    const bool widens = input() != nullptr && options_.narrow.count(input()->name) != 0;
    if (loop_extent(body_, "k0") <= kMostTaps) body_ = with_kind(body_, "k0", LoopKind::Unrolled);
    if (loop_extent(body_, "k1") <= (widens ? kMostWidenedTaps : kMostTaps))
      body_ = with_kind(body_, "k1", LoopKind::Unrolled);
  }

  // Columns in a tile, so that one does not wait for the other's taps, and taps spelt out; what reaches into the padding apart.
  void pooling() {
    std::string column = last_output_axis();
    const std::string row = column == "o1" ? "o0" : "";
    for (int axis = 0; loop_extent(body_, cat("k", axis)) > 0; ++axis) {
      if (loop_extent(body_, cat("k", axis)) <= kMostPoolTaps)
        body_ = with_kind(body_, cat("k", axis), LoopKind::Unrolled);
    }
    if (loop_extent(body_, column) > 1) column = set_apart_inside(&body_, column);
    const int64_t extent = loop_extent(body_, column), most = std::min(extent, kNarrow / registers_of(1));
    if (most < 2) return;
    int64_t tile = most;
    while (tile * 2 > most && extent % tile != 0) --tile;
    body_ = split(body_, column, extent % tile == 0 ? tile : most);
    for (const char* part : {"_i", "_t"}) body_ = jam(body_, column + part, LoopKind::Unrolled);
    if (!row.empty()) body_ = version_inside(body_, row);
  }

  // Columns times vectors of accumulators in registers.
  void register_tile(const std::string& column, const std::vector<std::string>& vectors, const std::string& across_loop,
                     int64_t across, int64_t limit = 0) {
    const int64_t tile = tile_width(loop_extent(body_, column), across, limit);
    if (tile > 1) body_ = split(body_, column, tile);
    for (const std::string& v : vectors) body_ = jam(body_, v, LoopKind::Vector);
    if (!across_loop.empty()) body_ = jam(body_, across_loop, LoopKind::Unrolled);
    if (tile > 1) {
      body_ = jam(body_, column + "_i", LoopKind::Unrolled);
      body_ = jam(body_, column + "_t", LoopKind::Unrolled);
    }
  }

  // j (output columns) in vectors, i (rows) in a register tile; one row alone is tiled across columns.
  void matmul() {
    const int64_t panel = kPanel * lanes();
    const bool panels = loop_extent(body_, "i") >= 2 && loop_extent(body_, "j") % panel == 0;
    const bool dots = finds_pairs("j", "k");
    pack_constants("j", panels ? panel : lanes(), "", 1, dots ? "k" : "");
    if (dots) body_ = in_pairs(body_, "k");
    const std::string depth = dots ? "k_o" : "k";  // of the reduction, but for pairs
    // Where columns are left over, the rows must go inside before these are split off; then only what is around makes tasks.
    if (!room_for_padding(body_, "j", lanes()) && nest_holds("i", "j") && tasks_around("i") > 1)
      body_ = move_inside("i", "j");
    const std::vector<std::string> vectors = vectors_over("j", stores_only(body_));
    const int64_t rows = loop_extent(body_, "i"), wide = loop_extent(body_, "j_o");
    const int64_t across = rows < 2                  ? blocks_across({4, 8, 7, 6, 5, 3, 2}, wide, wide)
                           : shares_rows(rows, wide) ? blocks_across({kShare}, wide, isa().widest_tile)
                                                     : blocks_across({2, 3}, wide, isa().widest_tile);
    if (across > 1) body_ = split(body_, "j_o", across);
    if (rows >= 2) {
      // The columns outermost, so that a block of the weights stays in cache over the rows.
      const std::string columns = across > 1 ? "j_o_o" : "j_o";
      if (nest_holds("i", columns)) body_ = move_inside("i", columns);
      const bool streamed = nest_holds(columns, "i");  // else each tile of rows goes through all columns
      if (level().chunk && streamed) carry_depth(depth, across, columns);
      register_tile("i", vectors, across > 1 ? "j_o_i" : "", across);
      if (carried_) even_tasks(loop_extent(body_, "i_o") > 0 ? "i_o" : "i");
      const std::string groups = shared_chunk_.empty() ? columns : columns + "_o";
      if (carried_ && fetches()) fetch(chunks_, groups, in_few_rows(depth + "_i", across));
      if (!carried_ && streamed && fetches()) fetch(columns, columns, in_few_rows(depth, across));
      rest_in_last_turn();
      return;
    }
    for (const std::string& v : vectors) body_ = jam(body_, v, LoopKind::Vector);
    if (across > 1) body_ = jam(body_, "j_o_i", LoopKind::Unrolled);
    rest_in_last_turn();
  }

  // What is left over of the columns belongs to the last turn of the loop before it, so that its turns can be tasks.
  void rest_in_last_turn() {
    body_ = simplify(body_);
    if (!stores_only(body_)) return;
    const std::function<Stmt(const Stmt&)> visit = [&](const Stmt& s) -> Stmt {
      if (s->kind == StmtKind::For && s->loop == LoopKind::Serial) return rebuild(*s, {visit(s->children[0])});
      if (s->kind != StmtKind::Block || s->children[0]->kind != StmtKind::For) return s;
      const Stmt& l = s->children[0];
      if (l->extent < 2) return s;
      const std::vector<Stmt> rest(s->children.begin() + 1, s->children.end());
      const Expr last = constant_int(DType::Int64, l->extent - 1) <= variable(l->variable);
      return loop(l->variable, l->extent, block({l->children[0], if_then(last, block(rest))}), l->loop);
    };
    body_ = visit(body_);
  }

  // The innermost loop of a reduction over k: over few rows so short a one that what each asks for ahead can wait for its lines.
  std::string in_few_rows(const std::string& k, int64_t across) {
    const int64_t depth = loop_extent(body_, k), lines = depth * across * lanes() * bytes() / 64;
    int64_t steps = kSteps;
    while (depth % steps != 0) --steps;
    if (lines <= kFetches * std::max<int64_t>(1, loop_extent(body_, "i_o")) || steps * 2 < kSteps) return k;
    body_ = split(body_, k, steps);
    return k + "_i";
  }

  // Whether a tile should be kShare blocks of columns wide: it reads a row of the left-hand matrix half as often, and few enough
  // rows that they find room in the first cache where they lie a multiple of 4 KB apart. Not where so few blocks of columns
  // remain that threads would have nothing to do.
  bool shares_rows(int64_t rows, int64_t wide) const {
    if (wide % kShare != 0 || isa().widest_tile < kShare || rows < 2 * kNarrow) return false;
    return tasks_around("i") * (wide / kShare) * 2 >= processor().least_tasks;
  }

  // How many times the loop over v begins, in a perfect nest.
  int64_t tasks_around(const std::string& v) const {
    int64_t tasks = 1;
    for (const std::string& outer : nest_variables(body_)) {
      if (outer == v) break;
      tasks *= loop_extent(body_, outer);
    }
    return tasks;
  }

  // The first of `widths`, none above `widest`, that divides `wide` blocks and leaves a register beside itself; 1: none.
  // What the parameters ask for comes before all of them.
  int64_t blocks_across(std::initializer_list<int64_t> widths, int64_t wide, int64_t widest) const {
    const int64_t asked = parameters().across;
    if (asked > 0 && asked <= wide && wide % asked == 0 && registers_of(asked) + 1 < isa().vector_registers)
      return asked;
    for (int64_t n : widths) {
      if (n <= std::min(wide, widest) && wide % n == 0 && registers_of(n) + 1 < isa().vector_registers) return n;
    }
    return 1;
  }

  // Whether constants are to be asked for before they are read.
  bool fetches() const { return parameters().fetch_ahead != 0 && level().chunk && !packed_.empty(); }

  // Asks for the constants of the next turn of `chunks`, or of `groups` after the last.
  void fetch(const std::string& chunks, const std::string& groups, const std::string& inner) {
    body_ = fetch_ahead(body_, {chunks, groups, inner, shared_chunk_, options_.target.chunks().nearest_from}, packed_);
  }

  // The depth in chunks whose part of the right-hand matrix stays in the first cache over all rows.
  void carry_depth(const std::string& k, int64_t across, const std::string& columns) {
    const int64_t depth = loop_extent(body_, k), most = product_chunk_bytes() / (across * lanes() * bytes());
    int64_t chunk = 0;
    if (tasks_around("i") < processor().least_tasks / 2 || !holds_sums()) return;  // the rows are tasks, too
    for (int64_t n = most; n * 2 > most && chunk == 0; --n) chunk = depth % n == 0 ? n : 0;
    if (chunk == 0 || chunk == depth || !can_carry_sums(body_, "i", k)) return;
    const std::string within = share_chunk(columns);
    body_ = split(body_, k, chunk);
    chunks_ = k + "_o";
    body_ = carry_sums(body_, within, chunks_);
    carried_ = true;
  }

  // A left-hand matrix that does not stay in the second cache would come from the third for each block of columns: then several of
  // these use a chunk of it while it is near. The loop inside of which the sums are complete.
  std::string share_chunk(const std::string& columns) {
    const int64_t wide = loop_extent(body_, columns),
                  left = loop_extent(body_, "i") * loop_extent(body_, "k") * bytes();
    const int64_t tasks = tasks_around("i");
    int64_t shared = 1;
    for (int64_t n = 2; n <= wide && left > chunks().near_bytes; ++n) {
      if (wide % n == 0 && tasks / n * 2 >= processor().least_tasks) shared = n;
    }
    if (shared == 1) return "i";
    body_ = split(body_, columns, shared);
    return shared_chunk_ = columns + "_i";
  }

  std::string last_output_axis() const {
    std::string name = "o0";
    for (int i = 0; loop_extent(body_, cat("o", i)) > 0; ++i) name = cat("o", i);
    return name;
  }

  // Columns of a tile: as many accumulators as registers allow beside one operand of each product, for which the other operands
  // stay: the weights of `across` blocks for a column's broadcast or all broadcasts for a weight vector, whichever are fewer.
  // No more than `limit` (0: none) columns.
  int64_t tile_width(int64_t extent, int64_t across, int64_t limit) const {
    const int64_t wide = registers_of(across);
    int64_t room = 1;
    while ((room + 1) * wide + std::min(room + 1, wide) + 1 <= isa().vector_registers) ++room;
    if (parameters().tile > 0) return std::min({parameters().tile, room, extent});
    const int64_t most = limit > 0 ? std::min(limit, room) : room;
    if (extent <= most) return extent;
    // What is left over is a narrower tile, which takes as long as one of kNarrow columns at least.
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

  // Whether a perfect nest holds a loop over `inner` somewhere inside of that over v.
  bool nest_holds(const std::string& v, const std::string& inner) const {
    const std::vector<std::string> nest = nest_variables(body_);
    const auto at = std::find(nest.begin(), nest.end(), v);
    return std::find(at, nest.end(), inner) != nest.end();
  }

  // Moves the loop over v directly inside the loop over `inner` (both of one perfect nest).
  Stmt move_inside(const std::string& v, const std::string& inner) {
    return at_loop(body_, v, [&](const Stmt& l) {
      std::vector<std::string> order;
      for (const std::string& name : nest_variables(l)) {
        if (name != v) order.push_back(name);
        if (name == inner) {
          order.push_back(v);
          break;
        }
      }
      return reorder(l, order);
    });
  }

  // Loops in the order of the output's memory, the innermost in vectors where every access allows it.
  void elementwise() {
    if (blocked_channels()) return;
    if (kernel_.pattern == "map") body_ = in_order_of_reading(fuse_contiguous(body_));
    const std::vector<std::string> nest = nest_variables(body_);
    if (nest.empty() || !in_vectors()) return;
    const std::string& v = nest.back();
    if (share_lines(nest)) return;
    if (loop_extent(body_, v) < 4 || !vectorises(body_, v, dtype_, loop_ranges(body_))) {
      stay_in_blocks(nest);
      body_ = vectorise_inner(body_, dtype_, lanes(), level().reassociate);
      return;
    }
    std::vector<std::string> vectors;
    body_ = vector_split(body_, v, lanes(), stores_only(body_), &vectors);
    for (const std::string& name : vectors) body_ = jam(body_, name, LoopKind::Vector);
  }

  // A transposition: where the innermost loop strides through what another loop reads side by side, a block of the other
  // goes inside, so that a line is read once and its neighbours stay in the first cache. False where there is none.
  bool share_lines(const std::vector<std::string>& nest) {
    const Ranges ranges = loop_ranges(body_);
    const std::string& v = nest.back();
    const auto strides = [&](const std::string& loop, const std::function<bool(const Access&, int64_t)>& good) {
      for (const Access& access : accesses(body_)) {
        int64_t step = 0;
        if (!steps(access, loop, ranges, &step) || !good(access, step)) return false;
      }
      return true;
    };
    const int64_t line = 64 / bytes();
    if (!strides(v, [&](const Access& a, int64_t step) { return a.is_store ? step == 1 : step >= line; })) return false;
    for (const std::string& u : nest) {
      if (u == v || loop_extent(body_, u) % line != 0 || !nest_holds(u, v)) continue;
      if (!strides(u, [](const Access& a, int64_t step) { return a.is_store || step == 1; })) continue;
      if (loop_extent(body_, u) > line) body_ = split(body_, u, line);
      const std::string inner = loop_extent(body_, u) > 0 ? u : u + "_i";
      body_ = with_kind(move_inside(inner, v), inner, LoopKind::Unrolled);
      chunks_ = v;
      return true;
    }
    return false;
  }

  // A copy from or to blocks of channels that no vectors fit: where the innermost loop goes from block to block, all channels
  // of a few positions come before the next positions, so that each line is used while it is in the first cache.
  void stay_in_blocks(const std::vector<std::string>& nest) {
    constexpr int64_t kPositions = 32;
    const std::string& v = nest.back();
    const Ranges ranges = loop_ranges(body_);
    std::string channels;
    for (const Access& access : accesses(body_)) {
      int64_t step = 0;
      if (!steps(access, v, ranges, &step) || step < 64 / bytes()) continue;
      for (size_t axis = 0; axis < access.indices.size(); ++axis) {
        if (access.buffer->layout.block_of(static_cast<int>(axis)) == 1) continue;
        for (const std::string& u : nest) channels = u != v && uses_variable(access.indices[axis], u) ? u : channels;
      }
    }
    const int64_t extent = loop_extent(body_, v);
    int64_t positions = std::min(extent, kPositions);
    while (extent % positions != 0) --positions;
    if (channels.empty() || positions * 4 < std::min(extent, kPositions)) return;
    const std::string around = positions < extent ? v + "_o" : nest[nest.size() - 2];
    if (around == channels) return;
    if (positions < extent) body_ = split(body_, v, positions);
    body_ = move_inside(channels, around);
  }

  // Outputs with blocked channels: the block's lanes in vectors, innermost. False when the loops do not allow it.
  bool blocked_channels() {
    const BufferRef y = output();
    for (const Access& access : accesses(body_)) {
      if (!access.is_store || access.buffer->scope == Scope::Local || !in_vectors()) continue;
      for (size_t axis = 0; axis < access.indices.size(); ++axis) {
        const int64_t wide = y->layout.block_of(static_cast<int>(axis));
        if (wide == 1 || (wide > lanes() && wide % lanes() != 0)) continue;
        const int64_t width = std::min(wide, lanes());  // of a panel's blocks one after the other
        const Ranges ranges = loop_ranges(body_);
        for (const std::string& v : nest_variables(body_)) {
          int64_t step = 0;
          if (!linear_coefficient(access.indices[axis], v, ranges, &step) || step != 1) continue;
          return block_loop(v, width);
        }
      }
    }
    return false;
  }

  bool block_loop(const std::string& v, int64_t width) {
    const std::string innermost = nest_variables(body_).back();
    const Stmt before = body_;
    const Kernel kernel_before = kernel_;
    pack_constants(v, width);
    const int64_t extent = loop_extent(body_, v);
    if (room_for_padding(body_, v, width)) {
      body_ = split_padded(body_, v, width);
    } else if (extent % width == 0) {
      body_ = split(body_, v, width);
    } else {
      body_ = before;
      kernel_ = kernel_before;
      return false;
    }
    if (innermost != v) body_ = move_inside(v + "_i", innermost);
    body_ = simplify(body_);
    if (loop_extent(body_, v + "_i") == 0 || !vectorises(body_, v + "_i", dtype_, loop_ranges(body_))) {
      body_ = before;
      kernel_ = kernel_before;
      return false;
    }
    body_ = jam(body_, v + "_i", LoopKind::Vector);
    return true;
  }

  // Outer loops become tasks until there are enough of them. To find a task's place takes longer than to copy an element, so
  // the innermost loop is made tasks only where there would be few.
  void mark_parallel() {
    for (const std::string& v : task_loops()) body_ = with_kind(body_, v, LoopKind::Parallel);
  }

  std::vector<std::string> task_loops() const {
    std::vector<std::string> result;
    int64_t tasks = 1;
    for (const std::string& v : nest_variables(body_)) {
      if (tasks >= processor().least_tasks && innermost(v)) break;
      if (tasks >= processor().parallel_tasks || outer_kind(body_, v) != LoopKind::Serial || v == chunks_) break;
      result.push_back(v);
      tasks *= loop_extent(body_, v);
    }
    return result;
  }

  // Of a few tasks, one too many leaves one of two threads with nothing beside it: then each goes over the loop over v in two halves.
  void even_tasks(const std::string& v) {
    const std::vector<std::string> loops = task_loops();
    const std::string around = loops.empty() ? "" : loops.back();
    const int64_t tasks = around.empty() ? 1 : tasks_around(around) * loop_extent(body_, around);
    if (!level().chunk || tasks % 2 == 0 || tasks >= kManyTasks) return;
    if (loop_extent(body_, v) < 2 || std::find(loops.begin(), loops.end(), v) != loops.end()) return;
    body_ = halve_tasks(body_, around, v);
  }

  // Whether there is no loop but vectors and what is spelt out inside of that over v.
  bool innermost(const std::string& v) const {
    const std::function<bool(const Stmt&)> loops = [&](const Stmt& s) {
      return (s->kind == StmtKind::For && s->loop == LoopKind::Serial) ||
             std::any_of(s->children.begin(), s->children.end(), loops);
    };
    bool result = true;
    at_loop(body_, v, [&](const Stmt& l) {
      result = !loops(l->children[0]);
      return l;
    });
    return result;
  }

  Kernel kernel_;
  Stmt body_;
  const std::set<const Buffer*>& packable_;
  const ScheduleOptions& options_;
  DType dtype_;
  bool carried_ = false;
  const Buffer* factor_ = nullptr;  // the constant factor of dot products
  std::set<const Buffer*> packed_;  // that pack_constants() has made
  std::string chunks_;              // the loop that is not for tasks any more, if any
  std::string next_group_;    // the loop to whose next turn a convolution goes on after a chunk, "" where it is none
  std::string shared_chunk_;  // the loop over blocks of columns that use one chunk of the left-hand matrix, if any
};

}  // namespace

loops::Kernel schedule_cpu(const loops::Kernel& kernel, const std::set<const loops::Buffer*>& packable,
                           const ScheduleOptions& options) {
  if (is_quantized(kernel)) return schedule_quantized(kernel, packable, options);
  if (is_gradient(kernel)) return schedule_gradient(kernel, options);
  return CpuSchedule(kernel, packable, options).run();
}

}  // namespace dnn::codegen
