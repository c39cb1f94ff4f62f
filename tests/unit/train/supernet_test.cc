// Supernets: masked children against the same children cut out, steps of several networks, statistics of norms, ranges as text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "branch/make.h"
#include "branch/masked.h"
#include "cache.h"
#include "convert/surgery.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "refused.h"
#include "target/isa.h"
#include "train/differentiate.h"
#include "train/norms.h"
#include "train/random.h"
#include "train/supernet.h"

namespace dnn::train {
namespace {

using branch::ElasticRanges;
using branch::StretchPlan;

constexpr int64_t kBatch = 3, kClasses = 5;

Tensor drawn(const Shape& shape, unsigned seed, double low = -0.5, double high = 0.5) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> draw(low, high);
  Tensor tensor(DType::Float32, shape);
  for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(draw(random));
  return tensor;
}

// A stem, a stage of three residual blocks with norms, one that halves height and width by a shortcut that adds channels of zeros and has a
// gate of channels and a concatenation within it, and a head.
class SuperMaker {
 public:
  Graph network() {
    ValueId x = net_.input("image", Type(DType::Float32, {1, 3, 8, 8}));
    x = relu(norm(conv(x, 3, 16, 3, 1)));
    for (int i = 0; i < 3; ++i) x = residual(x);
    const ValueId rows = net_.emit("Slice", {x, net_.list({0}), net_.list({8}), net_.list({2}), net_.list({2})});
    const ValueId small = net_.emit("Slice", {rows, net_.list({0}), net_.list({8}), net_.list({3}), net_.list({2})});
    const ValueId wide = net_.emit("Pad", {small, net_.list({0, 8, 0, 0, 0, 8, 0, 0})});
    const ValueId y = norm(conv(relu(norm(conv(x, 16, 32, 3, 2))), 32, 32, 3, 1));
    x = relu(net_.emit("Add", {y, wide}));
    const ValueId gate = net_.emit("Sigmoid", {conv(net_.emit("GlobalAveragePool", {x}), 32, 32, 1, 1)});
    x = net_.emit("Mul", {x, gate});
    x = relu(norm(conv(x, 32, 32, 3, 1, 32)));
    const ValueId both = net_.emit("Concat", {conv(x, 32, 16, 1, 1), x}, {{"axis", int64_t{1}}});
    x = norm(conv(both, 48, 32, 1, 1));
    x = net_.emit("Flatten", {net_.emit("GlobalAveragePool", {relu(x)})});
    net_.set_name("fc");
    const ValueId w = net_.store("w", drawn({kClasses, 32}, 90)), b = net_.store("b", drawn({kClasses}, 91));
    net_.output(net_.emit("Gemm", {x, w, b}, {{"transB", int64_t{1}}}), "scores");
    return net_.finish();
  }

 private:
  ValueId residual(ValueId x) {
    const ValueId y = norm(conv(relu(norm(conv(x, 16, 16, 3, 1))), 16, 16, 3, 1));
    return relu(net_.emit("Add", {y, x}));
  }
  ValueId conv(ValueId x, int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t group = 1) {
    net_.set_name(cat("conv", ++count_));
    const ValueId w = net_.store("w", drawn({out, in / group, kernel, kernel}, count_)),
                  b = net_.store("b", drawn({out}, count_ + 100));
    return net_.emit("Conv", {x, w, b},
                     {{"strides", std::vector<int64_t>(2, stride)},
                      {"pads", std::vector<int64_t>(4, kernel / 2)},
                      {"group", group}});
  }
  ValueId norm(ValueId x) {
    const Shape c = {net_.shape(x)[1]};
    net_.set_name(cat("norm", ++count_));
    return net_.emit(
        "BatchNormalization",
        {x, net_.store("scale", drawn(c, count_, 0.5, 1.5)), net_.store("shift", drawn(c, count_ + 100)),
         net_.store("mean", drawn(c, count_ + 200)), net_.store("variance", drawn(c, count_ + 300, 0.5, 2))});
  }
  ValueId relu(ValueId x) { return net_.emit("Relu", {x}); }

  NewGraph net_;
  unsigned count_ = 0;
};

ElasticRanges test_ranges() {
  ElasticRanges ranges;
  ranges.devices = {"cpu", "dsp"};
  ranges.least_depth = 0.3;
  return ranges;
}

std::shared_ptr<const Supernet> test_supernet() { return make_supernet(SuperMaker().network(), test_ranges()); }

Graph of_batch(Graph graph) {
  set_batch(graph, std::to_string(kBatch));
  infer_types(graph);
  return graph;
}

// Every norm by the statistics of the batch, as in a step.
Graph by_batch(const Graph& graph) {
  NewGraph net(without_nodes(graph));
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op == "BatchNormalization") {
      normalize_by_batch(net, node);
    } else {
      net.add(node, {});
    }
  }
  net.output(graph.outputs[0]);
  return net.finish();
}

