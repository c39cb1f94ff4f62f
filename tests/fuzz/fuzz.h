// What every fuzz target shares: hostile bytes may be refused, as malformed or unsupported, and nothing else.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/error.h"

namespace dnn::fuzz {

inline Bytes as_input(const uint8_t* data, size_t size) { return {reinterpret_cast<const std::byte*>(data), size}; }

// Runs `read`; any other exception than those two kinds of Error ends the process.
template <class Read>
int refuse_or_accept(const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Malformed && error.kind() != ErrorKind::Unsupported) throw;
  }
  return 0;
}

}  // namespace dnn::fuzz
