// Division as the frameworks round it, from the IR's operators: Div of integers rounds to zero, Mod with fmod has the dividend's sign.
#pragma once
#include "formats/draft.h"

namespace dnn {

// Integers: x / y rounded down.
ValueId floor_divided(GraphBuilder& steps, ValueId x, ValueId y, DType dtype);
// The remainder that has the divisor's sign, of integers or real numbers.
ValueId floor_remainder(GraphBuilder& steps, ValueId x, ValueId y, DType dtype);
// Whether a remainder of the dividend's sign is not 0 and of another sign than the divisor.
ValueId other_sign(GraphBuilder& steps, ValueId rest, ValueId divisor, DType dtype);

}  // namespace dnn
