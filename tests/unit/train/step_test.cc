// Step graphs: losses and weights of training steps as PyTorch has them, gradients of the whole, batches of any size.
#include "train/step.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>

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

Tensor batch_of(int64_t step) { return convert(fill({4, 2, 7, 6}, 1000 + 7 * step, 1), DType::Float64); }
Tensor teacher_of(int64_t step) { return convert(fill({4, 4}, 2000 + 5 * step, 3), DType::Float64); }

// A step graph in float64, with what it carries.
class Machine {
 public:
  Machine(const StepOptions& options, StepKind kind) : options_(options), kind_(kind) {
    const Graph model = small_network(Dim(4));
    step_ = make_step(model, find_parameters(model, {}), options, kind);
    wide_ = widen_to_float64(step_.graph);
  }
  std::vector<Tensor> initial() const {
    std::vector<Tensor> state;
    for (const Variable& variable : step_.variables) state.push_back(convert(variable.initial, DType::Float64));
    return state;
  }
  // Batch `b` in step `t`; returns the loss.
  double run(int64_t b, int64_t t, double rate, double share, std::vector<Tensor>* state) const {
    const Optimizer& optimizer = options_.optimizer;
    const auto power = static_cast<double>(t + 1);
    const bool adam = optimizer.is_adam();
    std::vector<Tensor> inputs;
    for (Feed feed : step_.feeds) {
      switch (feed) {
        case Feed::Batch: inputs.push_back(batch_of(b)); break;
        case Feed::Targets: inputs.push_back(targets_of(b)); break;
        case Feed::Rate:
          inputs.push_back(Tensor::scalar(adam ? rate / (1 - std::pow(optimizer.beta1, power)) : rate));
          break;
        case Feed::Root:
          inputs.push_back(Tensor::scalar(adam ? std::sqrt(1 - std::pow(optimizer.beta2, power)) : 1.0));
          break;
        case Feed::Decay: inputs.push_back(Tensor::scalar(rate * optimizer.weight_decay)); break;
        case Feed::Share: inputs.push_back(Tensor::scalar(share)); break;
        case Feed::Teacher: inputs.push_back(teacher_of(b)); break;
        case Feed::Mask:
        case Feed::Child: ADD_FAILURE(); break;
      }
    }
    for (size_t i : step_.reads) inputs.push_back(state->at(i));
    const std::vector<Tensor> outputs = interpret(wide_, inputs);
    for (size_t k = 0; k < step_.writes.size(); ++k) state->at(step_.writes[k]) = outputs[k + 2];
    if (kind_ == StepKind::Whole) {
      for (size_t i : step_.gathered) state->at(i) = Tensor(DType::Float64, state->at(i).shape());
    }
    return outputs[0].data<double>()[0];
  }
  const std::vector<Variable>& variables() const { return step_.variables; }

 private:
  StepOptions options_;
  StepKind kind_;
  StepGraph step_;
  Graph wide_;
};

// Twenty steps in float64.
Trace train_small_network(const StepOptions& options, double rate) {
  const Machine whole(options, StepKind::Whole);
  std::optional<Machine> gather;
  if (options.batches > 1) gather.emplace(options, StepKind::Gather);
  std::vector<Tensor> state = whole.initial();
  Trace trace;
  int64_t b = 0;
  for (int64_t t = 0; t < 20; ++t) {
    const double share = 1 / static_cast<double>(options.batches);
    for (int64_t k = 0; k + 1 < options.batches; ++k) gather->run(b++, t, rate, share, &state);
    trace.losses.push_back(whole.run(b++, t, rate, share, &state));
  }
  for (size_t i = 0; i < state.size(); ++i) {
    if (whole.variables()[i].name == "conv1/w") trace.weight = state[i].data<double>()[5];
    if (whole.variables()[i].name == "norm/scale") trace.scale = state[i].data<double>()[1];
  }
  return trace;
}

