// ConvInteger, QLinearConv: convolutions of 8-bit tensors, summed in 32 bits (wrapping); padding is the zero point.
//
// QLinearConv: y = saturate(round((sum + bias) * (x_scale * w_scale / y_scale)) + y_zero_point), the factor and the
// product in float32, rounding to even. The weight's scale and zero point are one for all or one per output channel.
#include "ops/convolve.h"
#include "ops/outputs.h"
#include "ops/quantization.h"

namespace dnn::integer_conv_ops {
namespace {

void expect_bytes(const InferContext& context, size_t i) {
  if (!context.has_input(i)) return;
  const DType dtype = context.input(i).dtype;
  if (dtype == DType::Undefined || dtype == DType::Int8 || dtype == DType::UInt8) return;
  fail_unsupported(context.node.label(), ": input ", i, " of ", dtype_name(dtype), ", int8 or uint8 expected");
}

void infer_integer(InferContext& context) {
  for (size_t i = 0; i < 2; ++i) {
    expect_bytes(context, i);
    expect_dtype(context, i + 2, context.input(i).dtype);
  }
  context.set_output(0, infer_convolution(context, 0, 1, SIZE_MAX, DType::Int32));
}

// Inputs: x, its scale and zero point, w, its scale and zero point, y's scale and zero point, bias.
void infer_quantized(InferContext& context) {
  for (size_t i : {0, 3, 7}) expect_bytes(context, i);
  expect_dtype(context, 2, context.input(0).dtype);
  expect_dtype(context, 5, context.input(3).dtype);
  expect_dtype(context, 8, DType::Int32);
  for (size_t i : {1, 4, 6}) expect_float(context, i);
  context.set_output(0, infer_convolution(context, 0, 3, 8, context.input(7).dtype));
}

// One number for all channels, or one each.
std::vector<double> per_channel(const Node& node, const Tensor* tensor, int64_t channels) {
  std::vector<double> values = tensor == nullptr ? std::vector<double>{0} : to_doubles(*tensor);
  if (values.size() == 1) values.resize(std::max<int64_t>(1, channels), values[0]);
  if (static_cast<int64_t>(values.size()) != channels && channels > 0)
    fail_malformed(node.label(), ": ", values.size(), " scales or zero points for ", channels, " channels");
  return values;
}

double single(const Node& node, const Tensor* tensor) {
  if (tensor == nullptr) return 0;
  if (tensor->size() != 1) fail_malformed(node.label(), ": one scale or zero point expected, not ", tensor->size());
  return to_doubles(*tensor)[0];
}

// Values minus their zero points; `zero_points` one for each index of the first axis, or one.
BudgetVector<int32_t> centred(const Tensor& tensor, const std::vector<double>& zero_points) {
  const std::vector<int64_t> values = to_int64s(tensor);
  BudgetVector<int32_t> result(values.size());
  const size_t run = zero_points.size() == 1 ? values.size() : values.size() / zero_points.size();
  for (size_t i = 0; i < values.size(); ++i)
    result[i] = static_cast<int32_t>(values[i] - static_cast<int64_t>(zero_points[i / run]));
  return result;
}

const Tensor* optional(const ReferenceContext& context, size_t i) {
  return context.has_input(i) ? context.inputs[i] : nullptr;
}

// Calls store(index into y, channel, sum).
template <class Store>
void convolve_bytes(const ReferenceContext& context, size_t w_i, size_t x_zero, size_t w_zero, const Store& store) {
  const Tensor &x = context.input(0), &w = context.input(w_i);
  const std::vector<int64_t> spatial(x.shape().begin() + 2, x.shape().end());
  const Window window = Window::of(context.node, spatial, {w.shape().begin() + 2, w.shape().end()});
  const auto xs = centred(x, {single(context.node, optional(context, x_zero))});
  const auto ws = centred(w, per_channel(context.node, optional(context, w_zero), w.dim(0)));
  const int64_t channels = w.dim(0), positions = element_count(window.output);
  convolve<uint32_t>(context.pool, xs.data(), x.shape(), ws.data(), w.shape(), window,
                     int_attribute(context.node, "group"),
                     [&](int64_t n, int64_t m, int64_t first, int64_t width, const uint32_t* sums) {
                       for (int64_t j = 0; j < width; ++j)
                         store((n * channels + m) * positions + first + j, m, sums[j]);
                     });
}

void integer(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_integer);
  int32_t* out = y.mutable_data<int32_t>();
  convolve_bytes(context, 1, 2, 3, [&](int64_t i, int64_t, uint32_t sum) { out[i] = static_cast<int32_t>(sum); });
  context.outputs[0] = std::move(y);
}

void quantized(ReferenceContext& context) {
  Tensor y = allocate_output(context, infer_quantized);
  const auto x_scale = static_cast<float>(single(context.node, optional(context, 1)));
  const auto y_scale = static_cast<float>(single(context.node, optional(context, 6)));
  const auto y_zero = static_cast<int64_t>(single(context.node, optional(context, 7)));
  const std::vector<double> w_scales = per_channel(context.node, optional(context, 4), context.input(3).dim(0));
  const int32_t* bias = context.has_input(8) ? context.input(8).data<int32_t>() : nullptr;
  Tensor wide(DType::Int64, y.shape());
  int64_t* out = wide.mutable_data<int64_t>();
  convolve_bytes(context, 3, 2, 5, [&](int64_t i, int64_t m, uint32_t sum) {
    if (bias != nullptr) sum += static_cast<uint32_t>(bias[m]);
    const float factor = x_scale * static_cast<float>(w_scales[m]) / y_scale;
    out[i] = saturate(static_cast<float>(static_cast<int32_t>(sum)) * factor, y_zero, y.dtype());
  });
  context.outputs[0] = convert(wide, y.dtype());
}

}  // namespace

OpDef define_ConvInteger() {
  OpDef op;
  op.name = "ConvInteger";
  op.since = 10;
  op.min_inputs = 2;
  op.max_inputs = 4;
  op.traits = {Trait::ChannelsFirst, Trait::Float32};
  op.attributes = window_attributes(false, {{"group", 1, "groups of channels"}});
  op.infer = infer_integer;
  op.reference = integer;
  return op;
}

OpDef define_QLinearConv() {
  OpDef op;
  op.name = "QLinearConv";
  op.since = 10;
  op.min_inputs = 8;
  op.max_inputs = 9;
  op.traits = {Trait::ChannelsFirst, Trait::Float32};
  op.attributes = window_attributes(false, {{"group", 1, "groups of channels"}});
  op.infer = infer_quantized;
  op.reference = quantized;
  return op;
}

}  // namespace dnn::integer_conv_ops
