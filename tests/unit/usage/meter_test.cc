// The meter on a /proc, a /sys and an NVML of the test's making, on what is wrong with them, and on this machine's own.
#include "usage/meter.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "usage/sampler.h"

namespace dnn::usage {
namespace {

namespace fs = std::filesystem;

// A machine of files, rewritten in place as the kernel's are.
class MeteredMachine {
 public:
  MeteredMachine() {
    process(7, 10, 2, 100, 4096, 8192, 5, 6);
    put("proc/stat", "cpu  0 0 0 0\ncpu0 100 0 0 100 0 0 0 0\ncpu2 0 0 0 100 0 0 0 0\nintr 9\n");
    put("proc/cpuinfo", "cpu MHz\t\t: 1000.000\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
    put("sys/devices/system/cpu/cpu2/cpufreq/scaling_cur_freq", "3000000\n");
    zone("intel-rapl:0", "package-0", 500'000, 1'000'000);
    zone("intel-rapl:0:0", "core", 5, 1'000'000);
    zone("intel-rapl:0:1", "dram", 100'000, 1'000'000);
    zone("intel-rapl:1", "psys", 5, 1'000'000);
    zone("intel-rapl-mmio:0", "package-0", 5, 1'000'000);
  }

  void put(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(folder_.path()) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  void remove(const std::string& name) const { fs::remove_all(fs::path(folder_.path()) / name); }
  void process(int pid, int minor, int major, int ticks, int rss_kib, int peak_kib, int waits, int preempted) const {
    const std::string at = cat("proc/", pid, "/");
    put(at + "stat", cat(pid, " (a) b) S 1 1 1 0 -1 0 ", minor, " 0 ", major, " 0 ", ticks, " 0 0 0 20 0 1 0 5 6 7\n"));
    const std::string status = cat("Name:\ta) b\nVmHWM:\t", peak_kib, " kB\nVmRSS:\t", rss_kib, " kB\n");
    const std::string switches =
        cat("voluntary_ctxt_switches:\t", waits, "\nnonvoluntary_ctxt_switches:\t", preempted, "\n");
    put(at + "status", status + switches);
    put(cat(at, "task/", pid, "/status"), status + switches);
  }
  void zone(const std::string& zone, const std::string& name, int64_t uj, int64_t range) const {
    put(cat("sys/class/powercap/", zone, "/name"), name + "\n");
    put(cat("sys/class/powercap/", zone, "/energy_uj"), cat(uj, "\n"));
    put(cat("sys/class/powercap/", zone, "/max_energy_range_uj"), cat(range, "\n"));
  }
  Roots roots(const std::string& nvml = "no-such-library.so") const {
    return {folder_.path() + "/proc", folder_.path() + "/sys", nvml};
  }

 private:
  TemporaryFolder folder_{""};
};

TEST(Meter, ReadsAllThatIsThere) {
  const MeteredMachine machine;
  machine.process(8, 0, 0, 0, 1024, 2048, 1, 1);
  Meter meter(machine.roots(), 7, 8);
  EXPECT_EQ(meter.energy_text(), "package-0, package-0 dram");
  const stream::Usage first = meter.read();
  EXPECT_GT(first.time_ns, int64_t{1'700'000'000} * 1'000'000'000);
  EXPECT_EQ(first.process.cpu_time_ns, 0);
  EXPECT_EQ(first.process.cpu_percent, std::nullopt) << "nothing passed yet";
  EXPECT_EQ(first.process.memory_bytes, 4096 * 1024);
  EXPECT_EQ(first.process.memory_peak_bytes, 8192 * 1024);
  EXPECT_EQ(first.process.minor_faults, 0);
  EXPECT_EQ(first.energy_mj, 0);
  EXPECT_EQ(first.frequency_mhz, 2500);
  EXPECT_TRUE(first.cores_percent.empty());
  EXPECT_EQ(first.gpu_percent, std::nullopt);
  EXPECT_EQ(first.gpu_energy_mj, std::nullopt);

  machine.process(7, 15, 3, 150, 5000, 9000, 15, 26);
  machine.put("proc/7/task/99/status", "voluntary_ctxt_switches:\t100\nnonvoluntary_ctxt_switches:\t200\n");
  machine.process(8, 1, 0, 1, 1025, 2049, 2, 1);
  machine.put("proc/stat", "cpu  0 0 0 0\ncpu0 150 0 0 150 0 0 0 0\ncpu2 0 0 0 200 0 0 0 0\nintr 9\n");
  machine.zone("intel-rapl:0", "package-0", 700'000, 1'000'000);
  machine.zone("intel-rapl:0:1", "dram", 50'000, 1'000'000);  // gone round
  const stream::Usage second = meter.read();
  EXPECT_EQ(second.process.cpu_time_ns, 50 * (1'000'000'000 / ::sysconf(_SC_CLK_TCK)));
  EXPECT_GT(second.process.cpu_percent, 0);
  EXPECT_EQ(second.process.minor_faults, 5);
  EXPECT_EQ(second.process.major_faults, 1);
  EXPECT_EQ(second.process.voluntary_switches, 110);
  EXPECT_EQ(second.process.involuntary_switches, 220);
  ASSERT_TRUE(second.network.has_value());
  EXPECT_EQ(second.network->memory_peak_bytes, 2049 * 1024);
  EXPECT_EQ(second.network->voluntary_switches, 1);
  EXPECT_EQ(second.cores_percent, (std::vector<std::optional<double>>{50.0, std::nullopt, 0.0}));
  EXPECT_EQ(second.energy_mj, 200 + 950);

  machine.remove("proc/7/task/99");  // a thread that ended: what it did counts
  EXPECT_EQ(meter.read().process.voluntary_switches, 110);
}

TEST(Meter, WhatIsMissingIsNotZero) {
  const MeteredMachine machine;
  machine.remove("proc/7");
  machine.remove("proc/stat");
  machine.remove("proc/cpuinfo");
  machine.remove("sys");
  Meter meter(machine.roots(), 7, std::nullopt);
  EXPECT_EQ(meter.energy_text(), cat("none: ", machine.roots().sys, "/class/powercap: No such file or directory"));
  EXPECT_EQ(meter.gpus_text(), "none: no no-such-library.so");
  meter.read();
  stream::Usage usage = meter.read();
  usage.time_ns = 0;
  EXPECT_EQ(stream::record_to_json(usage), R"({"type":"usage","time_ns":0})");
}

TEST(Meter, AZoneThatCannotBeReadLeavesNoPartOfTheSum) {
  const MeteredMachine machine;
  for (const char* const text : {"", "x\n", "-5\n", "99999999999999999999\n"}) {
    machine.put("sys/class/powercap/intel-rapl:0:1/energy_uj", text);
    EXPECT_EQ(EnergyMeter(machine.roots()).read(), std::nullopt) << text;
    EXPECT_EQ(EnergyMeter(machine.roots()).text(),
              cat("none: ", machine.roots().sys, "/class/powercap/intel-rapl:0:1/energy_uj: holds no number"));
  }
  machine.remove("sys/class/powercap/intel-rapl:0:1/energy_uj");
  EXPECT_EQ(EnergyMeter(machine.roots()).read(), std::nullopt);
  machine.zone("intel-rapl:0:1", "dram", 1, 100);
  EnergyMeter meter(machine.roots());
  EXPECT_EQ(meter.read(), 0);
  machine.zone("intel-rapl:0:1", "dram", 2, 100);
  EXPECT_NEAR(*meter.read(), 0.001, 1e-12);
  machine.put("sys/class/powercap/intel-rapl:0:1/energy_uj", "gone");
  EXPECT_EQ(meter.read(), std::nullopt);
  machine.zone("intel-rapl:0:1", "dram", 3, 100);
  EXPECT_EQ(meter.read(), std::nullopt) << "what passed meanwhile is not known";
}

// A phone on the bench: it has no RAPL, and its battery says what the machine takes only while nothing charges it.
TEST(Battery, IsAMeterWhileNothingChargesIt) {
  using namespace std::chrono_literals;
  const MeteredMachine machine;
  machine.remove("sys/class/powercap");
  machine.put("sys/class/power_supply/usb/type", "USB\n");
  machine.put("sys/class/power_supply/mouse/type", "Battery\n");
  machine.put("sys/class/power_supply/mouse/scope", "Device\n");
  machine.put("sys/class/power_supply/battery/type", "Battery\n");
  machine.put("sys/class/power_supply/battery/status", "Discharging\n");
  machine.put("sys/class/power_supply/battery/current_now", "-500000\n");
  machine.put("sys/class/power_supply/battery/voltage_now", "4000000\n");
  const std::string folder = machine.roots().sys + "/class/power_supply";
  EXPECT_EQ(EnergyMeter(machine.roots()).text(), "battery battery: the whole machine");
  BatteryMeter meter(folder);
  const BatteryMeter::Clock::time_point start = {};
  EXPECT_EQ(meter.read(start), 0);
  EXPECT_EQ(meter.read(start + 500ms), 1000);  // 2 W
  machine.put("sys/class/power_supply/battery/current_now", "250000\n");
  EXPECT_EQ(meter.read(start + 1500ms), 2000);
  machine.put("sys/class/power_supply/battery/status", "Charging\n");
  EXPECT_EQ(meter.read(start + 2s), std::nullopt);
  machine.put("sys/class/power_supply/battery/status", "Discharging\n");
  EXPECT_EQ(meter.read(start + 3s), std::nullopt);  // a part is missing
  machine.put("sys/class/power_supply/battery/power_now", "3000000\n");
  BatteryMeter powered(folder);
  powered.read(start);
  EXPECT_EQ(powered.read(start + 1s), 3000);
}

TEST(Battery, OfWhichNothingIsKnownIsSaid) {
  const MeteredMachine machine;
  machine.remove("sys/class/powercap");
  machine.put("sys/class/power_supply/BAT0/type", "Battery\n");
  machine.put("sys/class/power_supply/BAT0/status", "Full\n");
  EnergyMeter full(machine.roots());
  EXPECT_EQ(full.text(), cat("none: ", machine.roots().sys,
                             "/class/powercap: No such file or directory; battery BAT0: on external power (Full), so "
                             "that its figures are not what a run takes"));
  EXPECT_EQ(full.read(), std::nullopt);
  machine.put("sys/class/power_supply/BAT0/status", "Discharging\n");
  EnergyMeter unread(machine.roots());
  EXPECT_NE(unread.text().find("its power cannot be read"), std::string::npos) << unread.text();
  machine.put("sys/class/power_supply/BAT0/current_now", "many\n");
  machine.put("sys/class/power_supply/BAT0/voltage_now", "1\n");
  EXPECT_EQ(EnergyMeter(machine.roots()).read(), std::nullopt);
}

TEST(Meter, ACounterThatGoesBackWithoutARangeEndsTheEnergy) {
  const MeteredMachine machine;
  EnergyMeter meter(machine.roots());
  EXPECT_EQ(meter.read(), 0);
  machine.zone("intel-rapl:0", "package-0", 400'000, 0);
  EXPECT_NE(meter.read(), std::nullopt) << "the range of the beginning counts";
  machine.zone("intel-rapl:0", "package-0", 2'000'000, 0);
  EXPECT_NE(meter.read(), std::nullopt);
  machine.zone("intel-rapl:0", "package-0", 400'000, 0);
  EXPECT_EQ(meter.read(), std::nullopt) << "it was above its range: going round explains nothing";
}

TEST(Meter, HostileContentIsNoValue) {
  const MeteredMachine machine;
  const std::string long_text(1 << 20, '9');
  Meter meter(machine.roots(), 7, 7);
  for (const std::string& text : {std::string(), std::string(1000, '\0'), long_text, std::string("\xff\xfe)))) \n\n:"),
                                  std::string("VmRSS:\ncpu0\ncpu MHz:\n) S\n")}) {
    for (const char* const name :
         {"proc/7/stat", "proc/7/status", "proc/7/task/7/status", "proc/7/task/99999999999/status", "proc/stat",
          "proc/cpuinfo", "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
          "sys/class/powercap/intel-rapl:0/name", "sys/class/powercap/intel-rapl:0/energy_uj",
          "sys/class/powercap/intel-rapl:::/energy_uj"})
      machine.put(name, text);
    Meter(machine.roots(), 7, 7).read();
    const stream::Usage usage = meter.read();
    EXPECT_EQ(usage.process.memory_bytes, std::nullopt);
    EXPECT_EQ(usage.process.minor_faults, std::nullopt);
    EXPECT_EQ(usage.process.cpu_time_ns, std::nullopt);
    EXPECT_TRUE(usage.cores_percent.empty());
    EXPECT_EQ(usage.frequency_mhz, std::nullopt);
    EXPECT_EQ(usage.energy_mj, std::nullopt);
  }
}

class WrongGpus {
 public:
  explicit WrongGpus(const char* what) { ::setenv("FAKE_NVML", what, 1); }
  ~WrongGpus() { ::unsetenv("FAKE_NVML"); }
};

TEST(Gpus, AddsUpWhatAllOfThemTell) {
  Gpus gpus(DNN_FAKE_NVML);
  EXPECT_TRUE(gpus.any());
  EXPECT_EQ(gpus.text(), "GPU\\n\\x1b[1m, GPU\\n\\x1b[1m");
  const GpuReading reading = gpus.read();
  EXPECT_EQ(reading.percent, 150);
  EXPECT_EQ(reading.memory_bytes, 2000);
  EXPECT_GT(reading.energy_mj, 100'000);
}

TEST(Gpus, WhatOneDoesNotTellIsNotKnown) {
  const auto reading = [](const char* what) {
    const WrongGpus wrong(what);
    return Gpus(DNN_FAKE_NVML).read();
  };
  EXPECT_EQ(reading("percent").percent, std::nullopt);
  EXPECT_NE(reading("percent").memory_bytes, std::nullopt);
  EXPECT_EQ(reading("memory").memory_bytes, std::nullopt);
  EXPECT_EQ(reading("energy").energy_mj, std::nullopt);
  EXPECT_NE(reading("count").percent, std::nullopt);
  const auto text = [](const char* what) {
    const WrongGpus wrong(what);
    return Gpus(DNN_FAKE_NVML).text();
  };
  EXPECT_EQ(text("init"), "none: NVML does not start (code 9)");
  EXPECT_EQ(text("none"), "none: NVML knows no GPU");
  EXPECT_EQ(text("name"), std::string(96, 'G') + ", " + std::string(96, 'G'));
}

TEST(Gpus, EnergyIsSinceTheFirstRecord) {
  const MeteredMachine machine;
  {
    Meter meter(machine.roots(DNN_FAKE_NVML), 7, std::nullopt);
    EXPECT_EQ(meter.read().gpu_energy_mj, 0);
    EXPECT_EQ(meter.read().gpu_energy_mj, 40);
  }
  const WrongGpus wrong("back");
  Meter meter(machine.roots(DNN_FAKE_NVML), 7, std::nullopt);
  meter.read();
  EXPECT_EQ(meter.read().gpu_energy_mj, std::nullopt);
}

TEST(Sampler, FollowsThisProcess) {
  Sampler sampler(Roots(), ::getpid(), std::nullopt, 5);
  EXPECT_TRUE(sampler.take().empty());
  sampler.start();
  const auto start = std::chrono::steady_clock::now();
  std::vector<char> pages(64 << 20, 1);
  uint64_t work = 0;
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(400)) work += pages[work % pages.size()];
  sampler.stop();
  const std::vector<stream::Usage> records = sampler.take();
  ASSERT_GE(records.size(), 3u);
  const stream::Usage& last = records.back();
  EXPECT_EQ(records[0].process.cpu_time_ns, 0);
  EXPECT_GT(last.process.cpu_time_ns, 1'000'000);
  EXPECT_GT(last.process.memory_peak_bytes, int64_t{64} << 20);
  EXPECT_GE(last.process.memory_peak_bytes, last.process.memory_bytes);
  EXPECT_GT(last.process.minor_faults, 0);
  for (size_t i = 1; i < records.size(); ++i) {
    EXPECT_GE(records[i].time_ns, records[i - 1].time_ns);
    EXPECT_GE(records[i].process.cpu_time_ns, records[i - 1].process.cpu_time_ns);
    EXPECT_GE(records[i].sampler_ns, records[i - 1].sampler_ns);
  }
  const Sampler::Cost cost = sampler.cost();
  EXPECT_EQ(cost.n_records, static_cast<int64_t>(records.size()));
  EXPECT_GT(cost.share, 0);
  EXPECT_LT(cost.share, 0.01);
  sampler.stop();
  EXPECT_TRUE(sampler.take().empty());
}

TEST(Sampler, WithoutAStartHasNothing) {
  Sampler sampler(Roots(), ::getpid(), std::nullopt, 1);
  sampler.stop();
  EXPECT_TRUE(sampler.take().empty());
  EXPECT_EQ(sampler.cost().n_records, 0);
}

}  // namespace
}  // namespace dnn::usage
