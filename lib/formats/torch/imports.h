// The functions that ops.def names, and what they share: import_math.cc (element by element, reductions, products of matrices),
// import_special.cc (functions that the IR has no operator for), import_nn.cc (convolutions, pooling, normalisation, attention),
// import_resize.cc, import_shape.cc (moving elements, making tensors, types), import_quantized.cc.
#pragma once
#include "formats/torch/import.h"

namespace dnn::torch {

#define DNN_TORCH_OP(name, schema, function, detail) Any function(Op& op);
#include "formats/torch/ops.def"

// Values of one type, the widest, as torch.cat joins them.
void promote(Op& op, std::vector<ValueId>* values);
// Two arguments of one type: a Python number takes the tensor's where that holds numbers of its kind.
std::pair<ValueId, ValueId> operands(Op& op, size_t a, size_t b);
ValueId to_float(Op& op, ValueId x);                              // integers and truth values as float32
ValueId affine(Op& op, ValueId x, ValueId weight, ValueId bias);  // a linear layer; no bias: kNoValue

}  // namespace dnn::torch
