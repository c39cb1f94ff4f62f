// Kernels of bytes in vectors; see schedule_bytes.h.
#include "codegen/schedule_bytes.h"

#include <algorithm>
#include <optional>

#include "codegen/inner_loops.h"
#include "codegen/loop_order.h"
#include "codegen/quantized_tiles.h"
#include "loops/simplify.h"
#include "loops/steps.h"
#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Bytes that become real numbers go through int32, which vectors are of.
Expr through_integers(const Expr& e) {
  const bool real = e->op == Op::Cast && e->dtype == DType::Float32 && is_byte(e->args[0]->dtype);
  return real ? cast(DType::Float32, cast(DType::Int32, e->args[0])) : e;
}

// So do bytes that are stored as they were read.
Stmt in_integers(const Stmt& s) {
  if (s->kind == StmtKind::Store) {
    const bool byte = is_byte(s->buffer->dtype);
    const bool narrowed = s->value->op == Op::Cast && s->value->args[0]->dtype == DType::Int32;
    return rewrite_expressions(
        byte && !narrowed ? store(s->buffer, s->indices, cast(s->buffer->dtype, cast(DType::Int32, s->value))) : s,
        through_integers);
  }
  if (s->children.empty()) return s;
  std::vector<Stmt> children;
  for (const Stmt& child : s->children) children.push_back(in_integers(child));
  return rebuild(*s, std::move(children));
}

// How much lies side by side along v, what is written twice as much.
int side_by_side(const Stmt& body, const std::string& v, const Ranges& ranges) {
  const int64_t extent = loop_extent(body, v);
  int together = 0;
  for (const Access& access : accesses(body)) {
    if (access.buffer->scope != Scope::Global || extent < kDot) continue;
    int64_t step = 0;
    // Within a block: an extent beyond it is split by vectors.
    Ranges within = ranges;
    within[v] = {0, std::min<int64_t>(extent, kIntegerLanes) - 1};
    const Expr offset = simplify(flat_offset(*access.buffer, access.indices), within);
    if (linear_coefficient(offset, v, within, &step) && step == 1) together += access.is_store ? 2 : 1;
  }
  return together;
}

// The layout of y without its blocks of kDot channels; nothing where it is otherwise laid out than that, but for its border.
std::optional<loops::Layout> without_channels(const Buffer& y) {
  loops::Layout words;
  for (int axis = 0; axis < static_cast<int>(y.shape.size()); ++axis) {
    const int64_t low = y.layout.halo_low(axis), high = y.layout.halo_high(axis);
    if (low > 0 || high > 0) words.halo(axis, low, high);
  }
  loops::Layout bytes = words;
  bytes.block(1, kDot);
  return bytes == y.layout ? std::optional(words) : std::nullopt;
}

// The layout of y without the blocks of one axis, in which it has no border.
loops::Layout without_block(const Buffer& y, int axis) {
  loops::Layout result;
  std::vector<int> order;
  for (const LayoutDim& dim : y.layout.dims(y.shape)) {
    if (dim.outermost) {
      order.push_back(dim.axis);
    } else if (dim.axis != axis) {
      result.block(dim.axis, dim.extent);
    }
  }
  return result.order(order);
}

// In place of the loop over `element` in `nest`, whose turns make the bytes of a word by the store `s`: that word.
void store_words(Kernel* kernel, const std::vector<Stmt>& nest, const Stmt& s, const std::string& element,
                 const BufferRef& words, const std::vector<Expr>& indices) {
  const auto number = [](int64_t i) { return constant_int(DType::Int32, i); };
  Expr word;
  for (int64_t c = 0; c < loop_extent(kernel->body, element); ++c) {
    const Expr byte = binary(Op::And, substitute(s->value->args[0], {{element, constant_index(c)}}), number(255));
    // The fourth has the word's sign, which no shift of a positive number may reach.
    const Expr moved = c == 3 ? (binary(Op::Xor, byte, number(128)) - number(128)) * number(int64_t{1} << 24)
                              : binary(Op::ShiftLeft, byte, number(8 * c));
    word = c == 0 ? byte : binary(Op::Or, word, moved);
  }
  Stmt body = store(words, indices, word);
  for (auto l = nest.rbegin(); l != nest.rend(); ++l) {
    if ((*l)->variable != element) body = loop((*l)->variable, (*l)->extent, body, (*l)->loop);
  }
  std::replace(kernel->arguments.begin(), kernel->arguments.end(), s->buffer, words);
  kernel->body = body;
}

}  // namespace

