// TensorProto to Tensor and back; see tensor_proto.h.
#include "formats/onnx/tensor_proto.h"

#include <algorithm>
#include <limits>

#include <schemas/onnx.pb.h>

#include "base/inside.h"
#include "formats/wire/proto.h"

namespace dnn::onnx {
namespace {

// A sparse tensor may ask for this many bytes, or this many times its own size, whichever is more.
constexpr uint64_t kSparseFreeBytes = uint64_t{64} << 20;
constexpr uint64_t kSparseExpansion = 1000;

bool is_signed_small(DType dtype) { return dtype == DType::Int4 || dtype == DType::Int2; }

// Sign-extends the low `bits` of a code of a signed small type; others stay as they are.
uint8_t element_of_code(DType dtype, unsigned code, int bits) {
  if (is_signed_small(dtype) && (code >> (bits - 1)) != 0) code |= ~0u << bits;
  return static_cast<uint8_t>(code);
}

Shape read_dims(const TensorProto& proto) { return Shape(proto.dims().begin(), proto.dims().end()); }

// One element of a typed field per element of the tensor.
template <class To, class Field>
Tensor from_field(DType dtype, const Shape& shape, const Field& field, int64_t per_element = 1) {
  const int64_t n = element_count(shape);
  if (static_cast<uint64_t>(field.size()) != static_cast<uint64_t>(n) * static_cast<uint64_t>(per_element)) {
    fail_malformed(dtype_name(dtype), shape_text(shape), " wants ", n, " elements, has ", field.size() / per_element);
  }
  Tensor tensor(dtype, shape);
  To* out = reinterpret_cast<To*>(tensor.mutable_bytes());
  std::transform(field.begin(), field.end(), out, [](auto value) { return static_cast<To>(value); });
  return tensor;
}

// int32_data holds 4- and 2-bit types packed, one byte an entry.
Tensor from_packed_field(DType dtype, const Shape& shape, const google::protobuf::RepeatedField<int32_t>& field) {
  std::string bytes(field.begin(), field.end());
  return unpack(dtype, shape, as_bytes(bytes));
}

Tensor from_typed_fields(DType dtype, const Shape& shape, const TensorProto& proto) {
  switch (dtype) {
    case DType::Float32: return from_field<float>(dtype, shape, proto.float_data());
    case DType::Complex64: return from_field<float>(dtype, shape, proto.float_data(), 2);
    case DType::Float64: return from_field<double>(dtype, shape, proto.double_data());
    case DType::Complex128: return from_field<double>(dtype, shape, proto.double_data(), 2);
    case DType::Int64: return from_field<int64_t>(dtype, shape, proto.int64_data());
    case DType::UInt64: return from_field<uint64_t>(dtype, shape, proto.uint64_data());
    case DType::UInt32: return from_field<uint32_t>(dtype, shape, proto.uint64_data());
    case DType::Int32: return from_field<int32_t>(dtype, shape, proto.int32_data());
    case DType::Int16:
    case DType::UInt16:
    case DType::Float16:
    case DType::BFloat16: return from_field<uint16_t>(dtype, shape, proto.int32_data());
    case DType::UInt4:
    case DType::Int4:
    case DType::Float4E2M1:
    case DType::UInt2:
    case DType::Int2: return from_packed_field(dtype, shape, proto.int32_data());
    case DType::Float6E2M3:
    case DType::Float6E3M2: {
      Tensor tensor = from_field<uint8_t>(dtype, shape, proto.int32_data());
      uint8_t* codes = reinterpret_cast<uint8_t*>(tensor.mutable_bytes());
      std::for_each(codes, codes + tensor.size(), [](uint8_t& code) { code &= 0x3f; });
      return tensor;
    }
    case DType::Bool: {
      Tensor tensor = from_field<uint8_t>(dtype, shape, proto.int32_data());
      uint8_t* bytes = reinterpret_cast<uint8_t*>(tensor.mutable_bytes());
      for (int64_t i = 0; i < tensor.size(); ++i) bytes[i] = proto.int32_data(static_cast<int>(i)) != 0;
      return tensor;
    }
    default: return from_field<uint8_t>(dtype, shape, proto.int32_data());  // the 8-bit types
  }
}

Tensor from_strings(const Shape& shape, const TensorProto& proto) {
  if (element_count(shape) != proto.string_data_size()) {
    fail_malformed("string", shape_text(shape), " wants ", element_count(shape), " elements, has ",
                   proto.string_data_size());
  }
  Tensor tensor(DType::String, shape);
  std::copy(proto.string_data().begin(), proto.string_data().end(), tensor.mutable_strings().begin());
  return tensor;
}

// A view of `bytes` where memory and file agree on the layout, else a converted copy.
Tensor from_raw(DType dtype, const Shape& shape, Bytes bytes, std::shared_ptr<const void> owner) {
  if (dtype == DType::String) fail_malformed("strings cannot be raw data");
  if (bytes.size() != packed_size(dtype, element_count(shape))) {
    fail_malformed(dtype_name(dtype), shape_text(shape), " wants ", packed_size(dtype, element_count(shape)),
                   " bytes, has ", bytes.size());
  }
  if (dtype_bits(dtype) % 8 != 0) return unpack(dtype, shape, bytes);
  if (dtype == DType::Bool && std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b > std::byte{1}; })) {
    Tensor tensor(dtype, shape);
    std::transform(bytes.begin(), bytes.end(), tensor.mutable_bytes(),
                   [](std::byte b) { return std::byte{b != std::byte{0}}; });
    return tensor;
  }
  return Tensor::view(dtype, shape, bytes, std::move(owner));
}

