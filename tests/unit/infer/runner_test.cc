// Batches, predictions and figures of a run on a session of known arithmetic; samples ahead of it.
#include "infer/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "base/affinity.h"
#include "base/io.h"
#include "cache.h"
#include "compile/compile.h"
#include "infer/prefetch.h"
#include "infer/trace.h"
#include "interp/interpreter.h"
#include "package_case.h"

namespace dnn {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

std::string network(int64_t batch) {
  return cat("graph \"g\" {\n opset 17\n input x: float32[", batch, ",2]\n a: float32[", batch,
             ",2] = Neg(x) @first\n y: float32[", batch, ",2] = Add(x, x) @second\n output y\n output a\n}\n");
}

class Numbers : public SampleSource {
 public:
  explicit Numbers(int64_t n, int64_t bad = -1) : n_(n), bad_(bad) {}
  std::optional<int64_t> count() const override { return n_; }
  std::optional<Load> next() override {
    if (next_ == n_) return std::nullopt;
    return [id = next_++, bad = bad_] {
      LoadedSample sample;
      sample.id = id;
      if (id == bad) {
        sample.error = Error(ErrorKind::Malformed, "bad");
      } else {
        sample.inputs = {Tensor::of<float>({1, 2}, {static_cast<float>(id), 1})};
      }
      return sample;
    };
  }

 private:
  int64_t n_, bad_, next_ = 0;
};

struct Ran {
  RunSummary summary;
  std::vector<stream::Record> records;
  std::vector<std::string> warnings;
};

template <class T>
std::vector<T> records_of(const Ran& ran) {
  std::vector<T> found;
  for (const stream::Record& record : ran.records) {
    if (const T* one = std::get_if<T>(&record)) found.push_back(*one);
  }
  return found;
}

Ran run(int64_t batch, SampleSource& source, const RunOptions& options) {
  const std::shared_ptr<const Package> package = package_of(network(batch));
  const std::unique_ptr<Session> session = open_session("reference", package);
  const BatchPlan plan = plan_batch(*package);
  Ran ran;
  StringSink sink;
  stream::Writer writer(sink);
  writer.write(stream::Header());
  Runner runner(
      *session, plan, options, writer, [&](const std::string& line) { ran.warnings.push_back(line); }, [](int64_t) {});
  ran.summary = runner.run(source);
  writer.end();
  MemorySource bytes(as_bytes(sink.text()));
  stream::Reader reader(bytes, "run");
  while (std::optional<stream::Record> record = reader.next()) ran.records.push_back(std::move(*record));
  return ran;
}

TEST(BestClasses, TiesGoToTheLowerIndexAndNaNIsLast) {
  const auto best = best_classes(Tensor::of<float>({5}, {1, kNaN, 3, 3, -1}), 9, nullptr);
  std::vector<int64_t> order;
  for (const auto& one : best) order.push_back(one.index);
  EXPECT_EQ(order, (std::vector<int64_t>{2, 3, 0, 4, 1}));
  EXPECT_EQ(best_classes(Tensor::of<float>({3}, {1, 2, 3}), 2, nullptr).size(), 2u);
}

TEST(Plan, IsBatchedOnlyWhenAllFirstExtentsAgree) {
  EXPECT_TRUE(plan_batch(*package_of(network(3))).batched);
  EXPECT_EQ(plan_batch(*package_of(network(3))).slots[0].shape, (Shape{1, 2}));
  const BatchPlan whole = plan_batch(
      *package_of("graph \"g\" {\n opset 17\n input x: float32[3,2]\n y: float32[2,3] = Transpose(x)\n output y\n}\n"));
  EXPECT_FALSE(whole.batched);
  EXPECT_EQ(whole.slots[0].shape, (Shape{3, 2}));
}

TEST(Run, EveryBatchSizeGivesEachSampleItsOwnOutputs) {
  for (int64_t batch : {1, 3, 8}) {
    Numbers source(7);
    RunOptions options;
    options.full_outputs = true;
    const Ran ran = run(batch, source, options);
    const auto predictions = records_of<stream::Prediction>(ran);
    ASSERT_EQ(predictions.size(), 7u);
    EXPECT_EQ(ran.summary.n_runs, (7 + batch - 1) / batch);
    for (int64_t i = 0; i < 7; ++i) {
      const stream::Prediction& p = predictions[static_cast<size_t>(i)];
      EXPECT_EQ(p.sample, i);
      EXPECT_EQ(p.batch, std::min(batch, 7 - i / batch * batch));
      ASSERT_EQ(p.outputs.size(), 2u);
      EXPECT_TRUE(p.outputs[0].second.identical(Tensor::of<float>({1, 2}, {2.0f * static_cast<float>(i), 2})));
      EXPECT_EQ(p.top_k[0].index, i >= 1 ? 0 : 1);
    }
  }
}

TEST(Run, RepeatsHoldTheLatencyAlone) {
  Numbers source(2);
  RunOptions options;
  options.iterations = 3;
  options.warmup = 2;
  const Ran ran = run(1, source, options);
  const auto predictions = records_of<stream::Prediction>(ran);
  ASSERT_EQ(predictions.size(), 6u);
  EXPECT_EQ(ran.summary.n_runs, 6);
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_TRUE(predictions[i].latency_ns.has_value());
    EXPECT_EQ(predictions[i].top_k.empty(), i % 3 != 0) << i;
  }
}

