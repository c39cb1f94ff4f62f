// TensorProto to Tensor and back: every encoding (raw, typed fields, packed small types, strings, external, sparse).
#pragma once
#include <map>
#include <memory>
#include <string>

#include "formats/format.h"
#include "tensor/tensor.h"

namespace dnn::onnx {

class TensorProto;
class SparseTensorProto;
class ModelProto;

// Files beside the model that hold weights, each mapped once. A location may not leave the model's folder: neither by
// name nor through a link, except to the folder of the file that the model's own name links to.
class ExternalFiles {
 public:
  // A model from standard input has no place: every lookup is refused.
  explicit ExternalFiles(const ModelSource& model)
      : model_path_(model.path), held_(model.files), model_{model.bytes, model.owner} {}
  SharedBytes open(const std::string& location);
  // The model's own file.
  const SharedBytes& model() const { return model_; }

 private:
  std::string model_path_;
  std::shared_ptr<const HeldFiles> held_;
  SharedBytes model_;
  std::map<std::string, SharedBytes> files_;
};

// Whether the bytes are a model, whose raw data stay where they are.
bool parse_model(Bytes bytes, ModelProto* model);

// Takes the payload out of `proto` where that saves a copy. Throws Malformed with the tensor's name.
Tensor read_tensor(TensorProto& proto, ExternalFiles& files);
Tensor read_sparse_tensor(SparseTensorProto& proto, ExternalFiles& files);

// Elements packed as ONNX packs them: little-endian, two 4-bit, four 2-bit elements a byte, four 6-bit in three bytes.
std::string packed_bytes(const Tensor& tensor);
// Bytes that packed_bytes gives for that many elements.
uint64_t packed_size(DType dtype, int64_t n_elements);
// The reverse; `bytes` must hold exactly packed_size bytes (Malformed otherwise).
Tensor unpack(DType dtype, const Shape& shape, Bytes bytes);

// dims, data_type and raw_data (string_data for strings); the name is left alone.
void write_tensor(const Tensor& tensor, TensorProto* proto);

}  // namespace dnn::onnx
