// Tensors of torch's pickles: views of storages by offset and strides, quantised ones too.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/wire/pickle.h"
#include "tensor/tensor.h"

namespace dnn::torch {

// A tensor as a file has it. Where it is quantised, `values` are its integers: real = (integer - zero point) * scale.
struct StoredTensor {
  Tensor values;
  bool quantized = false;
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  int64_t axis = -1;  // of the scales; -1: one for all
};

// Throws Unsupported unless the global is one that weights need: tensors, storages, dictionaries.
void check_weight_global(std::string_view module, std::string_view name);

// Tensors as parts of storages, by offset and strides.
class StridedTensors {
 public:
  // `owner` keeps the storages alive; `swapped`: numbers stand in the other order of bytes. What must be copied is together not much
  // more than the file.
  StridedTensors(std::shared_ptr<const void> owner, bool swapped, size_t file_bytes);
  // Throws Malformed where the tensor leaves its storage.
  Tensor read(DType dtype, Bytes storage, int64_t offset, const std::vector<int64_t>& sizes,
              const std::vector<int64_t>& strides);

 private:
  std::shared_ptr<const void> owner_;
  bool swapped_;
  size_t budget_;  // bytes that may still be copied
};

class TensorTable {
 public:
  using Load = std::function<Bytes(const std::string& key)>;
  // `load` gives a storage's bytes, which `owner` keeps alive; the tree must outlive the table. `swapped`: numbers stand in the other order of bytes.
  TensorTable(const pickle::Tree& tree, Load load, std::shared_ptr<const void> owner, bool swapped, size_t file_bytes);

  // Whether the value is a tensor or a parameter that wraps one.
  bool is_tensor(pickle::Ref ref) const;
  // Its shape and its dtype alone, which need no storage; Undefined for a dtype that is not known.
  Shape shape(pickle::Ref ref) const;
  DType dtype(pickle::Ref ref) const;
  // It. Throws Malformed where it does not fit its storage, Unsupported for kinds that the IR lacks.
  const StoredTensor& tensor(pickle::Ref ref);

 private:
  struct Storage {
    DType dtype = DType::Undefined;
    Bytes bytes;
  };
  StoredTensor rebuild(pickle::Ref ref);
  Storage storage(pickle::Ref ref);
  std::vector<int64_t> integers(pickle::Ref ref, std::string_view what) const;
  void quantize(pickle::Ref quantizer, StoredTensor* tensor);

  const pickle::Tree& tree_;
  Load load_;
  StridedTensors strided_;
  std::unordered_map<pickle::Ref, StoredTensor> done_;
  std::unordered_map<std::string, Bytes> storages_;
};

// "torch.FloatStorage"'s element type by its name in pickles, "torch FloatStorage"; Undefined for others.
DType storage_dtype(std::string_view global);

}  // namespace dnn::torch
