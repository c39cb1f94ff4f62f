// Functions that are near 0 there, from the IR's operators without losing digits: frameworks have them for that.
#pragma once
#include "formats/draft.h"

namespace dnn {

// exp(x) - 1, of real numbers.
ValueId exp_less_one(GraphBuilder& steps, ValueId x, DType dtype);
// log(1 + x), of real numbers.
ValueId log_of_one_more(GraphBuilder& steps, ValueId x, DType dtype);

}  // namespace dnn
