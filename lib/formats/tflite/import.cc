// Steps of importing an operator; see import.h.
#include "formats/tflite/import.h"

#include <algorithm>

namespace dnn::tflite {

DType dtype_of(TensorType type) {
  switch (type) {
    case TensorType::FLOAT32: return DType::Float32;
    case TensorType::FLOAT16: return DType::Float16;
    case TensorType::INT32: return DType::Int32;
    case TensorType::UINT8: return DType::UInt8;
    case TensorType::INT64: return DType::Int64;
    case TensorType::BOOL: return DType::Bool;
    case TensorType::INT16: return DType::Int16;
    case TensorType::INT8: return DType::Int8;
    case TensorType::FLOAT64: return DType::Float64;
    case TensorType::UINT64: return DType::UInt64;
    case TensorType::UINT32: return DType::UInt32;
    case TensorType::UINT16: return DType::UInt16;
    case TensorType::INT4: return DType::Int4;
    case TensorType::UINT4: return DType::UInt4;
    case TensorType::INT2: return DType::Int2;
    case TensorType::BFLOAT16: return DType::BFloat16;
    default: fail_unsupported("tensors of type ", static_cast<int>(type), " are not read");
  }
}

bool quantized(const Tensor& tensor) {
  return tensor.quantization() != nullptr && tensor.quantization()->scale() != nullptr &&
         tensor.quantization()->scale()->size() > 0 && is_integer(dtype_of(tensor.type()));
}

namespace {
// The name of an operator's first output, which the operator has none of its own; empty where there is none.
std::string first_output(const Source& source, const Operator& op) {
  const std::vector<int32_t> outputs = numbers(op.outputs());
  const auto* tensors = source.subgraph->tensors();
  if (outputs.empty() || outputs[0] < 0 || tensors == nullptr || static_cast<size_t>(outputs[0]) >= tensors->size())
    return {};
  return text(tensors->Get(static_cast<flatbuffers::uoffset_t>(outputs[0]))->name());
}
}  // namespace

Op::Op(Source& source, const Operator& op, const OpRow& row)
    : DraftBuilder(source.draft, first_output(source, op)),
      source_(source),
      op_(op),
      row_(row),
      inputs_(numbers(op.inputs())),
      outputs_(numbers(op.outputs())),
      asked_(inputs_.size()) {}

std::string Op::label() const { return cat(row_.name, " '", name(), "'"); }

void Op::read_options() {
  check_fields(source_, op_, "Operator",
               {"opcode_index", "inputs", "outputs", "builtin_options_type", "builtin_options"}, label());
  if (op_.builtin_options() == nullptr) return;
  if (op_.builtin_options_type() != row_.options)
    refuse("options of kind ", static_cast<int>(op_.builtin_options_type()), ", not ", row_.options, ", are not read");
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(source_.bytes.data()), source_.bytes.size());
  if (!row_.verify(op_.builtin_options(), verifier)) fail("its options are damaged");
  const auto& table = reinterpret_cast<const flatbuffers::Table&>(*op_.builtin_options());
  Leftovers unknown;  // fields that the schema lacks
  for (std::string& field : stated_fields(table, *row_.table()))
    (starts_with(field, "field ") ? unknown : leftovers_).add(field);
  unknown.ignore(row_.name, source_.ignored);
  unknown.finish(label(), "option");
}

// What the tensor says beside its type, shape, name and numbers.
void Op::check_tensor(const Tensor& tensor) const {
  const std::string of = cat("tensor '", text(tensor.name()), "'");
  check_fields(source_, tensor, "Tensor", {"shape", "type", "buffer", "name", "quantization", "shape_signature"}, of);
  if (tensor.quantization() != nullptr)
    check_fields(source_, *tensor.quantization(), "Quantization", {"scale", "zero_point", "quantized_dimension"}, of);
}

