// Fitting: the best state is a copy, in the same memory from epoch to epoch.
#include "train/fit.h"

#include <gtest/gtest.h>

#include "graph/text.h"

namespace dnn::train {
namespace {

TEST(Fit, TheBestStateIsACopyInItsOwnMemory) {
  TrainerOptions options;
  options.compile.opt = 2;
  Trainer trainer(parse_graph(R"(graph "g" {
  opset 13
  input x: float32[batch,3]
  const w: float32[3,4] = random(1)
  const b: float32[4] = {0.1, -0.2, 0.3, 0}
  y = Gemm(x, w, b) @dense
  output y
})"),
                  options);
  Batches batches;
  batches.labels = {0, 1, 2, 3};
  batches.load = [](const std::vector<int64_t>& samples, int64_t, const Tensor&) {
    Tensor batch(DType::Float32, {static_cast<int64_t>(samples.size()), 3});
    for (size_t i = 0; i < samples.size(); ++i) batch.mutable_data<float>()[3 * i + samples[i] % 3] = 1;
    return batch;
  };
  FitOptions fitting;
  fitting.epochs = 3;
  fitting.batch = 4;
  fitting.schedule.rate = 0.1;
  std::vector<std::vector<const void*>> places;  // by epoch
  FitHooks hooks;
  hooks.checkpoint = [&](const Progress& now) {
    ASSERT_EQ(now.state.size(), trainer.state().size());
    ASSERT_EQ(now.best.size(), now.state.size());
    places.emplace_back();
    for (size_t i = 0; i < now.best.size(); ++i) {
      EXPECT_TRUE(now.best[i].identical(now.state[i])) << i;
      EXPECT_NE(now.best[i].bytes().data(), now.state[i].bytes().data()) << i;
      places.back().push_back(now.best[i].bytes().data());
    }
  };
  Progress progress;
  EXPECT_EQ(fit(trainer, batches, nullptr, fitting, hooks, &progress), FitEnd::Done);
  ASSERT_EQ(places.size(), 3U);
  EXPECT_EQ(places[1], places[0]);
  EXPECT_EQ(places[2], places[0]);
}

}  // namespace
}  // namespace dnn::train
