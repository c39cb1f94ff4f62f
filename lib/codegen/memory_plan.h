// Static planning of activation memory: values that are never alive at once share bytes of one arena.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace dnn::codegen {

// What OpenCL devices ask of sub-buffers.
inline constexpr int64_t kArenaAlign = 512;

struct Lifetime {
  int64_t bytes;
  int first, last;  // steps, inclusive
};

// Byte offsets, multiples of kArenaAlign, largest values placed first, each at the lowest offset free during its life;
// `arena_bytes` receives the total. `apart`: whether of two values with such lives one is dead before the other is made, where steps
// do not run one after another; empty: they do.
std::vector<int64_t> plan_memory(const std::vector<Lifetime>& values, int64_t* arena_bytes,
                                 const std::function<bool(size_t a, size_t b)>& apart = {});

}  // namespace dnn::codegen
