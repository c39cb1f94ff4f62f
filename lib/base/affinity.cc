// Lists of processors and threads kept to them; see affinity.h.
#include "base/affinity.h"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace dnn {
namespace {

constexpr int64_t kMost = 65536;

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using Set = std::unique_ptr<cpu_set_t, FreeSet>;

void keep_to(pthread_t thread, std::span<const int> processors) {
  const int n = *std::max_element(processors.begin(), processors.end()) + 1;
  const size_t bytes = CPU_ALLOC_SIZE(n);
  const Set set(CPU_ALLOC(n));
  CPU_ZERO_S(bytes, set.get());
  for (const int processor : processors) CPU_SET_S(processor, bytes, set.get());
  const int error = ::pthread_setaffinity_np(thread, bytes, set.get());
  if (error != 0)
    fail_environment("cannot keep a thread to processor ", processors_text(processors), ": ", std::strerror(error));
}

}  // namespace

std::optional<std::vector<int>> parse_processors(std::string_view list) {
  std::vector<int> processors;
  for (const std::string& range : split(list, ',')) {
    const std::vector<std::string> stepped = split(range, ':'), ends = split(stepped[0], '-');
    int64_t first = 0, last = 0, step = 1;
    if (ends.size() > 2 || stepped.size() > 2 || !parse_int(ends[0], &first) || !parse_int(ends.back(), &last))
      return std::nullopt;
    if (stepped.size() == 2 && (ends.size() == 1 || !parse_int(stepped[1], &step))) return std::nullopt;
    if (first < 0 || last < first || last >= kMost || step < 1 || step > kMost) return std::nullopt;
    for (int64_t i = first; i <= last; i += step) processors.push_back(static_cast<int>(i));
    if (static_cast<int64_t>(processors.size()) > kMost) return std::nullopt;
  }
  return processors;
}

std::string processors_text(std::span<const int> processors) {
  std::vector<std::string> ranges;
  for (size_t i = 0; i < processors.size();) {
    size_t last = i;
    while (last + 1 < processors.size() && processors[last + 1] == processors[last] + 1) ++last;
    ranges.push_back(last == i ? cat(processors[i]) : cat(processors[i], "-", processors[last]));
    i = last + 1;
  }
  return join(ranges, ",");
}

std::vector<int> allowed_processors() {
  std::vector<int> processors;
  // The kernel refuses a set that is smaller than its own, whose size it does not tell.
  for (int n = CPU_SETSIZE; n <= kMost; n *= 2) {
    const size_t bytes = CPU_ALLOC_SIZE(n);
    const Set set(CPU_ALLOC(n));
    if (::sched_getaffinity(0, bytes, set.get()) == 0) {
      for (int i = 0; i < n; ++i) {
        if (CPU_ISSET_S(i, bytes, set.get())) processors.push_back(i);
      }
      break;
    }
    if (errno != EINVAL) break;
  }
  return processors;
}

void keep_to(std::span<const int> processors) { keep_to(::pthread_self(), processors); }
void keep_to(std::thread& thread, std::span<const int> processors) { keep_to(thread.native_handle(), processors); }

bool take_short_slices() {
  // The kernel's struct sched_attr in its first version; glibc has none before 2.41.
  struct {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
  } attributes{};
  constexpr uint64_t kShortest = 100'000;  // that Linux takes
  const auto get = [&] { return ::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0; };
  if (!get() || attributes.policy != SCHED_OTHER) return false;
  attributes.runtime_ns = kShortest;
  return ::syscall(SYS_sched_setattr, 0, &attributes, 0) == 0 && get() && attributes.runtime_ns == kShortest;
}

PinnedThread::PinnedThread(std::span<const int> processors) {
  if (processors.empty()) return;
  before_ = allowed_processors();
  keep_to(processors.first(1));
}

PinnedThread::~PinnedThread() {
  if (before_.empty()) return;
  try {
    keep_to(before_);
  } catch (const Error&) {  // processors that are gone by now: the thread stays where it is
  }
}

}  // namespace dnn
