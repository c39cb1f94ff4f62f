// Reductions, running sums, Einsum and makers of constants: lowerings, empty sets, hostile axes and sizes.
#include <limits>

#include "ops/equation.h"
#include "unit/ops/lowering_check.h"
#include "unit/ops/reference_check.h"

namespace dnn {
namespace {

constexpr double kDoubleInf = std::numeric_limits<double>::infinity();

constexpr const char* kReductions[] = {"ReduceL1",   "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp", "ReduceMax",
                                       "ReduceMean", "ReduceMin", "ReduceProd",   "ReduceSum",       "ReduceSumSquare"};

TEST(Reduce, LoopsGiveTheReferencesBits) {
  const Tensor sample = random_tensor(DType::Float32, {3, 4, 5}), x = run("Abs", {&sample}), axes = ints({-1, 0});
  for (const char* op : kReductions) {
    for (int64_t keepdims : {0, 1}) {
      const Node node = test_node(op, {&x, &axes}, {{"keepdims", keepdims}});
      EXPECT_EQ(check_lowering(node, {&x, &axes}, true)[0].shape(), keepdims ? (Shape{1, 4, 1}) : (Shape{4})) << op;
    }
    check_lowering(test_node(op, {&x}), {&x});
    check_lowering(test_node(op, {&x}, {{"noop_with_empty_axes", int64_t{1}}}), {&x});
  }
}

TEST(Reduce, OfNothing) {
  const Tensor x(DType::Float64, {2, 0}), axes = ints({1});
  const std::vector<double> expected = {0, 0, -kDoubleInf, -kDoubleInf, -kDoubleInf, kDoubleInf, kDoubleInf, 1, 0, 0};
  for (size_t i = 0; i < std::size(kReductions); ++i) {
    const double y = to_doubles(run(kReductions[i], {&x, &axes}))[1];
    if (std::string(kReductions[i]) == "ReduceMean")
      EXPECT_TRUE(std::isnan(y));
    else
      EXPECT_EQ(y, expected[i]) << kReductions[i];
  }
  const Tensor none(DType::Int32, {0});
  EXPECT_EQ(kind_of("ReduceMean", {&none}), ErrorKind::Malformed);
}

TEST(Reduce, LogSumExpIsStable) {
  const Tensor x = Tensor::of<float>({2, 2}, {1000, 1000, -1000, -1000}), axes = ints({1});
  const std::vector<double> y = to_doubles(run("ReduceLogSumExp", {&x, &axes}));
  EXPECT_NEAR(y[0], 1000.6931, 1e-3);
  EXPECT_NEAR(y[1], -999.3069, 1e-3);
}

TEST(Reduce, RefusesBadAxes) {
  const Tensor x = random_tensor(DType::Float32, {2, 3}), high = ints({2}), low = ints({-3}), twice = ints({1, -1});
  for (const Tensor* axes : {&high, &low, &twice}) EXPECT_EQ(kind_of("ReduceSum", {&x, axes}), ErrorKind::Malformed);
}

TEST(ArgMax, FirstLastAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::of<float>({3, 4}, {1, 3, 3, 2, 5, nan, 9, nan, 2, 2, 2, 2});
  for (int64_t last : {0, 1}) {
    const Attributes attributes = {{"axis", int64_t{1}}, {"select_last_index", last}, {"keepdims", int64_t{0}}};
    const Tensor y = check_lowering(test_node("ArgMax", {&x}, attributes), {&x})[0];
    EXPECT_EQ(to_int64s(y), last ? (std::vector<int64_t>{2, 3, 3}) : (std::vector<int64_t>{1, 1, 0}));
    check_lowering(test_node("ArgMin", {&x}, attributes), {&x});
  }
  const Tensor empty(DType::Float32, {2, 0});
  EXPECT_EQ(kind_of("ArgMax", {&empty}, {{"axis", int64_t{1}}}), ErrorKind::Malformed);
}

TEST(Cumulative, LoopsGiveTheReferencesBits) {
  const Tensor x = random_tensor(DType::Float32, {2, 5, 3}), axis = Tensor::scalar<int64_t>(-2);
  for (const char* op : {"CumSum", "CumProd"}) {
    for (int64_t reverse : {0, 1}) {
      for (int64_t exclusive : {0, 1}) {
        const Attributes attributes = {{"reverse", reverse}, {"exclusive", exclusive}};
        check_lowering(test_node(op, {&x, &axis}, attributes), {&x, &axis}, true);
      }
    }
  }
  const Tensor empty(DType::Float32, {0, 4}), far = Tensor::scalar<int32_t>(2);
  EXPECT_EQ(run("CumSum", {&empty, &axis}).shape(), (Shape{0, 4}));
  EXPECT_EQ(kind_of("CumSum", {&empty, &far}), ErrorKind::Malformed);
}

Tensor einsum(const std::string& equation, const std::vector<const Tensor*>& inputs) {
  return check_lowering(test_node("Einsum", inputs, {{"equation", equation}}), inputs)[0];
}

TEST(Einsum, Forms) {
  const Tensor a = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), b = Tensor::of<float>({3, 2}, {1, 0, 0, 1, 1, 1});
  EXPECT_EQ(to_doubles(einsum("ij,jk", {&a, &b})), (std::vector<double>{4, 5, 10, 11}));
  EXPECT_EQ(to_doubles(einsum("ij -> ji", {&a})), (std::vector<double>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(to_doubles(einsum("ij->", {&a})), (std::vector<double>{21}));
  const Tensor square = Tensor::of<float>({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(to_doubles(einsum("ii->i", {&square})), (std::vector<double>{1, 4}));
  EXPECT_EQ(to_doubles(einsum("ii", {&square})), (std::vector<double>{5}));
  const Tensor batch = random_tensor(DType::Float32, {4, 2, 3}), one = random_tensor(DType::Float32, {1, 3, 2}, 2);
  EXPECT_EQ(einsum("...ij,...jk->...ik", {&batch, &one}).shape(), (Shape{4, 2, 2}));
}

TEST(Einsum, ResultMayBeLeftOut) {
  EXPECT_EQ(explicit_equation("bij, jk"), "bij,jk->bik");
  EXPECT_EQ(explicit_equation("ii"), "ii->");
  EXPECT_EQ(explicit_equation("b...Z,Za"), "b...Z,Za->...ab");
  EXPECT_EQ(explicit_equation("ij -> ji"), "ij->ji");
}

TEST(Einsum, RefusesWhatDoesNotFit) {
  const Tensor a = random_tensor(DType::Float32, {2, 3});
  for (const char* equation : {"", "ijk", "ij,jk", "i1->i", "ij->k", "ij->ii", "i..j", "......ij", "ii"})
    EXPECT_EQ(kind_of("Einsum", {&a}, {{"equation", std::string(equation)}}), ErrorKind::Malformed) << equation;
}

TEST(Constants, RangeCountsAndRefuses) {
  const auto range = [](int64_t start, int64_t limit, int64_t delta) {
    const Tensor a = Tensor::scalar(start), b = Tensor::scalar(limit), c = Tensor::scalar(delta);
    return run("Range", {&a, &b, &c});
  };
  constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(to_int64s(range(10, 4, -4)), (std::vector<int64_t>{10, 6}));
  EXPECT_EQ(range(5, 5, 1).size(), 0);
  EXPECT_EQ(to_int64s(range(kLow, kHigh, kHigh)), (std::vector<int64_t>{kLow, -1, kHigh - 1}));
  EXPECT_THROW(range(0, 1, 0), Error);
  EXPECT_THROW(range(kLow, kHigh, 1), Error);
  const Tensor a = Tensor::scalar(0.0f), b = Tensor::scalar(std::numeric_limits<float>::infinity()),
               c = Tensor::scalar(1.0f);
  EXPECT_EQ(kind_of("Range", {&a, &b, &c}), ErrorKind::Malformed);
}

TEST(Constants, ConstantOfShapeChecksBeforeItAllocates) {
  const Tensor negative = ints({2, -1}), huge = ints({int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(kind_of("ConstantOfShape", {&negative}), ErrorKind::Malformed);
  EXPECT_EQ(kind_of("ConstantOfShape", {&huge}), ErrorKind::Malformed);
}

TEST(Constants, EyeLikeOffsets) {
  const Tensor x(DType::Int32, {2, 3});
  EXPECT_EQ(to_int64s(run("EyeLike", {&x}, {{"k", int64_t{1}}})), (std::vector<int64_t>{0, 1, 0, 0, 0, 1}));
  EXPECT_EQ(to_int64s(run("EyeLike", {&x}, {{"k", std::numeric_limits<int64_t>::min()}})), std::vector<int64_t>(6, 0));
}

TEST(Cast, LoopsWhereNothingCanBeOutOfRange) {
  const Tensor x = random_tensor(DType::Int32, {7});
  for (DType to : {DType::Float32, DType::Float64, DType::Bool, DType::UInt8, DType::Int64})
    check_lowering(test_node("Cast", {&x}, {{"to", static_cast<int64_t>(to)}}), {&x});
  const Tensor f = random_tensor(DType::Float32, {7});
  const Node to_int = test_node("Cast", {&f}, {{"to", static_cast<int64_t>(DType::Int32)}});
  EXPECT_TRUE(run_lowered(to_int, {&f}, run_reference(to_int, {&f})).context.stages.empty());
  EXPECT_EQ(kind_of("Cast", {&f}, {{"to", int64_t{99}}}), ErrorKind::Malformed);
  const Tensor bits = Tensor::of<uint8_t>({1}, {2});
  EXPECT_EQ(kind_of("BitCast", {&bits}, {{"to", static_cast<int64_t>(DType::Bool)}}), ErrorKind::Malformed);
}

TEST(Random, SameSeedSameNumbers) {
  const Attributes attributes = {{"shape", std::vector<int64_t>{1000}}, {"seed", 7.0f}};
  const Tensor a = run("RandomUniform", {}, attributes), b = run("RandomUniform", {}, attributes);
  EXPECT_TRUE(a.identical(b));
  double sum = 0;
  for (double x : to_doubles(a)) {
    EXPECT_TRUE(x >= 0 && x < 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 1000, 0.5, 0.05);
  EXPECT_FALSE(find_op("", "RandomUniform")->deterministic);
}

}  // namespace
}  // namespace dnn
