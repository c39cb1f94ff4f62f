// ONNX Runtime's operators on quantised numbers are read as ONNX's, between conversions.
#include <gtest/gtest.h>

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

TEST(OnnxContrib, OthersAreLeftAsTheyAre) {
  EXPECT_EQ(ops_of(Contrib("FusedMatMul", {"x", "v"}).read()), "FusedMatMul");
  EXPECT_NE(Contrib("QLinearAdd", {"x", "s"}).complaint().find("left out"), std::string::npos);
}

}  // namespace
}  // namespace dnn::onnx
