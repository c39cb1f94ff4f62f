// Products by matrix instructions; see matrix_products.h.
#include "codegen/matrix_products.h"

#include "base/error.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// The factors of sum = fma(left, right, sum) or sum + left * right; none in other stores.
std::vector<Expr> factors_of(const Stmt& sum) {
  if (sum->kind != StmtKind::Store) return {};
  const Expr& value = sum->value;
  if (value->op == Op::Fma) return {value->args[0], value->args[1]};
  return value->op == Op::Add && value->args[1]->op == Op::Mul ? value->args[1]->args : std::vector<Expr>();
}

// Lanes are numbered along groups (PTX's threadID_in_group and groupID), one for each row of sums.
constexpr int64_t kGroup = kWarpAcross;
static_assert(kWarp == kWarpDown * kWarpAcross && kMatrixRows == 2 * kWarpDown && kMatrixColumns == 2 * kWarpAcross &&
              kMatrixDepth == 2 * kGroup);

}  // namespace

// Sums of one thread lie as many rows apart within a product as from it to the next.
Expr matrix_row(const Expr& lane, const Expr& row) {
  return row * constant_index(kWarpDown) + floordiv(lane, constant_index(kGroup));
}

// Two sums side by side, those of the next product as many columns on as one has.
Expr matrix_column(const Expr& lane, const Expr& column) {
  return floordiv(column, constant_index(2)) * constant_index(kMatrixColumns) +
         floormod(lane, constant_index(kGroup)) * constant_index(2) + floormod(column, constant_index(2));
}

MatrixProducts matrix_products(const Stmt& loop, const std::string& thread, int64_t step) {
  const Stmt& rows = loop->children[0];
  const Stmt& columns = rows->children[0];
  const Stmt& sum = columns->children[0];
  std::vector<Expr> factors = factors_of(sum);
  if (rows->kind != StmtKind::For || columns->kind != StmtKind::For || factors.empty() ||
      loop->extent % kMatrixDepth != 0 || rows->extent % 2 != 0 || columns->extent % 2 != 0)
    fail_internal("codegen: no matrix products in ", to_text(loop));

  const Expr lane = floormod(variable(thread), constant_index(kWarp));
  const Expr group = floordiv(lane, constant_index(kGroup)), in_group = floormod(lane, constant_index(kGroup));
  const auto depth = [&](int64_t half) { return in_group + constant_index(step * kMatrixDepth + half * kGroup); };
  MatrixProducts result;
  const bool rounded = factors[0]->op == Op::RoundBFloat16 || factors[0]->op == Op::RoundFloat16;
  result.exact = rounded || is_integer(sum->buffer->dtype);
  for (Expr& factor : factors) factor = rounded ? factor->args[0] : factor;
  for (int64_t row = 0; row < rows->extent; row += 2) {
    for (int64_t i = 0; i < 4; ++i)
      result.left.push_back(
          substitute(factors[0], {{rows->variable, constant_index(row + i % 2)}, {loop->variable, depth(i / 2)}}));
  }
  // A thread's column of this operand is its group's number, of sums that another thread of the warp has.
  const Expr other = floordiv(variable(thread), constant_index(kWarp)) * constant_index(kWarp) +
                     floordiv(lane, constant_index(2 * kGroup));
  for (int64_t column = 0; column < columns->extent; column += 2) {
    for (int64_t i = 0; i < 2; ++i)
      result.right.push_back(
          substitute(factors[1], {{columns->variable, constant_index(column) + floormod(group, constant_index(2))},
                                  {loop->variable, depth(i)},
                                  {thread, other}}));
  }
  for (int64_t row = 0; row < rows->extent; row += 2) {
    for (int64_t column = 0; column < columns->extent; column += 2) {
      std::vector<Expr> sums;
      for (int64_t i = 0; i < 4; ++i) {
        std::vector<Expr> at;
        for (const Expr& index : sum->indices)
          at.push_back(substitute(index, {{rows->variable, constant_index(row + i / 2)},
                                          {columns->variable, constant_index(column + i % 2)}}));
        sums.push_back(load(sum->buffer, std::move(at)));
      }
      result.products.push_back({std::move(sums), static_cast<size_t>(row) * 2, static_cast<size_t>(column)});
    }
  }
  return result;
}

}  // namespace dnn::codegen
