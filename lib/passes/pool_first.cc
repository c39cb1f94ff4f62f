// pool-first: the mean of a pointwise convolution's results is the convolution of the mean, at fewer positions.
#include <algorithm>

#include "graph/locate.h"
#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// Of the positions that are left, for each of these there were at least so many before.
constexpr int64_t kFewerPositions = 2;

// A convolution that takes each position of its input by itself.
bool pointwise(const Graph& graph, const Node& node) {
  if (!is_convolution(node) || !graph.value(node.inputs[0]).type.fixed() || !graph.value(node.inputs[1]).type.fixed())
    return false;
  const Shape x = graph.value(node.inputs[0]).type.fixed_shape(), w = graph.value(node.inputs[1]).type.fixed_shape();
  const std::vector<int64_t> extents(x.begin() + 2, x.end()), kernel(w.begin() + 2, w.end());
  const Window window = Window::of(node, extents, kernel);
  const auto all = [](const std::vector<int64_t>& list, int64_t n) {
    return std::all_of(list.begin(), list.end(), [&](int64_t i) { return i == n; });
  };
  return all(kernel, 1) && all(window.strides, 1) && all(window.pad_begin, 0) && all(window.pad_end, 0);
}

// Whether what it makes of a constant is that constant.
bool averages(const Node& node) {
  if (is_op(node, "GlobalAveragePool")) return true;
  const std::vector<int64_t> pads = node.attribute_ints("pads");
  const std::string border = node.attribute_string("auto_pad", "NOTSET");
  return is_op(node, "AveragePool") && node.attribute_int("ceil_mode", 0) == 0 &&
         (border == "NOTSET" || border == "VALID") &&
         (node.attribute_int("count_include_pad", 0) == 0 ||
          std::all_of(pads.begin(), pads.end(), [](int64_t p) { return p == 0; }));
}

}  // namespace

std::vector<Patch> pool_first(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& conv = graph.node(id);
    if (!pointwise(graph, conv)) continue;
    const NodeId pool_id = only_reader(graph, uses, conv.outputs[0]);
    if (pool_id < 0 || !averages(graph.node(pool_id))) continue;
    const Node& pool = graph.node(pool_id);
    const Type &x = graph.value(conv.inputs[0]).type, &y = graph.value(pool.outputs[0]).type;
    if (!y.fixed() || !is_float(x.dtype)) continue;
    Shape pooled = x.fixed_shape(), to = y.fixed_shape();
    const int64_t positions = element_count(Shape(pooled.begin() + 2, pooled.end())),
                  left = element_count(Shape(to.begin() + 2, to.end()));
    if (left * kFewerPositions > positions) continue;
    std::copy(to.begin() + 2, to.end(), pooled.begin() + 2);

    Patch patch(graph, label_in(graph, pool) + " before " + label_in(graph, conv));
    const ValueId means =
        patch.add_value(graph.value(conv.inputs[0]).name + ".pooled", Type(x.dtype, {pooled.begin(), pooled.end()}));
    Node first = pool, second = conv;
    first.inputs = {conv.inputs[0]};
    first.outputs = {means};
    second.inputs[0] = means;
    second.outputs = pool.outputs;
    patch.add_node(std::move(first));
    patch.add_node(std::move(second));
    patch.remove_node(id);
    patch.remove_node(pool_id);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
