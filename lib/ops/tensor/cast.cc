// Cast, CastLike: element conversion between all dtypes; BitCast: the same bits under another dtype.
#include <cmath>
#include <cstring>

#include "ops/build.h"
#include "ops/elementwise.h"

namespace dnn::cast_ops {
namespace {

DType target_of(const Node& node) {
  const int64_t code = int_attribute(node, "to");
  const DType to = dtype_from_onnx(code);
  if (to == DType::Undefined) fail_malformed(node.label(), ": to is ", code, ", which is no dtype");
  return to;
}

// A float as the exponent byte of float8e8m0, 2^(code - 127); 255 is NaN. Negative numbers have no such value: their
// magnitude counts.
uint8_t exponent_code(float value, bool saturate, const std::string& round_mode) {
  constexpr uint8_t kNan = 255, kLargest = 254;
  if (std::isnan(value)) return kNan;
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits &= 0x7fffffff;
  if (std::isinf(value)) return saturate ? kLargest : kNan;
  uint32_t exponent = bits >> 23;
  const uint32_t fraction = bits & 0x7fffff;
  bool up = false;
  if (round_mode == "up") up = exponent > 0 ? fraction > 0 : fraction > 0x400000;
  if (round_mode == "nearest") up = exponent > 0 ? fraction >= 0x400000 : fraction >= 0x600000;
  if (bits == 0 && !saturate) return kNan;
  if (up) ++exponent;
  if (exponent > kLargest) return saturate ? kLargest : kNan;
  return static_cast<uint8_t>(exponent);
}

Tensor convert_to_exponents(const Node& node, const Tensor& x, bool saturate) {
  const std::string round_mode = string_attribute(node, "round_mode");
  if (round_mode != "up" && round_mode != "down" && round_mode != "nearest")
    fail_malformed(node.label(), ": round_mode is ", quoted(round_mode), ", not up, down or nearest");
  const Tensor single = convert(x, DType::Float32);
  Tensor y(DType::Float8E8M0, x.shape());
  uint8_t* out = y.mutable_data<uint8_t>();
  for (int64_t i = 0; i < x.size(); ++i) out[i] = exponent_code(single.data<float>()[i], saturate, round_mode);
  return y;
}

bool is_complex(DType dtype) { return dtype == DType::Complex64 || dtype == DType::Complex128; }

Tensor cast_tensor(const Node& node, const Tensor& x, DType to) {
  const bool saturate = flag_attribute(node, "saturate");
  if (x.dtype() == to) return x;
  if (is_complex(x.dtype()) || is_complex(to))
    fail_unsupported(node.label(), ": ", node.op, " from ", dtype_name(x.dtype()), " to ", dtype_name(to));
  if (to == DType::Float8E8M0) return convert_to_exponents(node, x, saturate);
  return convert(x, to, saturate);
}

// Conversions that compiled code does to the same bits: those that cannot be out of range.
bool exact_in_c(DType from, DType to) {
  if (!loops::has_arithmetic(from) || !loops::has_arithmetic(to)) return false;
  return is_float(to) || !is_float(from) || to == DType::Bool;
}

void lower(LowerContext& context) {
  const DType from = context.inputs[0]->dtype, to = context.outputs[0]->dtype;
  if (exact_in_c(from, to)) lower_elementwise(context);
}

loops::Expr converted(const loops::Expr& x, DType to) {
  if (x->dtype == to) return x;
  if (to == DType::Bool) return x != elementwise::like(x, 0);
  return loops::cast(to, x);
}

void infer_cast(InferContext& context) {
  Type type = context.input(0);
  type.dtype = target_of(context.node);
  context.set_output(0, std::move(type));
}

void infer_cast_like(InferContext& context) {
  Type type = context.input(0);
  type.dtype = context.input(1).dtype;
  context.set_output(0, std::move(type));
}

void reference_bit_cast(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const DType to = target_of(context.node);
  if (x.dtype() == DType::String || to == DType::String) context.fail("strings have no bits to cast");
  if (dtype_bits(x.dtype()) != dtype_bits(to))
    context.fail(dtype_name(x.dtype()), " and ", dtype_name(to), " differ in width");
  Tensor y(to, x.shape());
  if (x.size() > 0) std::memcpy(y.mutable_bytes(), x.bytes().data(), x.size_bytes());
  if (to == DType::Bool) {
    auto* bytes = reinterpret_cast<uint8_t*>(y.mutable_bytes());
    for (int64_t i = 0; i < y.size(); ++i) {
      if (bytes[i] > 1) context.fail("byte ", int{bytes[i]}, " is no bool");
    }
  }
  // Types below a byte take one each in memory, sign-extended where they have a sign.
  if (dtype_bits(to) < 8) {
    const int bits = dtype_bits(to);
    const bool is_signed = dtype_class(to) == DTypeClass::Signed;
    auto* bytes = reinterpret_cast<uint8_t*>(y.mutable_bytes());
    for (int64_t i = 0; i < y.size(); ++i) {
      const unsigned code = bytes[i] & ((1u << bits) - 1);
      const bool negative = is_signed && (code >> (bits - 1)) != 0;
      bytes[i] = static_cast<uint8_t>(negative ? code | (~0u << bits) : code);
    }
  }
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_Cast() {
  OpDef op;
  op.name = "Cast";
  op.since = 28;
  op.traits = {Trait::Moves};
  op.attributes = {{"round_mode", "up", "to float8e8m0: up, down or nearest"},
                   {"saturate", 1, "to 8-bit floats: what is out of range becomes the largest number"},
                   {"to", required(AttributeType::Int), "dtype of the result"}};
  op.infer = infer_cast;
  op.reference = [](ReferenceContext& context) {
    context.outputs[0] = cast_tensor(context.node, context.input(0), target_of(context.node));
  };
  op.lower = lower;
  op.gradient = [](GradientContext& context) {
    if (context.wants(0)) context.set(0, context.build.to_dtype(context.dy(), context.build.dtype(context.input(0))));
  };
  op.element = [](const Node& node, const std::vector<loops::Expr>& inputs) {
    return converted(inputs[0], target_of(node));
  };
  return op;
}

OpDef define_CastLike() {
  OpDef op;
  op.name = "CastLike";
  op.since = 25;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"round_mode", "up", "to float8e8m0: up, down or nearest"},
                   {"saturate", 1, "to 8-bit floats: what is out of range becomes the largest number"}};
  op.infer = infer_cast_like;
  op.reference = [](ReferenceContext& context) {
    context.outputs[0] = cast_tensor(context.node, context.input(0), context.input(1).dtype());
  };
  op.lower = [](LowerContext& context) {
    const DType to = context.outputs[0]->dtype;
    const loops::BufferRef x = context.inputs[0];
    if (!exact_in_c(x->dtype, to)) return;
    emit_map(context, context.outputs[0],
             [&](const std::vector<loops::Expr>& indices) { return converted(loops::load(x, indices), to); });
  };
  return op;
}

OpDef define_BitCast() {
  OpDef op;
  op.name = "BitCast";
  op.since = 26;
  op.traits = kNoTraits;
  op.attributes = {{"to", required(AttributeType::Int), "dtype of the result"}};
  op.infer = infer_cast;
  op.reference = reference_bit_cast;
  return op;
}

}  // namespace dnn::cast_ops
