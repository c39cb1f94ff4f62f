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