TEST(Run, DurationIsSharedAmongTheSamples) {
  Numbers source(2);
  RunOptions options;
  options.duration_s = 0.5;  // enough for several runs on a machine that does ten other things
  const Ran ran = run(1, source, options);
  EXPECT_GE(ran.summary.wall_s, 0.5);
  std::map<int64_t, int> runs;
  for (const auto& prediction : records_of<stream::Prediction>(ran)) ++runs[prediction.sample];
  EXPECT_GT(runs[0], 1);
  EXPECT_GT(runs[1], 1);
}

TEST(Run, WhatCannotBeReadIsLeftOut) {
  for (int threads : {0, 2}) {
    Numbers source(5, 3);
    RunOptions options;
    options.decode_threads = threads;
    const Ran ran = run(2, source, options);
    EXPECT_EQ(ran.summary.n_samples, 4);
    EXPECT_EQ(ran.summary.n_failed, 1);
    EXPECT_EQ(ran.summary.first_failure, ErrorKind::Malformed);
    EXPECT_EQ(ran.warnings, std::vector<std::string>{"bad; skipped"});
    EXPECT_EQ(records_of<stream::Sample>(ran).back().id, 4);
  }
}

TEST(Run, OutputsAreChosenByName) {
  Numbers source(1);
  RunOptions options;
  options.full_outputs = true;
  options.outputs = {"a"};
  const auto predictions = records_of<stream::Prediction>(run(1, source, options));
  ASSERT_EQ(predictions[0].outputs.size(), 1u);
  EXPECT_EQ(predictions[0].outputs[0].first, "a");
  EXPECT_EQ(predictions[0].top_k[0].index, 0);  // of {-0, -1}
  options.outputs = {"b"};
  EXPECT_THROW(run(1, source, options), Error);
}

TEST(Run, TraceHoldsEveryValueOfEachSample) {
  Numbers source(3);
  RunOptions options;
  options.trace = true;
  const auto tensors = records_of<stream::TensorRecord>(run(2, source, options));
  ASSERT_EQ(tensors.size(), 9u);  // x, a, y of three samples
  for (const stream::TensorRecord& record : tensors) {
    ASSERT_TRUE(record.sample.has_value());
    const float sign = record.name == "a" ? -1.0f : record.name == "y" ? 2.0f : 1.0f;
    EXPECT_TRUE(record.tensor.identical(Tensor::of<float>({1, 2}, {sign * static_cast<float>(*record.sample), sign})));
    EXPECT_FALSE(record.recomputed);
    EXPECT_EQ(record.role, record.name == "x" ? stream::Role::Input : stream::Role::Output);
  }
}

// Runs on the last processor; who decodes, and what follows, wherever it was.
TEST(Run, KeepsTheCallingThreadWhereTheSessionWantsIt) {
  static std::vector<int> seen, decoding;
  const std::vector<int> allowed = allowed_processors();
  class Pinned : public Session {
   public:
    explicit Pinned(std::shared_ptr<const Package> package) : Session(std::move(package)) {}
    std::vector<int> pinned_to() const override { return {allowed_processors().back()}; }
    std::vector<Tensor> run(const std::vector<Tensor>& inputs) override { return trace(inputs, {}); }
    std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& observe) override {
      const std::vector<int> here = allowed_processors();
      seen.insert(seen.end(), here.begin(), here.end());
      return interpret(graph(), inputs, observe);
    }
  };
  class Watched : public Numbers {
   public:
    using Numbers::Numbers;
    std::optional<Load> next() override {
      decoding = allowed_processors();
      return Numbers::next();
    }
  };
  const std::shared_ptr<const Package> package = package_of(network(1));
  Pinned session(package);
  const BatchPlan plan = plan_batch(*package);
  StringSink sink;
  stream::Writer writer(sink);
  writer.write(stream::Header());
  Watched source(3);
  RunOptions options;
  options.warmup = 1;
  Runner runner(
      session, plan, options, writer, [](const std::string&) {}, [](int64_t) {});
  runner.run(source);
  EXPECT_EQ(seen, std::vector<int>(4, allowed.back()));
  EXPECT_EQ(decoding, allowed);
  EXPECT_EQ(allowed_processors(), allowed);
}

TEST(Run, VaryingOutputsAndASingleSampleAreNoConcern) {
  Numbers varied(3);
  EXPECT_TRUE(run(1, varied, {}).summary.outputs_vary);
  Numbers single(1);
  EXPECT_TRUE(run(1, single, {}).summary.outputs_vary);
}