struct LossAndGradients {
  Tensor scores;
  std::vector<Tensor> gradients;  // of the constants asked for
};

// The loss is the sum of all scores, each times another number; in float64.
LossAndGradients differentiate(const Graph& graph, const std::vector<ValueId>& constants, std::vector<Tensor> inputs) {
  NewGraph net(by_batch(graph));
  const ValueId scores = net.graph().outputs[0];
  for (ValueId v : constants) {
    inputs.push_back(*graph.constant(v));
    net.graph().value(v).constant.reset();
    net.graph().inputs.push_back(v);
  }
  const ValueId weighted = net.emit("Mul", {scores, net.store("weights", drawn({kBatch, kClasses}, 70))});
  const ValueId loss = net.emit("ReduceSum", {weighted}, {{"keepdims", int64_t{0}}});
  const std::vector<ValueId> gradients = add_gradients(net, loss, constants);
  for (ValueId v : gradients) net.output(v);
  for (Tensor& input : inputs) input = convert(input, DType::Float64);
  std::vector<Tensor> outputs = interpret(widen_to_float64(net.finish()), inputs);
  LossAndGradients result;
  result.scores = outputs[0];
  result.gradients.assign(outputs.begin() + 1, outputs.end());
  return result;
}

double product_sum(const Tensor& gradient, const Tensor& direction, double* size) {
  double sum = 0;
  for (int64_t i = 0; i < gradient.size(); ++i) {
    const double term = gradient.data<double>()[i] * double{direction.data<float>()[i]};
    sum += term;
    *size += std::abs(term);
  }
  return sum;
}

std::vector<ValueId> trained_constants(const Graph& graph) {
  std::vector<ValueId> values;
  for (const Parameter& parameter : find_parameters(graph, {}).parameters) values.push_back(parameter.value);
  return values;
}

// A child's weights are linear in the supernet's, and so its weights where one of these is D are S(D). The gradient of the shared weight
// is right where its product with D is that of the child's own gradients with S(D).
void compare_with_child(const Supernet& supernet, const StretchPlan& plan) {
  SCOPED_TRACE(child_text(plan));
  check_child(supernet.ranges, supernet.stages, plan);
  const auto cut_out = [&](const Graph& source) { return of_batch(branch::stretch(source, supernet.stages, plan)); };
  const Tensor image = drawn({kBatch, 3, 8, 8}, 50);
  const Graph child = cut_out(supernet.model), shared = of_batch(supernet.model);
  const branch::MaskedNetwork masked = branch::mask_network(shared, supernet.stages, 2);
  std::vector<Tensor> inputs = {image};
  for (Tensor& mask : branch::mask_values(supernet.model, supernet.stages, supernet.ranges, masked.inputs, plan))
    inputs.push_back(std::move(mask));
  std::vector<ValueId> parameters, same;
  for (ValueId v : trained_constants(shared)) {
    parameters.push_back(v);
    same.push_back(masked.graph.find_value(shared.value(v).name));
  }
  const std::vector<ValueId> own = trained_constants(child);
  const LossAndGradients all = differentiate(masked.graph, same, inputs), alone = differentiate(child, own, {image});
  for (int64_t i = 0; i < alone.scores.size(); ++i)
    ASSERT_NEAR(all.scores.data<double>()[i], alone.scores.data<double>()[i], 1e-12);
  for (size_t p = 0; p < parameters.size(); ++p) {
    Graph other = supernet.model;
    const Tensor direction = drawn(other.constant(parameters[p])->shape(), static_cast<unsigned>(500 + p));
    other.value(parameters[p]).constant = direction;
    const Graph changed = cut_out(other);
    double size = 1e-3, of_child = 0;
    const double of_all = product_sum(all.gradients[p], direction, &size);
    for (size_t k = 0; k < own.size(); ++k) {
      if (!changed.constant(own[k])->identical(*child.constant(own[k])))
        of_child += product_sum(alone.gradients[k], *changed.constant(own[k]), &size);
    }
    ASSERT_NEAR(of_all, of_child, 1e-11 * size) << shared.value(parameters[p]).name;
  }
}

