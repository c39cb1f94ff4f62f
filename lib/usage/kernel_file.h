// Files that the kernel writes as they are read (/proc, /sys), and the numbers in them; what a file holds is not trusted.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dnn::usage {

// Opened once, read from its beginning as often as wanted. Only regular files: nothing here may wait.
class KernelFile {
 public:
  explicit KernelFile(std::string path);
  ~KernelFile();
  KernelFile(KernelFile&& other) noexcept;
  KernelFile& operator=(KernelFile&&) = delete;

  // What it holds now, at most `most` bytes of it, until the next read(); "" where it cannot be read.
  std::string_view read(size_t most = 1 << 14);
  // Why read() gives "": "/sys/class/powercap/...: Permission denied".
  std::string failure() const;

 private:
  std::string path_, text_;
  int fd_ = -1, error_ = 0;
};

// A whole number that is not negative, with blanks around it.
std::optional<int64_t> count_in(std::string_view text);

// The number after "NAME:" at the beginning of a line, as in /proc/PID/status; of "kB", as bytes.
std::optional<int64_t> field_of(std::string_view text, std::string_view name);

// /proc/PID/stat, whatever the process calls itself.
struct ProcessStat {
  std::optional<int64_t> minor_faults, major_faults, cpu_ticks;
};
ProcessStat parse_process_stat(std::string_view text);

// The ticks of one processor since the machine started: all, and those in which it worked.
struct CoreTicks {
  int64_t all = 0, busy = 0;
};
// /proc/stat: by processor number; of a text that was cut off, the whole lines.
std::map<int, CoreTicks> parse_core_ticks(std::string_view text);
// By number up to the last processor; none where one is missing, or its counters stood still or went back.
std::vector<std::optional<double>> busy_percent(const std::map<int, CoreTicks>& before,
                                                const std::map<int, CoreTicks>& now);

// The mean of /proc/cpuinfo's "cpu MHz".
std::optional<double> parse_cpuinfo_mhz(std::string_view text);

}  // namespace dnn::usage
