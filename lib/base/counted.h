// Numbers of things: "1 sample", "3 samples".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"

namespace dnn {

// The number and the noun, with an s unless there is one of them.
inline std::string counted(int64_t n, std::string_view noun) { return cat(n, " ", noun, n == 1 ? "" : "s"); }

}  // namespace dnn
