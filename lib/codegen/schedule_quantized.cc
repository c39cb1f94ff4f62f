// Schedules of the quantised operators for CPUs; see schedule_quantized.h.
//
// A convolution (roles: m channels of the output, c of the input, o0.. its positions, k0.. taps): 16 channels of the output in a
// vector of int32, 4 channels of the input in a dot product, a register tile of columns times such vectors. Weights lie as
// [m / 16][c / 16][taps][c / 4 % 4][m % 16][c % 4], so that a dot product reads one vector of them.
//
// A depthwise convolution (g channels, no m and no c): 16 channels in a vector, taps unrolled over a tile of columns; up to four taps
// below one another are a dot product, for which weights lie as [g / 16][k0 / 4][k1][g % 16][k0 % 4].
#include "codegen/schedule_quantized.h"

#include <algorithm>

#include "codegen/guards.h"
#include "codegen/inner_loops.h"
#include "codegen/loop_order.h"
#include "codegen/narrow_vectors.h"
#include "codegen/quantized_tiles.h"
#include "codegen/schedule_bytes.h"
#include "loops/simplify.h"
#include "loops/steps.h"
#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

class QuantizedSchedule {
 public:
  QuantizedSchedule(const Kernel& kernel, const std::set<const Buffer*>& packable, const ScheduleOptions& options)
      : kernel_(kernel), body_(kernel.body), packable_(packable), options_(options) {}

  Kernel run() {
    const bool conv = kernel_.pattern == "quantized_conv" || is_matmul();
    body_ = simplify(drop_guards(body_, conv));
    if (kernel_.pattern == "border") {
      body_ = byte_border(body_, *kernel_.arguments[0]);
    } else if (kernel_.pattern == "row_sums") {  // in vectors as it is
    } else if (kernel_.pattern == "map" && options_.target.isa->gpu) {
      body_ = fuse_contiguous(body_);
    } else if (!conv && !options_.target.isa->gpu && isa().lanes(DType::Int32) > 1) {
      kernel_.body = body_;
      if (kernel_.pattern == "map" && !options_.any_byte_order) {
        channels_in_words(&kernel_);
        rows_in_words(&kernel_);
      }
      body_ = bytes_in_vectors(kernel_.body);
    } else if (!options_.target.isa->gpu && isa().lanes(DType::Int32) > 1) {
      if (extent("m") > 1 && groups_are_blocks() && find_operands() && dot_fits()) {
        dense();
      } else if (extent("g") >= kIntegerLanes / 2 && extent("m") == 0 && extent("c") == 0 && find_operands()) {
        depthwise();
      }
    }
    if (isa().lanes(DType::Int32) < kIntegerLanes) body_ = narrow_vectors(body_, isa().lanes(DType::Int32));
    mark_parallel();
    kernel_.body = simplify(body_);
    return kernel_;
  }

 private:
  const Isa& isa() const { return *options_.target.isa; }
  // A product of two matrices: m are its columns, o0 its rows. Its factor to the right lies as weights do.
  bool is_matmul() const { return kernel_.pattern == "quantized_matmul"; }
  int64_t extent(const std::string& v) const { return loop_extent(body_, v); }
  int64_t registers_of_vector() const { return std::max<int64_t>(1, kIntegerLanes / isa().lanes(DType::Int32)); }

  // True where there is one group, or each consists of whole blocks of channels.
  bool groups_are_blocks() const {
    return extent("g") == 0 || (extent("m") % kIntegerLanes == 0 && extent("c") % kIntegerLanes == 0);
  }

  // True where the place depends on a loop of the sum.
  static bool is_summed(const Access& access) {
    return moves_with(access, "c") || moves_with(access, "k0") || moves_with(access, "k1") || moves_with(access, "k2");
  }
  static bool moves_with(const Access& access, const std::string& v) {
    return std::any_of(access.indices.begin(), access.indices.end(),
                       [&](const Expr& e) { return uses_variable(e, v); });
  }

