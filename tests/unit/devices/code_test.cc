// Objects of code as a compiler makes them: they run, with no more rights than they need, and what asks for more is refused by name.
#include "devices/code.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

namespace dnn {
namespace {

std::string object_of(const std::string& text, const std::vector<std::string>& options = {}) {
  TemporaryFolder folder(testing::TempDir());
  write_file(folder.path() + "/k.c", text);
  std::vector<std::string> command = {"cc",  "-O2", "-fPIC", "-shared", "-s", "-Wl,--hash-style=gnu",
                                      "k.c", "-o",  "k.so"};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("-lm");
  const ProcessResult made = run_process(command, folder.path(), 60);
  EXPECT_EQ(made.exit_code, 0) << made.output;
  return read_file(folder.path() + "/k.so");
}

std::string refusal(const std::string& object) {
  try {
    LoadedCode code(object);
    code.start();
    code.function("f");
    return "";
  } catch (const Error& error) {
    EXPECT_TRUE(error.kind() == ErrorKind::Malformed || error.kind() == ErrorKind::Unsupported);
    return error.what();
  }
}

// Calls through the table of calls, addresses in data, what is zero before the first run, and a preparation.
constexpr const char* kText = R"(
#include <math.h>
#include <string.h>
static float (*const table[])(float) = {expf, tanhf};
static int runs, prepared;
static char bytes[5000];
__attribute__((constructor)) static void prepare(void) { prepared = 7; }
float f(float x, int which) { ++runs; memset(bytes, which, sizeof bytes); return table[which](x) + sinf(x) + bytes[4999] * 100; }
int state(void) { return 10 * prepared + runs; }
)";

TEST(Code, Runs) {
  const LoadedCode code(object_of(kText));
  code.start();
  const auto f = reinterpret_cast<float (*)(float, int)>(code.function("f"));
  const auto state = reinterpret_cast<int (*)()>(code.function("state"));
  EXPECT_EQ(state(), 70);
  EXPECT_EQ(f(0.5F, 0), std::exp(0.5F) + std::sin(0.5F));
  EXPECT_EQ(f(0.5F, 1), std::tanh(0.5F) + std::sin(0.5F) + 100);
  EXPECT_EQ(state(), 72);
  EXPECT_THROW(code.function("g"), Error);
}

TEST(Code, EachCopyHasItsOwnData) {
  const std::string object = object_of(kText);
  const LoadedCode one(object), other(object);
  one.start();
  other.start();
  reinterpret_cast<float (*)(float, int)>(one.function("f"))(1, 0);
  EXPECT_EQ(reinterpret_cast<int (*)()>(one.function("state"))(), 71);
  EXPECT_EQ(reinterpret_cast<int (*)()>(other.function("state"))(), 70);
}

TEST(Code, IsNeverWritableAndExecutable) {
  const LoadedCode code(object_of(kText));
  std::ifstream maps("/proc/self/maps");
  bool executable = false;
  for (std::string line; std::getline(maps, line);) {
    EXPECT_EQ(line.find(" rwx"), std::string::npos) << line;
    executable = executable || line.find(" r-xp 00000000 00:00 0") != std::string::npos;
  }
  EXPECT_TRUE(executable);
}

TEST(Code, RefusesWhatKernelsDoNotNeed) {
  EXPECT_NE(
      refusal(object_of("int system(const char*); int f(void) { return system(\"true\"); }")).find("calls system"),
      std::string::npos);
  EXPECT_NE(refusal(object_of("static __thread int x; int f(void) { return x++; }")).find("memory of each thread"),
            std::string::npos);
  EXPECT_NE(refusal(object_of("int f(void) { return 1; }", {"-nostdlib", "-Wl,-N"})).find("writable and executable"),
            std::string::npos);
  EXPECT_NE(refusal(object_of("int g(void) { return 1; }")).find("lacks kernel f"), std::string::npos);
  EXPECT_EQ(refusal(object_of("int f(void) { return 1; }")), "");
}

TEST(Code, RefusesDamage) {
  const std::string object = object_of("int f(void) { return 1; }");
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("no ELF file at all, though it is long enough to hold the head of one, which has 64 bytes"), "");
  EXPECT_NE(refusal(object.substr(0, object.size() / 2)), "");
  std::string other = object;
  other[18] = 8;  // MIPS
  EXPECT_NE(refusal(other).find("another architecture"), std::string::npos);
}

}  // namespace
}  // namespace dnn
