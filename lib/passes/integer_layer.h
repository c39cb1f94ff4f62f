// Operators between DequantizeLinear and QuantizeLinear on integers, as the passes integer-arithmetic and tflite-arithmetic share them.
#pragma once
#include <optional>

#include "graph/patch.h"

namespace dnn {

// How sums become numbers of another scale: by a float32 factor and one rounding, as ONNX has it, or by TFLite's fixed-point one.
// tf.lite's reference kernel of FULLY_CONNECTED takes a float64 factor and rounds once; that of TensorFlow Lite Micro does not.
enum class Rescale { Float, Tflite, TfliteMicro };

// The layer that ends in the QuantizeLinear `end`, as one dnn.QuantizedConv; nothing where there is none, or none that it can be.
std::optional<Patch> integer_layer(const Graph& graph, const Uses& uses, NodeId end, Rescale rescale);

// An operator that picks numbers of a DequantizeLinear picks integers, and the DequantizeLinear comes behind it. Nothing where a
// QuantizeLinear reads it alone, unless `before_quantizers`.
std::optional<Patch> integers_picked(const Graph& graph, const Uses& uses, NodeId id, bool before_quantizers);

// The mean of windows or planes that ends in the QuantizeLinear `end`, as one dnn.QuantizedAverage; of TFLite only where both have one
// grid.
std::optional<Patch> integer_average(const Graph& graph, const Uses& uses, NodeId end, Rescale rescale);

}  // namespace dnn
