// Reduced findings: small networks of both sides that show the fault again, in each network's own order of axes and names.
#include "localize/reduce_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "cache.h"
#include "formats/format.h"
#include "graph/tensor_text.h"
#include "localize/localize_models.h"
#include "localize/reduce.h"
#include "tensor/npy.h"
#include "unit/localize/isolated.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

const char* const kConvNet = R"(graph "net" {
  opset 17
  input x: float32[1,3,12,20]
  const w1: float32[4,3,3,3] = random(1)
  const w2: float32[4,4,3,3] = random(2)
  const w3: float32[4,4,3,3] = random(3)
  c1 = Conv(x, w1) @conv1 {pads = [1, 1, 1, 1]}
  r1 = Relu(c1) @relu1
  c2 = Conv(r1, w2) @conv2 {pads = [1, 1, 1, 1]}
  r2 = Relu(c2) @relu2
  c3 = Conv(r2, w3) @conv3 {STRIDES}
  p3 = GlobalAveragePool(c3) @pool3
  y = Flatten(p3) @flatten3
  output y
})";

// The same with the second convolution between channels-last activations, of which two have the names of the other's.
const char* const kChannelsLast = R"(graph "last" {
  opset 17
  input image: float32[1,3,12,20]
  const k1: float32[4,3,3,3] = random(1)
  const k2: float32[4,4,3,3] = random(WRONG)
  const k3: float32[4,4,3,3] = random(3)
  v1 = Conv(image, k1) @a {pads = [1, 1, 1, 1]}
  t1 = Transpose(v1) @b {perm = [0, 2, 3, 1]}
  r1 = Relu(t1) @c
  t2 = Transpose(r1) @d {perm = [0, 3, 1, 2]}
  v2 = Conv(t2, k2) @e {pads = [1, 1, 1, 1]}
  t3 = Transpose(v2) @f {perm = [0, 2, 3, 1]}
  v4 = Relu(t3) @g
  t4 = Transpose(v4) @h {perm = [0, 3, 1, 2]}
  v5 = Conv(t4, k3) @i {STRIDES}
  v6 = GlobalAveragePool(v5) @j
  z = Flatten(v6) @k
  output z
})";

