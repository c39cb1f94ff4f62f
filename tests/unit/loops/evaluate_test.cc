// evaluate() on hand-written kernels: arithmetic of every dtype class, layouts, lazy selects, and what it refuses.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "loops/ir.h"

namespace dnn::loops {
namespace {

BufferRef buffer(std::string name, DType dtype, Shape shape, Layout layout = {}) {
  return std::make_shared<Buffer>(Buffer{std::move(name), dtype, std::move(shape), std::move(layout)});
}

// What `value` computes, stored into a tensor of `n` elements by loop i.
Tensor computed(DType dtype, int64_t n, const Expr& value, std::vector<BufferRef> inputs = {},
                std::vector<Tensor> arguments = {}) {
  const BufferRef y = buffer("y", dtype, {n});
  inputs.push_back(y);
  arguments.emplace_back(dtype, Shape{n});
  evaluate(Kernel{"k", "", "map", inputs, loop("i", n, store(y, {variable("i")}, value))}, arguments);
  return arguments.back();
}

template <class T>
std::vector<T> apply(Op op, std::vector<T> a, std::vector<T> b) {
  const auto n = static_cast<int64_t>(a.size());
  const BufferRef ab = buffer("a", kDTypeOf<T>, {n}), bb = buffer("b", kDTypeOf<T>, {n});
  const Expr i = variable("i");
  const Tensor y = computed(kDTypeOf<T>, n, binary(op, load(ab, {i}), load(bb, {i})), {ab, bb},
                            {Tensor::of<T>({n}, a), Tensor::of<T>({n}, b)});
  return {y.data<T>(), y.data<T>() + n};
}

std::string refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Internal);
    return e.what();
  }
  return "(nothing thrown)";
}

TEST(Evaluate, Float32RoundsAfterEachOperation) {
  // (2^24 + 1) - 2^24 is 0 in float32 and 1 in float64.
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const BufferRef x = buffer("x", dtype, {1});
    const Expr v = load(x, {0});
    const Tensor y =
        computed(dtype, 1, (v + constant(dtype, 1)) - v, {x}, {convert(Tensor::of<double>({1}, {16777216.0}), dtype)});
    EXPECT_EQ(to_doubles(y)[0], dtype == DType::Float32 ? 0.0 : 1.0);
  }
}

TEST(Evaluate, FmaRoundsOnce) {
  const BufferRef x = buffer("x", DType::Float32, {1});
  const float value = 1.0f + 0x1p-12f;
  const Expr v = load(x, {0});
  const Tensor y =
      computed(DType::Float32, 1, fma(v, v, constant(DType::Float32, -1)), {x}, {Tensor::of<float>({1}, {value})});
  EXPECT_EQ(y.data<float>()[0], std::fma(value, value, -1.0f));
  EXPECT_NE(y.data<float>()[0], static_cast<float>(value * value) - 1.0f);
}

TEST(Evaluate, IntegerDivisionsRoundAsTheirNamesSay) {
  const std::vector<int32_t> a = {7, -7, 7, -7}, b = {2, 2, -2, -2};
  EXPECT_EQ(apply<int32_t>(Op::Div, a, b), (std::vector<int32_t>{3, -3, -3, 3}));
  EXPECT_EQ(apply<int32_t>(Op::FloorDiv, a, b), (std::vector<int32_t>{3, -4, -4, 3}));
  EXPECT_EQ(apply<int32_t>(Op::TruncMod, a, b), (std::vector<int32_t>{1, -1, 1, -1}));
  EXPECT_EQ(apply<int32_t>(Op::FloorMod, a, b), (std::vector<int32_t>{1, 1, -1, -1}));
}

