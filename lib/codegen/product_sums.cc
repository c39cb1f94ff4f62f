// Sums of products; see product_sums.h.
#include "codegen/product_sums.h"

#include <algorithm>

#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {

using namespace loops;

int64_t ProductAxis::extent() const {
  int64_t n = 1;
  for (const auto& [name, extent] : loops) n *= extent;
  return n;
}

bool ProductAxis::in(const Expr& e) const {
  return std::any_of(loops.begin(), loops.end(), [&](const auto& l) { return uses_variable(e, l.first); });
}

void ProductAxis::place(const Expr& at, std::map<std::string, Expr>* values) const {
  Expr above;
  int64_t inner = extent();
  for (const auto& [name, extent] : loops) {
    inner /= extent;
    const Expr turn = floordiv(at, constant_int(DType::Int64, inner));
    (*values)[name] = above.defined() ? turn - above * constant_int(DType::Int64, extent) : turn;
    above = turn;
  }
}

bool ProductSums::deep(const Expr& operand, const ProductAxis& axis) const {
  if (operand->op != Op::Load)
    return std::any_of(operand->args.begin(), operand->args.end(), [&](const Expr& a) { return deep(a, axis); });
  Ranges ranges;
  for (const ProductAxis* a : {&outer, &depth}) {
    for (const auto& [name, extent] : a->loops) ranges[name] = {0, extent - 1};
  }
  const Expr offset = simplify(flat_offset(*operand->buffer, operand->args), ranges);
  const auto beside = [&](const ProductAxis& a) {
    int64_t step = 0;
    return linear_coefficient(offset, a.loops.back().first, ranges, &step) && step == 1;
  };
  return beside(depth) && !beside(axis);
}

namespace {

bool reads_buffer(const Expr& e, const BufferRef& sum) {
  return (e->op == Op::Load && e->buffer == sum) ||
         std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return reads_buffer(a, sum); });
}

// Integers are the same in any order: what a sum begins with may as well come last.
void add_start_last(ProductSums* sums) {
  const Expr start = sums->start;
  for (Stmt& s : sums->rest)
    s = rewrite_expressions(s,
                            [&](const Expr& e) { return e->op == Op::Load && e->buffer == sums->sum ? e + start : e; });
  sums->start = constant_int(sums->sum->dtype, 0);
}

// The loops and what they hold; false where they hold something else.
bool take_sum_apart(const Stmt& body, DType dtype, ProductSums* found) {
  Stmt s = body;
  for (; s->kind == StmtKind::For; s = s->children[0]) found->outer.loops.emplace_back(s->variable, s->extent);
  if (s->kind != StmtKind::Block || s->children.size() < 4) return false;
  const Stmt &local = s->children[0], &start = s->children[1];
  Stmt sum = s->children[2];
  if (local->kind != StmtKind::Alloc || !local->buffer->shape.empty() || start->kind != StmtKind::Store ||
      start->buffer != local->buffer)
    return false;
  for (; sum->kind == StmtKind::For; sum = sum->children[0])
    found->depth.loops.emplace_back(sum->variable, sum->extent);
  found->sum = local->buffer;
  if (sum->kind != StmtKind::Store || sum->buffer != found->sum || sum->value->op != Op::Add ||
      found->sum->dtype != dtype)
    return false;
  const Expr &before = sum->value->args[0], &product = sum->value->args[1];
  if (before->op != Op::Load || before->buffer != found->sum || reads_buffer(product, found->sum)) return false;
  found->start = start->value;
  const bool is_product = product->op == Op::Mul;
  found->left = is_product ? product->args[0] : constant(dtype, 1);
  found->right = is_product ? product->args[1] : product;
  found->rest.assign(s->children.begin() + 3, s->children.end());
  return std::all_of(found->rest.begin(), found->rest.end(),
                     [](const Stmt& r) { return r->kind == StmtKind::Alloc || r->kind == StmtKind::Store; });
}

}  // namespace

std::optional<ProductSums> find_product_sums(const Stmt& body, DType dtype) {
  ProductSums found;
  if (!take_sum_apart(body, dtype, &found) || found.outer.loops.empty()) return std::nullopt;
  ProductAxis last;
  last.loops = {found.outer.loops.back()};
  if (last.in(found.left)) std::swap(found.left, found.right);
  for (const auto& l : found.outer.loops) {
    const bool in_left = uses_variable(found.left, l.first), in_right = uses_variable(found.right, l.first);
    (in_left == in_right ? found.tasks : in_left ? found.rows : found.columns).loops.push_back(l);
  }
  if (reads_buffer(found.start, found.sum)) return std::nullopt;
  if (is_integer(dtype)) add_start_last(&found);
  if (found.outer.in(found.start)) return std::nullopt;
  return found;
}

Stmt if_within(const Expr& e, int64_t extent, int64_t multiple, Stmt body) {
  return extent % multiple == 0 ? body : if_then(e <= constant_index(extent - 1), std::move(body));
}

}  // namespace dnn::codegen
