// QuantizeLinear, DequantizeLinear: per tensor, per axis and in blocks, to and from integers and small floats.
//
// QuantizeLinear divides in the scale's type (or `precision`), rounds to even, adds the zero point and saturates;
// DequantizeLinear subtracts the zero point exactly and multiplies in the output's type.
#include <cmath>

#include "ops/elementwise.h"
#include "ops/outputs.h"
#include "ops/permute.h"
#include "ops/quantization.h"

namespace dnn::quantize_linear_ops {
namespace {

// x: any shape; scale, zero point: [] or [D axis] or blocks of x's shape.
void check_scales(InferContext& context) {
  const Type &x = context.input(0), &scale = context.input(1);
  if (context.has_input(2)) {
    const Type& zero_point = context.input(2);
    if (scale.fixed() && zero_point.fixed() &&
        element_count(scale.fixed_shape()) != element_count(zero_point.fixed_shape()))
      context.fail("scale ", scale.text(), " and zero point ", zero_point.text(), " differ in shape");
  }
  if (x.fixed() && scale.fixed()) Granularity(context.node, x.fixed_shape(), scale.fixed_shape());
}

bool small_float(DType dtype) { return is_float(dtype) && dtype_size(dtype) == 1 && dtype != DType::Float8E8M0; }
bool quantized(DType dtype) { return small_float(dtype) || (is_integer(dtype) && dtype_bits(dtype) <= 16); }

void infer_quantize(InferContext& context) {
  check_scales(context);
  Type type = context.input(0);
  type.dtype = context.has_input(2) ? context.input(2).dtype : DType::UInt8;
  const int64_t code = int_attribute(context.node, "output_dtype");
  if (code != 0) {
    const DType asked = dtype_from_onnx(code);
    if (context.has_input(2) && type.dtype != DType::Undefined && asked != type.dtype)
      context.fail("output_dtype ", dtype_name(asked), " with a zero point of ", dtype_name(type.dtype));
    type.dtype = asked;
  }
  if (type.dtype != DType::Undefined && !quantized(type.dtype))
    fail_unsupported(context.node.label(), ": quantisation to ", dtype_name(type.dtype));
  context.set_output(0, std::move(type));
}

void infer_dequantize(InferContext& context) {
  check_scales(context);
  expect_dtype(context, 2, context.input(0).dtype);
  Type type = context.input(0);
  type.dtype = context.input(1).dtype;
  const int64_t code = int_attribute(context.node, "output_dtype");
  if (code != 0) type.dtype = dtype_from_onnx(code);
  context.set_output(0, std::move(type));
}

// The type that the division is done in.
DType precision(const Node& node, DType scale) {
  const int64_t code = int_attribute(node, "precision");
  if (code != 0) return dtype_from_onnx(code);
  return scale == DType::Float8E8M0 ? DType::Float32 : scale;
}

void quantize(ReferenceContext& context) {
  const Tensor &x = context.input(0), &scale = context.input(1);
  Tensor y = allocate_output(context, infer_quantize);
  const Granularity place(context.node, x.shape(), scale.shape());
  const DType in = precision(context.node, scale.dtype());
  const bool saturating = flag_attribute(context.node, "saturate"), to_float = small_float(y.dtype());
  const std::vector<double> values = to_doubles(x), scales = to_doubles(scale);
  std::vector<double> zero_points;
  if (context.has_input(2)) zero_points = to_doubles(context.input(2));
  Tensor integers(DType::Int64, to_float ? Shape{0} : y.shape());
  int64_t* out = integers.mutable_data<int64_t>();
  uint8_t* codes = to_float ? y.mutable_data<uint8_t>() : nullptr;
  const bool has_infinity = dtype_bits(y.dtype()) == 8;  // 4- and 6-bit floats always saturate
  for (int64_t i = 0; i < x.size(); ++i) {
    const size_t s = place(i);
    const double quotient = round_to(in, round_to(in, values[i]) / round_to(in, scales[s]));
    const double zero_point = zero_points.empty() ? 0 : zero_points[s];
    if (to_float) {
      codes[i] = small_float_encode(y.dtype(), static_cast<float>(quotient + zero_point), saturating || !has_infinity);
    } else {
      out[i] = saturate(quotient, static_cast<int64_t>(zero_point), y.dtype());
    }
  }
  context.outputs[0] = to_float ? std::move(y) : convert(integers, y.dtype());
}

void dequantize(ReferenceContext& context) {
  const Tensor &x = context.input(0), &scale = context.input(1);
  const std::vector<Type> types = infer_outputs(context, infer_dequantize);
  const DType to = types[0].dtype;
  if (to == DType::Float8E8M0 || !(is_float(to) && dtype_size(to) > 1))
    fail_unsupported(context.node.label(), ": dequantisation to ", dtype_name(to));
  const Granularity place(context.node, x.shape(), scale.shape());
  const DType product = to == DType::Float64 ? DType::Float64 : DType::Float32;
  Tensor wide(product, x.shape());
  const std::vector<double> values = to_doubles(x), scales = to_doubles(scale);
  std::vector<double> zero_points;
  if (context.has_input(2)) zero_points = to_doubles(context.input(2));
  const auto run = [&](auto* out) {
    using T = std::remove_reference_t<decltype(*out)>;
    for (int64_t i = 0; i < x.size(); ++i) {
      const size_t s = place(i);
      const double moved = values[i] - (zero_points.empty() ? 0 : zero_points[s]);
      out[i] = static_cast<T>(moved) * static_cast<T>(scales[s]);
    }
  };
  if (product == DType::Float64) {
    run(wide.mutable_data<double>());
  } else {
    run(wide.mutable_data<float>());
  }
  context.outputs[0] = convert(wide, to);
}

// Element `indices` of a scale or zero point; no expression where it lies in blocks.
loops::Expr parameter(const LowerContext& context, size_t input, const std::vector<loops::Expr>& indices) {
  const loops::BufferRef& buffer = context.inputs[input];
  const auto rank = static_cast<int64_t>(indices.size());
  if (element_count(buffer->shape) == 1)
    return loops::load(buffer, std::vector<loops::Expr>(buffer->shape.size(), loops::constant_int(DType::Int64, 0)));
  const int64_t axis = int_attribute(context.node, "axis");
  return loops::load(buffer, {indices[axis < 0 ? axis + rank : axis]});
}

// Integers of 8 and 16 bits, of which float32 holds every sum, with one scale for all or one for each index of an axis.
bool lowers(const LowerContext& context, DType real, DType integer) {
  const loops::BufferRef& scale = context.inputs[1];
  return real == DType::Float32 && scale != nullptr && scale->dtype == DType::Float32 && is_integer(integer) &&
         (dtype_bits(integer) == 8 || dtype_bits(integer) == 16) &&
         (element_count(scale->shape) == 1 ||
          (scale->shape.size() == 1 && int_attribute(context.node, "block_size") == 0)) &&
         (context.inputs.size() < 3 || context.inputs[2] == nullptr || context.inputs[2]->dtype == integer);
}

bool has_zero_point(const LowerContext& context) { return context.inputs.size() > 2 && context.inputs[2] != nullptr; }

void lower_quantize(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (x == nullptr || !lowers(context, x->dtype, y->dtype) ||
      precision(context.node, context.inputs[1]->dtype) != DType::Float32)
    return;
  const Expr low = constant(DType::Float32, static_cast<double>(integer_lowest(y->dtype)));
  const Expr high = constant(DType::Float32, static_cast<double>(integer_highest(y->dtype)));
  emit_map(context, y, [&](const std::vector<Expr>& indices) {
    Expr moved = unary(Op::RoundEven, load(x, indices) / parameter(context, 1, indices));
    if (has_zero_point(context)) moved = moved + cast(DType::Float32, parameter(context, 2, indices));
    // A NaN is not above the lowest.
    return cast(y->dtype, select(low < moved, select(moved < high, moved, high), low));
  });
}

void lower_dequantize(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  if (x == nullptr || !lowers(context, y->dtype, x->dtype)) return;
  emit_map(context, y, [&](const std::vector<Expr>& indices) {
    Expr moved = cast(DType::Float32, load(x, indices));
    if (has_zero_point(context)) moved = moved - cast(DType::Float32, parameter(context, 2, indices));
    return moved * parameter(context, 1, indices);
  });
}

OpDef define(std::string name, void (*infer)(InferContext&), void (*reference)(ReferenceContext&),
             void (*lower)(LowerContext&)) {
  OpDef op;
  op.name = std::move(name);
  op.since = 28;
  op.min_inputs = 2;
  op.max_inputs = 3;
  op.traits = {Trait::Float32, Trait::Moves};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.permute = permute_quantized_axis;
  return op;
}

}  // namespace

OpDef define_QuantizeLinear() {
  return with_attributes(define("QuantizeLinear", infer_quantize, quantize, lower_quantize),
                         {{"axis", 1, "axis of the scales"},
                          {"block_size", 0, "elements of the axis that share a scale; 0: all or one"},
                          {"output_dtype", 0, "dtype of the result; 0: as the operands say"},
                          {"precision", 0, "dtype of the division; 0: the scale's"},
                          {"saturate", 1, "to 8-bit floats: what is out of range becomes the largest number"}});
}
OpDef define_DequantizeLinear() {
  return with_attributes(define("DequantizeLinear", infer_dequantize, dequantize, lower_dequantize),
                         {{"axis", 1, "axis of the scales"},
                          {"block_size", 0, "elements of the axis that share a scale; 0: all or one"},
                          {"output_dtype", 0, "dtype of the result; 0: as the operands say"}});
}

}  // namespace dnn::quantize_linear_ops
