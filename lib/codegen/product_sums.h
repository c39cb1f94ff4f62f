// Sums of products, whatever operator made them: their axes, operands, and what follows each sum.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "loops/ir.h"

namespace dnn::codegen {

// Loops that are one axis of the product, outermost first.
struct ProductAxis {
  std::vector<std::pair<std::string, int64_t>> loops;  // name, extent

  int64_t extent() const;
  bool in(const loops::Expr& e) const;
  // Gives each loop's variable its value at place `at` of the axis: remainders as differences, which vanish where memory goes as the
  // axis does.
  void place(const loops::Expr& at, std::map<std::string, loops::Expr>* values) const;
  // Blocks of so many places, the last of which may have fewer.
  int64_t blocks(int64_t size) const { return (extent() + size - 1) / size; }
};

// for outer: { local sum; sum = start; for depth: sum = sum + left * right; rest }
// Columns are what the innermost outer loop is of, as neighbours in the result; what both operands depend on, or none, are tasks.
struct ProductSums {
  ProductAxis outer, tasks, rows, columns, depth;
  loops::BufferRef sum;
  loops::Expr start, left, right;  // left hangs on rows, right on columns
  std::vector<loops::Stmt> rest;   // allocations and stores

  // True where the operand's neighbours in memory are neighbours in the depth and not along the axis.
  bool deep(const loops::Expr& operand, const ProductAxis& axis) const;
};

// None where the kernel's body is none, or of another type than `dtype`. A sum of what is no product is one of products by 1.
std::optional<ProductSums> find_product_sums(const loops::Stmt& body, DType dtype);

// `body` where place e is one of an axis's: a condition where blocks of `multiple` places reach beyond its extent.
loops::Stmt if_within(const loops::Expr& e, int64_t extent, int64_t multiple, loops::Stmt body);

}  // namespace dnn::codegen
