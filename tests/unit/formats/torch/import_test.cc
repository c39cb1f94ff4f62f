// Operators of PyTorch against values that PyTorch 2.15 gives: resizing in its forms, rounded division, thresholds; and arguments
// that no row knows.
#include "formats/torch/import.h"

#include <gtest/gtest.h>

#include <cmath>

#include "interp/interpreter.h"

namespace dnn::torch {
namespace {

// The result of a call on `x` and more arguments.
Tensor computed(const std::string& op, const Tensor& x, std::vector<Any> more, IgnoredFields ignored = {}) {
  Importer importer(std::move(ignored));
  std::vector<Dim> dims;
  for (int64_t extent : x.shape()) dims.emplace_back(extent);
  more.insert(more.begin(), importer.cell(importer.add_input("x", Type(x.dtype(), dims))));
  const Any result = importer.call(op, more, {}, op, "here");
  DraftBuilder steps(importer.draft, "end");
  const ValueId y = steps.emit("Identity", {(*result.get<Any::Tensor>())->value});
  importer.draft.graph.outputs.push_back(y);
  return interpret(importer.draft.finish(), {x}).at(0);
}

std::string import_refusal(const std::string& op, const Tensor& x, std::vector<Any> more) {
  try {
    computed(op, x, std::move(more));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << error.what();
    return error.what();
  }
  ADD_FAILURE() << op << " is not refused";
  return "";
}

void expect_near(const Tensor& y, const std::vector<float>& expected, const std::string& what) {
  const std::vector<double> values = to_doubles(y);
  ASSERT_EQ(values.size(), expected.size()) << what;
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], static_cast<double>(expected[i]), 4e-6) << what << " " << i;
}

// By size, or where that is 0 by factor; corners -1: the operator has no such argument.
struct Resizing {
  const char* op;
  int64_t size;
  int corners;
  double factor;
  std::vector<float> expected;
};

