// Add, Sub, Mul, Div: the two-operand arithmetic of ONNX with broadcasting. Integers wrap.
#include "ops/elementwise.h"

namespace dnn::arithmetic_ops {
namespace {

struct Plus {
  template <class T>
  T operator()(T a, T b) const {
    return elementwise::add(a, b);
  }
};
struct Minus {
  template <class T>
  T operator()(T a, T b) const {
    return elementwise::subtract(a, b);
  }
};
struct Times {
  template <class T>
  T operator()(T a, T b) const {
    return elementwise::multiply(a, b);
  }
};
struct Over {
  // Integer division truncates; x / 0 is refused rather than trapping.
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) fail_malformed("Div: integer division by zero");
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return elementwise::subtract(T(0), a);
      }
    }
    return static_cast<T>(a / b);
  }
};

}  // namespace

OpDef define_Add() { return binary_op<Plus, Domain::Numbers>("Add", 14, {Trait::Commutes}); }
OpDef define_Sub() { return binary_op<Minus, Domain::Numbers>("Sub", 14, kNoTraits); }
OpDef define_Mul() { return binary_op<Times, Domain::Numbers>("Mul", 14, {Trait::Commutes}); }
OpDef define_Div() { return binary_op<Over, Domain::Numbers>("Div", 14, kNoTraits); }

}  // namespace dnn::arithmetic_ops
