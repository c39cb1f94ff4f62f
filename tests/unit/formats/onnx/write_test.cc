// The ONNX writer: what is written reads back as the same graph, and what an opset cannot say is refused by name.
#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/format.h"
#include "formats/onnx/downgrade.h"
#include "formats/onnx/onnx.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "ops/op.h"

namespace dnn::onnx {
namespace {

std::string body_of(const Graph& graph) {
  std::string out;
  for (const std::string& line : split(to_text(graph), '\n')) {
    if (starts_with(line, "  ")) out += line.substr(2) + "\n";
  }
  return out;
}

std::string downgraded(int opset, const std::string& body) {
  Graph graph = parse_graph("graph {\n" + body + "}");
  infer_types(graph);
  downgrade(graph, opset, nullptr);
  verify(graph);
  return body_of(graph);
}

struct DowngradeCase {
  int opset;
  const char* before;
  const char* after;
};

TEST(Downgrade, InputsThatWereAttributes) {
  const DowngradeCase cases[] = {
      {10,
       "input x: float32[2]\nconst a: float32[] = {0}\nconst b: float32[] = {6}\ny: float32[2] = Clip(x, a, b)\noutput "
       "y\n",
       "input x: float32[2]\ny: float32[2] = Clip(x) {max = 6.0, min = 0.0}\noutput y\n"},
      {10, "input x: float32[2]\ninput a: float32[]\ny: float32[2] = Clip(x, a)\noutput y\n",
       "input x: float32[2]\ninput a: float32[]\ny: float32[2] = Max(x, a)\noutput y\n"},
      {12, "input x: float32[2,3]\nconst a: int64[1] = {1}\ny: float32[2,1,3] = Unsqueeze(x, a)\noutput y\n",
       "input x: float32[2,3]\ny: float32[2,1,3] = Unsqueeze(x) {axes = [1]}\noutput y\n"},
      {10, "input x: float32[2,3]\nconst a: int64[1] = {-1}\ny: float32[2,3,1] = Unsqueeze(x, a)\noutput y\n",
       "input x: float32[2,3]\ny: float32[2,3,1] = Unsqueeze(x) {axes = [2]}\noutput y\n"},
      {9,
       "input x: float32[5]\nconst s: int64[1] = {1}\nconst e: int64[1] = {4}\ny: float32[3] = Slice(x, s, e)\noutput "
       "y\n",
       "input x: float32[5]\ny: float32[3] = Slice(x) {ends = [4], starts = [1]}\noutput y\n"},
      {17, "input x: float32[5]\na: float32[3], b: float32[2] = Split(x) {axis = 0, num_outputs = 2}\noutput a\n",
       "input x: float32[5]\nconst a_split: int64[2] = {3, 2}\na: float32[3], b: float32[2] = Split(x, a_split) {axis "
       "= 0}\noutput a\n"},
      {17,
       "input x: float32[4,5]\nconst p: int64[2] = {1, 2}\nconst a: int64[1] = {-1}\ny: float32[4,8] = Pad(x, p, _, "
       "a)\noutput y\n",
       "input x: float32[4,5]\nconst y_pads: int64[4] = {0, 1, 0, 2}\ny: float32[4,8] = Pad(x, y_pads, _)\noutput y\n"},
  };
  for (const DowngradeCase& c : cases)
    EXPECT_EQ(downgraded(c.opset, c.before), c.after) << "to opset " << c.opset << ":\n" << c.before;
}

TEST(Downgrade, SoftmaxAlongAnInnerAxisTurnsIt) {
  EXPECT_EQ(downgraded(12, "input x: float32[2,3,4]\ny: float32[2,3,4] = Softmax(x) {axis = 1}\noutput y\n"),
            "input x: float32[2,3,4]\ny_Transpose: float32[2,4,3] = Transpose(x) @y_Transpose {perm = [0, 2, 1]}\n"
            "y_turned: float32? = Softmax(y_Transpose) {axis = 2}\ny: float32[2,3,4] = Transpose(y_turned) "
            "@y_turned_Transpose {perm = [0, 2, 1]}\n"
            "output y\n");
}

TEST(Downgrade, NewOperatorsAreMadeOfOlderOnes) {
  EXPECT_EQ(downgraded(13, "input x: float32[2]\ny: float32[2] = HardSwish(x) @h\noutput y\n"),
            "input x: float32[2]\ny_HardSigmoid: float32[2] = HardSigmoid(x) @y_HardSigmoid {alpha = 0.16666667, beta "
            "= 0.5} from \"h\"\n"
            "y: float32[2] = Mul(x, y_HardSigmoid) @h\noutput y\n");
  EXPECT_EQ(downgraded(13, "input x: int64[2]\ninput n: int64[2]\ny: int64[2] = Mod(x, n) @m {fmod = 1}\noutput y\n"),
            "input x: int64[2]\ninput n: int64[2]\ny_Div: int64? = Div(x, n) @y_Div from \"m\"\ny_Mul: int64? = "
            "Mul(y_Div, n) "
            "@y_Mul from \"m\"\ny: int64[2] = Sub(x, y_Mul) @m\noutput y\n");
  const std::string norm = downgraded(
      9,
      "input x: float32[2,8]\nconst s: float32[8] = {1, ...}\ny: float32[2,8] = LayerNormalization(x, s)\noutput y\n");
  EXPECT_NE(norm.find("ReduceMean(x) @y_ReduceMean {axes = [1], keepdims = 1}"), std::string::npos) << norm;
  EXPECT_EQ(norm.find("LayerNormalization"), std::string::npos);
}

TEST(Downgrade, RoundingUpBecomesPadding) {
  // 6 wide, window 3, stride 2: 2 windows rounded down, 3 rounded up with one element of padding.
  EXPECT_EQ(downgraded(9,
                       "input x: float32[1,1,6]\ny: float32[1,1,3] = MaxPool(x) {ceil_mode = 1, kernel_shape = [3], "
                       "strides = [2]}\noutput y\n"),
            "input x: float32[1,1,6]\ny: float32[1,1,3] = MaxPool(x) {kernel_shape = [3], pads = [0, 1], strides = "
            "[2]}\noutput y\n");
  // 4 wide, window 1, stride 3, one in front: the window that would begin in padding does not count.
  EXPECT_EQ(downgraded(9,
                       "input x: float32[1,1,5]\ny = MaxPool(x) {ceil_mode = 1, kernel_shape = [2], strides = [4], "
                       "pads = [0, 1]}\noutput y\n"),
            "input x: float32[1,1,5]\ny: float32[1,1,2] = MaxPool(x) {kernel_shape = [2], pads = [0, 1], strides = "
            "[4]}\noutput y\n");
}

TEST(Downgrade, RefusesByName) {
  const DowngradeCase cases[] = {
      {12, "input x: float32[2,3]\ninput a: int64[1]\ny = Squeeze(x, a) @s\noutput y\n",
       "node 's' (Squeeze): axes computed at run time cannot become an attribute"},
      {13, "input x: int32[2]\ny: int32[2] = Relu(x) @r\noutput y\n",
       "node 'r' (Relu): input 0 of type int32 needs opset 14, not 13"},
      {17,
       "input x: float32[1,1,4,4]\nconst s: float32[4] = {1, 1, 0.5, 0.5}\ny = Resize(x, _, s) @r {antialias = 1, mode "
       "= \"linear\"}\noutput y\n",
       "node 'r' (Resize): antialias needs opset 18"},
      {16, "input x: float32[2]\ny = BlackmanWindow(x) @b\noutput y\n",
       "node 'b' (BlackmanWindow): the operator begins at opset 17 and is not made of older ones"},
      {10, "input x: float32[4]\nconst s: float32[1] = {1.5}\ny = Resize(x, _, s) @r {mode = \"linear\"}\noutput y\n",
       "node 'r' (Resize): mode linear with half_pixel needs opset 11"},
  };
  for (const DowngradeCase& c : cases) {
    try {
      Graph graph = parse_graph(std::string("graph {\n") + c.before + "}");
      downgrade(graph, c.opset, nullptr);
      FAIL() << c.before;
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), c.after);
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    }
  }
}

