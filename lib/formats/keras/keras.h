// Keras' files, .keras and .h5: two rows of formats.def.
#pragma once
#include "formats/format.h"

namespace dnn::keras {

// True for a zip file that holds config.json.
bool sniff(const ModelSource& source);
// The model as an IR graph, verified: of Keras 3 or tf_keras. Inputs and outputs keep the file's order of axes; layers name
// nodes and their results. A layer without a counterpart is Unsupported by its name, as is code (Lambda).
Graph read(const ModelSource& source);
// Not written yet.
constexpr ModelFiles (*to_files)(const Graph&, const WriteOptions&) = nullptr;  // NOLINT(readability-identifier-naming)

}  // namespace dnn::keras

namespace dnn::keras_h5 {

// True for HDF5.
bool sniff(const ModelSource& source);
// The same, of Keras 1 to 3.
Graph read(const ModelSource& source);
// Not written yet.
constexpr ModelFiles (*to_files)(const Graph&, const WriteOptions&) = nullptr;  // NOLINT(readability-identifier-naming)

}  // namespace dnn::keras_h5
