// Poolings: lowering against reference, and what they refuse.
#include "graph/text.h"
#include "unit/ops/lowering_check.h"

namespace dnn {
namespace {

using Ints = std::vector<int64_t>;

Attributes window(Ints kernel, Ints strides, Ints pads, Ints dilations, bool ceil_mode) {
  return {{"kernel_shape", std::move(kernel)},
          {"strides", std::move(strides)},
          {"pads", std::move(pads)},
          {"dilations", std::move(dilations)},
          {"ceil_mode", int64_t{ceil_mode}}};
}

std::vector<Attributes> windows_2d() {
  return {window({3, 2}, {2, 1}, {1, 0, 0, 1}, {1, 1}, false),
          window({3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, true),
          window({2, 3}, {1, 2}, {2, 1, 1, 3}, {3, 2}, true),
          window({2, 2}, {5, 4}, {1, 1, 1, 1}, {1, 1}, true),
          window({4, 5}, {3, 4}, {0, 0, 0, 0}, {2, 2}, true),  // larger than the input
          {{"kernel_shape", Ints{3, 4}}, {"auto_pad", "SAME_LOWER"}, {"strides", Ints{2, 3}}}};
}

TEST(Pool, LowersToTheReferencesBits) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const Tensor x = random_tensor(dtype, {2, 3, 7, 8});
    for (const Attributes& attributes : windows_2d()) {
      check_lowering(test_node("MaxPool", {&x}, attributes), {&x});
      for (int64_t p : {1, 2, 3}) {
        Attributes with_p = attributes;
        with_p["p"] = p;
        check_lowering(test_node("LpPool", {&x}, with_p), {&x});
      }
      for (int64_t include : {0, 1}) {
        Attributes with_count = attributes;
        with_count["count_include_pad"] = include;
        check_lowering(test_node("AveragePool", {&x}, with_count), {&x});
      }
    }
    const Tensor line = random_tensor(dtype, {1, 2, 9}), volume = random_tensor(dtype, {1, 2, 4, 3, 5});
    const Attributes short_window = {{"kernel_shape", Ints{4}}, {"pads", Ints{3, 3}}, {"dilations", Ints{2}}};
    check_lowering(test_node("AveragePool", {&line}, short_window), {&line});
    const Attributes cube = {{"kernel_shape", Ints{2, 2, 3}}, {"pads", Ints{1, 0, 1, 0, 1, 1}}};
    check_lowering(test_node("MaxPool", {&volume}, cube), {&volume});
    check_lowering(test_node("AveragePool", {&volume}, cube), {&volume});
    for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
      check_lowering(test_node(op, {&x}), {&x});
      check_lowering(test_node(op, {&volume}), {&volume});
    }
  }
}

TEST(Pool, LowersMaxOfBytes) {
  for (const DType dtype : {DType::Int8, DType::UInt8}) {
    const Tensor x = random_tensor(dtype, {1, 2, 5, 5});
    const Attributes attributes = {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}};
    check_lowering(test_node("MaxPool", {&x}, attributes), {&x});
  }
}

TEST(Pool, GivesIndicesOfTheFirstLargest) {
  const Tensor x = Tensor::of<float>({1, 1, 2, 3}, {5, 5, 1, 2, 7, 7});
  const Node node = test_node("MaxPool", {&x}, {{"kernel_shape", Ints{1, 2}}, {"storage_order", int64_t{1}}}, 2);
  const std::vector<Tensor> y = run_reference(node, {&x});
  EXPECT_EQ(to_doubles(y[0]), (std::vector<double>{5, 5, 7, 7}));
  EXPECT_EQ(to_int64s(y[1]), (Ints{0, 2, 3, 3}));  // column-major: row + 2 * column
}

// Windows that reach past the padding (ceil_mode) divide by the taps within it: torch 1.13's avg_pool1d.
TEST(Pool, DividesByTheTapsWithinThePadding) {
  const Tensor x = Tensor::of<float>({1, 1, 4}, {1, 2, 3, 4});
  Attributes attributes = window({3}, {2}, {1, 1}, {1}, true);
  attributes["count_include_pad"] = int64_t{1};
  EXPECT_EQ(to_doubles(run_reference(test_node("AveragePool", {&x}, attributes), {&x})[0]),
            (std::vector<double>{1, 3, 2}));
  attributes["count_include_pad"] = int64_t{0};
  EXPECT_EQ(to_doubles(run_reference(test_node("AveragePool", {&x}, attributes), {&x})[0]),
            (std::vector<double>{1.5, 3, 4}));
}

// As ONNX Runtime's optimiser and torch's exporter write them (https://github.com/pytorch/pytorch/issues/71549).
TEST(Pool, TakesExtentsThatAnOlderInferenceDeclared) {
  const char* const differs = "kernel_shape = [3, 1], pads = [1, 0, 2, 0], strides = [3, 2]";
  const auto inferred = [](const std::string& attributes, const std::string& pool, const std::string& behind) {
    Graph graph = parse_graph("graph {\n input x: float32[1,3,4,4]\n p: float32[1,3," + pool +
                              "] = AveragePool(x) {ceil_mode = 1, " + attributes + "}\n y: float32[1,3," + behind +
                              "] = Relu(p)\n output y\n}");
    try {
      infer_types(graph);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return graph.value(graph.outputs[0]).type.text();
  };
  EXPECT_EQ(inferred(differs, "2,2", "2,2"), "float32[1,3,2,2]");
  EXPECT_EQ(inferred(differs, "3,3", "3,3"), "float32[1,3,2,2]");
  EXPECT_EQ(inferred(differs, "2,2", "3,3"), "float32[1,3,2,2]");
  EXPECT_EQ(inferred(differs, "4,2", "4,2"),
            "value 'p': unnamed node (AveragePool): output 'p' is declared float32[1,3,4,2], but is float32[1,3,2,2]");
  const char* const same = "kernel_shape = [2, 2], strides = [2, 2]";
  EXPECT_EQ(inferred(same, "2,2", "2,2"), "float32[1,3,2,2]");
  EXPECT_EQ(inferred(same, "3,3", "3,3"),
            "value 'p': unnamed node (AveragePool): output 'p' is declared float32[1,3,3,3], but is float32[1,3,2,2]");
  EXPECT_EQ(inferred(same, "2,2", "3,3"),
            "value 'y': unnamed node (Relu): output 'y' is declared float32[1,3,3,3], but is float32[1,3,2,2]");
}

TEST(Pool, RefusesImpossibleWindows) {
  const Tensor x = random_tensor(DType::Float32, {1, 1, 4, 4});
  const int64_t huge = int64_t{1} << 62;
  for (const Attributes& attributes :
       {window({5, 5}, {1, 1}, {0, 0, 0, 0}, {1, 1}, false), window({0, 1}, {1, 1}, {0, 0, 0, 0}, {1, 1}, false),
        window({2, 2}, {1, 0}, {0, 0, 0, 0}, {1, 1}, false), window({2, 2}, {1, 1}, {0, 0, 0, 0}, {huge, huge}, false),
        window({huge, huge}, {1, 1}, {huge, huge, huge, huge}, {1, 1}, false), window({2}, {1}, {0, 0}, {1}, false)}) {
    for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
      try {
        run_reference(test_node(op, {&x}, attributes), {&x});
        ADD_FAILURE() << op << " accepts an impossible window";
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Malformed) << e.what();
      }
    }
  }
}

}  // namespace
}  // namespace dnn