// ONNX Runtime 1.31.1 refuses the rule SAME for spread windows, and for those narrower than their steps.
TEST(Write, SaysPadsByNumbersWhereRuntimesTakeNoRule) {
  const auto pads = [](const char* node) {
    Graph graph = parse_graph(cat("graph {\n  opset 17\n  input x: float32[batch,2,9,9]\n",
                                  "  const w: float32[2,2,3,3] = random(1)\n  y = ", node, "\n  output y\n}\n"));
    infer_types(graph);
    const Graph again = read(model_in_memory("m.onnx", to_files(graph, {})));
    const Node& written = again.node(again.order()[0]);
    EXPECT_EQ(again.value(again.outputs[0]).type, graph.value(graph.outputs[0]).type);
    return written.has_attribute("auto_pad") ? std::vector<int64_t>{-1} : written.attribute_ints("pads");
  };
  EXPECT_EQ(pads("Conv(x, w) {auto_pad = \"SAME_UPPER\", dilations = [2, 1]}"), (std::vector<int64_t>{2, 1, 2, 1}));
  EXPECT_EQ(pads("Conv(x, w) {auto_pad = \"SAME_LOWER\", strides = [2, 4]}"), (std::vector<int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(pads("MaxPool(x) {auto_pad = \"SAME_UPPER\", kernel_shape = [1, 2], strides = [2, 1]}"),
            (std::vector<int64_t>{0, 0, 0, 1}));
  EXPECT_EQ(pads("AveragePool(x) {auto_pad = \"SAME_LOWER\", kernel_shape = [2, 2]}"), (std::vector<int64_t>{-1}));
}

TEST(Write, InternalOperatorsAreRefused) {
  const Graph graph = parse_graph("graph {\n input x: float32[1]\n y: float32[1] = dnn::Packed(x) @p\n output y\n}");
  try {
    to_files(graph, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "node 'p' (dnn.Packed): ONNX has no such operator");
  }
}

// The text of a graph without where it came from, which the writer replaces.
std::string essence(Graph graph) {
  graph.source_opsets.clear();
  graph.producer.clear();
  for (NodeId id : graph.order()) graph.node(id).sources.clear();
  return to_text(graph);
}

Graph through_bytes(const Graph& graph, const WriteOptions& options) {
  return onnx::read(model_in_memory("-", to_files(graph, options)));
}

TEST(Write, EveryElementTypeReadsBack) {
  Graph graph;
  graph.name = "g";
  for (int code = 1; code <= 28; ++code) {
    const DType dtype = dtype_from_onnx(code);
    Tensor tensor(dtype, {5});
    for (size_t i = 0; i < tensor.size_bytes(); ++i) tensor.mutable_bytes()[i] = std::byte{i % 2 == 0};
    if (dtype == DType::String) tensor.mutable_strings()[3] = "three";
    graph.outputs.push_back(graph.add_constant(cat("t", code), tensor));
  }
  const Graph back = through_bytes(graph, {.opset = kIrOpset});
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    EXPECT_TRUE(back.constant(back.outputs[i])->identical(*graph.constant(graph.outputs[i])))
        << back.value(back.outputs[i]).name;
  }
  EXPECT_THROW(to_files(graph, {.opset = kIrOpset, .ir_version = 8}), Error);
}

TEST(Write, ExternalDataReadsBack) {
  const TemporaryFolder folder(::testing::TempDir());
  Graph graph;
  graph.name = "g";
  graph.outputs = {graph.add_constant("small", random_tensor(DType::Float32, {10}, 1)),
                   graph.add_constant("odd", random_tensor(DType::Int8, {1501}, 2)),
                   graph.add_constant("large", random_tensor(DType::Float32, {600, 700}, 3))};
  const std::string path = folder.path() + "/m.onnx";
  write_model(graph, path, {.external_data = true});
  EXPECT_GT(std::filesystem::file_size(path + ".data"), 600U * 700 * 4 + 1501);
  EXPECT_LT(std::filesystem::file_size(path), 1000U);
  const Graph back = read_model(path);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(back.constant(back.outputs[i])->identical(*graph.constant(graph.outputs[i])));
}

TEST(Write, OldFilesListInitializersAsInputs) {
  const Graph graph = parse_graph(
      "graph \"g\" {\n input x: float32[2]\n const w: float32[2] = {1, 2}\n y: float32[2] = Add(x, w)\n output y\n}");
  EXPECT_EQ(essence(through_bytes(graph, {.opset = 7, .ir_version = 3})), essence(graph));
}

// onnx's checker refuses a graph without a name, in an attribute too.
TEST(Write, NamesEachBody) {
  const Graph graph = parse_graph(R"(graph "g" {
  input c: bool[]
  input x: float32[2]
  y: float32[2] = If(c) {then_branch = graph {
    capture x: float32[2]
    a: float32[2] = Relu(x)
    output a
  }, else_branch = graph "other" {
    capture x: float32[2]
    b: float32[2] = Neg(x)
    output b
  }}
  output y
})");
  const Graph back = through_bytes(graph, {.opset = 17});
  const Node& node = back.node(back.order()[0]);
  const auto name = [&](const char* key) {
    return std::get<std::shared_ptr<const Graph>>(node.attributes.at(key))->name;
  };
  EXPECT_EQ(name("then_branch"), "then_branch");
  EXPECT_EQ(name("else_branch"), "other");
}