  // The input, the weights and what is read by channel of the output.
  bool find_operands() {
    for (const Access& access : accesses(body_)) {
      if (access.is_store || access.buffer->scope != Scope::Global) continue;
      const DType dtype = access.buffer->dtype;
      if (dtype == DType::Int32 || dtype == DType::Float32) {
        if (access.buffer->shape.size() == 1) by_channel_.push_back(access.buffer);
      } else if ((dtype == DType::Int8 || dtype == DType::Int16) &&
                 (is_matmul() ? is_summed(access) && moves_with(access, "m")
                              : packable_.count(access.buffer.get()) != 0)) {
        weights_ = access.buffer;
      } else if (input_ == nullptr || is_summed(access)) {  // else what a map behind the layer reads
        input_ = access.buffer;
      }
    }
    return weights_ != nullptr && input_ != nullptr && (is_matmul() || weights_->layout.row_major());
  }

  // Channels of the input that lie side by side: in its blocks, or all of them where they are its last axis.
  int64_t channels_together() const {
    if (is_matmul()) {
      const int64_t room = input_->layout.capacity(input_->shape, static_cast<int>(input_->shape.size()) - 1);
      return room % kIntegerLanes == 0 ? kIntegerLanes : kDot;
    }
    const int64_t block = input_->layout.block_of(1);
    if (input_->shape.size() > 2) return block;
    return input_->layout.row_major() ? (input_->shape[1] % kIntegerLanes == 0 ? kIntegerLanes
                                         : input_->shape[1] % kDot == 0        ? kDot
                                                                               : 1)
                                      : block;
  }

  bool dot_fits() const {
    const int64_t together = channels_together();
    return (together == kIntegerLanes || together == kDot) && guards_gone();
  }

  bool guards_gone() const {
    bool gone = true;
    rewrite_expressions(body_, [&](const Expr& e) {
      gone = gone && !(e->op == Op::Select && index_condition(e->args[0]));
      return e;
    });
    return gone;
  }

  void replace(const BufferRef& from, const loops::Layout& layout) {
    if (packable_.count(from.get()) == 0) return;
    auto packed = std::make_shared<Buffer>(*from);
    packed->layout = layout;
    body_ = rewrite_expressions(
        body_, [&](const Expr& e) { return e->op == Op::Load && e->buffer == from ? load(packed, e->args) : e; });
    for (BufferRef& argument : kernel_.arguments) {
      if (argument == from) argument = packed;
    }
  }

  void pack_by_channel() {
    for (const BufferRef& b : by_channel_) {
      if (b->layout.row_major()) replace(b, loops::Layout().block(0, kIntegerLanes));
    }
  }

  std::string last_axis() const {
    std::string name = "n";
    for (int i = 0; extent(cat("o", i)) > 0; ++i) name = cat("o", i);
    return name;
  }

  void dense() {
    loops::Layout layout;
    // An instruction takes two weights of 16 bits.
    const int64_t deep = weights_->dtype == DType::Int16 ? 2 : kDot;
    // A block of fewer channels is left out from where it holds none. One channel has no loop.
    const int64_t channels = extent("c"), held = (channels + deep - 1) / deep * deep;
    const int64_t together = channels == 0 ? channels_together() : std::min(channels_together(), held);
    const bool several = together > deep;
    if (several) layout.block(1, together / deep);
    replace(weights_, layout.block(0, kIntegerLanes).block(1, deep));
    pack_by_channel();
    // The depth: blocks of channels, taps, then the dot products of a block.
    body_ = split_padded(body_, "c", together);
    std::string dot = "c_i";
    if (extent("c_i") == 0) return;
    if (several) {
      body_ = split(body_, "c_i", deep);
      dot = "c_i_i";
      innermost_of("c_o", "c_i_o");
    }
    innermost_of("c_o", dot);
    const std::string column = last_axis();
    std::vector<std::string> vectors;
    body_ = padded_vector_split(body_, "m", kIntegerLanes, false, &vectors);
    for (const std::string& v : vectors) body_ = move_inside(body_, v, column);
    const QuantizedTile best = fastest_tile(work());
    if (best.across > 1) {
      body_ = split(body_, "m_o", best.across);
      body_ = move_inside(body_, "m_o_i", column);
    }
    body_ = with_kind(body_, dot, LoopKind::Matrix);
    tile(column, vectors, best);
    if (several) body_ = with_kind(body_, "c_i_o", LoopKind::Unrolled);
  }

