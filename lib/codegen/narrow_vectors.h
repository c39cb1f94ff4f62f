// Vector loops as wide as the machine's registers, however wide the blocks that a schedule works in.
#pragma once
#include "loops/ir.h"

namespace dnn::codegen {

// vector v < E: S(v)   ->   unrolled v_h < E/lanes: vector v_l < lanes: S(v_h*lanes + v_l)   where E is a multiple of `lanes`
// Locals that hold one element per lane gain an axis, so that they stay in registers. What is computed stays the same to the bit.
loops::Stmt narrow_vectors(const loops::Stmt& stmt, int64_t lanes);

}  // namespace dnn::codegen
