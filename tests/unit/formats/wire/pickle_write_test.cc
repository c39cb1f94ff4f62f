// Pickles byte by byte, as pickletools names the opcodes.
#include "formats/wire/pickle_write.h"

#include <gtest/gtest.h>

namespace dnn::pickle {
namespace {

using namespace std::string_literals;

TEST(PickleWriter, IntegersTakeTheSmallestOpcode) {
  const auto written = [](int64_t value) {
    Writer writer;
    writer.integer(value);
    return writer.finish();
  };
  EXPECT_EQ(written(0), "\x80\2K\0."s);
  EXPECT_EQ(written(255), "\x80\2K\xff."s);
  EXPECT_EQ(written(256), "\x80\2M\0\1."s);
  EXPECT_EQ(written(65536), "\x80\2J\0\0\1\0."s);
  EXPECT_EQ(written(-1), "\x80\2J\xff\xff\xff\xff."s);
  EXPECT_EQ(written(INT32_MAX), "\x80\2J\xff\xff\xff\x7f."s);
  EXPECT_EQ(written(int64_t{1} << 32), "\x80\2\x8a\x08\0\0\0\0\1\0\0\0."s);
  EXPECT_EQ(written(INT64_MIN), "\x80\2\x8a\x08\0\0\0\0\0\0\0\x80."s);
}

TEST(PickleWriter, AnObjectWithState) {
  Writer writer;
  writer.global("__torch__", "Net");
  writer.empty_tuple();
  writer.new_object();
  writer.empty_dict();
  writer.mark();
  writer.string("a.\xc3\xa4");
  writer.boolean(true);
  writer.string("b");
  writer.none();
  writer.set_items();
  writer.build();
  EXPECT_EQ(writer.finish(), "\x80\2c__torch__\nNet\n)\x81}(X\4\0\0\0a.\xc3\xa4\x88X\1\0\0\0bNub."s);
}

TEST(PickleWriter, PersistentIdsAndCalls) {
  Writer writer;
  writer.global("torch", "f");
  writer.mark();
  writer.mark();
  writer.string("storage");
  writer.tuple();
  writer.persistent();
  writer.boolean(false);
  writer.tuple();
  writer.reduce();
  EXPECT_EQ(writer.finish(), "\x80\2ctorch\nf\n((X\7\0\0\0storagetQ\x89tR."s);
}

}  // namespace
}  // namespace dnn::pickle