  // Moves the loop over v inside of all that the loop over `outer` holds.
  void innermost_of(const std::string& outer, const std::string& v) {
    body_ = at_loop(body_, outer, [&](const Stmt& l) {
      std::vector<std::string> order = nest_variables(l->children[0]);
      const auto at = std::find(order.begin(), order.end(), v);
      if (at == order.end()) return l;
      std::rotate(at, at + 1, order.end());
      return loop(l->variable, l->extent, reorder(l->children[0], order), l->loop);
    });
  }

  QuantizedWork work() const {
    const std::string row = row_axis();
    const int64_t depth = is_matmul() ? input_->shape.back() : element_count(weights_->shape) / weights_->shape[0];
    const int64_t block_bytes = depth * kIntegerLanes * static_cast<int64_t>(dtype_size(weights_->dtype));
    return {.blocks = extent("m_o"),
            .columns = std::max<int64_t>(1, extent(last_axis())),
            .rows = row.empty() ? 1 : extent(row),
            .block_bytes = block_bytes,
            .vector_registers = isa().vector_registers,
            .registers_of_vector = registers_of_vector()};
  }

  // The axis of positions around the last one; empty where there is none.
  std::string row_axis() const {
    const std::string column = last_axis();
    const std::vector<std::string> nest = nest_variables(body_);
    const auto at = std::find(nest.begin(), nest.end(), column);
    return at == nest.begin() || at == nest.end() || (at - 1)->front() != 'o' ? "" : *(at - 1);
  }

  void tile(const std::string& column, const std::vector<std::string>& vectors, const QuantizedTile& t) {
    const std::string row = row_axis();
    if (t.width > 1) body_ = split(body_, column, t.width);
    if (t.rows > 1) body_ = split(body_, row, t.rows);
    for (const std::string& v : vectors) body_ = jam(body_, v, LoopKind::Vector);
    if (t.across > 1) body_ = jam(body_, "m_o_i", LoopKind::Unrolled);
    for (const char* part : {"_i", "_t"}) {
      if (t.width > 1) body_ = jam(body_, column + part, LoopKind::Unrolled);
    }
    for (const char* part : {"_i", "_t"}) {
      if (t.rows > 1) body_ = jam(body_, row + part, LoopKind::Unrolled);
    }
  }

  // Taps below one another as dot products of bytes: their loops, innermost; none where bytes of neighbouring channels or of the rows
  // do not lie as it takes.
  std::vector<std::string> dots_of_rows() {
    if (weights_->dtype != DType::Int8 || weights_->shape.size() != 4 || extent("k0") < 2 ||
        input_->layout.block_of(1) != kIntegerLanes || !guards_gone())
      return {};
    std::vector<std::string> dots = {"k0"};
    if (extent("k0") > kDot) {
      body_ = split(body_, "k0", kDot);
      dots = {"k0_i", "k0_t"};
      body_ = with_kind(body_, "k0_o", LoopKind::Unrolled);
    }
    for (const std::string& dot : dots) {
      if (extent(dot) == 0) continue;
      body_ = at_loop(body_, dot, [&](const Stmt& l) {
        std::vector<std::string> order = nest_variables(l);
        std::rotate(order.begin(), order.begin() + 1, order.end());
        return reorder(l, order);
      });
      body_ = with_kind(body_, dot, LoopKind::Matrix);
    }
    return dots;
  }

