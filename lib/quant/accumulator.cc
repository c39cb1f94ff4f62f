// Accumulator bounds; see accumulator.h.
#include "quant/accumulator.h"

#include <algorithm>
#include <cmath>

#include "ops/attributes.h"
#include "ops/quantization.h"
#include "passes/match.h"

namespace dnn::quant {
namespace {

// Where the weights of an output channel lie: `n` of them, `step` apart, from its first on.
struct Rows {
  size_t channels = 1, n = 0, row = 0, step = 1;
  size_t at(size_t channel, size_t i) const { return channel * row + i * step; }
};

Rows rows_of(const Tensor& weights, int64_t axis) {
  const size_t size = weights.size();
  if (axis < 0) return {1, size, 0, 1};
  const size_t channels = weights.dim(static_cast<int>(axis));
  if (axis == 0) return {channels, channels == 0 ? 0 : size / channels, channels == 0 ? 0 : size / channels, 1};
  return {channels, channels == 0 ? 0 : size / channels, 1, channels};  // a matrix [inputs, outputs]
}

bool pair_leaves_16_bits(int64_t a, int64_t b) {
  const int64_t most = 255 * (std::max<int64_t>(a, 0) + std::max<int64_t>(b, 0));
  const int64_t least = 255 * (std::min<int64_t>(a, 0) + std::min<int64_t>(b, 0));
  return most > INT16_MAX || least < INT16_MIN;
}

int64_t ties_of(int64_t low, int64_t high, float multiplier, const Affine& output) {
  if (!(multiplier > 0) || !std::isfinite(multiplier)) return 0;
  int64_t ties = 0;
  const int64_t from = integer_lowest(output.dtype) - output.zero_point;
  const int64_t to = integer_highest(output.dtype) - output.zero_point;
  for (int64_t step = from; step < to; ++step) {
    const float half = static_cast<float>(step) + 0.5F;
    const double near = std::nearbyint(static_cast<double>(half) / static_cast<double>(multiplier));
    if (std::abs(near) > 1e15) continue;
    for (int64_t sum = static_cast<int64_t>(near) - 1; sum <= static_cast<int64_t>(near) + 1; ++sum)
      ties += sum >= low && sum <= high && static_cast<float>(sum) * multiplier == half ? 1 : 0;
  }
  return ties;
}

}  // namespace

std::optional<Accumulators> accumulators_of(const Graph& graph, const Plan& plan, size_t i,
                                            const Quantizers& quantizers, const WrittenWeights& weights) {
  const Weights& which = plan.weights[i];
  if (plan.group.empty() || !plan.quantized[which.node]) return std::nullopt;
  const Node& node = graph.node(which.node);
  const std::vector<NodeId> nodes = with_ends(plan, which.node);
  const int in = group_of(plan, node.inputs[0]);
  const int out = group_of(plan, graph.node(nodes.back()).outputs[0]);
  if (in < 0 || (which.axis == 1 && node.op == "ConvTranspose")) return std::nullopt;
  const Affine& input = quantizers.groups[in];
  if (dtype_size(input.dtype) != 1) return std::nullopt;
  const int64_t least = integer_lowest(input.dtype) - input.zero_point;
  const int64_t most = integer_highest(input.dtype) - input.zero_point;
  const auto corrected = quantizers.biases.find(which.node);
  const Tensor* bias = corrected != quantizers.biases.end() ? &corrected->second : graph.constant(node.input(2));
  if (nodes.size() > 1 && is_op(graph.node(nodes[1]), "Add")) {  // of a MatMul
    const std::vector<ValueId>& added = graph.node(nodes[1]).inputs;
    bias = graph.constant(graph.constant(added[0]) != nullptr ? added[0] : added[1]);
  }
  const std::vector<double> biases = bias == nullptr ? std::vector<double>() : to_doubles(*bias);
  const std::span<const int8_t> q = weights.weights.values.values<int8_t>();
  const Rows rows = rows_of(weights.weights.values, which.axis);
  // Neighbours are input channels at one place of the kernel; of a depthwise layer, places of the kernel.
  const Tensor& shape = weights.weights.values;
  const size_t inputs = which.axis == 0 && shape.rank() > 1 ? static_cast<size_t>(shape.dim(1)) : rows.n;
  const size_t places = inputs == 0 ? 1 : rows.n / inputs;
  const size_t apart = inputs > 1 ? places : 1;

  Accumulators result;
  for (size_t c = 0; c < rows.channels; ++c) {
    int64_t positive = 0, negative = 0;
    for (size_t k = 0; k < rows.n; ++k) {
      const int64_t w = q[rows.at(c, k)];
      (w > 0 ? positive : negative) += w;
      if (k + apart < rows.n && !result.pairs_saturate)
        result.pairs_saturate = pair_leaves_16_bits(w, q[rows.at(c, k + apart)]);
    }
    const float scale = weights.weights.scales[weights.weights.scales.size() == 1 ? 0 : c];
    const float product = input.scale * scale;
    const double steps = biases.empty() ? 0 : biases[biases.size() == 1 ? 0 : c] / static_cast<double>(product);
    const auto b = static_cast<int64_t>(std::clamp(std::nearbyint(steps), -2147483648.0, 2147483647.0));
    const int64_t low = positive * least + negative * most + b, high = positive * most + negative * least + b;
    result.low.push_back(low);
    result.high.push_back(high);
    result.wraps = result.wraps || low < INT32_MIN || high > INT32_MAX;
    if (out < 0) continue;
    const Affine& output = quantizers.groups[out];
    if (dtype_size(output.dtype) == 1) result.ties += ties_of(low, high, product / output.scale, output);
  }
  return result;
}

}  // namespace dnn::quant
