// Meter: what a process, the one that runs the network for it, and the machine have spent, at the moment of asking.
//
// What cannot be read is not there; it is never 0. Processors' energy is RAPL's (/sys/class/powercap): all packages, and the
// memory where it is a zone of its own. Where one of these zones cannot be read, a sum would be too small, so there is none; then a battery
// that nothing charges is the meter (battery.h).
#pragma once
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stream/records.h"
#include "usage/battery.h"
#include "usage/kernel_file.h"
#include "usage/nvml.h"

namespace dnn::usage {

// Where to look; a test says otherwise.
struct Roots {
  std::string proc = "/proc", sys = "/sys", nvml = "libnvidia-ml.so.1";
};

// One process. Its counts begin at the first read().
class ProcessMeter {
 public:
  ProcessMeter(const Roots& roots, int pid);
  stream::ProcessUsage read(int64_t elapsed_ns);

 private:
  struct Switches {
    int64_t voluntary = 0, involuntary = 0;
  };
  std::optional<int64_t> cpu_time_ns(const ProcessStat& stat) const;
  std::optional<Switches> switches();

  const std::string folder_;
  const int pid_;
  const bool own_clock_;  // the kernel's clock of the process: finer than the ticks of its files
  KernelFile stat_, status_;
  std::map<int, Switches> threads_;  // those that have ended too, as they were last seen
  std::optional<stream::ProcessUsage> first_, last_;
};

// Energy of all RAPL zones that count, else of the battery.
class EnergyMeter {
 public:
  explicit EnergyMeter(const Roots& roots);
  // Millijoules since the first call, which gives 0; to be asked before a counter has gone round (minutes).
  std::optional<double> read();
  // The zones, "package-0, package-0 dram", or the battery, or "none: " and why.
  const std::string& text() const { return text_; }

 private:
  struct Zone {
    KernelFile energy;
    int64_t range_uj;  // the counter starts again above it
    std::optional<int64_t> last_uj;
  };
  std::vector<Zone> zones_;
  std::optional<BatteryMeter> battery_;
  std::string text_;
  double total_uj_ = 0;
};

class Meter {
 public:
  // `network`: the process that runs the network, where that is not `pid`.
  Meter(const Roots& roots, int pid, std::optional<int> network);
  // Percentages are since the call before; counts, times and energy since the first.
  stream::Usage read();
  const std::string& energy_text() const { return energy_.text(); }
  const std::string& gpus_text() const { return gpus_.text(); }

 private:
  std::optional<double> frequency_mhz();

  ProcessMeter process_;
  std::optional<ProcessMeter> network_;
  KernelFile stat_, cpuinfo_;
  std::vector<KernelFile> frequencies_;
  EnergyMeter energy_;
  Gpus gpus_;
  std::map<int, CoreTicks> cores_;
  std::optional<int64_t> first_gpu_mj_;
  std::optional<std::chrono::steady_clock::time_point> last_, cpuinfo_read_;
};

}  // namespace dnn::usage
