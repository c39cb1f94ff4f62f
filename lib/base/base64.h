// Base64 (RFC 4648, section 4), with padding.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace dnn {

std::string base64_encode(Bytes bytes);
std::vector<uint8_t> base64_decode(std::string_view text);  // throws Malformed

}  // namespace dnn
