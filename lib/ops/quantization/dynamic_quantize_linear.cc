// DynamicQuantizeLinear: float32 to uint8 by the tensor's own range, widened to hold zero.
//
// All in float32: scale = (max - min) / 255 (1 / 255 where the range is empty), zero point = round(clamp(0 - min / scale)),
// y = saturate(round(x / scale) + zero point), rounding to even.
#include <algorithm>
#include <cmath>

#include "ops/outputs.h"
#include "ops/quantization.h"

namespace dnn::dynamic_quantize_linear_ops {
namespace {

void infer(InferContext& context) {
  expect_dtype(context, 0, DType::Float32);
  Type y = context.input(0);
  y.dtype = DType::UInt8;
  context.set_output(0, std::move(y));
  context.set_output(1, Type(DType::Float32, {}));
  context.set_output(2, Type(DType::UInt8, {}));
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  Tensor y = allocate_output(context, infer);
  const float* in = x.data<float>();
  float low = 0, high = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    low = in[i] < low ? in[i] : low;
    high = in[i] > high ? in[i] : high;
  }
  const float scale = (low == high ? 1.0f : high - low) / 255.0f;
  const float zero_point = std::nearbyint(std::clamp(0.0f - low / scale, 0.0f, 255.0f));
  if (!std::isfinite(scale)) context.fail("the input's range is not finite");
  uint8_t* out = y.mutable_data<uint8_t>();
  for (int64_t i = 0; i < x.size(); ++i)
    out[i] = static_cast<uint8_t>(saturate(in[i] / scale, static_cast<int64_t>(zero_point), DType::UInt8));
  context.outputs[0] = std::move(y);
  if (context.wants_output(1)) context.outputs[1] = Tensor::scalar(scale);
  if (context.wants_output(2)) context.outputs[2] = Tensor::scalar(static_cast<uint8_t>(zero_point));
}

}  // namespace

OpDef define_DynamicQuantizeLinear() {
  OpDef op;
  op.name = "DynamicQuantizeLinear";
  op.since = 11;
  op.min_outputs = op.max_outputs = 3;
  op.traits = {Trait::Float32};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::dynamic_quantize_linear_ops
