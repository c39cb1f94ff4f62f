// A place in a kernel's loops that text is printed for: what is known there of variables, lanes and registers.
#pragma once
#include <string>
#include <vector>

#include "codegen/print_registers.h"
#include "loops/simplify.h"

namespace dnn::codegen {

// Points to what must outlive it.
struct Place {
  const Vocabulary* words;
  const RegisterMap* registers;
  const loops::Ranges* ranges;  // of the variables of loops around it
  std::string lane = {};        // variable of the vector loop around it, "" where there is none
  int64_t lanes = 1;
  int64_t lane_element = -1;  // of registers that hold vectors this lane, as a scalar
  bool saturates = false;     // what is rounded becomes a byte that saturates

  bool in_lanes() const { return !lane.empty(); }
  // The ranges, the lane's among them.
  loops::Ranges all_ranges() const;
  // The registers of a local; null where it has none.
  const Registers* registers_of(const loops::Buffer& buffer) const;

  loops::Expr offset_of(const loops::Buffer& buffer, const std::vector<loops::Expr>& indices) const;
  // The expression in the i-th lane.
  loops::Expr at_lane(const loops::Expr& e, int64_t i) const;
  // True where the lanes of an offset lie one after the other.
  bool side_by_side(const loops::Expr& offset) const;

  bool lane_dependent(const loops::Expr& e) const;
  // True where an expression has no vector form, as index arithmetic that varies by lane.
  bool needs_lanewise(const loops::Expr& e) const;
  // A conversion that vectors have: of bytes side by side and of rounded numbers to int32, of int32 to float32, of narrow floats
  // side by side.
  bool converts(const loops::Expr& e) const;
};

// A float that only memory holds: that of narrow_buffers().
inline bool is_narrow(DType dtype) { return dtype == DType::BFloat16 || dtype == DType::Float16; }

}  // namespace dnn::codegen
