// Stores of kernels as text; see print_store.h.
#include "codegen/print_store.h"

#include <functional>

#include "codegen/print_expression.h"
#include "codegen/saturated_bytes.h"
#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

using Lines = std::vector<std::string>;

// Lane by lane, where lane i of `offset` gets element(i).
Lines store_lanes(const Place& place, const Buffer& buffer, const Expr& offset,
                  const std::function<std::string(int64_t)>& element) {
  Lines lines;
  for (int64_t i = 0; i < place.lanes; ++i)
    lines.push_back(buffer.name + "[" + print(place, place.at_lane(offset, i)).code + "] = " + element(i) + ";");
  return lines;
}

// The same out of a vector, whose lanes become elements as `element` says.
Lines store_scattered(const Place& place, const Buffer& buffer, const Expr& offset, DType type,
                      const std::string& vector, const std::function<std::string(const std::string&)>& element) {
  Lines lines = {"{", "  const " + type_suffix(type, place.lanes) + " value = " + vector + ";"};
  for (const std::string& line :
       store_lanes(place, buffer, offset, [&](int64_t i) { return element(place.words->lane("value", i)); }))
    lines.push_back("  " + line);
  lines.push_back("}");
  return lines;
}

// True where the store is of bytes that a vector of int32 holds.
bool narrows(const Place& place, const Expr& value) {
  return place.in_lanes() && value->op == Op::Cast && is_byte(value->dtype) && value->args[0]->dtype == DType::Int32 &&
         place.words->has_vector(DType::Int32, place.lanes) && place.lane_dependent(value) &&
         !place.needs_lanewise(value->args[0]);
}

Lines store_bytes(const Place& place, const Buffer& buffer, const Expr& offset, const Expr& stored) {
  if (const auto integer = saturated(stored); integer && place.side_by_side(offset)) {
    Place saturating = place;
    saturating.saturates = true;
    const std::string value = splat(place, print(saturating, *integer), DType::Int32);
    const std::string first = print_pointer(place, buffer, place.at_lane(offset, 0));
    const std::string text = place.words->narrow_saturated(buffer.dtype, place.lanes, first, value);
    if (!text.empty()) return {text + ";"};
  }
  const std::string value = splat(place, print(place, stored->args[0]), DType::Int32);
  if (place.side_by_side(offset)) {
    const std::string first = print_pointer(place, buffer, place.at_lane(offset, 0));
    return {place.words->narrow(buffer.dtype, place.lanes, first, value) + ";"};
  }
  return store_scattered(place, buffer, offset, DType::Int32, value, [&](const std::string& lane) {
    return cat("(", place.words->scalar_type(buffer.dtype), ")", lane);
  });
}

// Floats of 16 bits, which vectors of float32 are stored as.
Lines store_narrow(const Place& place, const Buffer& buffer, const Expr& offset, const Expr& stored) {
  const bool rounds = stored->args[0]->op == Op::RoundBFloat16;
  const Text real = print(place, rounds ? stored->args[0]->args[0] : stored->args[0]);
  const std::string value = splat(place, real, DType::Float32);
  if (place.side_by_side(offset)) {
    const std::string first = print_pointer(place, buffer, place.at_lane(offset, 0));
    return {place.words->narrow_real(buffer.dtype, place.lanes, rounds, first, value) + ";"};
  }
  return store_scattered(place, buffer, offset, DType::Float32, value,
                         [&](const std::string& lane) { return print_narrowed(buffer.dtype, rounds, lane); });
}

Lines store_register(const Place& place, const Stmt& s, const Registers& registers) {
  const Buffer& buffer = *s->buffer;
  const Text value = print(place, s->value);
  const std::string name = register_name(buffer, registers, s->indices);
  const bool wants_vector = registers.lane_position >= 0;
  if (value.vector && !wants_vector) fail_internal("codegen: scalar ", name, " is given a vector");
  return {name + " = " + (wants_vector ? splat(place, value, buffer.dtype) : value.code) + ";"};
}

}  // namespace

Lines print_store(const Place& place, const Stmt& s) {
  const Buffer& buffer = *s->buffer;
  if (const Registers* registers = place.registers_of(buffer)) return store_register(place, s, *registers);
  const Expr offset = place.offset_of(buffer, s->indices);
  if (narrows(place, s->value)) return store_bytes(place, buffer, offset, s->value);
  if (is_narrow(buffer.dtype) && place.in_lanes()) return store_narrow(place, buffer, offset, s->value);
  const auto lane_value = [&](int64_t i) { return print_lane(place, s->value, i); };
  // There are no vectors of bytes.
  if (is_byte(buffer.dtype) && place.lane_dependent(s->value)) return store_lanes(place, buffer, offset, lane_value);
  const Text value = print(place, s->value);
  if (!place.in_lanes() || !uses_variable(offset, place.lane)) {
    if (value.vector) fail_internal("codegen: ", buffer.name, ": all lanes are stored to one element");
    return {buffer.name + "[" + print(place, offset).code + "] = " + value.code + ";"};
  }
  if (place.side_by_side(offset) && place.words->has_vector(buffer.dtype, place.lanes)) {
    const std::string first = print_pointer(place, buffer, place.at_lane(offset, 0));
    return {place.words->store_vector(buffer.dtype, place.lanes, first, splat(place, value, buffer.dtype)) + ";"};
  }
  if (!value.vector) return store_lanes(place, buffer, offset, lane_value);
  return store_scattered(place, buffer, offset, buffer.dtype, value.code, [](const std::string& lane) { return lane; });
}

}  // namespace dnn::codegen
