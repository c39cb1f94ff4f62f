// Tensors in PyTorch's zip files; see storage.h.
#include "formats/torch/storage.h"

#include "base/error.h"

namespace dnn::torch {
namespace {

const char* storage_class(DType dtype) {
  switch (dtype) {
    case DType::Float32: return "FloatStorage";
    case DType::Float64: return "DoubleStorage";
    case DType::Float16: return "HalfStorage";
    case DType::BFloat16: return "BFloat16Storage";
    case DType::Int64: return "LongStorage";
    case DType::Int32: return "IntStorage";
    case DType::Int16: return "ShortStorage";
    case DType::Int8: return "CharStorage";
    case DType::UInt8: return "ByteStorage";
    case DType::Bool: return "BoolStorage";
    case DType::Complex64: return "ComplexFloatStorage";
    case DType::Complex128: return "ComplexDoubleStorage";
    default: fail_unsupported("PyTorch has no tensors of ", dtype_name(dtype), " that can be written");
  }
}

}  // namespace

void StorageWriter::put(pickle::Writer& pickle, const Tensor& tensor, bool requires_grad) {
  const std::string key = cat(count_++);
  pickle.global("torch._utils", "_rebuild_tensor_v2");
  pickle.mark();
  pickle.mark();
  pickle.string("storage");
  pickle.global("torch", storage_class(tensor.dtype()));
  pickle.string(key);
  pickle.string("cpu");
  pickle.integer(tensor.size());
  pickle.tuple();
  pickle.persistent();
  pickle.integer(0);  // where it begins
  pickle.mark();
  for (int64_t extent : tensor.shape()) pickle.integer(extent);
  pickle.tuple();
  pickle.mark();
  for (int64_t stride : row_major_strides(tensor.shape())) pickle.integer(stride);
  pickle.tuple();
  pickle.boolean(requires_grad);
  pickle.global("collections", "OrderedDict");  // hooks
  pickle.empty_tuple();
  pickle.reduce();
  pickle.tuple();
  pickle.reduce();
  zip_.add(prefix_ + key, content_of(tensor));
}

}  // namespace dnn::torch
