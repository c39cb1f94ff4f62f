// Tensors, operators and the file; see export.h.
#include "formats/tflite/export.h"

#include <climits>

namespace dnn::tflite {
namespace {

TensorType type_of(DType dtype) {
  switch (dtype) {
    case DType::Float32: return TensorType::FLOAT32;
    case DType::Float16: return TensorType::FLOAT16;
    case DType::Float64: return TensorType::FLOAT64;
    case DType::Int8: return TensorType::INT8;
    case DType::Int16: return TensorType::INT16;
    case DType::Int32: return TensorType::INT32;
    case DType::Int64: return TensorType::INT64;
    case DType::UInt8: return TensorType::UINT8;
    case DType::UInt16: return TensorType::UINT16;
    case DType::UInt32: return TensorType::UINT32;
    case DType::UInt64: return TensorType::UINT64;
    case DType::Bool: return TensorType::BOOL;
    default: fail_unsupported("TFLite has no tensors of ", dtype_name(dtype), " that can be written");
  }
}

// Room for everything at once: a FlatBuffer that grows is copied.
size_t room_for(const Graph& graph) {
  size_t bytes = 1 << 20;
  for (ValueId v = 0; v < graph.value_count(); ++v) {
    if (const dnn::Tensor* constant = graph.constant(v)) bytes += constant->size_bytes() + 1024;
  }
  return bytes;
}

}  // namespace

File::File(const Graph& graph, bool float16_weights)
    : graph_(graph), float16_weights_(float16_weights), builder_(room_for(graph)) {
  buffers_.push_back(CreateBuffer(builder_));
}

int32_t File::add(const std::string& name, const Type& type, uint32_t buffer) {
  if (!type.shape) fail_unsupported("value '", name, "': its rank is not known");
  std::vector<int32_t> shape, signature;
  bool open = false;
  for (const Dim& dim : *type.shape) {
    if (dim.size > INT_MAX) fail_unsupported("value '", name, "': an extent of ", dim.size);
    shape.push_back(dim.fixed() ? static_cast<int32_t>(dim.size) : 1);
    signature.push_back(dim.fixed() ? shape.back() : -1);
    open = open || !dim.fixed();
  }
  const auto text = builder_.CreateString(name);
  const auto extents = builder_.CreateVector(shape);
  const flatbuffers::Offset<flatbuffers::Vector<int32_t>> marks = open ? builder_.CreateVector(signature) : 0;
  tensors_.push_back(CreateTensor(builder_, extents, type_of(type.dtype), buffer, text, 0, false, 0, marks));
  return static_cast<int32_t>(tensors_.size()) - 1;
}

int32_t File::constant(const std::string& name, const dnn::Tensor& value) {
  if (value.dtype() == DType::Int64) {
    bool fits = true;
    for (int64_t x : value.values<int64_t>()) fits = fits && x >= INT_MIN && x <= INT_MAX;
    if (fits) return constant(name, convert(value, DType::Int32));
  }
  if (float16_weights_ && value.dtype() == DType::Float32 && value.size() > 1) {
    const int32_t narrow = constant(name + "/float16", convert(value, DType::Float16));
    const int32_t wide = computed(name, Type(value));
    op(6, 3, {narrow}, {wide});
    return wide;
  }
  const Bytes bytes = value.bytes();
  builder_.ForceVectorAlignment(bytes.size(), 1, 16);
  const auto data = builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  buffers_.push_back(CreateBuffer(builder_, data));
  return add(name, Type(value), static_cast<uint32_t>(buffers_.size()) - 1);
}

int32_t File::ints(const std::string& name, const std::vector<int64_t>& values) {
  return constant(name, dnn::Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

int32_t File::computed(const std::string& name, const Type& type) { return add(name, type, 0); }

int32_t File::tensor(ValueId v) {
  const auto [at, fresh] = tensors_of_.try_emplace(v, -1);
  if (!fresh) return at->second;
  const Value& value = graph_.value(v);
  if (value.constant) return at->second = constant(value.name, *value.constant);
  Type type = value.type;
  if (type.dtype == DType::Int64 && !graph_.is_input(v) && !graph_.is_output(v)) type.dtype = DType::Int32;
  return at->second = computed(value.name, type);
}

void File::op(int code, int version, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
              const OptionsRef& options) {
  const auto [at, fresh] = codes_of_.try_emplace({code, version}, static_cast<uint32_t>(codes_.size()));
  if (fresh) codes_.push_back(CreateOperatorCode(builder_, static_cast<int8_t>(std::min(code, 127)), 0, version, code));
  const auto ins = builder_.CreateVector(inputs), outs = builder_.CreateVector(outputs);
  ops_.push_back(CreateOperator(builder_, at->second, ins, outs, static_cast<uint8_t>(options.type), options.table));
}

Bytes File::finish() {
  std::vector<int32_t> inputs, outputs;
  for (ValueId v : graph_.inputs) inputs.push_back(tensor(v));
  for (ValueId v : graph_.outputs) outputs.push_back(tensor(v));
  const auto maps = [&](const std::vector<ValueId>& values, const std::vector<int32_t>& at) {
    std::vector<flatbuffers::Offset<TensorMap>> list;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto name = builder_.CreateString(graph_.value(values[i]).name);
      list.push_back(CreateTensorMap(builder_, name, static_cast<uint32_t>(at[i])));
    }
    return builder_.CreateVector(list);
  };
  const auto named_inputs = maps(graph_.inputs, inputs), named_outputs = maps(graph_.outputs, outputs);
  const auto key = builder_.CreateString("serving_default");
  const std::vector<flatbuffers::Offset<SignatureDef>> signatures = {
      CreateSignatureDef(builder_, named_inputs, named_outputs, key)};
  const auto name = builder_.CreateString(graph_.name.empty() ? "main" : graph_.name);
  std::vector<flatbuffers::Offset<Metadata>> metadata;
  for (const auto& [label, text] : graph_.metadata) {
    const auto data = builder_.CreateVector(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    buffers_.push_back(CreateBuffer(builder_, data));
    const auto name_of_it = builder_.CreateString(label);
    metadata.push_back(CreateMetadata(builder_, name_of_it, static_cast<uint32_t>(buffers_.size()) - 1));
  }
  const auto metadata_list = builder_.CreateVector(metadata);
  const std::vector<flatbuffers::Offset<SubGraph>> subgraphs = {
      CreateSubGraph(builder_, builder_.CreateVector(tensors_), builder_.CreateVector(inputs),
                     builder_.CreateVector(outputs), builder_.CreateVector(ops_), name)};
  const auto description = builder_.CreateString("dnn-tools");
  FinishModelBuffer(
      builder_, CreateModel(builder_, 3, builder_.CreateVector(codes_), builder_.CreateVector(subgraphs), description,
                            builder_.CreateVector(buffers_), 0, metadata_list, builder_.CreateVector(signatures)));
  return {reinterpret_cast<const std::byte*>(builder_.GetBufferPointer()), builder_.GetSize()};
}

const dnn::Tensor& Export::known(size_t i, const char* what) const {
  if (const dnn::Tensor* tensor = constant(i)) return *tensor;
  refuse("its ", what, " is computed, not constant");
}

namespace {
std::vector<int64_t> extents(const Export& e, const Type& type) {
  if (!type.shape) e.refuse("a rank is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}
}  // namespace

std::vector<int64_t> Export::shape(size_t i) const { return extents(*this, type(i)); }
std::vector<int64_t> Export::output_shape(size_t i) const { return extents(*this, output_type(i)); }

int32_t Export::number(double value) { return store("number", convert(dnn::Tensor::scalar(value), type(0).dtype)); }

}  // namespace dnn::tflite
