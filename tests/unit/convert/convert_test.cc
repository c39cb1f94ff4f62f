// Conversions and their certificates: what is measured, where it is written, and what happens above the tolerance.
#include "convert/convert.h"
#include "cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "graph/text.h"
#include "ops/training.h"

namespace dnn {
namespace {

// A convolution whose batch norm a format without batch norms folds into it.
constexpr const char* kConvertNetwork = R"(graph "net" {
  opset 17
  input x: float32[n,3,8,8]
  const w: float32[4,3,3,3] = random(1)
  const s: float32[4] = {1.1, 0.7, 1.3, 0.9}
  const b: float32[4] = {0.1, 0.2, -0.3, 0}
  const m: float32[4] = {0.2, 0.1, -0.1, 0}
  const v: float32[4] = {1.7, 2.1, 0.6, 1.2}
  const f: float32[5,4] = random(2)
  const e: int64[2] = {2, 3}
  c = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
  n = BatchNormalization(c, s, b, m, v) @norm
  r = Relu(n)
  p = ReduceMean(r, e) {keepdims = 0}
  y = Gemm(p, f) {transB = 1}
  output y
})";

// Results that nobody reads neither stand in the way of a format without them, nor become the network's.
TEST(Convert, LeavesOutResultsThatNobodyReads) {
  const TemporaryFolder folder(testing::TempDir());
  const char* const nets[] = {"y, i = MaxPool(x) {kernel_shape = [2, 2], strides = [2, 2]}", "y, i = TopK(x, three)",
                              "d, m = Dropout(x)\n  y = Relu(d)"};
  for (const char* net : nets) {
    for (const char* name : {"net.pb", "net.tflite", "net.keras", "net.pt", "net.onnx"}) {
      SCOPED_TRACE(cat(net, " ", name));
      const std::string path = folder.path() + "/" + name;
      const Graph graph =
          parse_graph(cat("graph \"g\" {\n  opset 17\n  input x: float32[1,2,6,6]\n  const three: int64[1] = {3}\n  ",
                          net, "\n  output y\n}\n"));
      if (std::string(net).find("TopK") != std::string::npos && std::string(name) == "net.keras") {
        EXPECT_THROW(convert_model(graph, path, {}), Error);  // no layer does it
        continue;
      }
      convert_model(graph, path, {});
      EXPECT_EQ(read_model(path).outputs.size(), 1U);
    }
  }
}

TEST(Convert, RefusesWhatComputesAsInTraining) {
  const TemporaryFolder folder(testing::TempDir());
  const char* const nets[] = {
      "y, m, v = BatchNormalization(x, s, s, s, s) {training_mode = 1}",
      "const ratio: float32[] = {0.5}\n  const yes: bool[] = {true}\n  y, m = Dropout(x, ratio, yes)"};
  for (const char* net : nets) {
    const Graph graph =
        parse_graph(cat("graph \"g\" {\n  opset 17\n  input x: float32[1,2,6,6]\n  const s: float32[2] = {1, 2}\n  ",
                        net, "\n  output y\n}\n"));
    for (const char* name : {"net.pb", "net.savedmodel", "net.tflite", "net.keras", "net.h5", "net.pt"}) {
      ConvertOptions options;
      options.certify = false;
      try {
        convert_model(graph, folder.path() + "/" + name, options);
        ADD_FAILURE() << name << " was written: " << net;
      } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::Unsupported) << e.what();
        EXPECT_NE(std::string(e.what()).find("in training"), std::string::npos) << e.what();
      }
    }
  }
  // ONNX has it, also beside an operator of ours that its file cannot hold as it is.
  ConvertOptions options;
  options.certify = false;
  const std::string path = folder.path() + "/net.onnx";
  convert_model(parse_graph(R"(graph "g" {
  opset 17
  input x: float32[1,2,6,6]
  const s: float32[2] = {1, 2}
  f = dnn::DynamicFakeQuantize(x) @f {axes = [1, 2, 3]}
  y, m, v = BatchNormalization(f, s, s, s, s) {training_mode = 1}
  output y
})"),
                path, options);
  const Graph written = read_model(path);
  const auto trains = [&](NodeId id) { return in_training(written, written.node(id)); };
  EXPECT_TRUE(std::any_of(written.order().begin(), written.order().end(), trains));
}

std::string metadata(const Graph& graph, const std::string& key) {
  for (const auto& [name, text] : graph.metadata) {
    if (name == key) return text;
  }
  return "";
}

ConvertOptions options() {
  ConvertOptions o;
  o.certificate.probes = 3;
  return o;
}

