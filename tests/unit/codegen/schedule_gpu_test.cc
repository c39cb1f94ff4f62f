// GPU schedules keep what a kernel computes to the bit, in whatever tile: evaluated before and after.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

#include "codegen/print.h"
#include "codegen/schedule.h"
#include "loop_case.h"
#include "loops/simplify.h"
#include "machine_case.h"

namespace dnn::codegen {
namespace {

using namespace loops;

Tensor normal(const Shape& shape, uint32_t seed) {
  Tensor t(DType::Float32, shape);
  std::mt19937 engine(seed);
  std::normal_distribution<float> distribution;
  for (int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = distribution(engine);
  return t;
}

// The kernel's first argument after a run, as a logical tensor; it held NaNs before, all others normal().
Tensor gpu_result(const Kernel& kernel) {
  std::vector<Tensor> arguments;
  for (const BufferRef& b : kernel.arguments)
    arguments.push_back(pack(normal(b->shape, static_cast<uint32_t>(arguments.size())), b->layout));
  for (int64_t i = 0; i < arguments[0].size(); ++i) arguments[0].mutable_data<float>()[i] = NAN;
  evaluate(kernel, arguments);
  return unpack(arguments[0], kernel.arguments[0]->shape, kernel.arguments[0]->layout);
}

// A convolution of stride 2 with padding as guards, in groups, its bias and a gate behind it.
struct Convolution {
  int64_t batch, groups, channels, maps, side, taps;

  Kernel kernel() const {
    const int64_t out = (side - 1) / 2 + 1, pad = taps / 2;
    const BufferRef y = global("y", {batch, groups * maps, out, out}),
                    x = global("x", {batch, groups * channels, side, side}),
                    w = global("w", {groups * maps, channels, taps, taps}), bias = global("bias", {groups * maps});
    const Expr n = variable("n"), g = variable("g"), m = variable("m"), c = variable("c"), o0 = variable("o0"),
               o1 = variable("o1"), k0 = variable("k0"), k1 = variable("k1"), map = g * maps + m,
               top = o0 * 2 + k0 - pad, left = o1 * 2 + k1 - pad;
    const BufferRef sum = local_buffer("sum", DType::Float32), t = local_buffer("t", DType::Float32);
    const Expr value = select(top >= 0 && top < side && left >= 0 && left < side,
                              load(x, {n, g * channels + c, top, left}), constant(DType::Float32, 0));
    Stmt reduce = store(sum, {}, load(sum, {}) + value * load(w, {map, c, k0, k1}));
    reduce = loop("c", channels, loop("k0", taps, loop("k1", taps, std::move(reduce))));
    Stmt body = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)), std::move(reduce), alloc(t),
                       store(t, {}, load(sum, {}) + load(bias, {map})),
                       store(y, {n, map, o0, o1}, load(t, {}) * max(constant(DType::Float32, 0), load(t, {})))});
    body = loop("n", batch, loop("g", groups, loop("m", maps, loop("o0", out, loop("o1", out, std::move(body))))));
    return {"conv_test", "", "conv", {y, x, w, bias}, std::move(body)};
  }
};

// y[b, i, j] = sum over k of a[b, i, k] * b[b, k, j], or of b[b, j, k].
Kernel product(int64_t batch, int64_t rows, int64_t depth, int64_t columns, bool turned) {
  const BufferRef y = global("y", {batch, rows, columns}), a = global("a", {batch, rows, depth}),
                  b = global("b", turned ? Shape{batch, columns, depth} : Shape{batch, depth, columns});
  const Expr at = variable("b0"), i = variable("i"), j = variable("j"), k = variable("k");
  const BufferRef sum = local_buffer("sum", DType::Float32);
  const Expr right = turned ? load(b, {at, j, k}) : load(b, {at, k, j});
  Stmt body = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                     loop("k", depth, store(sum, {}, load(sum, {}) + load(a, {at, i, k}) * right)),
                     store(y, {at, i, j}, load(sum, {}))});
  body = loop("b0", batch, loop("i", rows, loop("j", columns, std::move(body))));
  return {"matmul_test", "", "matmul", {y, a, b}, std::move(body)};
}

