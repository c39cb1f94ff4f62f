// Constant tensors; see tensor_proto.h.
#include "formats/tensorflow/tensor_proto.h"

#include "formats/wire/proto.h"

namespace dnn::tensorflow {
namespace {

struct TypeRow {
  DataType type;
  DType dtype;
};
constexpr TypeRow kTypes[] = {
    {DT_FLOAT, DType::Float32}, {DT_DOUBLE, DType::Float64}, {DT_HALF, DType::Float16},  {DT_BFLOAT16, DType::BFloat16},
    {DT_INT8, DType::Int8},     {DT_INT16, DType::Int16},    {DT_INT32, DType::Int32},   {DT_INT64, DType::Int64},
    {DT_UINT8, DType::UInt8},   {DT_UINT16, DType::UInt16},  {DT_UINT32, DType::UInt32}, {DT_UINT64, DType::UInt64},
    {DT_BOOL, DType::Bool},     {DT_STRING, DType::String},
};

// Element i is entry i, the last entry where the list is shorter, zero where it is empty.
template <class T, class List, class Convert>
Tensor spelled(const Shape& shape, const List& list, const Convert& convert) {
  Tensor tensor(kDTypeOf<T>, shape);
  T* out = tensor.mutable_data<T>();
  const int n = list.size();
  for (int64_t i = 0; n > 0 && i < tensor.size(); ++i)
    out[i] = convert(list.Get(static_cast<int>(std::min<int64_t>(i, n - 1))));
  return tensor;
}

template <class T, class List>
Tensor spelled(const Shape& shape, const List& list) {
  return spelled<T>(shape, list, [](auto v) { return static_cast<T>(v); });
}

template <class T>
Tensor bits(const Shape& shape, const google::protobuf::RepeatedField<int32_t>& list) {
  return spelled<T>(shape, list, [](int32_t v) {
    T result;
    result.bits = static_cast<uint16_t>(v);
    return result;
  });
}

Tensor spelled_texts(const Shape& shape, const TensorProto& proto) {
  Tensor tensor(DType::String, shape);
  const int n = proto.string_val_size();
  for (int64_t i = 0; n > 0 && i < tensor.size(); ++i)
    tensor.mutable_strings()[i] = proto.string_val(static_cast<int>(std::min<int64_t>(i, n - 1)));
  return tensor;
}

// Messages on the way to a TensorProto.
enum { kGraph, kNode, kEntry, kAttr, kList, kNamed, kNamedEntry, kLibrary, kFunction, kMeta, kModel, kTensor };

// Where TensorProtos stand, from a file's message on, which is step 0.
std::vector<ProtoStep> steps_from(int file) {
  std::vector<ProtoStep> steps = {
      {kModel, 2, kMeta},       {kMeta, 2, kGraph},       {kGraph, 1, kNode},      {kGraph, 2, kLibrary},
      {kLibrary, 1, kFunction}, {kFunction, 3, kNode},    {kNode, 5, kEntry},      {kEntry, 2, kAttr},
      {kAttr, 1, kList},        {kAttr, 8, kTensor},      {kAttr, 10, kNamed},     {kList, 8, kTensor},
      {kList, 9, kNamed},       {kNamed, 2, kNamedEntry}, {kNamedEntry, 2, kAttr}, {kTensor, 4, kLong}};
  const auto renamed = [&](int kind) { return kind == file ? 0 : kind == 0 ? file : kind; };
  for (ProtoStep& step : steps) step = {renamed(step.message), step.field, step.to == kLong ? kLong : renamed(step.to)};
  return steps;
}

// How many entries the message has lists of.
int64_t listed(const TensorProto& p) {
  return int64_t{p.float_val_size()} + p.double_val_size() + p.int_val_size() + p.int64_val_size() + p.bool_val_size() +
         p.half_val_size() + p.uint32_val_size() + p.uint64_val_size() + p.string_val_size();
}

}  // namespace

std::string type_name(DataType type) {
  const std::string name = DataType_Name(type);
  return name.empty() ? cat("type ", static_cast<int>(type)) : name;
}

DType dtype_of(DataType type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.dtype;
  }
  fail_unsupported("tensors of ", type_name(type), " are not read");
}

