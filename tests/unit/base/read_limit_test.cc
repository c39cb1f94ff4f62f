// Limits of reading: a planted reader that wants more memory or time than its file is worth is stopped, whatever it does.
#include "base/read_limit.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/error.h"
#include "base/file.h"
#include "base/sanitized.h"

namespace dnn {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// Takes so much and gives it back.
void take(size_t bytes) {
  const std::unique_ptr<char[]> taken(new char[bytes]);
  static volatile char used = 'x';
  std::memset(taken.get(), used, bytes);
}

class ReadLimit : public ::testing::Test {
 protected:
  ReadLimit() {
    ::getrlimit(RLIMIT_DATA, &before_);
    limit_reading({});
  }
  ~ReadLimit() override {
    rlimit now{};
    ::getrlimit(RLIMIT_DATA, &now);
    EXPECT_EQ(now.rlim_cur, before_.rlim_cur) << "the limit stays";
    take(600 * kMiB);
  }
  rlimit before_{};
};

std::string refusal_of(uint64_t file_bytes, const std::function<void()>& read) {
  try {
    read_within_limits(file_bytes, "x", read);
    return "";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    return error.what();
  }
}

TEST_F(ReadLimit, GivesMemoryByTheSizeOfTheFile) {
#ifdef DNN_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory counts, too";
#endif
  EXPECT_EQ(refusal_of(100, [] { take(200 * kMiB); }), "");
  EXPECT_EQ(refusal_of(100, [] { take(400 * kMiB); }),
            "to read it takes more than 269 MB of memory, which is 4 times its size and 256 MiB; --max-memory BYTES "
            "allows more");
  EXPECT_EQ(refusal_of(50 * kMiB, [] { take(400 * kMiB); }), "");
  limit_reading({700 * kMiB, 0});
  EXPECT_EQ(refusal_of(100, [] { take(600 * kMiB); }), "");
  EXPECT_NE(refusal_of(100, [] { take(800 * kMiB); }).find("more than 735 MB of memory; --max-memory"),
            std::string::npos);
  EXPECT_EQ(read_memory_limit(), 700 * kMiB);
}

TEST_F(ReadLimit, CountsFilesThatAreReadMeanwhileOnce) {
#ifdef DNN_SANITIZED
  GTEST_SKIP() << "a sanitizer's own memory counts, too";
#endif
  const TemporaryFolder folder(::testing::TempDir());
  write_file(folder.path() + "/beside", std::string(40 * kMiB, 'x'));
  const auto open = [&] { const MappedFile file(folder.path() + "/beside"); };
  EXPECT_NE(refusal_of(100, [] { take(380 * kMiB); }), "");
  EXPECT_EQ(refusal_of(100, [&] { open(), take(380 * kMiB); }), "");
  EXPECT_NE(refusal_of(100, [&] { open(), open(), open(), take(500 * kMiB); }), "");
}

TEST_F(ReadLimit, PassesOnWhatIsThrown) {
  EXPECT_THROW(read_within_limits(1, "x", [] { fail_malformed("as read"); }), Error);
  int inner = 0;
  read_within_limits(1, "x", [&] { read_within_limits(1, "y", [&] { inner = 1; }); });
  EXPECT_EQ(inner, 1);
}

void spin() {
  for (;;) ::getpid();
}

TEST_F(ReadLimit, EndsAReaderThatTakesItsTime) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        limit_reading({0, 0.2});
        read_within_limits(1, "x", [] { spin(); });
      },
      ::testing::KilledBySignal(SIGXCPU), "");
}

}  // namespace
}  // namespace dnn
