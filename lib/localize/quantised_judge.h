// Faults of a quantised network: what none of its scales, zero points, integers and biases can be, whichever way it was quantised.
//
// A weight's integer stands for the source's weight to half its step (to a whole one where a network's are rounded adaptively), or
// is the last that there is. A bias is the source's to half a step and to what it can make up for: the layer's own error on the mean
// of its input. Quantiser and dequantisers of one activation agree, and a bias's scale is its input's times its weights'. The range
// of an activation holds what the source has there.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "localize/edits.h"
#include "localize/quantised_layers.h"
#include "localize/quantised_scaling.h"
#include "localize/source_range.h"

namespace dnn {

struct QuantisedFault {
  NodeId node = -1;            // of the target, which holds what is wrong
  NodeId layer = -1;           // of the target, that it belongs to: the one that reads it; -1: of an activation
  std::vector<NodeId> beside;  // of the target, that it does not agree with
  NodeId source = -1;          // of the folded source, the layer, or what makes the activation
  std::string what, fix;
  double times = 1;  // how many times what a quantiser can have chosen
  std::vector<Edit> edits;
};

struct QuantisedVerdict {
  QuantisedMatch match;
  std::vector<QuantisedFault> faults;  // worst first
  // Ranges that are no match for the source's; of a network that is wrong otherwise they may be what was right for that.
  std::vector<QuantisedFault> ranges;
  std::map<NodeId, bool> weights, biases;  // by layer of the target: whether they are the source's, quantised
  int64_t n_layers = 0, n_activations = 0;
  bool adaptive = false;  // weights are rounded up or down, as suits the layer
};

// `ranges` are of source.as_quantised().
QuantisedVerdict judge_quantised(const QuantisedSource& source, const Graph& target, const SourceRanges& ranges);

}  // namespace dnn
