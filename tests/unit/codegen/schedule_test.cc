// Schedules keep what a kernel computes: evaluated before and after, on integers, which no order of sums rounds.
#include "codegen/schedule.h"

#include <gtest/gtest.h>

#include "loop_case.h"
#include "loops/simplify.h"
#include "loops/steps.h"
#include "machine_case.h"

namespace dnn::codegen {
namespace {

using namespace loops;

Tensor integers(const Shape& shape) {
  Tensor t(DType::Float32, shape);
  for (int64_t i = 0; i < t.size(); ++i) t.mutable_data<float>()[i] = static_cast<float>((i * 37 + 11) % 23 - 11);
  return t;
}

// The kernel's first argument after a run, as a logical tensor; all others hold integers().
Tensor cpu_result(const Kernel& kernel) {
  std::vector<Tensor> arguments;
  for (const BufferRef& b : kernel.arguments) arguments.push_back(pack(integers(b->shape), b->layout));
  evaluate(kernel, arguments);
  return unpack(arguments[0], kernel.arguments[0]->shape, kernel.arguments[0]->layout);
}

// y = relu(conv(x, w) + bias), kernels of `taps` x `taps` over x of blocked channels with a border.
Kernel conv(int64_t channels, int64_t maps, int64_t side, int64_t taps) {
  const int64_t pad = taps / 2;
  const std::string blocked = cat("1/16", pad > 0 ? cat(",h2+", pad, "+", pad, ",h3+", pad, "+", pad) : "");
  const BufferRef y = global("y", {1, maps, side, side}, "1/16"), x = global("x", {1, channels, side, side}, blocked),
                  w = global("w", {maps, channels, taps, taps}), bias = global("bias", {maps});
  const Expr m = variable("m"), c = variable("c"), o0 = variable("o0"), o1 = variable("o1"), k0 = variable("k0"),
             k1 = variable("k1"), zero = 0;
  const BufferRef sum = local_buffer("sum", DType::Float32);
  const Expr product = load(x, {zero, c, o0 + k0 - pad, o1 + k1 - pad}) * load(w, {m, c, k0, k1});
  Stmt reduce = store(sum, {}, load(sum, {}) + product);
  for (const char* k : {"k1", "k0"}) reduce = loop(k, taps, std::move(reduce));
  const Expr value = max(constant(DType::Float32, 0), load(sum, {}) + load(bias, {m}));
  Stmt body = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)), loop("c", channels, std::move(reduce)),
                     store(y, {zero, m, o0, o1}, value)});
  body = loop("m", maps, loop("o0", side, loop("o1", side, std::move(body))));
  return {"conv_test", "", "conv", {y, x, w, bias}, loop("n", 1, std::move(body))};
}

// y = a * b + bias.
Kernel matmul(int64_t rows, int64_t depth, int64_t columns) {
  const BufferRef y = global("y", {rows, columns}), a = global("a", {rows, depth}), b = global("b", {depth, columns}),
                  bias = global("bias", {columns});
  const Expr i = variable("i"), j = variable("j"), k = variable("k");
  const BufferRef sum = local_buffer("sum", DType::Float32);
  Stmt body = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                     loop("k", depth, store(sum, {}, load(sum, {}) + load(a, {i, k}) * load(b, {k, j}))),
                     store(y, {i, j}, load(sum, {}) + load(bias, {j}))});
  return {"matmul_test", "", "matmul", {y, a, b, bias}, loop("i", rows, loop("j", columns, std::move(body)))};
}

Kernel cpu_scheduled(const Kernel& kernel, int opt, const ScheduleParameters& parameters = {}) {
  const Machine machine(opt);
  return schedule_cpu(kernel, {kernel.arguments[2].get(), kernel.arguments[3].get()}, {machine.target(), parameters});
}

TEST(ScheduleCpu, SumsOfAConvolutionWaitInTheOutputBetweenChunks) {
  const Kernel before = conv(32, 128, 8, 3), after = cpu_scheduled(before, 3);
  const std::string text = to_text(after);
  EXPECT_NE(text.find("prefetch w["), std::string::npos) << text;
  EXPECT_LT(text.find("for c_o < 2"), text.find("for o0_i < 4")) << text;
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
}