// `packable`: whether the second operand is a constant.
Kernel gpu_scheduled(const Kernel& kernel, int opt, bool packable = true, const ScheduleParameters& parameters = {},
                     bool matrix = false, Language language = Language::Cuda) {
  Machine machine(opt, *isas_of(language, true).back(), kGpu);
  machine.level.matrix_units = matrix;
  std::set<const Buffer*> constants;
  if (packable) constants.insert(kernel.arguments[2].get());
  return schedule_gpu(kernel, constants, {machine.target(), parameters});
}

// At -O0 to the bit; above with products and sums in one rounding, which changes the last bits.
void expect_kept(const Kernel& before, const std::string& what) {
  const Kernel after = gpu_scheduled(before, 0);
  EXPECT_GT(thread_count(after), 0) << what << ": no tiles in " << to_text(after);
  EXPECT_TRUE(gpu_result(after).identical(gpu_result(before))) << what << to_text(after);
  const Tensor expected = gpu_result(before), contracted = gpu_result(gpu_scheduled(before, 3));
  for (int64_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(contracted.data<float>()[i], expected.data<float>()[i], 1e-3) << what << " element " << i;
}

TEST(ScheduleGpu, ConvolutionsAreTiled) {
  // Extents that tiles divide and that they do not, samples among the columns, groups as tasks.
  for (const Convolution& c : {Convolution{1, 1, 16, 32, 15, 1},
                               {1, 1, 3, 33, 14, 3},
                               {2, 1, 5, 17, 9, 3},
                               {1, 2, 8, 16, 11, 3},
                               {3, 1, 20, 130, 7, 1}})
    expect_kept(c.kernel(), cat("batch ", c.batch, " groups ", c.groups, " channels ", c.channels, " maps ", c.maps));
}

TEST(ScheduleGpu, MatrixProductsAreTiled) {
  for (const bool turned : {false, true}) {
    expect_kept(product(1, 64, 64, 64, turned), "64");
    expect_kept(product(3, 35, 20, 37, turned), "35 x 20 x 37");
    expect_kept(product(2, 17, 9, 200, turned), "17 x 9 x 200");
  }
}

TEST(ScheduleGpu, LargeProductsHaveLargeTiles) {
  const Kernel large = gpu_scheduled(product(4, 2048, 16, 2048, false), 0),
               small = gpu_scheduled(product(1, 64, 16, 64, false), 0);
  EXPECT_NE(to_text(large).find("shared left: float32[16,132]"), std::string::npos);
  EXPECT_EQ(task_count(large), 4 * 16 * 16);
  EXPECT_NE(to_text(small).find("shared left: float32[16,36]"), std::string::npos);
  EXPECT_EQ(thread_count(small), 32);
}

TEST(ScheduleGpu, EveryTileKeepsTheBits) {
  for (const auto& [rows, columns] : {std::pair<int64_t, int64_t>(128, 128),
                                      {64, 128},
                                      {128, 64},
                                      {64, 64},
                                      {32, 64},
                                      {64, 32},
                                      {32, 32},
                                      {32, 16}}) {
    const ScheduleParameters asked = {.tile = columns, .across = rows};
    for (const Kernel& before : {product(1, rows + 1, 20, std::max<int64_t>(columns - 1, 17), true),
                                 Convolution{1, 2, 3, 33, 15, 3}.kernel()}) {
      const Tensor expected = gpu_result(before);
      for (const bool matrix : {false, true}) {
        const Kernel after = gpu_scheduled(before, 0, false, asked, matrix);
        const std::string text = to_text(after);
        const auto stages = [&](int64_t n) {
          return text.find(cat("shared left: float32[16,", n, "]")) != std::string::npos;
        };
        EXPECT_TRUE(stages(rows + 8) || (!matrix && (stages(rows) || stages(rows + 4))))
            << rows << "x" << columns << text;
        EXPECT_EQ(text.find("matrix depth") != std::string::npos, matrix) << text;
        EXPECT_TRUE(gpu_result(after).identical(expected)) << rows << "x" << columns;
      }
    }
  }
}

// From -O3 on slices of the depth go beside each other, whose number the tile does not change; taps are outermost where channels fill chunks.
TEST(ScheduleGpu, SlicesAreTheSameInEveryTile) {
  for (const Kernel& before : {product(1, 33, 300, 20, true), Convolution{1, 1, 128, 17, 7, 3}.kernel()}) {
    const Tensor expected = gpu_result(before), first = gpu_result(gpu_scheduled(before, 3));
    for (int64_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(first.data<float>()[i], expected.data<float>()[i], 1e-3 + 1e-5 * std::abs(expected.data<float>()[i]))
          << before.pattern << " element " << i;
    for (const auto& [rows, columns, matrix] :
         {std::tuple<int64_t, int64_t, bool>(32, 32, false), {32, 32, true}, {32, 16, true}}) {
      const Kernel after = gpu_scheduled(before, 3, false, {.tile = columns, .across = rows}, matrix);
      const std::string text = to_text(after);
      EXPECT_NE(text.find("shared parts: float32["), std::string::npos) << text;
      EXPECT_TRUE(gpu_result(after).identical(first)) << rows << "x" << columns << text;
    }
  }
}

int64_t shared_elements(const Stmt& s) {
  const bool shared = s->kind == StmtKind::Alloc && s->buffer->scope == Scope::Shared;
  int64_t n = shared ? element_count(s->buffer->shape) : 0;
  for (const Stmt& child : s->children) n += shared_elements(child);
  return n;
}

// Whatever tile is asked for, a block has the threads and the shared memory that each device of the row has.
TEST(ScheduleGpu, BlocksKeepToTheirRow) {
  for (const Language language : {Language::Cuda, Language::OpenCl}) {
    const GpuBlock& block = isas_of(language, true).back()->block;
    for (const int64_t columns : {49, 784, 3136, 6000, 30000}) {
      for (const auto& [rows, across] : {std::pair<int64_t, int64_t>(0, 0), {128, 128}, {64, 64}, {32, 16}}) {
        const Kernel kernel = gpu_scheduled(product(1, 80, 4608, columns, false), 3, false,
                                            {.tile = across, .across = rows}, true, language);
        EXPECT_LE(thread_count(kernel), block.threads) << columns << " by " << rows << "x" << across;
        EXPECT_LE(shared_elements(kernel.body) * 4, block.shared_bytes) << columns << " by " << rows << "x" << across;
      }
    }
  }
}

// y[i, j] = float(sum over k of int32(a[i, k]) * int32(b[j, k]), begun with bias[j]): integers are those of any order, at every level.
TEST(ScheduleGpu, SumsOfIntegersAreExact) {
  const BufferRef y = global("y", {40, 33}), a = global("a", {40, 300}), b = global("b", {33, 300}),
                  bias = global("bias", {33});
  const Expr i = variable("i"), j = variable("j"), k = variable("k");
  const BufferRef sum = local_buffer("sum", DType::Int32);
  const auto whole = [](const Expr& e) { return cast(DType::Int32, e * constant(DType::Float32, 100)); };
  Stmt body = block({alloc(sum), store(sum, {}, whole(load(bias, {j}))),
                     loop("k", 300, store(sum, {}, load(sum, {}) + whole(load(a, {i, k})) * whole(load(b, {j, k})))),
                     store(y, {i, j}, cast(DType::Float32, load(sum, {})))});
  const Kernel before = {"sum_test", "", "matmul", {y, a, b, bias}, loop("i", 40, loop("j", 33, std::move(body)))};
  for (const int opt : {0, 3, 4}) {
    const Kernel after = gpu_scheduled(before, opt, false, {}, opt == 4);
    EXPECT_NE(to_text(after).find("shared parts: int32["), std::string::npos) << to_text(after);
    EXPECT_TRUE(gpu_result(after).identical(gpu_result(before))) << opt;
  }
}

// y[i] = mean over k of a[i, k]: a sum of what are no products, each by many threads.
TEST(ScheduleGpu, LongPlainSumsAreShared) {
  const BufferRef y = global("y", {37}), a = global("a", {37, 1000});
  const Expr i = variable("i"), k = variable("k");
  const BufferRef sum = local_buffer("sum", DType::Float32);
  Stmt body = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                     loop("k", 1000, store(sum, {}, load(sum, {}) + load(a, {i, k}))),
                     store(y, {i}, load(sum, {}) / constant(DType::Float32, 1000))});
  const Kernel before = {"mean_test", "", "reduce", {y, a}, loop("i", 37, std::move(body))};
  EXPECT_EQ(thread_count(gpu_scheduled(before, 0, false)), 0);
  const Kernel after = gpu_scheduled(before, 3, false);
  EXPECT_EQ(thread_count(after), 256);
  const Tensor expected = gpu_result(before), actual = gpu_result(after);
  for (int64_t n = 0; n < expected.size(); ++n)
    EXPECT_NEAR(actual.data<float>()[n], expected.data<float>()[n], 1e-5) << n;
}

