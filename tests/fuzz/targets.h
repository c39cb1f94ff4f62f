// The fuzz targets by their names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#define DNN_FUZZ_TARGET(name) int fuzz_##name(const uint8_t* data, size_t size);
#include "fuzz_targets.def"
#undef DNN_FUZZ_TARGET

namespace dnn::fuzz {

using Target = int (*)(const uint8_t* data, size_t size);

// Null where there is none of that name.
inline Target target_of(std::string_view name) {
#define DNN_FUZZ_TARGET(known) \
  if (name == #known) return fuzz_##known;
#include "fuzz_targets.def"
#undef DNN_FUZZ_TARGET
  return nullptr;
}

}  // namespace dnn::fuzz