TEST(TorchImport, ResizesAsPyTorchDoes) {
  const Tensor line = Tensor::of<float>({1, 1, 5}, {1, 4, 2, 8, 5}),
               plane = Tensor::of<float>({1, 1, 3, 4}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8});
  const std::vector<Resizing> rows = {
      {"upsample_nearest1d", 1, -1, 0, {1}},
      {"upsample_nearest1d", 3, -1, 0, {1, 4, 8}},
      {"upsample_nearest1d", 7, -1, 0, {1, 1, 4, 2, 2, 8, 5}},
      {"upsample_nearest1d", 0, -1, 2.3, {1, 1, 1, 4, 4, 2, 2, 8, 8, 8, 5}},
      {"upsample_nearest1d", 0, -1, 0.7, {1, 4, 2}},
      {"upsample_nearest1d", 0, -1, 1.5, {1, 1, 4, 2, 2, 8, 5}},
      {"_upsample_nearest_exact1d", 1, -1, 0, {2}},
      {"_upsample_nearest_exact1d", 3, -1, 0, {1, 2, 5}},
      {"_upsample_nearest_exact1d", 7, -1, 0, {1, 4, 4, 2, 8, 8, 5}},
      {"_upsample_nearest_exact1d", 0, -1, 2.3, {1, 1, 4, 4, 4, 2, 2, 8, 8, 5, 5}},
      {"_upsample_nearest_exact1d", 0, -1, 0.7, {1, 2, 8}},
      {"_upsample_nearest_exact1d", 0, -1, 1.5, {1, 4, 4, 2, 8, 8, 5}},
      {"upsample_linear1d", 1, 0, 0, {2}},
      {"upsample_linear1d", 3, 0, 0, {2, 2, 6}},
      {"upsample_linear1d", 7, 0, 0, {1, 2.714286f, 3.428571f, 2, 6.285715f, 6.714286f, 5}},
      {"upsample_linear1d",
       0,
       0,
       2.3,
       {1, 1.456522f, 2.76087f, 3.956522f, 3.086957f, 2.217391f, 3.956521f, 6.565217f, 7.413044f, 6.108696f, 5}},
      {"upsample_linear1d", 0, 0, 0.7, {1.642857f, 2.714286f, 7.785714f}},
      {"upsample_linear1d", 0, 0, 1.5, {1, 2.5f, 3.666667f, 2.333333f, 5, 7.5f, 5.5f}},
      {"upsample_linear1d", 1, 1, 0, {1}},
      {"upsample_linear1d", 3, 1, 0, {1, 2, 5}},
      {"upsample_linear1d", 7, 1, 0, {1, 3, 3.333333f, 2, 6, 7, 5}},
      {"upsample_linear1d", 0, 1, 2.3, {1, 2.2f, 3.4f, 3.6f, 2.8f, 2, 4.400001f, 6.8f, 7.4f, 6.2f, 5}},
      {"upsample_linear1d", 0, 1, 0.7, {1, 2, 5}},
      {"upsample_linear1d", 0, 1, 1.5, {1, 3, 3.333333f, 2, 6, 7, 5}},
      {"upsample_nearest2d", 1, -1, 0, {3}},
      {"upsample_nearest2d", 2, -1, 0, {3, 4, 5, 2}},
      {"upsample_nearest2d", 0, -1, 1.3, {3, 3, 1, 4, 1, 5, 5, 9, 2, 6, 5, 5, 3, 5, 8}},
      {"_upsample_nearest_exact2d", 1, -1, 0, {2}},
      {"_upsample_nearest_exact2d", 2, -1, 0, {1, 1, 3, 8}},
      {"_upsample_nearest_exact2d", 0, -1, 1.3, {3, 1, 1, 4, 1, 5, 9, 9, 2, 6, 5, 9, 9, 2, 6}},
      {"upsample_bilinear2d", 1, 0, 0, {5.5f}},
      {"upsample_bilinear2d", 2, 0, 0, {3.25f, 2.875f, 4.75f, 5.875f}},
      {"upsample_bilinear2d",
       0,
       0,
       1.3,
       {3, 1.692308f, 2.269231f, 3.423077f, 1.115384f, 5, 7.615385f, 6.038461f, 2.769231f, 5.846154f, 5, 3.692308f,
        3.846154f, 5.576923f, 7.884616f}},
      {"upsample_bilinear2d", 1, 1, 0, {3}},
      {"upsample_bilinear2d", 2, 1, 0, {3, 1, 5, 8}},
      {"upsample_bilinear2d", 0, 1, 1.3, {3, 1.5f, 2.5f, 3.25f, 1, 5, 8, 5.5f, 3, 6, 5, 3.5f, 4, 5.75f, 8}},
      {"upsample_bicubic2d", 1, 0, 0, {5.5f}},
      {"upsample_bicubic2d", 2, 0, 0, {3.199097f, 2.791138f, 4.89209f, 5.949707f}},
      {"upsample_bicubic2d",
       0,
       0,
       1.3,
       {3.027515f, 0.8411725f, 1.994383f, 3.896364f, 0.7692903f, 4.16011f, 6.673446f, 5.231203f, 2.186f, 4.075113f,
        5.065524f, 7.136371f, 5.462501f, 3.350635f, 7.221367f}},
      {"upsample_bicubic2d", 1, 1, 0, {3}},
      {"upsample_bicubic2d", 2, 1, 0, {3, 1, 5, 8}},
      {"upsample_bicubic2d",
       0,
       1,
       1.3,
       {3, 1.136719f, 2.59375f, 3.636719f, 1, 5, 8.832031f, 5.5f, 2.167969f, 6, 5, 3.242188f, 3.53125f, 5.890625f, 8}},
      {"_upsample_bilinear2d_aa", 1, 0, 0, {4.452381f}},
      {"_upsample_bilinear2d_aa", 2, 0, 0, {3.785714f, 3.196429f, 4.946429f, 5.517858f}},
      {"_upsample_bilinear2d_aa",
       0,
       0,
       1.3,
       {3, 1.692308f, 2.269231f, 3.423077f, 1.115384f, 5, 7.615385f, 6.038461f, 2.769231f, 5.846154f, 5, 3.692308f,
        3.846154f, 5.576923f, 7.884616f}},
      {"_upsample_bicubic2d_aa", 1, 0, 0, {4.392258f}},
      {"_upsample_bicubic2d_aa", 2, 0, 0, {3.831924f, 3.02941f, 5.001287f, 5.67616f}},
      {"_upsample_bicubic2d_aa",
       0,
       0,
       1.3,
       {3.097734f, 1.460976f, 2.226986f, 3.714102f, 1.065153f, 4.804533f, 8.149251f, 6.244992f, 2.195784f, 5.911032f,
        5.097734f, 3.53218f, 3.512887f, 5.594921f, 7.938341f}},
  };
  for (const Resizing& row : rows) {
    const Tensor& x = std::string(row.op).find("1d") != std::string::npos ? line : plane;
    const size_t n = x.shape().size() - 2;
    std::vector<Any> arguments = {row.size == 0 ? Any() : make_list(std::vector<Any>(n, Any(row.size)))};
    if (row.corners >= 0) arguments.emplace_back(row.corners == 1);
    arguments.push_back(row.factor == 0 ? Any() : make_list(std::vector<Any>(n, Any(row.factor))));
    expect_near(computed(row.op, x, arguments), row.expected,
                cat(row.op, " ", row.size, " ", row.corners, " ", row.factor));
  }
}

