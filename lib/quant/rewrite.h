// Rewriting: a float32 graph with quantisers in it, as ONNX's QDQ form has them: QuantizeLinear and DequantizeLinear around what
// computes on integers, integer weights and biases behind a DequantizeLinear.
#pragma once
#include <map>
#include <vector>

#include "quant/plan.h"
#include "quant/scheme.h"

namespace dnn::quant {

struct Quantizers {
  std::vector<Affine> groups;       // by Plan::groups
  std::map<NodeId, Tensor> biases;  // corrected, float32 [channels]; absent: the node's own
  double largest_weight = kLargestWeight;
};

// The weights of a quantised node as they are written.
struct WrittenWeights {
  NodeId node = -1;
  QuantizedWeights weights;
  bool widened = false;  // a channel's scale grew so that its bias fits int32
};

// `weights` in the order of plan.weights, see quantize_node_weights(). Readers of a value that a quantised node makes read what
// DequantizeLinear makes of it, the graph's outputs included: the value keeps its name, and what the node makes is NAME.real.
void insert_quantizers(Graph& graph, const Plan& plan, const Quantizers& quantizers,
                       const std::vector<WrittenWeights>& weights);

// The weights of plan.weights[i] as int8. With activations the scale of a channel is at least so large that its bias fits int32.
WrittenWeights quantize_node_weights(const Graph& graph, const Plan& plan, size_t i, const Quantizers& quantizers);

}  // namespace dnn::quant
