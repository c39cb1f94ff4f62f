// Expressions of kernels as text; see print_expression.h.
#include "codegen/print_expression.h"

#include <algorithm>

#include "codegen/print_words.h"
#include "codegen/rounded_quotients.h"

namespace dnn::codegen {
namespace {

using namespace loops;

Text gather(const Place& place, const Expr& e) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < place.lanes; ++i) values.push_back(print_lane(place, e, i));
  return {place.words->make_vector(e->dtype, place.lanes, values), true};
}

std::string print_rounded(const Place& around, const Expr& real) {
  // Numbers that are rounded on the way to the byte saturate nowhere.
  Place place = around;
  place.saturates = false;
  if (const auto quotient = around.saturates ? saturated_quotient(real) : std::nullopt) {
    std::vector<std::string> operands = {splat(place, print(place, quotient->dividend), DType::Float32)};
    for (const float f : {quotient->divisor, quotient->reciprocal, quotient->rest})
      operands.push_back(float_text(DType::Float32, f));
    std::string text = place.words->round_quotient(place.lanes, operands);
    if (!text.empty()) return text;
  }
  if (const auto quotient = rounded_quotient(real)) {
    std::vector<std::string> operands = {splat(place, print(place, quotient->dividend), DType::Float32)};
    for (const float f : {quotient->divisor, quotient->reciprocal, quotient->rest, quotient->low, quotient->high})
      operands.push_back(float_text(DType::Float32, f));
    std::string text = place.words->round_quotient(place.lanes, operands);
    if (!text.empty()) return text;
  }
  return place.words->round_to_integer(place.lanes, print(place, real).code);
}

// The conversions of Place::converts().
Text print_conversion(const Place& place, const Expr& e) {
  const Expr& from = e->args[0];
  const auto first = [&] {
    return print_pointer(place, *from->buffer, place.at_lane(place.offset_of(*from->buffer, from->args), 0));
  };
  if (is_narrow(from->dtype)) return {place.words->widen_real(from->dtype, place.lanes, first()), true};
  if (e->dtype == DType::Float32) return {place.words->integer_to_real(place.lanes, print(place, from).code), true};
  if (from->op == Op::RoundEven) return {print_rounded(place, from->args[0]), true};
  return {place.words->widen(from->dtype, place.lanes, first()), true};
}

Text print_constant(const Expr& e) {
  if (is_float(e->dtype)) return {float_text(e->dtype, e->f)};
  return {e->dtype == DType::Int64 && (e->i > 2147483647 || e->i < -2147483647) ? cat(e->i, "L") : cat(e->i)};
}

Text print_load(const Place& place, const Expr& e) {
  const Buffer& buffer = *e->buffer;
  if (const Registers* registers = place.registers_of(buffer)) {
    const std::string name = register_name(buffer, *registers, e->args);
    if (registers->lane_position < 0) return {name};
    if (place.lane_element >= 0) return {place.words->lane(name, place.lane_element)};
    return {name, true};
  }
  const Expr offset = place.offset_of(buffer, e->args);
  if (!place.in_lanes() || !uses_variable(offset, place.lane))
    return {buffer.name + "[" + print(place, offset).code + "]"};
  if (place.side_by_side(offset) && place.words->has_vector(buffer.dtype, place.lanes)) {
    const std::string first = print_pointer(place, buffer, place.at_lane(offset, 0));
    return {place.words->load_vector(buffer.dtype, place.lanes, first), true};
  }
  return gather(place, e);
}

Text print_cast(const Place& place, const Expr& e) {
  const Expr& from = e->args[0];
  if (is_narrow(from->dtype))
    return {cat("widen_", type_suffix(from->dtype, 1), "_f32(", print(place, from).code, ")")};
  if (is_narrow(e->dtype)) {
    const bool rounds = from->op == Op::RoundBFloat16;
    return {print_narrowed(e->dtype, rounds, print(place, rounds ? from->args[0] : from).code)};
  }
  return {"((" + place.words->scalar_type(e->dtype) + ")" + print(place, from).code + ")"};
}