// torch multiplies in float64: by float32's 2.3 and 0.02 it would be 22 and 0 rows.
TEST(TorchImport, FactorsGiveTheExtentsThatFloat64Gives) {
  for (const auto& [in, factor, out] :
       {std::tuple<int64_t, double, int64_t>{10, 2.3, 23}, {50, 2.3, 114}, {50, 0.02, 1}, {10, 0.1, 1}, {7, 1.3, 9}}) {
    for (const char* op : {"upsample_nearest1d", "_upsample_nearest_exact1d", "upsample_linear1d"}) {
      std::vector<Any> arguments = {Any(), make_list({Any(factor)})};
      if (std::string(op) == "upsample_linear1d") arguments.insert(arguments.begin() + 1, Any(false));
      EXPECT_EQ(computed(op, Tensor(DType::Float32, {1, 1, in}), arguments).dim(2), out) << op << " " << in;
    }
  }
}

TEST(TorchImport, AlignedCornersWithAntialiasingAreRefused) {
  const Any size = make_list({Any(int64_t{2}), Any(int64_t{2})});
  EXPECT_NE(import_refusal("_upsample_bilinear2d_aa", Tensor(DType::Float32, {1, 1, 3, 4}), {size, true, Any(), Any()})
                .find("align_corners"),
            std::string::npos);
}

struct Division {
  const char* op;
  double by;
  const char* rounding;
  std::vector<float> expected;
};

void expect_divisions(const Tensor& x, bool integers, const std::vector<Division>& rows) {
  for (const Division& row : rows) {
    std::vector<Any> arguments = {integers ? Any(static_cast<int64_t>(row.by)) : Any(row.by)};
    if (*row.rounding != '\0') arguments.emplace_back(std::string(row.rounding));
    const Tensor y = computed(row.op, x, arguments);
    EXPECT_EQ(y.dtype(), x.dtype()) << row.op;
    expect_near(y, row.expected, cat(row.op, " ", row.by, " ", row.rounding));
  }
}

TEST(TorchImport, DividesIntegersAsPyTorchDoes) {
  expect_divisions(Tensor::of<int32_t>({7}, {-10, -9, -1, 0, 1, 9, 10}), true,
                   {
                       {"div", 3, "floor", {-4, -3, -1, 0, 0, 3, 3}},
                       {"div", 3, "trunc", {-3, -3, 0, 0, 0, 3, 3}},
                       {"remainder", 3, "", {2, 0, 2, 0, 1, 0, 1}},
                       {"fmod", 3, "", {-1, 0, -1, 0, 1, 0, 1}},
                       {"floor_divide", 3, "", {-4, -3, -1, 0, 0, 3, 3}},
                       {"div", -3, "floor", {3, 3, 0, 0, -1, -3, -4}},
                       {"div", -3, "trunc", {3, 3, 0, 0, 0, -3, -3}},
                       {"remainder", -3, "", {-1, 0, -1, 0, -2, 0, -2}},
                       {"fmod", -3, "", {-1, 0, -1, 0, 1, 0, 1}},
                       {"floor_divide", -3, "", {3, 3, 0, 0, -1, -3, -4}},
                       {"div", 4, "floor", {-3, -3, -1, 0, 0, 2, 2}},
                       {"div", 4, "trunc", {-2, -2, 0, 0, 0, 2, 2}},
                       {"remainder", 4, "", {2, 3, 3, 0, 1, 1, 2}},
                       {"fmod", 4, "", {-2, -1, -1, 0, 1, 1, 2}},
                       {"floor_divide", 4, "", {-3, -3, -1, 0, 0, 2, 2}},
                   });
  const Tensor ends = Tensor::of<int32_t>({3}, {INT32_MIN, INT32_MIN + 1, INT32_MAX});
  EXPECT_EQ(to_int64s(computed("floor_divide", ends, {Any(int64_t{3})})),
            (std::vector<int64_t>{-715827883, -715827883, 715827882}));
  EXPECT_EQ(to_int64s(computed("floor_divide", ends, {Any(int64_t{-3})})),
            (std::vector<int64_t>{715827882, 715827882, -715827883}));
}