void channels_in_words(Kernel* kernel) {
  // The store and the loops around it.
  std::vector<Stmt> nest;
  Stmt s = in_integers(kernel->body);
  for (; s->kind == StmtKind::For; s = s->children[0]) nest.push_back(s);
  if (s->kind != StmtKind::Store || !is_byte(s->buffer->dtype) || s->buffer->shape.size() < 2 ||
      s->buffer->shape[1] > kDot || s->indices[1]->op != Op::Variable)
    return;
  const std::string channel = s->indices[1]->name;
  const std::optional<loops::Layout> layout = without_channels(*s->buffer);
  const auto of_channel = [&](const Expr& e) { return uses_variable(e, channel); };
  // A part of the channels, as Concat stores them one after the other, is no block.
  const bool all = loop_extent(kernel->body, channel) == s->buffer->shape[1];
  if (!layout || !all || std::count_if(s->indices.begin(), s->indices.end(), of_channel) != 1) return;
  auto words = std::make_shared<Buffer>(*s->buffer);
  words->dtype = DType::Int32;
  words->shape[1] = 1;
  words->layout = *layout;
  std::vector<Expr> indices = s->indices;
  indices[1] = constant_index(0);
  store_words(kernel, nest, s, channel, words, indices);
}

void rows_in_words(Kernel* kernel) {
  std::vector<Stmt> nest;
  Stmt s = in_integers(kernel->body);
  for (; s->kind == StmtKind::For; s = s->children[0]) nest.push_back(s);
  if (nest.empty() || s->kind != StmtKind::Store || !is_byte(s->buffer->dtype) || s->buffer->shape.empty()) return;
  const Buffer& y = *s->buffer;
  const std::vector<LayoutDim> dims = y.layout.dims(y.shape);
  const int axis = dims.back().axis;
  const std::string& row = nest.back()->variable;
  // In words the outer dims and the blocks of columns stay as they are.
  if (dims.back().extent != kDot || dims.back().outermost || nest.back()->extent != kDot || y.layout.has_halo() ||
      y.layout.block_of(axis) != kDot || y.shape[axis] % kDot != 0)
    return;
  int64_t step = 0;
  const Ranges ranges = loop_ranges(kernel->body);
  const Expr first = simplify(substitute(s->indices[axis], {{row, constant_index(0)}}), ranges);
  const auto of_row = [&](const Expr& e) { return uses_variable(e, row); };
  if (!linear_coefficient(s->indices[axis], row, ranges, &step) || step != 1 ||
      std::count_if(s->indices.begin(), s->indices.end(), of_row) != 1)
    return;
  auto words = std::make_shared<Buffer>(y);
  words->dtype = DType::Int32;
  words->shape[axis] /= kDot;
  words->layout = without_block(y, axis);
  std::vector<Expr> indices = s->indices;
  indices[axis] = simplify(floordiv(first, constant_index(kDot)), ranges);
  const Expr rest = simplify(first - indices[axis] * kDot, ranges);
  int64_t left = 0;
  if (!constant_value(rest, &left) || left != 0) return;
  store_words(kernel, nest, s, row, words, indices);
}

Stmt bytes_in_vectors(const Stmt& given) {
  Stmt body = fuse_into_vectors(in_integers(given), kIntegerLanes);
  const std::vector<std::string> nest = nest_variables(body);
  const Ranges ranges = loop_ranges(body);
  std::string best;
  int most = 0;
  for (const std::string& v : nest) {
    const int together = side_by_side(body, v, ranges);
    if (together > 0 && together >= most) best = v, most = together;
  }
  if (best.empty()) return body;
  const std::string& innermost = nest.back();
  std::vector<std::string> vectors;
  body = padded_vector_split(body, best, kIntegerLanes, false, &vectors);
  for (const std::string& v : vectors) {
    if (best != innermost) body = move_inside(body, v, innermost);
    body = jam(body, v, LoopKind::Vector);
  }
  for (const char* tap : {"k0", "k1"}) {
    if (loop_extent(body, tap) <= kMostUnrolledTaps) body = with_kind(body, tap, LoopKind::Unrolled);
  }
  return body;
}

Stmt byte_border(const Stmt& given, const Buffer& y) {
  Stmt body = in_integers(given);
  for (int axis = 0; axis < static_cast<int>(y.shape.size()); ++axis) {
    const std::string v = cat("d", axis);
    if (y.layout.block_of(axis) != kIntegerLanes || !room_for_padding(body, v, kIntegerLanes)) continue;
    body = outermost(with_kind(split_padded(body, v, kIntegerLanes), v + "_i", LoopKind::Vector), v + "_o");
  }
  return body;
}

}  // namespace dnn::codegen
