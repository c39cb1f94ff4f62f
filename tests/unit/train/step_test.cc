// Step graphs: losses and weights of training steps as PyTorch has them, gradients of the whole, batches of any size.
#include "train/step.h"

#include <gtest/gtest.h>

#include <cmath>

#include "interp/interpreter.h"
#include "ops/build.h"
#include "train/trainer.h"

namespace dnn::train {
namespace {

using Ints = std::vector<int64_t>;

// Numbers that a script can make as well: sin(1.7 (start + i)) scale.
Tensor fill(const Shape& shape, int64_t start, double scale = 0.5, double offset = 0) {
  Tensor tensor(DType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const auto wave = static_cast<float>(std::sin(1.7 * static_cast<double>(start + i)) * scale);
    tensor.mutable_data<float>()[i] = static_cast<float>(offset + double{wave});
  }
  return tensor;
}

// Convolution, batch norm, depthwise convolution, HardSwish, mean, dense, Softmax.
Graph small_network(const Dim& batch) {
  NewGraph net;
  ValueId v = net.input("x", Type(DType::Float32, {batch, 2, 7, 6}));
  net.set_name("conv1");
  v = net.emit("Conv", {v, net.store("w", fill({3, 2, 3, 3}, 0)), net.store("b", fill({3}, 100))},
               {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  net.set_name("norm");
  v = net.emit("BatchNormalization",
               {v, net.store("scale", fill({3}, 200, 0.2, 1)), net.store("bias", fill({3}, 300)),
                net.store("mean", Tensor(DType::Float32, {3})), net.store("variance", fill({3}, 0, 0, 1))},
               {{"epsilon", 1e-3F}});
  v = net.emit("Relu", {v});
  net.set_name("conv2");
  v = net.emit("Conv", {v, net.store("w", fill({3, 1, 3, 3}, 400))},
               {{"group", int64_t{3}}, {"pads", Ints{1, 1, 1, 1}}});
  v = net.emit("Flatten", {net.emit("GlobalAveragePool", {net.emit("HardSwish", {v})})});
  net.set_name("dense");
  v = net.emit("Add", {net.emit("MatMul", {v, net.store("w", fill({3, 4}, 500))}), net.store("b", fill({4}, 600))});
  net.output(net.emit("Softmax", {v}), "y");
  return net.finish();
}

Tensor targets_of(int64_t step) {
  Tensor targets(DType::Float64, {4, 4});
  for (int64_t i = 0; i < 4; ++i) targets.mutable_data<double>()[i * 4 + (i + step) % 4] = 1;
  return targets;
}

struct Trace {
  std::vector<double> losses;
  double weight = 0, scale = 0;
};

// Twenty steps in float64.
Trace train_small_network(const Optimizer& optimizer, double rate) {
  const Graph model = small_network(Dim(4));
  const StepGraph step = make_step(model, find_parameters(model, {}), optimizer);
  const Graph wide = widen_to_float64(step.graph);
  std::vector<Tensor> state;
  for (const Variable& variable : step.variables) state.push_back(convert(variable.initial, DType::Float64));
  Trace trace;
  for (int64_t t = 0; t < 20; ++t) {
    const bool adam = optimizer.kind == Optimizer::Kind::Adam;
    const double power = static_cast<double>(t + 1);
    const double step_rate = adam ? rate / (1 - std::pow(optimizer.beta1, power)) : rate;
    const double root = adam ? std::sqrt(1 - std::pow(optimizer.beta2, power)) : 1;
    std::vector<Tensor> inputs = {convert(fill({4, 2, 7, 6}, 1000 + 7 * t, 1), DType::Float64), targets_of(t),
                                  Tensor::scalar(step_rate), Tensor::scalar(root)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    std::vector<Tensor> outputs = interpret(wide, inputs);
    trace.losses.push_back(outputs[0].data<double>()[0]);
    state.assign(outputs.begin() + 2, outputs.end());
  }
  for (size_t i = 0; i < state.size(); ++i) {
    if (step.variables[i].name == "conv1/w") trace.weight = state[i].data<double>()[5];
    if (step.variables[i].name == "norm/scale") trace.scale = state[i].data<double>()[1];
  }
  return trace;
}

// The numbers are PyTorch 2.15.0's in float64, from the same start and batches, weight decay on weights alone; constants of
// the optimisers are numbers that float32 has. HardSwish's 1/6 is not: weights agree to what its rounding does.
TEST(Step, SgdWithMomentumIsPyTorchs) {
  const Optimizer sgd{.kind = Optimizer::Kind::Sgd, .momentum = 0.875, .weight_decay = 1.0 / 128};
  const Trace trace = train_small_network(sgd, 0.1);
  EXPECT_NEAR(trace.losses[0], 1.505653427071, 1e-9);
  EXPECT_NEAR(trace.losses[1], 1.4938041757908729, 1e-9);
  EXPECT_NEAR(trace.losses[9], 1.39190496081016, 1e-9);
  EXPECT_NEAR(trace.losses[19], 1.3892179736717152, 1e-9);
  EXPECT_NEAR(trace.weight, 0.36361871509391325, 2e-8);
  EXPECT_NEAR(trace.scale, 1.134368366559431, 2e-8);
}

TEST(Step, AdamIsPyTorchs) {
  const Optimizer adam{.kind = Optimizer::Kind::Adam,
                       .beta1 = 0.875,
                       .beta2 = 1 - 1.0 / 1024,
                       .epsilon = 0x1p-27,
                       .weight_decay = 1.0 / 128};
  const Trace trace = train_small_network(adam, 0.01);
  EXPECT_NEAR(trace.losses[1], 1.488371069649693, 1e-9);
  EXPECT_NEAR(trace.losses[9], 1.4188013844108498, 1e-9);
  EXPECT_NEAR(trace.losses[19], 1.3832990473192508, 1e-9);
  EXPECT_NEAR(trace.weight, 0.2889414333734331, 2e-8);
  EXPECT_NEAR(trace.scale, 1.1430859781549096, 2e-8);
}

TEST(Step, FrozenLayersAndTheirNormsStayAsTheyAre) {
  const Graph model = small_network(Dim(4));
  const Trained all = find_parameters(model, {}),
                some = find_parameters(model, frozen_layers(model, {"conv1", "n?rm"}));
  EXPECT_EQ(all.parameters.size(), 7U);
  EXPECT_EQ(all.norms.size(), 1U);
  EXPECT_EQ(some.parameters.size(), 3U);
  EXPECT_TRUE(some.norms.empty());
  const StepGraph step = make_step(model, some, {});
  for (const Variable& variable : step.variables) {
    EXPECT_TRUE(variable.name.empty() || variable.name.substr(0, 2) == "co" || variable.name.substr(0, 2) == "de")
        << variable.name;
  }
  EXPECT_THROW(frozen_layers(model, {"no such layer"}), Error);
}

// Steps by compiled code, with a last batch of another size.
std::vector<Tensor> train_compiled(int threads) {
  TrainerOptions options;
  options.threads = threads;
  options.compile.opt = 2;  // fewer kernels to compile
  Trainer trainer(small_network(Dim("batch")), options);
  for (int64_t t = 0; t < 6; ++t) {
    const int64_t n = t % 3 == 2 ? 2 : 5;
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < n; ++i) labels.push_back((i + t) % 4);
    trainer.step(fill({n, 2, 7, 6}, 1000 + 7 * t, 1), labels, 0.01);
  }
  return trainer.state();
}

TEST(Step, TheSameBitsOnAnyNumberOfThreads) {
  const std::vector<Tensor> one = train_compiled(1), three = train_compiled(3);
  ASSERT_EQ(one.size(), three.size());
  for (size_t i = 0; i < one.size(); ++i) EXPECT_TRUE(one[i].identical(three[i])) << i;
}

TEST(Step, TrainingLearnsAndTheModelHoldsWhatWasLearnt) {
  TrainerOptions options;
  Trainer trainer(small_network(Dim("batch")), options);
  const Tensor batch = fill({5, 2, 7, 6}, 1000, 1);
  const std::vector<int64_t> labels = {0, 1, 2, 3, 0};
  const double before = trainer.evaluate(batch, labels).mean_loss();
  for (int i = 0; i < 60; ++i) trainer.step(batch, labels, 0.03);
  const Score after = trainer.evaluate(batch, labels);
  EXPECT_LT(after.mean_loss(), 0.7 * before);
  const Graph learnt = trainer.model(trainer.state());
  verify(learnt);
  const Tensor scores = interpret(learnt, {batch})[0];
  double loss = 0;
  for (size_t i = 0; i < 5; ++i) loss -= std::log(double{scores.data<float>()[4 * i + static_cast<size_t>(labels[i])]});
  EXPECT_NEAR(loss / 5, after.mean_loss(), 1e-4);
}

}  // namespace
}  // namespace dnn::train
