// Layers in float32 between quantised ones, kept from a runtime that would quantise them.
#pragma once
#include "graph/graph.h"

namespace dnn::quant {

// ONNX Runtime (WeightBiasQuantization, at its default level) makes int8 per tensor of the weights of a Conv, ConvTranspose or Gemm in
// float32 whose input a DequantizeLinear of one scale makes and whose result a QuantizeLinear reads, alone or behind Relu and Clip. Such
// a layer gets a DequantizeLinear of its own, with the same scale for each channel: the same numbers, and not that pattern. Returns how
// many layers there were. Types must be inferred.
int guard_float_layers(Graph& graph);

}  // namespace dnn::quant
