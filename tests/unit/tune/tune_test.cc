// Searches of a small network: what they promise, whatever the times are.
#include "tune/tune.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "cache.h"
#include "devices/device.h"
#include "graph/tensor_text.h"
#include "graph/text.h"
#include "target/isa.h"
#include "tune/log.h"

namespace dnn::tune {
namespace {

// A convolution in chunks, a pointwise one and a product.
Graph network() {
  return parse_graph(R"(graph "net" {
  opset 28
  input x: float32[1,32,12,12]
  const w: float32[64,32,3,3] = random(1)
  const v: float32[48,64,1,1] = random(2)
  const m: float32[144,32] = random(3)
  const s: int64[2] = {48, 144}
  a = Conv(x, w) @first {pads = [1, 1, 1, 1]}
  b = Relu(a) @relu
  c = Conv(b, v) @second
  d = Reshape(c, s) @flat
  y = MatMul(d, m) @product
  output y
}
)");
}

CompileOptions cached() {
  CompileOptions options;
  options.opt = 3;
  options.isas = {supported_isas().back()};
  options.build.cache_folder = test_cache();
  return options;
}

class TuneTest : public testing::Test {
 protected:
  TuneOptions options(int64_t trials) {
    TuneOptions o;
    o.seconds = 1000;  // what ends it is the number of trials
    o.trials = trials;
    o.threads = 1;
    o.log = folder_.path() + "/log.jsonl";
    o.model = "net";
    o.note = o.warn = [this](const std::string& message) { said_ += message + "\n"; };
    return o;
  }
  TemporaryFolder folder_{testing::TempDir()};
  std::string said_;
};

Tensor output(const CompileOptions& options) {
  const Graph graph = network();
  auto session = open_session("cpu", std::make_shared<Package>(compile(graph, options)));
  return session->run({random_tensor(DType::Float32, {1, 32, 12, 12}, 5)})[0];
}

TEST_F(TuneTest, LogsItsTrialsAndGoesOnFromThem) {
  TuneOptions o = options(1);
  o.seconds = 40;  // measuring the result takes a share of it, the trials end before
  const Tuned first = tune(network(), cached(), o);
  EXPECT_GE(first.kernels, 2U);
  EXPECT_GE(first.trials, 2);
  EXPECT_GT(first.before.min, 0);
  EXPECT_LE(first.after.min, first.after.median);
  EXPECT_LE(first.after.median, first.after.max);
  EXPECT_LE(first.after.median, first.before.median) << "what does not make the whole faster is not kept";
  EXPECT_EQ(first.schedules.empty(), first.after.median == first.before.median);
  EXPECT_NE(read_file(o.log).find("\"type\":\"summary\""), std::string::npos);
  size_t trials = 0, choices = 0;
  for (const Record& r : read_log(o.log, o.warn)) (r.choice ? choices : trials) += 1;
  EXPECT_EQ(trials, static_cast<size_t>(first.trials));
  EXPECT_EQ(choices, first.kernels);
  const Tuned second = tune(network(), cached(), o);
  EXPECT_EQ(second.trials, 0) << "all were in the log";
  EXPECT_NE(said_.find("goes on from"), std::string::npos) << said_;
}

TEST_F(TuneTest, WithoutTimeItMeasuresTheDefaultsAlone) {
  TuneOptions o = options(0);
  o.seconds = 0;
  const Tuned tuned = tune(network(), cached(), o);
  EXPECT_EQ(tuned.trials, 0);
  EXPECT_TRUE(tuned.schedules.empty());
  EXPECT_GE(tuned.before.runs, 12);
}

TEST_F(TuneTest, InstructionSetsThatAreNotHereAreRefused) {
  CompileOptions compile = cached();
  compile.isas = {"avx1024"};
  EXPECT_THROW(tune(network(), compile, options(1)), Error);
}

// Whatever is chosen, the bits stay.
TEST(Schedules, ChangeNoBit) {
  CompileOptions options = cached();
  std::vector<codegen::Workload> workloads;
  options.on_workload = [&](const codegen::Workload& w) { workloads.push_back(w); };
  const Tensor expected = output(options);
  options.on_workload = nullptr;
  const Space space = whole_space();
  size_t changed = 0;
  for (size_t value = 1; value <= 15; ++value) {  // another one of each axis at once, until all were there
    Point point;
    for (size_t i = 0; i < space.axes.size(); ++i)
      point.push_back(static_cast<int>((value + i) % space.axes[i].values.size()));
    for (const codegen::Workload& w : workloads) {
      options.schedules[options.isas[0]][w.kernel] = space.at(point);
      changed += w.text(space.at(point)) != w.text({}) ? 1 : 0;
    }
    EXPECT_TRUE(output(options).identical(expected)) << value;
  }
  EXPECT_GE(changed, 30U);
}

TEST(Tune, SaysWhereNothingFasterWasFound) {
  Tuned tuned;
  tuned.kernels = 3;
  EXPECT_NE(to_text(tuned).find("\nno schedule was tried: give --tune more seconds\n"), std::string::npos);
  tuned.trials = 5;
  EXPECT_NE(to_text(tuned).find("\nnothing faster was found: "), std::string::npos);
  tuned.schedules["avx512"]["kernel"] = {};
  EXPECT_EQ(to_text(tuned).find("found"), std::string::npos);
}

}  // namespace
}  // namespace dnn::tune
