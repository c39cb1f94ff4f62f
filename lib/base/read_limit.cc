// Limits of reading; see read_limit.h.
#include "base/read_limit.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/sanitized.h"

namespace dnn {
namespace {

constexpr uint64_t kTimes = 4, kAlways = uint64_t{256} << 20;
constexpr double kSeconds = 10, kBytesOfASecond = 0x1p24;

// The state that all threads which read share: the limit of the process is the sum of theirs above what it had when the first began.
struct Shared {
  std::mutex mutex;
  std::optional<ReadLimits> limits;
  int n_reading = 0;
  uint64_t base = 0, allowed = 0;
  rlimit before{};
  int statm = -1;  // /proc/self/statm, which a reader in its box cannot open
};

Shared& shared() {
  static Shared the_one;
  return the_one;
}

std::atomic<const char*> slow_name{nullptr};
std::atomic<double> slow_seconds{0};

// The process's private memory as RLIMIT_DATA counts it, or a little more; 0 where the system does not say.
uint64_t data_bytes(int statm) {
  char text[256] = {};
  if (statm < 0 || ::pread(statm, text, sizeof text - 1, 0) <= 0) return 0;
  unsigned long long pages = 0;
  const bool read = std::sscanf(text, "%*u %*u %*u %*u %*u %llu", &pages) == 1;
  return read ? pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

// Under the shared mutex.
void apply(const Shared& s) {
#ifndef DNN_SANITIZED  // their shadows and quarantines are counted, too
  if (s.base == 0) return;
  rlimit now = s.before;
  now.rlim_cur = std::min<rlim_t>(s.before.rlim_cur, s.base + s.allowed);
  ::setrlimit(RLIMIT_DATA, &now);
#else
  (void)s;
#endif
}

// A share of the memory that the process may have above what it had.
class Allowance {
 public:
  explicit Allowance(uint64_t bytes) {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    if (s.n_reading++ == 0) {
      ::getrlimit(RLIMIT_DATA, &s.before);
      s.base = data_bytes(s.statm);
      s.allowed = 0;
    }
    add(s, bytes);
  }
  ~Allowance() {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    s.allowed -= bytes_;
    if (--s.n_reading > 0) apply(s);
#ifndef DNN_SANITIZED
    if (s.n_reading == 0 && s.base != 0) ::setrlimit(RLIMIT_DATA, &s.before);
#endif
  }
  Allowance(const Allowance&) = delete;
  Allowance& operator=(const Allowance&) = delete;

  void grow(uint64_t more) {
    Shared& s = shared();
    const std::lock_guard lock(s.mutex);
    add(s, more);
  }
  uint64_t bytes() const { return bytes_; }

 private:
  void add(Shared& s, uint64_t more) {
    bytes_ += more;
    s.allowed += more;
    apply(s);
  }
  uint64_t bytes_ = 0;
};

// One reading, in its thread.
class Reading {
 public:
  Reading(uint64_t file_bytes, std::string name, const ReadLimits& limits)
      : limits_(limits),
        name_(std::move(name)),
        allowance_(limits.memory_bytes != 0 ? limits.memory_bytes : kAlways),
        seconds_(limits.seconds != 0 ? limits.seconds : kSeconds) {
    begin_timer();
    count(file_bytes);
  }
  ~Reading() {
    if (has_timer_) ::timer_delete(timer_);
    slow_name = nullptr;
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  void count(uint64_t bytes) {
    if (limits_.memory_bytes == 0) allowance_.grow(kTimes * std::min(bytes, UINT64_MAX / 16));
    if (limits_.seconds == 0) extend(static_cast<double>(bytes) / kBytesOfASecond);
  }
  void count_once(uint64_t device, uint64_t inode, uint64_t bytes) {
    if (counted_.emplace(device, inode).second) count(bytes);
  }

  uint64_t allowed() const { return allowance_.bytes(); }
  static Reading*& here() {
    static thread_local Reading* the_one = nullptr;
    return the_one;
  }

 private:
  void begin_timer() {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGXCPU;
    has_timer_ = ::timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer_) == 0;
    slow_name = name_.c_str();
    set(seconds_);
  }
  void extend(double seconds) {
    if (!has_timer_ || seconds <= 0) return;
    itimerspec left{};
    ::timer_gettime(timer_, &left);
    seconds_ += seconds;
    set(static_cast<double>(left.it_value.tv_sec) + static_cast<double>(left.it_value.tv_nsec) * 1e-9 + seconds);
  }
  void set(double seconds) {
    slow_seconds = seconds_;
    if (!has_timer_) return;
    itimerspec when{};
    when.it_value.tv_sec = static_cast<time_t>(seconds);
    when.it_value.tv_nsec = static_cast<long>((seconds - std::floor(seconds)) * 1e9);
    ::timer_settime(timer_, 0, &when, nullptr);
  }

  const ReadLimits limits_;
  const std::string name_;
  Allowance allowance_;
  double seconds_;
  timer_t timer_{};
  bool has_timer_ = false;
  std::set<std::pair<uint64_t, uint64_t>> counted_;
};

std::string megabytes(uint64_t bytes) { return cat((bytes + 999'999) / 1'000'000, " MB"); }

}  // namespace

void limit_reading(const ReadLimits& limits) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.limits = limits;
  if (s.statm < 0) s.statm = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

bool reading_is_limited() {
  const std::lock_guard lock(shared().mutex);
  return shared().limits.has_value();
}

uint64_t read_memory_limit() {
  const std::lock_guard lock(shared().mutex);
  return shared().limits ? shared().limits->memory_bytes : 0;
}

void read_within_limits(uint64_t file_bytes, const std::string& name, const std::function<void()>& read) {
  std::optional<ReadLimits> limits;
  {
    const std::lock_guard lock(shared().mutex);
    limits = shared().limits;
  }
  if (!limits || Reading::here() != nullptr) return read();
  uint64_t allowed = 0;
  try {
    Reading reading(file_bytes, name, *limits);
    struct Here {
      explicit Here(Reading* one) { Reading::here() = one; }
      ~Here() { Reading::here() = nullptr; }
    } const here(&reading);
    try {
      return read();
    } catch (...) {
      allowed = reading.allowed();
      throw;
    }
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {  // of a tensor
    if (error.kind() != ErrorKind::Environment || std::strstr(error.what(), "memory") == nullptr) throw;
  }
  fail_unsupported("to read it takes more than ", megabytes(allowed),
                   limits->memory_bytes == 0 ? " of memory, which is 4 times its size and 256 MiB" : " of memory",
                   "; --max-memory BYTES allows more");
}

void within_memory(uint64_t bytes, const std::function<void()>& work) {
  std::optional<ReadLimits> limits;
  {
    const std::lock_guard lock(shared().mutex);
    limits = shared().limits;
  }
  if (!limits) return work();
  if (limits->memory_bytes != 0) bytes = limits->memory_bytes;
  try {
    const Allowance allowance(bytes);
    return work();
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {  // of a tensor
    if (error.kind() != ErrorKind::Environment || std::strstr(error.what(), "memory") == nullptr) throw;
  }
  fail_unsupported("it takes more than ", megabytes(bytes), " of memory; --max-memory BYTES allows more");
}

void count_read_file(uint64_t device, uint64_t inode, uint64_t bytes) {
  if (Reading* const reading = Reading::here()) reading->count_once(device, inode, bytes);
}

const char* slow_reading(double* seconds) {
  *seconds = slow_seconds;
  return slow_name;
}

}  // namespace dnn
