// Texts of parts: what a stream would print of each.
#include "base/text.h"

#include <gtest/gtest.h>

#include <limits>
#include <ostream>

namespace dnn {
namespace {

// The text of `value` when operator<< prints it.
template <class T>
std::string printed(const T& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

template <class... T>
void expect_as_printed(const T&... values) {
  const auto same = [](const auto& value) { EXPECT_EQ(cat(value), printed(value)); };
  (same(values), ...);
}

enum Unscoped { kThird = 3 };

struct Own {
  int x;
};

std::ostream& operator<<(std::ostream& out, const Own& own) { return out << "own " << own.x; }

TEST(Text, PartsAreWhatAStreamPrints) {
  const std::string text = "text";
  char letters[] = "letters";
  char* const pointer = letters;
  expect_as_printed("literal", text, std::string_view(text), letters, pointer, 'c', true, false, kThird, Own{7});
  expect_as_printed(static_cast<signed char>('s'), static_cast<unsigned char>('u'), static_cast<short>(-3),
                    static_cast<unsigned short>(3), 0, -1, 1U, 2L, 3UL, std::numeric_limits<int64_t>::min(),
                    std::numeric_limits<uint64_t>::max(), size_t{0});
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  expect_as_printed(0.0, -0.0, 1.0, 0.1F, 1.0 / 3, 1e-5, 123456.0, 1234567.0, 1e21, -1.5e-300, 5e-324, inf, -inf, nan,
                    std::numeric_limits<float>::max());
}

TEST(Text, IsItsPartsOneAfterAnother) {
  EXPECT_EQ(cat(), "");
  EXPECT_EQ(cat("a", 1, 'b', 2.5, Own{3}, std::string("c")), "a1b2.5own 3c");
  EXPECT_EQ(join(std::vector<Own>{{1}, {2}}), "own 1, own 2");
  EXPECT_EQ(join(std::vector<bool>{true, false}, ""), "10");
}

}  // namespace
}  // namespace dnn
