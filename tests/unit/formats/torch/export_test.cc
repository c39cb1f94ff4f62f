// ATen programs and TorchScript: what each row of exports.def writes, names, state, extents that stay open, refusals.
#include "formats/torch/export.h"

#include <gtest/gtest.h>

#include <set>

#include "base/zip.h"
#include "formats/torch/torchscript.h"
#include "formats/torch/write.h"
#include "unit/formats/torch/export_cases.h"

namespace dnn::torch {
namespace {

// The statements of forward().
std::string forward(const std::string& body) {
  const std::string text = torchscript_text(to_program(graph_of(body)));
  std::string lines;
  bool inside = false;
  for (const std::string& line : split(text, '\n')) {
    if (inside && !line.empty()) lines += line.substr(line.find_first_not_of(' ')) + "\n";
    inside = inside || line.find(") -> ") != std::string::npos;
  }
  return lines;
}

std::string export_refusal(const std::string& body) {
  try {
    to_program(graph_of(body));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "not refused: " << body;
  return "";
}

TEST(TorchExport, EachRowWritesWhatPyTorchRuns) {
  std::set<std::string> covered;
  for (const ExportCase& c : export_cases()) {
    EXPECT_EQ(forward(c.body), c.text) << c.body;
    covered.insert(c.op);
  }
  for (const ExportRow& row : export_rows()) EXPECT_EQ(covered.count(row.op), 1u) << row.op;
}

TEST(TorchExport, TheClassHoldsParametersAndBuffersUnderTheirNames) {
  const std::string text = torchscript_text(to_program(graph_of(R"(
    input "images:0": float32[n,1,4,4]
    const "features.0.weight": float32[2,1,1,1] = {1, 2}
    const bn.weight: float32[2] = {1, 2}
    const bn.bias: float32[2] = {1, 2}
    const bn.running_mean: float32[2] = {1, 2}
    const bn.running_var: float32[2] = {1, 2}
    const half: float32[] = {0.5}
    const table: int64[2] = {1, 0}
    "/conv/out" = Conv("images:0", "features.0.weight")
    "1" = BatchNormalization("/conv/out", bn.weight, bn.bias, bn.running_mean, bn.running_var)
    return = Pow("1", half)
    y = Gather(return, table) {axis = 1}
    output y)")));
  EXPECT_EQ(text, R"(class Part3(Module):
  __parameters__ = ["weight", "bias", ]
  __buffers__ = ["running_mean", "running_var", ]
  __annotations__["weight"] = Tensor
  __annotations__["bias"] = Tensor
  __annotations__["running_mean"] = Tensor
  __annotations__["running_var"] = Tensor
class Part2(Module):
  __parameters__ = ["weight", ]
  __buffers__ = []
  __annotations__["weight"] = Tensor
class Part1(Module):
  __parameters__ = []
  __buffers__ = []
  __annotations__["0"] = __torch__.Part2
class Net(Module):
  __parameters__ = []
  __buffers__ = []
  __annotations__["features"] = __torch__.Part1
  __annotations__["bn"] = __torch__.Part3
  def forward(self: __torch__.Net,
    images_0: Tensor) -> Tensor:
    conv_out = torch.conv2d(images_0, getattr(self.features, "0").weight, None, [1, 1], [0, 0], [1, 1], 1)
    _1 = torch.batch_norm(conv_out, self.bn.weight, self.bn.bias, self.bn.running_mean, self.bn.running_var, False, 0.1, 1e-05, False)
    return_1 = torch.pow(_1, 0.5)
    y = torch.index_select(return_1, 1, CONSTANTS.c0)
    return y
)");
}

// load_state_dict() takes a dotted name for a module's tensor; what cannot be one stays an attribute as it is.
TEST(TorchExport, NamesThatAreNoModulesStayWhole) {
  EXPECT_EQ(forward(R"(input x: float32[2]
    const a: float32[2] = {1, 2}
    const a.b: float32[2] = {1, 3}
    const a.b.c.d: float32[2] = {1, 4}
    const ".e": float32[2] = {1, 5}
    const "f.": float32[2] = {1, 6}
    const forward.g: float32[2] = {1, 7}
    const h.i.j: float32[2] = {1, 8}
    1 = Add(x, a)
    2 = Add(1, a.b)
    3 = Add(2, a.b.c.d)
    4 = Add(3, ".e")
    5 = Add(4, "f.")
    6 = Add(5, forward.g)
    y = Add(6, h.i.j)
    output y)"),
            R"(_1 = torch.add(x, self.a)
_2 = torch.add(_1, getattr(self, "a.b"))
_3 = torch.add(_2, getattr(self, "a.b.c.d"))
_4 = torch.add(_3, getattr(self, ".e"))
_5 = torch.add(_4, getattr(self, "f."))
_6 = torch.add(_5, getattr(self, "forward.g"))
y = torch.add(_6, self.h.i.j)
return y
)");
  std::string dots = "k";
  for (int i = 0; i < 40; ++i) dots += ".k";
  const std::string lines =
      forward("input x: float32[2]\nconst " + dots + ": float32[2] = {1, 2}\ny = Add(x, " + dots + ")\noutput y");
  EXPECT_NE(lines.find(", \"k.k.k.k.k.k.k.k.k\"))"), std::string::npos) << lines;  // 32 modules, then what is left
}

TEST(TorchExport, LayersOfAnExporterHaveTheirModulesNames) {
  EXPECT_EQ(module_path("/layer1/layer1.0/conv1/Conv"), "layer1.0.conv1");
  EXPECT_EQ(module_path("/features/features.0/features.0.0/Conv"), "features.0.0");
  EXPECT_EQ(module_path("/encoder/layers/encoder_layer_0/mlp/mlp.0/MatMul"), "encoder.layers.encoder_layer_0.mlp.0");
  EXPECT_EQ(module_path("/fc/Gemm"), "fc");
  EXPECT_EQ(module_path("/Conv"), "");
  EXPECT_EQ(module_path("conv1/Conv2D"), "");
  EXPECT_EQ(module_path(""), "");
}

// Neither a weight that two layers share nor one whose name is another tensor's is renamed; the shared one is not turned either.
TEST(TorchExport, SharedWeightsStayAsTheyAre) {
  EXPECT_EQ(forward(R"(input x: float32[2,3]
    const "onnx::MatMul_1": float32[3,3] = random(1)
    const "onnx::MatMul_2": float32[3,4] = random(2)
    const b.weight: float32[4] = {1, 2, 3, 4}
    p = MatMul(x, "onnx::MatMul_1") @/a/MatMul
    q = MatMul(p, "onnx::MatMul_1") @/a/MatMul_1
    r = MatMul(q, "onnx::MatMul_2") @/b/MatMul
    y = Mul(r, b.weight)
    output y)"),
            R"(p = torch.matmul(x, getattr(self, "onnx::MatMul_1"))
q = torch.matmul(p, getattr(self, "onnx::MatMul_1"))
r = torch.linear(q, getattr(self, "onnx::MatMul_2"))
y = torch.mul(r, self.b.weight)
return y
)");
}

TEST(TorchExport, NodesWithoutACounterpartAreRefusedByName) {
  EXPECT_EQ(export_refusal("input x: float32[2,3]\ny = NonZero(x) @picks\noutput y"),
            "node 'picks' (NonZero) has no counterpart in PyTorch that can be written; ONNX holds it");
  EXPECT_EQ(
      export_refusal("input x: float32[2,3,n,4]\nconst w: float32[1,3,2,2] = random(1)\ny = Conv(x, w) @c {auto_pad = "
                     "\"SAME_UPPER\", strides = [2, 2]}\noutput y"),
      "node 'c' (Conv) cannot be written for PyTorch: its spatial extents are open; fix them with --shape");
  EXPECT_EQ(export_refusal("input x: float32[2,3]\ninput s: int64[2]\ny = Reshape(x, s) @r\noutput y"),
            "node 'r' (Reshape) cannot be written for PyTorch: its shape is computed from data");
}

TEST(TorchScript, TheArchiveIsCompleteAndAligned) {
  Graph graph = graph_of(
      "input x: float32[2,3]\nconst fc.weight: float32[2,3] = {1, 2, 3, 4, 5, 6}\nconst k: float32[2] = {1, 2}\n"
      "h = Gemm(x, fc.weight) {transB = 1}\ny = Add(h, k)\noutput y");
  graph.metadata.emplace_back("labels", "cat\ndog");
  const ModelFiles files = torchscript::to_files(graph, {});
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0].suffix, "");
  const std::string file = files[0].bytes.text();
  EXPECT_EQ(torchscript::to_files(graph, {})[0].bytes.text(), file);
  const ZipArchive zip(as_bytes(file));
  std::vector<std::string> names;
  for (const ZipArchive::Entry& entry : zip.entries()) {
    names.push_back(entry.name);
    EXPECT_EQ((reinterpret_cast<const char*>(zip.packed(entry).data()) - file.data()) % 64, 0) << entry.name;
  }
  EXPECT_EQ(
      join(names, " "),
      "net/data/0 net/data/1 net/data.pkl net/constants.pkl net/code/__torch__.py net/extra/dnn-tools.signature.json "
      "net/extra/labels net/version");
  EXPECT_EQ(zip.read(*zip.find("net/extra/labels")), "cat\ndog");
  EXPECT_EQ(zip.read(*zip.find("net/extra/dnn-tools.signature.json")),
            R"({"name":"g","inputs":[{"name":"x","dtype":"float32","shape":[2,3]}],)"
            R"("outputs":[{"name":"y","dtype":"float32","shape":[2,2]}]})");
  EXPECT_EQ(zip.read(*zip.find("net/version")), "10\n");
}

}  // namespace
}  // namespace dnn::torch