DataType type_of(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.type;
  }
  fail_unsupported("TensorFlow has no tensors of ", dtype_name(dtype), " that can be written");
}

Shape fixed_shape(const TensorShapeProto& proto) {
  if (proto.unknown_rank()) fail_malformed("a tensor of unknown rank");
  Shape shape;
  for (const TensorShapeProto::Dim& dim : proto.dim()) shape.push_back(dim.size());
  element_count(shape);  // checks them
  return shape;
}

Tensor view_or_copy(DType dtype, const Shape& shape, Bytes bytes, std::shared_ptr<const void> owner) {
  const int64_t n = element_count(shape);
  if (n > static_cast<int64_t>(bytes.size()) || static_cast<size_t>(n) * dtype_size(dtype) != bytes.size())
    fail_malformed(bytes.size(), " bytes for ", dtype_name(dtype), shape_text(shape));
  return bytes.empty() ? Tensor(dtype, shape) : Tensor::view(dtype, shape, bytes, std::move(owner));
}

bool parse_graph_def(Bytes bytes, GraphDef* graph) {
  static const std::vector<ProtoStep> steps = steps_from(kGraph);
  return parse_message(bytes, steps, graph);
}

bool parse_saved_model(Bytes bytes, SavedModel* model) {
  static const std::vector<ProtoStep> steps = steps_from(kModel);
  return parse_message(bytes, steps, model);
}

Tensor read_tensor(TensorProto& proto, const SharedBytes& file, int64_t* room) {
  const DType dtype = dtype_of(proto.dtype());
  const Shape shape = fixed_shape(proto.tensor_shape());
  if (proto.has_place() && dtype != DType::String)
    return view_or_copy(dtype, shape, bytes_at(proto.place(), file.bytes), file.owner);
  if (!proto.tensor_content().empty() && dtype != DType::String) {
    const auto content = std::make_shared<const std::string>(std::move(*proto.mutable_tensor_content()));
    return view_or_copy(dtype, shape, as_bytes(*content), content);
  }
  const int64_t n = element_count(shape), given = listed(proto);
  if (given > std::max<int64_t>(n, 1)) fail_malformed(given, " values for ", dtype_name(dtype), shape_text(shape));
  if (dtype == DType::String && n > std::max<int64_t>(given, 1))
    fail_unsupported("a text that is repeated ", n, " times");
  if (n - given > *room) fail_malformed(dtype_name(dtype), shape_text(shape), " is far larger than the file");
  *room -= std::max<int64_t>(0, n - given);
  switch (dtype) {
    case DType::Float32: return spelled<float>(shape, proto.float_val());
    case DType::Float64: return spelled<double>(shape, proto.double_val());
    case DType::Float16: return bits<Half>(shape, proto.half_val());
    case DType::BFloat16: return bits<BFloat16>(shape, proto.half_val());
    case DType::Int8: return spelled<int8_t>(shape, proto.int_val());
    case DType::Int16: return spelled<int16_t>(shape, proto.int_val());
    case DType::Int32: return spelled<int32_t>(shape, proto.int_val());
    case DType::Int64: return spelled<int64_t>(shape, proto.int64_val());
    case DType::UInt8: return spelled<uint8_t>(shape, proto.int_val());
    case DType::UInt16: return spelled<uint16_t>(shape, proto.int_val());
    case DType::UInt32: return spelled<uint32_t>(shape, proto.uint32_val());
    case DType::UInt64: return spelled<uint64_t>(shape, proto.uint64_val());
    case DType::Bool: return spelled<bool>(shape, proto.bool_val());
    default: return spelled_texts(shape, proto);
  }
}

}  // namespace dnn::tensorflow
