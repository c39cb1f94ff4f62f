// Constant, ConstantOfShape, EyeLike, Range: tensors made from attributes and small inputs.
#include <algorithm>
#include <cmath>

#include "ops/op.h"
#include "tensor/dispatch.h"

namespace dnn::constant_ops {
namespace {

template <class T>
Tensor vector_of(const std::vector<T>& values) {
  return Tensor::of<T>({static_cast<int64_t>(values.size())}, values);
}

Tensor strings_of(Shape shape, const std::vector<std::string>& values) {
  Tensor tensor(DType::String, std::move(shape));
  std::copy(values.begin(), values.end(), tensor.mutable_strings().begin());
  return tensor;
}

Tensor constant_value(const Node& node) {
  for (const auto& [key, attribute] : node.attributes) {
    if (key == "value") {
      if (const auto* tensor = std::get_if<Tensor>(&attribute)) return *tensor;
    }
    if (key == "value_int") return Tensor::scalar<int64_t>(int_attribute(node, key));
    if (key == "value_float") return Tensor::scalar<float>(float_attribute(node, key));
    if (key == "value_ints") return vector_of(ints_attribute(node, key));
    if (key == "value_floats") return vector_of(floats_attribute(node, key));
    if (key == "value_string") return strings_of({}, {string_attribute(node, key)});
    if (key == "value_strings") {
      const auto* texts = std::get_if<std::vector<std::string>>(&attribute);
      if (texts != nullptr) return strings_of({static_cast<int64_t>(texts->size())}, *texts);
    }
  }
  fail_malformed(node.label(), ": no value");
}

// ConstantOfShape's one element; float32 zero when there is none.
Tensor fill_value(const Node& node) {
  const auto found = node.attributes.find("value");
  if (found == node.attributes.end()) return Tensor::scalar<float>(0);
  const auto* tensor = std::get_if<Tensor>(&found->second);
  if (tensor == nullptr || tensor->size() != 1) fail_malformed(node.label(), ": value is not a tensor of one element");
  return *tensor;
}

void infer_constant_of_shape(InferContext& context) {
  Type type;
  type.dtype = fill_value(context.node).dtype();
  if (const Tensor* shape = context.known_input(0)) {
    type.shape.emplace();
    for (int64_t extent : to_int64s(*shape)) {
      if (extent < 0) context.fail("extent ", extent, " is negative");
      type.shape->emplace_back(extent);
    }
  } else if (context.has_shape(0) && context.shape(0, 1)[0].fixed()) {
    const int64_t rank = context.shape(0, 1)[0].size;
    constexpr int64_t kMaxRank = 64;
    if (rank <= kMaxRank) type.shape = std::vector<Dim>(rank);
  }
  context.set_output(0, std::move(type));
}

void reference_constant_of_shape(ReferenceContext& context) {
  const Tensor value = fill_value(context.node);
  Tensor y(value.dtype(), to_int64s(context.input(0)));
  if (value.dtype() == DType::String) {
    std::fill(y.mutable_strings().begin(), y.mutable_strings().end(), value.strings()[0]);
  } else if (y.size() > 0) {
    const size_t n = dtype_size(y.dtype());
    std::byte* out = y.mutable_bytes();
    for (int64_t i = 0; i < y.size(); ++i) std::memcpy(out + static_cast<size_t>(i) * n, value.bytes().data(), n);
  }
  context.outputs[0] = std::move(y);
}

DType dtype_attribute(const Node& node, DType fallback) {
  if (!node.has_attribute("dtype")) return fallback;
  const DType dtype = dtype_from_onnx(int_attribute(node, "dtype"));
  if (dtype == DType::Undefined) fail_malformed(node.label(), ": dtype ", int_attribute(node, "dtype"), " is none");
  return dtype;
}

void infer_eye_like(InferContext& context) {
  Type type = context.input(0);
  if (type.shape) context.shape(0, 2);
  type.dtype = dtype_attribute(context.node, type.dtype);
  context.set_output(0, std::move(type));
}

void reference_eye_like(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  if (x.rank() != 2) context.fail("the input ", shape_text(x.shape()), " is not a matrix");
  const DType dtype = dtype_attribute(context.node, x.dtype());
  const int64_t k = int_attribute(context.node, "k"), rows = x.dim(0), columns = x.dim(1);
  Tensor y(dtype, x.shape());
  dispatch_numeric(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* out = y.mutable_data<T>();
    if (k <= -rows || k >= columns) return;
    const int64_t first = std::max<int64_t>(0, -k), last = std::min(rows, columns - k);
    for (int64_t i = first; i < last; ++i) out[i * columns + i + k] = static_cast<T>(Compute<T>(1));
  });
  context.outputs[0] = std::move(y);
}

// max(0, ceil((limit - start) / delta)) elements.
constexpr double kMaxRange = 0x1p40;

template <class T>
int64_t range_count(const Node& node, T start, T limit, T delta) {
  if (delta == 0) fail_malformed(node.label(), ": delta is 0");
  if constexpr (std::is_integral_v<T>) {
    if (delta > 0 ? start >= limit : start <= limit) return 0;
    const auto a = static_cast<uint64_t>(start), b = static_cast<uint64_t>(limit), d = static_cast<uint64_t>(delta);
    const uint64_t distance = delta > 0 ? b - a : a - b, step = delta > 0 ? d : 0 - d;
    const uint64_t n = (distance - 1) / step + 1;
    if (static_cast<double>(n) > kMaxRange) fail_malformed(node.label(), ": ", n, " elements");
    return static_cast<int64_t>(n);
  } else {
    const double n = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
    if (!(n <= kMaxRange)) fail_malformed(node.label(), ": ", n, " elements");
    return n > 0 ? static_cast<int64_t>(n) : 0;
  }
}

template <class Body>
void with_range(const Node& node, const Tensor* const* inputs, Body&& body) {
  const DType dtype = inputs[0]->dtype();
  for (int i = 0; i < 3; ++i) {
    if (inputs[i]->dtype() != dtype || inputs[i]->size() != 1)
      fail_malformed(node.label(), ": start, limit and delta are not three scalars of one dtype");
  }
  dispatch_numeric(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, bool>) {
      fail_unsupported(node.label(), ": Range of bool");
    } else {
      const auto at = [&](int i) { return widen(inputs[i]->data<T>()[0]); };
      body(tag, at(0), at(2), range_count<Compute<T>>(node, at(0), at(1), at(2)));
    }
  });
}

