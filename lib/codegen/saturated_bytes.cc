// Bytes that saturate; see saturated_bytes.h.
#include "codegen/saturated_bytes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Numbers up to this are converted to int32, and a zero point added to them, without overflow.
constexpr double kMostConverted = 1 << 30;
constexpr double kUnknown = std::numeric_limits<double>::infinity();
// Bounds of what is surely finite in float32, for all that rounding adds to them.
constexpr double kMostFinite = 0x1p120;
// Zero points of bytes are within this.
constexpr int64_t kMostZeroPoint = 255;

// Bounds of absolute values: of what expressions make, and of what locals of float32 hold.
class Magnitudes {
 public:
  Magnitudes(const Stmt& body, const std::function<double(const Buffer&)>& of_buffer) : of_buffer_(of_buffer) {
    std::map<const Buffer*, int> stores;
    count(body, &stores);
    note(body, stores);
  }

  // A float of a known bound is finite and no NaN.
  double of(const Expr& e) const {
    const double most = bound(e);
    if (!is_float(e->dtype)) return most;
    return e->dtype == DType::Float32 && most < kMostFinite ? most : kUnknown;
  }

 private:
  static void count(const Stmt& s, std::map<const Buffer*, int>* stores) {
    if (s->kind == StmtKind::Store) ++(*stores)[s->buffer.get()];
    for (const Stmt& child : s->children) count(child, stores);
  }

  // Notes numbers that are stored to locals, in the order of the statements. A local that several statements store to is never known, not even
  // in front of the second: in a loop that one comes before the first.
  void note(const Stmt& s, const std::map<const Buffer*, int>& stores) {
    if (s->kind == StmtKind::Store && s->buffer->scope == Scope::Local && s->buffer->dtype == DType::Float32 &&
        stores.at(s->buffer.get()) == 1)
      locals_.emplace(s->buffer.get(), of(s->value));
    for (const Stmt& child : s->children) note(child, stores);
  }

  double bound(const Expr& e) const {
    const auto arg = [&](size_t i) { return of(e->args[i]); };
    switch (e->op) {
      case Op::Constant: return is_float(e->dtype) ? std::abs(e->f) : std::abs(static_cast<double>(e->i));
      case Op::Load: return of_load(*e->buffer);
      case Op::Cast: return is_integer(e->dtype) ? in_type(arg(0), e->dtype) : arg(0);
      case Op::Neg:
      case Op::Abs: return arg(0);
      case Op::RoundEven: return arg(0) + 1;
      case Op::Add:
      case Op::Sub: return is_float(e->dtype) ? arg(0) + arg(1) : of_type(e->dtype);
      case Op::Mul: return is_float(e->dtype) ? product(arg(0), arg(1)) : of_type(e->dtype);
      case Op::Div: return is_float(e->dtype) ? product(arg(0), 1 / least(e->args[1])) : of_type(e->dtype);
      case Op::Min:
      case Op::Max: return std::max(arg(0), arg(1));
      case Op::Select: return std::max(arg(1), arg(2));
      default: return is_integer(e->dtype) ? of_type(e->dtype) : kUnknown;
    }
  }

  // Unknown is infinite: 0 times it is no number.
  static double product(double a, double b) { return a == kUnknown || b == kUnknown ? kUnknown : a * b; }
  static double of_type(DType dtype) {
    if (dtype_size(dtype) > 4) return kUnknown;  // of indices
    return std::max(std::abs(static_cast<double>(integer_lowest(dtype))), static_cast<double>(integer_highest(dtype)));
  }

  // The bound of an integer up to `most` that becomes one of `dtype`: a negative one is large without a sign.
  static double in_type(double most, DType dtype) {
    if (dtype_size(dtype) > 4) return kUnknown;
    return most < -static_cast<double>(integer_lowest(dtype)) ? most : of_type(dtype);
  }

  double of_load(const Buffer& buffer) const {
    if (is_byte(buffer.dtype) || buffer.dtype == DType::Int32) return of_type(buffer.dtype);
    if (buffer.dtype != DType::Float32) return kUnknown;
    const auto local = locals_.find(&buffer);
    if (buffer.scope == Scope::Local) return local == locals_.end() ? kUnknown : local->second;
    return of_buffer_(buffer);
  }

