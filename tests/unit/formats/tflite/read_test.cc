// Reading TFLite: layouts, padding, quantisation, names, and what is refused or damaged, on files that the tests build.
#include <gtest/gtest.h>

#include "graph_case.h"
#include "unit/formats/tflite/model_builder.h"

namespace dnn::tflite {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;

const Node& first(const Graph& graph, const std::string& op) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).op == op) return graph.node(id);
  }
  throw Error(ErrorKind::Internal, "no " + op);
}

std::function<flatbuffers::uoffset_t(Builder&)> conv_options(Padding padding, int stride, Activation activation) {
  return [=](Builder& fbb) { return CreateConv2DOptions(fbb, padding, stride, stride, activation).o; };
}

std::vector<float> counting(size_t n) {
  std::vector<float> values;
  for (size_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i % 13) - 6);
  return values;
}

// x [1,5,5,2] -> CONV_2D 3x3, stride 2, SAME -> RELU6, of weights [2,3,3,2].
std::string conv_file(Padding padding = Padding::SAME) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {1, 5, 5, 2}});
  const int w = b.tensor({.name = "w", .shape = {2, 3, 3, 2}, .bytes = bytes_of(counting(36))});
  const int bias = b.tensor({.name = "b", .shape = {2}, .bytes = bytes_of<float>({0.5f, -0.5f})});
  const int y = b.tensor({.name = "y", .shape = {1, 3, 3, 2}});
  b.op(3, {x, w, bias}, {y}, conv_options(padding, 2, Activation::RELU6));
  return b.finish({x}, {y});
}

TEST(TfliteRead, ConvolutionsWorkOnChannelsFirst) {
  const Graph graph = read_bytes(conv_file());
  EXPECT_EQ(ops_of(graph), "Transpose Conv Clip Transpose");
  EXPECT_EQ(graph.value(graph.inputs[0]).type.text(), "float32[1,5,5,2]");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "y");
  const Node& conv = first(graph, "Conv");
  EXPECT_EQ(graph.value(conv.inputs[1]).name, "w");
  EXPECT_EQ(graph.value(conv.inputs[1]).type.text(), "float32[2,2,3,3]");
  EXPECT_EQ(conv.attribute_ints("pads"), (std::vector<int64_t>{1, 1, 1, 1}));
}

// The sum that the format defines, over NHWC and OHWI.
TEST(TfliteRead, ConvolutionEqualsItsDefinition) {
  const dnn::Tensor x = dnn::Tensor::of<float>({1, 5, 5, 2}, counting(50));
  const dnn::Tensor y = interpret(read_bytes(conv_file()), {x})[0];
  const std::vector<float> weights = counting(36);
  const float* w = weights.data();
  ASSERT_EQ(y.shape(), (Shape{1, 3, 3, 2}));
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      for (int o = 0; o < 2; ++o) {
        float sum = o == 0 ? 0.5f : -0.5f;
        for (int h = 0; h < 3; ++h) {
          for (int k = 0; k < 3; ++k) {
            const int row = 2 * i + h - 1, column = 2 * j + k - 1;
            if (row < 0 || row > 4 || column < 0 || column > 4) continue;
            for (int c = 0; c < 2; ++c)
              sum += x.data<float>()[(row * 5 + column) * 2 + c] * w[((o * 3 + h) * 3 + k) * 2 + c];
          }
        }
        EXPECT_EQ(y.data<float>()[(i * 3 + j) * 2 + o], std::clamp(sum, 0.0f, 6.0f)) << i << " " << j << " " << o;
      }
    }
  }
}

TEST(TfliteRead, SamePaddingHasItsOddElementAtTheEnd) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {1, 4, 6, 3}}), y = b.tensor({.name = "y", .shape = {1, 2, 3, 3}});
  b.op(17, {x}, {y}, [](Builder& fbb) { return CreatePool2DOptions(fbb, Padding::SAME, 2, 2, 3, 3).o; });
  const Graph graph = read_bytes(b.finish({x}, {y}));
  EXPECT_EQ(first(graph, "MaxPool").attribute_ints("pads"), (std::vector<int64_t>{0, 0, 1, 1}));
}

