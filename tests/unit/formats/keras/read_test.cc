// Reading Keras: dialects, shared and nested layers, axis orders, weights, and what is refused, on files that the tests build.
#include <gtest/gtest.h>

#include "formats/keras/config.h"
#include "graph_case.h"
#include "unit/formats/keras/model_builder.h"

namespace dnn::keras {
namespace {

const Node& first(const Graph& graph, const std::string& op) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).op == op) return graph.node(id);
  }
  throw Error(ErrorKind::Internal, "no " + op);
}

std::vector<double> run(const Graph& graph, const Tensor& x) { return to_doubles(interpret(graph, {x})[0]); }

// What reading a model of one layer says when it refuses it.
std::string refusal(const std::string& layer, ErrorKind* kind = nullptr) {
  const std::string config =
      R"({"class_name": "Sequential", "config": {"name": "m", "layers": [{"class_name": "InputLayer",
    "config": {"batch_input_shape": [null, 4], "name": "x"}}, )" +
      layer + "]}}";
  try {
    read_text(h5_file(config, {}));
  } catch (const Error& error) {
    if (kind != nullptr) *kind = error.kind();
    return error.what();
  }
  return "";
}

const char kDense[] = R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
  {"class_name": "Dense", "config": {"name": "fc", "batch_input_shape": [null, 3], "units": 2, "activation": "relu"}}]}})";

TEST(KerasRead, DenseOfKeras2) {
  const Tensor w = Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}), b = Tensor::of<float>({2}, {-1, -100});
  const Graph graph = read_text(h5_file(kDense, {{"fc", {{"fc/kernel:0", w}, {"fc/bias:0", b}}}}));
  EXPECT_EQ(ops_of(graph), "Gemm Relu");
  EXPECT_EQ(graph.value(graph.inputs[0]).name, "fc_input");
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[batch,3]");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "fc");
  EXPECT_EQ(graph.value(first(graph, "Gemm").inputs[1]).name, "fc/kernel:0");
  EXPECT_EQ(run(graph, Tensor::of<float>({1, 3}, {1, 2, 3})), (std::vector<double>{21, 0}));
}

// A convolution over [N, H, W, C] as its definition sums it, "same" with an odd element at the end.
TEST(KerasRead, ConvolutionEqualsItsDefinition) {
  const std::string config = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 4, 6, 2], "name": "x"}, "inbound_nodes": []},
    {"class_name": "Conv2D", "name": "c", "config": {"name": "c", "filters": 3, "kernel_size": [3, 3], "strides": [2, 2],
     "padding": "same", "use_bias": false}, "inbound_nodes": [[["x", 0, 0, {}]]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["c", 0, 0]]}})";
  const std::vector<float> kernel = counting(54), x = counting(48);
  const Graph graph = read_text(h5_file(config, {{"c", {{"c/kernel:0", Tensor::of<float>({3, 3, 2, 3}, kernel)}}}}));
  EXPECT_EQ(ops_of(graph), "Transpose Conv Transpose");
  EXPECT_EQ(first(graph, "Conv").attribute_ints("pads"), (std::vector<int64_t>{0, 0, 1, 1}));
  const Tensor y = interpret(graph, {Tensor::of<float>({1, 4, 6, 2}, x)})[0];
  ASSERT_EQ(y.shape(), (Shape{1, 2, 3, 3}));
  for (size_t h = 0; h < 2; ++h) {
    for (size_t w = 0; w < 3; ++w) {
      for (size_t o = 0; o < 3; ++o) {
        double sum = 0;
        for (size_t i = 0; i < 3; ++i) {
          for (size_t j = 0; j < 3; ++j) {
            for (size_t c = 0; c < 2; ++c) {
              const size_t row = 2 * h + i, column = 2 * w + j;
              if (row < 4 && column < 6)
                sum += static_cast<double>(x[(row * 6 + column) * 2 + c]) *
                       static_cast<double>(kernel[((i * 3 + j) * 2 + c) * 3 + o]);
            }
          }
        }
        EXPECT_NEAR(static_cast<double>(y.data<float>()[(h * 3 + w) * 3 + o]), sum, 1e-5);
      }
    }
  }
}

