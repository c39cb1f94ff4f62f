// TorchScript archives: the row of formats.def.
#pragma once
#include "formats/format.h"

namespace dnn::torchscript {

// True for a zip with a program: data.pkl, constants.pkl and code.
bool sniff(const ModelSource& source);
// forward() of the archive's module, as an IR graph, verified. Python's numbers, lists and control
// flow are computed at load time; nothing else of the program runs. Where neither the file nor the source's `shapes` say an input's shape, it
// is what the first layer takes, with batch, height and width open. A condition on what is known only when the network runs,
// an operator without a counterpart, a tensor written to through a view: Unsupported, with the line of the program.
Graph read(const ModelSource& source);
// A TorchScript archive that torch.jit.load of PyTorch 1.13 and later takes: one class without submodules, whose attributes
// have the dotted names that the source's parameters have. The same bytes for the same graph. Unsupported, by name, for a node
// that PyTorch cannot express.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);

}  // namespace dnn::torchscript
