// Writing PyTorch's files: TorchScript and exported programs.
#pragma once
#include <string>

#include "formats/format.h"
#include "formats/torch/aten.h"

namespace dnn::torch {

// The class that TorchScript runs, as its text.
std::string torchscript_text(const Program& program);

// A model that is one file.
inline ModelFiles single_file(Content bytes) { return {{"", std::move(bytes)}}; }

}  // namespace dnn::torch