std::string keras3_tensor(const std::string& layer, int call) {
  return cat(
      R"({"class_name": "__keras_tensor__", "config": {"shape": [null, 2], "dtype": "float32", "keras_history": [")",
      layer, "\", ", call, ", 0]}}");
}

// fc(fc(x)) + fc(x), with weights by class and number.
TEST(KerasRead, SharedLayersOfKeras3) {
  const std::string config =
      R"({"module": "keras.src.models.functional", "class_name": "Functional", "config": {"name": "m", "layers": [
      {"module": "keras.layers", "class_name": "InputLayer", "config": {"batch_shape": [null, 2], "dtype": "float32", "name": "x"},
       "name": "x", "inbound_nodes": []},
      {"module": "keras.layers", "class_name": "Dense", "config": {"name": "fc", "units": 2, "use_bias": false}, "name": "fc",
       "inbound_nodes": [{"args": [)" +
      keras3_tensor("x", 0) + R"(], "kwargs": {}}, {"args": [)" + keras3_tensor("fc", 0) +
      R"(], "kwargs": {"mask": null}}]},
      {"module": "keras.layers", "class_name": "Add", "config": {"name": "sum"}, "name": "sum", "inbound_nodes": [{"args": [[)" +
      keras3_tensor("fc", 1) + ", " + keras3_tensor("fc", 0) + R"(]], "kwargs": {}}]}],
      "input_layers": ["x", 0, 0], "output_layers": ["sum", 0, 0]}})";
  const Graph graph = read_text(keras_file(config, {{"layers/dense/vars/0", Tensor::of<float>({2, 2}, {0, 1, 2, 0})}}));
  EXPECT_EQ(ops_of(graph), "Gemm Gemm Add");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "sum");
  EXPECT_EQ(graph.value(first(graph, "Gemm").inputs[1]).name, "fc/kernel");
  // fc(1, 10) = (20, 1), fc(20, 1) = (2, 20)
  EXPECT_EQ(run(graph, Tensor::of<float>({1, 2}, {1, 10})), (std::vector<double>{22, 21}));
}

// An inner model called once: Keras 2 counts its calls from 1.
TEST(KerasRead, NestedModelsOfKeras2) {
  const std::string config = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 2], "name": "x"}, "inbound_nodes": []},
    {"class_name": "Sequential", "name": "inner", "config": {"name": "inner", "layers": [
      {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 2], "name": "i"}},
      {"class_name": "Dense", "config": {"name": "fc", "units": 1, "activation": "linear"}}]},
      "inbound_nodes": [[["x", 0, 0, {}]]]}],
    "input_layers": [["x", 0, 0]], "output_layers": [["inner", 1, 0]]}})";
  const Tensor w = Tensor::of<float>({2, 1}, {3, 5}), b = Tensor::of<float>({1}, {7});
  const Graph graph = read_text(h5_file(config, {{"x", {}}, {"inner", {{"fc/kernel:0", w}, {"fc/bias:0", b}}}}));
  EXPECT_EQ(run(graph, Tensor::of<float>({1, 2}, {1, 2})), std::vector<double>{20});
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "inner/fc");
}

// Keras 1 with Theano's order of axes: its own names of options, kernels [out, in, h, w], and a list of layers.
TEST(KerasRead, Keras1) {
  const std::string config = R"({"class_name": "Sequential", "config": [
    {"class_name": "Convolution2D", "config": {"name": "c", "nb_filter": 1, "nb_row": 2, "nb_col": 2, "border_mode": "valid",
     "subsample": [1, 1], "dim_ordering": "th", "bias": true, "activation": "linear", "batch_input_shape": [null, 1, 2, 2]}},
    {"class_name": "Flatten", "config": {"name": "f"}}]})";
  const Tensor w = Tensor::of<float>({1, 1, 2, 2}, {1, 2, 3, 4}), b = Tensor::of<float>({1}, {0.5f});
  const Graph graph = read_text(h5_file(config, {{"c", {{"c_W", w}, {"c_b", b}}}, {"f", {}}}, "1.2.2"));
  EXPECT_EQ(ops_of(graph), "Conv Flatten");
  EXPECT_EQ(run(graph, Tensor::of<float>({1, 1, 2, 2}, {1, 10, 100, 1000})), std::vector<double>{4321.5});
}