void Op::run() {
  read_options();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] >= 0) check_tensor(input_tensor(i));
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i] >= 0) check_tensor(output_tensor(i));
  }
  row_.import(*this);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] >= 0 && !asked_[i]) refuse("operand ", i, " ('", text(input_tensor(i).name()), "') is not read");
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i] >= 0 && source_.values[outputs_[i]] == kNoValue)
      refuse("result ", i, " ('", text(output_tensor(i).name()), "') is not read");
  }
  if (op_.builtin_options() == nullptr) return;
  const auto& table = reinterpret_cast<const flatbuffers::Table&>(*op_.builtin_options());
  const auto show = [&](const std::string& field) { return field_text(table, *row_.table(), field); };
  leftovers_.irrelevant(row_.name, irrelevant_fields(), show);
  leftovers_.ignore(row_.name, source_.ignored);
  leftovers_.finish(label(), "option", show);
}

int Op::tensor_of(const std::vector<int32_t>& list, size_t i, const char* what) const {
  if (i >= list.size() || list[i] < 0) fail("there is no ", what, " ", i);
  if (static_cast<size_t>(list[i]) >= source_.values.size()) fail("there is no tensor ", list[i]);
  return list[i];
}

const Tensor& Op::input_tensor(size_t i) const {
  const auto at = static_cast<flatbuffers::uoffset_t>(tensor_of(inputs_, i, "input"));
  return *source_.subgraph->tensors()->Get(at);
}

const Tensor& Op::output_tensor(size_t i) const {
  const auto at = static_cast<flatbuffers::uoffset_t>(tensor_of(outputs_, i, "output"));
  return *source_.subgraph->tensors()->Get(at);
}

ValueId Op::made(size_t i) const {
  const ValueId v = source_.values[tensor_of(inputs_, i, "input")];
  if (v == kNoValue) fail("input ", i, " is used before it is computed");
  return v;
}

ValueId Op::raw(size_t i) {
  const ValueId v = made(i);
  asked_[i] = true;
  return v;
}

// scale and zero point of a tensor as inputs of (De)QuantizeLinear behind the first, with its axis.
std::vector<ValueId> Op::quantization(const Tensor& tensor, Attributes* attributes) {
  const Quantization& q = *tensor.quantization();
  const std::vector<float> scale = numbers(q.scale());
  std::vector<int64_t> zero_point = numbers(q.zero_point());
  if (zero_point.empty()) zero_point.assign(scale.size(), 0);
  if (zero_point.size() != scale.size()) fail(scale.size(), " scales, but ", zero_point.size(), " zero points");
  const bool per_axis = scale.size() > 1;
  const Shape shape = per_axis ? Shape{static_cast<int64_t>(scale.size())} : Shape{};
  if (per_axis) (*attributes)["axis"] = static_cast<int64_t>(q.quantized_dimension());
  const auto constant = [&](const char* what, dnn::Tensor values) {
    return source_.draft.add_constant(cat(text(tensor.name()), ".", what), std::move(values), Draft::Name::Invented);
  };
  std::vector<ValueId> result = {constant("scale", dnn::Tensor::of<float>(shape, scale))};
  const DType dtype = dtype_of(tensor.type());
  if (dtype == DType::Int32) {  // biases: DequantizeLinear takes no zero point for them
    if (std::any_of(zero_point.begin(), zero_point.end(), [](int64_t z) { return z != 0; }))
      refuse("a 32-bit tensor with a zero point");
  } else {
    result.push_back(constant("zero_point", convert(dnn::Tensor::of<int64_t>(shape, zero_point), dtype)));
  }
  return result;
}

ValueId Op::real(size_t i) {
  const ValueId v = raw(i);
  const Tensor& tensor = input_tensor(i);
  if (!quantized(tensor)) return v;
  ValueId& real = source_.reals[inputs_[i]];
  if (real == kNoValue) {
    Attributes attributes;
    std::vector<ValueId> inputs = quantization(tensor, &attributes);
    inputs.insert(inputs.begin(), v);
    real = emit("DequantizeLinear", std::move(inputs), std::move(attributes));
  }
  return real;
}

