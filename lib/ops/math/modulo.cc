// Mod: the remainder of a division rounded down (fmod 0, sign of the divisor) or to zero (fmod 1, sign of the dividend).
#include "ops/elementwise.h"

namespace dnn::modulo_ops {
namespace {

struct Remainder {
  bool truncated = false;
  Remainder() = default;
  explicit Remainder(const Node& node) {
    const int64_t fmod = int_attribute(node, "fmod");
    if (fmod != 0 && fmod != 1) fail_malformed(node.label(), ": fmod is ", fmod, ", not 0 or 1");
    truncated = fmod == 1;
  }
  template <class T>
  T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) fail_malformed("Mod: integer division by zero");
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      const T rest = static_cast<T>(a % b);
      return !truncated && rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
    } else {
      const T rest = std::fmod(a, b);
      if (truncated || std::isnan(rest)) return rest;
      if (rest == 0) return std::copysign(T(0), b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    }
  }
};

}  // namespace

OpDef define_Mod() {
  OpDef op;
  op.name = "Mod";
  op.since = 28;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.attributes = {{"fmod", 0, "the sign of the dividend, as C's fmod"}};
  op.infer = infer_elementwise;
  op.reference = reference_binary<Remainder, Domain::Numbers>;
  return op;
}

}  // namespace dnn::modulo_ops
