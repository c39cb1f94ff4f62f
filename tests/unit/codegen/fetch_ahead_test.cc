// Where prefetches stand, and what they ask for.
#include "codegen/fetch_ahead.h"

#include <gtest/gtest.h>

namespace dnn::codegen {
namespace {

using namespace loops;

constexpr int64_t kLine = 16;  // floats

// Two groups of three chunks of `depth` weights, each for six tiles and a narrower seventh: y[tile] += sum of w[group, chunk, i].
struct Nest {
  BufferRef w, y;
  Stmt body;
  explicit Nest(int64_t depth) {
    w = std::make_shared<Buffer>(Buffer{"w", DType::Float32, {2, 3, depth}, {}, Scope::Global});
    y = std::make_shared<Buffer>(Buffer{"y", DType::Float32, {7}, {}, Scope::Global});
    const auto tile = [&](const Expr& at) {
      return loop("i", depth, store(y, {at}, load(y, {at}) + load(w, {variable("g"), variable("c"), variable("i")})));
    };
    body = loop("g", 2, loop("c", 3, block({loop("t", 6, tile(variable("t"))), tile(Expr(6))})));
  }
  std::string with_fetches(const FetchLoops& loops) const { return to_text(fetch_ahead(body, loops, {w.get()})); }
};

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

// 14 lines in 7 runs are two each, the narrow last tile's among them; the run's number goes on there.
TEST(FetchAhead, SharesAreEvenOverAllTiles) {
  const std::string text = Nest(14 * kLine).with_fetches({"c", "g", "i", ""});
  EXPECT_EQ(count(text, "unrolled ahead < 2:"), 2) << text;
  EXPECT_NE(text.find("((0 + t * 1) * 2 + ahead) * 16"), std::string::npos) << text;
  EXPECT_NE(text.find("(6 * 2 + ahead) * 16"), std::string::npos) << text;  // six runs of two lines before it
}

// The next chunk lies behind this one; after the last comes the first of the next group.
TEST(FetchAhead, AfterTheLastChunkComesTheNextGroup) {
  EXPECT_EQ(count(Nest(64).with_fetches({"c", "g", "i", ""}), "select("), 0);  // where groups lie one behind the other
  Nest nest(64);
  const auto wide =
      std::make_shared<Buffer>(Buffer{"w", DType::Float32, {2, 5, 64}, {}, Scope::Global});  // room for two chunks
  nest.body = rewrite_expressions(
      nest.body, [&](const Expr& e) { return e->op == Op::Load && e->buffer == nest.w ? load(wide, e->args) : e; });
  nest.w = wide;
  EXPECT_NE(nest.with_fetches({"c", "g", "i", ""}).find("select(2 <= c, 192, 64)"), std::string::npos)
      << nest.with_fetches({"c", "g", "i", ""});
  EXPECT_EQ(count(nest.with_fetches({"c", "", "i", ""}), "select("), 0);
}

// Without chunks the next group is asked for, where it has a line for each run at least.
TEST(FetchAhead, AGroupOfFewLinesComesByItself) {
  const auto lines_of_a_group = [](int64_t depth) {
    return count(Nest(depth).with_fetches({"g", "g", "i", ""}), "prefetch");
  };
  EXPECT_EQ(lines_of_a_group(7 * kLine), 2);  // 21 lines, 21 runs
  EXPECT_EQ(lines_of_a_group(6 * kLine), 0);
}

TEST(FetchAhead, NoMoreThanCanBeOnTheirWay) {
  EXPECT_EQ(count(Nest(7 * 128 * kLine).with_fetches({"c", "g", "i", ""}), "prefetch"), 2);
  EXPECT_EQ(count(Nest(7 * 129 * kLine).with_fetches({"c", "g", "i", ""}), "prefetch"), 0);
}

}  // namespace
}  // namespace dnn::codegen
