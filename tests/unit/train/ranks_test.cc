// Ranks: sums in their order, what one rank alone would learn, statistics, and failures that one of them reports.
#include "train/ranks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

#include "base/failure.h"
#include "cache.h"
#include "graph/text.h"
#include "target/isa.h"
#include "train/fit.h"
#include "unit/train/thread_ranks.h"

namespace dnn::train {
namespace {

// Numbers between -1 and 1 that look random.
Tensor waves(DType dtype, const Shape& shape, int64_t start) {
  Tensor tensor(DType::Float64, shape);
  double* out = tensor.mutable_data<double>();
  for (int64_t i = 0; i < tensor.size(); ++i) out[i] = static_cast<double>((start + i) * 7919 % 10007) / 5003.5 - 1;
  return convert(tensor, dtype);
}

TEST(Ranks, SharesAreContiguousAndDifferByOne) {
  for (const int ranks : {1, 2, 3, 4, 7}) {
    for (const int64_t count : {0, 1, 3, 10, 33}) {
      int64_t at = 0;
      for (int r = 0; r < ranks; ++r) {
        const RankShare share = share_of_rank(count, r, ranks);
        EXPECT_EQ(share.begin, at);
        EXPECT_GE(share.count, count / ranks);
        EXPECT_LE(share.count, count / ranks + 1);
        EXPECT_LE(share.count, share_of_rank(count, 0, ranks).count);
        at += share.count;
      }
      EXPECT_EQ(at, count);
    }
  }
}

// 1e16 + 1 is 1e16 in float64: of these numbers each order of three ranks but this one makes 1.
TEST(Ranks, SumsAreInTheOrderOfTheRanks) {
  run_ranks(3, [](Ranks& ranks) {
    const std::vector<double> numbers = {1e16, 1, -1e16};
    std::vector<Tensor> sums;
    ranks.sum({Tensor::scalar(numbers[ranks.rank()])}, {1, 1, 1}, &sums);
    EXPECT_EQ(sums.at(0).data<double>()[0], 0);
    ranks.sum({Tensor::scalar(numbers[ranks.rank()])}, {0.5, 4, 0.5}, &sums);
    EXPECT_EQ(sums.at(0).data<double>()[0], 4);
  });
}

// More numbers than are exchanged at once, in tensors of many sizes, one of none.
TEST(Ranks, SumsOfManyTensorsAreThoseOfEachNumber) {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const std::vector<Shape> shapes = {{3, 5}, {0, 4}, {1}, {2100, 1999}, {7}, {70001}};
    run_ranks(3, [&](Ranks& ranks) {
      std::vector<Tensor> own, sums;
      for (size_t i = 0; i < shapes.size(); ++i)
        own.push_back(waves(dtype, shapes[i], 1000 * static_cast<int64_t>(i) + 10 * ranks.rank()));
      const std::vector<double> weights = {0.5, 0.25, 0.25};
      ranks.sum(own, weights, &sums);
      ASSERT_EQ(sums.size(), shapes.size());
      const void* const memory = sums[3].bytes().data();
      for (size_t i = 0; i < shapes.size(); ++i) {
        ranks.check_same(std::string(as_text(sums[i].bytes())), "sums", "then");
        if (!ranks.is_first()) continue;
        ASSERT_EQ(sums[i].shape(), shapes[i]);
        std::vector<Tensor> parts;
        for (int r = 0; r < 3; ++r)
          parts.push_back(convert(waves(dtype, shapes[i], 1000 * static_cast<int64_t>(i) + 10 * r), DType::Float64));
        Tensor expected(DType::Float64, shapes[i]);
        double* out = expected.mutable_data<double>();
        for (int r = 0; r < 3; ++r) {
          const double* part = parts[r].data<double>();
          for (int64_t k = 0; k < expected.size(); ++k) out[k] += weights[r] * part[k];
        }
        EXPECT_TRUE(sums[i].identical(convert(expected, dtype))) << i;
      }
      ranks.sum(own, weights, &sums);
      EXPECT_EQ(sums[3].bytes().data(), memory);
    });
  }
}

TEST(Ranks, RowsAreJoinedAndTensorsSpread) {
  run_ranks(4, [](Ranks& ranks) {
    const Tensor whole = waves(DType::Float32, {6, 3}, 0);
    const RankShare share = ranks.share(6);
    Tensor own(DType::Float32, {share.count, 3});
    std::copy_n(whole.data<float>() + 3 * share.begin, own.size(), own.mutable_data<float>());
    EXPECT_TRUE(ranks.join_rows(own, 6).identical(whole));
    std::vector<Tensor> tensors = {waves(DType::Float64, {5}, ranks.rank()), Tensor(DType::Float32, {0})};
    ranks.spread(&tensors);
    EXPECT_TRUE(tensors[0].identical(waves(DType::Float64, {5}, 0)));
  });
}

constexpr const char* kDropoutNetwork = R"(graph "g" {
  opset 13
  input x: float32[batch,6]
  const scale: float32[6] = {1, 0.5, 2, 1, 1.5, 1}
  const shift: float32[6] = {0, 0.1, 0, -0.2, 0, 0}
  const mean: float32[6] = {0.1, 0, 0, 0, -0.1, 0}
  const variance: float32[6] = {1, 1.2, 0.9, 1, 1, 1.1}
  const ratio: float32[] = {0.4}
  const w1: float32[6,8] = random(1)
  const b1: float32[8] = random(2)
  const w2: float32[8,4] = random(3)
  const b2: float32[4] = {0.1, -0.2, 0.3, 0}
  n = BatchNormalization(x, scale, shift, mean, variance) @norm
  h = Gemm(n, w1, b1) @hidden
  r = Relu(h) @relu
  d = Dropout(r, ratio) @dropout
  y = Gemm(d, w2, b2) @dense
  output y
})";

