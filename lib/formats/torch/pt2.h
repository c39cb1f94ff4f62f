// Programs of torch.export: the row of formats.def.
#pragma once
#include "formats/format.h"

namespace dnn::pt2 {

// True for a zip of either generation: models/model.json, or serialized_exported_program.json.
bool sniff(const ModelSource& source);
// The exported graph as an IR graph, verified. Parameters and buffers keep their names; nodes are called like the module that
// they belong to. An operator without a counterpart is Unsupported, by its name and node.
// Extents that are open in the file are fixed where the source's `shapes` say them.
Graph read(const ModelSource& source);
// An exported program that torch.export.load of PyTorch 2.8 and later takes, the tensors under the source's names. Open extents
// stay open. Unsupported, by name, for a node that PyTorch cannot express.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::pt2
