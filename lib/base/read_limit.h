// Limits of reading a file of others: memory and processor time that follow from the size of what is read, so that no few bytes
// take a machine. The system keeps both, whatever the reader does: RLIMIT_DATA, and a timer of the reader's thread.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace dnn {

struct ReadLimits {
  uint64_t memory_bytes = 0;  // 0: 4 times the size of the files and 256 MiB
  double seconds = 0;         // of processor time; 0: 10, and one more for each 16 MiB of the files
};

// For all of the process; nothing is limited at first. The time ends the process by SIGXCPU: whoever limits it handles that signal
// (cli/signals.h), which slow_reading() is for.
void limit_reading(const ReadLimits& limits);

// True once limit_reading() was called, as by every tool.
bool reading_is_limited();

// The memory that a user gives for reading; 0 where the size of what is read says it.
uint64_t read_memory_limit();

// Calls `read` in this thread under the limits of a file of that size, and of those that are read meanwhile (count_read_file). Threads
// that it starts share its memory, and not its time. Throws Unsupported, with the way out, where it wants more memory.
void read_within_limits(uint64_t file_bytes, const std::string& name, const std::function<void()>& read);

// A file that is opened while this thread reads within limits; each is counted once. Nothing in other threads.
void count_read_file(uint64_t device, uint64_t inode, uint64_t bytes);

// For the handler of SIGXCPU: what is being read, and its seconds; null where nothing is.
const char* slow_reading(double* seconds);

}  // namespace dnn
