// Element-wise functions of one operand: rounding, signs, exponentials, trigonometry, tests for NaN and infinity.
#include "ops/elementwise.h"

namespace dnn::unary_ops {
namespace {

#define DNN_CALL(functor, call)    \
  struct functor {                 \
    template <class T>             \
    auto operator()(T x) const {   \
      return elementwise::call(x); \
    }                              \
  };
DNN_CALL(CallAbs, abs)
DNN_CALL(CallAcos, acos)
DNN_CALL(CallAcosh, acosh)
DNN_CALL(CallAsin, asin)
DNN_CALL(CallAsinh, asinh)
DNN_CALL(CallAtan, atan)
DNN_CALL(CallAtanh, atanh)
DNN_CALL(CallCeil, ceil)
DNN_CALL(CallCos, cos)
DNN_CALL(CallCosh, cosh)
DNN_CALL(CallErf, erf)
DNN_CALL(CallExp, exp)
DNN_CALL(CallFloor, floor)
DNN_CALL(CallIsNan, is_nan)
DNN_CALL(CallLog, log)
DNN_CALL(CallRound, round_even)
DNN_CALL(CallSin, sin)
DNN_CALL(CallSinh, sinh)
DNN_CALL(CallSqrt, sqrt)
DNN_CALL(CallTan, tan)
DNN_CALL(CallTanh, tanh)
#undef DNN_CALL

struct Negate {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return elementwise::subtract(T(0), x);
    else
      return -x;
  }
};

struct Invert {
  template <class T>
  T operator()(T x) const {
    return elementwise::like(x, 1) / x;
  }
};

// 1, 0 or -1; NaN for NaN.
struct SignOf {
  template <class T>
  T operator()(T x) const {
    using namespace elementwise;
    const T zero = like(x, 0);
    if constexpr (std::is_unsigned_v<T>)
      return select(x > zero, like(x, 1), zero);
    else
      return select(x > zero, like(x, 1), select(x < zero, like(x, -1), select(is_nan(x), x, zero)));
  }
};

struct IsInfinite {
  bool negative, positive;
  explicit IsInfinite(const Node& node)
      : negative(flag_attribute(node, "detect_negative")), positive(flag_attribute(node, "detect_positive")) {}
  IsInfinite() : negative(true), positive(true) {}
  template <class T>
  bool operator()(T x) const {
    return elementwise::is_inf(x) && (x > 0 ? positive : negative);
  }
  loops::Expr operator()(const loops::Expr& x) const {
    if (negative && positive) return elementwise::is_inf(x);
    if (!negative && !positive) return loops::constant_int(DType::Bool, 0);
    const loops::Expr zero = elementwise::like(x, 0);
    return elementwise::is_inf(x) && (positive ? x > zero : x < zero);
  }
};

// The tests take the 8-bit floats too, by their float32 values.
template <class Functor>
OpDef float_test(std::string name, int since) {
  OpDef op = unary_op<Functor, Domain::Floats>(std::move(name), since, kNoTraits);
  op.reference = [](ReferenceContext& context) {
    const Tensor& x = context.input(0);
    if (!is_float(x.dtype()) || dtype_size(x.dtype()) > 1) return reference_unary<Functor, Domain::Floats>(context);
    const Tensor wide = convert(x, DType::Float32);
    context.inputs[0] = &wide;
    reference_unary<Functor, Domain::Floats>(context);
  };
  return op;
}

}  // namespace

OpDef define_Abs() { return unary_op<CallAbs, Domain::Numbers>("Abs", 13, {Trait::Moves}); }
OpDef define_Acos() { return unary_op<CallAcos, Domain::Floats>("Acos", 22, kNoTraits); }
OpDef define_Acosh() { return unary_op<CallAcosh, Domain::Floats>("Acosh", 22, kNoTraits); }
OpDef define_Asin() { return unary_op<CallAsin, Domain::Floats>("Asin", 22, kNoTraits); }
OpDef define_Asinh() { return unary_op<CallAsinh, Domain::Floats>("Asinh", 22, kNoTraits); }
OpDef define_Atan() { return unary_op<CallAtan, Domain::Floats>("Atan", 22, kNoTraits); }
OpDef define_Atanh() { return unary_op<CallAtanh, Domain::Floats>("Atanh", 22, kNoTraits); }
OpDef define_Ceil() { return unary_op<CallCeil, Domain::Floats>("Ceil", 13, {Trait::Moves}); }
OpDef define_Cos() { return unary_op<CallCos, Domain::Floats>("Cos", 22, kNoTraits); }
OpDef define_Cosh() { return unary_op<CallCosh, Domain::Floats>("Cosh", 22, kNoTraits); }
OpDef define_Erf() { return unary_op<CallErf, Domain::Floats>("Erf", 13, {Trait::Activates}); }
OpDef define_Exp() { return unary_op<CallExp, Domain::Floats>("Exp", 13, kNoTraits); }
OpDef define_Floor() { return unary_op<CallFloor, Domain::Floats>("Floor", 13, {Trait::Moves}); }
OpDef define_IsInf() {
  return with_attributes(float_test<IsInfinite>("IsInf", 20), {{"detect_negative", 1, "negative infinities count"},
                                                               {"detect_positive", 1, "positive infinities count"}});
}
OpDef define_IsNaN() { return float_test<CallIsNan>("IsNaN", 20); }
OpDef define_Log() { return unary_op<CallLog, Domain::Floats>("Log", 13, kNoTraits); }
OpDef define_Neg() { return unary_op<Negate, Domain::Numbers>("Neg", 13, {Trait::Moves}); }
OpDef define_Reciprocal() { return unary_op<Invert, Domain::Floats>("Reciprocal", 13, kNoTraits); }
OpDef define_Round() { return unary_op<CallRound, Domain::Floats>("Round", 22, {Trait::Moves}); }
OpDef define_Sign() { return unary_op<SignOf, Domain::Numbers>("Sign", 13, {Trait::Moves}); }
OpDef define_Sin() { return unary_op<CallSin, Domain::Floats>("Sin", 22, kNoTraits); }
OpDef define_Sinh() { return unary_op<CallSinh, Domain::Floats>("Sinh", 22, kNoTraits); }
OpDef define_Sqrt() { return unary_op<CallSqrt, Domain::Floats>("Sqrt", 13, kNoTraits); }
OpDef define_Tan() { return unary_op<CallTan, Domain::Floats>("Tan", 22, kNoTraits); }
OpDef define_Tanh() { return unary_op<CallTanh, Domain::Floats>("Tanh", 13, {Trait::Activates}); }

}  // namespace dnn::unary_ops
