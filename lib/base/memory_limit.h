// A limit of the memory that some work may take: RLIMIT_DATA above what the process has when the work begins.
#pragma once
#include <cstdint>
#include <functional>

namespace dnn {

// Calls `work` in this thread; all threads of the process share the limit meanwhile. It is what the user gives for reading
// (read_memory_limit()), else `bytes`; none where reading is not limited. Throws Unsupported where the work wants more.
void within_memory(uint64_t bytes, const std::function<void()>& work);

}  // namespace dnn
