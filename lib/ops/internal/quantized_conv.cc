// dnn.QuantizedConv: a convolution of 8-bit integers, or a fully connected layer where there are no spatial axes, and what is made
// of its sums. Inputs: x [N, C, D...] of int8 or uint8, w [M, C/group, K...] of int8 or int16, bias [M] of int32, scale [M] of float32
// or float64, or multiplier [M] and shift [M] of int32 in its place; attributes of Conv, and `padding` (what x is taken to hold outside),
// `zero_point`, `low` and `high` (of y), `to` (its dtype; real numbers where it is float32). Made by the passes integer-arithmetic and
// tflite-arithmetic, which fold zero points into the bias.
//
//   sum = bias[m] + sum of x * w, in int32, which wraps
//   y = round(min(max(float32(sum) * scale[m], low - zero_point), high - zero_point)) + zero_point
//   y = float32(sum) * scale[m]                                                                      of float32
//   y = away(min(max(float64(sum) * scale[m], low - zero_point), high - zero_point)) + zero_point      with scales of float64
//   y = min(max(multiplied(sum, multiplier[m], shift[m]) + zero_point, low), high)                   in fixed point (ops/fixed_point.h)
//
// float32(sum) rounds to even; round() rounds half to even, away() half away from zero. There is no other rounding, so that the order of
// the sum, the instruction set and the level change no bit.
#include <algorithm>
#include <cmath>

#include "ops/convolve.h"
#include "ops/fixed_point.h"
#include "ops/outputs.h"
#include "ops/quantization.h"

