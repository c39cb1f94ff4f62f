// TorchScript and exported programs against the ONNX files of the same weights, and what is refused.
#include "formats/torch/torchscript.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "formats/torch/pt2.h"
#include "formats/torch/script.h"
#include "formats/torch/signature.h"
#include "graph/bind.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "tensor/npy.h"
#include "unit/formats/torch/outside_data.h"

namespace dnn {
namespace {

std::string data(const std::string& path) { return cat(data_folder(), "/", path); }

Tensor run(Graph graph, const Tensor& x) {
  Type& type = graph.value(graph.inputs.at(0)).type;
  EXPECT_TRUE(type.shape.has_value());
  return interpret(graph, {x}).at(0);
}

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  double largest = 0;
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

// Relative to the largest output: float32 in another order of operators.
void expect_same_as_onnx(const std::string& path, const std::string& onnx, const Shape& shape) {
  const Tensor x = random_tensor(DType::Float32, shape, 7);
  const Tensor expected = run(read_model(data(onnx)), x);
  double largest = 0;
  for (double v : to_doubles(expected)) largest = std::max(largest, std::abs(v));
  EXPECT_LE(largest_difference(run(read_model(data(path)), x), expected), 1e-5 * largest) << path;
}

TEST(TorchScript, SqueezeNetTracedAndScriptedComputeWhatItsOnnxDoes) {
  DNN_NEED_DATA();
  for (const char* kind : {"traced", "scripted"})
    expect_same_as_onnx(cat("derived/squeezenet1_1_", kind, ".pt"), "derived/squeezenet1_1_torch1.13_opset13.onnx",
                        {1, 3, 224, 224});
}

TEST(TorchScript, MobileNetTracedComputesWhatItsOnnxDoes) {
  DNN_NEED_DATA();
  expect_same_as_onnx("derived/mobilenetV1X0.25_traced.pt", "derived/mobilenetV1X0.25_torch1.13_opset13.onnx",
                      {1, 3, 224, 224});
}

// The same tiny net by three versions of torch, traced, scripted and frozen.
TEST(TorchScript, EachKindOfTheTinyNetComputesWhatItsOnnxDoes) {
  DNN_NEED_DATA();
  for (const char* kind : {"pt113_trace", "pt113_script", "pt113_script_frozen"})
    expect_same_as_onnx(cat("format-samples/", kind, ".pt"), "format-samples/pt113_tiny.onnx", {1, 3, 32, 32});
  for (const char* kind : {"ptnew_trace.pt", "ptnew_script.pt", "ptnew_export.pt2"})
    expect_same_as_onnx(cat("format-samples/", kind), "format-samples/ptnew_ts.onnx", {1, 3, 32, 32});
}

TEST(TorchScript, KeepsNamesAndOpenExtents) {
  DNN_NEED_DATA();
  const Graph graph = read_model(data("derived/squeezenet1_1_traced.pt"));
  EXPECT_NE(graph.find_value("features.0.weight"), kNoValue);
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "x");
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[batch,3,height,width]");
  EXPECT_EQ(graph.node(graph.order()[0]).name, "features.0");
  for (NodeId id : graph.order()) EXPECT_NE(graph.node(id).op, "Shape");
}

TEST(TorchScript, FixesTheShapeThatTheUserGives) {
  DNN_NEED_DATA();
  const Graph graph = read_model(open_model(data("derived/squeezenet1_1_traced.pt"), {"x:?x3x64x64"}));
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[batch,3,64,64]");
}

// A file without its record of inputs, as a scripted module is: what reads them, and what dtype the weights have, says theirs.
TEST(TorchScript, InputsWithoutATypeHaveWhatTheirReadersTake) {
  const auto types = [](const std::string& body, const std::vector<std::string>& shapes) {
    Graph graph = parse_graph("graph \"g\" {\n" + body + "}");
    infer_types(graph);
    std::string file = torchscript::to_files(graph, {})[0].bytes.text();
    const std::string key = torch::kSignatureKey, other(key.size(), 'x');
    for (size_t at = file.find(key); at != std::string::npos; at = file.find(key)) file.replace(at, key.size(), other);
    ModelSource source = model_in_memory("net.pt", {{"", file}});
    source.shapes = shapes;
    std::string found;
    const Graph read = torchscript::read(source);
    for (ValueId v : read.inputs) found += read.value(v).type.text() + " ";
    return found;
  };
  EXPECT_EQ(types("  input i: int64[2,3]\n  y = BitwiseNot(i)\n  output y\n", {"i:2x3"}), "int64[2,3] ");
  EXPECT_EQ(types("  input x: float16[2,3]\n  const w: float16[3,4] = random(1)\n  y = MatMul(x, w)\n  output y\n",
                  {"x:2x3"}),
            "float16[2,3] ");
  EXPECT_EQ(types("  input x: float32[2,3]\n  y = Relu(x)\n  output y\n", {"x:2x3"}), "float32[2,3] ");
}

TEST(TorchScript, QuantizedMobileNetStaysQuantized) {
  DNN_NEED_DATA();
  const Graph graph = read_model(data("models/mobilenet_v2_quant_torchscript/mobilenet_quantized.pt"));
  std::map<std::string, int> count;
  for (NodeId id : graph.order()) ++count[graph.node(id).op];
  EXPECT_EQ(count["Conv"], 52);
  EXPECT_EQ(count["Gemm"], 1);
  EXPECT_EQ(count["QuantizeLinear"], 1 + 52 + 10 + 1 + 1 + 1);  // input, convolutions, sums, pool, reshape, classifier
}

TEST(Export, BothGenerationsAreRead) {
  DNN_NEED_DATA();
  const Graph old = read_model(data("format-samples/pt25.pt2"));
  EXPECT_NE(old.find_value("c.weight"), kNoValue);
  EXPECT_EQ(run(old, random_tensor(DType::Float32, {1, 3, 16, 16}, 1)).rank(), 2);
  const Graph open = read_model(data("format-samples/ptnew_export_dyn.pt2"));
  EXPECT_EQ(open.value(open.inputs[0]).type.text(), "float32[batch,3,32,32]");
  EXPECT_EQ(run(open, random_tensor(DType::Float32, {3, 3, 32, 32}, 1)).dim(0), 3);
}

TEST(Script, ParsesWhatTorchPrints) {
  const torch::Script script = torch::parse_script(
      "class A(Module):\n"
      "  __parameters__ = [\"w\", ]\n"
      "  w : Tensor\n"
      "  __annotations__[\"0\"] = __torch__.B\n"
      "  stride : Final[Tuple[int, int]] = (1, 2)\n"
      "  def forward(self: __torch__.A,\n"
      "    x: Tensor,\n"
      "    n: Optional[int]=None) -> Tensor:\n"
      "    a, b, = torch.chunk(x, 2, 1)\n"
      "    if torch.gt(torch.len(torch.size(a)), -2):\n"
      "      pass\n"
      "    else:\n"
      "      ops.prim.RaiseException(\"it's \\\"x\\\"\")\n"
      "    return (getattr(self, \"0\")).forward(a, y=1.5, )\n",
      "a.py");
  const torch::Class& c = script.classes.at("A");
  EXPECT_EQ(c.constants.at("stride").items.size(), 2u);
  const torch::Function& f = c.methods.at("forward");
  ASSERT_EQ(f.parameters.size(), 3u);
  EXPECT_TRUE(f.parameters[2].fallback.has_value());
  ASSERT_EQ(f.body.size(), 3u);
  EXPECT_TRUE(f.body[0].unpack);
  EXPECT_EQ(f.body[1].otherwise.size(), 1u);
  EXPECT_EQ(f.body[1].otherwise[0].value.items[1].text, "it's \"x\"");
  EXPECT_EQ(f.body[2].value.keywords, std::vector<std::string>{"y"});
}

TEST(Script, NamesTheLineOfDamage) {
  for (const char* text : {"def f(:\n  pass\n", "def f() -> int:\n  x = (1\n", "def f() -> int:\n  x = \"a\n",
                           "class A(Module):\n  def\n", "def f() -> int:\n  return ?\n"}) {
    try {
      torch::parse_script(text, "a.py");
      ADD_FAILURE() << text;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed);
      EXPECT_EQ(std::string(e.what()).substr(0, 5), "a.py:") << e.what();
    }
  }
  EXPECT_THROW(torch::parse_script("def f() -> int:\n  x = " + std::string(500, '(') + "\n", "a.py"), Error);
}

}  // namespace
}  // namespace dnn