Tensor from_external(DType dtype, const Shape& shape, const TensorProto& proto, ExternalFiles& files) {
  std::string location;
  const uint64_t wanted = packed_size(dtype, element_count(shape));
  int64_t offset = 0, length = -1;
  for (const StringStringEntryProto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
    const bool is_offset = entry.key() == "offset", is_length = entry.key() == "length";
    if (!is_offset && !is_length) continue;
    int64_t number = 0;
    if (!parse_int(entry.value(), &number) || number < 0) {
      fail_malformed("external data ", entry.key(), " ", quoted(entry.value()), " is not a count of bytes");
    }
    (is_offset ? offset : length) = number;
  }
  const SharedBytes file = files.open(location);
  const size_t size = file.bytes.size();
  if (static_cast<uint64_t>(offset) > size)
    fail_malformed(location, ": offset ", offset, " lies beyond its ", size, " bytes");
  const uint64_t n = length < 0 ? wanted : static_cast<uint64_t>(length);
  if (n > size - static_cast<uint64_t>(offset)) {
    fail_malformed(location, ": ", n, " bytes expected at offset ", offset, ", the file ends at ", size);
  }
  return from_raw(dtype, shape, file.bytes.subspan(offset, n), file.owner);
}

}  // namespace

SharedBytes ExternalFiles::open(const std::string& location) {
  const std::filesystem::path relative(location);
  if (location.empty()) fail_malformed("external data without a location");
  if (location.find('\0') != std::string::npos || relative.is_absolute() ||
      std::any_of(relative.begin(), relative.end(), [](const auto& part) { return part == ".."; })) {
    fail_malformed("external data location ", quoted(location), " leaves the model's folder");
  }
  if (model_path_.empty() || model_path_ == "-") {
    fail_malformed("the model has external data (", quoted(location), "): read it from its file, not from a stream");
  }
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  const std::filesystem::path folder = std::filesystem::path(model_path_).parent_path();
  const std::filesystem::path path = folder / relative;
  SharedBytes& file = files_[location];
  if (held_ != nullptr) {
    for (const auto& [suffix, bytes] : *held_) {
      if (path == model_path_ + suffix) file = bytes;
    }
    if (file.owner == nullptr) fail_malformed("external data location ", quoted(location), " is not in memory");
  } else {
    if (!lies_in(path, folder.empty() ? "." : folder) &&
        !lies_in(path, std::filesystem::weakly_canonical(model_path_).parent_path())) {
      fail_malformed("external data location ", quoted(location), " leaves the model's folder through a link");
    }
    auto mapped = std::make_shared<const MappedFile>(path.string());
    const Bytes content = mapped->bytes();
    file = {content, std::move(mapped)};
  }
  return file;
}

uint64_t packed_size(DType dtype, int64_t n_elements) {
  if (n_elements > int64_t{1} << 50) fail_malformed("a tensor of ", n_elements, " elements does not fit in memory");
  return (static_cast<uint64_t>(n_elements) * static_cast<uint64_t>(dtype_bits(dtype)) + 7) / 8;
}

Tensor unpack(DType dtype, const Shape& shape, Bytes bytes) {
  const int64_t n = element_count(shape);
  if (bytes.size() != packed_size(dtype, n)) {
    fail_malformed(dtype_name(dtype), shape_text(shape), " wants ", packed_size(dtype, n), " packed bytes, has ",
                   bytes.size());
  }
  Tensor tensor(dtype, shape);
  const int bits = dtype_bits(dtype);
  const unsigned mask = (1u << bits) - 1;
  uint8_t* out = reinterpret_cast<uint8_t*>(tensor.mutable_bytes());
  unsigned window = 0;
  int held = 0;
  size_t next = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (held < bits) {
      window |= static_cast<unsigned>(bytes[next++]) << held;
      held += 8;
    }
    out[i] = element_of_code(dtype, window & mask, bits);
    window >>= bits;
    held -= bits;
  }
  return tensor;
}

std::string packed_bytes(const Tensor& tensor) {
  const int bits = dtype_bits(tensor.dtype());
  if (bits % 8 == 0) return std::string(as_text(tensor.bytes()));
  std::string packed;
  packed.reserve(packed_size(tensor.dtype(), tensor.size()));
  const unsigned mask = (1u << bits) - 1;
  unsigned window = 0;
  int held = 0;
  for (std::byte element : tensor.bytes()) {
    window |= (static_cast<unsigned>(element) & mask) << held;
    held += bits;
    if (held < 8) continue;
    packed += static_cast<char>(window & 0xff);
    window >>= 8;
    held -= 8;
  }
  if (held > 0) packed += static_cast<char>(window);
  return packed;
}

