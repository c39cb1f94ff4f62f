// dnn.QuantizedAverage: AveragePool of 8-bit integers, or the mean of each plane (`global`), on another grid. Input: x [N, C, D...] of
// int8 or uint8. Attributes of AveragePool, and `padding` (x's zero point), `input_scale`, `scale` and `zero_point` (y's grid), `low` and
// `high` (of y), `to` (its dtype). Made by the pass integer-arithmetic; with `whole`, the mean of the integers themselves as TFLite's
// AVERAGE_POOL has it, by tflite-arithmetic.
//
//   sum = sum of x - padding over the n elements that count, in int32
//   y = round(min(max(float32(sum) * (input_scale / (scale * float32(n))), low - zero_point), high - zero_point)) + zero_point
//
//   y = min(max((sum + padding * n) / n, low), high), halves away from zero                                        with `whole`
//
// Each operation rounds to float32, round() takes halves to the even number: as ONNX Runtime's QLinearGlobalAveragePool. There is no
// sum of real numbers, so that order, instruction set and level change no bit.
#include <algorithm>
#include <cmath>

#include "ops/outputs.h"
#include "ops/quantization.h"
#include "ops/window.h"

namespace dnn::quantized_average_ops {
namespace {

std::vector<int64_t> spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

// That of the attributes, or the whole plane.
Window window_of(const Node& node, const std::vector<int64_t>& plane) {
  if (!flag_attribute(node, "global")) return Window::of(node, plane, {});
  const size_t rank = plane.size();
  Window whole;
  whole.kernel = whole.input = plane;
  whole.strides = whole.dilations = whole.output = std::vector<int64_t>(rank, 1);
  whole.pad_begin = whole.pad_end = std::vector<int64_t>(rank, 0);
  return whole;
}

void infer(InferContext& context) {
  const DType from = context.input(0).dtype, to = dtype_from_onnx(int_attribute(context.node, "to"));
  if (from != DType::Undefined && from != DType::Int8 && from != DType::UInt8)
    context.fail("input 0 is ", context.input(0).text());
  if (to != DType::Int8 && to != DType::UInt8) context.fail("'to' is ", dtype_name(to));
  expect_in_type(context, "padding", from);
  for (const char* number : {"zero_point", "low", "high"}) expect_in_type(context, number, to);
  Type type;
  type.dtype = to;
  if (context.has_shape(0)) {
    const auto& x = context.shape(0);
    if (x.size() < 3) context.fail("input ", context.input(0).text(), " has no spatial axes");
    std::vector<Dim> out = {x[0], x[1]};
    if (flag_attribute(context.node, "global")) {
      out.resize(x.size(), Dim(1));
    } else {
      for (const Dim& dim : window_output(context.node, {x.begin() + 2, x.end()}, {})) out.push_back(dim);
    }
    type.shape = std::move(out);
  }
  context.set_output(0, std::move(type));
}

struct Grids {
  explicit Grids(const Node& node)
      : from(float_attribute(node, "input_scale")),
        to(float_attribute(node, "scale")),
        whole(flag_attribute(node, "whole")),
        padding(int_attribute(node, "padding")),
        zero_point(int_attribute(node, "zero_point")),
        lowest(int_attribute(node, "low")),
        highest(int_attribute(node, "high")),
        low(static_cast<float>(int_attribute(node, "low") - zero_point)),
        high(static_cast<float>(int_attribute(node, "high") - zero_point)) {}
  float from, to;
  bool whole;
  int64_t padding, zero_point, lowest, highest;
  float low, high;
};

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  const Window window = window_of(context.node, spatial(x.shape()));
  const bool include = flag_attribute(context.node, "count_include_pad");
  const Grids grids(context.node);
  const std::vector<int64_t> in = to_int64s(x);
  const auto offsets = window.tap_offsets();
  const int64_t plane = element_count(window.input), positions = element_count(window.output),
                taps = element_count(window.kernel);
  Tensor wide(DType::Int64, y.shape());
  int64_t* out = wide.mutable_data<int64_t>();
  std::vector<int64_t> at(window.rank(), 0);
  for (int64_t p = 0; p < positions; ++p) {
    int64_t n = 1;
    for (size_t i = 0; i < at.size(); ++i) n *= window.counted(include, i, at[i]);
    const float scale = grids.from / (grids.to * static_cast<float>(n));
    for (int64_t channel = 0; channel < x.dim(0) * x.dim(1); ++channel) {
      int64_t sum = 0;
      for (int64_t k = 0; k < taps; ++k) {
        const int64_t offset = offsets[k * positions + p];
        if (offset >= 0) sum += in[channel * plane + offset] - grids.padding;
      }
      if (grids.whole) {
        const int64_t all = sum + grids.padding * n, half = all < 0 ? -(n / 2) : n / 2;
        out[channel * positions + p] = std::clamp((all + half) / n, grids.lowest, grids.highest);
        continue;
      }
      const float real = static_cast<float>(static_cast<int32_t>(sum)) * scale;
      const float above = real > grids.low ? real : grids.low;
      const float kept = above < grids.high ? above : grids.high;
      out[channel * positions + p] = static_cast<int64_t>(std::nearbyint(kept)) + grids.zero_point;
    }
    for (size_t i = at.size(); i-- > 0;) {
      if (++at[i] < window.output[i]) break;
      at[i] = 0;
    }
  }
  context.outputs[0] = convert(wide, y.dtype());
}

// Loops as AveragePool's.
void lower(LowerContext& context) {
  using namespace loops;
  const BufferRef x = context.inputs[0], y = context.outputs[0];
  const Window window = window_of(context.node, spatial(x->shape));
  const size_t rank = window.rank();
  const bool include = flag_attribute(context.node, "count_include_pad");
  const Grids grids(context.node);
  const Expr n = variable("n"), c = variable("c");
  std::vector<Expr> x_index = {n, c}, y_index = {n, c}, positions;
  Expr count = constant_int(DType::Int64, 1);
  for (size_t i = 0; i < rank; ++i) {
    const Expr o = variable(cat("o", i)), k = variable(cat("k", i));
    positions.push_back(o * window.strides[i] + k * window.dilations[i] - window.pad_begin[i]);
    x_index.push_back(positions.back());
    y_index.push_back(o);
    count = count * count_of_window(window, include, i, o);
  }
  const auto real = [](double number) { return constant(DType::Float32, number); };
  const auto integer = [](int64_t number) { return constant_int(DType::Int32, number); };
  Expr value = cast(DType::Int32, load(x, x_index)) - integer(grids.padding);
  const Expr inside = inside_window(window, positions);
  if (inside.defined()) value = loops::select(inside, value, integer(0));
  const BufferRef sum = local_buffer("sum", DType::Int32);
  Stmt reduce = store(sum, {}, load(sum, {}) + value);
  for (size_t i = rank; i-- > 0;) reduce = loop(cat("k", i), window.kernel[i], std::move(reduce));
  Expr result;
  if (grids.whole) {
    const Expr elements = cast(DType::Int32, count), all = load(sum, {}) + integer(grids.padding) * elements;
    const Expr sign = binary(Op::ShiftRight, all, integer(31)), half = binary(Op::ShiftRight, elements, integer(1));
    const Expr mean = (all + (binary(Op::Xor, half, sign) - sign)) / elements;
    result = cast(y->dtype, loops::min(loops::max(mean, integer(grids.lowest)), integer(grids.highest)));
  } else {
    const Expr scale = real(grids.from) / (real(grids.to) * cast(DType::Float32, count));
    result = cast(DType::Float32, load(sum, {})) * scale;
    result = loops::min(loops::max(result, real(grids.low)), real(grids.high));
    result = cast(y->dtype, cast(DType::Int32, unary(Op::RoundEven, result)) + integer(grids.zero_point));
  }
  Stmt body = block({alloc(sum), store(sum, {}, integer(0)), std::move(reduce), store(y, y_index, result)});
  for (size_t i = rank; i-- > 0;) body = loop(cat("o", i), window.output[i], std::move(body));
  context.emit("pool", loop("n", x->shape[0], loop("c", x->shape[1], std::move(body))));
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  return static_cast<double>(element_count(window_of(node, spatial(inputs[0])).kernel)) *
         static_cast<double>(element_count(outputs[0]));
}

}  // namespace

OpDef define_QuantizedAverage() {
  OpDef op;
  op.name = "QuantizedAverage";
  op.domain = kInternalDomain;
  op.traits = {Trait::ChannelsFirst};
  op.attributes =
      window_attributes(false, {{"global", 0, "1: of the whole plane"},
                                {"ceil_mode", 0, "a last window may reach beyond the end"},
                                {"count_include_pad", 0, "padding counts in the mean"},
                                {"whole", 0, "1: the mean of the integers, on x's own grid"},
                                {"padding", 0, "x's zero point"},
                                {"input_scale", required(AttributeType::Float), "real number of a step of x"},
                                {"scale", required(AttributeType::Float), "of a step of y"},
                                {"zero_point", 0, "of y"},
                                {"low", required(AttributeType::Int), "the least number in y"},
                                {"high", required(AttributeType::Int), "the largest"},
                                {"to", required(AttributeType::Int), "dtype of y"}});
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  op.no_gradient = true;
  return op;
}

}  // namespace dnn::quantized_average_ops
