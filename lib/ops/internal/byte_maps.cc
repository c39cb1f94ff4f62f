// dnn.ToReal, dnn.ToInteger, dnn.ToGrid: DequantizeLinear and QuantizeLinear of 8 bits and one scale, as element-wise operators: what the pass
// integer-maps writes in one kernel with what stands between them.
//
//   ToReal:    y = float32(x - zero_point) * scale
//   ToInteger: y = round(min(max(x / scale, low - zero_point), high - zero_point)) + zero_point, halves to even, or away from zero as
//              TFLite has them (`away`); low for a NaN
//   ToGrid:    y = round(min(max(x, low), high)) * scale, halves to even: of x in steps, as real numbers again, without a byte between
#include <cmath>

#include "ops/elementwise.h"
#include "ops/fixed_point.h"
#include "ops/outputs.h"
#include "ops/quantization.h"

namespace dnn::byte_maps_ops {
namespace {

using loops::Expr;

DType target_of(const Node& node) { return dtype_from_onnx(int_attribute(node, "to")); }

void infer_real(InferContext& context) {
  Type type = context.input(0);
  expect_in_type(context, "zero_point", type.dtype);
  type.dtype = DType::Float32;
  context.set_output(0, std::move(type));
}

void infer_integer(InferContext& context) {
  expect_dtype(context, 0, DType::Float32);
  Type type = context.input(0);
  type.dtype = target_of(context.node);
  if (type.dtype != DType::Int8 && type.dtype != DType::UInt8) context.fail("'to' is ", dtype_name(type.dtype));
  for (const char* number : {"zero_point", "low", "high"}) expect_in_type(context, number, type.dtype);
  context.set_output(0, std::move(type));
}

void to_real(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_real);
  const std::vector<int64_t> x = to_int64s(context.input(0));
  const float scale = float_attribute(context.node, "scale");
  const int64_t zero = int_attribute(context.node, "zero_point");
  for (size_t i = 0; i < x.size(); ++i) y.mutable_data<float>()[i] = static_cast<float>(x[i] - zero) * scale;
  context.outputs[0] = std::move(y);
}

void to_integer(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_integer);
  Tensor wide(DType::Int64, y.shape());
  const float* x = context.input(0).data<float>();
  const float scale = float_attribute(context.node, "scale");
  const int64_t zero = int_attribute(context.node, "zero_point");
  const auto low = static_cast<float>(int_attribute(context.node, "low") - zero),
             high = static_cast<float>(int_attribute(context.node, "high") - zero);
  const bool away = flag_attribute(context.node, "away");
  for (int64_t i = 0; i < y.size(); ++i) {
    const float kept = elementwise::min(elementwise::max(x[i] / scale, low), high);
    wide.mutable_data<int64_t>()[i] = static_cast<int64_t>(away ? std::round(kept) : std::nearbyint(kept)) + zero;
  }
  context.outputs[0] = convert(wide, y.dtype());
}

void infer_grid(InferContext& context) {
  expect_dtype(context, 0, DType::Float32);
  context.set_output(0, context.input(0));
}

void to_grid(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_grid);
  const float* x = context.input(0).data<float>();
  const float scale = float_attribute(context.node, "scale"),
              low = static_cast<float>(int_attribute(context.node, "low")),
              high = static_cast<float>(int_attribute(context.node, "high"));
  for (int64_t i = 0; i < y.size(); ++i)
    y.mutable_data<float>()[i] = std::nearbyint(elementwise::min(elementwise::max(x[i], low), high)) * scale;
  context.outputs[0] = std::move(y);
}

Expr grid_element(const Node& node, const std::vector<Expr>& inputs) {
  const auto number = [](double value) { return loops::constant(DType::Float32, value); };
  const Expr kept = loops::min(loops::max(inputs[0], number(static_cast<double>(int_attribute(node, "low")))),
                               number(static_cast<double>(int_attribute(node, "high"))));
  return loops::unary(loops::Op::RoundEven, kept) * number(float_attribute(node, "scale"));
}

Expr real_element(const Node& node, const std::vector<Expr>& inputs) {
  const Expr moved =
      loops::cast(DType::Int32, inputs[0]) - loops::constant_int(DType::Int32, int_attribute(node, "zero_point"));
  return loops::cast(DType::Float32, moved) * loops::constant(DType::Float32, float_attribute(node, "scale"));
}

Expr integer_element(const Node& node, const std::vector<Expr>& inputs) {
  const int64_t zero = int_attribute(node, "zero_point");
  const auto bound = [&](const char* name) {
    return loops::constant(DType::Float32, static_cast<double>(int_attribute(node, name) - zero));
  };
  const Expr quotient = inputs[0] / loops::constant(DType::Float32, float_attribute(node, "scale"));
  const Expr kept = loops::min(loops::max(quotient, bound("low")), bound("high"));
  Expr rounded = loops::unary(loops::Op::RoundEven, kept);
  if (flag_attribute(node, "away")) {
    rounded = loops::unary(loops::Op::RoundEven, rounded_away(kept));  // which vectors convert
  }
  const Expr integer = loops::cast(DType::Int32, rounded);
  return loops::cast(target_of(node), integer + loops::constant_int(DType::Int32, zero));
}

OpDef define(std::string name, void (*infer)(InferContext&), void (*reference)(ReferenceContext&),
             Expr (*element)(const Node&, const std::vector<Expr>&)) {
  OpDef op;
  op.name = std::move(name);
  op.domain = kInternalDomain;
  op.traits = {Trait::Moves};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower_elementwise;
  op.element = element;
  op.no_gradient = true;
  return op;
}

}  // namespace

OpDef define_ToReal() {
  return with_attributes(define("ToReal", infer_real, to_real, real_element),
                         {{"scale", required(AttributeType::Float), "real number of a step"},
                          {"zero_point", 0, "the integer that stands for zero"}});
}

OpDef define_ToGrid() {
  return with_attributes(define("ToGrid", infer_grid, to_grid, grid_element),
                         {{"scale", required(AttributeType::Float), "real number of a step"},
                          {"low", required(AttributeType::Int), "the least number of steps"},
                          {"high", required(AttributeType::Int), "the largest"}});
}

OpDef define_ToInteger() {
  return with_attributes(define("ToInteger", infer_integer, to_integer, integer_element),
                         {{"scale", required(AttributeType::Float), "real number of a step"},
                          {"zero_point", 0, "the integer that stands for zero"},
                          {"low", required(AttributeType::Int), "the least number in y"},
                          {"high", required(AttributeType::Int), "the largest"},
                          {"away", 0, "1: halves are rounded away from zero"},
                          {"to", required(AttributeType::Int), "dtype of y"}});
}

}  // namespace dnn::byte_maps_ops
