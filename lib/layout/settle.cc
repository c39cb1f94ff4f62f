// Moving Transposes: find what shares an order of axes, search the orders, rewrite the graph; see settle.h.
#include "layout/settle.h"

#include "layout/order_rewrite.h"
#include "layout/order_search.h"
#include "layout/order_ties.h"
#include "ops/movement.h"

namespace dnn {

Tensor transposed(const Tensor& tensor, const Permutation& perm) {
  if (perm.empty()) return tensor;
  if (tensor.dtype() != DType::String) return tensor.transposed(perm);
  const std::vector<int64_t> stride = row_major_strides(tensor.shape());
  Shape shape;
  for (int64_t axis : perm) shape.push_back(tensor.dim(static_cast<int>(axis)));
  return pick(tensor, shape, [&](size_t axis, int64_t i) { return i * stride[perm[axis]]; });
}

void settle_transposes(Graph& graph, const std::set<ValueId>& unnamed) {
  const OrderTies ties = find_order_ties(graph);
  apply_orders(graph, search_orders(graph, ties), unnamed);
  verify(graph);
}

}  // namespace dnn
