// Reading and parsing of /proc and /sys; see kernel_file.h.
#include "usage/kernel_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::usage {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// The next word; `rest` is what follows.
std::string_view word(std::string_view* rest) {
  const size_t first = std::min(rest->find_first_not_of(kBlanks), rest->size());
  const size_t end = std::min(rest->find_first_of(kBlanks, first), rest->size());
  const std::string_view found = rest->substr(first, end - first);
  rest->remove_prefix(end);
  return found;
}

// The next line that ends in a newline.
std::optional<std::string_view> line(std::string_view* rest) {
  const size_t end = rest->find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view found = rest->substr(0, end);
  rest->remove_prefix(end + 1);
  return found;
}

bool add_within(int64_t* sum, int64_t n) {
  if (n > kMost - *sum) return false;
  *sum += n;
  return true;
}

}  // namespace

KernelFile::KernelFile(std::string path) : path_(std::move(path)) {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    error_ = errno;
  } else if (!S_ISREG(status.st_mode)) {
    error_ = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  }
  if (error_ != 0 && fd_ >= 0) {
    ::close(fd_);
    fd_ = -1;
  }
}

KernelFile::~KernelFile() {
  if (fd_ >= 0) ::close(fd_);
}

KernelFile::KernelFile(KernelFile&& other) noexcept
    : path_(std::move(other.path_)),
      text_(std::move(other.text_)),
      fd_(std::exchange(other.fd_, -1)),
      error_(other.error_) {}

std::string_view KernelFile::read(size_t most) {
  if (fd_ < 0) return {};
  text_.resize(most);
  size_t used = 0;
  while (used < most) {
    const ssize_t n = ::pread(fd_, text_.data() + used, most - used, static_cast<off_t>(used));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      error_ = errno;
      return {};
    }
    if (n == 0) break;
    used += static_cast<size_t>(n);
  }
  error_ = 0;
  return std::string_view(text_).substr(0, used);
}

std::string KernelFile::failure() const {
  return cat(path_, ": ", error_ == 0 ? "holds no number" : std::strerror(error_));
}

std::optional<int64_t> count_in(std::string_view text) {
  text = trimmed(text);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<int64_t> field_of(std::string_view text, std::string_view name) {
  while (const std::optional<std::string_view> found = line(&text)) {
    if (!starts_with(*found, name) || found->size() <= name.size() || (*found)[name.size()] != ':') continue;
    std::string_view rest = found->substr(name.size() + 1);
    const std::optional<int64_t> value = count_in(word(&rest));
    const std::string_view unit = trimmed(rest);
    if (!value || unit.empty()) return value;
    if (unit != "kB" || *value > kMost / 1024) return std::nullopt;
    return *value * 1024;
  }
  return std::nullopt;
}

ProcessStat parse_process_stat(std::string_view text) {
  // The name, in parentheses, is the process's own choice: what it holds, blanks and parentheses too, ends at the last one.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos) return {};
  text.remove_prefix(name_end + 1);
  constexpr int kState = 3, kMinor = 10, kMajor = 12, kUser = 14, kSystem = 15;  // proc(5)'s numbers
  ProcessStat stat;
  std::optional<int64_t> user;
  for (int field = kState; field <= kSystem; ++field) {
    const std::optional<int64_t> value = count_in(word(&text));
    if (field == kMinor) stat.minor_faults = value;
    if (field == kMajor) stat.major_faults = value;
    if (field == kUser) user = value;
    if (field == kSystem && user && value && *value <= kMost - *user) stat.cpu_ticks = *user + *value;
  }
  return stat;
}

std::map<int, CoreTicks> parse_core_ticks(std::string_view text) {
  constexpr int kMostCores = 4096;
  // user, nice, system, idle, iowait, irq, softirq, steal
  constexpr bool kWork[] = {true, true, true, false, false, true, true, false};
  constexpr size_t kLeast = 4;  // of kernels before 2.5
  std::map<int, CoreTicks> cores;
  while (const std::optional<std::string_view> found = line(&text)) {
    std::string_view rest = *found;
    const std::string_view name = word(&rest);
    if (!starts_with(name, "cpu")) break;  // they come first
    const std::optional<int64_t> number = count_in(name.substr(3));
    if (!number || *number >= kMostCores) continue;
    CoreTicks ticks;
    size_t n = 0;
    bool good = true;
    for (; n < std::size(kWork) && good; ++n) {
      const std::string_view digits = word(&rest);
      if (digits.empty()) break;
      const std::optional<int64_t> value = count_in(digits);
      good = value && add_within(&ticks.all, *value) && (!kWork[n] || add_within(&ticks.busy, *value));
    }
    if (good && n >= kLeast) cores[static_cast<int>(*number)] = ticks;
  }
  return cores;
}

std::vector<std::optional<double>> busy_percent(const std::map<int, CoreTicks>& before,
                                                const std::map<int, CoreTicks>& now) {
  std::vector<std::optional<double>> percent(now.empty() ? 0 : static_cast<size_t>(now.rbegin()->first) + 1);
  for (const auto& [number, ticks] : now) {
    const auto it = before.find(number);
    if (it == before.end()) continue;
    const int64_t all = ticks.all - it->second.all, busy = ticks.busy - it->second.busy;
    if (all > 0 && busy >= 0 && busy <= all)
      percent[number] = 100.0 * static_cast<double>(busy) / static_cast<double>(all);
  }
  const bool nothing = std::none_of(percent.begin(), percent.end(), [](const auto& core) { return core.has_value(); });
  return nothing ? std::vector<std::optional<double>>() : percent;
}

std::optional<double> parse_cpuinfo_mhz(std::string_view text) {
  double sum = 0;
  int n = 0;
  while (const std::optional<std::string_view> found = line(&text)) {
    if (!starts_with(*found, "cpu MHz")) continue;
    double mhz = 0;
    const size_t colon = found->find(':');
    if (colon == std::string_view::npos || !parse_double(trimmed(found->substr(colon + 1)), &mhz)) continue;
    if (!(mhz > 0 && mhz < 1e6)) continue;
    sum += mhz;
    ++n;
  }
  return n == 0 ? std::nullopt : std::optional(sum / n);
}

}  // namespace dnn::usage
