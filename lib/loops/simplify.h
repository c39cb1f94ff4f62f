// Simplification of index expressions: linear normal form, division and modulo by constants under known ranges.
#pragma once
#include <map>
#include <string>

#include "loops/ir.h"

namespace dnn::loops {

// Closed interval of an index expression.
struct Interval {
  int64_t low, high;
};

// What each loop variable ranges over; variables without an entry are unbounded.
using Ranges = std::map<std::string, Interval>;

// The smallest interval interval arithmetic finds; false when some variable is unbounded.
bool bounds(const Expr& index, const Ranges& ranges, Interval* result);

// An equal expression: int64 sums in the order of their variables, x//c and x%c resolved where the ranges allow,
// comparisons decided by bounds, constant selects and conditions folded. Float arithmetic is left as it is.
Expr simplify(const Expr& expr, const Ranges& ranges);
// The same for every expression of a statement, with the ranges of its loops added; empty loops and constant ifs go.
Stmt simplify(const Stmt& stmt, const Ranges& ranges = {});

// index = coefficient * variable + rest, rest free of the variable; false when the index is not of that form.
bool linear_coefficient(const Expr& index, const std::string& name, const Ranges& ranges, int64_t* coefficient);

// Offset, in elements, of a buffer's logical indices in its layout (not yet simplified).
Expr flat_offset(const Buffer& buffer, const std::vector<Expr>& indices);

}  // namespace dnn::loops
