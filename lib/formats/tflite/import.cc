// Steps of importing an operator; see import.h.
#include "formats/tflite/import.h"

#include <algorithm>

namespace dnn::tflite {

ValueId Draft::add_value(const std::string& wanted, bool invented) {
  std::string name = wanted.empty() ? "tensor" : wanted;
  for (int n = 1; !names.insert(name).second; ++n) name = cat(wanted.empty() ? "tensor" : wanted, "_", n);
  const ValueId v = graph.add_value(name);
  if (invented) unnamed.insert(v);
  return v;
}

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

Op::Op(Draft& draft, const Operator& op, std::string type)
    : draft_(draft), op_(op), type_(std::move(type)), inputs_(numbers(op.inputs())), outputs_(numbers(op.outputs())) {}

std::string Op::label() const {
  std::string name;
  const auto* tensors = draft_.subgraph->tensors();
  if (!outputs_.empty() && outputs_[0] >= 0 && tensors != nullptr && static_cast<size_t>(outputs_[0]) < tensors->size())
    name = text(tensors->Get(static_cast<flatbuffers::uoffset_t>(outputs_[0]))->name());
  return cat(type_, " '", name, "'");
}

int Op::tensor_of(const std::vector<int32_t>& list, size_t i, const char* what) const {
  if (i >= list.size() || list[i] < 0) fail("there is no ", what, " ", i);
  if (static_cast<size_t>(list[i]) >= draft_.values.size()) fail("there is no tensor ", list[i]);
  return list[i];
}

const Tensor& Op::input_tensor(size_t i) const {
  const auto at = static_cast<flatbuffers::uoffset_t>(tensor_of(inputs_, i, "input"));
  return *draft_.subgraph->tensors()->Get(at);
}

const Tensor& Op::output_tensor(size_t i) const {
  const auto at = static_cast<flatbuffers::uoffset_t>(tensor_of(outputs_, i, "output"));
  return *draft_.subgraph->tensors()->Get(at);
}

ValueId Op::raw(size_t i) {
  const ValueId v = draft_.values[static_cast<size_t>(tensor_of(inputs_, i, "input"))];
  if (v == kNoValue) fail("input ", i, " is used before it is computed");
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
  const std::string name = text(tensor.name());
  const auto constant = [&](const char* what, dnn::Tensor values) {
    const ValueId v = draft_.add_value(cat(name, ".", what), true);
    draft_.graph.value(v).type = Type(values);
    draft_.graph.value(v).constant = std::move(values);
    return v;
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
  ValueId& real = draft_.reals[static_cast<size_t>(inputs_[i])];
  if (real == kNoValue) {
    Attributes attributes;
    std::vector<ValueId> inputs = quantization(tensor, &attributes);
    inputs.insert(inputs.begin(), v);
    real = emit("DequantizeLinear", std::move(inputs), std::move(attributes));
  }
  return real;
}

const dnn::Tensor* Op::constant(size_t i) { return draft_.graph.constant(raw(i)); }

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

std::vector<int64_t> Op::shape(size_t i) const { return shape_of(input_tensor(i)); }
std::vector<int64_t> Op::output_shape(size_t i) const { return shape_of(output_tensor(i)); }
DType Op::output_dtype(size_t i) const { return dtype_of(output_tensor(i).type()); }

bool Op::same_quantization(size_t input, size_t output) const {
  const Tensor &a = input_tensor(input), &b = output_tensor(output);
  if (a.type() != b.type() || quantized(a) != quantized(b)) return false;
  if (!quantized(a)) return true;
  const Quantization &p = *a.quantization(), &q = *b.quantization();
  return numbers(p.scale()) == numbers(q.scale()) && numbers(p.zero_point()) == numbers(q.zero_point()) &&
         p.scale()->size() == 1;
}

std::vector<ValueId> Op::emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                   size_t outputs) {
  Node node;
  node.op = op;
  node.name = text(output_tensor(0).name());
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (size_t i = 0; i < outputs; ++i) node.outputs.push_back(draft_.add_value(cat(node.name, "/", op), true));
  std::vector<ValueId> result = node.outputs;
  draft_.graph.add_node(std::move(node));
  return result;
}

ValueId Op::emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return emit_many(op, std::move(inputs), std::move(attributes), 1)[0];
}

ValueId Op::list(const std::vector<int64_t>& values) {
  const ValueId v = draft_.add_value(text(output_tensor(0).name()) + "/list", true);
  draft_.graph.value(v).constant = dnn::Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values);
  draft_.graph.value(v).type = Type(*draft_.graph.value(v).constant);
  return v;
}

ValueId Op::number(float value) {
  const ValueId v = draft_.add_value(text(output_tensor(0).name()) + "/number", true);
  draft_.graph.value(v).constant = dnn::Tensor::scalar(value);
  draft_.graph.value(v).type = Type(*draft_.graph.value(v).constant);
  return v;
}

ValueId Op::transpose(ValueId v, const Permutation& perm) { return emit("Transpose", {v}, {{"perm", perm}}); }

ValueId Op::to_dtype(ValueId v, DType dtype) { return emit("Cast", {v}, {{"to", static_cast<int64_t>(dtype)}}); }

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
  const auto index = static_cast<size_t>(tensor_of(outputs_, i, "output"));
  if (draft_.values[index] != kNoValue) fail("output ", i, " is computed twice, or a constant or input");
  if (draft_.unnamed.count(v) == 0 || draft_.graph.constant(v) != nullptr) v = emit("Identity", {v});
  std::string name = text(output_tensor(i).name());
  if (name.empty()) name = "tensor";
  std::string free = name;
  for (int n = 1; !draft_.names.insert(free).second; ++n) free = cat(name, "_", n);
  draft_.graph.value(v).name = free;
  draft_.unnamed.erase(v);
  draft_.values[index] = v;
}

}  // namespace dnn::tflite
