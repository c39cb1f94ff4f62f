// TFLite files: the row of formats.def.
#pragma once
#include "formats/format.h"

namespace dnn::tflite {

// True when the FlatBuffer's identifier is "TFL3".
bool sniff(const ModelSource& source);
// Subgraph 0 as an IR graph, verified. Channels stand first inside; inputs and outputs keep the file's order of axes. A quantised
// tensor stays one: QuantizeLinear makes it, DequantizeLinear stands before what computes with it. An operator without a
// counterpart, or with options that have none, is Unsupported, by its name and output.
Graph read(const ModelSource& source);
// The graph as TFLite, channels last, activations at the end of what makes their input; the same bytes for the same graph. A
// node or value that TFLite cannot express is Unsupported, by name. 64-bit integers inside become 32-bit ones.
ModelFiles to_files(const Graph& graph, const WriteOptions& options = {});

}  // namespace dnn::tflite
