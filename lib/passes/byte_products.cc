// byte-products: a MatMul of integers, held as float32 numbers by integer-products, by dot products of the bytes that they were. No bit changes, as all
// sums fit the 24 bits of a float32. Not on GPUs, whose kernels multiply the numbers as they are.
#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/stated_sums.h"

namespace dnn {
namespace {

// Fewer rows, columns or products of a sum are not worth the copies.
constexpr int64_t kLeastRows = 4, kLeast = 16;

bool is_large(const Shape& a, const Shape& b) {
  return a.size() >= 2 && b.size() >= 2 && a[a.size() - 2] >= kLeastRows && a.back() >= kLeast && b.back() >= kLeast;
}

}  // namespace

std::vector<Patch> byte_products(const Graph& graph, const PassContext& context) {
  if (context.target.isa->gpu || context.target.isa->lanes(DType::Int32) < 2) return {};
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_exact_product(graph, uses, node)) continue;
    if (!is_large(graph.value(node.inputs[0]).type.fixed_shape(), graph.value(node.inputs[1]).type.fixed_shape()))
      continue;
    const Node &left = graph.node(uses.producer[node.inputs[0]]), &right = graph.node(uses.producer[node.inputs[1]]);
    Node product = node;
    product.op = "QuantizedMatMul";
    product.domain = kInternalDomain;
    product.inputs = {left.inputs[0], right.inputs[0]};
    product.attributes = {{"a_zero_point", left.attribute_int("zero_point", 0)},
                          {"b_zero_point", right.attribute_int("zero_point", 0)}};
    product.sources = sources_of(node);
    Patch patch(graph, label_in(graph, node) + " by dot products of bytes");
    patch.remove_node(id);
    patch.add_node(std::move(product));
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
