// Affinity: lists of processors as taskset and the kernel write them, and threads that are kept to processors.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace dnn {

// "0,2-5" or "0-14:2" (every second) as numbers, in the order written; nullopt for what is no such list of at most 65,536.
std::optional<std::vector<int>> parse_processors(std::string_view list);

// The same as text: "0,2-5". The order stays.
std::string processors_text(std::span<const int> processors);

// Those that the calling thread may use (its affinity mask, which a cgroup narrows), ascending; empty where the system does not say.
std::vector<int> allowed_processors();

// Keeps the calling thread, and what it starts from now on, to these processors, of which there is one at least. Throws Environment.
void keep_to(std::span<const int> processors);
// The same of another thread.
void keep_to(std::thread& thread, std::span<const int> processors);

// Asks the scheduler for short time slices for the calling thread, and what it starts from now on:
// when it wakes up it goes before a thread with longer ones, if it has used no more than its share,
// which stays the same. False where the system has no such slices (Linux before 6.12), or the thread
// is scheduled in another way.
bool take_short_slices();

// The calling thread on the first of these processors, while the object lives; anywhere where there are none. Threads that it
// starts meanwhile stay there, too.
class PinnedThread {
 public:
  explicit PinnedThread(std::span<const int> processors);
  ~PinnedThread();
  PinnedThread(const PinnedThread&) = delete;
  PinnedThread& operator=(const PinnedThread&) = delete;

 private:
  std::vector<int> before_;
};

}  // namespace dnn
