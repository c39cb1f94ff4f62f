// Numbers that are not finite, for tests.
#pragma once
#include <limits>

namespace dnn {

inline constexpr float kInf = std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

}  // namespace dnn
