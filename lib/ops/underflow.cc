// Weights that float16 loses; see underflow.h.
#include "ops/underflow.h"

#include <cmath>
#include <set>

#include "base/printable.h"
#include "ops/op.h"

namespace dnn {
namespace {

Underflow shares_lost(const Tensor& weights) {
  // To even: half of the smallest denormal number is 0.
  constexpr float kLeastNormal = 0x1p-14F, kMostToZero = 0x1p-25F;
  const Tensor whole = weights.arranged_copy();
  double n = 0, zeros = 0, denormal = 0;
  for (const float x : whole.values<float>()) {
    if (x == 0) continue;
    ++n;
    const float magnitude = std::abs(x);
    if (magnitude <= kMostToZero)
      ++zeros;
    else if (magnitude < kLeastNormal)
      ++denormal;
  }
  return n == 0 ? Underflow() : Underflow{"", "", zeros / n, denormal / n};
}

}  // namespace

std::vector<Underflow> float16_underflow(const Graph& graph) {
  std::vector<Underflow> found;
  std::set<ValueId> seen;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!has_trait(node, Trait::Weighted)) continue;
    const ValueId v = node.input(1);
    const Tensor* weights = v == kNoValue ? nullptr : graph.constant(v);
    if (weights == nullptr || weights->dtype() != DType::Float32 || !seen.insert(v).second) continue;
    Underflow lost = shares_lost(*weights);
    if (lost.zeros + lost.denormal <= 0.5) continue;
    lost.layer = node.label();
    lost.weights = graph.value(v).name;
    found.push_back(std::move(lost));
  }
  return found;
}

std::string underflow_text(const std::vector<Underflow>& layers) {
  std::vector<std::string> each;
  for (const Underflow& lost : layers)
    each.push_back(cat(lost.layer, " (", number_text(100 * lost.zeros, "%.1f"), " % become 0, ",
                       number_text(100 * lost.denormal, "%.1f"), " % denormal)"));
  return each.empty() ? "" : cat("most weights are below float16's smallest normal number, 6.1e-05, in ", join(each));
}

}  // namespace dnn
