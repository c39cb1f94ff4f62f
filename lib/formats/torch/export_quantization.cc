// Quantised tensors: the integers stay what the file holds, and arithmetic that PyTorch has everywhere turns them into reals.
#include <algorithm>

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
  Type type(e.type(i).dtype, std::vector<Dim>(rank, Dim(1)));
  type.shape->at(axis) = e.type(i).shape->at(0);
  std::vector<int64_t> shape(rank, 1);
  shape[axis] = e.shape(i)[0];
  return {std::nullopt, e.step("reshape", {tensor(var), ints(shape)}, i == 1 ? "scale" : "zero_point", type)};
}

VarId apply(Export& e, const std::string& op, VarId x, const Operand& by, const char* what, const Type& type) {
  if (by.number) return e.step(op + ".Scalar", {tensor(x), *by.number}, what, type);
  return e.step(op + ".Tensor", {tensor(x), tensor(by.var)}, what, type);
}

bool is_zero(const Operand& by) { return by.number && *by.number == 0; }

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
    if (!is_zero(zero_point)) x = apply(e, "sub", x, zero_point, "centred", real);
  }
  if (scale.number) return e.define("mul.Scalar", {tensor(x), *scale.number});
  e.define("mul.Tensor", {tensor(x), tensor(scale.var)});
}

namespace {

// Rounded to even, + zero point, saturated: the last calls of what makes quantised numbers of output 0's type.
void define_quantized(Export& e, VarId x, const Operand& zero_point) {
  const DType to = e.output_type().dtype;
  if (!is_integer(to)) e.refuse("quantised numbers of ", dtype_name(to));
  scalar_type(to);
  const Type real = e.builder().var_type(x);
  x = e.step("round", {tensor(x)}, "rounded", real);
  if (!is_zero(zero_point)) x = apply(e, "add", x, zero_point, "moved", real);
  x = e.step("clamp", {tensor(x), static_cast<double>(integer_lowest(to)), static_cast<double>(integer_highest(to))},
             "inside", real);
  e.define("to.dtype", {tensor(x), to});
}

// One number, or one for each channel (a constant).
std::vector<double> numbers_of(const Export& e, size_t i, const char* what) {
  if (!e.has_input(i)) return {0};
  const Tensor& value = e.known(i, what);
  if (value.rank() > 1 && value.size() > 1) e.refuse("a ", what, " of ", Type(value).text());
  return to_doubles(value);
}

// Integers of input i less their zero points (input `origin`), which vary along `axis` if at all, as exact reals.
VarId centred(Export& e, size_t i, size_t origin, size_t axis, const char* what) {
  const Type real(DType::Float32, *e.type(i).shape);
  const VarId x = e.step("to.dtype", {tensor(e.input(i)), DType::Float32}, what, real);
  const std::vector<double> origins = numbers_of(e, origin, "zero point");
  if (origins.size() == 1) return origins[0] == 0 ? x : e.step("sub.Scalar", {tensor(x), origins[0]}, "centred", real);
  Shape shape(real.shape->size(), 1);
  shape[axis] = static_cast<int64_t>(origins.size());
  const VarId by = e.store("origin", convert(Tensor::of<double>(shape, origins), DType::Float32));
  return e.step("sub.Tensor", {tensor(x), tensor(by)}, "centred", real);
}

// Sums of products to quantised numbers: * scale of x * scale of w / scale of y, in float32 as the operator has it.
void define_requantized(Export& e, VarId sums, size_t axis) {
  const auto x = static_cast<float>(numbers_of(e, 1, "scale").at(0)),
             y = static_cast<float>(numbers_of(e, 6, "scale").at(0));
  std::vector<float> factors;
  for (double w : numbers_of(e, 4, "scale")) factors.push_back(x * static_cast<float>(w) / y);
  const Type real = e.builder().var_type(sums);
  if (factors.size() == 1) {
    sums = e.step("mul.Scalar", {tensor(sums), static_cast<double>(factors[0])}, "scaled", real);
  } else {
    Shape shape(real.shape->size(), 1);
    shape[axis] = static_cast<int64_t>(factors.size());
    sums = e.step("mul.Tensor", {tensor(sums), tensor(e.store("factor", Tensor::of<float>(shape, factors)))}, "scaled",
                  real);
  }
  define_quantized(e, sums, {numbers_of(e, 7, "zero point").at(0), -1});
}

void one_scale(const Export& e, size_t i) {
  if (numbers_of(e, i, "scale").size() != 1) e.refuse("scales for each channel of input ", i);
}

}  // namespace

// x / scale, rounded to even, + zero point, saturated
void write_quantize_linear(Export& e) {
  const VarId x = apply(e, "div", e.input(0), operand(e, 1), "scaled", e.type(0));
  define_quantized(e, x, e.has_input(2) ? operand(e, 2) : Operand{0, -1});
}

// The sums are of integers that float32 holds exactly, so that only the last rounding is one.
void write_qlinear_conv(Export& e) {
  for (size_t i : {1, 2, 6, 7}) one_scale(e, i);
  const VarId x = centred(e, 0, 2, 1, "x"), w = centred(e, 3, 5, 0, "w");
  Arg bias = none();
  if (e.has_input(8))
    bias = tensor(
        e.step("to.dtype", {tensor(e.input(8)), DType::Float32}, "bias", Type(DType::Float32, *e.type(8).shape)));
  std::vector<Arg> args;
  const std::string op = convolution(e, x, 3, w, std::move(bias), &args);
  define_requantized(e, e.step(op, std::move(args), "sums", Type(DType::Float32, *e.output_type().shape)), 1);
}

void write_qlinear_matmul(Export& e) {
  for (size_t i : {1, 2, 6, 7}) one_scale(e, i);
  const size_t columns = e.type(3).shape.value_or(std::vector<Dim>(1)).size() - 1;
  const VarId x = centred(e, 0, 2, 0, "x"), w = centred(e, 3, 5, columns, "w");
  const Type real(DType::Float32, e.output_type().shape.value_or(std::vector<Dim>()));
  define_requantized(e, e.step("matmul", {tensor(x), tensor(w)}, "sums", real),
                     std::max<size_t>(1, real.shape->size()) - 1);
}

}  // namespace dnn::torch
