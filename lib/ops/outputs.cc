// Outputs of reference kernels, checked by infer(); see outputs.h.
#include "ops/outputs.h"

namespace dnn {

std::vector<Type> infer_outputs(const ReferenceContext& context, void (*infer)(InferContext&)) {
  std::vector<Type> types(context.inputs.size());
  InferContext check{context.node,
                     {},
                     context.inputs,
                     std::vector<Type>(context.outputs.size()),
                     std::vector<Tensor>(context.outputs.size()),
                     {}};
  for (size_t i = 0; i < types.size(); ++i) {
    if (context.inputs[i] != nullptr) types[i] = Type(*context.inputs[i]);
    check.inputs.push_back(context.inputs[i] == nullptr ? nullptr : &types[i]);
  }
  infer(check);
  return std::move(check.outputs);
}

Tensor allocate_output(const ReferenceContext& context, void (*infer)(InferContext&), size_t i) {
  const std::vector<Type> types = infer_outputs(context, infer);
  if (i >= types.size()) context.fail("has no output ", i);
  if (!types[i].fixed()) fail_internal(context.node.label(), ": output ", i, " is inferred as ", types[i].text());
  return Tensor(types[i].dtype, types[i].fixed_shape());
}

void expect_dtype(const InferContext& context, size_t i, DType dtype) {
  if (!context.has_input(i) || dtype == DType::Undefined) return;
  const DType found = context.inputs[i]->dtype;
  if (found != DType::Undefined && found != dtype)
    context.fail("input ", i, " is ", dtype_name(found), ", ", dtype_name(dtype), " expected");
}

void expect_float(const InferContext& context, size_t i) {
  if (!context.has_input(i)) return;
  const DType found = context.inputs[i]->dtype;
  if (found == DType::Undefined || (is_float(found) && dtype_bits(found) >= 16)) return;
  fail_unsupported(context.node.label(), ": input ", i, " is ", dtype_name(found), ", a floating-point type expected");
}

}  // namespace dnn
