// Local search for the orders of axes that leave the fewest Transposes.
#pragma once
#include "layout/order_ties.h"

namespace dnn {

// Each group of `ties` in turn takes the order that leaves the fewest changes, until none gains. What a root's readers need
// in another order than it is made in costs a Transpose each. A Reshape that splits and merges axes stands between two
// orders: its output's decides in which it reads (AxisBlocks).
AxisOrders search_orders(const Graph& graph, const OrderTies& ties);

}  // namespace dnn
