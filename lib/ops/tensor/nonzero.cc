// NonZero and Compress: which elements count, and only those. Their extents depend on values.
#include "ops/movement.h"

namespace dnn::nonzero_ops {
namespace {

void infer_nonzero(InferContext& context) {
  Type type;
  type.dtype = DType::Int64;
  if (context.has_shape(0)) type.shape = {Dim(static_cast<int64_t>(context.shape(0).size())), Dim()};
  context.set_output(0, std::move(type));
}

void reference_nonzero(ReferenceContext& context) {
  const Tensor& x = context.input(0);
  std::vector<int64_t> at;
  if (x.dtype() == DType::String) {
    for (int64_t i = 0; i < x.size(); ++i) {
      if (!x.strings()[i].empty()) at.push_back(i);
    }
  } else {
    const Tensor flags = convert(x, DType::Bool);
    for (int64_t i = 0; i < x.size(); ++i) {
      if (flags.data<bool>()[i]) at.push_back(i);
    }
  }
  const auto n = static_cast<int64_t>(at.size());
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  Tensor y(DType::Int64, {x.rank(), n});
  int64_t* out = y.mutable_data<int64_t>();
  for (size_t axis = 0; axis < stride.size(); ++axis) {
    for (int64_t offset : at) *out++ = offset / stride[axis] % x.shape()[axis];
  }
  context.outputs[0] = std::move(y);
}

void infer_compress(InferContext& context) {
  Type type;
  type.dtype = context.input(0).dtype;
  if (!context.node.has_attribute("axis")) {
    type.shape = {Dim()};
  } else if (context.has_shape(0)) {
    std::vector<Dim> dims = context.shape(0);
    dims[checked_axes(context.node, {int_attribute(context.node, "axis")}, dims.size())[0]] = Dim();
    type.shape = std::move(dims);
  }
  context.set_output(0, std::move(type));
}

void reference_compress(ReferenceContext& context) {
  const Tensor& condition = context.input(1);
  const bool flat = !context.node.has_attribute("axis");
  const Tensor x = flat ? context.input(0).reshaped({context.input(0).size()}) : context.input(0);
  const auto axis =
      static_cast<size_t>(checked_axes(context.node, {int_attribute(context.node, "axis")}, x.shape().size())[0]);
  if (condition.dtype() != DType::Bool || condition.rank() != 1)
    context.fail("condition ", Type(condition).text(), " is not a list of bools");
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < condition.size(); ++i) {
    if (!condition.data<bool>()[i]) continue;
    if (i >= x.shape()[axis]) context.fail("condition holds beyond an extent of ", x.shape()[axis]);
    chosen.push_back(i);
  }
  Shape shape = x.shape();
  shape[axis] = static_cast<int64_t>(chosen.size());
  const std::vector<int64_t> stride = row_major_strides(x.shape());
  context.outputs[0] =
      pick(x, shape, [&](size_t i, int64_t index) { return (i == axis ? chosen[index] : index) * stride[i]; });
}

}  // namespace

OpDef define_NonZero() {
  OpDef op;
  op.name = "NonZero";
  op.since = 13;
  op.traits = kNoTraits;
  op.infer = infer_nonzero;
  op.reference = reference_nonzero;
  return op;
}

OpDef define_Compress() {
  OpDef op;
  op.name = "Compress";
  op.since = 28;
  op.min_inputs = op.max_inputs = 2;
  op.traits = {Trait::Moves};
  op.attributes = {{"axis", optional(AttributeType::Int), "axis that is compressed; left out: the flattened tensor"}};
  op.infer = infer_compress;
  op.reference = reference_compress;
  return op;
}

}  // namespace dnn::nonzero_ops