TEST(ScheduleCpu, WeightsAreFetchedToTheCacheAskedFor) {
  const Kernel before = conv(32, 128, 8, 3);
  Machine machine(3);
  // A tile of 8x8 positions, in rows of 8: 64 multiply-adds for each vector of weights.
  for (const auto& [nearest_from, text] :
       {std::pair<int64_t, const char*>(65, "prefetch w["), {64, "prefetch nearest w["}, {0, "prefetch nearest w["}}) {
    machine.processor.chunks.nearest_from = nearest_from;
    const Kernel after = schedule_cpu(before, {before.arguments[2].get()}, {machine.target()});
    EXPECT_NE(to_text(after).find(text), std::string::npos) << to_text(after);
    EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
  }
}

// Of an image's next rows, a line for each that a tap reads; a row of x is 14 blocks of 16.
TEST(ScheduleCpu, TheNextRowsOfAnImageAreAskedFor) {
  const Kernel before = conv(3, 32, 12, 3), after = cpu_scheduled(before, 3);
  const std::string text = to_text(after);
  EXPECT_NE(text.find("prefetch x[0, c, k0 + o0 - 1, o1_o * 6 - 1] + 224"), std::string::npos) << text;
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
  EXPECT_EQ(to_text(cpu_scheduled(before, 2)).find("prefetch"), std::string::npos);
}

TEST(ScheduleCpu, ConvolutionsOfAllKinds) {
  struct Case {
    int64_t channels, maps, side, taps;
  };
  // Pointwise in chunks and not, channels that are no multiple of a block, rows in blocks, a last tile that is narrower.
  for (const Case& c : {Case{256, 32, 5, 1}, {16, 32, 30, 1}, {32, 24, 9, 3}, {24, 32, 5, 3}, {32, 16, 5, 5}}) {
    const Kernel before = conv(c.channels, c.maps, c.side, c.taps);
    const Tensor expected = cpu_result(before);
    for (int opt : {0, 3}) {
      EXPECT_TRUE(cpu_result(cpu_scheduled(before, opt)).identical(expected))
          << c.channels << " " << c.maps << " " << c.side << " " << c.taps << " -O" << opt;
    }
  }
}

// 24 and 40 channels are one or two blocks and a half, with rows as tasks; 32 are whole, 72 too many, 3x3 is not pointwise, and 7 rows too few tasks.
TEST(ScheduleCpu, HalfABlockIsHalfAVector) {
  Machine machine(3);
  struct Case {
    int64_t maps, side, taps;
    bool halved;
  };
  for (const Case& c : {Case{24, 9, 1, true},
                        {40, 17, 1, true},
                        {32, 9, 1, false},
                        {72, 9, 1, false},
                        {24, 9, 3, false},
                        {24, 7, 1, false}}) {
    const Kernel before = conv(48, c.maps, c.side, c.taps);
    for (const bool on : {true, false}) {
      machine.processor.chunks.half_vectors = on;
      const Kernel after =
          schedule_cpu(before, {before.arguments[2].get(), before.arguments[3].get()}, {machine.target()});
      const std::string text = to_text(after);
      EXPECT_EQ(text.find("vector m_t_i < 8") != std::string::npos, on && c.halved) << text;
      EXPECT_EQ(text.find("parallel o0 <") != std::string::npos && text.find("parallel m") == std::string::npos,
                on && c.halved)
          << text;
      EXPECT_TRUE(cpu_result(after).identical(cpu_result(before))) << c.maps << " " << c.side;
    }
  }
}

// Of few channels a block of the output goes by itself, in tiles of eight columns, where a vector takes two turns.
TEST(ScheduleCpu, FewProductsAreStoredInOrder) {
  Machine machine(3);
  machine.processor.chunks.half_vectors = true;
  for (const auto& [channels, alone] : {std::pair<int64_t, bool>(16, true), {32, true}, {48, false}}) {
    const Kernel before = conv(channels, 64, 16, 1);
    const Kernel after =
        schedule_cpu(before, {before.arguments[2].get(), before.arguments[3].get()}, {machine.target()});
    EXPECT_EQ(to_text(after).find("m_o_i") == std::string::npos, alone) << to_text(after);
    EXPECT_EQ(to_text(after).find("local sum: float32[8,16]") != std::string::npos, alone) << to_text(after);
    EXPECT_TRUE(cpu_result(after).identical(cpu_result(before))) << channels;
  }
}

