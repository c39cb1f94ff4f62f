// Step graphs as they are compiled for this machine, beside the interpreter: convolutions of every kind that a schedule has a path for.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "compile/compile.h"
#include "devices/device.h"
#include "interp/interpreter.h"
#include "ops/build.h"
#include "ops/lowering.h"
#include "target/isa.h"
#include "train/step.h"
#include "train/trainer.h"

namespace dnn::train {
namespace {

using Ints = std::vector<int64_t>;

Tensor wave(const Shape& shape, double start, double scale, double offset = 0) {
  Tensor tensor(DType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.mutable_data<float>()[i] =
        static_cast<float>(std::sin(1.7 * (start + static_cast<double>(i))) * scale + offset);
  return tensor;
}

class Net {
 public:
  ValueId conv(ValueId x, Shape w, Ints strides, int64_t group = 1) {
    net.set_name(cat("conv", ++count));
    const double size = 1 / std::sqrt(static_cast<double>(w[1] * w[2] * w[3]));
    const Ints pads = {w[2] / 2, w[3] / 2, w[2] / 2, w[3] / 2};
    const Shape bias = {w[0]};
    return net.emit("Conv", {x, net.store("w", wave(w, count, size)), net.store("b", wave(bias, count, 0.1))},
                    {{"strides", std::move(strides)}, {"pads", pads}, {"group", group}});
  }
  ValueId norm(ValueId x) {
    const Shape c = {net.shape(x)[1]};
    net.set_name(cat("norm", ++count));
    return net.emit("BatchNormalization",
                    {x, net.store("scale", wave(c, count, 0.2, 1)), net.store("bias", wave(c, count, 0.2)),
                     net.store("mean", wave(c, 0, 0)), net.store("variance", wave(c, 0, 0, 1))});
  }
  ValueId relu(ValueId x) { return net.emit("Relu", {x}); }
  NewGraph net;
  int count = 0;
};

// Few channels as of an image, blocks that are full and not, strides, 1x1, 5x5, depthwise, groups, a norm, a pool, a sum of two.
Graph compiled_network() {
  Net n;
  ValueId x = n.net.input("x", Type(DType::Float32, {3, 3, 21, 18}));
  x = n.relu(n.norm(n.conv(x, {16, 3, 7, 7}, {2, 2})));
  x = n.net.emit("MaxPool", {x}, {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
  const ValueId before = x;
  x = n.net.emit("Clip", {n.conv(x, {40, 16, 1, 1}, {1, 1}), n.net.number(0.0F), n.net.number(6.0F)});
  x = n.relu(n.norm(n.conv(x, {40, 1, 5, 5}, {1, 1}, 40)));
  x = n.net.emit("Add", {before, n.conv(x, {16, 40, 1, 1}, {1, 1})});
  x = n.relu(n.conv(x, {32, 16, 3, 3}, {1, 1}));
  x = n.relu(n.conv(x, {32, 1, 3, 3}, {2, 2}, 32));
  x = n.relu(n.conv(x, {48, 16, 3, 3}, {1, 1}, 2));
  x = n.net.emit("Add", {n.conv(x, {24, 48, 3, 3}, {2, 2}), n.conv(x, {24, 48, 1, 1}, {2, 2})});
  x = n.net.emit("Flatten", {n.net.emit("GlobalAveragePool", {n.relu(x)})});
  n.net.set_name("dense");
  x = n.net.emit("Gemm", {x, n.net.store("w", wave({24, 5}, 3, 0.3)), n.net.store("b", wave({5}, 4, 0.1))});
  n.net.output(x, "y");
  return n.net.finish();
}

// With the operators that kernels begin with put into `heads`.
std::vector<Tensor> run(const StepGraph& step, const std::vector<Tensor>& inputs, int threads,
                        const std::string& passes, std::set<std::string>* heads) {
  CompileOptions options;
  options.isas = {supported_isas().back()};
  options.pass_changes = passes;
  const auto package = std::make_shared<const Package>(compile(step.graph, options));
  const std::unique_ptr<Session> session = open_session("cpu", package, {.threads = threads, .isa = {}});
  const Graph& graph = *session->variant().graph;
  for (NodeId id : graph.order()) heads->insert(head_of(graph.node(id)).node->op);
  return session->run(inputs);
}

// Convolutions of a few taps over channels that fill blocks and that do not, planes that tiles hang over, pads that are not even, and
// sums of two of them.
Graph network_of_tiles() {
  Net n;
  ValueId x = n.net.input("x", Type(DType::Float32, {3, 3, 21, 18}));
  x = n.relu(n.norm(n.conv(x, {32, 3, 3, 3}, {1, 1})));
  const ValueId before = x;
  x = n.relu(n.norm(n.conv(x, {48, 32, 3, 3}, {1, 1})));
  x = n.relu(n.net.emit("Add", {before, n.norm(n.conv(x, {32, 48, 3, 3}, {1, 1}))}));
  x = n.relu(n.conv(x, {24, 32, 3, 3}, {1, 1}));
  x = n.relu(n.conv(x, {32, 24, 3, 3}, {2, 2}));
  x = n.relu(n.conv(x, {32, 32, 1, 3}, {1, 1}));
  x = n.net.emit("Flatten", {n.net.emit("GlobalAveragePool", {x})});
  n.net.set_name("dense");
  x = n.net.emit("Gemm", {x, n.net.store("w", wave({32, 5}, 3, 0.3)), n.net.store("b", wave({5}, 4, 0.1))});
  n.net.output(x, "y");
  return n.net.finish();
}

void expect_the_interpreters_step(const Graph& model, const std::string& passes, double apart,
                                  std::set<std::string>* heads) {
  StepOptions options;
  options.optimizer.kind = Optimizer::Kind::Sgd;
  options.optimizer.momentum = 0;
  const StepGraph step = make_step(model, find_parameters(model, {}), options);
  std::vector<Tensor> inputs;
  for (Feed feed : step.feeds) {
    if (feed == Feed::Batch) inputs.push_back(wave({3, 3, 21, 18}, 1000, 1));
    if (feed == Feed::Targets) {
      Tensor targets(DType::Float32, {3, 5});
      for (int64_t i = 0; i < 3; ++i) targets.mutable_data<float>()[i * 5 + i] = 1;
      inputs.push_back(targets);
    }
    if (feed == Feed::Rate || feed == Feed::Root) inputs.push_back(Tensor::scalar(1.0F));
  }
  for (size_t i : step.reads) inputs.push_back(step.variables[i].initial);
  const std::vector<Tensor> expected = interpret(step.graph, inputs);
  std::vector<Tensor> got = run(step, inputs, 1, passes, heads);
  ASSERT_EQ(got.size(), expected.size());
  size_t moved = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    // The step's change, where it is a variable.
    double most = 0, off = 0;
    for (int64_t k = 0; k < got[i].size(); ++k) {
      const double before = i < 2 ? 0 : double{step.variables[step.writes[i - 2]].initial.data<float>()[k]};
      most = std::max(most, std::abs(double{expected[i].data<float>()[k]} - before));
      off = std::max(off, std::abs(double{got[i].data<float>()[k]} - double{expected[i].data<float>()[k]}));
    }
    EXPECT_LE(off, apart * most + 1e-6) << i << (i < 2 ? "" : " " + step.variables[step.writes[i - 2]].name);
    moved += most > 0 ? 1 : 0;
  }
  EXPECT_GE(moved + 3, got.size());  // all but biases that a norm takes off again
  const std::vector<Tensor> other = run(step, inputs, 3, passes, heads);
  for (size_t i = 0; i < got.size(); ++i) EXPECT_TRUE(got[i].identical(other[i])) << i;
}

TEST(Compiled, AStepIsTheInterpreters) {
  std::set<std::string> heads;
  expect_the_interpreters_step(compiled_network(), "", 2e-5, &heads);
  EXPECT_TRUE(heads.count("WinogradConv") == 0);
}

// F(4x4, 3x3) rounds by 1e-5 of the largest, in each of several layers.
TEST(Compiled, AStepByWinogradIsTheInterpreters) {
  std::set<std::string> heads;
  expect_the_interpreters_step(network_of_tiles(), "+winograd", 5e-5, &heads);
  for (const char* op : {"WinogradWeights", "WinogradConv", "WinogradWeightGradient", "ConvWeightGradient"})
    EXPECT_TRUE(heads.count(op) != 0) << op;
}

// Eight layers with norms, residual sums, a Reshape in between that copies nothing, and a Dropout.
Graph network_to_recompute() {
  Net n;
  ValueId x = n.net.input("x", Type(DType::Float32, {6, 3, 20, 16}));
  x = n.relu(n.norm(n.conv(x, {16, 3, 3, 3}, {1, 1})));
  for (int i = 0; i < 2; ++i) {
    const ValueId before = x;
    x = n.relu(n.norm(n.conv(x, {32, 16, 1, 1}, {1, 1})));
    x = n.relu(n.norm(n.conv(x, {32, 1, 3, 3}, {1, 1}, 32)));
    x = n.net.emit("Add", {before, n.norm(n.conv(x, {16, 32, 1, 1}, {1, 1}))});
  }
  n.net.set_name("drop");
  x = n.net.emit("Dropout", {x, n.net.store("ratio", Tensor::scalar(0.25F))});
  x = n.net.emit("Reshape", {x, n.net.list(Ints{0, 16, 16, 20})});
  x = n.relu(n.norm(n.conv(x, {24, 16, 3, 3}, {2, 2})));
  x = n.net.emit("Flatten", {n.net.emit("GlobalAveragePool", {x})});
  n.net.set_name("dense");
  x = n.net.emit("Gemm", {x, n.net.store("w", wave({24, 5}, 3, 0.3)), n.net.store("b", wave({5}, 4, 0.1))});
  n.net.output(x, "y");
  return n.net.finish();
}

struct ThreeSteps {
  std::vector<Tensor> state;
  std::vector<double> losses;
  StepMemory memory;
};

// Three steps of Adam, with gradients clipped by the norm of all together.
ThreeSteps train_three(bool recompute, int threads) {
  ThreeSteps result;
  TrainerOptions options;
  options.step.optimizer.clip = 0.5;
  options.recompute = recompute;
  options.threads = threads;
  options.seed = 5;
  options.compile.isas = {supported_isas().back()};
  Trainer trainer(network_to_recompute(), options);
  result.memory = trainer.prepare(6);
  for (int64_t t = 0; t < 3; ++t) {
    const Tensor batch = wave({6, 3, 20, 16}, 1000.0 * static_cast<double>(t + 1), 1);
    result.losses.push_back(trainer.step(batch, {0, 1, 2, 3, 4, t}, 0.01).loss);
  }
  result.state = trainer.state();
  return result;
}

// Weights, moments and running statistics, which follow each batch once.
TEST(Compiled, AStepThatRecomputesHasTheSameBitsInLessMemory) {
  const ThreeSteps plain = train_three(false, 1), again = train_three(true, 3);
  ASSERT_FALSE(plain.memory.recomputation);
  ASSERT_TRUE(again.memory.recomputation);
  EXPECT_GT(again.memory.recomputation->nodes, 3);
  EXPECT_LT(again.memory.between, plain.memory.between * 2 / 3);
  EXPECT_EQ(again.memory.state, plain.memory.state);
  EXPECT_EQ(again.losses, plain.losses);
  ASSERT_EQ(again.state.size(), plain.state.size());
  for (size_t i = 0; i < again.state.size(); ++i) EXPECT_TRUE(again.state[i].identical(plain.state[i])) << i;
}

// Operators of nodes that a step runs again.
std::set<std::string> repeated_operators(const Graph& model) {
  const StepGraph step = make_step(model, find_parameters(model, {}), {});
  CompileOptions options;
  options.isas = {supported_isas().back()};
  options.recompute = true;
  const Package package = compile(step.graph, options);
  std::set<std::string> found;
  const Graph& made = *package.variants[0].graph;
  for (NodeId id : made.order()) {
    if (made.node(id).name.rfind("recompute/", 0) == 0) found.insert(head_of(made.node(id)).node->op);
  }
  return found;
}

// Statistics of a batch are kept, as they are small; what normalises by them runs again, and so do convolutions.
TEST(Compiled, LayersRunAgainAndStatisticsDoNot) {
  const std::set<std::string> found = repeated_operators(network_to_recompute());
  EXPECT_EQ(found.count("Sub"), 1U);  // the mean, from what is normalised
  EXPECT_EQ(found.count("Conv"), 1U);
  EXPECT_EQ(found.count("ChannelMoments"), 0U);
}

}  // namespace
}  // namespace dnn::train
