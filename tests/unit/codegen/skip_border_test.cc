// Products with a border's zeros are left out: all of them, and no others.
#include "codegen/skip_border.h"

#include <gtest/gtest.h>

#include <limits>

#include "loop_case.h"

namespace dnn::codegen {
namespace {

using namespace loops;

// Along one axis: extents, taps, and where they lie.
struct Axis {
  int64_t in, out, taps, stride, dilation, low, high;
};

// y[r, c] = sum over taps and 2 channels of x * w, or the largest x, in tiles of `tile` columns.
struct Window {
  Axis rows, columns;
  int64_t tile;

  BufferRef x = global("x", {2, rows.in, columns.in},
                       cat("h1+", rows.low, "+", rows.high, ",h2+", columns.low, "+", columns.high));
  BufferRef w = global("w", {2, rows.taps, columns.taps}), y = global("y", {rows.out, columns.out});

  Kernel kernel(bool largest = false) const {
    const Expr c = variable("c"), k0 = variable("k0"), k1 = variable("k1"), i = variable("i"),
               column = variable("o1_o") * tile + i;
    const BufferRef t = local_buffer("t", DType::Float32, {tile});
    const Expr read = load(x, {c, variable("o0") * rows.stride + k0 * rows.dilation - rows.low,
                               column * columns.stride + k1 * columns.dilation - columns.low});
    const Expr next = largest ? max(load(t, {i}), read) : load(t, {i}) + read * load(w, {c, k0, k1});
    const auto each = [&](const Stmt& s) { return loop("i", tile, s, LoopKind::Unrolled); };
    Stmt taps = loop("k0", rows.taps, loop("k1", columns.taps, loop("c", 2, each(store(t, {i}, next)))));
    Stmt body = block({alloc(t), each(store(t, {i}, constant(DType::Float32, 0))), taps,
                       each(store(y, {variable("o0"), column}, load(t, {i})))});
    body = loop("o0", rows.out, loop("o1_o", columns.out / tile, std::move(body)));
    return {"window", "", "conv", {y, x, w}, std::move(body)};
  }

  // y where x's border holds `border`.
  Tensor result(const Kernel& kernel, float border) const {
    std::vector<Tensor> arguments = {Tensor(DType::Float32, y->shape), filled(*x), filled(*w)};
    Tensor ones(DType::Float32, x->shape);
    for (int64_t n = 0; n < ones.size(); ++n) ones.mutable_data<float>()[n] = 1;
    const Tensor inside = pack(ones, x->layout);
    for (int64_t n = 0; n < inside.size(); ++n) {
      if (inside.data<float>()[n] == 0) arguments[1].mutable_data<float>()[n] = border;
    }
    evaluate(kernel, arguments);
    return arguments[0];
  }

 private:
  static Tensor filled(const Buffer& buffer) {
    Tensor t(DType::Float32, buffer.shape);
    for (int64_t n = 0; n < t.size(); ++n) t.mutable_data<float>()[n] = static_cast<float>((n * 37 + 11) % 23 - 11);
    return pack(t, buffer.layout);
  }
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(SkipBorder, NoProductReadsIt) {
  const Axis same3{7, 7, 3, 1, 1, 1, 1}, one{7, 7, 1, 1, 1, 0, 0};
  const Window windows[] = {
      {same3, same3, 7},                                    // a tile is a row
      {same3, {12, 12, 3, 1, 1, 1, 1}, 4},                  // first, middle and last tiles
      {one, {17, 17, 7, 1, 1, 3, 3}, 17},                   // up to three columns
      {{17, 17, 7, 1, 1, 3, 3}, one, 7},                    // rows alone
      {{14, 7, 3, 2, 1, 1, 0}, {14, 7, 3, 2, 1, 1, 0}, 7},  // stride 2: before the tensor alone
      {{13, 7, 5, 2, 1, 2, 2}, {13, 7, 5, 2, 1, 2, 2}, 7},  // and two columns, of which one is left out
      {{9, 9, 3, 1, 2, 2, 2}, {9, 9, 3, 1, 2, 2, 2}, 3},    // dilated
      {{6, 6, 5, 1, 1, 2, 2}, {6, 6, 5, 1, 1, 2, 2}, 1},    // tiles of a column, of which nothing is left
      {{2, 2, 3, 1, 1, 1, 1}, {2, 2, 3, 1, 1, 1, 1}, 2},    // more taps than columns
      {{4, 6, 4, 1, 1, 0, 5}, {8, 9, 5, 1, 1, 4, 1}, 3},    // rows, and a tile of all columns, in the border
  };
  for (const Window& window : windows) {
    const Kernel before = window.kernel();
    Kernel after = before;
    after.body = skip_border(before.body, "c");
    EXPECT_TRUE(window.result(after, kNan).identical(window.result(before, 0))) << to_text(after);
    EXPECT_FALSE(window.result(before, kNan).identical(window.result(before, 0)));  // what the test rests on
  }
}

TEST(SkipBorder, AllElseStays) {
  const auto unchanged = [](const Window& window, bool largest) {
    const Stmt body = window.kernel(largest).body;
    return to_text(skip_border(body, "c")) == to_text(body);
  };
  const Axis same{7, 7, 3, 1, 1, 1, 1}, valid{7, 5, 3, 1, 1, 0, 0}, wide{7, 5, 3, 1, 1, 1, 1};
  EXPECT_TRUE(unchanged({same, same, 7}, true));     // a border that is no zero summand
  EXPECT_TRUE(unchanged({valid, valid, 5}, false));  // no border
  EXPECT_FALSE(unchanged({same, valid, 5}, false));
  EXPECT_FALSE(unchanged({valid, same, 7}, false));
  EXPECT_FALSE(unchanged({wide, wide, 5}, false));
}

}  // namespace
}  // namespace dnn::codegen