TEST(Supernet, MaskedChildrenHaveTheGradientsOfChildrenThatAreCutOut) {
  const auto supernet = test_supernet();
  ASSERT_EQ(supernet->stages.stages.size(), 2U);
  compare_with_child(*supernet, smallest_child(supernet->ranges, supernet->stages));
  for (uint64_t seed = 1; seed <= 6; ++seed)
    compare_with_child(*supernet, random_child(supernet->ranges, supernet->stages, seed));
  StretchPlan whole;
  whole.main_device = "cpu";
  for (const branch::SourceStage& stage : supernet->stages.stages)
    whole.stages.push_back({{"cpu", static_cast<int64_t>(stage.blocks.size()), 1}});
  compare_with_child(*supernet, whole);
}

TEST(Supernet, RandomChildrenDifferAndStayInTheRanges) {
  const auto supernet = test_supernet();
  std::set<std::string> seen;
  size_t unbranched = 0, depths = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const StretchPlan child = random_child(supernet->ranges, supernet->stages, seed);
    check_child(supernet->ranges, supernet->stages, child);
    seen.insert(child_text(child));
    for (const auto& stage : child.stages) unbranched += stage.size() == 1 ? 1 : 0;
    for (const auto& branch : child.stages[0]) depths += branch.depth < 3 ? 1 : 0;
  }
  EXPECT_GT(seen.size(), 150U);
  EXPECT_GT(unbranched, 60U);
  EXPECT_LT(unbranched, 140U);
  EXPECT_GT(depths, 100U);
}

Trainer trainer_of(const std::shared_ptr<const Supernet>& supernet, int threads, bool with_children,
                   double momentum = 0.9) {
  TrainerOptions options;
  if (with_children) options.children = children_of(supernet);
  options.step.optimizer.kind = Optimizer::Kind::Sgd;
  options.step.optimizer.momentum = momentum;
  options.seed = 7;
  options.threads = threads;
  options.compile.build.cache_folder = test_cache();
  options.compile.isas = {supported_isas().back()};
  Graph model = supernet->model;
  set_batch(model, "batch");
  return Trainer(std::move(model), options);
}

void steps(Trainer& trainer, int from, int to, double rate = 0.05) {
  for (int i = from; i < to; ++i) {
    std::vector<int64_t> labels;
    for (int64_t k = 0; k < kBatch; ++k) labels.push_back((i + k) % kClasses);
    trainer.step(drawn({kBatch, 3, 8, 8}, static_cast<unsigned>(i)), labels, rate);
  }
}

bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Tensor& x, const Tensor& y) { return x.identical(y); });
}

TEST(Supernet, StepsGiveTheSameBitsOnAnyNumberOfThreadsAndAfterAResume) {
  const auto supernet = test_supernet();
  Trainer one = trainer_of(supernet, 1, true);
  steps(one, 0, 2);
  const std::vector<Tensor> half = one.state();
  steps(one, 2, 4);
  EXPECT_EQ(one.steps(), 4);
  for (int threads : {2, 8}) {
    Trainer more = trainer_of(supernet, threads, true);
    steps(more, 0, 4);
    EXPECT_TRUE(same_bits(one.state(), more.state())) << threads;
  }
  Trainer resumed = trainer_of(supernet, 2, true);
  resumed.restore(half, 2);
  steps(resumed, 2, 4);
  EXPECT_TRUE(same_bits(one.state(), resumed.state()));
  Trainer alone = trainer_of(supernet, 1, false);
  steps(alone, 0, 4);
  EXPECT_FALSE(same_bits(one.state(), alone.state()));
}