// x, options, and what the layer makes of it.
struct LayerCase {
  const char* config;
  std::vector<float> x, y;
};

TEST(KerasRead, LayersComputeWhatKerasDoes) {
  const LayerCase cases[] = {
      {R"({"class_name": "ReLU", "config": {"name": "l", "max_value": 2.0, "negative_slope": 0.5, "threshold": 1.0}})",
       {-1, 0, 1.5f, 5},
       {-1, -0.5f, 1.5f, 2}},
      {R"({"class_name": "LeakyReLU", "config": {"name": "l", "alpha": 0.25}})", {-4, 0, 1, 2}, {-1, 0, 1, 2}},
      {R"({"class_name": "Activation", "config": {"name": "l", "activation": "hard_sigmoid"}})",
       {-3, 0, 1, 3},
       {0, 0.5f, 0.7f, 1}},
      {R"({"class_name": "Activation", "config": {"name": "l", "activation": {"class_name": "ReLU", "config": {"max_value": 1}}}})",
       {-3, 0, 0.5f, 3},
       {0, 0, 0.5f, 1}},
      {R"({"class_name": "Reshape", "config": {"name": "l", "target_shape": [2, -1]}})", {1, 2, 3, 4}, {1, 2, 3, 4}},
      {R"({"class_name": "RepeatVector", "config": {"name": "l", "n": 2}})", {1, 2, 3, 4}, {1, 2, 3, 4, 1, 2, 3, 4}},
      {R"({"class_name": "Rescaling", "config": {"name": "l", "scale": 2, "offset": [1, 2, 3, 4]}})",
       {1, 1, 1, 1},
       {3, 4, 5, 6}},
      {R"({"class_name": "Dropout", "config": {"name": "l", "rate": 0.5}})", {1, 2, 3, 4}, {1, 2, 3, 4}},
      {R"({"class_name": "Normalization", "config": {"name": "l", "axis": [-1], "mean": [1, 1, 1, 1], "variance": [[4, 4, 4, 4]]}})",
       {1, 3, 5, 7},
       {0, 1, 2, 3}}};
  for (const LayerCase& c : cases) {
    SCOPED_TRACE(c.config);
    const std::string config = std::string(R"({"class_name": "Sequential", "config": {"name": "m", "layers": [
      {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 4], "name": "x"}}, )") +
                               c.config + "]}}";
    const std::vector<double> y = run(read_text(h5_file(config, {})), Tensor::of<float>({1, 4}, c.x));
    ASSERT_EQ(y.size(), c.y.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], static_cast<double>(c.y[i]), 1e-6);
  }
}

// By hand: h = relu(x w + h u). That Keras computes so is seen by scripts/check-operators keras, case simplernn_bidirectional_both.
TEST(KerasRead, BothDirectionsAndTheirStates) {
  const std::string config =
      R"({"class_name": "Functional", "config": {"name": "m", "layers": [
        {"class_name": "InputLayer", "config": {"batch_input_shape": [null, 3, 1], "name": "x"}, "inbound_nodes": []},
        {"class_name": "Bidirectional", "name": "b", "config": {"name": "b", "trainable": true, "merge_mode": null, "layer":
          {"class_name": "SimpleRNN", "config": {"name": "r", "trainable": true, "activation": "relu", "use_bias": false,
           "return_sequences": true, "return_state": true}}}, "inbound_nodes": [[["x", 0, 0, {}]]]}],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["b", 0, 0], ["b", 0, 1], ["b", 0, 2], ["b", 0, 3]]}})";
  const auto one = [](float v) { return Tensor::of<float>({1, 1}, {v}); };
  const Graph graph = read_text(h5_file(config, {{"b",
                                                  {{"b/forward_r/kernel:0", one(1)},
                                                   {"b/forward_r/recurrent_kernel:0", one(2)},
                                                   {"b/backward_r/kernel:0", one(10)},
                                                   {"b/backward_r/recurrent_kernel:0", one(1)}}}}));
  const std::vector<Tensor> y = interpret(graph, {Tensor::of<float>({1, 3, 1}, {1, 2, 3})});
  ASSERT_EQ(y.size(), 4u);
  EXPECT_EQ(to_doubles(y[0]), (std::vector<double>{1, 4, 11}));
  EXPECT_EQ(to_doubles(y[1]), (std::vector<double>{60, 50, 30}));
  EXPECT_EQ(to_doubles(y[2]), std::vector<double>{11});
  EXPECT_EQ(to_doubles(y[3]), std::vector<double>{60});
}

