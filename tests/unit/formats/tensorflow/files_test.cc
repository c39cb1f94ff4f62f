// Real TensorFlow files of DNN_TEST_DATA: every way of storing one net gives its outputs.
#include <gtest/gtest.h>

#include <cstdlib>

#include "interp/interpreter.h"
#include "tensor/compare.h"
#include "tensor/npy.h"
#include "unit/formats/tensorflow/graph_builder.h"

namespace dnn {
namespace {

std::string data_folder() {
  const char* folder = std::getenv("DNN_TEST_DATA");
  return folder == nullptr ? "" : folder;
}

double largest_difference(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(a.shape(), b.shape());
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  double most = 0;
  for (size_t i = 0; i < x.size() && i < y.size(); ++i) most = std::max(most, std::abs(x[i] - y[i]));
  return most;
}

// One small Keras net, frozen, saved by two of Keras' ways, and by hand without and with variables.
TEST(TensorflowFiles, OneNetInFiveForms) {
  if (data_folder().empty()) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  const std::string folder = data_folder() + "/format-samples/";
  const std::string x_file = read_file(folder + "x.npy"), y_file = read_file(folder + "y.npy");
  const Tensor x = parse_npy(as_bytes(x_file)), y = parse_npy(as_bytes(y_file));
  for (const char* name : {"tiny_frozen.pb", "tiny_sm", "tiny_export", "hand_sm", "hand_smv"}) {
    SCOPED_TRACE(name);
    const Graph graph = read_model(folder + name);
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "image");
    EXPECT_LT(largest_difference(interpret(graph, {x})[0], y), 1e-6);
    int transposes = 0;
    for (NodeId id : graph.order()) transposes += graph.node(id).op == "Transpose" ? 1 : 0;
    EXPECT_EQ(transposes, 1);
  }
  const Graph graph = read_model(folder + "tiny_export");
  for (const char* parameter : {"stem/kernel", "dw/kernel", "pw/bias", "fc/kernel"})
    EXPECT_NE(graph.constant(graph.find_value(parameter)), nullptr) << parameter;
}

TEST(TensorflowFiles, MobileNetEqualsItsTfliteForm) {
  if (data_folder().empty()) GTEST_SKIP() << "DNN_TEST_DATA is not set";
  const std::string folder = data_folder() + "/derived/mobilenet_v1_0.25_224_";
  const Tensor x = tensorflow::ramp({1, 224, 224, 3});
  const Tensor expected = interpret(read_model(folder + "tflconv.tflite"), {x})[0];
  EXPECT_LT(largest_difference(interpret(read_model(folder + "frozen.pb"), {x})[0], expected), 1e-5);
  EXPECT_LT(largest_difference(interpret(read_model(folder + "savedmodel"), {x})[0], expected), 1e-5);
}

}  // namespace
}  // namespace dnn
