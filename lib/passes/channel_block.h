// Blocks of channels in memory layouts.
#pragma once
#include <cstdint>

namespace dnn {

// Channels of a block: alter-op-layout puts so many side by side, one vector of float32 on AVX-512.
inline constexpr int64_t kChannelBlock = 16;

}  // namespace dnn
