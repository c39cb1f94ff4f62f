// Element by element, reductions, products of matrices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "formats/tflite/exports.h"

namespace dnn::tflite {
namespace {

void arithmetic(Export& e, int code, int options) {
  e.op(code, {e.input(0), e.input(1)}, {e.output()}, {options, CreateArithmeticOptions(e.builder(), e.activation())});
}

// a op b into a new tensor of the output's type, or into the output.
int32_t step(Export& e, int code, int options, int32_t a, int32_t b, bool last) {
  const int32_t y = last ? e.output() : e.last_step("step", e.output_type());
  e.op(code, {a, b}, {y}, options == 0 ? OptionsRef() : OptionsRef(options, CreateArithmeticOptions(e.builder())));
  return y;
}

int32_t function(Export& e, int code, int32_t x, const char* what) {
  const int32_t y = e.last_step(what, e.output_type());
  e.op(code, {x}, {y});
  return y;
}

// log(1 + exp(x)) = max(x, 0) + log(1 + exp(-|x|)), which does not overflow.
int32_t softplus(Export& e, bool last) {
  const int32_t x = e.input(0), below = function(e, 59, function(e, 101, x, "distance"), "below");
  const int32_t sum = step(e, 0, 11, function(e, 47, below, "power"), e.number(1), false);
  return step(e, 0, 11, function(e, 19, x, "above"), function(e, 73, sum, "log"), last);
}

// Along the last axis, or between transpositions that bring `axis` there.
template <class Write>
void along_axis(Export& e, int64_t axis, const Write& write) {
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  if (axis < 0) axis += rank;
  if (axis == rank - 1) return write(e.input(0), e.output());
  std::vector<int64_t> perm;
  for (int64_t i = 0; i < rank; ++i) perm.push_back(i == axis ? rank - 1 : i == rank - 1 ? axis : i);
  Type type = e.output_type();
  std::swap(type.shape.value()[axis], type.shape.value()[rank - 1]);
  const int32_t x = e.step("swapped", type), y = e.last_step("result", type), order = e.ints(perm);
  e.op(39, {e.input(0), order}, {x}, {26, CreateAnyTable(e.builder())});
  write(x, y);
  e.op(39, {y, order}, {e.output()}, {26, CreateAnyTable(e.builder())});
}

// A bias of FULLY_CONNECTED from a constant that broadcasts to [rows, units]; nothing when it varies over rows.
std::optional<dnn::Tensor> row_bias(const dnn::Tensor& c, int64_t units, double beta) {
  const bool single = c.size() == 1;
  if (!single && (c.size() != units || c.shape().back() != units)) return std::nullopt;
  std::vector<double> values = to_doubles(c);
  values.resize(units, values[0]);
  if (single) std::fill(values.begin(), values.end(), values[0]);
  for (double& v : values) v *= beta;
  return convert(dnn::Tensor::of<double>({units}, values), c.dtype());
}

dnn::Tensor scaled(const dnn::Tensor& tensor, double by) {
  if (by == 1) return tensor;
  std::vector<double> values = to_doubles(tensor);
  for (double& v : values) v *= by;
  return convert(dnn::Tensor::of<double>(tensor.shape(), values), tensor.dtype());
}

}  // namespace

template <int code>
void write_unary(Export& e) {
  e.op(code, {e.input(0)}, {e.output()});
}
template <int code>
void write_binary(Export& e) {
  e.op(code, {e.input(0), e.input(1)}, {e.output()});
}
template <int code>
void write_variadic(Export& e) {
  int32_t y = e.input(0);
  const size_t n = e.node().inputs.size();
  if (n < 2) e.refuse("one operand");
  for (size_t i = 1; i < n; ++i) y = step(e, code, 0, y, e.input(i), i + 1 == n);
}
template <int code>
void write_reduce(Export& e) {
  std::vector<int64_t> axes;
  if (e.has_input(1)) axes = e.known_ints(1, "list of axes");
  if (axes.empty() && e.node().attribute_int("noop_with_empty_axes", 0) != 0) e.refuse("a reduction of no axes");
  if (axes.empty()) {
    axes.resize(e.shape(0).size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  const bool keep = e.node().attribute_int("keepdims", 1) != 0;
  const int32_t list = e.ints(axes);
  e.op(code, {e.input(0), list}, {e.output()}, {27, CreateReducerOptions(e.builder(), keep)});
}
template <int code>
void write_arg_extreme(Export& e) {
  if (e.node().attribute_int("select_last_index", 0) != 0) e.refuse("the last of equal elements");
  if (e.node().attribute_int("keepdims", 1) != 0) e.refuse("an index that keeps its axis");
  const int32_t axis = e.store("axis", dnn::Tensor::scalar(static_cast<int32_t>(e.node().attribute_int("axis", 0))));
  e.op(code, {e.input(0), axis}, {e.output()},
       {code == 56 ? 40 : 57, CreateArgMaxOptions(e.builder(), TensorType::INT32)});
}

#define INSTANTIATE(kind, code) template void write_##kind<code>(Export&)
INSTANTIATE(unary, 8);
INSTANTIATE(unary, 14);
INSTANTIATE(unary, 19);
INSTANTIATE(unary, 28);
INSTANTIATE(unary, 47);
INSTANTIATE(unary, 59);
INSTANTIATE(unary, 66);
INSTANTIATE(unary, 73);
INSTANTIATE(unary, 75);
INSTANTIATE(unary, 87);
INSTANTIATE(unary, 101);
INSTANTIATE(unary, 104);
INSTANTIATE(unary, 108);
INSTANTIATE(unary, 116);
INSTANTIATE(unary, 117);
INSTANTIATE(unary, 158);
INSTANTIATE(binary, 54);
INSTANTIATE(binary, 58);
INSTANTIATE(binary, 61);
INSTANTIATE(binary, 62);
INSTANTIATE(binary, 63);
INSTANTIATE(binary, 71);
INSTANTIATE(binary, 78);
INSTANTIATE(binary, 84);
INSTANTIATE(binary, 86);
INSTANTIATE(variadic, 55);
INSTANTIATE(variadic, 57);
INSTANTIATE(reduce, 40);
INSTANTIATE(reduce, 74);
INSTANTIATE(reduce, 81);
INSTANTIATE(reduce, 82);
INSTANTIATE(reduce, 89);
INSTANTIATE(arg_extreme, 56);
INSTANTIATE(arg_extreme, 79);
#undef INSTANTIATE

void write_add(Export& e) { arithmetic(e, 0, 11); }
void write_sub(Export& e) { arithmetic(e, 41, 28); }
void write_mul(Export& e) { arithmetic(e, 18, 21); }
void write_div(Export& e) { arithmetic(e, 42, 29); }

void write_sum(Export& e) {
  int32_t y = e.input(0);
  const size_t n = e.node().inputs.size();
  if (n < 2) e.refuse("one operand");
  for (size_t i = 1; i < n; ++i) y = step(e, 0, 11, y, e.input(i), i + 1 == n);
}

// Weights kept in 16 bits are dequantised, as the format's own converter writes it.
void write_cast(Export& e) {
  const bool weights = e.constant(0) != nullptr && e.type(0).dtype == DType::Float16;
  if (weights && e.output_type().dtype == DType::Float32) return e.op(6, {e.input(0)}, {e.output()});
  // 64-bit integers of the graph's border are written as they are, and read so where they are there by now.
  const bool wide_in = e.type(0).dtype == DType::Int64 && e.has_outer(e.node().inputs[0]);
  const bool wide_out = e.output_type().dtype == DType::Int64;
  e.op(53, {wide_in ? e.outer(e.node().inputs[0]) : e.input(0)},
       {wide_out ? e.outer(e.node().outputs[0]) : e.output()});
}

// The input is brought to one step beyond the output's numbers first, where it may lie beyond those of int32: the format's kernel
// leaves undefined what becomes of it, QuantizeLinear takes the nearest number that the output can hold.
void write_quantize(Export& e) {
  int32_t x = e.input(0);
  if (const auto bounds = e.bounds_beyond_output()) {
    for (const auto& [code, bound] : {std::pair(55, bounds->first), std::pair(57, bounds->second)}) {
      const int32_t bounded = e.step("bounded", e.type(0));
      e.op(code, {x, e.number(bound)}, {bounded});
      x = bounded;
    }
  }
  e.op(114, {x}, {e.output()});
}

// TFLite dequantises no 32-bit numbers: those are constants, and written as real ones.
void write_dequantize(Export& e) {
  if (e.type(0).dtype == DType::Int32) {
    e.define_dequantized();
  } else {
    e.op(6, {e.input(0)}, {e.output()});
  }
}

namespace {
// Kernels of RELU and its kind take real and quantised numbers alone.
void clip_integers(Export& e) {
  int32_t y = e.input(0);
  const bool low = e.has_input(1), high = e.has_input(2);
  if (!low && !high) return e.op(55, {y, y}, {e.output()});
  const auto bound = [&](size_t i) { return e.store("number", e.known(i, "bound").reshaped({})); };
  if (low) y = step(e, 55, 0, y, bound(1), !high);
  if (high) step(e, 57, 0, y, bound(2), true);
}
}  // namespace

void write_clip(Export& e) {
  if (!is_float(e.type(0).dtype) && !e.quantized()) return clip_integers(e);
  const double infinite = std::numeric_limits<double>::infinity();
  const double low = e.has_input(1) ? to_doubles(e.known(1, "lower bound"))[0] : -infinite;
  const double high = e.has_input(2) ? to_doubles(e.known(2, "upper bound"))[0] : infinite;
  if (low == 0 && high == 6) return e.op(21, {e.input(0)}, {e.output()});
  if (low == 0 && high == infinite) return e.op(19, {e.input(0)}, {e.output()});
  if (low == -1 && high == 1) return e.op(20, {e.input(0)}, {e.output()});
  const int32_t y = step(e, 55, 0, e.input(0), e.number(std::max(low, -3.4028234663852886e38)), false);
  step(e, 57, 0, y, e.number(std::min(high, 3.4028234663852886e38)), true);
}

void write_elu(Export& e) {
  if (e.node().attribute_float("alpha", 1) != 1) e.refuse("alpha is not 1");
  e.op(111, {e.input(0)}, {e.output()});
}

void write_gelu(Export& e) {
  const bool approximate = e.node().attribute_string("approximate", "none") == "tanh";
  e.op(150, {e.input(0)}, {e.output()}, {116, CreateGeluOptions(e.builder(), approximate)});
}

void write_leaky_relu(Export& e) {
  e.op(98, {e.input(0)}, {e.output()},
       {75, CreateLeakyReluOptions(e.builder(), e.node().attribute_float("alpha", 0.01f))});
}

// max(0, min(1, alpha * x + beta))
void write_hard_sigmoid(Export& e) {
  const Node& node = e.node();
  const int32_t a = e.number(static_cast<double>(node.attribute_float("alpha", 0.2f))),
                b = e.number(static_cast<double>(node.attribute_float("beta", 0.5f)));
  const int32_t line = step(e, 0, 11, step(e, 18, 21, e.input(0), a, false), b, false);
  e.op(19, {step(e, 57, 0, line, e.number(1), false)}, {e.output()});
}

// x * sigmoid(alpha x)
void write_swish(Export& e) {
  const double alpha = static_cast<double>(e.node().attribute_float("alpha", 1));
  const int32_t x = e.input(0), line = alpha == 1 ? x : step(e, 18, 21, x, e.number(alpha), false);
  step(e, 18, 21, x, function(e, 14, line, "gate"), true);
}

// RELU takes no integers that stand for themselves.
void write_relu(Export& e) {
  const bool plain = is_float(e.type(0).dtype) || e.quantized();
  if (plain) return write_unary<19>(e);
  e.op(55, {e.input(0), e.number(0)}, {e.output()});
}

void write_softplus(Export& e) { softplus(e, true); }

// x * tanh(softplus(x))
void write_mish(Export& e) { step(e, 18, 21, e.input(0), function(e, 28, softplus(e, false), "gate"), true); }

void write_where(Export& e) {
  e.op(123, {e.input(0), e.input(1), e.input(2)}, {e.output()}, {98, CreateAnyTable(e.builder())});
}

void write_softmax(Export& e) {
  along_axis(e, e.node().attribute_int("axis", -1), [&](int32_t x, int32_t y) {
    e.op(25, {x}, {y}, {9, CreateSoftmaxOptions(e.builder(), 1)});
  });
}

void write_log_softmax(Export& e) {
  along_axis(e, e.node().attribute_int("axis", -1), [&](int32_t x, int32_t y) {
    e.op(50, {x}, {y}, {36, CreateAnyTable(e.builder())});
  });
}

// (x - mean) / sqrt(mean of squares + epsilon) * scale + bias, over the last axes.
void write_layer_normalization(Export& e) {
  const Node& node = e.node();
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) e.refuse("its mean or deviation as outputs");
  }
  const auto rank = static_cast<int64_t>(e.shape(0).size());
  int64_t first = node.attribute_int("axis", -1);
  if (first < 0) first += rank;
  std::vector<int64_t> axes;
  Type row = e.output_type();
  for (int64_t i = first; i < rank; ++i) {
    axes.push_back(i);
    (*row.shape)[i] = Dim(1);
  }
  const int32_t list = e.ints(axes), mean = e.step("mean", row), variance = e.step("variance", row),
                shifted = e.step("shifted", row), scale = e.step("scale", row),
                squares = e.step("squares", e.output_type());
  e.op(40, {e.input(0), list}, {mean}, {27, CreateReducerOptions(e.builder(), true)});
  const int32_t centred = step(e, 41, 28, e.input(0), mean, false);
  e.op(18, {centred, centred}, {squares}, {21, CreateArithmeticOptions(e.builder())});
  e.op(40, {squares, list}, {variance}, {27, CreateReducerOptions(e.builder(), true)});
  const int32_t epsilon = e.number(static_cast<double>(node.attribute_float("epsilon", 1e-5f)));
  e.op(0, {variance, epsilon}, {shifted}, {11, CreateArithmeticOptions(e.builder())});
  e.op(76, {shifted}, {scale});
  const int32_t normal = step(e, 18, 21, centred, scale, false);
  const int32_t weighted = step(e, 18, 21, normal, e.input(1), !e.has_input(2));
  if (e.has_input(2)) step(e, 0, 11, weighted, e.input(2), true);
}

// alpha * A * B + beta * C, as FULLY_CONNECTED with weights [units, inputs].
void write_gemm(Export& e) {
  const Node& node = e.node();
  if (node.attribute_int("transA", 0) != 0) e.refuse("transA");
  const dnn::Tensor& b = e.known(1, "weight");
  const dnn::Tensor weights = node.attribute_int("transB", 0) != 0 ? b : transposed(b, {1, 0});
  const double alpha = static_cast<double>(node.attribute_float("alpha", 1)),
               beta = static_cast<double>(node.attribute_float("beta", 1));
  int32_t bias = -1;
  if (e.has_input(2) && e.constant(2) == nullptr && beta == 1 && e.shape(2) == std::vector<int64_t>{weights.dim(0)}) {
    bias = e.input(2);  // integers behind a DEQUANTIZE, where the layer is not on integers
  } else if (e.has_input(2)) {
    const std::optional<dnn::Tensor> row = row_bias(e.known(2, "bias"), weights.dim(0), beta);
    if (!row) e.refuse("a bias of shape ", shape_text(e.shape(2)));
    bias = e.bias(2, weights.dim(0), &*row);
  }
  if (e.quantized() && (alpha != 1 || beta != 1)) e.refuse("factors alpha and beta of quantised numbers");
  if (!is_float(weights.dtype()) && alpha != 1) e.refuse("factor alpha of quantised weights");
  const int32_t w = e.store_input(1, scaled(weights, alpha));
  e.op(9, {e.input(0), w, bias}, {e.output()},
       {8, CreateFullyConnectedOptions(e.builder(), e.activation(), 0, false, e.rounds_activations())});
}

void write_matmul(Export& e) {
  const dnn::Tensor* b = e.constant(1);
  const size_t rank = e.shape(0).size();
  if (b != nullptr && b->rank() == 2 && rank >= 2) {
    const int32_t w = e.store_input(1, transposed(*b, {1, 0}));
    e.op(9, {e.input(0), w, -1}, {e.output()},
         {8, CreateFullyConnectedOptions(e.builder(), e.activation(), 0, rank != 2, e.rounds_activations())});
    return;
  }
  if (rank < 2 || e.shape(1).size() < 2) e.refuse("an operand of rank 1");
  const Activation activation = e.activation();
  const int32_t y = activation == Activation::NONE ? e.output() : e.last_step("product", e.output_type());
  e.op(126, {e.input(0), e.input(1)}, {y}, {101, CreateBatchMatMulOptions(e.builder())});
  if (activation == Activation::NONE) return;
  e.op(activation == Activation::RELU ? 19 : activation == Activation::RELU6 ? 21 : 20, {y}, {e.output()});
}

}  // namespace dnn::tflite