// Where a file states no shape, it is that of the value: which nothing has made here.
TEST(TfliteRead, AShapeOfWhatNothingMakesIsMalformed) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {1, 2}}), unmade = b.tensor({.name = "unmade", .shape = {}});
  const int w = b.tensor({.name = "w", .shape = {1, 2}, .bytes = bytes_of<float>({1, 2})});
  const int y = b.tensor({.name = "y", .shape = {1, 1}});
  b.op(9, {unmade, w}, {y}, [](Builder& fbb) { return CreateFullyConnectedOptions(fbb).o; });
  const std::string file = b.finish({x}, {y});
  try {
    read_bytes(file);
    FAIL() << "read";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Malformed);
    EXPECT_NE(std::string(error.what()).find("used before it is computed"), std::string::npos) << error.what();
  }
}

TEST(TfliteRead, DepthwiseWeightsBecomeGroups) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {1, 4, 4, 2}});
  const int w = b.tensor({.name = "w", .shape = {1, 1, 1, 4}, .bytes = bytes_of<float>({1, 2, 3, 4})});
  const int y = b.tensor({.name = "y", .shape = {1, 4, 4, 4}});
  b.op(4, {x, w}, {y}, [](Builder& fbb) { return CreateDepthwiseConv2DOptions(fbb, Padding::VALID, 1, 1, 2).o; });
  const Graph graph = read_bytes(b.finish({x}, {y}));
  EXPECT_EQ(first(graph, "Conv").attribute_int("group", 1), 2);
  const dnn::Tensor out = interpret(graph, {dnn::Tensor::of<float>({1, 4, 4, 2}, counting(32))})[0];
  std::vector<double> values = to_doubles(out);
  values.resize(4);
  EXPECT_EQ(values, (std::vector<double>{-6, -12, -15, -20}));  // channel 0 times 1 and 2, channel 1 times 3 and 4
}

TEST(TfliteRead, QuantisedTensorsStayQuantised) {
  FileBuilder b;
  const auto i8 = TensorType::INT8;
  const int x = b.tensor({.name = "x", .shape = {1, 2, 2, 2}, .type = i8, .scale = {0.5f}, .zero_point = {-3}});
  const int w = b.tensor({.name = "w",
                          .shape = {2, 1, 1, 2},
                          .type = i8,
                          .bytes = bytes_of<int8_t>({2, 4, -6, 8}),
                          .scale = {0.25f, 0.5f},
                          .zero_point = {0, 0},
                          .axis = 0});
  const int bias = b.tensor({.name = "b",
                             .shape = {2},
                             .type = TensorType::INT32,
                             .bytes = bytes_of<int32_t>({8, 4}),
                             .scale = {0.125f, 0.25f},
                             .zero_point = {0, 0}});
  const int y = b.tensor({.name = "y", .shape = {1, 2, 2, 2}, .type = i8, .scale = {1}, .zero_point = {5}});
  b.op(3, {x, w, bias}, {y}, conv_options(Padding::VALID, 1, Activation::NONE));
  const Graph graph = read_bytes(b.finish({x}, {y}));
  EXPECT_EQ(graph.value(first(graph, "DequantizeLinear").inputs[0]).type.dtype, DType::Int8);
  EXPECT_EQ(graph.value(graph.outputs[0]).type.dtype, DType::Int8);
  EXPECT_NE(graph.find_value("w"), kNoValue);
  const dnn::Tensor out =
      interpret(graph, {dnn::Tensor::of<int8_t>({1, 2, 2, 2}, {-3, -3, 1, -3, -3, 1, 127, 127})})[0];
  // Real inputs are (x + 3) / 2; weights 0.5, 1 and -3, 4; biases 1 and 1.
  EXPECT_EQ(to_doubles(out), (std::vector<double>{6, 6, 7, 0, 8, 14, 5 + 98, 5 + 66}));
}

