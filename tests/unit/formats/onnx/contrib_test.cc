// ONNX Runtime's operators on quantised numbers are read as ONNX's, between conversions.
#include <gtest/gtest.h>

#include <memory>

#include "graph_case.h"
#include "unit/formats/onnx/model_builder.h"

namespace dnn::onnx {
namespace {

constexpr int kFloat = 1, kUInt8 = 2, kInt8 = 3, kInt32 = 6;  // of TensorProto

// One operator of com.microsoft on quantised images "x" and "v" [1, 2, 2, 2], its result in scale 0.5 around 10.
struct Contrib : ModelBuilder {
  NodeProto* op;
  Contrib(const std::string& name, const std::vector<std::string>& inputs) : ModelBuilder(8, 17) {
    OperatorSetIdProto* microsoft = model.add_opset_import();
    microsoft->set_domain("com.microsoft");
    microsoft->set_version(1);
    input("x", kUInt8, {1, 2, 2, 2});
    input("v", kUInt8, {1, 2, 2, 2});
    initializer("s", kFloat, {})->add_float_data(0.25f);
    initializer("z", kUInt8, {})->add_int32_data(100);
    initializer("ys", kFloat, {})->add_float_data(0.5f);
    initializer("yz", kUInt8, {})->add_int32_data(10);
    op = node(name, inputs, {"y"});
    op->set_domain("com.microsoft");
    graph().add_output()->set_name("y");
  }
  std::vector<int64_t> run() const {
    const Tensor x = Tensor::of<uint8_t>({1, 2, 2, 2}, {100, 104, 108, 112, 116, 120, 124, 128}),
                 v = Tensor::of<uint8_t>({1, 2, 2, 2}, {96, 100, 104, 108, 100, 100, 100, 255});
    return to_int64s(interpret(read(), {x, v})[0]);
  }
};

TEST(OnnxContrib, SumsAndProducts) {
  const Contrib add("QLinearAdd", {"x", "s", "z", "v", "s", "z", "ys", "yz"});
  EXPECT_EQ(ops_of(add.read()), "DequantizeLinear DequantizeLinear Add QuantizeLinear");
  EXPECT_EQ(add.run(),
            (std::vector<int64_t>{8, 12, 16, 20, 18, 20, 22, 102}));  // 38.75 / 0.5 + 7 / 0.5 + 10 rounded to even
  EXPECT_EQ(Contrib("QLinearMul", {"x", "s", "z", "v", "s", "z", "ys", "yz"}).run()[3], 10 + 3 * 2 * 2);
}

TEST(OnnxContrib, PoolingAndJoining) {
  Contrib pool("QLinearGlobalAveragePool", {"x", "s", "z", "ys", "yz"});
  ModelBuilder::attribute(pool.op, "channels_last")->set_type(AttributeProto::INT);
  EXPECT_EQ(pool.run(), (std::vector<int64_t>{13, 21}));  // means 1.5 and 5.5
  Contrib concat("QLinearConcat", {"ys", "yz", "x", "s", "z", "v", "s", "z"});
  AttributeProto* axis = ModelBuilder::attribute(concat.op, "axis");
  axis->set_type(AttributeProto::INT);
  axis->set_i(1);
  EXPECT_EQ(ops_of(concat.read()), "DequantizeLinear DequantizeLinear Concat QuantizeLinear");
  EXPECT_EQ(concat.run().size(), 16u);
  axis = ModelBuilder::attribute(pool.op, "channels_last");
  pool.op->mutable_attribute()->RemoveLast();
  pool.op->mutable_attribute(0)->set_i(1);
  EXPECT_NE(pool.complaint().find("channels_last is not read"), std::string::npos) << pool.complaint();
}

TEST(OnnxContrib, DenseLayers) {
  Contrib gemm("QGemm", {"a", "s", "z", "w", "ws", "wz", "c", "ys", "yz"});
  gemm.initializer("a", kUInt8, {1, 2})->mutable_int32_data()->Add(104);
  gemm.graph().mutable_initializer(4)->add_int32_data(108);
  TensorProto* w = gemm.initializer("w", kInt8, {2, 2});
  for (int value : {1, 2, 3, 4}) w->add_int32_data(value);
  TensorProto* scale = gemm.initializer("ws", kFloat, {2});
  scale->add_float_data(1);
  scale->add_float_data(2);
  TensorProto* zero = gemm.initializer("wz", kInt8, {2});
  for (int value : {0, 0}) zero->add_int32_data(value);
  TensorProto* bias = gemm.initializer("c", kInt32, {2});
  for (int value : {4, 8}) bias->add_int32_data(value);
  AttributeProto* turned = ModelBuilder::attribute(gemm.op, "transB");
  turned->set_type(AttributeProto::INT);
  turned->set_i(1);
  // a = [1, 2]; units 1*1 + 2*2 + 4*0.25 = 6 and 2 * (3 + 8) + 8*0.5 = 26
  EXPECT_EQ(gemm.run(), (std::vector<int64_t>{10 + 12, 10 + 52}));
}

// One operator on tensors of (7 i mod 11) / 4 - 1; the first is the model's input, a shape {0} leaves one out.
struct Fused : ModelBuilder {
  NodeProto* op;
  std::vector<Shape> shapes;
  static Tensor staircase(const Shape& shape, float add) {
    Tensor x(DType::Float32, shape);
    for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i * 7 % 11) / 4 - 1 + add;
    return x;
  }
  Fused(const std::string& name, std::vector<Shape> of) : ModelBuilder(8, 17), shapes(std::move(of)) {
    OperatorSetIdProto* microsoft = model.add_opset_import();
    microsoft->set_domain("com.microsoft");
    microsoft->set_version(1);
    std::vector<std::string> names;
    for (size_t i = 0; i < shapes.size(); ++i) {
      names.push_back(shapes[i] == Shape{0} ? "" : "i" + std::to_string(i));
      if (names.back().empty()) continue;
      if (i == 0) {
        input("i0", kFloat, shapes[0]);
        continue;
      }
      const bool gain =
          name.find("Layer") != std::string::npos && i + 1 == shapes.size();  // 2 more, so that it is positive
      const Tensor x = staircase(shapes[i], gain ? 2 : 0);
      TensorProto* tensor = initializer(names.back(), kFloat, shapes[i]);
      for (int64_t k = 0; k < x.size(); ++k) tensor->add_float_data(x.data<float>()[k]);
    }
    op = node(name, names, {"y"});
    op->set_name("n");
    if (name != "SimplifiedLayerNormalization") op->set_domain("com.microsoft");
    graph().add_output()->set_name("y");
  }
  Fused& text(const char* name, const char* value) {
    AttributeProto* added = attribute(op, name);
    added->set_type(AttributeProto::STRING);
    added->set_s(value);
    return *this;
  }
  Fused& number(const char* name, float value) {
    AttributeProto* added = attribute(op, name);
    added->set_type(AttributeProto::FLOAT);
    added->set_f(value);
    return *this;
  }
  Fused& flag(const char* name) { return count(name, 1); }
  Fused& count(const char* name, int64_t n) {
    AttributeProto* added = attribute(op, name);
    added->set_type(AttributeProto::INT);
    added->set_i(n);
    return *this;
  }
  // One more input, of int32.
  Fused& mask(const Shape& shape, const std::vector<int32_t>& values) {
    TensorProto* tensor = initializer("mask", kInt32, shape);
    for (int32_t value : values) tensor->add_int32_data(value);
    op->add_input("mask");
    return *this;
  }
  Fused& numbers(const char* name, const std::vector<float>& values) {
    AttributeProto* added = attribute(op, name);
    added->set_type(AttributeProto::FLOATS);
    for (float value : values) added->add_floats(value);
    return *this;
  }
  // The operators, and whether the first results are those of ONNX Runtime 1.31.1.
  void expect(const std::string& ops, const std::vector<float>& first) const {
    const Graph graph = read();
    EXPECT_EQ(ops_of(graph), ops);
    const Tensor y = interpret(graph, {staircase(shapes[0], 0)})[0];
    for (size_t i = 0; i < first.size(); ++i) EXPECT_NEAR(y.data<float>()[i], first[i], 2e-5) << ops << " " << i;
  }
};

TEST(OnnxContrib, OptimisedOperatorsAreTakenApart) {
  const Shape x = {1, 2, 4, 4}, w = {3, 2, 3, 3};
  Fused("FusedConv", {x, w, {3}})
      .text("activation", "LeakyRelu")
      .numbers("activation_params", {0.2F})
      .expect("Conv LeakyRelu", {-0.3875, 2.6875, -0.2625, 3.3125, 5.1875, -0.3375, 1.75, -0.2});
  Fused("FusedConv", {x, w, {3}})
      .text("activation", "Clip")
      .numbers("activation_params", {-0.5F, 1})
      .expect("Conv Clip", {-0.5, 1, -0.5, 1, 1, -0.5, 1, -0.5});
  Fused("FusedConv", {x, w, {3}})
      .text("activation", "HardSigmoid")
      .numbers("activation_params", {0.2F, 0.5F})
      .expect("Conv HardSigmoid", {0.1125, 1, 0.2375, 1, 1, 0.1625, 0.85, 0.3});
  EXPECT_EQ(ops_of(Fused("FusedConv", {x, w, {0}, {1, 3, 2, 2}}).text("activation", "Relu").read()), "Conv Add Relu");
  EXPECT_EQ(ops_of(Fused("FusedConv", {x, w}).read()), "Conv");
  Fused("FusedGemm", {{2, 3}, {4, 3}, {4}})
      .text("activation", "Relu")
      .flag("transB")
      .number("alpha", 0.5F)
      .expect("Gemm Relu", {0, 0.25, 0, 1.125, 0, 2.125, 0.9375, 2.5});
  Fused("FusedGemm", {{2, 3}, {4, 3}, {4}})
      .text("activation", "LeakyRelu")
      .number("activation_alpha", 0.1F)
      .flag("transB")
      .expect("Gemm LeakyRelu", {0.625, -0.025, -0.1125, 0.75, -0.2, 3.5, 2.125, 3.5});
  Fused("FusedMatMul", {{2, 3, 4}, {2, 3, 5}})
      .flag("transA")
      .number("alpha", 0.25F)
      .expect("Transpose MatMul Mul", {0.1875, 0.15625, -0.046875, -0.421875, -0.28125, -0.125});
  Fused("FusedMatMul", {{2, 3, 4}, {2, 5, 4}})
      .flag("transB")
      .expect("Transpose MatMul", {3.875, -0.8125, 0, -0.5625, 0.25});
  Fused("BiasGelu", {{2, 5}, {5}}).expect("Add Gelu", {-0.0455, 1.39979, -0.15427, 2.99595, 0.84134});
  Fused("FastGelu", {{2, 5}, {5}}).expect("Add Gelu", {-0.0454, 1.39957, -0.15429, 2.99636, 0.84119});
  Fused("Gelu", {{2, 5}}).expect("Gelu", {-0.15866, 0.58003, -0.10032, 1.39979, 0.34573});
  Fused("QuickGelu", {{2, 5}}).expect("Swish", {-0.1542, 0.58639, -0.0988, 1.39166, 0.35039});
}

// Activations that the optimiser takes into a Gemm, with their parameters by name.
TEST(OnnxContrib, ActivationsOfFusedGemm) {
  const std::vector<Shape> shapes = {{2, 3}, {3, 4}, {4}};
  Fused("FusedGemm", shapes)
      .text("activation", "Softsign")
      .expect("Gemm Softsign", {0.36, -0.38462, 0.48387, 0.30435, -0.65217});
  Fused("FusedGemm", shapes)
      .text("activation", "Softplus")
      .expect("Gemm Softplus", {1.01344, 0.4287, 1.26796, 0.93563, 0.14268});
  Fused("FusedGemm", shapes)
      .text("activation", "Elu")
      .number("activation_alpha", 0.7F)
      .expect("Gemm Elu", {0.5625, -0.32532, 0.9375, 0.4375, -0.59265});
  Fused("FusedGemm", shapes)
      .text("activation", "Selu")
      .number("activation_alpha", 1.2F)
      .number("activation_gamma", 0.8F)
      .expect("Gemm Selu", {0.45, -0.44615, 0.75, 0.35, -0.81278});
  Fused("FusedGemm", shapes)
      .text("activation", "ThresholdedRelu")
      .number("activation_alpha", 0.4F)
      .expect("Gemm ThresholdedRelu", {0.5625, 0, 0.9375, 0.4375, 0});
}

// Its product and the three parts of it, or operands of their own; masks are 1 where a key is seen.
TEST(OnnxContrib, AttentionIsOnnxs) {
  const std::string split = "MatMul Add Split ", hidden = "Cast Sub Mul Unsqueeze ";
  const auto attention = [](const Shape& x) {
    auto model = std::make_unique<Fused>("Attention", std::vector<Shape>{x, {4, 12}, {12}});
    model->count("num_heads", 2);
    return model;
  };
  const Shape x = {1, 3, 4}, batch = {2, 3, 4};
  attention(x)->expect(split + "Attention", {-1.86424, 0.43831, 1.33039, -1.75859, 1.79952});
  attention(x)->flag("unidirectional").expect(split + "Attention", {-0.75, 1.375, -1.3125, 2.875, -0.75261});
  attention(x)
      ->mask({1, 3}, {1, 1, 0})
      .expect(split + hidden + "Attention", {-1.87173, 0.44022, 1.34771, -1.7649, -0.75261});
  attention(batch)
      ->number("mask_filter_value", -3)
      .mask({2, 3}, {1, 1, 0, 1, 0, 1})
      .expect(split + hidden + "Attention", {-1.87136, 0.44013, 1.34684, -1.76458, 1.57483});
  attention(x)
      ->mask({1, 3, 3}, {1, 1, 0, 1, 0, 1, 0, 0, 0})
      .expect(split + hidden + "Attention", {-1.87173, 0.44022, 1.34771, -1.7649, 1.79957});
  attention(batch)
      ->mask({2}, {2, 3})
      .expect(split + "Unsqueeze Less " + hidden + "Attention", {-1.87173, 0.44022, 1.34771, -1.7649, -0.75261});
  Fused("Attention", {x, {4, 12}, {12}, {0}, {0}, {1, 2, 3, 3}})
      .count("num_heads", 2)
      .number("scale", 0.3F)
      .expect(split + "Attention", {-1.76507, 0.4267, 0.57548, -0.51548, 0.65415});
  EXPECT_NE(attention(x)->flag("do_rotary").complaint().find("do_rotary is not read"), std::string::npos);
  EXPECT_NE(attention(x)->mask({5}, {3, 0, 0, 3, 3}).complaint().find("a number for each sample"), std::string::npos);
  EXPECT_NE(Fused("Attention", {x, {4, 12}, {12}}).complaint().find("num_heads is 0"), std::string::npos);
  EXPECT_NE(Fused("Attention", {x, {4, 12}, {12}, {0}, {2, 1, 2, 3, 2}})
                .count("num_heads", 2)
                .complaint()
                .find("past is not read"),
            std::string::npos);
}

TEST(OnnxContrib, AttentionOfThreeOperandsIsOnnxs) {
  const Shape x = {1, 3, 4}, keys = {1, 5, 4}, values = {1, 5, 6};
  Fused("MultiHeadAttention", {x, keys, values, {14}})
      .count("num_heads", 2)
      .expect("Split Add Add Add Attention", {-0.91908, 1.62686, 0.54981, 0.37803, 1.14546});
  Fused("MultiHeadAttention", {x, keys, values, {0}})
      .count("num_heads", 2)
      .mask({1}, {4})
      .expect("Unsqueeze Less Cast Sub Mul Unsqueeze Attention", {-0.00725, 0.18534, 0.52996, 1.13909, 0.13909});
  Fused("MultiHeadAttention", {x, x, x})
      .count("num_heads", 2)
      .flag("unidirectional")
      .number("scale", 0.7F)
      .expect("Attention", {-1, 0.75, -0.25, 1.5, 0.08543});
  EXPECT_NE(Fused("MultiHeadAttention", {{1, 3, 2, 3, 2}}).count("num_heads", 2).complaint().find("packed"),
            std::string::npos);
}

TEST(OnnxContrib, NormalisationsAreTakenApart) {
  const Fused skip("SkipLayerNormalization", {{1, 3, 4}, {1, 3, 4}, {4}});
  EXPECT_EQ(ops_of(skip.read()), "Add LayerNormalization");
  Fused sum = skip;
  sum.graph().mutable_node(0)->add_output("");
  sum.graph().mutable_node(0)->add_output("");
  sum.graph().mutable_node(0)->add_output("s");
  sum.graph().add_output()->set_name("s");
  EXPECT_EQ(ops_of(sum.read()), "Add LayerNormalization Identity");
  EXPECT_EQ(ops_of(Fused("SkipLayerNormalization", {{1, 3, 4}, {1, 3, 4}, {4}, {4}, {4}}).read()),
            "Add Add LayerNormalization");
  EXPECT_EQ(ops_of(Fused("SkipSimplifiedLayerNormalization", {{1, 3, 4}, {1, 3, 4}, {4}}).read()),
            "Add RMSNormalization");
  EXPECT_EQ(ops_of(Fused("SimplifiedLayerNormalization", {{1, 3, 4}, {4}}).read()), "RMSNormalization");
}

// ONNX Runtime has both from opset 1 on, and its optimiser writes the first into models of opset 13.
TEST(OnnxContrib, OperatorsOfAnEarlyOpset) {
  for (const int opset : {13, 17}) {
    ModelBuilder model(8, opset);
    model.input("x", kFloat, {1, 2});
    for (const float f : {2.0F, 4.0F}) {
      TensorProto* tensor = model.initializer(f == 2 ? "scale" : "bias", kFloat, {2});
      for (int i = 0; i < 2; ++i) tensor->add_float_data(f);
    }
    model.node("LayerNormalization", {"x", "scale", "bias"}, {"y"});
    model.graph().add_output()->set_name("y");
    const Tensor y = interpret(model.read(), {Tensor::of<float>({1, 2}, {-3, 5})})[0];
    EXPECT_NEAR(y.data<float>()[0], 2, 1e-5);
    EXPECT_NEAR(y.data<float>()[1], 6, 1e-5);
  }
  ModelBuilder threshold(8, 9);
  threshold.input("x", kFloat, {2});
  threshold.node("ThresholdedRelu", {"x"}, {"y"});
  threshold.graph().add_output()->set_name("y");
  EXPECT_TRUE(interpret(threshold.read(), {Tensor::of<float>({2}, {0.5F, 1.5F})})[0].identical(
      Tensor::of<float>({2}, {0, 1.5F})));
  ModelBuilder model(8, 13);
  model.input("x", kFloat, {1, 2});
  model.node("Gelu", {"x"}, {"y"});
  model.graph().add_output()->set_name("y");
  EXPECT_NE(model.complaint().find("begins at opset 20"), std::string::npos) << model.complaint();
}

TEST(OnnxContrib, UnknownAttributesAndActivationsAreRefused) {
  Fused unknown("BiasGelu", {{2, 5}, {5}});
  unknown.flag("approximate");
  EXPECT_EQ(
      unknown.complaint().find("4 node 'n' (com.microsoft.BiasGelu): the operator has no attribute \"approximate\""),
      0U)
      << unknown.complaint();
  Fused activation("FusedConv", {{1, 2, 4, 4}, {3, 2, 3, 3}});
  activation.text("activation", "Mish");
  EXPECT_NE(activation.complaint().find("activation \"Mish\""), std::string::npos) << activation.complaint();
  Fused quantised("QLinearAdd", {{2}, {1}, {1}, {2}, {1}, {1}, {1}, {1}});
  EXPECT_EQ(quantised.flag("axis").complaint(), "");  // of ONNX's Add, which the model is held to when it is read
}

TEST(OnnxContrib, OthersAreLeftAsTheyAre) {
  EXPECT_EQ(ops_of(Contrib("CropAndResize", {"x", "v"}).read()), "CropAndResize");
  EXPECT_NE(Contrib("QLinearAdd", {"x", "s"}).complaint().find("left out"), std::string::npos);
}

}  // namespace
}  // namespace dnn::onnx
