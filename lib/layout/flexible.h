// Operators over the last axis that can work over the channels of [N, C, H, W] as well: a domain of their own, which exists only
// while axis orders are settled.
#pragma once
#include "ops/op.h"

namespace dnn {

// LayerNormalization and MatMul by a constant matrix, over attribute "axis": the last of four, or 1.
inline constexpr std::string_view kFlexibleDomain = "axis";

// The operator of that domain, or null.
const OpDef* find_flexible(std::string_view name);

}  // namespace dnn