bool parse_model(Bytes bytes, ModelProto* model) {
  enum { kModel, kGraph, kNode, kAttribute, kTensor, kSparse, kFunction, kTraining };
  static const std::vector<ProtoStep> steps = {
      {kModel, 7, kGraph},         {kModel, 20, kTraining},   {kModel, 25, kFunction},   {kGraph, 1, kNode},
      {kGraph, 5, kTensor},        {kGraph, 15, kSparse},     {kSparse, 1, kTensor},     {kSparse, 2, kTensor},
      {kNode, 5, kAttribute},      {kAttribute, 5, kTensor},  {kAttribute, 6, kGraph},   {kAttribute, 10, kTensor},
      {kAttribute, 11, kGraph},    {kAttribute, 22, kSparse}, {kAttribute, 23, kSparse}, {kFunction, 7, kNode},
      {kFunction, 11, kAttribute}, {kTraining, 1, kGraph},    {kTraining, 2, kGraph},    {kTensor, 9, kLong}};
  return parse_message(bytes, steps, model);
}

Tensor read_tensor(TensorProto& proto, ExternalFiles& files) {
  try {
    const DType dtype = dtype_from_onnx(proto.data_type());
    if (dtype == DType::Undefined) fail_malformed("element type ", proto.data_type(), " does not exist");
    if (proto.has_segment()) fail_unsupported("tensors in segments are not supported");
    const Shape shape = read_dims(proto);
    if (dtype == DType::String) return from_strings(shape, proto);
    if (proto.data_location() == 1) return from_external(dtype, shape, proto, files);
    if (proto.has_place()) {
      const SharedBytes& file = files.model();
      return from_raw(dtype, shape, bytes_at(proto.place(), file.bytes), file.owner);
    }
    if (!proto.has_raw_data()) return from_typed_fields(dtype, shape, proto);
    std::shared_ptr<const std::string> raw(proto.release_raw_data());
    return from_raw(dtype, shape, as_bytes(*raw), raw);
  } catch (Error& error) {
    throw error.within("tensor '" + proto.name() + "'");
  }
}

Tensor read_sparse_tensor(SparseTensorProto& proto, ExternalFiles& files) {
  Tensor values = read_tensor(*proto.mutable_values(), files);
  const Tensor indices = read_tensor(*proto.mutable_indices(), files);
  try {
    const Shape shape(proto.dims().begin(), proto.dims().end());
    const int64_t n = element_count(shape), n_values = values.size();
    const auto rank = static_cast<int64_t>(shape.size());
    const bool flat = indices.rank() == 1;
    if (values.dtype() == DType::String) fail_unsupported("sparse tensors of strings are not supported");
    if (values.rank() != 1 || indices.dtype() != DType::Int64 || (!flat && indices.rank() != 2) ||
        indices.dim(0) != n_values || (!flat && indices.dim(1) != rank)) {
      fail_malformed("values ", shape_text(values.shape()), " and indices ", shape_text(indices.shape()),
                     " do not match");
    }
    const uint64_t element_bytes = dtype_size(values.dtype());
    const uint64_t limit = std::max(kSparseFreeBytes, kSparseExpansion * (values.size_bytes() + indices.size_bytes()));
    if (static_cast<uint64_t>(n) > limit / element_bytes) {
      fail_unsupported("a dense ", dtype_name(values.dtype()), shape_text(shape), " of ", n_values,
                       " values is too large");
    }
    Tensor dense(values.dtype(), shape);
    const std::vector<int64_t> strides = row_major_strides(shape);
    const int64_t* index = indices.data<int64_t>();
    for (int64_t i = 0; i < n_values; ++i) {
      int64_t position = 0;
      if (flat) {
        position = index[i];
        if (position < 0 || position >= n) fail_malformed("index ", position, " is out of range");
      }
      for (int64_t axis = 0; !flat && axis < rank; ++axis) {
        const int64_t at = index[i * rank + axis];
        if (at < 0 || at >= shape[axis]) fail_malformed("index ", at, " is out of range");
        position += at * strides[axis];
      }
      std::memcpy(dense.mutable_bytes() + static_cast<uint64_t>(position) * element_bytes,
                  values.bytes().data() + static_cast<uint64_t>(i) * element_bytes, element_bytes);
    }
    return dense;
  } catch (Error& error) {
    throw error.within("sparse tensor '" + proto.values().name() + "'");
  }
}

void write_tensor(const Tensor& tensor, TensorProto* proto) {
  proto->set_data_type(static_cast<int32_t>(tensor.dtype()));
  for (int64_t extent : tensor.shape()) proto->add_dims(extent);
  if (tensor.dtype() == DType::String) {
    for (const std::string& text : tensor.strings()) proto->add_string_data(text);
  } else {
    proto->set_raw_data(packed_bytes(tensor));
  }
}

}  // namespace dnn::onnx
