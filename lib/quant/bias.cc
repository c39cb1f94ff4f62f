// Bias correction; see bias.h.
#include "quant/bias.h"

#include "ops/attributes.h"
#include "ops/weights.h"

namespace dnn::quant {

std::optional<int> mean_axis(const Graph& graph, const Weights& weights) {
  const Node& node = graph.node(weights.node);
  if (weights.axis < 0 || node.op == "ConvTranspose") return std::nullopt;
  if (node.op == "MatMul") return std::nullopt;  // has no bias to correct
  return 1;
}

namespace {

// `instead`: the number at a place of the weights, in an output channel.
template <class Instead>
std::optional<Tensor> corrected(const Graph& graph, const Weights& weights, const ChannelMeans& means,
                                Instead&& instead) {
  const Node& node = graph.node(weights.node);
  const Tensor& real = *graph.constant(node.inputs[1]);
  if (means.count == 0) return std::nullopt;
  const size_t outputs = real.dim(static_cast<int>(weights.axis));
  std::vector<double> bias(outputs, 0);
  if (const Tensor* own = graph.constant(node.input(2))) {
    const std::vector<double> numbers = to_doubles(*own);
    for (size_t o = 0; o < outputs; ++o) bias[o] = numbers[numbers.size() == 1 ? 0 : o];
  }
  const std::span<const float> w = real.values<float>();
  // Weights are [outputs, inputs of the group, kernel...], or those of a Gemm, [outputs, inputs] or [inputs, outputs].
  const bool columns = weights.axis == 1;
  const size_t groups = is_convolution(node) ? int_attribute(node, "group") : 1;
  const size_t inputs = real.dim(columns ? 0 : 1);
  const size_t kernel = columns ? 1 : w.size() / (outputs * inputs);
  if (means.sums.size() != inputs * groups) return std::nullopt;
  for (size_t o = 0; o < outputs; ++o) {
    const size_t first = o / (outputs / groups) * inputs;
    for (size_t i = 0; i < inputs; ++i) {
      double lost = 0;
      for (size_t k = 0; k < kernel; ++k) {
        const size_t at = columns ? i * outputs + o : (o * inputs + i) * kernel + k;
        lost += static_cast<double>(w[at]) - instead(at, o);
      }
      bias[o] += lost * means.sums[first + i].value() / static_cast<double>(means.count);
    }
  }
  return convert(Tensor::of<double>({static_cast<int64_t>(outputs)}, bias), DType::Float32);
}

}  // namespace

std::optional<Tensor> corrected_bias(const Graph& graph, const Weights& weights, const QuantizedWeights& rounded,
                                     const ChannelMeans& means) {
  const std::span<const int8_t> q = rounded.values.values<int8_t>();
  return corrected(graph, weights, means, [&](size_t at, size_t o) {
    return static_cast<double>(q[at]) * static_cast<double>(rounded.scales[o]);
  });
}

std::optional<Tensor> corrected_bias(const Graph& graph, const Weights& weights, const Tensor& instead,
                                     const ChannelMeans& means) {
  const std::span<const float> w = instead.values<float>();
  return corrected(graph, weights, means, [&](size_t at, size_t) { return static_cast<double>(w[at]); });
}

}  // namespace dnn::quant