  // A number that a divisor's absolute value is not below. The smallest are 0 where processors flush them.
  static double least(const Expr& e) {
    if (e->op == Op::Constant) return std::abs(e->f) < std::numeric_limits<float>::min() ? 0 : std::abs(e->f);
    return e->op == Op::StatedDivisor || e->op == Op::StatedNormal ? 1 : 0;
  }

  const std::function<double(const Buffer&)>& of_buffer_;
  std::map<const Buffer*, double> locals_;
};

std::optional<int64_t> whole(const Expr& e) {
  if (e->op != Op::Constant) return std::nullopt;
  if (is_integer(e->dtype)) return e->i;
  return std::abs(e->f) < kMostConverted && std::nearbyint(e->f) == e->f ? std::optional(static_cast<int64_t>(e->f))
                                                                         : std::nullopt;
}

// The value rounded first, where its clamp is that of the byte.
Expr rounded_first(const Expr& value, const Magnitudes& magnitudes) {
  if (value->op != Op::Cast || !is_byte(value->dtype) || value->args[0]->dtype != DType::Int32) return value;
  Expr integer = value->args[0];
  int64_t zero_point = 0;
  if (integer->op == Op::Add && whole(integer->args[1])) {
    zero_point = *whole(integer->args[1]);
    integer = integer->args[0];
  }
  if (integer->op != Op::Cast || integer->args[0]->op != Op::RoundEven || integer->args[0]->dtype != DType::Float32)
    return value;
  const Expr& clamped = integer->args[0]->args[0];
  if (clamped->op != Op::Min || clamped->args[0]->op != Op::Max) return value;
  const std::optional<int64_t> low = whole(clamped->args[0]->args[1]), high = whole(clamped->args[1]);
  const int64_t lowest = integer_lowest(value->dtype), highest = integer_highest(value->dtype);
  if (zero_point < -kMostZeroPoint || zero_point > kMostZeroPoint) return value;
  if (!low || !high || *low + zero_point != lowest || *high + zero_point != highest) return value;
  const Expr& x = clamped->args[0]->args[0];
  if (!(magnitudes.of(x) < kMostConverted)) return value;
  const auto number = [](int64_t n) { return constant_int(DType::Int32, n); };
  const Expr sum = cast(DType::Int32, unary(Op::RoundEven, x)) + number(zero_point);
  return cast(value->dtype, loops::min(loops::max(sum, number(lowest)), number(highest)));
}

bool stores_bytes(const Stmt& s) {
  if (s->kind == StmtKind::Store) return is_byte(s->buffer->dtype);
  return std::any_of(s->children.begin(), s->children.end(), stores_bytes);
}

Stmt rewritten(const Stmt& s, const Magnitudes& magnitudes) {
  if (s->kind == StmtKind::Store)
    return is_byte(s->buffer->dtype) ? store(s->buffer, s->indices, rounded_first(s->value, magnitudes)) : s;
  if (s->children.empty()) return s;
  std::vector<Stmt> children;
  for (const Stmt& child : s->children) children.push_back(rewritten(child, magnitudes));
  return rebuild(*s, std::move(children));
}

}  // namespace

Stmt saturate_bytes(const Stmt& body, const std::function<double(const Buffer&)>& magnitude) {
  return stores_bytes(body) ? rewritten(body, Magnitudes(body, magnitude)) : body;
}

std::optional<Expr> saturated(const Expr& value) {
  if (value->op != Op::Cast || !is_byte(value->dtype) || value->args[0]->op != Op::Min) return std::nullopt;
  const Expr &above = value->args[0]->args[0], &high = value->args[0]->args[1];
  if (above->op != Op::Max || above->dtype != DType::Int32 || whole(high) != integer_highest(value->dtype) ||
      whole(above->args[1]) != integer_lowest(value->dtype))
    return std::nullopt;
  // Others than rounded_first() makes may be any int32.
  const Expr& sum = above->args[0];
  const Expr& rounded = sum->op == Op::Add && whole(sum->args[1]) ? sum->args[0] : sum;
  return rounded->op == Op::Cast && rounded->args[0]->op == Op::RoundEven ? std::optional(sum) : std::nullopt;
}

}  // namespace dnn::codegen