std::string with_strides(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

class ReduceFindings : public ::testing::Test {
 protected:
  LocalizeReport reduce(const std::string& source, const std::string& target, const std::string& ext = ".onnx",
                        const std::vector<float>& scales = {1}, const Deadline& deadline = {}) {
    write_model(typed(source), path("source.onnx"));
    write_model(typed(target), path("target" + ext));
    LocalizeRequest request;
    for (size_t i = 0; i < scales.size(); ++i) {
      std::vector<float> values;
      for (int v = 0; v < 720; ++v) values.push_back(scales[i] * static_cast<float>((v * 37) % 101 - 50) / 50);
      write_file(path(cat("x", i, ".npy")), format_npy(Tensor::of<float>({1, 3, 12, 20}, values)));
      request.inputs.push_back(path(cat("x", i, ".npy")));
    }
    request.source = path("source.onnx");
    request.target = path("target" + ext);
    request.network.device = "reference";
    request.folders.compile.build.cache_folder = test_cache();
    request.reduce = path("out");
    request.deadline = deadline;
    return ModelComparison(request).run();
  }

  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  Graph read(const std::string& name) const { return read_model(open_model(path("out/1/" + name))); }
  std::map<std::string, Tensor> arrays() const {
    const std::string file = read_file(path("out/1/inputs.npz"));
    std::map<std::string, Tensor> found;
    for (const auto& [name, tensor] : parse_npz(as_bytes(file))) found[name] = tensor;
    return found;
  }

  TemporaryFolder folder_{::testing::TempDir()};
};

std::string node_names(const Graph& graph) {
  std::vector<std::string> list;
  for (NodeId id : graph.order()) list.push_back(graph.node(id).name);
  return join(list, " ");
}

TEST_F(ReduceFindings, EachSideInItsOwnAxesAndNames) {
  const LocalizeReport report = reduce(with_strides(kConvNet, "{STRIDES}", ""),
                                       with_strides(with_strides(kChannelsLast, "{STRIDES}", ""), "WRONG", "7"));
  ASSERT_EQ(report.findings.size(), 1u);
  ASSERT_TRUE(report.reduced);
  ASSERT_EQ(report.reduced->size(), 1u);
  const ReducedFinding& r = report.reduced->at(0);
  EXPECT_TRUE(r.reproduced) << r.why_not;
  EXPECT_EQ(r.command, "dnn-localize source.onnx target.onnx inputs.npz");
  EXPECT_EQ(r.n_source_nodes_before, 7);
  EXPECT_EQ(r.n_target_nodes_before, 11);
  EXPECT_LT(r.n_target_nodes, 5);
  const Graph source = read("source.onnx"), target = read("target.onnx");
  EXPECT_NE(node_names(source).find("conv2"), std::string::npos);
  EXPECT_NE(node_names(target).find('e'), std::string::npos);
  // The activations are the source's, channels last for the target, under a name of their own, and small.
  const auto held = arrays();
  const std::string ours = source.value(source.inputs.at(0)).name, theirs = target.value(target.inputs.at(0)).name;
  EXPECT_NE(ours, theirs);
  ASSERT_EQ(held.count(ours), 1u);
  ASSERT_EQ(held.count(theirs), 1u);
  EXPECT_EQ(held.size(), 2u);
  EXPECT_EQ(r.inputs, std::vector<Shape>{held.at(ours).shape()});
  EXPECT_EQ(held.at(ours).shape(), (Shape{1, 4, 1, 1}));
  EXPECT_EQ(held.at(theirs).shape(), (Shape{1, 1, 1, 4}));
  EXPECT_TRUE(held.at(theirs).reshaped({1, 4, 1, 1}).identical(held.at(ours)));
  const std::string text = read_file(path("out/1/report.md"));
  for (const char* wanted :
       {"## Evidence", "| expected (source) | ", "conv2", "`target.onnx`, onnx, written by dnn-tools",
        "## Fix\n\ncopy the parameter", "    dnn-localize source.onnx", "It exits with 1", "## Versions",
        "## The network of the target"})
    EXPECT_NE(text.find(wanted), std::string::npos) << wanted;
}

// What the report says is what the two files make of the inputs.
TEST_F(ReduceFindings, ExpectedAndGotAreWhatTheFilesMake) {
  const LocalizeReport report = reduce(with_strides(kConvNet, "{STRIDES}", ""),
                                       with_strides(with_strides(kConvNet, "{STRIDES}", ""), "random(2)", "random(7)"));
  ASSERT_EQ(report.reduced->size(), 1u);
  const Graph source = read("source.onnx"), target = read("target.onnx");
  const auto held = arrays();
  ASSERT_EQ(held.size(), 1u);  // one array is both networks' input
  const Tensor input = held.begin()->second;
  EXPECT_EQ(input.shape(), (Shape{1, 4, 1, 1}));
  const Distance d = compare(interpret(source, {input})[0], interpret(target, {input})[0]);
  EXPECT_FLOAT_EQ(static_cast<float>(d.max_abs), static_cast<float>(report.reduced->at(0).max_abs));
  EXPECT_GT(d.max_abs, 0);
}

// Other extents under other names are no pair of layers but for an alignment, which is written then.
TEST_F(ReduceFindings, OtherExtentsWantAnAlignment) {
  const LocalizeReport report =
      reduce(with_strides(kConvNet, "{STRIDES}", "{strides = [2, 2]}"),
             with_strides(with_strides(kChannelsLast, "{STRIDES}", "{strides = [1, 1]}"), "WRONG", "2"));
  ASSERT_FALSE(report.findings.empty());
  const ReducedFinding& r = report.reduced->at(0);
  EXPECT_TRUE(r.reproduced) << r.why_not;
  EXPECT_NE(read_file(path("out/1/report.md")).find("The target's it makes"), std::string::npos);
  EXPECT_EQ(r.command.find("--alignment") != std::string::npos, std::filesystem::exists(path("out/1/alignment.tsv")));
}

// The target's part again in its own format, which may hold its inputs in another way.
TEST_F(ReduceFindings, AlsoInTheTargetsOwnFormat) {
  for (const char* ext : {".tflite", ".keras", ".pt"}) {
    const LocalizeReport report =
        reduce(with_strides(kConvNet, "{STRIDES}", ""),
               with_strides(with_strides(kConvNet, "{STRIDES}", ""), "random(2)", "random(7)"), ext);
    ASSERT_EQ(report.reduced->size(), 1u) << ext;
    const ReducedFinding& r = report.reduced->at(0);
    EXPECT_TRUE(r.reproduced) << r.why_not;
    EXPECT_EQ(r.own_file, cat("target", ext)) << r.own_why_not;
    EXPECT_TRUE(std::filesystem::exists(path(cat("out/1/target", ext))));
    LocalizeRequest again;
    again.source = path("out/1/source.onnx");
    again.target = path("out/1/" + r.own_file);
    again.inputs = {path("out/1/inputs.npz")};
    again.network.device = "reference";
    EXPECT_FALSE(ModelComparison(again).run().findings.empty());
  }
}

// A fault that the first sample does not show is reduced on one that does.
TEST_F(ReduceFindings, OnASampleThatShowsIt) {
  const std::string clipped = R"(graph "net" {
  opset 17
  input x: float32[1,3,12,20]
  const low: float32[] = {0}
  const high: float32[] = {HIGH}
  a = Clip(x, low, high) @clip
  y = Relu(a) @relu
  output y
})";
  const LocalizeReport report =
      reduce(with_strides(clipped, "HIGH", "6"), with_strides(clipped, "HIGH", "8"), ".onnx", {0.5, 1, 7.5, 1});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].n_differing, 1);
  const ReducedFinding& r = report.reduced->at(0);
  EXPECT_TRUE(r.reproduced) << r.why_not;
  EXPECT_GT(r.max_abs, 0);
  const std::vector<double> pixel = to_doubles(arrays().begin()->second);
  EXPECT_EQ(pixel.size(), 3u);
  EXPECT_GT(*std::max_element(pixel.begin(), pixel.end()), 6);  // of the third sample
}

