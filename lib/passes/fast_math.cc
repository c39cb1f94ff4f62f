// fast-math: cheaper arithmetic that rounds otherwise. Division by constants becomes multiplication by their reciprocals
// (computed in float64, rounded once) and x^0.5 a square root. Where this pass is among those that run, compile() also lets
// the code generator take shorter approximations of exp, tanh and erf (2e-5, codegen/print_c.cc). Quotients and powers of quantised networks
// stay, as levels share their bits.
#include <cmath>

#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/stated_sums.h"

namespace dnn {
namespace {

// Reciprocals of a constant; nullopt where one is no normal number.
std::optional<Tensor> reciprocals(const Tensor& constant) {
  const double smallest = constant.dtype() == DType::Float64 ? 2.3e-308 : 1.2e-38, largest = 1 / smallest;
  Tensor result(DType::Float64, constant.shape());
  double* out = result.mutable_data<double>();
  for (const double v : to_doubles(constant)) {
    if (!(std::abs(v) > smallest && std::abs(v) < largest)) return std::nullopt;
    *out++ = 1 / v;
  }
  return convert(result, constant.dtype());
}

}  // namespace

std::vector<Patch> fast_math(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches;
  if (context.share_bits && has_integer_activations(graph)) return patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "Div") && !is_op(node, "Pow")) continue;
    const Type& x = graph.value(node.inputs[0]).type;
    const Tensor* constant = graph.constant(node.inputs[1]);
    if (constant == nullptr || !has_vectors(x.dtype)) continue;
    Patch patch(graph, label_in(graph, node) + " by cheaper arithmetic");
    Node cheaper = node;
    cheaper.sources = sources_of(node);
    if (node.op == "Div") {
      const std::optional<Tensor> factors = reciprocals(*constant);
      if (!factors) continue;
      cheaper.op = "Mul";
      cheaper.inputs[1] = patch.add_constant(graph.value(node.inputs[1]).name + ".reciprocal", *factors);
    } else {
      if (constant->size() != 1 || graph.value(node.outputs[0]).type != x) continue;
      if (to_doubles(*constant)[0] != 0.5) continue;
      cheaper.op = "Sqrt";
      cheaper.inputs.resize(1);
    }
    patch.add_node(std::move(cheaper));
    patch.remove_node(id);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
