// Pow: base to the power of an exponent that may have another dtype; the result has the base's.
//
// Equal float dtypes: pow in that type (float for the 16-bit ones). Integers of both kinds: repeated multiplication,
// wrapping; a negative exponent gives the quotient 1 / base^-exponent, truncated. Anything else: pow in float64.
#include "ops/elementwise.h"
#include "ops/gradient.h"
#include "tensor/tensor.h"

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

// `base` and `exponent` as widen() gives them; E is int64_t, uint64_t, double or widen()'s type of T.
template <class T, class E>
T power(Compute<T> base, E exponent) {
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
  } else if constexpr (std::is_same_v<Compute<T>, E>) {
    return static_cast<T>(std::pow(base, exponent));
  } else {
    const double value = std::pow(static_cast<double>(base), static_cast<double>(exponent));
    if constexpr (std::is_integral_v<T>) {
      constexpr double kLimit = 0x1p63;
      if (!(value > -kLimit && value < kLimit)) fail_malformed("Pow: ", value, " is out of range for an integer");
      return static_cast<T>(static_cast<int64_t>(value));
    } else {
      return static_cast<T>(static_cast<float>(value));
    }
  }
}

template <class T>
struct Power {
  template <class E>
  T operator()(Compute<T> base, E exponent) const {
    return power<T>(base, exponent);
  }
};

// The dtype that an exponent is brought into, exactly: the widest of its kind, or the base's own float type.
DType exponent_dtype(DType base, DType exponent) {
  if (exponent == base && is_float(base)) return base;
  if (is_float(exponent) || is_float(base)) return DType::Float64;
  return exponent == DType::UInt64 ? DType::UInt64 : DType::Int64;
}

void reference(ReferenceContext& context) {
  const Tensor& base = context.input(0);
  internal::dispatch_domain<Domain::Numbers>(context.input(1).dtype(), [](auto) {});  // refuses what is no number
  const DType dtype = exponent_dtype(base.dtype(), context.input(1).dtype());
  const Tensor exponent = context.input(1).dtype() == dtype ? context.input(1) : convert(context.input(1), dtype);
  internal::RowKernel<internal::BinaryRow> kernel{.output = base.dtype()};
  internal::dispatch_domain<Domain::Numbers>(base.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    static const Power<T> functor;
    kernel.functor = &functor;
    if constexpr (std::is_integral_v<T>) {
      if (dtype == DType::Int64) kernel.row = internal::binary_row<Power<T>, T, int64_t, T>;
      if (dtype == DType::UInt64) kernel.row = internal::binary_row<Power<T>, T, uint64_t, T>;
    } else {
      if (dtype == base.dtype()) kernel.row = internal::binary_row<Power<T>, T, T, T>;
    }
    if (kernel.row == nullptr) kernel.row = internal::binary_row<Power<T>, T, double, T>;
  });
  internal::run_binary(context, base, exponent, kernel);
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