TEST(Evaluate, IntegersWrapToTheirWidth) {
  EXPECT_EQ(apply<int8_t>(Op::Add, {127}, {1}), (std::vector<int8_t>{-128}));
  EXPECT_EQ(apply<uint8_t>(Op::Sub, {0}, {1}), (std::vector<uint8_t>{255}));
  EXPECT_EQ(apply<uint64_t>(Op::Div, {0xfffffffffffffffe}, {2}), (std::vector<uint64_t>{0x7fffffffffffffff}));
  EXPECT_EQ(apply<uint64_t>(Op::Max, {0xfffffffffffffffe}, {2}), (std::vector<uint64_t>{0xfffffffffffffffe}));
  EXPECT_EQ(apply<int32_t>(Op::Div, {INT32_MIN}, {-1}), (std::vector<int32_t>{INT32_MIN}));
  EXPECT_EQ(apply<int16_t>(Op::Pow, {3}, {4}), (std::vector<int16_t>{81}));
  EXPECT_EQ(apply<uint8_t>(Op::ShiftLeft, {129}, {1}), (std::vector<uint8_t>{2}));
}

TEST(Evaluate, MaxAndMinKeepTheSecondOperandOnNaN) {
  const float nan = std::nanf("");
  EXPECT_EQ(apply<float>(Op::Max, {nan}, {1})[0], 1);
  EXPECT_TRUE(std::isnan(apply<float>(Op::Max, {1}, {nan})[0]));
  EXPECT_EQ(apply<float>(Op::Min, {nan}, {1})[0], 1);
}

TEST(Evaluate, CastsAsConvertDoes) {
  const std::vector<float> values = {-1.9f, 2.9f, 300.0f, -1e30f, std::nanf(""), 0.0f};
  const Tensor x = Tensor::of<float>({6}, values);
  for (DType dtype : {DType::Int8, DType::UInt8, DType::Int32, DType::Int64, DType::UInt64, DType::Bool, DType::Float64,
                      DType::UInt32}) {
    const BufferRef xb = buffer("x", DType::Float32, {6});
    const Tensor y = computed(dtype, 6, cast(dtype, load(xb, {variable("i")})), {xb}, {x});
    EXPECT_TRUE(y.identical(convert(x, dtype))) << dtype_name(dtype);
  }
}

TEST(Evaluate, SelectReadsOnlyTheTakenBranch) {
  const BufferRef x = buffer("x", DType::Float32, {2});
  const Expr i = variable("i");
  const Expr guarded = select(i >= 1 && i < 3, load(x, {i - 1}), constant(DType::Float32, -1));
  EXPECT_EQ(to_doubles(computed(DType::Float32, 4, guarded, {x}, {Tensor::of<float>({2}, {5, 6})})),
            (std::vector<double>{-1, 5, 6, -1}));
}

