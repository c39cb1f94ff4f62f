// share: a range of work in parts over a pool's threads, where that is worth waking them.
#pragma once
#include <cstdint>
#include <functional>

namespace dnn {

class ThreadPool;

// Calls body(begin, end) for parts that make up [0, n): on the threads of `pool` where it is not null and `operations`, those of all
// parts together, are many enough; else once, here. The parts may come in any order and at the same time. What a body throws is thrown
// here once all others are done. One caller at a time for a pool.
void share(ThreadPool* pool, int64_t n, double operations, const std::function<void(int64_t begin, int64_t end)>& body);

// Threads that share() uses; 1 for null.
int threads_of(const ThreadPool* pool);

}  // namespace dnn
