// Rows of CSV hold names of others as text.
#include "base/rows.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace dnn::words {
namespace {

TEST(Rows, NamesAreNoFormulas) {
  for (const char* name : {"=1+2", "+x", "-x", "@sum", "-1+2"}) EXPECT_EQ(csv_field(name), cat("'", name));
  EXPECT_EQ(csv_field("=a(1,\"b\")"), "\"'=a(1,\"\"b\"\")\"");
  EXPECT_EQ(csv_field("\t=1"), "'\\u{9}=1");
  EXPECT_EQ(csv_field("a\n=1"), "a\\u{A}=1");
  for (const char* same : {"", "net=1.yaml", "-1.5", "-inf", "-nan", "0"}) EXPECT_EQ(csv_field(same), same);
  EXPECT_EQ(csv_line({"-2", "=x", "a,b"}), "-2,'=x,\"a,b\"\n");
}

}  // namespace
}  // namespace dnn::words