// What a pass makes one operator of, a format that the parts can be written to must have, too.
TEST(Convert, WritesActivationsThatAreSpeltOut) {
  const TemporaryFolder folder(testing::TempDir());
  const char* const spelt_out[] = {"s = Sigmoid(x)\n y = Mul(x, s)",
                                   "const a: float32[] = {1.702}\n m = Mul(x, a)\n s = Sigmoid(m)\n y = Mul(x, s)",
                                   "const one: float32[] = {1}\n e = Exp(x)\n s = Add(e, one)\n y = Log(s)",
                                   "p = Softplus(x)\n t = Tanh(p)\n y = Mul(x, t)",
                                   R"(const t: float32[] = {3}
  const z: float32[] = {0}
  const s: float32[] = {6}
  a = Add(x, t)
  c = Clip(a, z, s)
  m = Mul(x, c)
  y = Div(m, s))"};
  for (const char* lines : spelt_out) {
    const std::string net = cat("graph \"net\" {\n  opset 28\n  input x: float32[1,3,4,4]\n", lines, "\n  output y\n}");
    for (const char* file : {"y.onnx", "y.tflite", "y.keras", "y.pt", "y.pt2", "y.pb"}) {
      SCOPED_TRACE(cat(file, " of\n", lines));
      std::optional<Certificate> certificate;
      ASSERT_NO_THROW(certificate = convert_model(parse_graph(net), folder.path() + "/" + file, options()));
      ASSERT_TRUE(certificate);
      EXPECT_LT(certificate->max_relative(), 1e-5);
    }
  }
}

TEST(Convert, TheCertificateIsInTheFile) {
  const TemporaryFolder folder(testing::TempDir());
  for (const std::string name : {"net.tflite", "net.onnx", "net.txt"}) {
    const std::string path = folder.path() + "/" + name;
    const std::optional<Certificate> certificate = convert_model(parse_graph(kConvertNetwork), path, options());
    ASSERT_TRUE(certificate) << name;
    ASSERT_EQ(certificate->outputs.size(), 1u);
    EXPECT_EQ(certificate->outputs[0].name, "y");
    EXPECT_EQ(certificate->outputs[0].same_top1, 3);
    EXPECT_LT(certificate->max_relative(), 1e-5) << name;
    EXPECT_EQ(certificate->max_relative() > 0, name == "net.tflite") << "only there the batch norm is folded";
    EXPECT_EQ(metadata(read_model(path), kCertificateKey), certificate->json()) << name;
  }
}

TEST(Convert, QuantisedNumbersStayOnTheirGridWhereThereAreNoQuantisedOperators) {
  const Graph net = parse_graph(R"(graph "quantised" {
    opset 28
    input x: float32[1,3,8,8]
    const s: float32[] = {0.02}
    const z: uint8[] = {120}
    const w: int8[4,3,3,3] = random(1)
    const ws: float32[4] = {0.01, 0.02, 0.03, 0.04}
    const wz: int8[4] = {0, 0, 0, 0}
    const rs: float32[] = {0.05}
    const rz: uint8[] = {0}
    q = QuantizeLinear(x, s, z) @q
    d = DequantizeLinear(q, s, z) @d
    wd = DequantizeLinear(w, ws, wz) @wd {axis = 0}
    c = Conv(d, wd) @conv
    r = QuantizeLinear(c, rs, rz) @r
    y = DequantizeLinear(r, rs, rz) @y
    output y
  })");
  const TemporaryFolder folder(testing::TempDir());
  for (const std::string name : {"net.pb", "net.savedmodel", "net.keras"}) {
    std::vector<std::string> said;
    ConvertOptions o = options();
    o.warn = [&](const std::string& message) { said.push_back(message); };
    const std::optional<Certificate> certificate = convert_model(net, folder.path() + "/" + name, o);
    ASSERT_TRUE(certificate) << name;
    EXPECT_EQ(certificate->max_relative(), 0) << name;
    ASSERT_EQ(said.size(), 1u) << name;
    EXPECT_NE(said[0].find("no quantised operators"), std::string::npos) << said[0];
  }
}

TEST(Convert, WeightsBesideTheModelAreCertified) {
  const TemporaryFolder folder(testing::TempDir());
  ConvertOptions o = options();
  o.write.external_data = true;
  const Graph net = parse_graph(R"(graph "wide" {
    opset 17
    input x: float32[1,64]
    const w: float32[64,64] = random(1)
    y = MatMul(x, w) @dense
    output y
  })");
  const std::optional<Certificate> certificate = convert_model(net, folder.path() + "/net.onnx", o);
  ASSERT_TRUE(certificate);
  EXPECT_EQ(certificate->max_relative(), 0);
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/net.onnx.data"));
}

TEST(Convert, TheSameConversionGivesTheSameBytes) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string a = folder.path() + "/a.tflite", b = folder.path() + "/b.tflite";
  convert_model(parse_graph(kConvertNetwork), a, options());
  convert_model(parse_graph(kConvertNetwork), b, options());
  EXPECT_EQ(read_file(a), read_file(b));
}