// One step of SGD goes along the mean of the networks' gradients: that of the model alone, and those of its children, whose labels are the
// model's softmax.
TEST(Supernet, AStepIsTheMeanOfItsNetworksGradients) {
  const auto supernet = test_supernet();
  Trainer all = trainer_of(supernet, 1, true, 0), alone = trainer_of(supernet, 1, false, 0);
  steps(all, 0, 1);
  steps(alone, 0, 1);
  // Its children's gradients, of the cross entropy with the softmax, from the interpreter.
  const Graph shared = of_batch(supernet->model);
  const Children children = children_of(supernet);
  const Graph masked = children.network(shared);
  const std::vector<ValueId> parameters = trained_constants(shared);
  const Tensor image = drawn({kBatch, 3, 8, 8}, 0);
  const Tensor answers = interpret(by_batch(shared), {image})[0];
  std::vector<std::vector<double>> sums(parameters.size());
  for (int64_t i = 0; i < children.count; ++i) {
    NewGraph net(by_batch(masked));
    const ValueId scores = net.graph().outputs[0];
    std::vector<Tensor> inputs = {image};
    // The draw's second counter is that of the batch within the step, and each network is one.
    const uint64_t draw = random_bits(7, {1000, 0, static_cast<uint64_t>(i + 1)});
    for (Tensor& mask : children.masks(draw, i)) inputs.push_back(std::move(mask));
    std::vector<ValueId> same;
    for (ValueId v : parameters) {
      same.push_back(masked.find_value(shared.value(v).name));
      inputs.push_back(*shared.constant(v));
      net.graph().value(same.back()).constant.reset();
      net.graph().inputs.push_back(same.back());
    }
    const ValueId wanted = net.emit("Softmax", {net.store("answers", answers)}, {{"axis", int64_t{1}}});
    const ValueId entropy = net.emit("Mul", {wanted, net.emit("LogSoftmax", {scores}, {{"axis", int64_t{1}}})});
    const ValueId loss = net.emit(
        "Div", {net.emit("ReduceSum", {entropy}, {{"keepdims", int64_t{0}}}), net.number(-static_cast<float>(kBatch))});
    for (ValueId v : add_gradients(net, loss, same)) net.output(v);
    const std::vector<Tensor> outputs = interpret(net.finish(), inputs);
    for (size_t p = 0; p < parameters.size(); ++p) {
      sums[p].resize(static_cast<size_t>(outputs[p + 1].size()));
      for (size_t k = 0; k < sums[p].size(); ++k) sums[p][k] += double{outputs[p + 1].data<float>()[k]};
    }
  }
  const double rate = 0.05, networks = static_cast<double>(children.count + 1);
  for (size_t i = 0; i < all.variables().size(); ++i) {
    const Variable& variable = all.variables()[i];
    if (!variable.in_model) continue;
    const auto other = std::find_if(alone.variables().begin(), alone.variables().end(),
                                    [&](const Variable& v) { return v.name == variable.name; });
    const Tensor& of_model = alone.state()[static_cast<size_t>(other - alone.variables().begin())];
    const auto at = std::find_if(parameters.begin(), parameters.end(),
                                 [&](ValueId v) { return shared.value(v).name == variable.name; });
    if (at == parameters.end()) {  // running statistics are those of the model alone
      EXPECT_TRUE(all.state()[i].identical(of_model)) << variable.name;
      continue;
    }
    const auto p = static_cast<size_t>(at - parameters.begin());
    for (int64_t k = 0; k < variable.initial.size(); ++k) {
      const double start = double{variable.initial.data<float>()[k]};
      const double own = (start - double{of_model.data<float>()[k]}) / rate;
      const double wanted = start - rate * (own + sums[p][static_cast<size_t>(k)]) / networks;
      ASSERT_NEAR(all.state()[i].data<float>()[k], wanted, 3e-6) << variable.name;
    }
  }
}

TEST(Supernet, RecalibratedNormsHaveTheStatisticsOfTheData) {
  Graph model = SuperMaker().network();
  set_batch(model, "batch");
  infer_types(model);
  const auto load = [](int64_t n) { return drawn({kBatch, 3, 8, 8}, static_cast<unsigned>(30 + n)); };
  CompileOptions compile;
  compile.build.cache_folder = test_cache();
  compile.isas = {supported_isas().back()};
  Graph calibrated = model;
  recalibrate(&calibrated, 2, load, 1, compile);
  // The first norm reads the first convolution alone: its statistics can be computed from that.
  NodeId first = -1;
  for (NodeId id : model.order()) {
    if (first < 0 && model.node(id).op == "BatchNormalization") first = id;
  }
  const Node& norm = calibrated.node(first);
  std::vector<double> mean(16), variance(16);
  for (int64_t n = 0; n < 2; ++n) {
    Graph cut = of_batch(model);
    cut.outputs = {cut.node(first).inputs[0]};
    const Tensor x = interpret(cut, {load(n)})[0];
    for (int64_t c = 0; c < 16; ++c) {
      double sum = 0, squares = 0;
      for (int64_t i = 0; i < kBatch * 64; ++i) {
        const double v = double{x.data<float>()[(i / 64 * 16 + c) * 64 + i % 64]};
        sum += v;
        squares += v * v;
      }
      const double count = kBatch * 64;
      mean[static_cast<size_t>(c)] += sum / count / 2;
      variance[static_cast<size_t>(c)] += (squares - sum * sum / count) / count / 2;
    }
  }
  for (int64_t c = 0; c < 16; ++c) {
    EXPECT_NEAR(calibrated.constant(norm.inputs[3])->data<float>()[c], mean[static_cast<size_t>(c)], 1e-5);
    EXPECT_NEAR(calibrated.constant(norm.inputs[4])->data<float>()[c], variance[static_cast<size_t>(c)], 1e-5);
  }
  // Scales, shifts and weights stay.
  EXPECT_TRUE(calibrated.constant(norm.inputs[1])->identical(*model.constant(model.node(first).inputs[1])));
}