// Five groups of two blocks are ten tasks, of nine and of eight rows; six are as many.
TEST(ScheduleCpu, AnOddNumberOfTasksIsHalved) {
  for (const auto& [maps, tasks] :
       {std::pair<int64_t, const char*>(160, "parallel m_o_o < 5:\n    parallel which_half < 2:"),
        {192, "parallel m_o_o < 6:\n    for c_o"}}) {
    const Kernel before = conv(32, maps, 13, 3), after = cpu_scheduled(before, 3);
    EXPECT_NE(to_text(after).find(tasks), std::string::npos) << to_text(after);
    EXPECT_TRUE(cpu_result(after).identical(cpu_result(before))) << maps;
    EXPECT_EQ(to_text(cpu_scheduled(before, 2)).find("which_half"), std::string::npos);
  }
}

// Whatever the border holds is multiplied with nothing from -O3 on.
TEST(ScheduleCpu, ConvolutionsLeaveTheBorderOut) {
  const Kernel before = conv(32, 64, 9, 3);
  for (const int64_t registers : {16, 31}) {
    Machine machine(3);
    machine.isa.vector_registers = registers;
    machine.isa.vector_bytes = registers == 16 ? 32 : 64;
    const Kernel after =
        schedule_cpu(before, {before.arguments[2].get(), before.arguments[3].get()}, {machine.target()});
    std::vector<Tensor> arguments;
    for (const BufferRef& b : after.arguments) arguments.push_back(pack(integers(b->shape), b->layout));
    Tensor ones(DType::Float32, after.arguments[1]->shape);
    for (int64_t i = 0; i < ones.size(); ++i) ones.mutable_data<float>()[i] = 1;
    const Tensor inside = pack(ones, after.arguments[1]->layout);
    for (int64_t i = 0; i < inside.size(); ++i) {
      if (inside.data<float>()[i] == 0) arguments[1].mutable_data<float>()[i] = 1e6F;
    }
    evaluate(after, arguments);
    EXPECT_TRUE(
        unpack(arguments[0], after.arguments[0]->shape, after.arguments[0]->layout).identical(cpu_result(before)))
        << to_text(after);
  }
}

TEST(ScheduleCpu, MatrixProducts) {
  struct Case {
    int64_t rows, depth, columns;
  };
  for (const Case& c : {Case{47, 192, 32}, {13, 320, 48}, {29, 100, 37}, {1, 64, 96}, {2, 7, 16}}) {
    const Kernel before = matmul(c.rows, c.depth, c.columns);
    const Tensor expected = cpu_result(before);
    for (int opt : {0, 3}) {
      EXPECT_TRUE(cpu_result(cpu_scheduled(before, opt)).identical(expected))
          << c.rows << " " << c.depth << " " << c.columns << " -O" << opt;
    }
  }
}

int64_t tasks(const Kernel& kernel) {
  int64_t n = 1;
  for (Stmt s = kernel.body; s->kind == StmtKind::For && s->loop == LoopKind::Parallel; s = s->children[0])
    n *= s->extent;
  return n;
}

// A classifier's: 62 blocks of columns and half a one.
TEST(ScheduleCpu, ProductsOfARowAreSeveralTasks) {
  const Kernel before = matmul(1, 40, 1000), after = cpu_scheduled(before, 3);
  EXPECT_EQ(tasks(after), 31) << to_text(after);
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
}

// Four blocks of channels share what is read of a large plane, and the next chunk's weights are fetched from both panels.
// Both matrices are activations, and 197 columns are 12 vectors and five: the columns of a tile stay in the first cache over all
// rows, and those that are left are one vector more.
TEST(ScheduleCpu, ColumnsThatAreLeftOverAreOneVector) {
  Kernel before = matmul(13, 5, 197);
  before.body = loop("b", 2, before.body);
  Machine machine(3);
  const Kernel after = schedule_cpu(before, {}, {machine.target()});
  const std::string text = to_text(after);
  EXPECT_LT(text.find("j_o_o < "), text.find("for i_o < ")) << text;
  EXPECT_NE(text.find("vector j_t < 16"), std::string::npos) << text;
  EXPECT_EQ(text.find("j_t_"), std::string::npos) << text;
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
}

