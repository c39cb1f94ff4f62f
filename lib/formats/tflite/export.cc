// Tensors, operators and the file; see export.h.
#include "formats/tflite/export.h"

#include <climits>
#include <cmath>

#include "formats/tflite/metadata.h"
#include "ops/quantization.h"

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

constexpr size_t kApart = size_t{4} << 10;  // bytes of a constant from which on it is not copied
constexpr size_t kAlignment = 16;
constexpr int kCast = 53;

}  // namespace

File::File(const Graph& graph, const Plan& plan, bool float16_weights)
    : graph_(graph), plan_(plan), float16_weights_(float16_weights) {
  buffers_.push_back(CreateBuffer(builder_));
}

const Scales& File::scales(ValueId v) const {
  const auto found = plan_.scales.find(v);
  if (found == plan_.scales.end())
    fail_unsupported("value '", graph_.value(v).name, "' is quantised, but in what scale is not known");
  return found->second;
}

int32_t File::add(const std::string& name, const Type& type, uint32_t buffer, const Scales* scales) {
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
  const auto extents_of_type = builder_.CreateVector(shape);
  const flatbuffers::Offset<flatbuffers::Vector<int32_t>> marks = open ? builder_.CreateVector(signature) : 0;
  flatbuffers::Offset<Quantization> quantization = 0;
  if (scales != nullptr) {
    quantization = CreateQuantization(builder_, 0, 0, builder_.CreateVector(scales->scale),
                                      builder_.CreateVector(scales->zero_point), 0, 0, scales->axis);
  }
  facts_.push_back(
      {type_of(type.dtype), shape, scales == nullptr ? 0 : scales->scale[0], scales != nullptr && !scales->single()});
  tensors_.push_back(
      CreateTensor(builder_, extents_of_type, type_of(type.dtype), buffer, text, quantization, false, 0, marks));
  return static_cast<int32_t>(tensors_.size()) - 1;
}

int32_t File::constant(const std::string& name, const dnn::Tensor& value, const Scales* scales) {
  if (value.dtype() == DType::Int64) {
    bool fits = true;
    for (int64_t x : value.values<int64_t>()) fits = fits && x >= INT_MIN && x <= INT_MAX;
    if (fits) return constant(name, convert(value, DType::Int32));
  }
  if (float16_weights_ && value.dtype() == DType::Float32 && value.size() > 1) {
    const int32_t narrow = constant(name + "/float16", convert(value, DType::Float16));
    const int32_t wide = computed(name, Type(value));
    op(6, {narrow}, {wide});
    return wide;
  }
  return stored(name, value, scales);
}

