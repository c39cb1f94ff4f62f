// Integers that are the source's weights in another order: they need no rounding anew, which would lose what their quantiser chose.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "localize/quantised_layers.h"

namespace dnn {

// Brings integers into the source's order: first their axes, then their rows of outputs. What is empty stays as it is.
struct IntegerOrder {
  std::vector<size_t> perm;      // axis i is axis perm[i] of those that are there
  std::vector<size_t> reversed;  // axes that are then read from behind
  std::vector<size_t> rows;      // row r is row rows[r]
  std::string text() const;      // "axes permuted", of what is there
};

// By element of the integers: the one that comes there. `rows` are those of the layer that reads them.
std::vector<size_t> elements_in_order(const IntegerOrder& order, const Shape& shape, const WeightRows& rows);

// The order in which nearly all integers are roundings of our rows, by the scales that are there; nullopt where none is. `errors`: by place
// in our rows, what a number may be off by, of itself; empty: nothing. `wrong`: rows that are no such roundings as they are.
std::optional<IntegerOrder> order_of(const HeldRows& held, const std::vector<size_t>& wrong,
                                     const std::vector<double>& errors, bool adaptive);

}  // namespace dnn