TEST(ScheduleCpu, PointwiseConvolutionsReadTheInputOnceForFourBlocks) {
  const std::string text = to_text(cpu_scheduled(conv(96, 64, 25, 1), 3));
  EXPECT_NE(text.find("unrolled m_o_i < 4"), std::string::npos) << text;
  EXPECT_NE(text.find("unrolled o1_i < 5"), std::string::npos) << text;
  size_t fetches = 0;
  for (size_t at = 0; (at = text.find("prefetch w[", at)) != std::string::npos; ++at) ++fetches;
  EXPECT_EQ(fetches, 2U) << text;
  // Not where one column would be left over, where a task would get a few positions, or where a tile has more taps.
  for (const Kernel& narrow : {conv(96, 64, 26, 1), conv(96, 64, 14, 1), conv(32, 64, 25, 3)})
    EXPECT_EQ(to_text(cpu_scheduled(narrow, 3)).find("unrolled m_o_i < 4"), std::string::npos);
  ScheduleParameters small;  // that a plane which is soon evaluated counts as large
  small.chunk_positions = 49;
  const Kernel before = conv(96, 64, 14, 1), after = cpu_scheduled(before, 3, small);
  EXPECT_NE(to_text(after).find("unrolled m_o_i < 4"), std::string::npos);
  EXPECT_NE(to_text(after).find("prefetch w["), std::string::npos);
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
}

// Sixteen registers of 8 floats: twelve accumulators of two blocks by three columns, whose broadcasts stay for a vector of weights at
// a time.
TEST(ScheduleCpu, SixteenRegistersHoldTwoBlocksByThreeColumns) {
  Machine machine(3);
  machine.isa.vector_bytes = 32;
  machine.isa.vector_registers = 16;
  machine.isa.widest_tile = 2;
  const Kernel before = conv(32, 64, 9, 3);
  const Kernel after = schedule_cpu(before, {before.arguments[2].get(), before.arguments[3].get()}, {machine.target()});
  EXPECT_NE(to_text(after).find("local sum: float32[3,2,2,8]"), std::string::npos) << to_text(after);
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
  machine.isa.vector_registers = 15;  // one is kept back
  const Kernel small = schedule_cpu(before, {before.arguments[2].get(), before.arguments[3].get()}, {machine.target()});
  EXPECT_NE(to_text(small).find("local sum: float32[2,2,2,8]"), std::string::npos) << to_text(small);
}

// Tasks of a few positions would read all weights for them: fewer tasks then, unless there were one or two.
TEST(ScheduleCpu, TasksAreNotTooShort) {
  EXPECT_EQ(tasks(cpu_scheduled(conv(512, 160, 7, 1), 3)), 10);  // five, in halves
  EXPECT_EQ(tasks(cpu_scheduled(conv(128, 64, 14, 3), 3)), 4);
  EXPECT_EQ(tasks(cpu_scheduled(conv(64, 192, 17, 1), 3)), 6);
}

// Few channels of the output: blocks of rows keep several threads busy, and so do the rows of a narrow product.
TEST(ScheduleCpu, SmallLayersStillAreSeveralTasks) {
  EXPECT_GE(tasks(cpu_scheduled(conv(128, 32, 14, 3), 3)), 7);
  EXPECT_GE(tasks(cpu_scheduled(conv(512, 32, 7, 1), 3)), 7);
  EXPECT_GE(tasks(cpu_scheduled(conv(64, 96, 14, 1), 3)), 6);
  EXPECT_EQ(tasks(cpu_scheduled(conv(128, 32, 28, 3), 3)), 14);  // and not seven, for two threads
  EXPECT_GE(tasks(cpu_scheduled(matmul(196, 320, 64), 3)), 4);
}