void infer_range(InferContext& context) {
  Type type(context.input(0).dtype, {Dim()});
  const Tensor* inputs[] = {context.known_input(0), context.known_input(1), context.known_input(2)};
  if (inputs[0] != nullptr && inputs[1] != nullptr && inputs[2] != nullptr) {
    with_range(context.node, inputs, [&](auto, auto, auto, int64_t n) { type.shape = std::vector<Dim>{Dim(n)}; });
  }
  context.set_output(0, std::move(type));
}

void reference_range(ReferenceContext& context) {
  const int64_t stash = int_attribute(context.node, "stash_type");
  const DType dtype = context.input(0).dtype();
  if (stash != 1 && (dtype == DType::Float16 || dtype == DType::BFloat16))
    fail_unsupported(context.node.label(), ": Range with stash_type ", stash);
  const Tensor* inputs[] = {&context.input(0), &context.input(1), &context.input(2)};
  with_range(context.node, inputs, [&](auto tag, auto start, auto delta, int64_t n) {
    using T = typename decltype(tag)::type;
    Tensor y(dtype, {n});
    T* out = y.template mutable_data<T>();
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_integral_v<T>) {
        out[i] = static_cast<T>(static_cast<uint64_t>(start) + static_cast<uint64_t>(i) * static_cast<uint64_t>(delta));
      } else {
        out[i] = static_cast<T>(start + static_cast<Compute<T>>(i) * delta);
      }
    }
    context.outputs[0] = std::move(y);
  });
}

}  // namespace

OpDef define_Constant() {
  OpDef op;
  op.name = "Constant";
  op.since = 25;
  op.min_inputs = op.max_inputs = 0;
  op.traits = {Trait::Moves};
  op.attributes = {{"sparse_value", optional(AttributeType::Tensor), "a sparse tensor, which reading makes dense"},
                   {"value", optional(AttributeType::Tensor), "a tensor"},
                   {"value_float", optional(AttributeType::Float), "a float32"},
                   {"value_floats", optional(AttributeType::Floats), "a list of float32"},
                   {"value_int", optional(AttributeType::Int), "an int64"},
                   {"value_ints", optional(AttributeType::Ints), "a list of int64"},
                   {"value_string", optional(AttributeType::String), "a string"},
                   {"value_strings", optional(AttributeType::Strings), "a list of strings"}};
  op.infer = [](InferContext& context) {
    context.known_outputs[0] = constant_value(context.node);
    context.set_output(0, Type(context.known_outputs[0]));
  };
  op.reference = [](ReferenceContext& context) { context.outputs[0] = constant_value(context.node); };
  return op;
}

OpDef define_ConstantOfShape() {
  OpDef op;
  op.name = "ConstantOfShape";
  op.since = 25;
  op.traits = {Trait::Moves};
  op.attributes = {{"value", optional(AttributeType::Tensor), "the one element; left out: float32 0"}};
  op.infer = infer_constant_of_shape;
  op.reference = reference_constant_of_shape;
  return op;
}

OpDef define_EyeLike() {
  OpDef op;
  op.name = "EyeLike";
  op.since = 22;
  op.traits = {Trait::Moves};
  op.attributes = {{"dtype", optional(AttributeType::Int), "dtype of the result; left out: the input's"},
                   {"k", 0, "diagonal, counted from the main one"}};
  op.infer = infer_eye_like;
  op.reference = reference_eye_like;
  return op;
}

OpDef define_Range() {
  OpDef op;
  op.name = "Range";
  op.since = 27;
  op.min_inputs = op.max_inputs = 3;
  op.traits = {Trait::Float32, Trait::Moves};
  op.attributes = {{"stash_type", 1, "dtype of the sums of halves"}};
  op.infer = infer_range;
  op.reference = reference_range;
  return op;
}

}  // namespace dnn::constant_ops
