// Tensors in messages; see tensors.h.
#include "remote/tensors.h"

#include "remote/handshake.h"

namespace dnn::remote {

Json types_of(const std::vector<Tensor>& tensors) {
  Json types = Json::array();
  for (const Tensor& tensor : tensors) {
    if (tensor.dtype() == DType::String) fail_unsupported("texts do not go to a device of another machine");
    types.push_back({{"dtype", std::string(dtype_name(tensor.dtype()))}, {"shape", tensor.shape()}});
  }
  return types;
}

std::vector<Bytes> bytes_of(const std::vector<Tensor>& tensors) {
  std::vector<Bytes> bytes;
  for (const Tensor& tensor : tensors) bytes.push_back(tensor.bytes());
  return bytes;
}

std::vector<Tensor> tensors_of(const Json& types, Bytes payload) {
  constexpr size_t kMostTensors = 1 << 16, kMostAxes = 32;
  if (!types.is_array() || types.size() > kMostTensors) fail_malformed("a message lacks its tensors' types");
  std::vector<Tensor> tensors;
  size_t at = 0;
  for (const Json& type : types) {
    if (!type.is_object()) fail_malformed("a tensor's type is no map");
    const DType dtype = dtype_from_name(text_of(type, "dtype"));
    if (dtype == DType::Undefined || dtype == DType::String) fail_malformed("a tensor of ", text_of(type, "dtype"));
    const auto extents = type.find("shape");
    if (extents == type.end() || !extents->is_array() || extents->size() > kMostAxes)
      fail_malformed("a tensor has no shape");
    Shape shape;
    for (const Json& extent : *extents) {
      if (!extent.is_number_integer()) fail_malformed("an extent is no number");
      shape.push_back(extent.get<int64_t>());
    }
    const auto size = static_cast<uint64_t>(element_count(shape));
    const uint64_t left = payload.size() - at;
    if (size > left / dtype_size(dtype)) fail_malformed("a tensor ", shape_text(shape), " has ", left, " bytes");
    const Bytes bytes = payload.subspan(at, size * dtype_size(dtype));
    at += bytes.size();
    Tensor tensor(dtype, shape);
    if (!bytes.empty()) std::memcpy(tensor.mutable_bytes(), bytes.data(), bytes.size());
    tensors.push_back(std::move(tensor));
  }
  if (at != payload.size()) fail_malformed(payload.size() - at, " bytes belong to no tensor");
  return tensors;
}

}  // namespace dnn::remote
