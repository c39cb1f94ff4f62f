// Scheduling steps keep what a kernel computes: evaluated before and after, to the bit.
#include "loops/steps.h"

#include <gtest/gtest.h>

#include "loop_case.h"
#include "loops/simplify.h"

namespace dnn::loops {
namespace {

// y[i, j] = sum over k of a[i, k] * b[k, j], with a local accumulator.
struct MatMul {
  BufferRef a = global("a", {5, 7}), b = global("b", {7, 6}), y = global("y", {5, 6});
  Stmt body() const {
    const Expr i = variable("i"), j = variable("j"), k = variable("k");
    const BufferRef sum = local_buffer("sum", DType::Float32);
    Stmt reduce = loop("k", 7, store(sum, {}, load(sum, {}) + load(a, {i, k}) * load(b, {k, j})));
    Stmt one = block(
        {alloc(sum), store(sum, {}, constant(DType::Float32, 0)), std::move(reduce), store(y, {i, j}, load(sum, {}))});
    return loop("i", 5, loop("j", 6, std::move(one)));
  }
  std::vector<Tensor> arguments() const {
    std::vector<Tensor> tensors;
    for (const BufferRef& buffer : {a, b, y}) {
      Tensor t(DType::Float32, {element_count(buffer->shape)});
      for (int64_t n = 0; n < t.size(); ++n)
        t.mutable_data<float>()[n] = static_cast<float>((n * 37 + 11) % 23) / 7.0f - 1.5f;
      tensors.push_back(std::move(t));
    }
    return tensors;
  }
  Tensor result(const Stmt& stmt) const {
    Kernel kernel;
    kernel.name = "test";
    kernel.arguments = {a, b, y};
    kernel.body = stmt;
    std::vector<Tensor> tensors = arguments();
    evaluate(kernel, tensors);
    return tensors[2];
  }
};

TEST(Steps, SplitWithATail) {
  const MatMul m;
  const Stmt after = split(m.body(), "j", 4);
  EXPECT_EQ(loop_extent(after, "j_o"), 1);
  EXPECT_EQ(loop_extent(after, "j_t"), 2);
  EXPECT_TRUE(m.result(after).identical(m.result(m.body())));
}

TEST(Steps, JamMovesALoopInsideTheReduction) {
  const MatMul m;
  Stmt after = split(m.body(), "j", 3);
  after = jam(after, "j_i", LoopKind::Vector);
  const std::string text = to_text(after);
  EXPECT_NE(text.find("local sum: float32[3]"), std::string::npos) << text;
  EXPECT_LT(text.find("for k"), text.find("vector j_i < 3:\n        sum[j_i] = sum[j_i] +")) << text;
  EXPECT_TRUE(m.result(after).identical(m.result(m.body())));
}

TEST(Steps, ATileOfTwoLoops) {
  const MatMul m;
  Stmt after = split(split(m.body(), "i", 2), "j", 4);
  after = jam(after, "j_i", LoopKind::Vector);
  after = jam(after, "j_t", LoopKind::Vector);
  EXPECT_TRUE(m.result(simplify(after)).identical(m.result(m.body())));
}

TEST(Steps, SumsWaitInTheOutput) {
  const MatMul m;
  const Stmt chunks = split(m.body(), "k", 3);  // and a rest, which the last chunk is followed by
  ASSERT_TRUE(can_carry_sums(m.body(), "i", "k"));
  EXPECT_FALSE(can_carry_sums(m.body(), "i", "j"));
  EXPECT_FALSE(can_carry_sums(m.body(), "nothing", "k"));
  for (const char* outer : {"i", "j"}) {
    EXPECT_TRUE(m.result(carry_sums(m.body(), outer, "k")).identical(m.result(m.body()))) << outer;
    Stmt tiled = split(carry_sums(m.body(), outer, "k"), "j", 4);
    for (const char* v : {"j_i", "j_t"}) tiled = jam(tiled, v, LoopKind::Vector);
    EXPECT_TRUE(m.result(tiled).identical(m.result(m.body()))) << outer << to_text(tiled);
  }
  EXPECT_TRUE(m.result(carry_sums(chunks, "i", "k_o")).identical(m.result(m.body())));
}

TEST(Steps, SumsThatNeedMoreThanTheOutputStay) {
  const MatMul m;
  const Expr i = variable("i"), j = variable("j"), k = variable("k");
  const BufferRef sum = local_buffer("sum", DType::Float32), other = local_buffer("other", DType::Float32);
  const Stmt reduce = loop("k", 7, store(sum, {}, load(sum, {}) + load(m.a, {i, k}) * load(m.b, {k, j})));
  const Stmt zero = store(sum, {}, constant(DType::Float32, 0)), write = store(m.y, {i, j}, load(sum, {}));
  const auto can = [&](std::vector<Stmt> body) {
    return can_carry_sums(loop("i", 5, loop("j", 6, block(std::move(body)))), "i", "k");
  };
  EXPECT_TRUE(can({alloc(sum), zero, reduce, write}));
  EXPECT_FALSE(can({alloc(sum), alloc(other), zero, reduce, write}));  // a second local around the reduction
  EXPECT_FALSE(can({alloc(sum), zero, reduce, write, write}));         // two stores
  EXPECT_FALSE(can({alloc(sum), zero, reduce, loop("r", 2, write)}));  // one that is not there once
  EXPECT_FALSE(can({alloc(sum), zero, loop("k", 7, store(m.y, {i, j}, load(sum, {}))), write}));
}

TEST(Steps, SumsStartFromWhatIsAddedToThem) {
  const MatMul m;
  const Expr i = variable("i"), j = variable("j"), k = variable("k"), nothing = constant(DType::Float32, 0);
  const BufferRef sum = local_buffer("sum", DType::Float32);
  const Expr total = load(sum, {}), bias = load(m.b, {Expr(2), j}), residual = load(m.a, {i, j});
  const auto body = [&](const Expr& start, const Stmt& write) {
    const Stmt reduce = loop("k", 7, store(sum, {}, total + load(m.a, {i, k}) * load(m.b, {k, j})));
    return loop("i", 5, loop("j", 6, block({alloc(sum), store(sum, {}, start), reduce, write})));
  };
  const auto written = [&](const Expr& value) { return store(m.y, {i, j}, value); };
  const auto started = [&](const Stmt& s) { return to_text(start_sums(s, "i")); };
  EXPECT_EQ(started(body(nothing, written(max(nothing, total + bias)))),
            to_text(body(bias, written(max(nothing, total)))));
  // Of two, the first: the other is added as before.
  EXPECT_EQ(started(body(nothing, written((total + bias) + load(m.b, {Expr(3), j})))),
            to_text(body(bias, written(total + load(m.b, {Expr(3), j})))));
  // What hangs on i is added as before, in whichever order.
  EXPECT_EQ(started(body(nothing, written(residual + (bias + total)))), to_text(body(bias, written(residual + total))));
  const Stmt as_they_are[] = {
      body(nothing, written(total + residual)),                 // hangs on i
      body(nothing, written((total + bias) * total)),           // a second use
      body(bias, written(total + bias)),                        // starts from something
      body(nothing, written(total * bias)),                     // no sum
      body(nothing, written(total + load(m.y, {Expr(0), j}))),  // reads what is stored
      body(nothing, block({store(sum, {}, total + bias), written(total)})),
      body(nothing, loop("r", 1, written(total + load(m.b, {variable("r"), j})))),  // e hangs on a loop behind the sum
      body(nothing, if_then(j < 3, written(total + bias))),  // e may lie outside where that fails
      body(nothing, written(select(j < 3, total + bias, nothing))),
  };
  for (const Stmt& s : as_they_are) EXPECT_EQ(started(s), to_text(s));
  const Stmt after = start_sums(body(nothing, written(total + bias)), "i");
  EXPECT_LT(to_text(after).find("sum = b[2, j]"), to_text(after).find("for k < 7"));
  EXPECT_TRUE(m.result(jam(split(after, "j", 4), "j_i", LoopKind::Vector)).identical(m.result(after)));
}

TEST(Steps, PrefetchesChangeNothing) {
  const MatMul m;
  const Stmt ahead = prefetch(m.b, {variable("i") + 100, Expr(0)}, variable("i") * 16, Fetch::Second);
  const Stmt after = at_loop(m.body(), "j", [&](const Stmt& l) { return block({ahead, l}); });
  EXPECT_TRUE(m.result(simplify(after)).identical(m.result(m.body())));
  EXPECT_NE(to_text(simplify(after)).find("prefetch b[i + 100, 0] + i * 16"), std::string::npos) << to_text(after);
}

TEST(Steps, ReorderFuseAndPartition) {
  const MatMul m;
  const Tensor expected = m.result(m.body());
  EXPECT_TRUE(m.result(reorder(m.body(), {"j", "i"})).identical(expected));
  EXPECT_TRUE(m.result(fuse(m.body(), "i", "j")).identical(expected));
  EXPECT_TRUE(m.result(simplify(fuse(m.body(), "i", "j"))).identical(expected));
  EXPECT_TRUE(m.result(partition(m.body(), "i", 2)).identical(expected));
  EXPECT_THROW(reorder(m.body(), {"k", "i"}), Error);
}

TEST(Steps, OverlappingSplitDoesTheLastOnesAgain) {
  const MatMul m;
  const int64_t extent = loop_extent(m.body(), "i");
  const Stmt after = split_overlapping(m.body(), "i", extent - 1);
  EXPECT_EQ(loop_extent(after, "i_t"), extent - 1) << to_text(after);
  EXPECT_TRUE(m.result(after).identical(m.result(m.body())));
  EXPECT_TRUE(m.result(simplify(after)).identical(m.result(m.body())));
  EXPECT_EQ(loop_extent(split_overlapping(m.body(), "i", extent), "i_t"), 0);
  EXPECT_THROW(split_overlapping(m.body(), "i", extent + 1), Error);
}

TEST(Steps, PaddedSplitNeedsRoom) {
  const MatMul m;
  EXPECT_FALSE(room_for_padding(m.body(), "j", 4));
  EXPECT_TRUE(room_for_padding(m.body(), "j", 3));
  EXPECT_THROW(split_padded(m.body(), "j", 4), Error);
}

TEST(Steps, PaddedSplitReadsBordersButKeepsThem) {
  const BufferRef bordered = global("a", {2, 6}, "h1+1+2"), blocked = global("b", {2, 6}, "1/4");
  const auto copy = [](const BufferRef& from, const BufferRef& to) {
    const Expr i = variable("i"), j = variable("j");
    return loop("i", 2, loop("j", 6, store(to, {i, j}, load(from, {i, j}))));
  };
  EXPECT_TRUE(room_for_padding(copy(bordered, blocked), "j", 4));
  EXPECT_FALSE(room_for_padding(copy(blocked, bordered), "j", 4));
}

TEST(Steps, InlineConsumerComputesASharedValueOnce) {
  const MatMul m;
  const BufferRef z = global("z", {5, 6});
  const Expr d0 = variable("d0"), d1 = variable("d1");
  const Expr t = load(m.y, {d0, d1});
  const Stmt square = loop("d0", 5, loop("d1", 6, store(z, {d0, d1}, t * t)));
  ASSERT_TRUE(can_inline_consumer(m.y, square));
  const Stmt fused = inline_consumer(m.body(), m.y, square);
  Kernel kernel;
  kernel.name = "fused";
  kernel.arguments = {m.a, m.b, z};
  kernel.body = fused;
  std::vector<Tensor> tensors = m.arguments();
  evaluate(kernel, tensors);
  const Tensor product = m.result(m.body());
  for (int64_t i = 0; i < product.size(); ++i) {
    EXPECT_EQ(tensors[2].data<float>()[i], product.data<float>()[i] * product.data<float>()[i]);
  }
  // Reading the neighbour's element cannot be inlined.
  const Stmt shifted = loop("d0", 5, loop("d1", 6, store(z, {d0, d1}, load(m.y, {d1, d0}))));
  EXPECT_FALSE(can_inline_consumer(m.y, shifted));
}

TEST(Simplify, ResolvesBlocksUnderRanges) {
  const Ranges ranges = {{"o", {0, 3}}, {"i", {0, 15}}};
  const Expr flat = variable("o") * 16 + variable("i");
  EXPECT_EQ(to_text(simplify(floordiv(flat, 16), ranges)), "o");
  EXPECT_EQ(to_text(simplify(floormod(flat, 16), ranges)), "i");
  EXPECT_EQ(to_text(simplify(floordiv(flat, 16) * 16 + floormod(flat, 16), {})), "i + o * 16");
  EXPECT_EQ(to_text(simplify(flat < 64, ranges)), "1");
  EXPECT_EQ(to_text(simplify(flat < 63, ranges)), "i + o * 16 < 63");
  int64_t step = 0;
  EXPECT_TRUE(linear_coefficient(flat, "o", ranges, &step));
  EXPECT_EQ(step, 16);
  EXPECT_FALSE(linear_coefficient(floordiv(variable("i"), 3), "i", ranges, &step));
}

TEST(Simplify, NegativeHaloIndicesDivideDown) {
  const Ranges ranges = {{"h", {0, 7}}};
  EXPECT_EQ(to_text(simplify(floordiv(variable("h") * 4 - 4, 4), ranges)), "h - 1");
}

TEST(Layout, PacksAndUnpacks) {
  const Shape shape = {2, 5, 3, 4};
  Tensor t(DType::Float32, shape);
  for (int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = static_cast<float>(i);
  for (const char* text : {"", "1/4", "1/4,h2+1+2", "p0.2.3.1", "1/2,0/2"}) {
    const Layout layout = Layout::parse(text);
    EXPECT_EQ(layout.text(), text);
    EXPECT_TRUE(unpack(pack(t, layout), shape, layout).identical(t)) << text;
  }
  const Layout blocked = Layout::parse("1/4,h2+1+2");
  EXPECT_EQ(blocked.element_count(shape), 2 * 2 * 6 * 4 * 4);
  EXPECT_EQ(blocked.capacity(shape, 1), 8);
  EXPECT_THROW(Layout::parse("1/x"), Error);
}

}  // namespace
}  // namespace dnn::loops
