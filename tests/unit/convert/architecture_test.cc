// Architectures: recognised by their parameters' names, complete or refused, and equal to the graphs that their own framework wrote.
#include "convert/architectures/architecture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "formats/format.h"
#include "interp/interpreter.h"

namespace dnn {
namespace {

Tensor ramp(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>((i * 29 + 5) % 31) / 31 - 0.3f;
  return Tensor::of<float>(shape, values);
}

void add_norm(Graph& graph, const std::string& name, int64_t channels) {
  for (const char* part : {".weight", ".bias", ".running_mean", ".running_var"}) {
    Tensor values = ramp({channels});
    if (part == std::string(".running_var")) values = Tensor::of<float>({channels}, std::vector<float>(channels, 1.5f));
    graph.add_constant(name + part, values);
  }
  graph.add_constant(name + ".num_batches_tracked", Tensor::scalar(int64_t{7}));
}

// The parameters of a ResNet of four basic blocks and little width.
Graph small_resnet() {
  Graph graph;
  graph.add_constant("conv1.weight", ramp({4, 3, 7, 7}));
  add_norm(graph, "bn1", 4);
  int64_t width = 4;
  for (int layer = 1; layer <= 4; ++layer) {
    const std::string block = cat("layer", layer, ".0");
    const int64_t wanted = 2 * layer + 2;
    graph.add_constant(block + ".conv1.weight", ramp({wanted, width, 3, 3}));
    graph.add_constant(block + ".conv2.weight", ramp({wanted, wanted, 3, 3}));
    add_norm(graph, block + ".bn1", wanted);
    add_norm(graph, block + ".bn2", wanted);
    if (wanted != width) {
      graph.add_constant(block + ".downsample.0.weight", ramp({wanted, width, 1, 1}));
      add_norm(graph, block + ".downsample.1", wanted);
    }
    width = wanted;
  }
  graph.add_constant("fc.weight", ramp({5, width}));
  graph.add_constant("fc.bias", ramp({5}));
  return graph;
}

std::string build_failure(const Graph& weights, const std::string& name) {
  try {
    build_architecture(weights, name);
  } catch (const Error& error) {
    return error.what();
  }
  return "built";
}

TEST(Architecture, IsToldByItsParameters) {
  const Graph net = build_architecture(small_resnet(), "");
  EXPECT_EQ(net.name, "resnet");
  EXPECT_EQ(net.value(net.inputs[0]).type.text(), "float32[batch,3,224,224]");
  EXPECT_EQ(net.value(net.outputs[0]).type.text(), "float32[batch,5]");
  EXPECT_NE(net.find_value("layer4.0.downsample.0.weight"), kNoValue) << "names of parameters stay";
  EXPECT_NE(build_failure(Graph(), "").find("no architecture known here (convnext, vit,"), std::string::npos);
  EXPECT_NE(build_failure(Graph(), "lenet").find("there is no architecture \"lenet\""), std::string::npos);
}

TEST(Architecture, WantsAllItsParametersAndNoOthers) {
  Graph more = small_resnet();
  more.add_constant("fc2.weight", ramp({2, 2}));
  EXPECT_EQ(build_failure(more, ""), "as resnet: 1 parameters have no place in it: \"fc2.weight\"");
  Graph less = small_resnet();
  less.value(less.find_value("bn1.bias")).constant.reset();
  EXPECT_EQ(build_failure(less, ""), "as resnet: there is no parameter \"bn1.bias\"");
}

// State dicts of the test data beside the ONNX files that PyTorch wrote of the same networks.
TEST(TestData, ArchitecturesComputeWhatPyTorchExported) {
  const char* root = std::getenv("DNN_TEST_DATA");
  if (root == nullptr) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  const std::pair<const char*, const char*> pairs[] = {
      {"derived/squeezenet1_1_statedict.pth", "derived/squeezenet1_1_torch1.13_opset13.onnx"},
      {"derived/squeezenet1_1_statedict_legacy.pth", "derived/squeezenet1_1_torch1.13_opset13.onnx"},
      {"models/mobilenet_v1_0.25_pt/mobilenetV1X0.25_pretrain.tar", "derived/mobilenetV1X0.25_torch1.13_opset13.onnx"}};
  for (const auto& [weights, exported] : pairs) {
    SCOPED_TRACE(weights);
    const Graph net = build_architecture(read_model(cat(root, "/", weights)), "");
    const Graph model = read_model(cat(root, "/", exported));
    const std::vector<Tensor> image = {ramp({1, 3, 224, 224})};
    const std::vector<double> a = to_doubles(interpret(net, image)[0]), b = to_doubles(interpret(model, image)[0]);
    ASSERT_EQ(a.size(), b.size());
    double largest = 0, apart = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      largest = std::max(largest, std::abs(b[i]));
      apart = std::max(apart, std::abs(a[i] - b[i]));
    }
    EXPECT_LT(apart, 1e-5 * largest);
  }
  const Graph cifar = build_architecture(read_model(cat(root, "/models/cifar10_resnet_pt/resnet20-12fca82f.th")), "");
  EXPECT_EQ(cifar.name, "cifar_resnet");
  EXPECT_EQ(cifar.value(cifar.outputs[0]).type.text(), "float32[batch,10]");
}

}  // namespace
}  // namespace dnn
