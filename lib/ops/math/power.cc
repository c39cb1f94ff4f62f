// Pow: base to the power of an exponent that may have another dtype; the result has the base's.
//
// Equal float dtypes: pow in that type (float for the 16-bit ones). Integers of both kinds: repeated multiplication,
// wrapping; a negative exponent gives the quotient 1 / base^-exponent, truncated. Anything else: pow in float64.
#include "ops/elementwise.h"
#include "ops/gradient.h"

namespace dnn::power_ops {
namespace {

// base^exponent modulo 2^64.
uint64_t integer_power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent != 0; exponent >>= 1, base *= base) {
    if ((exponent & 1) != 0) result *= base;
  }
  return result;
}

template <class T, class E>
T power(T base, E exponent) {
  if constexpr (std::is_integral_v<T> && std::is_integral_v<E>) {
    if constexpr (std::is_signed_v<E>) {
      if (exponent < 0) {
        if (base == 0) fail_malformed("Pow: integer 0 to the power of ", int64_t{exponent});
        const bool odd = exponent % 2 != 0;
        if (base == 1) return 1;
        if constexpr (std::is_signed_v<T>) {
          if (base == -1) return odd ? -1 : 1;
        }
        return 0;
      }
    }
    return static_cast<T>(integer_power(static_cast<uint64_t>(base), static_cast<uint64_t>(exponent)));
  } else if constexpr (std::is_same_v<T, E>) {
    return static_cast<T>(std::pow(widen(base), widen(exponent)));
  } else {
    const double value = std::pow(static_cast<double>(widen(base)), static_cast<double>(widen(exponent)));
    if constexpr (std::is_integral_v<T>) {
      constexpr double kLimit = 0x1p63;
      if (!(value > -kLimit && value < kLimit)) fail_malformed("Pow: ", value, " is out of range for an integer");
      return static_cast<T>(static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      return value;
    } else {
      return static_cast<T>(static_cast<float>(value));
    }
  }
}

void reference(ReferenceContext& context) {
  const Tensor &base = context.input(0), &exponent = context.input(1);
  const Shape shape = broadcast_shape(context.node, base.shape(), exponent.shape());
  const auto run = [&](auto base_tag, auto exponent_tag) {
    using T = typename decltype(base_tag)::type;
    using E = typename decltype(exponent_tag)::type;
    Tensor y(base.dtype(), shape);
    const T* b = base.data<T>();
    const E* e = exponent.data<E>();
    T* out = y.mutable_data<T>();
    for_each_broadcast(context.pool, shape, base.shape(), exponent.shape(),
                       [=](int64_t i, int64_t ib, int64_t ie) { out[i] = power<T, E>(b[ib], e[ie]); });
    context.outputs[0] = std::move(y);
  };
  internal::dispatch_domain<Domain::Numbers>(base.dtype(), [&](auto base_tag) {
    internal::dispatch_domain<Domain::Numbers>(exponent.dtype(),
                                               [&](auto exponent_tag) { run(base_tag, exponent_tag); });
  });
}

loops::Expr element(const Node&, const std::vector<loops::Expr>& inputs) {
  return elementwise::pow(inputs[0], inputs[1]);
}

void lower(LowerContext& context) {
  if (context.inputs[0]->dtype == context.inputs[1]->dtype) lower_float_elementwise(context);
}

// d/da a^b = b a^(b - 1); d/db a^b = a^b log(a), for a base above 0.
void gradient(GradientContext& context) {
  GraphBuilder& build = context.build;
  const ValueId base = context.input(0), exponent = context.input(1);
  const DType dtype = build.dtype(base);
  const ValueId power = build.dtype(exponent) == dtype ? exponent : build.to_dtype(exponent, dtype);
  const auto product = [&](ValueId a, ValueId b) { return build.emit("Mul", {a, b}); };
  if (context.wants(0)) {
    const ValueId less = build.emit("Pow", {base, build.emit("Sub", {power, build.number(1, dtype)})});
    context.set(0, sum_to(build, product(context.dy(), product(power, less)), build.shape(base)));
  }
  if (context.wants(1)) {
    const ValueId slope = product(context.output(0), build.emit("Log", {base}));
    context.set(1, sum_to(build, product(context.dy(), slope), build.shape(exponent)));
  }
}

}  // namespace

OpDef define_Pow() {
  OpDef op;
  op.name = "Pow";
  op.since = 15;
  op.min_inputs = op.max_inputs = 2;
  op.traits = kNoTraits;
  op.infer = infer_elementwise;
  op.reference = reference;
  op.lower = lower;
  op.element = element;
  op.gradient = gradient;
  return op;
}

}  // namespace dnn::power_ops
