// The domain of operators whose axes stand in the order [N, ..., C]: they are those of domain "" otherwise, attributes included.
#pragma once
#include <string_view>

namespace dnn {

inline constexpr std::string_view kChannelsLastDomain = "nhwc";

}  // namespace dnn
