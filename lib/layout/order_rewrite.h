// Rewriting a graph to orders of axes.
#pragma once
#include "layout/order_ties.h"

namespace dnn {

// Gives every value the order that `orders` found for it, with a Transpose wherever a reader wants another; the Transposes
// of before go. `orders` is of this graph, unchanged since. Values of `unnamed` give up their names first.
void apply_orders(Graph& graph, const AxisOrders& orders, const std::set<ValueId>& unnamed);

}  // namespace dnn
