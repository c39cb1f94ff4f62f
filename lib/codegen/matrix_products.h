// Products by the matrix instruction that a warp of a GPU's threads runs together: which elements each of them holds.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "loops/ir.h"

namespace dnn::codegen {

// One instruction: kMatrixRows x kMatrixColumns sums, on by kMatrixDepth products each, as mma.m16n8k8 has them (PTX ISA, "Matrix Fragments
// for mma.m16n8k8", .tf32). Of these each thread holds 2 x 2 sums, 4 elements of the left operand and 2 of the right one.
constexpr int64_t kWarp = 32, kMatrixRows = 16, kMatrixColumns = 8, kMatrixDepth = 8;
// Threads of a warp below each other and side by side, by the sums that they have.
constexpr int64_t kWarpDown = 8, kWarpAcross = 4;

// Where in a warp's tile, of whole products, a thread's `row`-th and `column`-th sums are; a thread has two of both for each product. `lane`: its
// number in the warp.
loops::Expr matrix_row(const loops::Expr& lane, const loops::Expr& row);
loops::Expr matrix_column(const loops::Expr& lane, const loops::Expr& column);

// What a thread reads, and which sums it has, for kMatrixDepth steps of a Matrix loop.
struct MatrixProducts {
  struct Product {
    std::vector<loops::Expr> sums;  // 4: rows apart outermost
    size_t left, right;             // where its operands begin
  };
  std::vector<loops::Expr> left;   // 4 for each product downwards
  std::vector<loops::Expr> right;  // 2 for each product across
  std::vector<Product> products;
  bool exact = false;  // the instruction keeps all bits of the factors: integers, and what is rounded to 16 bits
};

// `loop`: a Matrix loop, over the depth, of unrolled ones, over a thread's rows and columns, of sum = fma(left, right, sum) or sum + left *
// right, whose sum is at matrix_row() and matrix_column() of the thread numbered `thread`. `step`: how many times kMatrixDepth went before.
MatrixProducts matrix_products(const loops::Stmt& loop, const std::string& thread, int64_t step);

}  // namespace dnn::codegen
