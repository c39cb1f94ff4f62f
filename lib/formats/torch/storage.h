// How tensors go into PyTorch's zip files: a record of bytes for each, and a pickle that says what they are.
#pragma once
#include "base/zip_write.h"
#include "formats/wire/pickle_write.h"
#include "tensor/tensor.h"

namespace dnn::torch {

// Tensors of one pickle: "data.pkl" with its records "data/0", ...; the tensors must live as long as the zip.
class StorageWriter {
 public:
  StorageWriter(ZipWriter& zip, std::string prefix) : zip_(zip), prefix_(std::move(prefix)) {}
  // Pushes the tensor. Unsupported for element types that PyTorch lacks.
  void put(pickle::Writer& pickle, const Tensor& tensor, bool requires_grad);

 private:
  ZipWriter& zip_;
  std::string prefix_;
  int64_t count_ = 0;
};

// PyTorch wants tensors' bytes at multiples of this.
inline constexpr size_t kStorageAlignment = 64;

}  // namespace dnn::torch