TEST(TorchImport, DividesRealNumbersAsPyTorchDoes) {
  expect_divisions(Tensor::of<float>({5}, {1, -1, .7f, -.7f, 2.5f}), false,
                   {
                       {"floor_divide", 0.1f, "", {9, -10, 6, -7, 24}},
                       {"remainder", 0.1f, "", {0.09999999f, 1.490116e-08f, 0.09999998f, 2.235174e-08f, 0.09999996f}},
                       {"fmod", 0.1f, "", {0.09999999f, -0.09999999f, 0.09999998f, -0.09999998f, 0.09999996f}},
                       {"floor_divide", -0.3f, "", {-4, 3, -3, 2, -9}},
                       {"remainder", -0.3f, "", {-0.2f, -0.09999996f, -0.2f, -0.09999996f, -0.2000001f}},
                       {"fmod", -0.3f, "", {0.09999996f, -0.09999996f, 0.09999996f, -0.09999996f, 0.0999999f}},
                   });
}

TEST(TorchImport, SumsOfIntegersAreWide) {
  const Tensor x = Tensor::of<uint8_t>({1, 3}, {200, 100, 50});
  for (const char* op : {"sum", "prod", "cumsum"}) {
    const Tensor y = computed(op, x, {Any(int64_t{1})});
    EXPECT_EQ(y.dtype(), DType::Int64) << op;
    EXPECT_EQ(to_int64s(y).back(), std::string(op) == "prod" ? 1000000 : 350) << op;
  }
}

TEST(TorchImport, SoftplusHasAThreshold) {
  const Tensor x = Tensor::of<float>({5}, {-1, 0, .3f, .6f, 1});
  expect_near(computed("softplus", x, {2.0, 0.5}), {0.0634640f, 0.3465736f, .3f, .6f, 1}, "softplus");
}

TEST(TorchImport, SpreadsAndLengths) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, -4, 0, 4});
  const Any last = make_list({Any(int64_t{1})});
  expect_near(computed("var", x, {last, true, false}), {1, 16}, "var");
  expect_near(computed("var", x, {last, false, false}), {2.0f / 3, 32.0f / 3}, "var of all");
  expect_near(computed("std", x, {last, true, true}), {1, 4}, "std");
  expect_near(computed("linalg_vector_norm", x, {int64_t{1}, last}), {6, 8}, "1-norm");
  expect_near(computed("linalg_vector_norm", x, {int64_t{2}, last}), {3.7416574f, 5.656854f}, "2-norm");
  expect_near(computed("linalg_vector_norm", x, {HUGE_VAL, last}), {3, 4}, "largest");
  expect_near(computed("trunc", Tensor::of<float>({3}, {-1.7f, 0.2f, 2.5f}), {}), {-1, 0, 2}, "trunc");
  expect_near(computed("any", x, {int64_t{0}}), {1, 1, 1}, "any");
  expect_near(computed("all", x, {int64_t{0}}), {1, 0, 1}, "all");
}

