// Tuning logs: what is written is read, and only what fits is used.
#include "tune/log.h"

#include <gtest/gtest.h>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"

namespace dnn::tune {
namespace {

using codegen::ScheduleParameters;

class LogTest : public testing::Test {
 protected:
  std::vector<Record> read() {
    return read_log(path_, [this](const std::string& message) { warnings_ += message + "\n"; });
  }
  void write(const std::string& text) { write_file(path_, text); }

  TemporaryFolder folder_{testing::TempDir()};
  std::string path_ = folder_.path() + "/log.jsonl", warnings_;
};

Record record(const std::string& kernel, int64_t tile, double latency_ns, bool choice = false) {
  Record r;
  r.choice = choice;
  r.cpu = cpu_name();
  r.isa = "avx2";
  r.kernel = kernel;
  r.what = "Conv \"x\"";
  r.parameters.tile = tile;
  r.latency_ns = latency_ns;
  r.default_ns = 1000;
  r.gflops = 1.5;
  return r;
}

TEST_F(LogTest, HoldsWhatWasAdded) {
  EXPECT_THROW(read(), Error);
  {
    Log log(path_);
    log.add(to_line(record("conv_a", 7, 900)));
    log.add(R"({"type":"summary"})");
  }
  Log(path_).add(to_line(record("conv_b", 0, 1000, true)));
  const std::vector<Record> records = read();
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(to_line(records[0]), to_line(record("conv_a", 7, 900)));
  EXPECT_EQ(to_line(records[1]), to_line(record("conv_b", 0, 1000, true)));
  EXPECT_EQ(warnings_, "");
}

TEST_F(LogTest, ALineThatWasCutOffIsLeftOutAndOverwritten) {
  const std::string line = to_line(record("conv_a", 7, 900));
  write(line + "\n" + line.substr(0, 40));
  EXPECT_EQ(read().size(), 1U);
  EXPECT_NE(warnings_.find("cut off"), std::string::npos) << warnings_;
  Log(path_).add(to_line(record("conv_b", 5, 900)));
  EXPECT_EQ(read().size(), 2U);
}

TEST_F(LogTest, AWholeLastLineWithoutItsEndStays) {
  write(to_line(record("conv_a", 7, 900)));
  Log(path_).add(to_line(record("conv_b", 5, 900)));
  EXPECT_EQ(read().size(), 2U);
}

TEST_F(LogTest, ALineThatIsNoneIsNamed) {
  for (const char* bad : {"nonsense", "[1]", "{}", R"({"type":"trial"})", R"({"type":3})", "7"}) {
    write(to_line(record("conv_a", 7, 900)) + "\n" + bad + "\n" + to_line(record("conv_b", 7, 900)) + "\n");
    try {
      read();
      ADD_FAILURE() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      EXPECT_NE(std::string(e.what()).find("log.jsonl:2:"), std::string::npos) << e.what();
    }
  }
}

TEST_F(LogTest, AFileThatIsNoLogIsLeftAsItIs) {
  for (const char* text : {"my notes", "a model\nwithout an end", "{\"a\": 1"}) {
    write(text);
    EXPECT_THROW(read(), Error) << text;
    EXPECT_EQ(read_file(path_), text);
  }
  EXPECT_THROW(read_log("/dev/zero", {}), Error);
  EXPECT_THROW(Log("/dev/full"), Error);
}

TEST_F(LogTest, TimesAndNumbersThatAreNoneAreNamed) {
  const std::string good = to_line(record("conv_a", 7, 900));
  for (const auto& [from, to] : {std::pair("\"latency_ns\":900.0", "\"latency_ns\":-5"),
                                 {"\"default_ns\":1000.0", "\"default_ns\":0"},
                                 {"\"tile\":7", "\"tile\":7.5"},
                                 {"\"tile\":7", "\"tile\":1e300"},
                                 {"\"opt\":3", "\"opt\":4294967299"},
                                 {"{\"tile\":7}", "[1,2]"}}) {
    std::string bad = good;
    ASSERT_NE(bad.find(from), std::string::npos) << from << " " << good;
    write(bad.replace(bad.find(from), std::string(from).size(), to) + "\n");
    EXPECT_THROW(read(), Error) << to;
  }
}

TEST_F(LogTest, ParametersOfAnotherVersionAreLeftOut) {
  std::string unknown = to_line(record("conv_a", 7, 900)), value = unknown;
  unknown.replace(unknown.find("\"tile\""), 6, "\"warp\"");
  value.replace(value.find("\"tile\":7"), 8, "\"tile\":1000000007");
  write(unknown + "\n" + value + "\n" + to_line(record("conv_b", 7, 900)) + "\n");
  EXPECT_EQ(read().size(), 1U);
  EXPECT_NE(warnings_.find("2 lines"), std::string::npos) << warnings_;
}

TEST_F(LogTest, OneThatCannotBeWrittenSaysSo) { EXPECT_THROW(Log("/nowhere/at/all.jsonl"), Error); }

int64_t tile(const codegen::Schedules& schedules, const std::string& kernel) {
  const auto isa = schedules.find("avx2");
  if (isa == schedules.end() || isa->second.count(kernel) == 0) return -1;
  return isa->second.at(kernel).tile;
}

TEST(Schedules, AreTheLastChoiceElseTheFastestTrialThatGains) {
  std::vector<Record> records = {record("a", 4, 900), record("a", 5, 800),       record("a", 6, 850),
                                 record("b", 4, 500), record("b", 6, 950, true), record("b", 7, 400),
                                 record("c", 4, 990), record("d", 4, 500),       record("d", 0, 1000, true)};
  codegen::Schedules schedules = schedules_of(records, {"avx2"}, 3, cpu_name());
  EXPECT_EQ(tile(schedules, "a"), 5);
  EXPECT_EQ(tile(schedules, "b"), 6) << "a choice was measured again";
  EXPECT_EQ(tile(schedules, "c"), -1) << "1 % is noise";
  EXPECT_EQ(tile(schedules, "d"), -1) << "the default was chosen";
  records.push_back(record("b", 3, 700, true));
  EXPECT_EQ(tile(schedules_of(records, {"avx2"}, 3, cpu_name()), "b"), 3);
}

TEST(Schedules, AreOfThisProcessorInstructionSetAndLevel) {
  EXPECT_EQ(tile(schedules_of({record("a", 5, 800)}, {"x86-64", "avx2"}, 3, cpu_name()), "a"), 5);
  EXPECT_TRUE(schedules_of({record("a", 5, 800)}, {"avx512"}, 3, cpu_name()).empty());
  EXPECT_TRUE(schedules_of({record("a", 5, 800)}, {"avx2"}, 4, cpu_name()).empty());
  Record other = record("a", 5, 800);
  other.cpu = "Z80";
  EXPECT_TRUE(schedules_of({other}, {"avx2"}, 3, cpu_name()).empty());
}

}  // namespace
}  // namespace dnn::tune
