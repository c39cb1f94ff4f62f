// Topologies and kinds of cores of a /sys of the test's making, and of what is wrong with it.
#include "usage/topology.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/threads.h"
#include "stream/text.h"

namespace dnn::usage {
namespace {

namespace fs = std::filesystem;
using Classes = std::vector<std::vector<int>>;

class CpuTree {
 public:
  void put(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(folder_.path()) / "devices" / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  void online(const std::string& list) const { put("system/cpu/online", list); }
  void cpu(int i, const std::string& file, const std::string& text) const {
    put(cat("system/cpu/cpu", i, "/", file), text);
  }
  void core(int i, int socket, const std::string& siblings) const {
    cpu(i, "topology/physical_package_id", cat(socket));
    cpu(i, "topology/thread_siblings_list", siblings);
  }
  void cache(int i, int index, int level, const std::string& type, const std::string& size,
             const std::string& shared) const {
    const std::string folder = cat("cache/index", index, "/");
    cpu(i, folder + "level", cat(level));
    cpu(i, folder + "type", type);
    cpu(i, folder + "size", size);
    cpu(i, folder + "shared_cpu_list", shared);
  }
  Roots roots() const { return {"/proc", folder_.path(), ""}; }
  Classes classes() const { return core_classes(roots()); }
  std::string text() const {
    const std::optional<stream::Topology> topology = read_topology(roots());
    return topology ? stream::topology_text(*topology) : "none";
  }

 private:
  TemporaryFolder folder_{""};
};

// Two sockets of two cores of two threads.
TEST(Topology, CoresThatAreAlike) {
  const CpuTree machine;
  machine.online("0-7");
  machine.put("system/node/online", "0-1");
  for (int i = 0; i < 8; ++i) {
    const std::string core = cat(i % 4, ",", i % 4 + 4), socket = i % 4 < 2 ? "0-1,4-5" : "2-3,6-7";
    machine.core(i, i % 4 / 2, core);
    machine.cache(i, 0, 1, "Data", "32K", core);
    machine.cache(i, 1, 1, "Instruction", "32K", core);
    machine.cache(i, 2, 2, "Unified", "1024K", core);
    machine.cache(i, 3, 3, "Unified", "16384K", socket);
    machine.cpu(i, "cpufreq/cpuinfo_max_freq", i == 3 ? "4900000" : "4700000");  // one that is allowed a little more
  }
  EXPECT_EQ(machine.classes(), Classes({{0, 1, 2, 3, 4, 5, 6, 7}}));
  EXPECT_EQ(machine.text(),
            "2 sockets, 4 cores, 8 processors, 2 NUMA nodes, L1d 32 KiB x4 for 2 processors each, "
            "L2 1024 KiB x4 for 2 processors each, L3 16384 KiB x2 for 4 processors each");
}

TEST(Topology, ArmsCapacities) {
  const CpuTree machine;
  machine.online("0-7");
  const int capacities[] = {250, 250, 250, 250, 700, 690, 700, 1024};
  for (int i = 0; i < 8; ++i) {
    machine.cpu(i, "cpu_capacity", cat(capacities[i]));
    machine.cpu(i, "cpufreq/cpuinfo_max_freq", cat(1'000'000 * (i % 2 + 1)));  // says less of speed
  }
  EXPECT_EQ(machine.classes(), Classes({{7}, {4, 5, 6}, {0, 1, 2, 3}}));
  EXPECT_EQ(machine.text(), "8 processors, cores, fastest first: 7 > 4-6 > 0-3");
  machine.online("0-8");  // one that does not tell: nobody is judged by it
  EXPECT_EQ(machine.classes().size(), 1u);
}

TEST(Topology, IntelsHybrids) {
  const CpuTree machine;
  machine.online("0-7");
  machine.put("cpu_core/cpus", "0-3");
  EXPECT_EQ(machine.classes().size(), 1u) << "of one kind only";
  machine.put("cpu_atom/cpus", "4-7");
  for (int i = 0; i < 8; ++i) {
    machine.core(i, 0, i < 4 ? (i < 2 ? "0-1" : "2-3") : cat(i));
    machine.cpu(i, "cpu_capacity", "1024");
    machine.cache(i, 0, 1, "Data", i < 4 ? "48K" : "32K", i < 4 ? (i < 2 ? "0-1" : "2-3") : cat(i));
    machine.cache(i, 1, 2, "Unified", "2048K", i < 4 ? (i < 2 ? "0-1" : "2-3") : "4-7");
  }
  EXPECT_EQ(machine.classes(), Classes({{0, 1, 2, 3}, {4, 5, 6, 7}}));
  EXPECT_EQ(machine.text(),
            "1 socket, 6 cores, 8 processors, L1d 32 KiB x4, L1d 48 KiB x2 for 2 processors each, "
            "L2 2048 KiB x2 for 2 processors each, L2 2048 KiB x1 for 4 processors each, "
            "cores, fastest first: 0-3 > 4-7");
}

// As of AMD's processors with compact cores.
TEST(Topology, KindsByFrequency) {
  const CpuTree machine;
  machine.online("0-3");
  for (int i = 0; i < 4; ++i) machine.cpu(i, "cpufreq/cpuinfo_max_freq", i < 2 ? "3500000" : "5100000");
  EXPECT_EQ(machine.classes(), Classes({{2, 3}, {0, 1}}));
}

TEST(Topology, WithoutSysNothingIsKnown) {
  const CpuTree machine;
  EXPECT_EQ(machine.classes(), Classes());
  EXPECT_EQ(machine.text(), "none");
  machine.online("0-1");
  EXPECT_EQ(machine.text(), "2 processors");
}

TEST(Topology, HostileContentIsNoValue) {
  const CpuTree machine;
  for (const std::string& text : {std::string(), std::string(1000, '\0'), std::string(1 << 20, '9'), std::string("-1"),
                                  std::string("0-99999999999"), std::string("\xff\x1b[1m")}) {
    machine.online("0");
    machine.core(0, 0, "0");
    machine.cache(0, 0, 2, "Unified", text, "0");
    machine.cache(0, 1, 1, "Data", "32K", text);
    machine.cpu(0, "cache/index2/type", "Data");
    machine.cpu(0, "cache/index2/level", text);
    machine.cpu(0, "cpu_capacity", text);
    machine.put("cpu_core/cpus", text);
    machine.put("cpu_atom/cpus", text);
    machine.put("system/node/online", text);
    EXPECT_EQ(machine.text(), "1 socket, 1 core, 1 processor");
    machine.online(text);
    EXPECT_EQ(machine.text(), "none");
  }
}

TEST(Topology, OfThisMachineIsNotLessThanWhatThisProcessMayUse) {
  const std::optional<stream::Topology> topology = read_topology();
  if (!topology) GTEST_SKIP() << "/sys does not tell";
  EXPECT_GE(topology->processors, available_processors());
  EXPECT_LE(topology->cores, topology->processors);
  EXPECT_LE(topology->sockets, topology->processors);
}

}  // namespace
}  // namespace dnn::usage