// Four blocks of columns share the rows that a tile reads, where enough blocks remain for several tasks.
TEST(ScheduleCpu, BlocksOfColumnsShareRows) {
  const Kernel before = matmul(26, 96, 256), after = cpu_scheduled(before, 3);
  EXPECT_NE(to_text(after).find("unrolled j_o_i < 4"), std::string::npos) << to_text(after);
  EXPECT_NE(to_text(after).find("unrolled i_i < 6"), std::string::npos) << to_text(after);
  EXPECT_EQ(tasks(after), 4);
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
  for (const Kernel& other : {matmul(26, 96, 192), matmul(26, 96, 288), matmul(12, 96, 256)})
    EXPECT_EQ(to_text(cpu_scheduled(other, 3)).find("j_o_i < 4"), std::string::npos);
}

// A left-hand matrix that does not stay in the second cache: a chunk of it serves several blocks of columns.
TEST(ScheduleCpu, ChunksOfALargeMatrixServeSeveralBlocks) {
  Machine machine(3);
  const Kernel before = matmul(17, 160, 512);
  const std::set<const Buffer*> packable = {before.arguments[2].get()};
  EXPECT_EQ(to_text(schedule_cpu(before, packable, {machine.target()})).find("j_o_o_i < 2"), std::string::npos);
  machine.processor.chunks.near_bytes = int64_t{8} << 10;
  const Kernel after = schedule_cpu(before, packable, {machine.target()});
  const std::string text = to_text(after);
  EXPECT_LT(text.find("k_o < 2"), text.find("j_o_o_i < 2")) << text;
  EXPECT_NE(text.find("j_o_o_i < 2"), std::string::npos) << text;
  EXPECT_EQ(tasks(after), 4);
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
}

TEST(ScheduleCpu, TheRightHandMatrixLiesInPanels) {
  const Kernel after = cpu_scheduled(matmul(4, 320, 128), 3);
  EXPECT_EQ(after.arguments[2]->layout.text(), "p1.0,1/32");
  EXPECT_NE(to_text(after).find("prefetch b["), std::string::npos) << to_text(after);
}

// Without chunks the next columns' weights are asked for, in shares that a narrower last tile of rows has its part of. Not by what has
// the columns inside of each tile of rows, where all of them would be asked for each time.
TEST(ScheduleCpu, ProductsOfFewRowsFetchTheNextColumns) {
  const Kernel before = matmul(31, 64, 128), after = cpu_scheduled(before, 3);
  const std::string text = to_text(after);
  EXPECT_EQ(text.find("if k_"), std::string::npos) << text;
  EXPECT_NE(text.find("i_t <"), std::string::npos) << text;
  size_t fetches = 0;
  for (size_t at = 0; (at = text.find("prefetch b[", at)) != std::string::npos; ++at) ++fetches;
  EXPECT_EQ(fetches, 2U) << text;
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
  EXPECT_EQ(to_text(cpu_scheduled(matmul(40, 64, 1000), 3)).find("prefetch"), std::string::npos);
  ScheduleParameters none;
  none.fetch_ahead = 0;
  EXPECT_EQ(to_text(cpu_scheduled(before, 3, none)).find("prefetch"), std::string::npos);
}

// y = x, its axes in another order, by loops over a, b and c.
Kernel copy(const Shape& y_shape, const Shape& x_shape, const std::vector<Expr>& read) {
  const BufferRef y = global("y", y_shape), x = global("x", x_shape);
  Stmt body = store(y, {variable("a"), variable("b"), variable("c")}, load(x, read));
  for (const auto& [v, axis] : {std::pair("c", 2), std::pair("b", 1), std::pair("a", 0)})
    body = loop(v, y_shape[static_cast<size_t>(axis)], std::move(body));
  return {"map_test", "", "map", {y, x}, body};
}

// The text of a copy after scheduling, which still copies the same.
std::string scheduled_copy(const Kernel& before) {
  Machine machine(3);
  const Kernel after = schedule_cpu(before, {}, {machine.target()});
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
  return to_text(after);
}

