// Static planning of activation memory; see memory_plan.h. Greedy by size, as in Pisarchyk and Lee, "Efficient Memory
// Management for Deep Neural Net Inference" (2020), section 5.
#include "codegen/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace dnn::codegen {

std::vector<int64_t> plan_memory(const std::vector<Lifetime>& values, int64_t* arena_bytes,
                                 const std::function<bool(size_t a, size_t b)>& apart) {
  std::vector<size_t> by_size(values.size());
  std::iota(by_size.begin(), by_size.end(), size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return values[a].bytes > values[b].bytes; });
  std::vector<int64_t> offsets(values.size(), 0);
  std::vector<size_t> placed;  // by offset
  *arena_bytes = 0;
  for (size_t i : by_size) {
    const int64_t bytes = (values[i].bytes + kArenaAlign - 1) / kArenaAlign * kArenaAlign;
    int64_t at = 0;
    for (size_t other : placed) {
      const bool intervals = values[other].last < values[i].first || values[i].last < values[other].first;
      if (intervals && (!apart || apart(other, i))) continue;
      if (offsets[other] - at >= bytes) break;
      at = std::max(at, offsets[other] + (values[other].bytes + kArenaAlign - 1) / kArenaAlign * kArenaAlign);
    }
    offsets[i] = at;
    placed.insert(
        std::upper_bound(placed.begin(), placed.end(), i, [&](size_t a, size_t b) { return offsets[a] < offsets[b]; }),
        i);
    *arena_bytes = std::max(*arena_bytes, at + bytes);
  }
  return offsets;
}

}  // namespace dnn::codegen
