// RowLoops: the loops of a "row" stage: around the rows (d0, d1, ...), and along each row's axes, as often as needed.
#pragma once
#include "ops/op.h"

namespace dnn {

class RowLoops {
 public:
  // A row spans the axes of `shape` that `in_row` marks; the other axes count the rows.
  RowLoops(Shape shape, std::vector<bool> in_row) : shape_(std::move(shape)), in_row_(std::move(in_row)) {
    for (size_t i = 0; i < shape_.size(); ++i) {
      if (in_row_[i]) size_ *= shape_[i];
    }
  }

  int64_t size() const { return size_; }  // elements of a row

  // Indices of an element, along the row by loops of that name ("r": r0, r2, ...).
  std::vector<loops::Expr> indices(const std::string& along) const {
    std::vector<loops::Expr> result;
    for (size_t i = 0; i < shape_.size(); ++i) result.push_back(loops::variable(cat(in_row_[i] ? along : "d", i)));
    return result;
  }

  // `body` for each element of the row, in row-major order.
  loops::Stmt along(const std::string& name, loops::Stmt body) const {
    for (size_t i = shape_.size(); i-- > 0;) {
      if (in_row_[i]) body = loops::loop(cat(name, i), shape_[i], std::move(body));
    }
    return body;
  }

  // `body` for each row.
  loops::Stmt around(loops::Stmt body) const {
    for (size_t i = shape_.size(); i-- > 0;) {
      if (!in_row_[i]) body = loops::loop(cat("d", i), shape_[i], std::move(body));
    }
    return body;
  }

 private:
  Shape shape_;
  std::vector<bool> in_row_;
  int64_t size_ = 1;
};

}  // namespace dnn
