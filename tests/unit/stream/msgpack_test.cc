// Our msgpack codec against msgpack-cxx as an independent judge, and against damaged bytes.
#define MSGPACK_NO_BOOST
#include "stream/msgpack.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <msgpack.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace dnn::stream {
namespace {

std::string encoded(const Json& value) {
  std::string bytes;
  msgpack_encode(value, &bytes);
  return bytes;
}

template <class T>
T judged(const std::string& bytes) {
  return msgpack::unpack(bytes.data(), bytes.size()).get().as<T>();
}

template <class T>
std::string judge_packs(const T& value) {
  msgpack::sbuffer buffer;
  msgpack::pack(buffer, value);
  return std::string(buffer.data(), buffer.size());
}

TEST(Msgpack, IntegersAtEveryBoundaryMatchTheJudgeByteForByte) {
  for (int bits = 0; bits < 64; ++bits) {
    for (int64_t delta : {-1, 0, 1}) {
      const auto value = static_cast<int64_t>((uint64_t{1} << bits) + static_cast<uint64_t>(delta));
      const auto negative = static_cast<int64_t>(~static_cast<uint64_t>(value) + 1);
      for (int64_t v : {value, negative}) {
        EXPECT_EQ(encoded(v), judge_packs(v)) << v;
        EXPECT_EQ(msgpack_decode(as_bytes(judge_packs(v))).get<int64_t>(), v);
      }
    }
  }
  const uint64_t largest = std::numeric_limits<uint64_t>::max();
  EXPECT_EQ(encoded(largest), judge_packs(largest));
  EXPECT_EQ(msgpack_decode(as_bytes(encoded(largest))).get<uint64_t>(), largest);
}

TEST(Msgpack, TextAndBytesOfEveryLengthClassMatchTheJudge) {
  for (size_t n : {0, 1, 31, 32, 255, 256, 65535, 65536}) {
    const std::string text(n, 'x');
    EXPECT_EQ(encoded(text), judge_packs(text)) << n;
    EXPECT_EQ(msgpack_decode(as_bytes(judge_packs(text))).get<std::string>(), text);
    const std::vector<uint8_t> bytes(n, 0xc1);
    const std::vector<char> same(n, '\xc1');
    EXPECT_EQ(encoded(Json::binary(bytes)), judge_packs(same)) << n;
    EXPECT_EQ(msgpack_decode(as_bytes(judge_packs(same))).get_binary(), Json::binary_t(bytes));
  }
}

TEST(Msgpack, ContainersOfEveryLengthClassMatchTheJudge) {
  for (size_t n : {0, 1, 15, 16, 65535, 65536}) {
    const std::vector<int> elements(n, 7);
    EXPECT_EQ(encoded(elements), judge_packs(elements)) << n;
    EXPECT_EQ(msgpack_decode(as_bytes(judge_packs(elements))).size(), n);
  }
  for (size_t n : {0, 1, 15, 16, 70000}) {
    std::map<std::string, int> map;
    for (size_t i = 0; i < n; ++i) map["k" + std::to_string(i)] = static_cast<int>(i);
    const Json read = msgpack_decode(as_bytes(judge_packs(map)));
    ASSERT_EQ(read.size(), n);
    if (n == 70000) continue;  // ordered_json's own constructor is quadratic
    EXPECT_EQ((judged<std::map<std::string, int>>(encoded(read))), map);
  }
}

TEST(Msgpack, FloatsKeepTheirBitsAndUseFourBytesWhenTheyCan) {
  for (double v : {0.0, -0.0, 1.5, 0.1f + 0.0, 0.1, 1e300, std::numeric_limits<double>::infinity(), 5e-324}) {
    const std::string bytes = encoded(v);
    EXPECT_EQ(bytes.size(), static_cast<double>(static_cast<float>(v)) == v ? 5u : 9u) << v;
    const double read = msgpack_decode(as_bytes(bytes)).get<double>();
    EXPECT_EQ(std::memcmp(&read, &v, sizeof v), 0) << v;
    EXPECT_EQ(judged<double>(bytes), v);
  }
  EXPECT_TRUE(std::isnan(msgpack_decode(as_bytes(encoded(std::nan("")))).get<double>()));
}

TEST(Msgpack, ExtensionTypesReadAsNull) {
  EXPECT_TRUE(msgpack_decode(as_bytes(std::string("\xd6\x05"
                                                  "1234")))
                  .is_null());
  EXPECT_TRUE(msgpack_decode(as_bytes(std::string("\xc7\x03\x05"
                                                  "123")))
                  .is_null());
}

TEST(Msgpack, EveryPrefixOfAValueIsIncompleteAndAsksForNoMoreThanTheWhole) {
  const std::string bytes =
      encoded({{"type", "x"}, {"data", Json::binary(std::vector<uint8_t>(300))}, {"a", {1, 2.5, nullptr, -70000}}});
  for (size_t n = 0; n < bytes.size(); ++n) {
    MsgpackScanner scanner;
    EXPECT_FALSE(scanner.complete(as_bytes(bytes.substr(0, n)))) << n;
    EXPECT_LE(scanner.size(), bytes.size());
    EXPECT_THROW(msgpack_decode(as_bytes(bytes.substr(0, n))), Error) << n;
  }
  MsgpackScanner piecewise;
  for (size_t n = 0; n < bytes.size(); ++n) EXPECT_FALSE(piecewise.complete(as_bytes(bytes.substr(0, n))));
  EXPECT_TRUE(piecewise.complete(as_bytes(bytes)));
  EXPECT_EQ(piecewise.size(), bytes.size());
}

TEST(Msgpack, LimitsAreCheckedBeforeAnythingIsAllocated) {
  EXPECT_THROW(MsgpackScanner().complete(as_bytes(std::string("\xc6\xff\xff\xff\xff", 5))), Error);  // 4 GiB of bytes
  EXPECT_THROW(MsgpackScanner().complete(as_bytes(std::string("\xdd\xff\xff\xff\xff", 5))), Error);  // 2^32 elements
  EXPECT_THROW(MsgpackScanner().complete(as_bytes(std::string("\xdf\x7f\xff\xff\xff", 5))), Error);  // 2^31 pairs
  EXPECT_THROW(MsgpackScanner().complete(as_bytes(std::string(40, '\x91'))), Error);                 // 40 levels
  EXPECT_THROW(MsgpackScanner().complete(as_bytes(std::string("\xc1"))), Error);                     // never used
  EXPECT_THROW(msgpack_decode(as_bytes(std::string("\x81\x01\x02"))), Error);                        // key not text
  EXPECT_THROW(msgpack_decode(as_bytes(std::string("\x01\x02"))), Error);                            // two values
}

}  // namespace
}  // namespace dnn::stream