TEST(TorchImport, WindowsAreUnfolded) {
  const Tensor x = Tensor::of<float>({1, 1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const auto pair = [](int64_t a, int64_t b) { return make_list({Any(a), Any(b)}); };
  expect_near(computed("im2col", x, {pair(2, 2), pair(1, 1), pair(0, 0), pair(1, 1)}), {1, 2, 2, 3, 4, 5, 5, 6},
              "im2col");
  expect_near(computed("unfold", x, {int64_t{3}, int64_t{2}, int64_t{1}}), {1, 2, 2, 3, 4, 5, 5, 6}, "unfold");
}

// An argument that no schema has, in each row.
// Tensors beside `x` are constants.
Tensor computed_beside(const std::string& op, const Tensor& x, const std::vector<Tensor>& more, bool listed = false) {
  Importer importer;
  std::vector<Dim> dims;
  for (int64_t extent : x.shape()) dims.emplace_back(extent);
  std::vector<Any> arguments = {importer.cell(importer.add_input("x", Type(x.dtype(), dims)))};
  for (const Tensor& tensor : more)
    arguments.push_back(tensor.defined() ? importer.cell(importer.draft.add_constant("k", tensor, Draft::Name::Given))
                                         : Any());
  if (listed) arguments = {make_list(std::move(arguments)), int64_t{0}};
  const Any result = importer.call(op, arguments, {}, op, "here");
  DraftBuilder steps(importer.draft, "end");
  importer.draft.graph.outputs.push_back(steps.emit("Identity", {(*result.get<Any::Tensor>())->value}));
  return interpret(importer.draft.finish(), {x}).at(0);
}

TEST(TorchImport, BoundsMayBeTensors) {
  const Tensor x = Tensor::of<float>({2, 3}, {-2, 0.5f, 3, 7, 1, -4}), low = Tensor::of<float>({3}, {-1, 1, 1}),
               high = Tensor::of<float>({2, 1}, {2.5f, 0});
  expect_near(computed_beside("clamp", x, {low, high}), {-1, 1, 2.5f, 0, 0, 0}, "both");
  expect_near(computed_beside("clamp", x, {low}), {-1, 1, 3, 7, 1, 1}, "below");
  expect_near(computed_beside("clamp", x, {Tensor(), high}), {-2, 0.5f, 2.5f, 0, 0, -4}, "above");
  expect_near(computed_beside("clamp_max", x, {high}), {-2, 0.5f, 2.5f, 0, 0, -4}, "clamp_max");
  expect_near(computed_beside("clamp", x, {Tensor::scalar(0.0f), Tensor::scalar(1.0f)}), {0, 0.5f, 1, 1, 1, 0}, "one");
}

// Numbers of PyTorch 2.15.
TEST(TorchImport, WritesIntoCopies) {
  const Tensor x = Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), rows = Tensor::of<int64_t>({2, 1}, {1, -2}),
               columns = Tensor::of<int64_t>({2}, {0, 2}), four = Tensor::of<float>({2, 2}, {10, 20, 30, 40});
  const auto put = [&](const std::vector<Tensor>& places, const Tensor& values, bool adds) {
    Importer importer;
    const Any from = importer.cell(importer.add_input("x", Type(x.dtype(), {Dim(2), Dim(3)})));
    const auto constant = [&](const Tensor& t) {
      return importer.cell(importer.draft.add_constant("k", t, Draft::Name::Given));
    };
    std::vector<Any> list;
    for (const Tensor& tensor : places) list.push_back(constant(tensor));
    const Any y =
        importer.call("index_put", {from, make_list(std::move(list)), constant(values), adds}, {}, "p", "here");
    importer.draft.graph.outputs.push_back((*y.get<Any::Tensor>())->value);
    return interpret(importer.draft.finish(), {x}).at(0);
  };
  expect_near(put({rows, columns}, four, false), {30, 2, 40, 10, 5, 20}, "index_put");
  expect_near(put({rows, columns}, four, true), {31, 2, 43, 14, 5, 26}, "index_put that adds");
  expect_near(put({Tensor::of<int64_t>({1}, {0})}, Tensor::scalar(7.0f), false), {7, 7, 7, 4, 5, 6}, "a row");
  const auto scatter = [&](const std::string& op, const Tensor& source, std::vector<Any> more) {
    Importer importer;
    const Any from = importer.cell(importer.add_input("x", Type(x.dtype(), {Dim(2), Dim(3)})));
    more.insert(more.begin(), {from, importer.cell(importer.draft.add_constant("k", source, Draft::Name::Given))});
    const Any y = importer.call(op, more, {}, "s", "here");
    importer.draft.graph.outputs.push_back((*y.get<Any::Tensor>())->value);
    return interpret(importer.draft.finish(), {x}).at(0);
  };
  const Tensor column = Tensor::of<float>({2, 2}, {-1, -2, -3, -4});
  expect_near(scatter("slice_scatter", column, {int64_t{1}, int64_t{0}, Any(), int64_t{2}}), {-1, 2, -2, -3, 5, -4},
              "slice_scatter");
  expect_near(scatter("select_scatter", Tensor::of<float>({2}, {8, 9}), {int64_t{-1}, int64_t{-2}}), {1, 8, 3, 4, 9, 6},
              "select_scatter");
  const Tensor moved =
      computed("movedim", Tensor::of<float>({1, 2, 3}, {1, 2, 3, 4, 5, 6}),
               {make_list({Any(int64_t{0}), Any(int64_t{2})}), make_list({Any(int64_t{2}), Any(int64_t{0})})});
  EXPECT_EQ(moved.shape(), (Shape{3, 2, 1}));
  expect_near(moved, {1, 4, 2, 5, 3, 6}, "movedim");
}

TEST(TorchImport, TypesArePromoted) {
  Tensor truths(DType::Bool, {2});
  truths.mutable_data<bool>()[0] = true;
  const Tensor more = computed("add", truths, {int64_t{1}});
  EXPECT_TRUE(more.identical(Tensor::of<int64_t>({2}, {2, 1})));
  EXPECT_TRUE(computed("mul", truths, {0.5}).identical(Tensor::of<float>({2}, {0.5f, 0})));
  EXPECT_TRUE(computed_beside("add", truths, {Tensor::scalar<int64_t>(1)}).identical(more));  // as a trace has it
  const Tensor whole = Tensor::of<int32_t>({2}, {3, -4}), real = Tensor::of<float>({2}, {0.5f, 1});
  EXPECT_TRUE(computed_beside("cat", real, {whole}, true).identical(Tensor::of<float>({4}, {0.5f, 1, 3, -4})));
  EXPECT_TRUE(computed_beside("stack", whole, {Tensor::of<int64_t>({2}, {7, 8})}, true)
                  .identical(Tensor::of<int64_t>({2, 2}, {3, -4, 7, 8})));
}

// Results that no graph computes may be left unread; they are no None that an output could leave out.
TEST(TorchImport, ResultsThatAreNotMadeAreRefusedWhereTheyAreRead) {
  Importer importer;
  const Any x = importer.cell(importer.add_input("x", Type(DType::Float32, {1, 1, 4, 4})));
  const Any made = importer.call("max_pool2d_with_indices", {x, make_list(std::vector<Any>{int64_t{2}, int64_t{2}})},
                                 {}, "p", "here");
  const std::vector<Any>& results = (*made.get<Any::List>())->items;
  EXPECT_NO_THROW(importer.call("neg", {results.at(0)}, {}, "n", "here"));
  EXPECT_FALSE(results.at(1).none());
  try {
    importer.call("neg", {results.at(1)}, {}, "n", "there");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("the indices of"), std::string::npos) << error.what();
  }
}

