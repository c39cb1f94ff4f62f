// The text form of graphs as a model format: the row of formats.def.
#pragma once
#include "formats/format.h"

namespace dnn::text {

// True when the first word behind blanks and comments is "graph".
bool sniff(const ModelSource& source);
Graph read(const ModelSource& source);
// With every constant, so that the file is the whole model.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::text
