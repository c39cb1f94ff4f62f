// Meter; see meter.h.
#include "usage/meter.h"

#include <dirent.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/printable.h"
#include "base/text.h"

namespace dnn::usage {
namespace {

using Clock = std::chrono::steady_clock;

// The names in a folder, at most so many, sorted; `error` gets errno where it cannot be read.
std::vector<std::string> names_in(const std::string& folder, size_t most, int* error) {
  std::vector<std::string> names;
  *error = 0;
  DIR* dir = ::opendir(folder.c_str());
  if (dir == nullptr) {
    *error = errno;
    return names;
  }
  while (names.size() < most) {
    const dirent* entry = ::readdir(dir);  // NOLINT(concurrency-mt-unsafe): of a stream that is this thread's alone
    if (entry == nullptr) break;
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(dir);
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<int64_t> difference(const std::optional<int64_t>& now, const std::optional<int64_t>& before) {
  if (!now || !before || *now < *before) return std::nullopt;
  return *now - *before;
}

}  // namespace

ProcessMeter::ProcessMeter(const Roots& roots, int pid)
    : folder_(cat(roots.proc, "/", pid)),
      pid_(pid),
      own_clock_(roots.proc == Roots().proc),
      stat_(folder_ + "/stat"),
      status_(folder_ + "/status") {}

std::optional<int64_t> ProcessMeter::cpu_time_ns(const ProcessStat& stat) const {
  clockid_t clock{};
  timespec time{};
  if (own_clock_ && ::clock_getcpuclockid(pid_, &clock) == 0 && ::clock_gettime(clock, &time) == 0)
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  const int64_t per_second = ::sysconf(_SC_CLK_TCK);
  if (!stat.cpu_ticks || per_second <= 0 || *stat.cpu_ticks > INT64_MAX / 1'000'000'000) return std::nullopt;
  return *stat.cpu_ticks * (1'000'000'000 / per_second);
}

// The kernel counts them by thread.
std::optional<ProcessMeter::Switches> ProcessMeter::switches() {
  constexpr size_t kMostThreads = 1024;
  int error = 0;
  for (const std::string& name : names_in(folder_ + "/task", kMostThreads, &error)) {
    const std::optional<int64_t> thread = count_in(name);
    if (!thread || *thread > INT32_MAX) continue;
    KernelFile file(cat(folder_, "/task/", name, "/status"));
    const std::string_view text = file.read();
    const std::optional<int64_t> voluntary = field_of(text, "voluntary_ctxt_switches");
    const std::optional<int64_t> involuntary = field_of(text, "nonvoluntary_ctxt_switches");
    if (voluntary && involuntary) threads_[static_cast<int>(*thread)] = {*voluntary, *involuntary};
  }
  if (error != 0 || threads_.empty() || threads_.size() > 100 * kMostThreads) return std::nullopt;
  constexpr int64_t kMost = int64_t{1} << 40;  // of a thread: no sum of them overflows
  Switches sum;
  for (const auto& [thread, count] : threads_) {
    if (count.voluntary > kMost || count.involuntary > kMost) return std::nullopt;
    sum.voluntary += count.voluntary;
    sum.involuntary += count.involuntary;
  }
  return sum;
}

stream::ProcessUsage ProcessMeter::read(int64_t elapsed_ns) {
  const ProcessStat stat = parse_process_stat(stat_.read());
  stream::ProcessUsage now;
  now.cpu_time_ns = cpu_time_ns(stat);
  now.minor_faults = stat.minor_faults;
  now.major_faults = stat.major_faults;
  const std::string_view status = status_.read();
  now.memory_bytes = field_of(status, "VmRSS");
  now.memory_peak_bytes = field_of(status, "VmHWM");
  if (const std::optional<Switches> sum = switches()) {
    now.voluntary_switches = sum->voluntary;
    now.involuntary_switches = sum->involuntary;
  }
  if (!first_) first_ = now;
  stream::ProcessUsage since = now;
  since.cpu_time_ns = difference(now.cpu_time_ns, first_->cpu_time_ns);
  since.minor_faults = difference(now.minor_faults, first_->minor_faults);
  since.major_faults = difference(now.major_faults, first_->major_faults);
  since.voluntary_switches = difference(now.voluntary_switches, first_->voluntary_switches);
  since.involuntary_switches = difference(now.involuntary_switches, first_->involuntary_switches);
  if (last_ && elapsed_ns > 0) {
    if (const std::optional<int64_t> spent = difference(now.cpu_time_ns, last_->cpu_time_ns))
      since.cpu_percent = 100.0 * static_cast<double>(*spent) / static_cast<double>(elapsed_ns);
  }
  last_ = now;
  return since;
}

EnergyMeter::EnergyMeter(const Roots& roots) {
  const std::string folder = roots.sys + "/class/powercap";
  constexpr size_t kMostZones = 1024;
  int error = 0;
  std::vector<std::string> covered;
  std::string failure = folder + ": no zone of a processor";
  std::map<std::string, std::string> packages;  // names of "intel-rapl:N"
  const std::vector<std::string> entries = names_in(folder, kMostZones, &error);
  if (error != 0) failure = cat(folder, ": ", std::strerror(error));
  for (const std::string& entry : entries) {
    // "intel-rapl:0" is a package, on AMD too, "intel-rapl:0:1" a part of it; intel-rapl-mmio shows the same ones again.
    const std::vector<std::string> parts = split(entry, ':');
    if (parts[0] != "intel-rapl" || parts.size() < 2 || parts.size() > 3) continue;
    KernelFile name_file(cat(folder, "/", entry, "/name"));
    const std::string name = plain(trimmed(name_file.read(64)));
    const bool package = parts.size() == 2 && starts_with(name, "package");
    const auto whole = packages.find("intel-rapl:" + parts[1]);
    const bool memory = parts.size() == 3 && name == "dram" && whole != packages.end();
    if (!package && !memory) continue;
    if (package) packages[entry] = name;
    Zone zone{KernelFile(cat(folder, "/", entry, "/energy_uj")), 0, {}};
    zone.last_uj = count_in(zone.energy.read(256));
    if (!zone.last_uj) {
      failure = zone.energy.failure();
      zones_.clear();
      covered.clear();
      break;
    }
    KernelFile range(cat(folder, "/", entry, "/max_energy_range_uj"));
    zone.range_uj = count_in(range.read(256)).value_or(0);
    zones_.push_back(std::move(zone));
    covered.push_back(package ? name : cat(whole->second, " ", name));
  }
  for (Zone& zone : zones_) zone.last_uj.reset();
  if (!zones_.empty()) {
    text_ = join(covered);
    return;
  }
  battery_.emplace(roots.sys + "/class/power_supply");
  const std::string& of_battery = battery_->text();
  const bool meters = !of_battery.empty() && !starts_with(of_battery, "none: ");
  text_ = meters ? of_battery : cat("none: ", failure, of_battery.empty() ? "" : "; " + of_battery.substr(6));
}

std::optional<double> EnergyMeter::read() {
  if (zones_.empty()) return battery_ ? battery_->read(Clock::now()) : std::nullopt;
  for (Zone& zone : zones_) {
    const std::optional<int64_t> now = count_in(zone.energy.read(256));
    const int64_t before = zone.last_uj.value_or(now.value_or(0));
    const bool round = now && *now < before;
    if (!now || (round && (zone.range_uj < before || *now > zone.range_uj))) {
      zones_.clear();  // what follows would lack this part
      return std::nullopt;
    }
    total_uj_ += static_cast<double>(round ? zone.range_uj - before : -before) + static_cast<double>(*now);
    zone.last_uj = now;
  }
  return total_uj_ / 1000;
}

Meter::Meter(const Roots& roots, int pid, std::optional<int> network)
    : process_(roots, pid),
      stat_(roots.proc + "/stat"),
      cpuinfo_(roots.proc + "/cpuinfo"),
      energy_(roots),
      gpus_(roots.nvml) {
  if (network) network_.emplace(roots, *network);
  constexpr size_t kMostFiles = 64;  // a sample of the processors, where there are more
  const std::map<int, CoreTicks> cores = parse_core_ticks(stat_.read(1 << 18));
  const size_t step = (cores.size() + kMostFiles - 1) / kMostFiles;
  size_t i = 0;
  for (const auto& [number, ticks] : cores) {
    if (i++ % step != 0) continue;
    KernelFile file(cat(roots.sys, "/devices/system/cpu/cpu", number, "/cpufreq/scaling_cur_freq"));
    if (count_in(file.read(256)).value_or(0) > 0) frequencies_.push_back(std::move(file));
  }
}

std::optional<double> Meter::frequency_mhz() {
  if (!frequencies_.empty()) {
    double sum = 0;
    for (KernelFile& file : frequencies_) {
      const int64_t khz = count_in(file.read(256)).value_or(0);
      if (khz <= 0) return std::nullopt;
      sum += static_cast<double>(khz) / 1000;
    }
    return sum / static_cast<double>(frequencies_.size());
  }
  // A long text on a machine of many processors: once a second.
  const Clock::time_point now = Clock::now();
  if (cpuinfo_read_ && now - *cpuinfo_read_ < std::chrono::seconds(1)) return std::nullopt;
  cpuinfo_read_ = now;
  return parse_cpuinfo_mhz(cpuinfo_.read(1 << 20));
}

stream::Usage Meter::read() {
  const Clock::time_point now = Clock::now();
  const int64_t elapsed_ns =
      last_ ? std::chrono::duration_cast<std::chrono::nanoseconds>(now - *last_).count() : int64_t{0};
  last_ = now;
  stream::Usage usage;
  usage.time_ns =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  usage.process = process_.read(elapsed_ns);
  if (network_) usage.network = network_->read(elapsed_ns);
  const std::map<int, CoreTicks> cores = parse_core_ticks(stat_.read(1 << 18));
  usage.cores_percent = busy_percent(cores_, cores);
  // Between two ticks there is nothing to say of a processor: what is said next is since the last that said something.
  for (const auto& [number, ticks] : cores) {
    const size_t i = number;
    const bool said = i < usage.cores_percent.size() && usage.cores_percent[i];
    CoreTicks& before = cores_.try_emplace(number, ticks).first->second;
    if (said || ticks.all < before.all || ticks.busy < before.busy) before = ticks;
  }
  usage.frequency_mhz = frequency_mhz();
  usage.energy_mj = energy_.read();
  const GpuReading gpus = gpus_.read();
  usage.gpu_percent = gpus.percent;
  usage.gpu_memory_bytes = gpus.memory_bytes;
  if (!first_gpu_mj_) first_gpu_mj_ = gpus.energy_mj;
  if (const std::optional<int64_t> spent = difference(gpus.energy_mj, first_gpu_mj_))
    usage.gpu_energy_mj = static_cast<double>(*spent);
  return usage;
}

}  // namespace dnn::usage