// What lies side by side along the depth is written across the staged tile, one row of which is longer so that banks differ.
TEST(ScheduleGpu, OperandsAreReadAsTheyLie) {
  const std::string plain = to_text(gpu_scheduled(product(2, 64, 64, 64, false), 0));
  EXPECT_NE(plain.find("shared left: float32[16,36]"), std::string::npos) << plain;
  EXPECT_NE(plain.find("shared right: float32[16,16]"), std::string::npos) << plain;
  const Kernel conv = gpu_scheduled(Convolution{1, 1, 16, 32, 15, 3}.kernel(), 0);
  EXPECT_EQ(conv.arguments[2]->layout.text(), "p1.2.3.0");  // filters side by side
}

// Where sums may be taken in another order, several threads share each of few long ones.
TEST(ScheduleGpu, FewLongSumsAreShared) {
  for (const bool turned : {false, true}) {
    const Kernel before = product(2, 3, 300, 37, turned), after = gpu_scheduled(before, 3, false);
    EXPECT_EQ(thread_count(after), 256);
    EXPECT_EQ(task_count(after), turned ? (2 * 3 * 37 + 7) / 8 : (2 * 3 * 37 + 31) / 32);
    const Tensor expected = gpu_result(before), actual = gpu_result(after);
    for (int64_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual.data<float>()[i], expected.data<float>()[i], 1e-3) << "turned " << turned << " element " << i;
    EXPECT_EQ(thread_count(gpu_scheduled(before, 0)), 0);
  }
  const Kernel gated = Convolution{1, 1, 130, 40, 1, 1}.kernel(), after = gpu_scheduled(gated, 3);
  EXPECT_EQ(thread_count(after), 256) << to_text(after);
  const Tensor expected = gpu_result(gated), actual = gpu_result(after);
  for (int64_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(actual.data<float>()[i], expected.data<float>()[i], 1e-3) << i;
}

TEST(ScheduleGpu, SmallSumsAndOthersAreAThreadEach) {
  for (const Kernel& kernel :
       {product(1, 15, 64, 64, false), product(1, 64, 7, 64, false), Convolution{1, 20, 1, 1, 9, 3}.kernel()}) {
    const Kernel after = gpu_scheduled(kernel, 0);
    EXPECT_EQ(thread_count(after), 0) << to_text(after);
    EXPECT_TRUE(gpu_result(after).identical(gpu_result(kernel)));
  }
}

}  // namespace
}  // namespace dnn::codegen