// A real input that meets int8 weights is rounded by rows, as TFLite 2.21 does, which gave these numbers. With the real input
// as it is, y[2] would be 1.4565.
TEST(TfliteRead, RealInputsOfIntegerWeightsAreRoundedAsTheyCome) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {2, 6}});
  const int w = b.tensor(
      {.name = "w",
       .shape = {3, 6},
       .type = TensorType::INT8,
       .bytes = bytes_of<int8_t>({10, -20, 30, -40, 50, -60, 7, 14, -21, 28, -35, 42, 127, -127, 64, -64, 32, -32}),
       .scale = {0.03f, 0.02f, 0.05f},
       .zero_point = {0, 0, 0}});
  const int bias = b.tensor({.name = "b", .shape = {3}, .bytes = bytes_of<float>({1, 2, 3})});
  const int y = b.tensor({.name = "y", .shape = {2, 3}});
  b.op(9, {x, w, bias}, {y}, [](flatbuffers::FlatBufferBuilder& fbb) {
    return CreateFullyConnectedOptions(fbb, Activation::NONE, 0, false, true).o;
  });
  const dnn::Tensor in =
      dnn::Tensor::of<float>({2, 6}, {0.1f, -0.37f, 0.52f, 0.9f, -1.3f, 0.77f, 3, -0.2f, 0.45f, 1.1f, 2.6f, 0.33f});
  const std::vector<double> out = to_doubles(interpret(read_bytes(b.finish({x}, {y})), {in})[0]);
  const std::vector<double> wanted = {-2.693411350250244, 3.752580165863037,  1.485451102256775,
                                      4.410823345184326,  1.2480627298355103, 24.866039276123047};
  ASSERT_EQ(out.size(), wanted.size());
  for (size_t i = 0; i < out.size(); ++i) EXPECT_NEAR(out[i], wanted[i], 2e-6) << i;
}

// TFLite 2.21 takes the bits of uint8 weights for signed ones there, and leaves a zero point out.
TEST(TfliteRead, WeightsOfRealInputsLieAroundZero) {
  const auto file = [](TensorType type, int64_t zero_point) {
    FileBuilder b;
    const int x = b.tensor({.name = "x", .shape = {1, 2}});
    const int w = b.tensor({.name = "w",
                            .shape = {1, 2},
                            .type = type,
                            .bytes = bytes_of<int8_t>({10, 20}),
                            .scale = {0.5f},
                            .zero_point = {zero_point}});
    const int y = b.tensor({.name = "y", .shape = {1, 1}});
    b.op(9, {x, w, -1}, {y},
         [](flatbuffers::FlatBufferBuilder& fbb) { return CreateFullyConnectedOptions(fbb, Activation::NONE).o; });
    return b.finish({x}, {y});
  };
  EXPECT_EQ(ops_of(read_bytes(file(TensorType::INT8, 0))), "DynamicFakeQuantize DequantizeLinear Gemm");
  for (const std::string& refused :
       {file(TensorType::INT8, 5), file(TensorType::UINT8, 128), file(TensorType::UINT8, 0)}) {
    try {
      read_bytes(refused);
      ADD_FAILURE() << "read";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Unsupported) << e.what();
    }
  }
}

TEST(TfliteRead, MovingElementsOfOneScaleNeedsNoRounding) {
  FileBuilder b;
  const auto u8 = TensorType::UINT8;
  const int x = b.tensor({.name = "x", .shape = {1, 4}, .type = u8, .scale = {0.5f}, .zero_point = {7}});
  const int same = b.tensor({.name = "same", .shape = {2, 2}, .type = u8, .scale = {0.5f}, .zero_point = {7}});
  const int other = b.tensor({.name = "other", .shape = {2, 2}, .type = u8, .scale = {0.25f}, .zero_point = {7}});
  const int shape =
      b.tensor({.name = "shape", .shape = {2}, .type = TensorType::INT32, .bytes = bytes_of<int32_t>({2, 2})});
  b.op(22, {x, shape}, {same});
  b.op(22, {x, shape}, {other});
  const Graph graph = read_bytes(b.finish({x}, {same, other}));
  EXPECT_EQ(ops_of(graph), "Reshape DequantizeLinear Reshape QuantizeLinear");
}

TEST(TfliteRead, OpenExtentsAreSymbols) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {1, 8, 8, 3}, .signature = {-1, 8, 8, 3}});
  const int y = b.tensor({.name = "y", .shape = {1, 8, 8, 3}, .signature = {-1, 8, 8, 3}});
  b.op(19, {x}, {y});
  const Graph graph = read_bytes(b.finish({x}, {y}));
  EXPECT_EQ(graph.value(graph.outputs[0]).type.text(), "float32[batch,8,8,3]");
}