TEST(TorchImport, UnknownArgumentsAreRefusedByName) {
  for (const OpRow& row : op_rows()) {
    Importer importer;
    try {
      importer.call(row.name, {Any(int64_t{1})}, {"unheard_of"}, "n", "here");
      ADD_FAILURE() << row.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << row.name << ": " << error.what();
      EXPECT_NE(std::string(error.what()).find("argument \"unheard_of\" = 1 is not read"), std::string::npos)
          << error.what();
    }
    Importer other({"unheard_of"});
    try {
      other.call(row.name, {Any(int64_t{1})}, {"unheard_of"}, "n", "here");
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("unheard_of"), std::string::npos) << error.what();
    }
  }
}

// Arguments that a row has, whose function does not ask for them.
TEST(TorchImport, ArgumentsThatNoFunctionAsksForAreRefused) {
  const Tensor x = Tensor::of<float>({1, 4}, {1, 2, 3, 4});
  EXPECT_NE(import_refusal("zeros_like", x, {Any(), Any(int64_t{1})}).find("argument \"layout\" = 1 is not read"),
            std::string::npos);
  EXPECT_EQ(computed("zeros_like", x, {Any(), Any(int64_t{0}), std::string("cpu"), Any(), Any(int64_t{1})}).size(), 4);
  EXPECT_EQ(computed("zeros_like", x, {Any(), Any(int64_t{1})}, {"layout"}).size(), 4);
  EXPECT_EQ(computed("zeros_like", x, {Any(), Any(int64_t{1})}, {"zeros_like.layout"}).size(), 4);
}

}  // namespace
}  // namespace dnn::torch