// 16 columns of x, a line, are read together.
TEST(ScheduleCpu, TranspositionsReadWholeLines) {
  const std::string text =
      scheduled_copy(copy({2, 64, 37}, {2, 37, 64}, {variable("a"), variable("c"), variable("b")}));
  EXPECT_LT(text.find("for c < 37"), text.find("unrolled b_i < 16")) << text;
}

// Heads apart: rows of x are read one after another, and in vectors.
TEST(ScheduleCpu, CopiesReadInOrder) {
  const std::string text =
      scheduled_copy(copy({9, 37, 64}, {37, 9, 64}, {variable("b"), variable("a"), variable("c")}));
  EXPECT_LT(text.find(" b < 37"), text.find(" a < 9")) << text;
  EXPECT_NE(text.find("vector c"), std::string::npos) << text;
}

// The partial sums of a row are joined in pairs, not each after the other.
TEST(ScheduleCpu, PartialSumsAreJoinedInPairs) {
  const BufferRef y = global("y", {3}), x = global("x", {3, 70}), sum = local_buffer("sum", DType::Float32);
  const Expr i = variable("i"), k = variable("k");
  Stmt body = block({alloc(sum), store(sum, {}, constant(DType::Float32, 0)),
                     loop("k", 70, store(sum, {}, load(sum, {}) + load(x, {i, k}))), store(y, {i}, load(sum, {}))});
  const Kernel before = {"reduce_test", "", "reduce", {y, x}, loop("i", 3, std::move(body))};
  Machine machine(0);
  machine.level.reassociate = true;
  const Kernel after = schedule_cpu(before, {}, {machine.target()});
  for (int n : {8, 4, 2}) EXPECT_NE(to_text(after).find(cat("vector k_j < ", n)), std::string::npos) << to_text(after);
  EXPECT_TRUE(cpu_result(after).identical(cpu_result(before)));
}

// Channels from the middle of a block on, as where halves are joined: no vectors fit, and lines are used while they are near.
TEST(ScheduleCpu, CopiesStayInBlocksOfChannels) {
  const Expr a = variable("a"), b = variable("b"), c = variable("c");
  for (const auto& [columns, order] : {std::pair(16, " b_o < 2"), std::pair(7, " b < 4")}) {
    const BufferRef y = global("y", {40, 4, columns}, columns == 7 ? "0/16,h1+1+1,h2+1+1" : "0/16"),
                    x = global("x", {20, 4, columns}, columns == 7 ? "" : "0/16");
    Stmt body = store(y, {a + 20, b, c}, load(x, {a, b, c}));
    for (const auto& [v, extent] : {std::pair("c", columns), std::pair("b", 4), std::pair("a", 20)})
      body = loop(v, extent, std::move(body));
    const std::string text = scheduled_copy({"map_test", "", "map", {y, x}, body});
    EXPECT_LT(text.find(order), text.find(" a < 20")) << text;
  }
}

// No task per vector: twelve rows of five are enough.
TEST(ScheduleCpu, TasksAreNotSingleVectors) {
  const Kernel rows = copy({12, 5, 64}, {5, 12, 64}, {variable("b"), variable("a"), variable("c")});
  const Machine machine(0);
  EXPECT_EQ(tasks(schedule_cpu(rows, {}, {machine.target()})), 60);
}

TEST(ScheduleCpu, BordersAreATaskForEachBlockOfChannels) {
  const BufferRef y = global("y", {1, 48, 5, 6}, "1/16,h2+1+0,h3+2+1");
  const Expr zero = 0, d1 = variable("d1"), d2 = variable("d2"), d3 = variable("d3"),
             nothing = constant(DType::Float32, 0);
  const Stmt above = loop("d3", 9, loop("d1", 48, store(y, {zero, d1, Expr(-1), d3 - 2}, nothing))),
             left = loop("d2", 5, loop("d3", 2, loop("d1", 48, store(y, {zero, d1, d2, d3 - 2}, nothing)))),
             right = loop("d2", 5, loop("d1", 48, store(y, {zero, d1, d2, Expr(6)}, nothing)));
  const Kernel kernel{"border_test", "", "border", {y}, block({above, left, right})};
  const auto bordered = [&](const Kernel& k) {
    std::vector<Tensor> arguments = {integers({y->layout.element_count(y->shape)})};
    evaluate(k, arguments);
    return arguments[0];
  };
  Machine machine(3);
  const Kernel fast = schedule_cpu(kernel, {}, {machine.target()});
  EXPECT_TRUE(bordered(fast).identical(bordered(kernel)));
  EXPECT_FALSE(bordered(kernel).identical(integers({y->layout.element_count(y->shape)})));
  EXPECT_EQ(fast.body->loop, LoopKind::Parallel) << to_text(fast);
  EXPECT_EQ(fast.body->extent, 3) << to_text(fast);
}

