// Layers with weights; see weights.h.
#include "ops/weights.h"

#include "ops/op.h"

namespace dnn {

std::optional<WeightAxes> weight_axes(const Node& node, int rank) {
  if (!node.domain.empty() || rank < 2) return std::nullopt;
  if (node.op == "Conv") return WeightAxes{0, 1};
  if (node.op == "ConvTranspose") return WeightAxes{1, 0};
  if (node.op == "Gemm") return flag_attribute(node, "transB") ? WeightAxes{0, 1} : WeightAxes{1, 0};
  if (node.op == "MatMul") return WeightAxes{rank - 1, rank - 2};
  return std::nullopt;
}

bool is_convolution(const Node& node) { return node.domain.empty() && node.op == "Conv"; }

bool multiplies_weights(std::string_view op) {
  const OpDef* row = find_op("", op);
  return row != nullptr && row->traits.has(Trait::Weighted);
}

}  // namespace dnn