Batches numbered_samples(int64_t count) {
  Batches batches;
  for (int64_t i = 0; i < count; ++i) batches.labels.push_back(i % 4);
  batches.load = [](const std::vector<int64_t>& samples, int64_t epoch, const Tensor&) {
    Tensor batch(DType::Float32, {static_cast<int64_t>(samples.size()), 6});
    for (size_t i = 0; i < samples.size(); ++i) {
      const Tensor row = waves(DType::Float32, {6}, 31 * samples[i] + epoch);
      std::copy_n(row.data<float>(), 6, batch.mutable_data<float>() + 6 * i);
    }
    return batch;
  };
  return batches;
}

void compile_fast(TrainerOptions* options) {
  options->compile.opt = 2;
  options->compile.isas = {supported_isas().back()};
  options->compile.build.cache_folder = test_cache();
}

struct Learnt {
  std::vector<Tensor> state;
  std::vector<Score> training, validation;  // by epoch
};

// Three epochs of 14 samples in batches of 4: the last batch has 2, so of three ranks one gets none of it.
Learnt learn(Ranks* ranks, TrainerOptions options, int threads) {
  options.ranks = ranks;
  options.threads = threads;
  compile_fast(&options);
  options.seed = 5;
  Trainer trainer(parse_graph(kDropoutNetwork), options);
  const Batches training = numbered_samples(14), validation = numbered_samples(5);
  FitOptions fitting;
  fitting.epochs = 3;
  fitting.batch = 4;
  fitting.batches = options.step.batches;
  fitting.schedule.rate = 0.05;
  Learnt learnt;
  FitHooks hooks;
  hooks.report = [&](const EpochReport& report) {
    learnt.training.push_back(report.training);
    learnt.validation.push_back(report.validation);
  };
  Progress progress;
  EXPECT_EQ(fit(trainer, training, &validation, fitting, hooks, &progress), FitEnd::Done);
  learnt.state = trainer.state();
  return learnt;
}

// By rank.
std::vector<Learnt> learn_together(int n, const TrainerOptions& options, int threads) {
  std::vector<Learnt> learnt(static_cast<size_t>(n));
  run_ranks(n, [&](Ranks& ranks) { learnt[ranks.rank()] = learn(&ranks, options, threads); });
  return learnt;
}

