// Probes that a user gives: arrays fitted to the inputs, batches filled up, the certificate over them.
#include "convert/probes.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/file.h"
#include "cache.h"
#include "convert/certificate.h"
#include "graph/text.h"
#include "ops/op.h"
#include "tensor/npy.h"

namespace dnn {
namespace {

Graph relu_of(const std::string& extents) {
  return parse_graph("graph \"g\" {\n  opset 17\n  input x: float32[" + extents + "]\n  y = Relu(x)\n  output y\n}\n");
}

std::string npy(const TemporaryFolder& folder, const Tensor& tensor) {
  std::string path = folder.path() + "/x.npy";
  write_file(path, format_npy(tensor));
  return path;
}

TEST(Probes, AreTheRowsOfAnArray) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = npy(folder, Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto probes = read_probes(relu_of("n,2"), {.inputs = {path}});
  ASSERT_EQ(probes.size(), 3u);
  EXPECT_TRUE(probes[2][0].identical(Tensor::of<float>({1, 2}, {5, 6})));
}

TEST(Probes, FillUpTheLastBatch) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = npy(folder, Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto probes = read_probes(relu_of("2,2"), {.inputs = {path}});
  ASSERT_EQ(probes.size(), 2u);
  EXPECT_TRUE(probes[0][0].identical(Tensor::of<float>({2, 2}, {1, 2, 3, 4})));
  EXPECT_TRUE(probes[1][0].identical(Tensor::of<float>({2, 2}, {5, 6, 5, 6})));
}

TEST(Probes, JudgeInPlaceOfSeededOnes) {
  const Graph source = relu_of("1,2");
  Graph target = parse_graph("graph \"g\" {\n  opset 17\n  input x: float32[1,2]\n  y = Identity(x)\n  output y\n}\n");
  CertifyOptions options;
  options.given = {{Tensor::of<float>({1, 2}, {1, 2})}, {Tensor::of<float>({1, 2}, {0, 4})}};
  const Certificate same = certify(source, target, options);
  EXPECT_EQ(same.probes, 2);
  EXPECT_FALSE(same.seed);
  EXPECT_EQ(same.max_relative(), 0) << "none of them is negative";
  options.given.push_back({Tensor::of<float>({1, 2}, {-1, -2})});
  EXPECT_GT(certify(source, target, options).max_relative(), 0);
}

TEST(Probes, RefuseWhatDoesNotFit) {
  const TemporaryFolder folder(testing::TempDir());
  const std::string path = npy(folder, Tensor::of<float>({3, 5}, std::vector<float>(15, 1)));
  EXPECT_THROW(read_probes(relu_of("1,2"), {.inputs = {path}}), Error);
}

}  // namespace
}  // namespace dnn