Trace train_small_network(const Optimizer& optimizer, double rate) {
  StepOptions options;
  options.optimizer = optimizer;
  return train_small_network(options, rate);
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

// The same with PyTorch's AdamW, Nesterov's momentum, clip_grad_norm_, three batches a step, kl_div from a teacher, and parameter groups.
void expect_trace(const Trace& trace, const std::vector<double>& wanted) {
  EXPECT_NEAR(trace.losses[0], wanted[0], 1e-9);
  EXPECT_NEAR(trace.losses[1], wanted[1], 1e-9);
  EXPECT_NEAR(trace.losses[9], wanted[2], 1e-9);
  EXPECT_NEAR(trace.losses[19], wanted[3], 1e-9);
  EXPECT_NEAR(trace.weight, wanted[4], 2e-8);
  EXPECT_NEAR(trace.scale, wanted[5], 2e-8);
}

StepOptions sgd_options() {
  StepOptions options;
  options.optimizer = {.kind = Optimizer::Kind::Sgd, .momentum = 0.875, .weight_decay = 1.0 / 128};
  return options;
}

TEST(Step, AdamWIsPyTorchs) {
  const Optimizer adamw{.kind = Optimizer::Kind::AdamW,
                        .beta1 = 0.875,
                        .beta2 = 1 - 1.0 / 1024,
                        .epsilon = 0x1p-27,
                        .weight_decay = 1.0 / 8};
  expect_trace(train_small_network(adamw, 0.01), {1.505653427071, 1.4877988616503806, 1.4175015177525485,
                                                  1.3823732844551144, 0.3635861901659701, 1.1348797776008626});
}

TEST(Step, NesterovsMomentumIsPyTorchs) {
  StepOptions options = sgd_options();
  options.optimizer.nesterov = true;
  expect_trace(train_small_network(options, 0.1), {1.505653427071, 1.485894486998971, 1.3915639298763951,
                                                   1.3858018613910081, 0.36228873804050743, 1.1369129254246619});
}

TEST(Step, ClippingIsPyTorchs) {
  StepOptions options = sgd_options();
  options.optimizer.clip = 0.25;
  expect_trace(train_small_network(options, 0.1), {1.505653427071, 1.4954860994745462, 1.3931819733751867,
                                                   1.3892997349086387, 0.36391225745339828, 1.1354752080550661});
}

TEST(Step, SeveralBatchesMakeAStepAsInPyTorch) {
  StepOptions options = sgd_options();
  options.batches = 3;
  expect_trace(train_small_network(options, 0.1), {1.504127534018352, 1.4816286590122818, 1.388629560289643,
                                                   1.3882195591800739, 0.3650846367476307, 1.1280542837527268});
}

TEST(Step, DistillationIsPyTorchs) {
  StepOptions options = sgd_options();
  options.distillation = {0.75, 2};
  expect_trace(train_small_network(options, 0.1), {1.1083043723606441, 1.7968365137049458, 1.4126201092728401,
                                                   1.4367835725926525, 0.36608390285432973, 1.1257161456018092});
}

TEST(Step, GroupsHaveRatesOfTheirOwn) {
  StepOptions options = sgd_options();
  options.groups = {{matching_layers(small_network(Dim(4)), "--rate-scale", "dense*"), 0.25}};
  expect_trace(train_small_network(options, 0.1), {1.505653427071, 1.4979914789617346, 1.4179286503383528,
                                                   1.3818828190699679, 0.36180129581201198, 1.1493766426398504});
}

// The losses of twenty steps.
std::vector<double> losses_of(Trainer& trainer) {
  std::vector<double> losses;
  for (int64_t t = 0; t < 20; ++t) {
    std::vector<int64_t> labels;
    for (int64_t i = 0; i < 4; ++i) labels.push_back((i + t) % 4);
    losses.push_back(trainer.step(fill({4, 2, 7, 6}, 1000 + 7 * t, 1), labels, 0.1).mean_loss());
  }
  return losses;
}

// The same by a Trainer, whose steps are compiled; the constants of its optimiser need not be numbers that float32 has.
TEST(Step, ATrainerInFloat64HasPyTorchsLosses) {
  TrainerOptions options;
  options.step = sgd_options();
  options.precision = DType::Float64;
  Trainer trainer(small_network(Dim("batch")), options);
  const std::vector<double> losses = losses_of(trainer);
  EXPECT_NEAR(losses[0], 1.505653427071, 1e-10);
  EXPECT_NEAR(losses[1], 1.4938041757908729, 1e-10);
  EXPECT_NEAR(losses[9], 1.39190496081016, 1e-10);
  EXPECT_NEAR(losses[19], 1.3892179736717152, 1e-10);
  for (const Tensor& tensor : trainer.state()) EXPECT_EQ(tensor.dtype(), DType::Float64);
  const Graph model = trainer.model(trainer.state());
  const Tensor* weights = model.constant(model.find_value("conv1/w"));
  ASSERT_EQ(weights->dtype(), DType::Float32);
  EXPECT_EQ(weights->data<float>()[5], 0.36361871509391325F);
  EXPECT_NEAR(trainer.evaluate(fill({4, 2, 7, 6}, 1000, 1), {0, 1, 2, 3}).mean_loss(), 1.4, 0.2);
}

// PyTorch 2.15.0's, with the norm in eval().
TEST(Step, NormsThatKeepTheirStatisticsLearnScaleAndShiftAsInPyTorch) {
  TrainerOptions options;
  options.step = sgd_options();
  options.precision = DType::Float64;
  options.keep_statistics = true;
  const Graph start = small_network(Dim("batch"));
  Trainer trainer(start, options);
  const std::vector<double> losses = losses_of(trainer);
  EXPECT_NEAR(losses[0], 1.5910863925812877, 1e-10);
  EXPECT_NEAR(losses[1], 1.5499553714629986, 1e-10);
  EXPECT_NEAR(losses[9], 1.3895570788537897, 1e-10);
  EXPECT_NEAR(losses[19], 1.3885773925753915, 1e-10);
  const Graph model = trainer.model(trainer.state());
  const auto constant = [](const Graph& graph, const char* name) { return *graph.constant(graph.find_value(name)); };
  EXPECT_EQ(constant(model, "norm/scale").data<float>()[1], 1.0079134000725032F);
  for (const char* name : {"norm/mean", "norm/variance"})
    EXPECT_TRUE(constant(model, name).identical(constant(start, name))) << name;
  options.frozen = frozen_layers(start, {"norm"});
  EXPECT_THROW(Trainer(start, options), Error) << "no norm is left that the option is for";
}

// cross_entropy(label_smoothing=0.125) of PyTorch for the first batch.
TEST(Step, SmoothedLabelsArePyTorchs) {
  TrainerOptions options;
  options.label_smoothing = 0.125;
  Trainer trainer(small_network(Dim("batch")), options);
  EXPECT_NEAR(trainer.step(fill({4, 2, 7, 6}, 1000, 1), {0, 1, 2, 3}, 0).mean_loss(), 1.504586738508, 1e-6);
}

// Batches of 3 and 2 as one step are a batch of 5, but for the norm's statistics: without it.
TEST(Step, PartsOfAStepCountByTheirSamples) {
  const auto network = [] {
    NewGraph net;
    const ValueId x = net.input("x", Type(DType::Float32, {Dim("batch"), 6}));
    net.set_name("dense");
    net.output(net.emit("Gemm", {x, net.store("w", fill({6, 4}, 0)), net.store("b", fill({4}, 60))}), "y");
    return net.finish();
  };
  TrainerOptions whole, parts;
  whole.step.optimizer.kind = parts.step.optimizer.kind = Optimizer::Kind::Sgd;
  parts.step.batches = 2;
  Trainer one(network(), whole), two(network(), parts);
  const Tensor batch = fill({5, 6}, 100, 1), first = fill({3, 6}, 100, 1), second = fill({2, 6}, 118, 1);
  for (int i = 0; i < 3; ++i) {
    one.step(batch, {0, 1, 2, 3, 0}, 0.1);
    two.step({first, {0, 1, 2}, {}, 0.6, false}, 0.1);
    EXPECT_EQ(two.steps(), i);
    two.step({second, {3, 0}, {}, 0.4, true}, 0.1);
  }
  EXPECT_EQ(two.steps(), 3);
  const Graph a = one.model(one.state()), b = two.model(two.state());
  const Tensor *w = a.constant(a.find_value("dense/w")), *v = b.constant(b.find_value("dense/w"));
  for (int64_t i = 0; i < w->size(); ++i) EXPECT_NEAR(w->data<float>()[i], v->data<float>()[i], 1e-6);
}

// Half of the elements are dropped, the others doubled; drawn anew in each step, and alike by the same seed.
TEST(Step, DropoutIsInForceInTrainingAlone) {
  NewGraph net;
  ValueId v = net.input("x", Type(DType::Float32, {Dim("batch"), 64}));
  net.set_name("drop");
  v = net.emit("Dropout", {v, net.store("ratio", Tensor::scalar(0.5F))});
  net.set_name("dense");
  Tensor weights(DType::Float32, {64, 2});
  for (int64_t i = 0; i < weights.size(); ++i) weights.mutable_data<float>()[i] = i % 2 == 0 ? 1.0F : -1.0F;
  net.output(net.emit("MatMul", {v, net.store("w", weights)}), "y");
  const Graph model = net.finish();
  Tensor batch(DType::Float32, {8, 64});
  std::fill_n(batch.mutable_data<float>(), batch.size(), 0.01F);
  const std::vector<int64_t> labels(8, 0);
  const auto losses = [&](uint64_t seed) {
    TrainerOptions options;
    options.seed = seed;
    Trainer trainer(model, options);
    std::vector<double> all;
    for (int i = 0; i < 4; ++i) all.push_back(trainer.step(batch, labels, 0).mean_loss());
    all.push_back(trainer.evaluate(batch, labels).mean_loss());
    return all;
  };
  const std::vector<double> first = losses(1), again = losses(1), other = losses(2);
  EXPECT_EQ(first, again);
  EXPECT_NE(first[0], first[1]);
  EXPECT_NE(first[0], other[0]);
  EXPECT_EQ(first[4], other[4]);
  double mean = 0;
  for (int i = 0; i < 4; ++i) mean += first[static_cast<size_t>(i)] / 4;
  EXPECT_NEAR(mean, first[4], 0.05);
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
