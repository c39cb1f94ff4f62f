// BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot and BitShift on integers.
#include "ops/elementwise.h"

namespace dnn::bitwise_ops {
namespace {

#define DNN_BITWISE(functor, symbol, op)                               \
  struct functor {                                                     \
    template <class T>                                                 \
    T operator()(T a, T b) const {                                     \
      return static_cast<T>(a symbol b);                               \
    }                                                                  \
    loops::Expr operator()(loops::Expr a, loops::Expr b) const {       \
      return loops::binary(loops::Op::op, std::move(a), std::move(b)); \
    }                                                                  \
  };
DNN_BITWISE(BitsOfBoth, &, And)
DNN_BITWISE(BitsOfEither, |, Or)
DNN_BITWISE(BitsOfOne, ^, Xor)
#undef DNN_BITWISE

struct OtherBits {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
  loops::Expr operator()(loops::Expr x) const {
    const DType dtype = x->dtype;
    return loops::binary(loops::Op::Xor, std::move(x), loops::constant_int(dtype, -1));
  }
};

// A shift by less than 0 or by the type's width and more leaves only copies of the sign bit (right) or zeros.
struct Shift {
  bool left = false;
  Shift() = default;
  explicit Shift(const Node& node) {
    const std::string direction = string_attribute(node, "direction");
    if (direction != "LEFT" && direction != "RIGHT")
      fail_malformed(node.label(), ": direction is ", quoted(direction), ", not LEFT or RIGHT");
    left = direction == "LEFT";
  }
  template <class T>
  T operator()(T x, T by) const {
    constexpr auto kBits = static_cast<uint64_t>(8 * sizeof(T));
    const auto n = static_cast<uint64_t>(by);  // a negative one becomes huge
    if (left) return n >= kBits ? T(0) : static_cast<T>(static_cast<uint64_t>(x) << n);
    return static_cast<T>(x >> (n >= kBits ? kBits - 1 : n) >> (n >= kBits ? 1 : 0));
  }
};

template <class Functor>
OpDef bitwise_op(std::string name, Traits traits) {
  OpDef op = binary_op<Functor, Domain::Integers>(std::move(name), 18, traits);
  op.lower = lower_elementwise;
  return op;
}

}  // namespace

OpDef define_BitShift() {
  OpDef op;
  op.name = "BitShift";
  op.since = 28;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"direction", required(AttributeType::String), "LEFT or RIGHT"}};
  op.infer = infer_elementwise;
  op.reference = reference_binary<Shift, Domain::Integers>;
  return op;
}
OpDef define_BitwiseAnd() { return bitwise_op<BitsOfBoth>("BitwiseAnd", {Trait::Commutes}); }
OpDef define_BitwiseNot() { return unary_op<OtherBits, Domain::Integers>("BitwiseNot", 18, kNoTraits); }
OpDef define_BitwiseOr() { return bitwise_op<BitsOfEither>("BitwiseOr", {Trait::Commutes}); }
OpDef define_BitwiseXor() { return bitwise_op<BitsOfOne>("BitwiseXor", {Trait::Commutes}); }

}  // namespace dnn::bitwise_ops
