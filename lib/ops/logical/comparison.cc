// Equal, Greater, GreaterOrEqual, Less, LessOrEqual with broadcasting.
#include "ops/elementwise.h"

namespace dnn::comparison_ops {
namespace {

struct Same {
  template <class T>
  auto operator()(T a, T b) const {
    return a == b;
  }
};
struct Above {
  template <class T>
  auto operator()(T a, T b) const {
    return a > b;
  }
};
struct NotBelow {
  template <class T>
  auto operator()(T a, T b) const {
    return a >= b;
  }
};
struct Below {
  template <class T>
  auto operator()(T a, T b) const {
    return a < b;
  }
};
struct NotAbove {
  template <class T>
  auto operator()(T a, T b) const {
    return a <= b;
  }
};

void reference_equal(ReferenceContext& context) {
  const Tensor &a = context.input(0), &b = context.input(1);
  if (a.dtype() != b.dtype()) context.fail("inputs of ", dtype_name(a.dtype()), " and ", dtype_name(b.dtype()));
  if (a.dtype() == DType::Bool) return reference_binary<Same, Domain::Bools>(context);
  if (a.dtype() != DType::String) return reference_binary<Same, Domain::Numbers>(context);
  const Shape shape = broadcast_shape(context.node, a.shape(), b.shape());
  const auto offsets = broadcast_offsets(shape, {a.shape(), b.shape()});
  Tensor y(DType::Bool, shape);
  bool* out = y.mutable_data<bool>();
  for (int64_t i = 0; i < y.size(); ++i) {
    const size_t at = i;
    out[i] = a.strings()[offsets[0][at]] == b.strings()[offsets[1][at]];
  }
  context.outputs[0] = std::move(y);
}

}  // namespace

OpDef define_Equal() {
  OpDef op = binary_op<Same, Domain::Numbers>("Equal", 19, {Trait::Commutes});
  op.reference = reference_equal;
  return op;
}
OpDef define_Greater() { return binary_op<Above, Domain::Numbers>("Greater", 13, kNoTraits); }
OpDef define_GreaterOrEqual() { return binary_op<NotBelow, Domain::Numbers>("GreaterOrEqual", 16, kNoTraits); }
OpDef define_Less() { return binary_op<Below, Domain::Numbers>("Less", 13, kNoTraits); }
OpDef define_LessOrEqual() { return binary_op<NotAbove, Domain::Numbers>("LessOrEqual", 16, kNoTraits); }

}  // namespace dnn::comparison_ops