TEST_F(ReduceFindings, NothingOfEqualNetworks) {
  const LocalizeReport report = reduce(with_strides(kConvNet, "{STRIDES}", ""),
                                       with_strides(with_strides(kChannelsLast, "{STRIDES}", ""), "WRONG", "2"));
  EXPECT_TRUE(report.findings.empty());
  ASSERT_TRUE(report.reduced);
  EXPECT_TRUE(report.reduced->empty());
  EXPECT_FALSE(std::filesystem::exists(path("out/1")));
}

// Out of time, the first fault is written all the same.
TEST_F(ReduceFindings, EndsWithTheTime) {
  for (const int n : {20, 40, 60}) {
    const LocalizeReport report =
        reduce(with_strides(kConvNet, "{STRIDES}", ""),
               with_strides(with_strides(kConvNet, "{STRIDES}", ""), "random(2)", "random(7)"), ".onnx", {1},
               after_questions(n));
    if (report.findings.empty()) continue;
    EXPECT_TRUE(report.reduced->at(0).reproduced) << n;
  }
}

TEST(Shrink, AsLongAsAStepStays) {
  // A height of at least 3 is wanted, of the back; what is even stays even.
  Shape image = {2, 3, 14, 14}, scalar = {1, 3, 1, 1};
  shrink(
      [&] {
        return std::vector<Shape>{image, scalar};
      },
      [&](const Halving& halving) {
        EXPECT_EQ(halving.inputs, std::vector<size_t>{0});
        const Tensor half = half_of(Tensor(DType::Float32, image), halving, halving.axes);
        if (half.dim(2) < 3 || half.dim(2) % 2 != 0 || !(halving.back || halving.axes == std::vector<size_t>{0}))
          return false;
        if (half.dim(1) != 3) return false;
        image = half.shape();
        return true;
      });
  EXPECT_EQ(image, (Shape{1, 3, 4, 4}));
}

// Two inputs between which a layer strides get smaller together.
TEST(Shrink, InputsOfOtherExtentsTogether) {
  Shape fine = {1, 2, 56, 56}, coarse = {1, 4, 28, 28};
  shrink(
      [&] {
        return std::vector<Shape>{fine, coarse};
      },
      [&](const Halving& halving) {
        if (halving.inputs.size() != 2) return false;
        for (Shape* shape : {&fine, &coarse})
          *shape = half_of(Tensor(DType::Float32, *shape), halving, halving.axes).shape();
        return true;
      });
  EXPECT_EQ(fine, (Shape{1, 2, 2, 2}));
  EXPECT_EQ(coarse, (Shape{1, 4, 1, 1}));
}

TEST(Shrink, TakesTheFrontOrTheBack) {
  const Tensor tensor = Tensor::of<float>({1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  EXPECT_TRUE(
      half_of(tensor, {{0}, {1, 2}, false, false}, {1, 2}).identical(Tensor::of<float>({1, 2, 2}, {1, 2, 4, 5})));
  EXPECT_TRUE(
      half_of(tensor, {{0}, {1, 2}, false, true}, {1, 2}).identical(Tensor::of<float>({1, 2, 2}, {5, 6, 8, 9})));
  EXPECT_TRUE(
      half_of(tensor, {{0}, {2}, false, true}, {1}).identical(Tensor::of<float>({1, 2, 3}, {4, 5, 6, 7, 8, 9})));
}

}  // namespace
}  // namespace dnn
