// Equalising: factors per channel that are moved from one layer into the next ones, so that the channels of the value between
// them have ranges alike and one scale serves them all.
#pragma once
#include "quant/calibrate.h"

namespace dnn::quant {

// Values whose peaks equalise() needs, with their axes. `bound` as bound_graph() gives it.
std::map<ValueId, ChannelFigures> equalised_values(const Graph& bound);

// Divides the channels of values between two layers by factors: the layer in front makes them so, the layers behind multiply them
// back in their weights. What the network computes stays the same, up to rounding. A factor is the root of the channel's peak
// by the weight that reads it, each against the largest of its kind (Nagel et al., Data-Free Quantization, 2019, section
// 4.1, with measured peaks, as Xiao et al., SmoothQuant, 2023, section 4 have it); a depthwise layer's weights have a scale for each
// channel, so that there it is the peak alone. Behind a Clip from 0 on, channels that reach its upper bound stay as they are,
// and none grows beyond it. Ids are those of the graph that peaks were measured on. Returns how many values changed.
int equalise(Graph& prepared, const Graph& bound, const std::map<ValueId, ChannelFigures>& peaks);

}  // namespace dnn::quant