int32_t File::stored(const std::string& name, const dnn::Tensor& value, const Scales* scales) {
  const bool apart = value.size_bytes() >= kApart;
  const Bytes bytes = apart ? Bytes() : value.bytes();
  builder_.ForceVectorAlignment(bytes.size(), 1, kAlignment);
  const auto data = builder_.CreateVector(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  buffers_.push_back(CreateBuffer(builder_, data));
  if (apart) apart_.emplace_back(buffers_.size() - 1, value);
  return add(name, Type(value), static_cast<uint32_t>(buffers_.size()) - 1, scales);
}

int32_t File::ints(const std::string& name, const std::vector<int64_t>& values) {
  return constant(name, dnn::Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

int32_t File::computed(const std::string& name, const Type& type, const Scales* scales) {
  return add(name, type, 0, scales);
}

int32_t File::tensor(ValueId v) {
  const auto [at, fresh] = tensors_of_.try_emplace(v, -1);
  if (!fresh) return at->second;
  const Value& value = graph_.value(v);
  const auto known = plan_.scales.find(v);
  const Scales* scales = known == plan_.scales.end() ? nullptr : &known->second;
  if (value.constant) {
    at->second = constant(value.name, *value.constant, scales);
    if (facts_[at->second].type == TensorType::INT64)
      fail_unsupported(
          "constant ", quoted(value.name),
          ": integers of 64 bits are computed in 32 in TFLite files, which do not hold all of its numbers");
    return at->second;
  }
  Type type = value.type;
  if (type.dtype != DType::Int64) return at->second = computed(value.name, type, scales);
  type.dtype = DType::Int32;
  const bool outside = graph_.is_input(v) || graph_.is_output(v);
  const int32_t narrow = at->second = computed(outside ? value.name + "/int32" : value.name, type, scales);
  if (graph_.is_input(v) || outer_.count(v) != 0) op(kCast, {outer(v)}, {narrow});
  return narrow;
}

int32_t File::outer(ValueId v) {
  const Value& value = graph_.value(v);
  const bool outside = graph_.is_input(v) || graph_.is_output(v);
  if (!outside || value.type.dtype != DType::Int64) return tensor(v);
  const auto [at, fresh] = outer_.try_emplace(v, -1);
  if (fresh) at->second = value.constant ? stored(value.name, *value.constant) : computed(value.name, value.type);
  return at->second;
}

void File::op(int code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
              const OptionsRef& options) {
  const auto facts = [&](const std::vector<int32_t>& tensors) {
    std::vector<const TensorFacts*> result;
    for (int32_t t : tensors) result.push_back(t < 0 ? nullptr : &facts_[t]);
    return result;
  };
  const void* table = options.type == 0 ? nullptr : flatbuffers::GetTemporaryPointer(builder_, options.table);
  const int version = version_of(code, {facts(inputs), facts(outputs), table});
  const auto [at, fresh] = codes_of_.try_emplace({code, version}, static_cast<uint32_t>(codes_.size()));
  if (fresh) codes_.push_back(CreateOperatorCode(builder_, static_cast<int8_t>(std::min(code, 127)), 0, version, code));
  const auto ins = builder_.CreateVector(inputs), outs = builder_.CreateVector(outputs);
  ops_.push_back(CreateOperator(builder_, at->second, ins, outs, static_cast<uint8_t>(options.type), options.table));
}

Content File::finish() {
  std::vector<int32_t> inputs, outputs;
  for (ValueId v : graph_.inputs) inputs.push_back(outer(v));
  for (ValueId v : graph_.outputs) {
    const bool widened = outer_.count(v) != 0;
    outputs.push_back(outer(v));
    if (!widened && outer_.count(v) != 0 && !graph_.constant(v)) op(kCast, {tensor(v)}, {outputs.back()});
  }
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
  if (const std::string structure = metadata_of(graph_); !structure.empty()) {
    builder_.ForceVectorAlignment(structure.size(), 1, 16);
    const auto data = builder_.CreateVector(reinterpret_cast<const uint8_t*>(structure.data()), structure.size());
    buffers_.push_back(CreateBuffer(builder_, data));
    const auto label = builder_.CreateString(kMetadataName);
    metadata.push_back(CreateMetadata(builder_, label, static_cast<uint32_t>(buffers_.size()) - 1));
  }
  const auto metadata_list = builder_.CreateVector(metadata);
  const std::vector<flatbuffers::Offset<SubGraph>> subgraphs = {
      CreateSubGraph(builder_, builder_.CreateVector(tensors_), builder_.CreateVector(inputs),
                     builder_.CreateVector(outputs), builder_.CreateVector(ops_), name)};
  const auto description = builder_.CreateString("dnn-tools");
  FinishModelBuffer(
      builder_, CreateModel(builder_, 3, builder_.CreateVector(codes_), builder_.CreateVector(subgraphs), description,
                            builder_.CreateVector(buffers_), 0, metadata_list, builder_.CreateVector(signatures)));
  return with_constants();
}

// Constants that are kept apart lie behind the rest, and their empty vectors become those.
Content File::with_constants() {
  uint8_t* const begin = builder_.GetBufferPointer();
  std::vector<std::string> gaps;
  uint64_t end = builder_.GetSize();
  for (const auto& [buffer, value] : apart_) {
    std::string gap((2 * kAlignment - sizeof(uint32_t) - end % kAlignment) % kAlignment, '\0');
    end += gap.size();
    auto* const table = reinterpret_cast<flatbuffers::Table*>(
        const_cast<Buffer*>(GetModel(begin)->buffers()->Get(static_cast<flatbuffers::uoffset_t>(buffer))));
    auto* const field = const_cast<uint8_t*>(table->GetAddressOf(Buffer::VT_DATA));
    const auto size = static_cast<uint32_t>(value.size_bytes());
    if (end + sizeof size + value.size_bytes() > INT_MAX) fail_unsupported("a TFLite file ends at 2 GiB");
    flatbuffers::WriteScalar(field, static_cast<flatbuffers::uoffset_t>(end - static_cast<uint64_t>(field - begin)));
    gap.append(reinterpret_cast<const char*>(&size), sizeof size);
    end += sizeof size + value.size_bytes();
    gaps.push_back(std::move(gap));
  }
  Content file(std::string(reinterpret_cast<const char*>(begin), builder_.GetSize()));
  for (size_t i = 0; i < gaps.size(); ++i) {
    file.append(gaps[i]);
    apart_[i].second.append_to(file);
  }
  return file;
}

const dnn::Tensor& Export::known(size_t i, const char* what) const {
  if (const dnn::Tensor* tensor = constant(i)) return *tensor;
  refuse("its ", what, " is computed, not constant");
}

namespace {
std::vector<int64_t> extents_of_type(const Export& e, const Type& type) {
  if (!type.shape) e.refuse("a rank is not known");
  std::vector<int64_t> result;
  for (const Dim& dim : *type.shape) result.push_back(dim.size);
  return result;
}
}  // namespace

std::vector<int64_t> Export::shape(size_t i) const { return extents_of_type(*this, type(i)); }
std::vector<int64_t> Export::output_shape(size_t i) const { return extents_of_type(*this, output_type(i)); }

int32_t Export::number(double value) {
  if (!quantized()) return store("number", convert(dnn::Tensor::scalar(value), type(0).dtype));
  const Scales& scales = *input_scales();
  const int64_t stored = quantized_number(value, scales.scale[0], scales.zero_point[0], type(0).dtype);
  return file_.constant(name("number"), convert(dnn::Tensor::scalar(stored), type(0).dtype), &scales);
}

std::optional<std::pair<double, double>> Export::bounds_beyond_output() const {
  if (!planned_.unbounded || type(0).dtype != DType::Float32) return std::nullopt;
  const Scales& scales = file_.scales(planned_.output);
  if (!scales.single()) return std::nullopt;
  const auto bound = [&](double from, int64_t step) {
    const int64_t last = quantized_number(from, scales.scale[0], scales.zero_point[0], output_type().dtype);
    return static_cast<double>(last + step - scales.zero_point[0]) * static_cast<double>(scales.scale[0]);
  };
  return std::pair(bound(-INFINITY, -1), bound(INFINITY, 1));
}

Export::Export(File& file, const Node& node, const PlannedNode& planned) : file_(file), node_(node), planned_(planned) {
  if (!quantized()) return;
  const Scales& wanted = file_.scales(planned_.output);
  const bool several =
      node.op == "Concat" || node.op == "Max" || node.op == "Min";  // these bring inputs to the output's
  if (planned_.row->on_quantized == OnQuantized::Fixed) own_ = fixed_scales(node.op, output_type().dtype);
  if (planned_.row->on_quantized == OnQuantized::Same && !several) own_ = file_.scales(value(0));
  if (own_ && *own_ == wanted) own_.reset();
}

const Scales* Export::output_scales() const {
  if (!quantized()) return nullptr;
  return own_ ? &*own_ : &file_.scales(planned_.output);
}

int32_t Export::requantized(const std::string& to_name, int32_t from, const Type& type, const Scales& to) {
  const int32_t result = file_.computed(to_name, type, &to);
  op(114, {from}, {result});
  return result;
}

int32_t Export::input(size_t i) {
  const int32_t tensor = file_.tensor(value(i));
  if (widens(i)) return widened(i, tensor);
  const bool joins = quantized() && planned_.row->on_quantized == OnQuantized::Same && node_.op != "Pad" &&
                     (node_.op == "Max" || node_.op == "Min" || (node_.op == "Concat" && type(i).dtype == DType::Int8));
  if (!joins || file_.scales(value(i)) == *output_scales()) return tensor;
  return requantized(name("rescaled"), tensor, type(i), *output_scales());
}

int32_t Export::output(size_t i) {
  if (i > 0) return file_.tensor(node_.outputs[i]);
  if (!own_) return file_.tensor(planned_.output);
  if (own_output_ < 0) own_output_ = file_.computed(name("unscaled"), output_type(), &*own_);
  return own_output_;
}

void Export::finish() {
  DNN_CHECK(planned_.activation == Activation::NONE || took_activation_);
  if (own_output_ >= 0) op(114, {own_output_}, {file_.tensor(planned_.output)});
}

bool Export::widens(size_t i) const {
  return value(i) != node_.input(i) && (type(i).dtype == DType::Float16 || (planned_.widens && i == 1));
}

// As the format's converter writes 16-bit weights: DEQUANTIZE in front of the operator.
int32_t Export::widened(size_t i, int32_t tensor) {
  Type type(DType::Float32, {});
  for (int32_t extent : file_.extents(tensor)) type.shape->emplace_back(extent);
  const int32_t result = file_.computed(graph().value(node_.inputs[i]).name, type);
  op(6, {tensor}, {result});
  return result;
}

int32_t Export::store_input(size_t i, const dnn::Tensor& tensor, int axis) {
  const ValueId v = value(i);
  const std::string& own = graph().value(v).name;
  if (v == node_.input(i)) return file_.constant(own, tensor);
  if (is_float(type(i).dtype)) return widened(i, file_.constant(own, tensor));
  const Scales scales = file_.scales(v).along(file_.scales(v).single() ? 0 : axis);
  const int32_t stored = file_.constant(own, tensor, &scales);
  return widens(i) ? widened(i, stored) : stored;
}

int32_t Export::bias(size_t i, int64_t units, const dnn::Tensor* row) {
  const bool given = has_input(i), stored = given && value(i) != node_.input(i);
  const std::string own = given ? graph().value(value(i)).name : name("bias");
  if (row != nullptr && row->size() != units) refuse("a bias of ", row->size(), " numbers for ", units, " units");
  if (widens(i)) return store_input(i, *row);
  if (!quantized()) return file_.constant(own, row == nullptr ? dnn::Tensor(type(0).dtype, {units}) : *row);
  if (stored) return file_.constant(own, *row, &file_.scales(value(i)));
  const Scales &x = file_.scales(value(0)), &w = file_.scales(value(1));
  Scales scales;
  std::vector<int64_t> numbers;
  for (int64_t u = 0; u < units; ++u) {
    const size_t at = u;
    const float scale = x.scale[0] * w.scale[w.single() ? 0 : at];
    if (!w.single() || u == 0) scales.scale.push_back(scale);
    numbers.push_back(row == nullptr ? 0 : quantized_number(to_doubles(*row)[at], scale, 0, DType::Int32));
  }
  scales.zero_point.assign(scales.scale.size(), 0);
  return file_.constant(own, convert(dnn::Tensor::of<int64_t>({units}, numbers), DType::Int32), &scales);
}

void Export::define_dequantized() {
  const dnn::Tensor& stored = known(0, "32-bit input");
  const Scales& scales = file_.scales(node_.inputs[0]);
  std::vector<double> values = to_doubles(stored);
  int64_t inner = 1;
  for (int axis = stored.rank() - 1; !scales.single() && axis > scales.axis; --axis) inner *= stored.dim(axis);
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t at = scales.single() ? 0 : i / static_cast<size_t>(inner) % scales.scale.size();
    values[i] = (values[i] - static_cast<double>(scales.zero_point[at])) * static_cast<double>(scales.scale[at]);
  }
  const dnn::Tensor real = convert(dnn::Tensor::of<double>(stored.shape(), values), DType::Float32);
  file_.define(planned_.output, file_.constant(graph().value(planned_.output).name, real));
}

int32_t Export::step(const char* what, const Type& type) {
  Type stored = type;
  if (quantized()) stored.dtype = this->type(0).dtype;
  return file_.computed(name(what), stored, input_scales());
}

int32_t Export::last_step(const char* what, const Type& type) {
  return file_.computed(name(what), type, output_scales());
}

void Export::op(int code, const std::vector<int32_t>& inputs, const std::vector<int32_t>& outputs,
                const OptionsRef& options) {
  file_.op(code, inputs, outputs, options);
}

}  // namespace dnn::tflite
