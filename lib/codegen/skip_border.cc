// Products with a border's zeros; see skip_border.h.
#include "codegen/skip_border.h"

#include "codegen/inner_loops.h"
#include "loops/simplify.h"
#include "loops/steps.h"

namespace dnn::codegen {
namespace {

using namespace loops;

Expr index(int64_t value) { return constant_int(DType::Int64, value); }

// What the stores of `s` add products of to what they store to, where it reads from a border; nothing where they do something else.
Expr bordered_factor(const Stmt& s) {
  if (s->kind == StmtKind::For) return bordered_factor(s->children[0]);
  if (s->kind != StmtKind::Store || s->buffer->scope != Scope::Local || s->value->op != Op::Add) return {};
  const Expr &sum = s->value->args[0], &product = s->value->args[1];
  if (sum->op != Op::Load || sum->buffer != s->buffer || product->op != Op::Mul) return {};
  for (const Expr& factor : product->args) {
    if (factor->op == Op::Load && factor->buffer->layout.has_halo()) return factor;
  }
  return {};
}

class SkipBorder {
 public:
  SkipBorder(const Ranges& ranges, const Stmt& inner, Expr read)
      : ranges_(ranges), inner_(inner), read_(std::move(read)), own_(loop_ranges(inner)) {}

  Stmt run() const {
    Stmt result = inner_;
    std::vector<Expr> rows;
    for (size_t axis = 0; axis < read_->args.size(); ++axis) {
      const Expr at = simplify(read_->args[axis], ranges_);
      const int64_t extent = read_->buffer->shape[axis];
      Interval range{};
      const int64_t before = read_->buffer->layout.halo_low(static_cast<int>(axis)),
                    behind = read_->buffer->layout.halo_high(static_cast<int>(axis));
      if (before + behind == 0 || !bounds(at, ranges_, &range) || (range.low >= 0 && range.high < extent)) continue;
      std::vector<std::string> turning;
      for (const auto& [name, r] : own_) {
        if (uses_variable(at, name)) turning.push_back(name);
      }
      if (turning.empty()) {
        if (range.low < 0) rows.push_back(index(0) <= at);
        if (range.high >= extent) rows.push_back(at <= index(extent - 1));
      } else if (turning.size() == 1) {
        result = without_columns(at, turning[0], extent);
      }
    }
    for (const Expr& inside : rows) result = if_then(inside, result);
    return result;
  }

 private:
  // The loop for each number of turns of its tile loop over v that read x at `at` before or behind `extent` elements.
  Stmt without_columns(const Expr& at, const std::string& v, int64_t extent) const {
    const int64_t turns = loop_extent(inner_, v);
    int64_t step = 0;
    if (v == inner_->variable || !linear_coefficient(at, v, ranges_, &step) || step <= 0) return inner_;
    const Expr first = simplify(substitute(at, {{v, index(0)}}), ranges_);
    Interval range{};
    if (!bounds(first, ranges_, &range)) return inner_;
    Stmt result = inner_;
    const int64_t behind = range.high + (turns - 1) * step - (extent - 1);
    for (int64_t skipped = 1; (skipped - 1) * step < behind && skipped <= turns; ++skipped) {
      const Expr reaches = index(extent - (turns - skipped) * step) <= first;
      result = if_then(reaches, columns(v, 0, turns - skipped), result);
    }
    for (int64_t skipped = 1; (skipped - 1) * step < -range.low && skipped <= turns; ++skipped) {
      const Expr reaches = first <= index(-(skipped - 1) * step - 1);
      result = if_then(reaches, columns(v, skipped, turns), result);
    }
    return result;
  }

  Stmt columns(const std::string& v, int64_t begin, int64_t end) const {
    if (begin == end) return block({});
    return at_loop(inner_, v, [&](const Stmt& l) {
      const Stmt body = substitute(l->children[0], {{v, variable(v) + index(begin)}});
      return loop(v, end - begin, body, l->loop);
    });
  }

  const Ranges& ranges_;
  const Stmt& inner_;
  Expr read_;
  Ranges own_;
};

}  // namespace

Stmt skip_border(const Stmt& stmt, const std::string& inner) {
  const Ranges ranges = loop_ranges(stmt);
  return at_loop(stmt, inner, [&](const Stmt& l) {
    const Expr read = bordered_factor(l->children[0]);
    return read.defined() ? SkipBorder(ranges, l, read).run() : l;
  });
}

}  // namespace dnn::codegen
