// Dot products as one word of a C-like language; see print_store.h.
#include "codegen/print_expression.h"
#include "codegen/print_store.h"
#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// A factor of a dot product: elements of a buffer, converted.
struct Factor {
  const Buffer* buffer = nullptr;
  Expr first;                     // its offset in the first turn and lane
  int64_t along = 0, across = 0;  // elements from turn to turn, and from lane to lane

  DType type() const { return buffer->dtype; }
};

// A factor of type `wide` in the loop `s`, which reads the first element in turn `begin`; false where it is read otherwise.
bool read_factor(const Place& place, const Stmt& s, const Expr& factor, DType wide, int64_t begin, Factor* found) {
  if (factor->op != Op::Cast || factor->dtype != wide || factor->args[0]->op != Op::Load) return false;
  const Expr& read = factor->args[0];
  Ranges ranges = place.all_ranges();
  ranges[s->variable] = {0, s->extent - 1};
  const Expr offset = simplify(flat_offset(*read->buffer, read->args), ranges);
  found->buffer = read->buffer.get();
  found->first = simplify(substitute(offset, {{s->variable, constant_int(DType::Int64, begin)},
                                              {place.lane, constant_int(DType::Int64, 0)}}),
                          *place.ranges);
  return linear_coefficient(offset, s->variable, ranges, &found->along) &&
         linear_coefficient(offset, place.lane, ranges, &found->across);
}

// The sum after the products of x and w in `n` turns of a loop; "" where no word says that.
std::string print_products(const Place& place, int64_t n, const std::string& sum, const Factor& x, const Factor& w) {
  const std::string left = print_pointer(place, *x.buffer, x.first), right = print_pointer(place, *w.buffer, w.first);
  const auto dot = [&] { return place.words->dot(x.type(), n, place.lanes, sum, left, right); };
  if (x.type() == DType::BFloat16 && w.type() == DType::BFloat16) {
    const bool pairs = n == 2 && x.across == 0 && x.along == -1 && w.along == -1 && w.across == 2;
    return pairs ? dot() : "";
  }
  if (!is_byte(x.type())) return "";
  if (x.across == 0 && x.along == 1 && w.along == 1 && w.across == n &&
      w.type() == (n == 4 ? DType::Int8 : DType::Int16) && n % 2 == 0)
    return dot();
  if (x.across == 1 && w.along == 1 && w.across == 4 && w.type() == DType::Int8)
    return place.words->dot_of_rows(x.type(), n, place.lanes, sum, left, x.along, right);
  return "";
}

}  // namespace

std::string print_dot_product(const Place& place, const Stmt& s) {
  const Stmt& add = s->children[0];
  if (!place.in_lanes() || s->extent > 4 || add->kind != StmtKind::Store) return "";
  const bool fused = add->value->op == Op::Fma;
  if (!fused && (add->value->op != Op::Add || add->value->args[1]->op != Op::Mul)) return "";
  const Expr& sum = add->value->args[fused ? 2 : 0];
  const std::vector<Expr>& factors = fused ? add->value->args : add->value->args[1]->args;
  const Registers* registers = place.registers_of(*add->buffer);
  if (registers == nullptr || sum->op != Op::Load || sum->buffer != add->buffer) return "";
  const DType wide = add->buffer->dtype;
  const int64_t begin = wide == DType::Float32 ? s->extent - 1 : 0;  // the turn that reads the first of each factor
  Factor x, w;
  if (!read_factor(place, s, factors[0], wide, begin, &x) || !read_factor(place, s, factors[1], wide, begin, &w))
    return "";
  const std::string name = register_name(*add->buffer, *registers, add->indices);
  const std::string text = print_products(place, s->extent, name, x, w);
  return text.empty() ? "" : cat(name, " = ", text, ";");
}

}  // namespace dnn::codegen