Text print_select(const Place& place, const Expr& e) {
  const Text condition = print(place, e->args[0]);
  Text yes = print(place, e->args[1]), no = print(place, e->args[2]);
  const bool vector = condition.vector || yes.vector || no.vector;
  if (!vector) return {"(" + condition.code + " ? " + yes.code + " : " + no.code + ")"};
  yes = {splat(place, yes, e->dtype), true};
  no = {splat(place, no, e->dtype), true};
  if (!condition.vector) return {"(" + condition.code + " ? " + yes.code + " : " + no.code + ")", true};
  return {
      "select_" + type_suffix(e->dtype, place.lanes) + "(" + condition.code + ", " + yes.code + ", " + no.code + ")",
      true};
}

Text print_fma(const Place& place, const Expr& e) {
  Text a = print(place, e->args[0]), b = print(place, e->args[1]), c = print(place, e->args[2]);
  const bool vector = a.vector || b.vector || c.vector;
  if (vector && !a.vector && !b.vector) a = {splat(place, a, e->dtype), true};
  if (vector && !c.vector) c = {splat(place, c, e->dtype), true};
  return {place.words->fma(e->dtype, vector ? place.lanes : 1, a.code, b.code, c.code), vector};
}

Text print_division(const Place& place, const Expr& e) {
  Interval range{};
  const bool plain = bounds(e->args[0], *place.ranges, &range) && range.low >= 0;
  const std::string a = print(place, e->args[0]).code, b = print(place, e->args[1]).code;
  if (plain) return {"(" + a + (e->op == Op::FloorDiv ? " / " : " % ") + b + ")"};
  return {(e->op == Op::FloorDiv ? "floor_div(" : "floor_mod(") + a + ", " + b + ")"};
}

// An operator between its operands, or a helper function of them.
Text print_operation(const Place& place, const Expr& e) {
  std::vector<Text> args;
  bool vector = false;
  for (const Expr& arg : e->args) {
    args.push_back(print(place, arg));
    vector = vector || args.back().vector;
  }
  const DType operand = e->args[0]->dtype;
  const std::string symbol = infix(e->op);
  if (!symbol.empty()) {
    const bool comparison = e->op == Op::Eq || e->op == Op::Ne || e->op == Op::Lt || e->op == Op::Le;
    if (vector && comparison) {
      for (Text& arg : args) arg = {splat(place, arg, operand), true};
    }
    const bool logical = e->dtype == DType::Bool && !vector && (e->op == Op::And || e->op == Op::Or);
    return {"(" + args[0].code + " " + (logical ? symbol + symbol : symbol) + " " + args[1].code + ")", vector};
  }
  std::vector<std::string> codes;
  for (const Text& arg : args) codes.push_back(vector ? splat(place, arg, operand) : arg.code);
  return {helper_name(e->op) + "_" + type_suffix(operand, vector ? place.lanes : 1) + "(" + join(codes) + ")", vector};
}

}  // namespace

Text print(const Place& place, const Expr& e) {
  if (place.needs_lanewise(e)) return gather(place, e);
  if (place.lane_dependent(e) && place.converts(e)) return print_conversion(place, e);
  switch (e->op) {
    case Op::Constant: return print_constant(e);
    case Op::Variable: return {e->name};
    case Op::Load: return print_load(place, e);
    case Op::Cast: return print_cast(place, e);
    case Op::Neg: {
      const Text a = print(place, e->args[0]);
      return {"(-" + a.code + ")", a.vector};
    }
    case Op::Not: {
      const Text a = print(place, e->args[0]);
      return {(e->dtype == DType::Bool && !a.vector ? "(!" : "(~") + a.code + ")", a.vector};
    }
    case Op::Select: return print_select(place, e);
    case Op::Fma: return print_fma(place, e);
    case Op::FloorDiv:
    case Op::FloorMod: return print_division(place, e);
    default: return print_operation(place, e);
  }
}

std::string print_lane(const Place& place, const Expr& e, int64_t i) {
  Place one = place;
  one.lane.clear();
  one.lanes = 1;
  one.lane_element = i;  // registers hold vectors even when one lane is wanted
  return print(one, place.at_lane(e, i)).code;
}

std::string splat(const Place& place, const Text& value, DType dtype) {
  return value.vector ? value.code : "splat_" + type_suffix(dtype, place.lanes) + "(" + value.code + ")";
}

std::string print_pointer(const Place& place, const Buffer& buffer, const Expr& offset) {
  return buffer.name + " + (" + print(place, offset).code + ")";
}

std::string print_narrowed(DType to, bool rounds, const std::string& value) {
  return cat("narrow_", rounds ? "round_bfloat16" : type_suffix(to, 1), "_f32(", value, ")");
}

}  // namespace dnn::codegen