// The largest of windows of blocked channels, or their sum with zeros where they reach into the padding.
Kernel pool(bool largest, int64_t side, int64_t taps, int64_t stride, int64_t pad, int64_t cpu_result) {
  const BufferRef y = global("y", {1, 32, cpu_result, cpu_result}, "1/16"),
                  x = global("x", {1, 32, side, side}, "1/16");
  const Expr c = variable("c"), o0 = variable("o0"), o1 = variable("o1"), zero = 0;
  const Expr row = o0 * stride + variable("k0") - pad, column = o1 * stride + variable("k1") - pad;
  const BufferRef best = local_buffer("best", DType::Float32);
  const Expr lowest = constant(DType::Float32, largest ? -100 : 0);
  const auto inside = [&](const Expr& at) { return zero <= at && at < side; };
  const Expr value = select(inside(row) && inside(column), load(x, {zero, c, row, column}), lowest);
  const Expr joined = largest ? max(load(best, {}), value) : load(best, {}) + value;
  Stmt body = block({alloc(best), store(best, {}, lowest), loop("k0", taps, loop("k1", taps, store(best, {}, joined))),
                     store(y, {zero, c, o0, o1}, load(best, {}))});
  for (const char* o : {"o1", "o0"}) body = loop(o, cpu_result, std::move(body));
  return {"pool_test", "", "pool", {y, x}, loop("c", 32, std::move(body))};
}

TEST(ScheduleCpu, PoolsInTilesWithWhatReachesIntoThePaddingApart) {
  struct Case {
    int64_t side, taps, stride, pad, result;
  };
  for (const Case& c : {Case{112, 3, 2, 1, 56},
                        {14, 3, 1, 1, 14},
                        {13, 3, 2, 0, 6},
                        {8, 2, 2, 0, 4},
                        {9, 5, 1, 2, 9},
                        {2, 3, 1, 1, 2},
                        {1, 3, 1, 1, 1},
                        {7, 3, 2, 1, 5}}) {
    for (const bool largest : {true, false}) {
      const Kernel before = pool(largest, c.side, c.taps, c.stride, c.pad, c.result);
      const Tensor expected = cpu_result(before);
      for (const int64_t lanes : {16, 8, 4}) {
        Machine machine(3);
        machine.isa.vector_bytes = lanes * 4;
        const Kernel after = schedule_cpu(before, {}, {machine.target()});
        EXPECT_TRUE(cpu_result(after).identical(expected)) << c.side << " " << c.taps << " " << lanes << to_text(after);
      }
    }
  }
  Machine machine(3);
  const std::string text = to_text(schedule_cpu(pool(true, 112, 3, 2, 1, 56), {}, {machine.target()}));
  const size_t inside = text.find("unrolled o1_b_i < 5"), otherwise = text.find("else:");
  ASSERT_LT(text.find("if 1 <= o0:"), inside) << text;
  ASSERT_LT(inside, otherwise) << text;
  EXPECT_EQ(text.substr(inside, otherwise - inside).find("select"), std::string::npos) << text;
  EXPECT_NE(text.substr(otherwise).find("select"), std::string::npos) << text;
}

// The left-over rows of 197 are a tile of some width: tiles of the most rows would leave one alone.
TEST(ScheduleCpu, TilesLeaveNoSliver) {
  const std::string text = to_text(cpu_scheduled(matmul(197, 64, 32), 3));
  EXPECT_EQ(text.find("unrolled i_t < 1:"), std::string::npos) << text;
}

}  // namespace
}  // namespace dnn::codegen
