// What CPUID is read as, against what Linux reads it as.
#include "base/cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/simd.h"

namespace dnn {
namespace {

// Of the first processor in /proc/cpuinfo; "" where it says nothing of the kind.
std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon != std::string::npos && line.compare(0, key.size(), key) == 0 &&
        line.find_first_not_of(" \t", key.size()) == colon)
      return line.substr(std::min(line.size(), colon + 2));
  }
  return "";
}

TEST(Cpu, FeaturesAreThoseThatLinuxFinds) {
  std::istringstream words(cpuinfo("flags"));
  std::vector<std::string> flags;
  for (std::string word; words >> word;) flags.push_back(word);
  if (flags.empty()) GTEST_SKIP() << "/proc/cpuinfo has no flags here";
  for (const CpuFeature feature : all_features()) {
    EXPECT_EQ(has_feature(feature), std::find(flags.begin(), flags.end(), feature_name(feature)) != flags.end())
        << feature_name(feature);
  }
}

TEST(Cpu, IsTheModelThatLinuxFinds) {
  if (cpuinfo("cpu family").empty()) GTEST_SKIP() << "/proc/cpuinfo has no models here";
  const CpuModel cpu = cpu_model();
  EXPECT_EQ(cpu.vendor, cpuinfo("vendor_id"));
  EXPECT_EQ(std::to_string(cpu.family), cpuinfo("cpu family"));
  EXPECT_EQ(std::to_string(cpu.model), cpuinfo("model"));
}

TEST(Cpu, VersionsAreChosenByTheWidthOfVectors) {
  int (*const of_16)() = [] { return 16; };
  int (*const of_32)() = [] { return 32; };
  int (*const of_64)() = [] { return 64; };
  for (const auto& [bytes, version] : {std::pair(0, 16), {16, 16}, {32, 32}, {64, 64}})
    EXPECT_EQ(version_for(bytes, of_16, of_32, of_64)(), version);
}

}  // namespace
}  // namespace dnn
