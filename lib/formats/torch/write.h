// Writing PyTorch's files: TorchScript and exported programs.
#pragma once
#include <string>

#include "formats/format.h"
#include "formats/torch/aten.h"

namespace dnn::torch {

// The class that TorchScript runs, as its text.
std::string torchscript_text(const Program& program);

// A model that is one file; its bytes are not copied.
inline ModelFiles single_file(std::string bytes) {
  ModelFiles files(1);
  files[0].bytes = std::move(bytes);
  return files;
}

}  // namespace dnn::torch

namespace dnn::torchscript {

// A TorchScript archive that torch.jit.load of PyTorch 1.13 and later takes: one class without submodules, whose attributes
// have the dotted names that the source's parameters have. The same bytes for the same graph. Unsupported, by name, for a node
// that PyTorch cannot express.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);
// Not read yet.
inline bool sniff(const ModelSource&) { return false; }
constexpr Graph (*read)(const ModelSource&) = nullptr;  // NOLINT(readability-identifier-naming)

}  // namespace dnn::torchscript

namespace dnn::pt2 {

// An exported program that torch.export.load of PyTorch 2.8 and later takes, the tensors under the source's names. Open extents
// stay open. Unsupported, by name, for a node that PyTorch cannot express.
ModelFiles to_files(const Graph& graph, const WriteOptions& options);
// Not read yet.
inline bool sniff(const ModelSource&) { return false; }
constexpr Graph (*read)(const ModelSource&) = nullptr;  // NOLINT(readability-identifier-naming)

}  // namespace dnn::pt2
