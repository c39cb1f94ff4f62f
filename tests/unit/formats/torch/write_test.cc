// Exported programs, state dicts and safetensors: what is written, and that the weights read back to the bit.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"
#include "base/zip.h"
#include "formats/torch/pt2.h"
#include "formats/torch/torchscript.h"
#include "formats/torch/weights.h"
#include "formats/torch/write.h"
#include "graph/text.h"

namespace dnn::torch {
namespace {

using Json = nlohmann::json;

Graph graph_of(const std::string& body) { return parse_graph("graph \"g\" {\n  opset 28\n" + body + "\n}\n"); }

constexpr const char* kNet = R"(
    input x: float32[n,3,4,4]
    const conv.weight: float32[2,3,1,1] = random(1)
    const conv: float32[2] = {1, 2}
    const bn.bias: float32[2] = {3, 4}
    const bn.running_mean: float32[2] = {5, 6}
    const bn.running_var: float32[2] = {7, 8}
    const act.weight: float32[2,1,1] = {0.25, 0.5}
    const order: int64[2] = {1, 0}
    a = Conv(x, conv.weight, conv)
    b = BatchNormalization(a, bn.bias, bn.bias, bn.running_mean, bn.running_var)
    c = PRelu(b, act.weight)
    d = Gather(c, order) {axis = 1}
    s = Shape(d)
    const at: int64[1] = {0}
    e = Gather(s, at)
    const rest: int64[1] = {-1}
    f = Concat(e, rest) {axis = 0}
    y = Reshape(d, f)
    output y)";

std::string record(const std::string& file, const std::string& name) {
  const ZipArchive zip(as_bytes(file));
  const ZipArchive::Entry* entry = zip.find(name);
  if (entry == nullptr) {
    ADD_FAILURE() << "no record " << name;
    return "";
  }
  return zip.read(*entry);
}

TEST(Pt2, TheProgramAndItsTensors) {
  const Graph graph = graph_of(kNet);
  const std::string file = pt2::to_files(graph, {})[0].bytes.text();
  EXPECT_EQ(pt2::to_files(graph, {})[0].bytes.text(), file);
  EXPECT_EQ(record(file, "net/archive_format"), "pt2");
  EXPECT_EQ(record(file, "net/archive_version"), "0");
  EXPECT_EQ(record(file, "net/.data/version"), "6\n");
  EXPECT_EQ(record(file, "net/data/sample_inputs/model.pt"), "");
  const Json weights = parse_json(record(file, "net/data/weights/model_weights_config.json")).at("config");
  std::vector<std::string> names;
  for (const auto& [name, entry] : weights.items()) names.push_back(name);
  // "conv" makes room for the module that "conv.weight" needs.
  EXPECT_EQ(join(names, " "), "act.weight bn.bias bn.running_mean bn.running_var conv.weight conv_");
  EXPECT_EQ(weights.at("conv_").at("is_param"), true);
  EXPECT_EQ(weights.at("bn.running_mean").at("is_param"), false);
  EXPECT_EQ(json_text(weights.at("act.weight").at("tensor_meta").at("sizes")), R"([{"as_int":2}])");
  EXPECT_EQ(record(file, "net/data/weights/" + weights.at("bn.running_var").at("path_name").get<std::string>()),
            std::string(as_text(dnn::Tensor::of<float>({2}, {7, 8}).bytes())));

  const Json model = parse_json(record(file, "net/models/model.json")),
             graph_json = model.at("graph_module").at("graph");
  std::vector<std::string> targets;
  for (const Json& node : graph_json.at("nodes")) targets.push_back(node.at("target"));
  EXPECT_EQ(join(targets, " "),
            "torch.ops.aten.conv2d.default torch.ops.aten.batch_norm.default torch.ops.aten.prelu.default "
            "torch.ops.aten.index_select.default torch.ops.aten.sym_size.int torch.ops.aten.reshape.default");
  EXPECT_EQ(json_text(graph_json.at("nodes").back().at("inputs")),
            R"([{"arg":{"as_tensor":{"name":"d"}},"kind":1,"name":"self"},)"
            R"({"arg":{"as_sym_ints":[{"as_name":"d_size_0"},{"as_int":-1}]},"kind":1,"name":"shape"}])");
  EXPECT_EQ(json_text(graph_json.at("tensor_values").at("x").at("sizes")),
            R"j([{"as_expr":{"expr_str":"Symbol('s0', positive=True, integer=True)","hint":null}},)j"
            R"({"as_int":3},{"as_int":4},{"as_int":4}])");
  EXPECT_EQ(json_text(graph_json.at("tensor_values").at("x").at("strides")),
            R"([{"as_int":48},{"as_int":16},{"as_int":4},{"as_int":1}])");
  EXPECT_EQ(json_text(graph_json.at("tensor_values").at("y").at("sizes").back()), R"({"as_int":32})");
  EXPECT_EQ(model.at("range_constraints").size(), 1u);
  const Json specs = model.at("graph_module").at("signature").at("input_specs");
  ASSERT_EQ(specs.size(), 8u);  // 4 parameters, 2 buffers, the order, x
  EXPECT_TRUE(specs[6].contains("tensor_constant"));
  EXPECT_EQ(json_text(specs[7]), R"({"user_input":{"arg":{"as_tensor":{"name":"x"}}}})");
}

// The parameters and buffers of kNet, as a module has them.
void expect_state(const Graph& read, const Graph& written) {
  std::map<std::string, const dnn::Tensor*> tensors;
  for (ValueId v = 0; v < read.value_count(); ++v) {
    if (const dnn::Tensor* constant = read.constant(v)) tensors[read.value(v).name] = constant;
  }
  ASSERT_EQ(tensors.size(), 6u);
  for (const auto& [name, tensor] : tensors) {
    const dnn::Tensor* source = written.constant(written.find_value(name));
    ASSERT_NE(source, nullptr) << name;
    EXPECT_TRUE(tensor->identical(source->reshaped(tensor->shape()))) << name;
    if (name == "act.weight") {
      EXPECT_EQ(tensor->shape(), Shape{2});
    }
  }
}

TEST(StateDict, HoldsParametersAndBuffers) {
  const Graph graph = graph_of(kNet);
  ModelFiles files = statedict::to_files(graph, {});
  expect_state(statedict::read(model_in_memory("net.pth", files)), graph);
}

TEST(SafeTensors, HoldTheSameAndTheMetadata) {
  Graph graph = graph_of(kNet);
  graph.metadata.emplace_back("labels", "cat\ndog");
  const std::string file = safetensors::to_files(graph, {})[0].bytes.text();
  EXPECT_EQ(file.substr(8, 59), R"({"__metadata__":{"format":"pt","labels":"cat\ndog"},"conv.w)");
  EXPECT_EQ(static_cast<unsigned char>(file[0]) % 8, 0);
  const Graph read = safetensors::read(model_in_memory("net.safetensors", {{"", file}}));
  expect_state(read, graph);
}

TEST(SafeTensors, WideElementsStandFirst) {
  const Graph graph = graph_of(
      "input x: float32[2,2]\nconst q: int8[2,2] = {1, 2, 3, 4}\nconst s: float32[2] = {0.5, 1}\n"
      "w = DequantizeLinear(q, s)\ny = MatMul(x, w)\noutput y");
  const std::string file = safetensors::to_files(graph, {})[0].bytes.text();
  EXPECT_LT(file.find("\"s\""), file.find("\"q\""));
  EXPECT_EQ(file.substr(file.size() - 4), std::string("\1\2\3\4", 4));
}

TEST(StateDict, WeightsWithoutAGraphStayAsTheyAre) {
  Graph weights;
  weights.add_constant("a.b", dnn::Tensor::of<int64_t>({2}, {1, -1}));
  weights.add_constant("c", dnn::Tensor::of<float>({}, {0.5f}));
  ModelFiles files = statedict::to_files(weights, {});
  const Graph read = statedict::read(model_in_memory("w.pth", files));
  ASSERT_NE(read.constant(read.find_value("a.b")), nullptr);
  EXPECT_TRUE(read.constant(read.find_value("a.b"))->identical(dnn::Tensor::of<int64_t>({2}, {1, -1})));
  EXPECT_TRUE(read.constant(read.find_value("c"))->identical(dnn::Tensor::of<float>({}, {0.5f})));
}

}  // namespace
}  // namespace dnn::torch
