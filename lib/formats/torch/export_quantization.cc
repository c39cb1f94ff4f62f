// Quantised tensors: the integers stay what the file holds, and arithmetic that PyTorch has everywhere turns them into reals.
#include "formats/torch/exports.h"
#include "ops/quantization.h"

namespace dnn::torch {
namespace {

// A scale or zero point: one number, or a tensor that broadcasts along its axis.
struct Operand {
  std::optional<double> number;
  VarId var = -1;
};

Operand operand(Export& e, size_t i) {
  if (const std::optional<double> value = e.scalar(i)) return {value, -1};
  if (!e.type(i).fixed() || e.type(i).shape->size() > 1 || e.node().attribute_int("block_size", 0) != 0)
    e.refuse("scales of ", e.type(i).text(), " that are not one per index of an axis");
  const VarId var = e.input(i);
  const int64_t rank = e.rank(0), axis = e.axis("axis", 1);
  if (e.type(i).shape->empty() || rank == 1) return {std::nullopt, var};
  Type type(e.type(i).dtype, std::vector<Dim>(static_cast<size_t>(rank), Dim(1)));
  type.shape->at(static_cast<size_t>(axis)) = e.type(i).shape->at(0);
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape[static_cast<size_t>(axis)] = e.shape(i)[0];
  return {std::nullopt, e.step("reshape", {tensor(var), ints(shape)}, i == 1 ? "scale" : "zero_point", type)};
}

VarId apply(Export& e, const std::string& op, VarId x, const Operand& by, const char* what, const Type& type) {
  if (by.number) return e.step(op + ".Scalar", {tensor(x), *by.number}, what, type);
  return e.step(op + ".Tensor", {tensor(x), tensor(by.var)}, what, type);
}

bool zero(const Operand& by) { return by.number && *by.number == 0; }

}  // namespace

// (x - zero point) * scale
void write_dequantize_linear(Export& e) {
  const Type& real = e.output_type();
  if (!is_integer(e.dtype())) e.refuse("quantised numbers of ", dtype_name(e.dtype()));
  const Operand scale = operand(e, 1);
  VarId x = e.step("to.dtype", {tensor(e.input(0)), real.dtype}, "real", real);
  if (e.has_input(2)) {
    Operand zero_point = operand(e, 2);
    if (zero_point.var >= 0) {
      Type type = e.builder().var_type(zero_point.var);
      type.dtype = real.dtype;
      zero_point.var = e.step("to.dtype", {tensor(zero_point.var), real.dtype}, "origin", type);
    }
    if (!zero(zero_point)) x = apply(e, "sub", x, zero_point, "centred", real);
  }
  if (scale.number) return e.define("mul.Scalar", {tensor(x), *scale.number});
  e.define("mul.Tensor", {tensor(x), tensor(scale.var)});
}

// x / scale, rounded to even, + zero point, saturated
void write_quantize_linear(Export& e) {
  const Type& real = e.type(0);
  const DType to = e.output_type().dtype;
  if (!is_integer(to)) e.refuse("quantised numbers of ", dtype_name(to));
  scalar_type(to);
  VarId x = apply(e, "div", e.input(0), operand(e, 1), "scaled", real);
  x = e.step("round", {tensor(x)}, "rounded", real);
  if (e.has_input(2)) {
    const Operand zero_point = operand(e, 2);
    if (!zero(zero_point)) x = apply(e, "add", x, zero_point, "moved", real);
  }
  x = e.step("clamp", {tensor(x), static_cast<double>(integer_lowest(to)), static_cast<double>(integer_highest(to))},
             "inside", real);
  e.define("to.dtype", {tensor(x), to});
}

}  // namespace dnn::torch