  void depthwise() {
    const bool rows = !dots_of_rows().empty();
    replace(weights_,
            rows ? loops::Layout().block(0, kIntegerLanes).block(2, kDot) : loops::Layout().block(0, kIntegerLanes));
    pack_by_channel();
    const std::string column = last_axis();
    std::vector<std::string> vectors;
    body_ = padded_vector_split(body_, "g", kIntegerLanes, false, &vectors);
    for (const std::string& v : vectors) body_ = move_inside(body_, v, column);
    const int64_t columns = std::max<int64_t>(1, extent(column));
    // A column takes a sum and, of rows, the bytes that it shares with its neighbours; weights and masks take some eight.
    const int64_t most = rows ? std::clamp<int64_t>((isa().vector_registers - 8) / 2, 4, 8) : 4;
    const int64_t width = std::min<int64_t>(columns, std::max<int64_t>(1, most / registers_of_vector()));
    if (width > 1) body_ = split(body_, column, width);
    for (const std::string& v : vectors) body_ = jam(body_, v, LoopKind::Vector);
    for (const char* part : {"_i", "_t"}) {
      if (width > 1) body_ = jam(body_, column + part, LoopKind::Unrolled);
    }
    for (const char* tap : {"k0", "k1"}) {
      if (extent(tap) <= kMostUnrolledTaps && !(rows && tap == std::string("k0")))
        body_ = with_kind(body_, tap, LoopKind::Unrolled);
    }
  }

  // Outer loops become tasks until there are enough of them.
  void mark_parallel() {
    const Processor& processor = *options_.target.processor;
    int64_t tasks = 1;
    for (const std::string& v : nest_variables(body_)) {
      if (tasks >= processor.least_tasks || outer_kind(body_, v) != LoopKind::Serial) break;
      body_ = with_kind(body_, v, LoopKind::Parallel);
      tasks *= extent(v);
    }
  }

  Kernel kernel_;
  Stmt body_;
  const std::set<const Buffer*>& packable_;
  const ScheduleOptions& options_;
  BufferRef input_, weights_;
  std::vector<BufferRef> by_channel_;
};

// True where a value can be computed in vectors of wider numbers: bytes are read to be converted, and made at the end.
bool widens(const Expr& e) {
  if (is_byte(e->dtype)) return false;
  return e->op == Op::Cast || std::all_of(e->args.begin(), e->args.end(), widens);
}

bool in_wide_numbers(const Stmt& s) {
  if (s->kind == StmtKind::Store) {
    const Expr& value = s->value;
    if (!is_byte(s->buffer->dtype)) return widens(value);
    return value->op == Op::Load ||
           (value->op == Op::Cast && value->args[0]->dtype == DType::Int32 && widens(value->args[0]));
  }
  return std::all_of(s->children.begin(), s->children.end(), in_wide_numbers);
}

}  // namespace

bool is_quantized(const Kernel& kernel) {
  for (const char* pattern : {"quantized_conv", "quantized_matmul", "row_sums", "column_sums"}) {
    if (kernel.pattern == pattern) return true;
  }
  if (kernel.pattern == "border") return is_byte(kernel.arguments[0]->dtype);
  if (kernel.pattern != "map" && kernel.pattern != "pool") return false;
  if (!in_wide_numbers(kernel.body)) return false;
  bool bytes = false;
  for (const Access& access : accesses(kernel.body)) {
    if (access.buffer->scope != Scope::Global) continue;
    const DType dtype = access.buffer->dtype;
    if (!is_byte(dtype) && dtype != DType::Float32) return false;
    bytes = bytes || is_byte(dtype);
  }
  return bytes;
}

Kernel schedule_quantized(const Kernel& kernel, const std::set<const Buffer*>& packable,
                          const ScheduleOptions& options) {
  return QuantizedSchedule(kernel, packable, options).run();
}

}  // namespace dnn::codegen
