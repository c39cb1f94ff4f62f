// Keras' files, .keras and .h5: two rows of formats.def.
#pragma once
#include "formats/format.h"

namespace dnn::keras {

// True for a zip file that holds config.json.
bool sniff(const ModelSource& source);
// The model as an IR graph, verified: of Keras 3 or tf_keras. Inputs and outputs keep the file's order of axes; layers name
// nodes and their results. A layer without a counterpart is Unsupported by its name, as is code (Lambda).
Graph read(const ModelSource& source);
// The graph as layers of Keras 3, channels last, the same bytes for the same graph; operations of Keras 3 where no layer does.
// What neither does is Unsupported, by the node's name.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::keras

namespace dnn::keras_h5 {

// True for HDF5.
bool sniff(const ModelSource& source);
// The same, of Keras 1 to 3.
Graph read(const ModelSource& source);
// The graph as layers that Keras 3 and tf_keras both have; see keras::to_files().
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::keras_h5
