// Rounded division; see division.h.
#include "formats/division.h"

namespace dnn {

ValueId other_sign(GraphBuilder& steps, ValueId rest, ValueId divisor, DType dtype) {
  const ValueId zero = steps.store("zero", Tensor(dtype, {}));
  const ValueId some = steps.emit("Not", {steps.emit("Equal", {rest, zero})});
  const ValueId differ = steps.emit("Xor", {steps.emit("Less", {rest, zero}), steps.emit("Less", {divisor, zero})});
  return steps.emit("And", {some, differ});
}

ValueId floor_divided(GraphBuilder& steps, ValueId x, ValueId y, DType dtype) {
  const ValueId quotient = steps.emit("Div", {x, y});
  if (dtype == DType::UInt8 || dtype == DType::UInt16 || dtype == DType::UInt32 || dtype == DType::UInt64)
    return quotient;
  // Where the two remainders differ, Div has rounded up. No step can overflow where the quotient does not.
  const ValueId rest = steps.emit("Sub", {x, steps.emit("Mul", {quotient, y})});
  const ValueId below = steps.emit("Mod", {x, y}, {{"fmod", int64_t{0}}});
  const ValueId up = steps.emit("Not", {steps.emit("Equal", {rest, below})});
  return steps.emit("Sub", {quotient, steps.to_dtype(up, dtype)});
}

ValueId floor_remainder(GraphBuilder& steps, ValueId x, ValueId y, DType dtype) {
  if (is_integer(dtype)) return steps.emit("Mod", {x, y}, {{"fmod", int64_t{0}}});
  const ValueId rest = steps.emit("Mod", {x, y}, {{"fmod", int64_t{1}}});
  return steps.emit("Where", {other_sign(steps, rest, y, dtype), steps.emit("Add", {rest, y}), rest});
}

}  // namespace dnn
