// Files that hold weights and no graph: state dicts and checkpoints of torch.save, and safetensors. They are read as graphs
// without nodes, whose constants are the tensors under their names.
#pragma once
#include "formats/format.h"

namespace dnn::torch {

// Adds a tensor of a file to a graph of weights; `swapped` etc. are settled before. Malformed for a name that is taken.
void add_weight(Graph& graph, const std::string& name, Tensor tensor);

}  // namespace dnn::torch

namespace dnn::statedict {

// True for torch.save's zip and for its older stream of pickles; also for any other pickle, so that read() can say what it is.
bool sniff(const ModelSource& source);
// The tensors of a state dict, or of the one in a checkpoint ("state_dict", "model", ...), without the "module." that
// DataParallel puts in front. Unsupported for a pickled object that needs its Python class, by the class's name.
Graph read(const ModelSource& source);
// The parameters and buffers of a network, or all of a graph that is weights only, as torch.save writes a state dict: what
// torch.load takes with weights_only and with mmap.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::statedict

namespace dnn::safetensors {

// True when the length in front fits the file and is followed by JSON.
bool sniff(const ModelSource& source);
Graph read(const ModelSource& source);
// The same tensors; the graph's metadata beside them.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::safetensors