// A file of a small quantised network is mostly names: what a quantiser makes follows from what it reads.
TEST(Write, DeclaresNoTypeBehindQuantisers) {
  Graph graph = parse_graph(
      "graph \"g\" {\n input x: float32[2]\n const s: float32[] = {0.5}\n const z: int8[] = {1}\n a: float32[2] = "
      "Relu(x)\n q: int8[2] = QuantizeLinear(a, s, z)\n r: float32[2] = DequantizeLinear(q, s, z)\n "
      " y: float32[2] = Relu(r)\n output y\n}");
  const Graph back = through_bytes(graph, {.opset = 13});
  const auto shape = [&](const char* name) { return back.value(back.find_value(name)).type.shape.has_value(); };
  EXPECT_TRUE(shape("a"));
  EXPECT_FALSE(shape("q"));
  EXPECT_FALSE(shape("r"));
  Graph whole = back;
  infer_types(whole);
  EXPECT_EQ(whole.value(whole.find_value("r")).type, graph.value(graph.find_value("r")).type);
}

// Every model of the test data reads, or is refused for a reason; what is written reads back as the same graph.
TEST(TestData, EveryModelReadsAndSurvivesWriting) {
  const char* root = std::getenv("DNN_TEST_DATA");
  if (root == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  int n_models = 0, n_refused = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".onnx") continue;
    SCOPED_TRACE(entry.path().string());
    ++n_models;
    Graph graph;
    try {
      graph = read_model(entry.path().string());
    } catch (const Error& error) {
      ++n_refused;
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << error.what();
      EXPECT_NE(std::string(error.what()).find("is a sequence, map, optional or sparse tensor"), std::string::npos)
          << error.what();
      continue;
    }
    const TextOptions whole{.inline_elements = 32, .inline_all = true};
    EXPECT_EQ(to_text(parse_graph(to_text(graph, whole)), whole), to_text(graph, whole));
    const WriteOptions newest{.opset = kIrOpset};
    const Graph back = through_bytes(graph, newest);
    EXPECT_EQ(essence(back), essence(graph));
    EXPECT_EQ(to_files(back, newest)[0].bytes.text(), to_files(graph, newest)[0].bytes.text());
  }
  EXPECT_GT(n_models, 80);
  EXPECT_LE(n_refused, 1);
}

}  // namespace
}  // namespace dnn::onnx