TEST(KerasRead, CodeAndUnknownLayersAreRefusedByName) {
  ErrorKind kind = ErrorKind::Internal;
  EXPECT_NE(refusal(R"({"class_name": "Lambda", "config": {"name": "evil"}})", &kind)
                .find("'evil' (Lambda): holds Python code"),
            std::string::npos);
  EXPECT_EQ(kind, ErrorKind::Unsupported);
  EXPECT_NE(refusal(R"({"class_name": "MyLayer", "config": {"name": "own"}})", &kind).find("'own' (MyLayer)"),
            std::string::npos);
  EXPECT_EQ(kind, ErrorKind::Unsupported);
  EXPECT_NE(
      refusal(R"({"class_name": "Dense", "config": {"name": "fc", "units": 2}})", &kind).find("kernel is missing"),
      std::string::npos);
  EXPECT_EQ(kind, ErrorKind::Malformed);
  EXPECT_NE(
      refusal(R"({"class_name": "Activation", "config": {"name": "a", "activation": "custom"}})").find("'custom'"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"class_name": "ReLU", "config": {"name": "a", "dtype": "int8_from_float32"}})")
                .find("int8_from_float32"),
            std::string::npos);
}

TEST(KerasRead, WeightsWithoutAModelAreRefused) {
  hdf5::Written root;
  root.set("layer_names", std::vector<std::string>{"a"});
  try {
    read_text(hdf5::to_content(root).text());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("weights without a model"), std::string::npos);
  }
}

TEST(KerasRead, PythonsWordsForInfinitiesAreRead) {
  EXPECT_EQ(parse_json(R"({"a": [-Infinity, Infinity, NaN, -1], "NaN": "\"Infinity"})", "x"),
            Json::parse(R"({"a": ["-inf", "inf", "nan", -1], "NaN": "\"Infinity"})"));
  EXPECT_THROW(parse_json("-Infinit", "x"), Error);
}

// Two layers that wait for each other, a layer that reads of none, and JSON that is nested without end.
TEST(KerasRead, DamagedConfigurationsAreRefused) {
  const std::string head = R"({"class_name": "Functional", "config": {"name": "m", "layers": [
    {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 2], "name": "x"}, "inbound_nodes": []}, )";
  const std::string tail = R"(], "input_layers": [["x", 0, 0]], "output_layers": [["a", 0, 0]]}})";
  const std::string configs[] = {
      head + R"({"class_name": "ReLU", "name": "a", "config": {}, "inbound_nodes": [[["b", 0, 0]]]},
                {"class_name": "ReLU", "name": "b", "config": {}, "inbound_nodes": [[["a", 0, 0]]]})" +
          tail,
      head + R"({"class_name": "ReLU", "name": "a", "config": {}, "inbound_nodes": [[["gone", 0, 0]]]})" + tail,
      head + R"({"class_name": "ReLU", "name": "a", "config": {}, "inbound_nodes": [[["x", 0, 9]]]})" + tail,
      std::string(100000, '['), "{"};
  for (const std::string& config : configs) {
    SCOPED_TRACE(config.substr(0, 600));
    try {
      read_text(h5_file(config, {}));
      ADD_FAILURE();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Malformed) << error.what();
    }
  }
}

}  // namespace
}  // namespace dnn::keras