TEST(Evaluate, ConditionsStopAtTheFirstAnswer) {
  const BufferRef x = buffer("x", DType::Bool, {2});
  const Expr i = variable("i");
  EXPECT_EQ(to_doubles(computed(DType::Bool, 4, i < 2 && load(x, {i}), {x}, {Tensor::of<bool>({2}, {true, false})})),
            (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(to_doubles(computed(DType::Bool, 4, i >= 2 || load(x, {i}), {x}, {Tensor::of<bool>({2}, {true, false})})),
            (std::vector<double>{1, 0, 1, 1}));
}

TEST(Evaluate, ReadsAndWritesThroughLayouts) {
  // x: [1, 5, 3] in blocks of 4 channels with a border of one column; y = x shifted by one column, zero from the border.
  Layout blocked;
  blocked.halo(2, 1, 1).block(1, 4);
  const BufferRef x = buffer("x", DType::Float32, {1, 5, 3}, blocked), y = buffer("y", DType::Float32, {1, 5, 3});
  Tensor logical(DType::Float32, {1, 5, 3});
  for (int64_t i = 0; i < 15; ++i) logical.mutable_data<float>()[i] = static_cast<float>(i + 1);
  const Expr c = variable("c"), w = variable("w");
  const Kernel kernel{
      "shift", "", "map", {x, y}, loop("c", 5, loop("w", 3, store(y, {0, c, w}, load(x, {0, c, w - 1}))))};
  std::vector<Tensor> arguments = {pack(logical, blocked), Tensor(DType::Float32, {15})};
  evaluate(kernel, arguments);
  EXPECT_EQ(to_doubles(arguments[1]), (std::vector<double>{0, 1, 2, 0, 4, 5, 0, 7, 8, 0, 10, 11, 0, 13, 14}));
}

TEST(Evaluate, LocalsAccumulateAndStartUndefined) {
  const BufferRef x = buffer("x", DType::Float32, {2, 3}), y = buffer("y", DType::Float32, {2});
  const BufferRef sum = local_buffer("sum", DType::Float32);
  const Expr r = variable("r"), c = variable("c");
  const Stmt add = loop("c", 3, store(sum, {}, load(sum, {}) + load(x, {r, c})));
  auto run = [&](const Stmt& body) {
    std::vector<Tensor> arguments = {Tensor::of<float>({6}, {1, 2, 3, 4, 5, 6}), Tensor(DType::Float32, {2})};
    evaluate(Kernel{"sum", "", "reduce", {x, y}, loop("r", 2, body, LoopKind::Parallel)}, arguments);
    return to_doubles(arguments[1]);
  };
  EXPECT_EQ(run(block({alloc(sum), store(sum, {}, 0), add, store(y, {r}, load(sum, {}))})),
            (std::vector<double>{6, 15}));
  EXPECT_TRUE(std::isnan(run(block({alloc(sum), add, store(y, {r}, load(sum, {}))}))[1]));
}

TEST(Evaluate, IfTakesOneBranch) {
  const BufferRef y = buffer("y", DType::Int32, {3});
  const Expr i = variable("i");
  std::vector<Tensor> arguments = {Tensor(DType::Int32, {3})};
  evaluate(
      Kernel{
          "k", "", "map", {y}, loop("i", 3, if_then(i == 1, store(y, {i}, 10), store(y, {i}, cast(DType::Int32, i))))},
      arguments);
  EXPECT_EQ(to_doubles(arguments[0]), (std::vector<double>{0, 10, 2}));
}

TEST(Evaluate, RefusesWhatACompiledKernelMustNotDo) {
  const BufferRef x = buffer("x", DType::Float32, {2}), y = buffer("y", DType::Float32, {3});
  const Expr i = variable("i");
  const Tensor two(DType::Float32, {2}), three(DType::Float32, {3});
  auto run = [&](const Stmt& body) {
    return refusal([&] {
      std::vector<Tensor> arguments = {two, three};
      evaluate(Kernel{"k", "", "map", {x, y}, body}, arguments);
    });
  };
  EXPECT_EQ(run(loop("i", 3, store(y, {i}, load(x, {i})))), "loop IR: x[2] is read at [2]");
  EXPECT_EQ(run(loop("i", 3, store(y, {i - 1}, load(x, {0})))), "loop IR: y[3] is written at [-1]");
  EXPECT_EQ(run(store(y, {i}, load(x, {0}))), "loop IR: variable i is used outside its loop");
  EXPECT_EQ(run(store(y, {0}, load(buffer("z", DType::Float32, {1}), {0}))),
            "loop IR: buffer z is used where it does not exist");
  EXPECT_EQ(run(store(y, {0}, load(buffer("x", DType::Float32, {3}), {0}))),
            "loop IR: buffer x is used as float32[3] '', but is float32[2] ''");
  EXPECT_EQ(run(loop("i", 1, store(y, {floordiv(i, i)}, load(x, {0})))), "loop IR: integer division by zero");
  EXPECT_EQ(run(loop("i", 1, loop("i", 1, store(y, {i}, load(x, {0}))))),
            "loop IR: loop i inside a loop of the same variable");
}

TEST(Evaluate, RefusesArgumentsThatDoNotFit) {
  const BufferRef y = buffer("y", DType::Float32, {3});
  const Kernel kernel{"k", "", "map", {y}, store(y, {0}, 1.0)};
  std::vector<Tensor> none, wrong = {Tensor(DType::Float32, {4})}, other = {Tensor(DType::Float64, {3})};
  EXPECT_EQ(refusal([&] { evaluate(kernel, none); }), "evaluate: kernel k takes 1 arguments, is given 0");
  EXPECT_EQ(refusal([&] { evaluate(kernel, wrong); }),
            "evaluate: argument y is float32[4], the kernel wants float32[3]");
  EXPECT_EQ(refusal([&] { evaluate(kernel, other); }),
            "evaluate: argument y is float64[3], the kernel wants float32[3]");
}

}  // namespace
}  // namespace dnn::loops