TEST(Supernet, RangesAreReadAndWritten) {
  const ElasticRanges ranges =
      branch::parse_ranges("DEVICES: [C, gpu]\nWM_RANGE: [0.625, 0.875]\nELASTIC_SIZE: 3\n", "r.yaml");
  EXPECT_EQ(ranges.devices, (std::vector<std::string>{"cpu", "gpu"}));
  EXPECT_EQ(ranges.networks, 3);
  EXPECT_EQ(branch::ranges_text(branch::parse_ranges(branch::ranges_text(ranges), "again")),
            branch::ranges_text(ranges));
  const auto read = [](const std::string& text) { return refused([&] { branch::parse_ranges(text, "r.yaml"); }); };
  EXPECT_EQ(read("DEVICES: [cpu]\n"), "2 r.yaml: DEVICES names 1 devices; branches are for two or more");
  EXPECT_EQ(read("DEVICES: [cpu, npu]\n"), "3 r.yaml:1: npu is no device; it is cpu, dsp or gpu");
  EXPECT_EQ(read("DEVICES: [cpu, dsp]\nWM_RANGE: [0.25, 1]\n"),
            "2 r.yaml: WM_RANGE begins at 0.25, and 2 branches of that width lack channels; begin at 0.5 or above");
  EXPECT_EQ(read("DEVICES: [cpu, dsp]\nDM_RANGE: [1, 0.5]\n"),
            "3 r.yaml:2: DM_RANGE is [1, 0.5]: the least is above the largest");
  EXPECT_EQ(read("DEVICES: [cpu, dsp]\nELASTIC_SIZE: 1\n"),
            "3 r.yaml:2: ELASTIC_SIZE is 1, not an integer from 2 to 64");
  EXPECT_EQ(read("DEVICES: [cpu, dsp]\nWIDTHS: [1]\n"),
            "3 r.yaml:2: \"WIDTHS\" is no key of elastic ranges; they are DEVICES, DM_RANGE, WM_RANGE, ELASTIC_SIZE");
}

TEST(Supernet, ChildrenOutsideTheRangesAreRefused) {
  const auto supernet = test_supernet();
  const StretchPlan good = smallest_child(supernet->ranges, supernet->stages);
  const auto with = [&](const std::function<void(StretchPlan&)>& change) {
    StretchPlan plan = good;
    change(plan);
    return refused([&] { check_child(supernet->ranges, supernet->stages, plan); });
  };
  EXPECT_EQ(with([](StretchPlan&) {}), "accepted");
  EXPECT_EQ(with([](StretchPlan& p) { p.stages.pop_back(); }), "2 the child has 1 stages, the supernet 2");
  EXPECT_EQ(with([](StretchPlan& p) { p.stages[0][1].width = 0.375; }),
            "2 stage 1, dsp: width 0.375; the supernet's children have 0.5 to 1");
  EXPECT_EQ(with([](StretchPlan& p) { p.stages[0][0].depth = 4; }),
            "2 stage 1, cpu: 4 blocks; the supernet's children have 1 to 3");
  EXPECT_EQ(with([](StretchPlan& p) { p.stages[1][1].device = "gpu"; }),
            "2 stage 2 of the child has a branch for gpu where the supernet's is for dsp");
}

TEST(Supernet, ANetworkWithoutStagesIsRefused) {
  NewGraph net;
  const ValueId x = net.input("x", Type(DType::Float32, {1, 3, 4, 4}));
  net.output(net.emit("Flatten", {net.emit("GlobalAveragePool", {x})}), "y");
  const Graph graph = net.finish();
  EXPECT_EQ(refused([&] { make_supernet(graph, test_ranges()); }),
            "4 no stages: behind the network's first layer, there is no layer of several pixels whose value everything "
            "passes through");
}

}  // namespace
}  // namespace dnn::train