TEST(Trace, RecomputesWhatThePackageDoesNotMake) {
  const std::shared_ptr<const Package> package = package_of(network(1));
  auto without = std::make_shared<Package>(*package);
  without->variants[0].graph = std::make_shared<const Graph>(parse_graph(
      "graph \"g\" {\n opset 17\n input x: float32[1,2]\n y: float32[1,2] = Add(x, x) @second\n output y\n}\n"));
  without->output_types.resize(1);
  const std::unique_ptr<Session> session = open_session("reference", without);
  const auto records = trace_run(*session, {Tensor::of<float>({1, 2}, {3, 4})});
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[1].name, "a");
  EXPECT_TRUE(records[1].recomputed);
  EXPECT_TRUE(records[1].tensor.identical(Tensor::of<float>({1, 2}, {-3, -4})));
  EXPECT_FALSE(records[2].recomputed);
}

// A Concat whose inputs are computed where it lies has no step of its own, and is seen all the same.
TEST(Trace, SeesAConcatenationThatCopiesNothing) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset 28
  input x: float32[1,16,6,6]
  const v: float32[32,16,1,1] = random(1)
  const w: float32[16,16,3,3] = random(2)
  a = Conv(x, v) @first
  b = Conv(x, w) @second {pads = [1, 1, 1, 1]}
  c = Concat(a, b) @joined {axis = 1}
  y = MaxPool(c) @pool {kernel_shape = [2, 2]}
  output y
})");
  CompileOptions options;
  options.build.cache_folder = test_cache();
  const auto package = std::make_shared<Package>(compile(graph, options));
  for (const Step& step : package->variants[0].steps) EXPECT_NE(package->graph().node(step.node).op, "Concat");
  Tensor x(DType::Float32, {1, 16, 6, 6});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>((i * 37 + 11) % 23) / 23;
  const auto records = trace_run(*open_session("cpu", package), {x});
  const auto find = [&](const std::string& name) {
    return std::find_if(records.begin(), records.end(), [&](const auto& r) { return r.name == name; });
  };
  const auto a = find("a"), b = find("b"), c = find("c"), y = find("y");
  ASSERT_TRUE(a != records.end() && b != records.end() && c != records.end() && y != records.end());
  EXPECT_FALSE(c->recomputed);
  const std::vector<double> whole = to_doubles(c->tensor);
  std::vector<double> parts = to_doubles(a->tensor);
  for (double value : to_doubles(b->tensor)) parts.push_back(value);
  EXPECT_EQ(whole, parts);
  const std::vector<double> expected = to_doubles(interpret(graph, {x})[0]), actual = to_doubles(y->tensor);
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-5) << i;
}

TEST(Trace, AxesFollowTransposesAndElementwiseOperators) {
  const Graph graph = parse_graph(R"(graph "g" {
  opset 17
  input x: float32[1,8,8,3]
  t: float32[1,3,8,8] = Transpose(x) {perm = [0, 3, 1, 2]}
  p: float32[1,3,4,4] = MaxPool(t) {kernel_shape = [2, 2], strides = [2, 2]}
  r: float32[1,3,4,4] = Relu(p)
  u: float32[1,4,4,3] = Transpose(r) {perm = [0, 2, 3, 1]}
  y: float32[1,48] = Flatten(u)
  output y
}
)");
  const std::vector<std::string> axes = logical_axes(graph);
  const auto of = [&](const char* name) { return axes[static_cast<size_t>(graph.find_value(name))]; };
  EXPECT_EQ(of("x"), "NHWC");
  EXPECT_EQ(of("t"), "NCHW");
  EXPECT_EQ(of("r"), "NCHW");
  EXPECT_EQ(of("u"), "NHWC");
}

// A source whose jobs take longer the earlier they are.
class Slow : public SampleSource {
 public:
  explicit Slow(int64_t fail_at) : fail_at_(fail_at) {}
  std::optional<Load> next() override {
    if (next_ == 20) return std::nullopt;
    if (next_ == fail_at_) fail_malformed("source ends badly");
    return [this, id = next_++] {
      const int now = ++running_;
      most_ = std::max(most_.load(), now);
      std::this_thread::sleep_for(std::chrono::milliseconds(id % 3 == 0 ? 3 : 0));
      --running_;
      LoadedSample sample;
      sample.id = id;
      return sample;
    };
  }
  int most() const { return most_; }

 private:
  int64_t fail_at_, next_ = 0;
  std::atomic<int> running_{0}, most_{0};
};

TEST(PrefetchOrder, IsTheSourcesWhateverTheThreads) {
  for (int threads : {0, 1, 4}) {
    Slow source(-1);
    Prefetch prefetch(source, threads, 3);
    for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(prefetch.next()->id, i);
    EXPECT_FALSE(prefetch.next().has_value());
    EXPECT_LE(source.most(), 3);
  }
}

TEST(PrefetchOrder, AFailureComesAtItsPlace) {
  for (int threads : {0, 2}) {
    Slow source(4);
    Prefetch prefetch(source, threads, 8);
    for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(prefetch.next()->id, i);
    EXPECT_THROW(prefetch.next(), Error);
  }
}

TEST(PrefetchOrder, CanBeLeftInTheMiddle) {
  Slow source(-1);
  Prefetch prefetch(source, 2, 2);
  EXPECT_TRUE(prefetch.next().has_value());
}

}  // namespace
}  // namespace dnn
