// Bias correction: the mean of what rounded weights add to an operator's results, taken off its bias.
#pragma once
#include <optional>

#include "quant/calibrate.h"
#include "quant/plan.h"
#include "quant/scheme.h"

namespace dnn::quant {

// The axis of a weighted node's input whose means the correction needs; nullopt where it cannot be corrected.
std::optional<int> mean_axis(const Graph& graph, const Weights& weights);

// The bias of a node of `weights` so that, on average over samples and positions, rounded weights give what the real ones give
// (Nagel et al., Data-Free Quantization, 2019, section 4.2, with measured means): b + sum (W - Wq) E[x]. Padding is taken as if
// it had the mean, too. float32 [channels]; nullopt where the means are not known.
std::optional<Tensor> corrected_bias(const Graph& graph, const Weights& weights, const QuantizedWeights& rounded,
                                     const ChannelMeans& means);
// The same for any weights that stand in for the real ones.
std::optional<Tensor> corrected_bias(const Graph& graph, const Weights& weights, const Tensor& instead,
                                     const ChannelMeans& means);

}  // namespace dnn::quant