TEST(Convert, AboveTheToleranceNothingIsWritten) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = folder.path() + "/net.tflite";
  write_file(path, "what was there");
  ConvertOptions o = options();
  o.tolerance = 0;
  try {
    convert_model(parse_graph(kConvertNetwork), path, o);
    FAIL() << "written";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::Negative);
    EXPECT_NE(std::string(e.what()).find("not written, above the tolerance of 0"), std::string::npos) << e.what();
  }
  EXPECT_EQ(read_file(path), "what was there");
  o.keep = true;
  EXPECT_TRUE(convert_model(parse_graph(kConvertNetwork), path, o));
  EXPECT_NE(read_file(path), "what was there");
}

TEST(Convert, WhatCannotRunHasNoCertificate) {
  const TemporaryFolder folder(testing::TempDir());
  std::string said;
  ConvertOptions o = options();
  o.warn = [&](const std::string& message) { said = message; };
  const std::string path = folder.path() + "/net.txt";
  const Graph graph = parse_graph(
      "graph \"g\" {\n  opset 17\n  input x: float32[2]\n  y: float32[2] = org.Unheard(x) @odd\n  output y\n}\n");
  EXPECT_FALSE(convert_model(graph, path, o));
  EXPECT_NE(said.find("no certificate: "), std::string::npos) << said;
  EXPECT_TRUE(std::filesystem::exists(path));
}

// A window of 3 over open extents cannot run on extents of 1; that is no reason not to convert.
TEST(Convert, OpenExtentsThatCannotBeOneHaveNoCertificate) {
  const TemporaryFolder folder(testing::TempDir());
  std::string said;
  ConvertOptions o = options();
  o.warn = [&](const std::string& message) { said = message; };
  const std::string path = folder.path() + "/net.onnx";
  const Graph graph = parse_graph(
      "graph \"g\" {\n  opset 17\n  input x: float32[1,2,h,w]\n  const k: float32[2,2,3,3] = random(1)\n  y = Conv(x, "
      "k)\n  output y\n}\n");
  EXPECT_FALSE(convert_model(graph, path, o));
  EXPECT_NE(said.find("fix them with --shape"), std::string::npos) << said;
  EXPECT_EQ(read_model(path).outputs.size(), 1u);
}

// A module of PyTorch held weights that it computed anew in each run; one of a norm's variance, which has a gradient, did not run.
TEST(Convert, PyTorchGetsConstantsComputed) {
  const TemporaryFolder folder(testing::TempDir());
  const Graph graph = parse_graph(
      "graph \"g\" {\n  opset 17\n  input x: float32[1,4,5,5]\n  const w: float32[4,4,3,3] = random(1)\n  const two: "
      "float32[] = {2}\n  const s: float32[4] = random(2)\n  v = Mul(w, two)\n  c = Conv(x, v)\n  a = Abs(s)\n  y = "
      "BatchNormalization(c, s, s, s, a)\n  output y\n}\n");
  for (const char* name : {"net.pt", "net.pt2"}) {
    const std::string path = folder.path() + "/" + name;
    ASSERT_TRUE(convert_model(graph, path, options())) << name;
    const Graph written = read_model(path);
    EXPECT_EQ(written.order().size(), 2u) << to_text(written);
  }
}

Graph scaled(const std::string& by) {
  return parse_graph("graph \"g\" {\n  opset 17\n  input x: float32[4]\n  const k: float32[4] = " + by +
                     "\n  y = Mul(x, k)\n  output y\n}\n");
}

TEST(Certificate, MeasuresDifferences) {
  CertifyOptions o = options().certificate;
  const Certificate same = certify(scaled("{1, 1, 1, 1}"), scaled("{1, 1, 1, 1}"), o);
  EXPECT_EQ(same.max_relative(), 0);
  EXPECT_EQ(same.outputs[0].max_ulp, 0);
  const Certificate near = certify(scaled("{1, 1, 1, 1}"), scaled("{1.0000001, 1, 1, 1}"), o);
  EXPECT_GT(near.max_relative(), 0);
  EXPECT_LT(near.max_relative(), 3e-7);
  EXPECT_GE(near.outputs[0].max_ulp, 1);
  EXPECT_LE(near.outputs[0].max_ulp, 2);  // below a power of two one step becomes two
  const Certificate other = certify(scaled("{1, 1, 1, 1}"), scaled("{-1, -1, -1, -1}"), o);
  EXPECT_DOUBLE_EQ(other.max_relative(), 2);
  EXPECT_LT(other.outputs[0].same_top1, 3);
  const Certificate not_a_number = certify(scaled("{1, 1, 1, 1}"), scaled("{nan, 1, 1, 1}"), o);
  EXPECT_TRUE(std::isinf(not_a_number.max_relative()));
}

TEST(Certificate, RefusesOtherInterfaces) {
  const Graph other = parse_graph("graph \"g\" {\n  opset 17\n  input x: float32[5]\n  y = Relu(x)\n  output y\n}\n");
  EXPECT_THROW(certify(scaled("{1, 1, 1, 1}"), other, options().certificate), Error);
}

}  // namespace
}  // namespace dnn