void expect_close(const std::vector<Tensor>& some, const std::vector<Tensor>& others, double relative) {
  ASSERT_LE(some.size(), others.size());  // gathered gradients, which are zeros, stand behind
  for (size_t i = 0; i < some.size(); ++i) {
    const std::vector<double> a = to_doubles(some[i]), b = to_doubles(others[i]);
    ASSERT_EQ(a.size(), b.size());
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], relative * (1 + std::abs(a[k]))) << i << " " << k;
  }
}

TrainerOptions sgd() {
  TrainerOptions options;
  options.step.optimizer.kind = Optimizer::Kind::Sgd;
  options.frozen = {"n"};
  options.precision = DType::Float64;
  return options;
}

TrainerOptions adamw_of_two_batches() {
  TrainerOptions options = sgd();
  options.step.optimizer = {};
  options.step.optimizer.kind = Optimizer::Kind::AdamW;
  options.step.optimizer.weight_decay = 0.1;
  options.step.optimizer.clip = 0.05;
  options.step.batches = 2;
  options.label_smoothing = 0.1;
  return options;
}

// With a frozen norm ranks add up the gradients of the same samples, with the same masks of the Dropout: one rank's run but for rounding.
TEST(Ranks, LearnWhatOneRankLearns) {
  for (const TrainerOptions& options : {sgd(), adamw_of_two_batches()}) {
    const Learnt alone = learn(nullptr, options, 1);
    for (const int n : {2, 3}) {
      const std::vector<Learnt> together = learn_together(n, options, 1);
      for (const Learnt& rank : together) {
        expect_close(alone.state, rank.state, 1e-11);
        ASSERT_EQ(rank.training.size(), 3U);
        for (size_t i = 0; i < 3; ++i) {
          EXPECT_NEAR(rank.training[i].loss, alone.training[i].loss, 1e-10);
          EXPECT_EQ(rank.training[i].samples, 14);
          EXPECT_EQ(rank.training[i].hits, alone.training[i].hits);
          EXPECT_NEAR(rank.validation[i].loss, alone.validation[i].loss, 1e-10);
          EXPECT_EQ(rank.validation[i].samples, 5);
        }
      }
    }
  }
}

TEST(Ranks, AllHaveTheSameBitsWhateverTheThreads) {
  TrainerOptions options = adamw_of_two_batches();
  options.precision = DType::Float32;
  options.frozen = {};
  for (const int n : {2, 4}) {
    const std::vector<Learnt> first = learn_together(n, options, 1), again = learn_together(n, options, 3);
    for (const std::vector<Learnt>& run : {first, again}) {
      for (const Learnt& rank : run) {
        ASSERT_EQ(rank.state.size(), first[0].state.size());
        for (size_t i = 0; i < rank.state.size(); ++i) EXPECT_TRUE(rank.state[i].identical(first[0].state[i])) << i;
      }
    }
  }
}

