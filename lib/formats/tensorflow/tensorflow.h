// TensorFlow: frozen GraphDef (.pb), and SavedModel (a folder) of TensorFlow 1 and 2 with its variables and functions.
#pragma once
#include "formats/format.h"

namespace dnn::graphdef {

bool sniff(const ModelSource& source);
// Inputs are the Placeholders that count, outputs the nodes that no other reads. Throws Malformed, Unsupported.
Graph read(const ModelSource& source);
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::graphdef

namespace dnn::savedmodel {

bool sniff(const ModelSource& source);
// The signature serving_default, or the first that has outputs, with its names. Throws Malformed, Unsupported.
Graph read(const ModelSource& source);
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::savedmodel
