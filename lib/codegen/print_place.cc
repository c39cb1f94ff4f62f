// A place in a kernel's loops; see print_place.h.
#include "codegen/print_place.h"

#include <algorithm>

#include "ops/quantization.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// A condition on float values: it has a vector mask. (One on indices guards its loads and is split by lanes.)
bool float_condition(const Expr& e) {
  switch (e->op) {
    case Op::Lt:
    case Op::Le:
    case Op::Eq:
    case Op::Ne: return is_float(e->args[0]->dtype);
    case Op::IsNan: return true;
    case Op::And:
    case Op::Or: return float_condition(e->args[0]) && float_condition(e->args[1]);
    default: return false;
  }
}

}  // namespace

Ranges Place::all_ranges() const {
  Ranges result = *ranges;
  if (in_lanes()) result[lane] = {0, lanes - 1};
  return result;
}

const Registers* Place::registers_of(const Buffer& buffer) const {
  const auto found = registers->find(&buffer);
  return found == registers->end() ? nullptr : &found->second;
}

Expr Place::offset_of(const Buffer& buffer, const std::vector<Expr>& indices) const {
  return simplify(flat_offset(buffer, indices), all_ranges());
}

Expr Place::at_lane(const Expr& e, int64_t i) const {
  return simplify(substitute(e, {{lane, constant_int(DType::Int64, i)}}), *ranges);
}

bool Place::side_by_side(const Expr& offset) const {
  int64_t step = 0;
  return linear_coefficient(offset, lane, all_ranges(), &step) && step == 1;
}

bool Place::lane_dependent(const Expr& e) const {
  if (!in_lanes()) return false;
  if (e->op == Op::Variable) return e->name == lane;
  if (e->op == Op::Load) {
    if (const Registers* held = registers_of(*e->buffer)) return held->lane_position >= 0;
  }
  return std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return lane_dependent(a); });
}

bool Place::needs_lanewise(const Expr& e) const {
  if (!lane_dependent(e)) return false;
  if (e->op == Op::Load) return false;  // decides for itself
  if (converts(e)) return false;
  if (!words->has_vector(e->dtype == DType::Bool ? DType::Float32 : e->dtype, lanes)) return true;
  if (e->op == Op::Cast || e->op == Op::Variable || e->op == Op::IsInf) return true;
  return e->op == Op::Select && lane_dependent(e->args[0]) && !float_condition(e->args[0]);
}

bool Place::converts(const Expr& e) const {
  if (e->op != Op::Cast || !words->has_vector(DType::Int32, lanes)) return false;
  const Expr& from = e->args[0];
  const auto reads_in_order = [&] { return side_by_side(offset_of(*from->buffer, from->args)); };
  if (e->dtype == DType::Float32 && is_narrow(from->dtype)) return reads_in_order();
  if (e->dtype == DType::Float32) return from->dtype == DType::Int32 && !needs_lanewise(from);
  if (e->dtype != DType::Int32) return false;
  if (from->op == Op::RoundEven && from->dtype == DType::Float32) return !needs_lanewise(from);
  if (from->op != Op::Load || (!is_byte(from->dtype) && from->dtype != DType::Int16) ||
      registers_of(*from->buffer) != nullptr)
    return false;
  return reads_in_order();
}

}  // namespace dnn::codegen
