// dnn.DynamicFakeQuantize: its input rounded to 255 steps between its own extremes, 0 among them. TFLite's kernels with int8
// weights do so to float32 activations, once for each image or row (XNNPACK's qd8 parameters). Attribute `axes`: those that
// share a scale and zero point. Written by no format but TFLite's; expand-dynamic-quantization spells it out.
#include <algorithm>
#include <cmath>
#include <vector>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/op.h"
#include "ops/permute.h"

namespace dnn::dynamic_fake_quantize_ops {
namespace {

void infer(InferContext& context) {
  const Type& x = context.input(0);
  if (!is_float(x.dtype) && x.dtype != DType::Undefined) context.fail("input ", x.text(), " is no real number");
  if (x.shape) {
    for (int64_t axis : ints_attribute(context.node, "axes")) context.axis(axis, static_cast<int64_t>(x.shape->size()));
  }
  context.set_output(0, x);
}

// The elements that share a scale, by group; each is an offset into the tensor.
std::vector<size_t> groups_of(const Shape& shape, const std::vector<int64_t>& axes) {
  std::vector<bool> shared(shape.size());
  for (int64_t axis : axes) shared[axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis] = true;
  std::vector<size_t> group = {0};  // by element of the axes so far
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const size_t extent = shape[axis];
    std::vector<size_t> next;
    next.reserve(group.size() * extent);
    for (size_t before : group) {
      for (size_t i = 0; i < extent; ++i) next.push_back(shared[axis] ? before : before * extent + i);
    }
    group = std::move(next);
  }
  return group;
}

template <class T>
Tensor rounded(const Tensor& x, const std::vector<size_t>& group) {
  Tensor y(x.dtype(), x.shape());
  const T* from = x.data<T>();
  T* to = y.mutable_data<T>();
  const size_t groups = group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
  std::vector<T> low(groups), high(groups);
  for (size_t i = 0; i < group.size(); ++i) {
    low[group[i]] = std::min(low[group[i]], from[i]);
    high[group[i]] = std::max(high[group[i]], from[i]);
  }
  for (size_t i = 0; i < group.size(); ++i) {
    const T least = low[group[i]];
    const T steps = T(255) / std::max(high[group[i]] - least, T(1e-30));
    const T zero = std::nearbyint(T(-128) - least * steps);
    to[i] = (std::clamp(std::nearbyint(from[i] * steps + zero), T(-128), T(127)) - zero) / steps;
  }
  return y;
}

void reference(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  const std::vector<size_t> group = groups_of(x.shape(), ints_attribute(context.node, "axes"));
  if (x.dtype() == DType::Float64) {
    context.outputs[0] = rounded<double>(x, group);
  } else if (x.dtype() == DType::Float32) {
    context.outputs[0] = rounded<float>(x, group);
  } else {
    context.outputs[0] = convert(rounded<float>(convert(x, DType::Float32), group), x.dtype());
  }
}

}  // namespace

OpDef define_DynamicFakeQuantize() {
  OpDef op;
  op.name = "DynamicFakeQuantize";
  op.domain = kInternalDomain;
  op.traits = {Trait::Moves};
  op.attributes = {{"axes", required(AttributeType::Ints), "axes whose elements share a scale and a zero point"}};
  op.infer = infer;
  op.reference = reference;
  op.permute = permute_listed_axes;
  return op;
}

}  // namespace dnn::dynamic_fake_quantize_ops
