// Repairing model files: a verdict rests on every input that is given, and says of how many.
#include "localize/repair_model.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "cache.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "tensor/npy.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

constexpr int64_t kSamples = 16;

std::string written_net(const std::string& bound, const std::string& name) {
  const std::string path = ::testing::TempDir() + "/" + name;
  write_file(path, cat(R"(graph "net" {
  opset 28
  input x: float32[1,3,8,8]
  const w: float32[4,3,3,3] = random(1)
  const v: float32[4,4,1,1] = random(2)
  const low: float32[] = {-)",
                       bound, "}\n  const high: float32[] = {", bound, R"(}
  c = Conv(x, w) @conv
  a = Clip(c, low, high) @bound
  y = Conv(a, v) @last
  output y
}
)"));
  return path;
}

// Samples at these places are large.
std::string written_samples(const std::vector<int64_t>& places, const std::string& name) {
  Tensor all = random_tensor(DType::Float32, {kSamples, 3, 8, 8}, 5);
  const int64_t size = all.size() / kSamples;
  for (const int64_t place : places) {
    for (int64_t i = 0; i < size; ++i) all.mutable_data<float>()[place * size + i] *= 20;
  }
  const std::string path = ::testing::TempDir() + "/" + name;
  write_file(path, format_npy(all));
  return path;
}

RepairReport repaired_model(const std::string& source, const std::string& target, const std::string& inputs) {
  RepairRequest request;
  request.source = source;
  request.target = target;
  request.inputs = {inputs};
  request.network.device = "reference";
  request.output = ::testing::TempDir() + "/repaired_by_places.txt";
  request.folders.compile.build.cache_folder = test_cache();
  return repair_model(request);
}

TEST(RepairModel, AFaultThatOnlySomePlacesShowIsFoundAndJudgedOnAll) {
  const std::string source = written_net("40", "source_places.txt"), target = written_net("12", "target_places.txt");
  const std::vector<std::vector<int64_t>> all = {{1, 3, 5, 7, 9, 11, 13, 15}, {0, 2, 4}, {15}, {1}, {0}, {6, 7}};
  for (const std::vector<int64_t>& places : all) {
    SCOPED_TRACE(places.front());
    const RepairReport report = repaired_model(source, target, written_samples(places, "some_places.npy"));
    EXPECT_EQ(report.verdict, RepairReport::Verdict::Repaired) << report.why_not;
    EXPECT_EQ(report.n_judged, kSamples);
    EXPECT_EQ(report.findings.size(), 1u);
    EXPECT_TRUE(report.left.empty());
    EXPECT_NE(repair_text(report).find("repaired: right on all 16 samples"), std::string::npos) << repair_text(report);
  }
}

TEST(RepairModel, HealthyIsWhatIsHealthyOnAll) {
  const std::string source = written_net("40", "source_places.txt");
  const RepairReport report = repaired_model(source, source, written_samples({3}, "some_places.npy"));
  EXPECT_EQ(report.verdict, RepairReport::Verdict::Healthy);
  EXPECT_EQ(report.n_judged, kSamples);
  EXPECT_NE(repair_text(report).find("healthy on all 16 samples"), std::string::npos) << repair_text(report);
}

TEST(RepairModel, GeneratedInputsAreJudgedToo) {
  RepairRequest request;
  request.source = written_net("40", "source_places.txt");
  request.target = written_net("0.5", "target_places.txt");
  request.fill = "random";
  request.seed = 7;
  request.network.device = "reference";
  request.output = ::testing::TempDir() + "/repaired_by_places.txt";
  request.folders.compile.build.cache_folder = test_cache();
  const RepairReport report = repair_model(request);
  EXPECT_EQ(report.verdict, RepairReport::Verdict::Repaired);
  EXPECT_EQ(report.n_judged, kFilledSamples);
  request.fill = "noise";
  EXPECT_THROW(repair_model(request), Error);
}

}  // namespace
}  // namespace dnn
