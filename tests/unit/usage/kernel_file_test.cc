// What /proc and /sys files hold, and what they should not: numbers, names that try to look like fields, text that was cut off.
#include "usage/kernel_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"

namespace dnn::usage {
namespace {

TEST(KernelFile, ReadsAgainFromTheBeginning) {
  const TemporaryFolder folder("");
  const std::string path = folder.path() + "/file";
  write_file(path, "12\n");
  KernelFile file(path);
  EXPECT_EQ(file.read(), "12\n");
  EXPECT_EQ(file.read(1), "1");
  EXPECT_EQ(file.read(), "12\n");
}

TEST(KernelFile, OpensNothingThatCouldWait) {
  const TemporaryFolder folder("");
  const std::string pipe = folder.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, folder.path(), folder.path() + "/none", std::string("/dev/zero")}) {
    KernelFile file(path);
    EXPECT_EQ(file.read(), "") << path;
    EXPECT_EQ(file.failure().find(path + ": "), 0u) << file.failure();
  }
}

TEST(KernelFile, CountsAreWholeAndNotNegative) {
  EXPECT_EQ(count_in(" 42\n"), 42);
  EXPECT_EQ(count_in("0"), 0);
  EXPECT_EQ(count_in("9223372036854775807"), INT64_MAX);
  for (const char* const text : {"", " ", "-1", "9223372036854775808", "12 13", "0x10", "1.5", "+1", "x", "\0001"})
    EXPECT_EQ(count_in(text), std::nullopt) << text;
}

TEST(KernelFile, FieldsStandAtTheBeginningOfALine) {
  const std::string text = "Name:\tVmRSS: 1 kB\nxVmRSS:\t5 kB\nVmRSSx:\t6 kB\nVmRSS:\t    1768 kB\nThreads:\t3\nEnd: 9";
  EXPECT_EQ(field_of(text, "VmRSS"), 1768 * 1024);
  EXPECT_EQ(field_of(text, "Threads"), 3);
  EXPECT_EQ(field_of(text, "Name"), std::nullopt);
  EXPECT_EQ(field_of(text, "End"), std::nullopt) << "a line that was cut off may lack digits";
  EXPECT_EQ(field_of(text, "VmHWM"), std::nullopt);
  for (const char* const line : {"A: -1 kB\n", "A: 9223372036854775807 kB\n", "A: 3 MB\n", "A:\n", "A: x kB\n", "A"})
    EXPECT_EQ(field_of(line, "A"), std::nullopt) << line;
}

TEST(KernelFile, ProcessNamesMayHoldAnything) {
  const std::string numbers = " S 1 2 3 4 5 6 700 8 9 10 110 120 13 14 20 0 1 0 99 4096 25 184\n";
  for (const char* const name : {"cat", "a b", ") R 1 2 3", "((", "\n1 (x) 2\n"}) {
    const ProcessStat stat = parse_process_stat("31 (" + std::string(name) + ")" + numbers);
    EXPECT_EQ(stat.minor_faults, 700) << name;
    EXPECT_EQ(stat.major_faults, 9) << name;
    EXPECT_EQ(stat.cpu_ticks, 230) << name;
  }
  const ProcessStat cut = parse_process_stat("31 (cat) S 1 2 3 4 5 6 700 8 9 10 110");
  EXPECT_EQ(cut.minor_faults, 700);
  EXPECT_EQ(cut.cpu_ticks, std::nullopt);
  EXPECT_EQ(parse_process_stat("31 cat S 1 2 3").minor_faults, std::nullopt);
  const std::string huge = " 9223372036854775807";
  EXPECT_EQ(parse_process_stat("1 (c) S 1 2 3 4 5 6 7 8 9 10" + huge + huge + "\n").cpu_ticks, std::nullopt);
}

TEST(KernelFile, CoresByNumber) {
  const auto cores = parse_core_ticks(
      "cpu  1 1 1 1 1 1 1 1 1 1\n"
      "cpu0 100 10 50 800 30 2 3 5 77 7\n"
      "cpu3 1 2 3 4\n"
      "cpu4 1 2 3\n"
      "cpu5 1 -2 3 4\n"
      "cpu6 9223372036854775807 2 3 4\n"
      "cpu4096 1 2 3 4\n"
      "cpuX 1 2 3 4\n"
      "intr 5\n"
      "cpu9 1 2 3 4\n");
  ASSERT_EQ(cores.size(), 2u);
  EXPECT_EQ(cores.at(0).all, 1000);
  EXPECT_EQ(cores.at(0).busy, 165);
  EXPECT_EQ(cores.at(3).all, 10);
  EXPECT_EQ(cores.at(3).busy, 6);
  EXPECT_TRUE(parse_core_ticks("").empty());
  EXPECT_TRUE(parse_core_ticks("cpu0 1 2 3 4 5 6 7").empty()) << "cut off";
}

TEST(KernelFile, BusyOnlyWhereCountersGrew) {
  const std::map<int, CoreTicks> before = {{0, {100, 50}}, {1, {100, 50}}, {2, {100, 50}}, {5, {100, 50}}};
  const std::map<int, CoreTicks> now = {{0, {200, 75}}, {1, {100, 50}}, {2, {90, 40}}, {3, {10, 5}}, {5, {110, 40}}};
  const auto percent = busy_percent(before, now);
  ASSERT_EQ(percent.size(), 6u);
  EXPECT_EQ(percent[0], 25.0);
  for (const size_t i : {1, 2, 3, 4, 5}) EXPECT_EQ(percent[i], std::nullopt) << i;
  EXPECT_TRUE(busy_percent(before, before).empty());
  EXPECT_TRUE(busy_percent({}, now).empty());
}

TEST(KernelFile, FrequencyIsTheMean) {
  EXPECT_EQ(parse_cpuinfo_mhz("processor\t: 0\ncpu MHz\t\t: 2000.5\n\ncpu MHz\t\t: 3000.5\ncache: 4\n"), 2500.5);
  EXPECT_EQ(parse_cpuinfo_mhz("cpu MHz\t\t: 0\ncpu MHz: -5\ncpu MHz: nan\ncpu MHz: inf\ncpu MHz\ncpu MHz: 1e99\n"),
            std::nullopt);
}

}  // namespace
}  // namespace dnn::usage