// Each rank's own statistics, and the mean of what all ranks' running ones have become, by samples: of 5 samples 3 and 2.
TEST(Ranks, RunningStatisticsAreMeansOfTheRanks) {
  TrainerOptions options = sgd();
  options.frozen = {};
  compile_fast(&options);
  const Tensor batch = numbered_samples(5).load({0, 1, 2, 3, 4}, 1, {});
  run_ranks(2, [&](Ranks& ranks) {
    TrainerOptions own = options;
    own.ranks = &ranks;
    Trainer trainer(parse_graph(kDropoutNetwork), own);
    const RankShare share = ranks.share(5);
    StepBatch step;
    step.batch = Tensor(DType::Float32, {share.count, 6});
    std::copy_n(batch.data<float>() + 6 * share.begin, 6 * share.count, step.batch.mutable_data<float>());
    for (int64_t i = 0; i < share.count; ++i) step.labels.push_back((share.begin + i) % 4);
    step.share = static_cast<double>(share.count) / 5;
    step.first = share.begin;
    EXPECT_EQ(trainer.step(step, 0).samples, 5);
    std::set<std::string> seen;
    for (size_t i = 0; i < trainer.variables().size(); ++i) {
      const std::string& name = trainer.variables()[i].name;
      if (name != "mean" && name != "variance") continue;
      seen.insert(name);
      const std::vector<double> before = to_doubles(trainer.variables()[i].initial),
                                now = to_doubles(trainer.state()[i]);
      for (size_t c = 0; c < 6; ++c) {
        double expected = 0;
        for (int r = 0; r < 2; ++r) {
          const RankShare part = share_of_rank(5, r, 2);
          double mean = 0, square = 0;
          for (int64_t k = part.begin; k < part.begin + part.count; ++k) mean += double{batch.data<float>()[6 * k + c]};
          mean /= static_cast<double>(part.count);
          for (int64_t k = part.begin; k < part.begin + part.count; ++k)
            square += std::pow(double{batch.data<float>()[6 * k + c]} - mean, 2);
          const double moment = name == "mean" ? mean : square / static_cast<double>(part.count);
          const auto momentum = double{0.9F};
          expected += static_cast<double>(part.count) / 5 * (momentum * before[c] + (1 - momentum) * moment);
        }
        EXPECT_NEAR(now[c], expected, 1e-12) << name << " " << c;
      }
    }
    EXPECT_EQ(seen.size(), 2U);
  });
}

TEST(Ranks, TheFirstThatFailsOfAllSaysSo) {
  std::mutex mutex;
  std::vector<std::string> said;
  run_ranks(4, [&](Ranks& ranks) {
    const auto work = [&] {
      ranks.together([&] {
        if (ranks.rank() >= 1) fail_malformed("rank ", ranks.rank());
        if (ranks.rank() == 3) fail_usage("never");
      });
      ADD_FAILURE();
    };
    const auto say = [&] {
      const Failure failure = failure_of(std::current_exception());
      const std::lock_guard lock(mutex);
      said.push_back(failure.text);
      return failure.exit_code;
    };
    EXPECT_EQ(run_rank(ranks, work, say), static_cast<int>(ErrorKind::Malformed));
    EXPECT_EQ(run_rank(
                  ranks, [&] { ranks.together([] {}); }, say),
              0);
  });
  EXPECT_EQ(said, std::vector<std::string>{"rank 1"});
}

TEST(Ranks, AFailureOfOneAloneEndsAll) {
  run_ranks(2, [](Ranks& ranks) {
    if (ranks.rank() == 0) return;
    int said = 0;
    const auto say = [&] { return ++said, 3; };
    try {
      run_rank(
          ranks, [] { fail_malformed("a file"); }, say);
      ADD_FAILURE();
    } catch (const EndedAll& ended) {
      EXPECT_EQ(ended.exit_code, 3);
    }
    EXPECT_EQ(said, 1);
  });
}

TEST(Ranks, ARankWithOtherWeightsIsNamed) {
  run_ranks(3, [](Ranks& ranks) {
    TrainerOptions options = sgd();
    options.ranks = &ranks;
    Trainer trainer(parse_graph(kDropoutNetwork), options);
    trainer.check_ranks("before");
    std::vector<Tensor> state = trainer.state();
    if (ranks.rank() == 2) state[0].mutable_bytes()[0] ^= std::byte{1};
    trainer.restore(state, 0);
    try {
      trainer.check_ranks("after epoch 3");
      ADD_FAILURE();
    } catch (const FailedTogether& failed) {
      EXPECT_EQ(failed.exit_code, static_cast<int>(ErrorKind::Environment));
      ASSERT_EQ(failed.own != nullptr, ranks.is_first());
      if (!ranks.is_first()) return;
      EXPECT_EQ(failure_of(failed.own).text.rfind("after epoch 3 rank 2 has other weights than rank 0", 0), 0U);
    }
  });
}

}  // namespace
}  // namespace dnn::train