// What a Keras layer makes of an open batch: [shape(x)[0], 12].
std::string computed_reshape(const std::vector<int32_t>& signature_in, const std::vector<int32_t>& signature_out) {
  FileBuilder b;
  const auto i32 = TensorType::INT32;
  const auto numbers = [&](const char* name, const std::vector<int32_t>& values) {
    return b.tensor(
        {.name = name, .shape = {static_cast<int32_t>(values.size())}, .type = i32, .bytes = bytes_of(values)});
  };
  const int x = b.tensor({.name = "x", .shape = {1, 2, 2, 3}, .signature = signature_in});
  const int all = b.tensor({.name = "all", .shape = {4}, .type = i32});
  const int first = b.tensor({.name = "first", .shape = {}, .type = i32}),
            shape = b.tensor({.name = "shape", .shape = {2}, .type = i32});
  const int rest = b.tensor({.name = "rest", .shape = {}, .type = i32, .bytes = bytes_of<int32_t>({12})});
  const int y = b.tensor({.name = "y", .shape = {1, 12}, .signature = signature_out});
  b.op(77, {x}, {all});
  b.op(45, {all, numbers("begin", {0}), numbers("end", {1}), numbers("step", {1})}, {first},
       [](auto& fbb) { return CreateStridedSliceOptions(fbb, 0, 0, 0, 0, 1).o; });
  b.op(83, {first, rest}, {shape}, [](auto& fbb) { return CreatePackOptions(fbb, 2).o; });
  b.op(22, {x, shape}, {y});
  const Graph graph = read_bytes(b.finish({x}, {y}));
  const std::vector<double> out =
      to_doubles(interpret(graph, {dnn::Tensor::of<float>({1, 2, 2, 3}, std::vector<float>(12, 2))})[0]);
  EXPECT_EQ(out, std::vector<double>(12, 2));
  return ops_of(graph) + " " + graph.value(graph.outputs[0]).type.text();
}

TEST(TfliteRead, AShapeThatIsComputedForAnOpenBatchIsTheDeclaredOne) {
  EXPECT_EQ(computed_reshape({-1, 2, 2, 3}, {-1, 12}), "Reshape float32[batch,12]");
  // Where more than the batch is open, the file's own computation stays.
  for (const auto& [in, out] : std::vector<std::pair<std::vector<int32_t>, std::vector<int32_t>>>{
           {{-1, -1, 2, 3}, {-1, 12}}, {{-1, 2, 2, 3}, {-1, -1}}})
    EXPECT_NE(computed_reshape(in, out).find("Concat"), std::string::npos);
}

template <class Run>
std::string refused(ErrorKind kind, const Run& run) {
  try {
    run();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST(TfliteRead, UnknownOperatorsAreNamed) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {2}}), y = b.tensor({.name = "made", .shape = {2}});
  b.op(32, {x}, {y});
  const std::string file = b.finish({x}, {y});
  EXPECT_EQ(refused(ErrorKind::Unsupported, [&] { read_bytes(file); }),
            "CUSTOM 'Unheard' 'made': this operator is not read");
}

TEST(TfliteRead, DamageIsMalformed) {
  FileBuilder b;
  const int x = b.tensor({.name = "x", .shape = {2}});
  const int c = b.tensor({.name = "c", .shape = {3}, .bytes = bytes_of<float>({1, 2})});
  const int y = b.tensor({.name = "y", .shape = {2}});
  b.op(0, {x, c}, {y}, [](Builder& fbb) { return CreateArithmeticOptions(fbb).o; });
  const std::string file = b.finish({x}, {y});
  EXPECT_EQ(refused(ErrorKind::Malformed, [&] { read_bytes(file); }), "tensor 'c': 8 bytes for float32[3]");

  FileBuilder missing;
  const int p = missing.tensor({.name = "p", .shape = {2}}), q = missing.tensor({.name = "q", .shape = {2}});
  missing.op(0, {p, p}, {q});
  const std::string no_options = missing.finish({p}, {q});
  EXPECT_EQ(refused(ErrorKind::Malformed, [&] { read_bytes(no_options); }), "ADD 'q': its options are missing");

  FileBuilder late;
  const int r = late.tensor({.name = "r", .shape = {2}}), s = late.tensor({.name = "s", .shape = {2}});
  late.op(19, {9}, {s});
  const std::string no_tensor = late.finish({r}, {s});
  refused(ErrorKind::Malformed, [&] { read_bytes(no_tensor); });

  const std::string whole = conv_file();
  for (size_t size = 8; size < whole.size(); size += 7) {
    try {
      read_bytes(whole.substr(0, size));
      ADD_FAILURE() << "read from " << size << " of " << whole.size() << " bytes";
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed) << size << ": " << e.what();
    }
  }
}

}  // namespace
}  // namespace dnn::tflite
