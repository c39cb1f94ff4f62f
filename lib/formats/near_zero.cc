// Functions near 0; see near_zero.h. The logarithm: Goldberg, What every computer scientist should know about floating-point
// arithmetic, theorem 4.
#include "formats/near_zero.h"

namespace dnn {

// tanh(x / 2) (exp(x) + 1), since tanh(x / 2) is (exp(x) - 1) / (exp(x) + 1).
ValueId exp_less_one(GraphBuilder& steps, ValueId x, DType dtype) {
  const ValueId half = steps.emit("Tanh", {steps.emit("Mul", {x, steps.number(0.5, dtype)})});
  return steps.emit("Mul", {half, steps.emit("Add", {steps.emit("Exp", {x}), steps.number(1, dtype)})});
}

// u is 1 + x rounded. log(u) x / (u - 1) takes that rounding back; where u is 1, x is left. Far from 0 log(u) is near enough.
ValueId log_of_one_more(GraphBuilder& steps, ValueId x, DType dtype) {
  const ValueId one = steps.number(1, dtype), u = steps.emit("Add", {x, one}), log = steps.emit("Log", {u});
  const ValueId rounded = steps.emit("Sub", {u, one});
  const ValueId mended = steps.emit("Mul", {log, steps.emit("Div", {x, rounded})});
  const ValueId nothing = steps.emit("Equal", {rounded, steps.number(0, dtype)});
  const ValueId near = steps.emit("Less", {steps.emit("Abs", {x}), steps.number(0.5, dtype)});
  return steps.emit("Where", {near, steps.emit("Where", {nothing, x, mended}), log});
}

}  // namespace dnn