namespace dnn::quantized_conv_ops {
namespace {

bool in_fixed_point(const Node& node) { return node.inputs.size() == 5; }

struct Requantisation {
  explicit Requantisation(const Node& node)
      : zero_point(int_attribute(node, "zero_point")),
        lowest(int_attribute(node, "low")),
        highest(int_attribute(node, "high")),
        low(static_cast<float>(int_attribute(node, "low") - zero_point)),
        high(static_cast<float>(int_attribute(node, "high") - zero_point)) {}
  int64_t zero_point, lowest, highest;
  float low, high;  // of what is rounded
};

std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

Window window_of(const Node& node, const Shape& x, const Shape& w) {
  return x.size() == 2 ? Window() : Window::of(node, spatial(x), spatial(w));
}

void expect_integers(const InferContext& context, size_t i, DType other) {
  const DType dtype = context.input(i).dtype;
  if (dtype != DType::Undefined && dtype != DType::Int8 && dtype != other)
    context.fail("input ", i, " is ", context.input(i).text());
}

void infer(InferContext& context) {
  expect_integers(context, 0, DType::UInt8);
  expect_integers(context, 1, DType::Int16);
  expect_dtype(context, 2, DType::Int32);
  const bool fixed = in_fixed_point(context.node);
  const bool exact = !fixed && context.input(3).dtype == DType::Float64;
  expect_dtype(context, 3, fixed ? DType::Int32 : exact ? DType::Float64 : DType::Float32);
  if (fixed) expect_dtype(context, 4, DType::Int32);
  const DType to = dtype_from_onnx(int_attribute(context.node, "to"));
  if (!is_byte(to) && (to != DType::Float32 || fixed || exact)) context.fail("'to' is ", dtype_name(to));
  expect_in_type(context, "padding", context.input(0).dtype);
  for (const char* number : {"zero_point", "low", "high"}) expect_in_type(context, number, to);
  if (context.has_shape(0) && context.has_shape(1) && context.shape(0).size() == 2) {
    const auto &x = context.shape(0), &w = context.shape(1, 2);
    if (x[1].fixed() && w[1].fixed() && x[1].size != w[1].size)
      context.fail("weights ", context.input(1).text(), " do not fit input ", context.input(0).text());
    context.set_output(0, Type(to, {x[0], w[0]}));
  } else {
    context.set_output(0, infer_convolution(context, 0, 1, 2, to));
  }
  for (size_t i : {2, 3, 4}) {
    if (!context.has_shape(i) || !context.has_shape(1)) continue;
    const auto &list = context.shape(i, 1), &w = context.shape(1);
    if (list[0].fixed() && w[0].fixed() && list[0].size != w[0].size)
      context.fail("input ", i, " ", context.input(i).text(), " does not fit weights ", context.input(1).text());
  }
}

template <class T>
BudgetVector<int32_t> widened(const Tensor& tensor, int32_t less) {
  BudgetVector<int32_t> result(tensor.size());
  const T* from = tensor.data<T>();
  for (size_t i = 0; i < result.size(); ++i) result[i] = static_cast<int32_t>(from[i]) - less;
  return result;
}

template <class T, class Y>
void compute(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer);
  Shape x = context.input(0).shape(), w = context.input(1).shape();
  const auto padding = static_cast<int32_t>(int_attribute(context.node, "padding"));
  const BudgetVector<int32_t> xs = widened<T>(context.input(0), padding),
                              ws = context.input(1).dtype() == DType::Int16 ? widened<int16_t>(context.input(1), 0)
                                                                            : widened<int8_t>(context.input(1), 0);
  Window window = window_of(context.node, x, w);
  const int64_t channels = w[0], taps = channels == 0 ? 0 : element_count(w) / channels;
  if (x.size() == 2) {  // one position
    x.insert(x.end(), {1, 1});
    w.insert(w.end(), {1, 1});
    window = {{1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}};
  }
  const int64_t positions = element_count(window.output);
  // Padding counts as zero there, which x less its padding is; what was taken from all products is added once.
  std::vector<uint32_t> start(channels);
  for (int64_t m = 0; m < channels; ++m) {
    uint32_t sum = 0;
    for (int64_t k = 0; k < taps; ++k) sum += static_cast<uint32_t>(ws[m * taps + k]);
    start[m] = static_cast<uint32_t>(context.input(2).data<int32_t>()[m]) + sum * static_cast<uint32_t>(padding);
  }
  const bool fixed = in_fixed_point(context.node);
  const bool exact = context.input(3).dtype() == DType::Float64;
  const float* scale = fixed || exact ? nullptr : context.input(3).data<float>();
  const double* wide = exact ? context.input(3).data<double>() : nullptr;
  const int32_t *multiplier = fixed ? context.input(3).data<int32_t>() : nullptr,
                *shift = fixed ? context.input(4).data<int32_t>() : nullptr;
  const Requantisation make(context.node);
  Y* out = y.mutable_data<Y>();
  convolve<uint32_t>(context.pool, xs.data(), x, ws.data(), w, window,
                     x.size() == 2 ? 1 : int_attribute(context.node, "group"),
                     [&](int64_t n, int64_t m, int64_t first, int64_t width, const uint32_t* sums) {
                       Y* to = out + (n * channels + m) * positions + first;
                       for (int64_t j = 0; j < width; ++j) {
                         const auto sum = static_cast<int32_t>(sums[j] + start[m]);
                         if (fixed) {
                           const int64_t moved = multiplied(sum, {multiplier[m], shift[m]}) + make.zero_point;
                           to[j] = static_cast<Y>(std::clamp(moved, make.lowest, make.highest));
                           continue;
                         }
                         if (exact) {
                           const double real = static_cast<double>(sum) * wide[m];
                           const double kept = std::clamp<double>(real, make.low, make.high);
                           to[j] = static_cast<Y>(std::llround(kept) + make.zero_point);
                           continue;
                         }
                         const float real = static_cast<float>(sum) * scale[m];
                         if constexpr (std::is_same_v<Y, float>) {
                           to[j] = real;
                           continue;
                         }
                         const float above = real > make.low ? real : make.low;
                         const float kept = above < make.high ? above : make.high;
                         to[j] = static_cast<Y>(static_cast<int64_t>(std::nearbyint(kept)) + make.zero_point);
                       }
                     });
  context.outputs[0] = std::move(y);
}

void reference(ReferenceContext& context) {
  const bool from = context.input(0).dtype() == DType::UInt8;
  switch (dtype_from_onnx(int_attribute(context.node, "to"))) {
    case DType::UInt8: return from ? compute<uint8_t, uint8_t>(context) : compute<int8_t, uint8_t>(context);
    case DType::Int8: return from ? compute<uint8_t, int8_t>(context) : compute<int8_t, int8_t>(context);
    default: return from ? compute<uint8_t, float>(context) : compute<int8_t, float>(context);
  }
}

// Loops as Conv's: n, g, m, the output axes o0.., reduction c, k0..
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], w = context.inputs[1], y = context.outputs[0];
  const Window window = window_of(context.node, x->shape, w->shape);
  const int64_t group = x->shape.size() == 2 ? 1 : int_attribute(context.node, "group"), c_per_group = w->shape[1],
                m_per_group = w->shape[0] / group;
  const size_t rank = window.kernel.size();
  const Expr n = variable("n"), g = variable("g"), m = variable("m"), c = variable("c");
  const Expr channel = group == 1 ? m : m_per_group == 1 ? g : g * m_per_group + m;
  std::vector<Expr> x_index = {n, group == 1 ? c : c_per_group == 1 ? g : g * c_per_group + c};
  std::vector<Expr> w_index = {channel, c}, y_index = {n, channel}, positions;
  for (size_t i = 0; i < rank; ++i) {
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    positions.push_back(o * window.strides[i] + k * window.dilations[i] - window.pad_begin[i]);
    x_index.push_back(positions.back());
    w_index.push_back(k);
    y_index.push_back(o);
  }
  Expr value = load(x, x_index);
  const Expr inside = rank == 0 ? Expr() : inside_window(window, positions);
  if (inside.defined())
    value = loops::select(inside, value, constant_int(x->dtype, int_attribute(context.node, "padding")));
  const BufferRef sum = local_buffer("sum", DType::Int32);
  Stmt reduce = store(sum, {}, load(sum, {}) + cast(DType::Int32, value) * cast(DType::Int32, load(w, w_index)));
  for (size_t i = rank; i-- > 0;) reduce = loop(cat("k", i), window.kernel[i], std::move(reduce));
  if (group == 1 || c_per_group > 1) {
    reduce = loop("c", c_per_group, std::move(reduce));
  } else {
    reduce = substitute(reduce, {{"c", constant_int(DType::Int64, 0)}});
  }
  const Requantisation make(context.node);
  Expr result;
  if (in_fixed_point(context.node)) {
    const auto integer = [](int64_t n) { return constant_int(DType::Int32, n); };
    result = multiplied(load(sum, {}), load(context.inputs[3], {channel}), load(context.inputs[4], {channel})) +
             integer(make.zero_point);
    result = cast(y->dtype, loops::min(loops::max(result, integer(make.lowest)), integer(make.highest)));
  } else {
    const DType real = context.inputs[3]->dtype;
    result = cast(real, load(sum, {})) * load(context.inputs[3], {channel});
    if (y->dtype != DType::Float32) {
      result = loops::min(loops::max(result, constant(real, make.low)), constant(real, make.high));
      result = real == DType::Float64 ? rounded_away(result) : unary(Op::RoundEven, result);
      result = cast(y->dtype, cast(DType::Int32, result) + constant_int(DType::Int32, make.zero_point));
    }
  }
  Stmt body = block({alloc(sum), store(sum, {}, load(context.inputs[2], {channel})), std::move(reduce),
                     store(y, y_index, std::move(result))});
  for (size_t i = rank; i-- > 0;) body = loop(cat("o", i), window.output[i], std::move(body));
  if (group == 1 || m_per_group > 1) body = loop("m", m_per_group, std::move(body));
  if (group > 1) body = loop("g", group, std::move(body));
  context.emit("quantized_conv", loop("n", x->shape[0], std::move(body)));
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const double inside = inputs[0].size() == 2 ? 1 : window_of(node, inputs[0], inputs[1]).taps_inside();
  return 2 * static_cast<double>(outputs[0][0] * outputs[0][1] * inputs[1][1]) * inside;
}

}  // namespace

OpDef define_QuantizedConv() {
  OpDef op;
  op.name = "QuantizedConv";
  op.domain = kInternalDomain;
  op.min_inputs = 4;
  op.max_inputs = 5;
  op.traits = {Trait::ChannelsFirst, Trait::Weighted};
  op.attributes = window_attributes(false, {{"group", 1, "groups of channels"},
                                            {"padding", 0, "what x is taken to hold outside"},
                                            {"zero_point", 0, "of y"},
                                            {"low", 0, "the least number in y"},
                                            {"high", 0, "the largest"},
                                            {"to", required(AttributeType::Int), "dtype of y"}});
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::quantized_conv_ops
