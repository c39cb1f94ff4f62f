// share; see share.h.
#include "base/share.h"

#include "base/threads.h"

namespace dnn {

int threads_of(const ThreadPool* pool) { return pool == nullptr ? 1 : pool->size(); }

void share(ThreadPool* pool, int64_t n, double operations,
           const std::function<void(int64_t begin, int64_t end)>& body) {
  constexpr double kWorthWaking = 5e4;  // some ten microseconds
  constexpr int64_t kPartsOfEach = 4;   // so that a thread that is late leaves some to the others
  if (n <= 0) return;
  if (threads_of(pool) == 1 || n == 1 || operations < kWorthWaking) return body(0, n);
  const int64_t parts = std::min(n, kPartsOfEach * pool->size());
  share_out(*pool, parts, [&](int64_t i) { body(n * i / parts, n * (i + 1) / parts); });
}

}  // namespace dnn