ValueId Op::meets(ValueId v, size_t x, size_t w, std::vector<int64_t> axes) {
  const Tensor& weights = input_tensor(w);
  if (quantized(input_tensor(x)) || !quantized(weights)) return v;
  const std::vector<int64_t> zero_point = numbers(weights.quantization()->zero_point());
  const bool shifted = std::any_of(zero_point.begin(), zero_point.end(), [](int64_t z) { return z != 0; });
  if ((weights.type() != TensorType::INT8 && weights.type() != TensorType::INT4) || shifted)
    refuse(
        "weights that meet float32 numbers must be int8 or int4 around 0: TFLite does not look at a zero point there");
  Node node;
  node.domain = kInternalDomain;
  node.op = "DynamicFakeQuantize";
  node.name = name();
  node.inputs = {v};
  node.attributes["axes"] = std::move(axes);
  const ValueId result = draft().add_value(cat(name(), "/", node.op), Draft::Name::Invented);
  node.outputs = {result};
  draft().graph.add_node(std::move(node));
  return result;
}

const dnn::Tensor* Op::constant(size_t i) { return source_.draft.graph.constant(raw(i)); }

std::vector<int64_t> Op::ints(size_t i) {
  const dnn::Tensor* tensor = constant(i);
  if (tensor == nullptr) refuse("input ", i, " is computed; only a constant one is read");
  if (!is_integer(tensor->dtype())) fail("input ", i, " is ", dtype_name(tensor->dtype()), ", not integers");
  return to_int64s(*tensor);
}

namespace {
std::vector<int64_t> shape_of(const Tensor& tensor) {
  const std::vector<int32_t> shape = numbers(tensor.shape()), signature = numbers(tensor.shape_signature());
  std::vector<int64_t> result(shape.begin(), shape.end());
  for (size_t i = 0; i < result.size() && signature.size() == result.size(); ++i) {
    if (signature[i] < 0) result[i] = -1;
  }
  return result;
}
}  // namespace

std::vector<int64_t> Op::shape(size_t i) {
  const Tensor& tensor = input_tensor(i);
  std::vector<int64_t> stated = shape_of(tensor);
  if (!stated.empty() || tensor.has_rank()) return stated;
  source_.types.update();
  const auto& known = source_.draft.graph.value(made(i)).type.shape;
  if (!known) return stated;
  std::vector<int64_t> result;
  for (const Dim& dim : *known) result.push_back(dim.fixed() ? dim.size : -1);
  return result;
}
std::vector<int64_t> Op::output_shape(size_t i) const { return shape_of(output_tensor(i)); }
DType Op::output_dtype(size_t i) const { return dtype_of(output_tensor(i).type()); }

bool Op::quantized_input(size_t i) const { return quantized(input_tensor(i)); }

bool Op::same_quantization(size_t input, size_t output) const {
  const Tensor &a = input_tensor(input), &b = output_tensor(output);
  if (a.type() != b.type() || quantized(a) != quantized(b)) return false;
  if (!quantized(a)) return true;
  const Quantization &p = *a.quantization(), &q = *b.quantization();
  return numbers(p.scale()) == numbers(q.scale()) && numbers(p.zero_point()) == numbers(q.zero_point()) &&
         p.scale()->size() == 1;
}

ValueId Op::activated(ValueId v, Activation activation) {
  switch (activation) {
    case Activation::NONE: return v;
    case Activation::RELU: return emit("Relu", {v});
    case Activation::RELU_N1_TO_1: return emit("Clip", {v, number(-1), number(1)});
    case Activation::RELU6: return emit("Clip", {v, number(0), number(6)});
    case Activation::TANH: return emit("Tanh", {v});
    default: refuse("fused activation ", static_cast<int>(activation), " is not read");
  }
}

void Op::define(size_t i, ValueId v) {
  const Tensor& tensor = output_tensor(i);
  if (quantized(tensor)) {
    Attributes attributes;
    std::vector<ValueId> inputs = quantization(tensor, &attributes);
    inputs.insert(inputs.begin(), v);
    v = emit("QuantizeLinear", std::move(inputs), std::move(attributes));
  }
  define_raw(i, v);
}

void Op::define_raw(size_t i, ValueId v) {
  const size_t index = tensor_of(outputs_, i, "output");
  if (source_.values[index] != kNoValue) fail("output ", i, " is computed twice, or a constant or input");
  source_.values[index] = named(v, text(output_tensor(i).name()));
}

}  // namespace dnn::tflite
