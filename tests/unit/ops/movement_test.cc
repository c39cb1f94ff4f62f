// Operators that move elements: types from partly known shapes, values, refusals, and lowerings equal to references.
#include "ops/movement.h"

#include <numeric>

#include "unit/ops/infer_check.h"
#include "unit/ops/lowering_check.h"
#include "unit/ops/reference_check.h"

namespace dnn {
namespace {

using Texts = std::vector<std::string>;
using Ints = std::vector<int64_t>;

// 0, 1, 2, ... in row-major order.
Tensor counting(const Shape& shape, DType dtype = DType::Float32) {
  Tensor tensor(DType::Int64, shape);
  std::iota(tensor.mutable_data<int64_t>(), tensor.mutable_data<int64_t>() + tensor.size(), int64_t{0});
  return convert(tensor, dtype);
}
std::string malformed_refusal(const Node& node, const std::vector<const Tensor*>& inputs) {
  try {
    run_reference(node, inputs);
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Malformed) << e.what();
    return e.what();
  }
  return "(nothing thrown)";
}

// Lowerings that carry their small inputs' values: checked with the values known.
Tensor moved(const Node& node, const std::vector<const Tensor*>& inputs) {
  return check_lowering(node, inputs, true)[0];
}

TEST(Reshape, TypesKeepWhatIsNotKnown) {
  const Dim n(std::string("N"));
  auto shape = [&](std::vector<Dim> in, const Ints& wanted, Attributes attributes = {}) {
    const Tensor target = ints(wanted);
    return inferred(infer_node("Reshape", 2, std::move(attributes)), {floats(std::move(in)), target})[0];
  };
  EXPECT_EQ(shape({2, 3, 4}, {0, -1}), "float32[2,12]");
  EXPECT_EQ(shape({n, 512, 1, 1}, {0, -1}), "float32[N,512]");
  EXPECT_EQ(shape({n, 512, 1, 1}, {-1, 512}), "float32[N,512]");
  EXPECT_EQ(shape({n, 512, 2, 1}, {-1, 512}), "float32[?,512]");
  EXPECT_EQ(shape({n, 3, 16}, {0, 3, 4, -1}), "float32[N,3,4,4]");
  EXPECT_EQ(shape({0, 3}, {3, 0}, {{"allowzero", int64_t{1}}}), "float32[3,0]");
  EXPECT_EQ(shape({2, 3}, {}), "unnamed node (Reshape): ?[2,3] does not reshape to []");
  EXPECT_EQ(shape({2, 3}, {4, -1}), "unnamed node (Reshape): ?[2,3] does not reshape to [4,-1]");
  EXPECT_EQ(shape({2, 3}, {-1, -1}), "unnamed node (Reshape): two extents of -1 in [-1,-1]");
  EXPECT_EQ(inferred(infer_node("Reshape", 2), {floats({2, 3}), Type(DType::Int64, {3})}), Texts{"float32[?,?,?]"});
}

TEST(Reshape, LoopsFollowTheFlatOrder) {
  for (const auto& [from, to] : std::vector<std::pair<Shape, Ints>>{{{2, 3, 4}, {6, 4}},
                                                                    {{2, 3, 4}, {2, 2, 6}},
                                                                    {{1, 6, 1, 4}, {4, 1, 3, 2}},
                                                                    {{24}, {2, 3, 4}},
                                                                    {{2, 3}, {1, 6, 1}},
                                                                    {{1, 1}, {}},
                                                                    {{}, {1, 1}}}) {
    const Tensor x = random_tensor(DType::Float64, from), shape = ints(to);
    EXPECT_EQ(to_doubles(moved(test_node("Reshape", {&x, &shape}), {&x, &shape})), to_doubles(x));
  }
}

TEST(Reshape, RefusesHostileShapes) {
  const Tensor x = counting({2, 3}), huge = ints({int64_t{1} << 61, 8}), six = ints({5});
  EXPECT_NE(malformed_refusal(test_node("Reshape", {&x, &huge}), {&x, &huge}).find("too many elements"),
            std::string::npos);
  EXPECT_NE(malformed_refusal(test_node("Reshape", {&x, &six}), {&x, &six}).find("does not reshape"),
            std::string::npos);
}

TEST(Flatten, TypesAndLoops) {
  const Dim n(std::string("N"));
  EXPECT_EQ(inferred(infer_node("Flatten", 1), {floats({n, 3, 4})}), Texts{"float32[N,12]"});
  EXPECT_EQ(inferred(infer_node("Flatten", 1, {{"axis", int64_t{0}}}), {floats({2, 3})}), Texts{"float32[1,6]"});
  EXPECT_EQ(inferred(infer_node("Flatten", 1, {{"axis", int64_t{2}}}), {floats({n, 3, 4})}), Texts{"float32[?,4]"});
  const Tensor x = random_tensor(DType::Float32, {2, 3, 2, 2});
  EXPECT_EQ(moved(test_node("Flatten", {&x}, {{"axis", int64_t{-2}}}), {&x}).shape(), (Shape{6, 4}));
}

TEST(Squeeze, TypesValuesRefusals) {
  const Dim n(std::string("N"));
  const Tensor axes = ints({-1, 1});
  EXPECT_EQ(inferred(infer_node("Squeeze", 2), {floats({n, 1, 5, 1}), axes}), Texts{"float32[N,5]"});
  EXPECT_EQ(inferred(infer_node("Squeeze", 1), {floats({3, 1, 5, 1})}), Texts{"float32[3,5]"});
  EXPECT_EQ(inferred(infer_node("Squeeze", 1), {floats({n, 1})}), Texts{"float32?"});
  const Tensor x = counting({2, 1, 3, 1});
  EXPECT_EQ(moved(test_node("Squeeze", {&x, &axes}), {&x, &axes}).shape(), (Shape{2, 3}));
  const Tensor wrong = ints({0});
  EXPECT_EQ(malformed_refusal(test_node("Squeeze", {&x, &wrong}), {&x, &wrong}),
            "unnamed node (Squeeze): axis 0 of ?[2,1,3,1] is not of extent 1");
}

TEST(Unsqueeze, TypesValuesRefusals) {
  const Tensor axes = ints({0, -1}), twice = ints({0, -4});
  EXPECT_EQ(inferred(infer_node("Unsqueeze", 2), {floats({Dim(std::string("N")), 2}), axes}),
            Texts{"float32[1,N,2,1]"});
  const Tensor x = counting({2, 3});
  EXPECT_EQ(moved(test_node("Unsqueeze", {&x, &axes}), {&x, &axes}).shape(), (Shape{1, 2, 3, 1}));
  EXPECT_EQ(malformed_refusal(test_node("Unsqueeze", {&x, &twice}), {&x, &twice}),
            "unnamed node (Unsqueeze): axis 0 is given twice");
}

TEST(Transpose, MovesEveryDtype) {
  const Attributes perm = {{"perm", Ints{2, 0, 1}}};
  for (DType dtype : {DType::Float32, DType::Float64, DType::Int8, DType::UInt16, DType::Int64, DType::Bool}) {
    const Tensor x = random_tensor(dtype, {2, 3, 4});
    EXPECT_EQ(moved(test_node("Transpose", {&x}, perm), {&x}).shape(), (Shape{4, 2, 3}));
  }
  Tensor text(DType::String, {1, 2});
  text.mutable_strings() = {"a", "b"};
  EXPECT_EQ(run_reference(test_node("Transpose", {&text}), {&text})[0].strings(), (Texts{"a", "b"}));
  const Tensor half = convert(counting({2, 2}), DType::Float16);
  EXPECT_EQ(to_doubles(run_reference(test_node("Transpose", {&half}), {&half})[0]), (std::vector<double>{0, 2, 1, 3}));
  EXPECT_EQ(inferred(infer_node("Transpose", 1, perm), {floats({Dim(std::string("N")), 2, 3})}),
            Texts{"float32[3,N,2]"});
  const Tensor x = counting({2, 2, 2});
  EXPECT_EQ(malformed_refusal(test_node("Transpose", {&x}, {{"perm", Ints{0, 0, 1}}}), {&x}),
            "unnamed node (Transpose): axis 0 is given twice");
}

TEST(DepthToSpace, InvertsSpaceToDepth) {
  for (const char* mode : {"DCR", "CRD"}) {
    const Attributes attributes = {{"blocksize", int64_t{2}}, {"mode", std::string(mode)}};
    const Tensor x = counting({2, 12, 2, 3});
    const Tensor y = moved(test_node("DepthToSpace", {&x}, attributes), {&x});
    EXPECT_EQ(y.shape(), (Shape{2, 3, 4, 6}));
    EXPECT_TRUE(moved(test_node("SpaceToDepth", {&y}, attributes), {&y}).identical(x)) << mode;
    // Element [0, 1, 0, 1] comes from place 1 of the block, channel 1.
    EXPECT_EQ(y.data<float>()[1 * 24 + 1], std::string(mode) == "DCR" ? (1 * 3 + 1) * 6 : (1 * 4 + 1) * 6);
  }
}

TEST(Concat, JoinsAlongAnAxis) {
  const Dim n(std::string("N"));
  const Attributes axis = {{"axis", int64_t{-2}}};
  EXPECT_EQ(inferred(infer_node("Concat", 2, axis), {floats({n, 2, 3}), floats({4, 5, 3})}), Texts{"float32[4,7,3]"});
  EXPECT_EQ(inferred(infer_node("Concat", 2, axis), {floats({1, n, 3}), floats({1, 5, 3})}), Texts{"float32[1,?,3]"});
  EXPECT_EQ(inferred(infer_node("Concat", 2, axis), {floats({1, 2, 3}), floats({1, 5, 4})}),
            Texts{"unnamed node (Concat): ?[1,2,3] and ?[1,5,4] differ beside axis 1"});
  const Tensor a = random_tensor(DType::Float32, {2, 1, 3}), b = random_tensor(DType::Float32, {2, 4, 3}, 2),
               none(DType::Float32, {2, 0, 3});
  const Tensor y = moved(test_node("Concat", {&a, &none, &b}, axis), {&a, &none, &b});
  EXPECT_EQ(y.shape(), (Shape{2, 5, 3}));
  EXPECT_EQ(y.data<float>()[15], a.data<float>()[3]);
}

TEST(Slice, ClampsAndSteps) {
  const Tensor x = counting({5, 4});
  auto slice = [&](const Ints& starts, const Ints& ends, const Ints& axes, const Ints& steps) {
    const Tensor s = ints(starts), e = ints(ends), a = ints(axes), st = ints(steps);
    const Node node = test_node("Slice", {&x, &s, &e, &a, &st});
    const Tensor y = moved(node, {&x, &s, &e, &a, &st});
    EXPECT_EQ(inferred(infer_node("Slice", 5), {Type(x), s, e, a, st}), Texts{Type(y).text()});
    return to_doubles(y);
  };
  EXPECT_EQ(slice({1, 1}, {3, 100}, {0, 1}, {1, 2}), (std::vector<double>{5, 7, 9, 11}));
  EXPECT_EQ(slice({-1}, {INT64_MIN}, {0}, {-2}), (std::vector<double>{16, 17, 18, 19, 8, 9, 10, 11, 0, 1, 2, 3}));
  EXPECT_EQ(slice({3}, {0}, {1}, {INT64_MIN}), (std::vector<double>{3, 7, 11, 15, 19}));
  EXPECT_EQ(slice({0}, {INT64_MAX}, {-1}, {INT64_MAX}), (std::vector<double>{0, 4, 8, 12, 16}));
}

TEST(Slice, TypesOfUnknownExtents) {
  const Tensor zero = ints({0}), end = ints({INT64_MAX}), two = ints({2}), axis = ints({1});
  const Dim n(std::string("N"));
  const Node node = infer_node("Slice", 4);
  EXPECT_EQ(inferred(node, {floats({n, 5}), zero, two, axis}), Texts{"float32[N,2]"});
  EXPECT_EQ(inferred(node, {floats({5, n}), zero, end, axis}), Texts{"float32[5,N]"});
  EXPECT_EQ(inferred(node, {floats({5, n}), zero, two, axis}), Texts{"float32[5,?]"});
  EXPECT_EQ(inferred(node, {floats({5, 6}), Type(DType::Int64, {1}), two, axis}), Texts{"float32[5,?]"});
}

TEST(Slice, EmptyResultAndRefusals) {
  const Tensor x = counting({3}), one = ints({1}), zero = ints({0});
  EXPECT_EQ(run_reference(test_node("Slice", {&x, &one, &one}), {&x, &one, &one})[0].shape(), (Shape{0}));
  EXPECT_EQ(malformed_refusal(test_node("Slice", {&x, &zero, &one, &zero, &zero}), {&x, &zero, &one, &zero, &zero}),
            "unnamed node (Slice): a step of 0");
  const Tensor both = ints({0, 0});
  EXPECT_EQ(malformed_refusal(test_node("Slice", {&x, &both, &both, &both}), {&x, &both, &both, &both}),
            "unnamed node (Slice): axis 0 is given twice");
}

TEST(Split, EvenUnevenAndGiven) {
  const Tensor x = random_tensor(DType::Float32, {2, 7}), sizes = ints({4, 0, 3});
  const Attributes axis = {{"axis", int64_t{1}}};
  std::vector<Tensor> parts = check_lowering(test_node("Split", {&x}, axis, 3), {&x});
  EXPECT_EQ(parts[0].shape(), (Shape{2, 3}));
  EXPECT_EQ(parts[2].shape(), (Shape{2, 1}));
  EXPECT_EQ(parts[2].data<float>()[0], x.data<float>()[6]);
  const Node node = test_node("Split", {&x, &sizes}, axis, 3);
  parts = run_reference(node, {&x, &sizes});
  EXPECT_EQ(parts[1].shape(), (Shape{2, 0}));
  EXPECT_EQ(parts[2].data<float>()[0], x.data<float>()[4]);
  EXPECT_EQ(inferred(node, {floats({Dim(std::string("N")), 7}), sizes}),
            (Texts{"float32[N,4]", "float32[N,0]", "float32[N,3]"}));
  const Tensor wrong = ints({4, 4, -1});
  EXPECT_EQ(malformed_refusal(node, {&x, &wrong}), "unnamed node (Split): split [4,4,-1] of an extent of 7");
}

TEST(Gather, IndicesKnownOrNot) {
  const Tensor x = random_tensor(DType::Float32, {2, 5, 3});
  const Attributes axis = {{"axis", int64_t{1}}};
  for (const Ints& indices : {Ints{3, 0, -1, 2}, Ints{1, 3}, Ints{4, 3, 2, 1}, Ints{-5}}) {
    const Tensor at = ints(indices);
    const Tensor y = moved(test_node("Gather", {&x, &at}, axis), {&x, &at});
    EXPECT_EQ(y.shape(), (Shape{2, at.size(), 3}));
    EXPECT_EQ(y.data<float>()[0], x.data<float>()[3 * ((indices[0] + 5) % 5)]);
  }
  const Tensor scalar = Tensor::scalar<int32_t>(-2), matrix = Tensor::of<int64_t>({2, 2}, {0, 4, 1, 1});
  EXPECT_EQ(moved(test_node("Gather", {&x, &scalar}, axis), {&x, &scalar}).shape(), (Shape{2, 3}));
  EXPECT_EQ(moved(test_node("Gather", {&x, &matrix}, axis), {&x, &matrix}).shape(), (Shape{2, 2, 2, 3}));
  EXPECT_EQ(inferred(infer_node("Gather", 2, axis), {floats({Dim(std::string("N")), 5}), Type(DType::Int64, {2, 3})}),
            Texts{"float32[N,2,3]"});
  const Tensor far = ints({5});
  EXPECT_EQ(malformed_refusal(test_node("Gather", {&x, &far}, axis), {&x, &far}),
            "unnamed node (Gather): index 5 is out of range for an extent of 5");
}

TEST(Expand, BroadcastsBothWays) {
  const Tensor x = counting({3, 1}), shape = ints({2, 1, 4});
  const Tensor y = moved(test_node("Expand", {&x, &shape}), {&x, &shape});
  EXPECT_EQ(y.shape(), (Shape{2, 3, 4}));
  EXPECT_EQ(y.data<float>()[4], 1);
  EXPECT_EQ(inferred(infer_node("Expand", 2), {floats({Dim(std::string("N")), 1}), shape}), Texts{"float32[2,N,4]"});
  const Tensor wrong = ints({2, 4}), huge = ints({int64_t{1} << 40, 3, int64_t{1} << 20});
  EXPECT_NE(malformed_refusal(test_node("Expand", {&x, &wrong}), {&x, &wrong}).find("do not broadcast"),
            std::string::npos);
  EXPECT_NE(malformed_refusal(test_node("Expand", {&x, &huge}), {&x, &huge}).find("does not fit in memory"),
            std::string::npos);
}

TEST(Tile, RepeatsByAxis) {
  const Tensor x = counting({2, 3}), repeats = ints({2, 2});
  const Tensor y = moved(test_node("Tile", {&x, &repeats}), {&x, &repeats});
  EXPECT_EQ(y.shape(), (Shape{4, 6}));
  EXPECT_EQ(y.data<float>()[6 * 3 + 4], 4);
  const Tensor none = ints({0, 1}), negative = ints({-1, 1});
  EXPECT_EQ(run_reference(test_node("Tile", {&x, &none}), {&x, &none})[0].shape(), (Shape{0, 3}));
  EXPECT_EQ(malformed_refusal(test_node("Tile", {&x, &negative}), {&x, &negative}),
            "unnamed node (Tile): repeats [-1,1]");
}

std::vector<double> padded(const std::string& mode, const Ints& pads, int64_t n = 4) {
  const Tensor x = counting({n}), border = ints(pads);
  return to_doubles(moved(test_node("Pad", {&x, &border}, {{"mode", mode}}), {&x, &border}));
}

TEST(Pad, EveryModeAlsoBeyondOnePeriod) {
  using V = std::vector<double>;
  EXPECT_EQ(padded("constant", {1, 2}), (V{0, 0, 1, 2, 3, 0, 0}));
  EXPECT_EQ(padded("edge", {2, 1}), (V{0, 0, 0, 1, 2, 3, 3}));
  EXPECT_EQ(padded("reflect", {3, 5}), (V{3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2}));
  EXPECT_EQ(padded("wrap", {5, 1}), (V{3, 0, 1, 2, 3, 0, 1, 2, 3, 0}));
  EXPECT_EQ(padded("reflect", {1, 1}, 1), (V{0, 0, 0}));
}

TEST(Pad, NegativePadsCutFirst) {
  using V = std::vector<double>;
  EXPECT_EQ(padded("constant", {-1, 2}), (V{1, 2, 3, 0, 0}));
  EXPECT_EQ(padded("edge", {2, -2}), (V{0, 0, 0, 1}));
  const Tensor x = counting({4}), all = ints({-3, -1});
  EXPECT_EQ(run_reference(test_node("Pad", {&x, &all}), {&x, &all})[0].shape(), (Shape{0}));
}

TEST(Pad, FillValueAxesAndTypes) {
  const Tensor x = random_tensor(DType::Float32, {2, 3}), pads = ints({1, 2}), value = Tensor::scalar<float>(7),
               axes = ints({-1});
  const Tensor y = moved(test_node("Pad", {&x, &pads, &value, &axes}), {&x, &pads, &value, &axes});
  EXPECT_EQ(y.shape(), (Shape{2, 6}));
  EXPECT_EQ(y.data<float>()[0], 7);
  EXPECT_EQ(inferred(infer_node("Pad", 4), {floats({Dim(std::string("N")), 3}), pads, value, axes}),
            Texts{"float32[N,6]"});
  const Tensor wrong = ints({7});
  EXPECT_EQ(malformed_refusal(test_node("Pad", {&x, &pads, &wrong, &axes}), {&x, &pads, &wrong, &axes}),
            "unnamed node (Pad): constant_value int64[1] for data of float32");
  const Tensor huge = ints({INT64_MAX, INT64_MAX}), cut = ints({-5, 1});
  EXPECT_NE(malformed_refusal(test_node("Pad", {&x, &huge, nullptr, &axes}), {&x, &huge, nullptr, &axes}).find("pads"),
            std::string::npos);
  EXPECT_NE(malformed_refusal(test_node("Pad", {&x, &cut, nullptr, &axes}), {&x, &cut, nullptr, &axes}).find("pads"),
            std::string::npos);
}

}  // namespace
}  // namespace dnn
