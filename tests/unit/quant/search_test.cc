// Running layer by layer, sensitivity, and the choice of layers that stay in float32.
#include "quant/search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "interp/interpreter.h"
#include "quant/exclusions.h"
#include "quant/report.h"
#include "quant/stepwise.h"
#include "tensor/compare.h"

namespace dnn::quant {
namespace {

struct Case {
  explicit Case(const std::string& body, const Shape& shape, const QuantizeOptions& how = options())
      : graph(prepare(parsed(body))), bound(bound_graph(graph)), samples(random_samples(shape, 24)), o(how) {
    calibration = watch_list(bound, o);
    Given given(samples);
    CalibrateOptions keep = o.calibrate;
    keep.keep = 8;
    calibrate(bound, given, keep, &calibration);
    rounding = round_network(bound, calibration, o, {}, &report);
  }
  Sensitivity sensitivity() const { return measure_sensitivity(bound, rounding, calibration.kept, o.calibrate); }

  Graph graph, bound;
  std::vector<Tensor> samples;
  QuantizeOptions o;
  Calibration calibration;
  QuantizeReport report;
  Rounding rounding;
};

TEST(Stepwise, GivesTheNetworksOutputs) {
  const Case c(kResidual, {1, 3, 8, 8});
  const std::vector<Layer> layers = layers_of(c.bound, c.rounding.plan);
  const Stepwise network(c.bound, layers, alternatives_of(c.rounding), c.o.calibrate);
  Stepwise::Worker worker = network.worker();
  std::map<std::string, Tensor> made;
  const Tensor expected = interpret(c.bound, {c.samples[0]},
                                    [&](const Graph& g, ValueId v, const Tensor& t) { made[g.value(v).name] = t; })[0];
  const Stepwise::Values values = worker.run({c.samples[0]});
  const ValueId y = c.bound.outputs[0], r = c.bound.find_value("r");
  EXPECT_LT(compare(expected, values[static_cast<size_t>(y)]).relative(), 1e-5);
  EXPECT_LT(compare(made["r"], values[static_cast<size_t>(r)]).relative(), 1e-5);
  // A value twice as large: what reads it directly and what comes later both see it.
  Tensor twice = values[static_cast<size_t>(r)];
  float* numbers = twice.mutable_data<float>();
  for (int64_t i = 0; i < twice.size(); ++i) numbers[i] *= 2;
  Graph doubled = c.bound;
  for (NodeId id : doubled.order()) {
    if (doubled.node(id).op == "Relu") doubled.node(id).op = "Identity";
  }
  doubled.node(doubled.order()[1]).inputs[0] = doubled.add_constant("instead", twice);
  const Tensor changed = interpret(doubled, {c.samples[0]})[0];
  EXPECT_LT(compare(changed, worker.rerun(values, r, twice)[0]).relative(), 1e-5);
  EXPECT_GT(compare(expected, changed).relative(), 0.01);
  // Rounded weights give nearly the same.
  const Tensor rounded = worker.with_alternative(values, 0);
  EXPECT_LT(compare(values[static_cast<size_t>(r)], rounded).relative(), 0.02);
  EXPECT_FALSE(values[static_cast<size_t>(r)].identical(rounded));
}

TEST(Sensitivity, FindsTheValueThatTheRoundingRuins) {
  const Case c(kCoarse, {1, 4, 6, 6});
  const SensitivityReport report = sensitivity_report(c.bound, c.sensitivity());
  EXPECT_EQ(report.samples, 8);
  EXPECT_TRUE(report.labelled);
  ASSERT_FALSE(report.rows.empty());
  EXPECT_EQ(report.rows[0].layer, "spread");
  EXPECT_GT(report.rows[0].output->effect.mean_divergence(), 10 * report.rows[1].divergence());
  EXPECT_GT(report.rows[0].output->effect.error(), 0.05);
  double share = 0;
  for (const auto& row : report.rows) share += row.share;
  EXPECT_NEAR(share, 1, 1e-9);
  const std::string text = sensitivity_text(report);
  EXPECT_NE(text.find("1  spread"), std::string::npos) << text;
}

TEST(Sensitivity, ThreadsChangeNothing) {
  const Case one(kCoarse, {1, 4, 6, 6}, options(1)), three(kCoarse, {1, 4, 6, 6}, options(3));
  const Sensitivity a = one.sensitivity(), b = three.sensitivity();
  ASSERT_EQ(a.spots.size(), b.spots.size());
  for (size_t i = 0; i < a.spots.size(); ++i) {
    EXPECT_EQ(a.spots[i].effect.divergence, b.spots[i].effect.divergence);
    EXPECT_EQ(a.spots[i].noise, b.spots[i].noise);
  }
}

TEST(Search, LeavesOutThoseThatMakeAndReadTheRuinedValue) {
  const Case c(kCoarse, {1, 4, 6, 6});
  const std::vector<Choice> choices = choices_by_sensitivity(c.bound, c.sensitivity(), c.o, 0.9);
  ASSERT_GT(choices.size(), 1U);
  EXPECT_EQ(choices[0].layers, 0);
  EXPECT_EQ(choices[1].names, (std::vector<std::string>{"spread", "gather"}));
  EXPECT_LT(choices[1].predicted, choices[0].predicted / 5);
  for (size_t k = 1; k < choices.size(); ++k) {
    EXPECT_LE(choices[k].float_share, 0.9);
    EXPECT_GT(choices[k].layers, choices[k - 1].layers);
  }
}

SearchResult searched(const Case& c, double max_drop, double most_float, const std::vector<int64_t>& truths = {}) {
  const std::vector<Tensor> samples = random_samples({1, 4, 6, 6}, 60, 0, 7);
  const auto open = [&] { return OpenedSamples{std::make_unique<Given>(samples, truths), 0}; };
  const Halves halves(open, false, c.bound, 3, c.o.calibrate);
  SearchOptions how;
  how.max_drop = max_drop;
  how.most_float = most_float;
  return search_layers(
      c.graph, c.bound, c.calibration, c.o, halves, [&] { return c.sensitivity(); }, how);
}

TEST(Search, KeepsABoundThatAllIntegersDoNot) {
  const Case c(kCoarse, {1, 4, 6, 6});
  const SearchResult result = searched(c, 10, 0.9);
  EXPECT_EQ(result.searching, 30);
  EXPECT_EQ(result.judging, 30);
  ASSERT_TRUE(result.searched);
  EXPECT_TRUE(result.holds);
  EXPECT_GT(result.trials[0].all().drop(), 10);
  const Trial& best = result.trials[result.best];
  EXPECT_EQ(best.choice.names, (std::vector<std::string>{"spread", "gather"}));
  EXPECT_LE(best.search.drop(), 10);
  ASSERT_TRUE(best.judged);
  EXPECT_LE(best.judged->drop(), 10);
}

TEST(Search, LuckDoesNotKeepABound) {
  const Case c(kCoarse, {1, 4, 6, 6});
  // As it happens the network on integers is always right, and the one before is not.
  const Graph integers = bound_graph(insert_rounding(c.graph, c.rounding));
  std::vector<int64_t> truths;
  for (const Tensor& sample : random_samples({1, 4, 6, 6}, 60, 0, 7))
    truths.push_back(top_label(interpret(integers, {sample})[0]));
  const SearchResult result = searched(c, 0.05, 0.9, truths);
  const Validation all = result.trials[0].all();
  EXPECT_LT(all.drop(), -10);
  EXPECT_GT(all.expected_drop(), 0.05);
  EXPECT_TRUE(result.searched);
  EXPECT_EQ(result.trials[result.best].choice.names, (std::vector<std::string>{"spread", "gather"}));
  EXPECT_LT(result.trials[result.best].all().expected_drop(), all.expected_drop() / 5);
}

TEST(Search, GivesTheBestWhereTheBoundCannotBeKept) {
  const Case c(kCoarse, {1, 4, 6, 6});
  const SearchResult result = searched(c, 0, 0.3);  // the two layers that it takes have more
  EXPECT_TRUE(result.searched);
  EXPECT_FALSE(result.holds);
  EXPECT_LE(result.trials[result.best].choice.float_share, 0.3);
  for (const Trial& trial : result.trials) EXPECT_LE(result.trials[result.best].search.drop(), trial.search.drop());
}

TEST(Search, NothingIsSearchedWhereIntegersKeepTheBound) {
  const Case c(kResidual, {1, 3, 8, 8});
  const std::vector<Tensor> samples = random_samples({1, 3, 8, 8}, 20, 0, 7);
  const auto open = [&] { return OpenedSamples{std::make_unique<Given>(samples), 0}; };
  const Halves halves(open, true, c.bound, 0, c.o.calibrate);
  SearchOptions how;
  how.max_drop = 50;
  const SearchResult result = search_layers(
      c.graph, c.bound, c.calibration, c.o, halves,
      []() -> Sensitivity { throw Error(ErrorKind::Internal, "not to be measured"); }, how);
  EXPECT_FALSE(result.searched);
  EXPECT_TRUE(result.holds);
  EXPECT_EQ(result.trials.size(), 1U);
  EXPECT_EQ(result.trials[0].all().samples, 20);
}

TEST(Halves, HalveEachClassAndCover) {
  const Graph graph = bound_graph(parsed(R"(
  input x: float32[1,4]
  y = Identity(x) @y
  output y
)"));
  std::vector<Tensor> samples;
  std::vector<int64_t> truths;
  for (int i = 0; i < 40; ++i) {
    std::vector<float> scores(4, 0);
    scores[static_cast<size_t>(i / 10)] = 1;
    samples.push_back(Tensor::of<float>({1, 4}, scores));
    truths.push_back(i / 10);
  }
  const auto open = [&] { return OpenedSamples{std::make_unique<Given>(samples, truths), 0}; };
  for (const bool once : {false, true}) {
    const Halves halves(open, once, graph, 5, options().calibrate);
    const Validation search = halves.search(graph, nullptr), judge = halves.judge(graph);
    EXPECT_EQ(search.samples, 20);
    EXPECT_EQ(judge.samples, 20);
    EXPECT_EQ(search.right.both + judge.right.both, 40);
    std::vector<int> of_class(4, 0);
    for (const auto& inputs : halves.searching_inputs()) ++of_class[static_cast<size_t>(top_label(inputs[0]))];
    EXPECT_EQ(of_class, (std::vector<int>{5, 5, 5, 5}));
  }
  const auto few = [&] { return OpenedSamples{std::make_unique<Given>(std::vector<Tensor>{samples[0]}), 0}; };
  EXPECT_THROW(Halves(few, false, graph, 0, options().calibrate), Error);
}

TEST(Exclusions, AreWhatEachToolTakes) {
  const Graph graph = parsed(kResidual);
  const std::vector<Excluded> excluded =
      excluded_nodes(graph, make_plan(graph, {.keep_float = {"conv"}, .fuses = fuses_in_onnx}));
  const auto text = [&](const char* tool) { return exclusion_tool(tool).text(excluded); };
  EXPECT_EQ(text("onnxruntime"), "{\"nodes_to_exclude\":[\"conv\",\"relu\"]}\n");
  EXPECT_EQ(text("nncf"), "{\"names\":[\"conv\",\"relu\"]}\n");
  EXPECT_EQ(text("tflite"), "{\"denylisted_nodes\":[\"c\",\"r\"]}\n");
  EXPECT_EQ(text("trtexec"), "--precisionConstraints=obey\n--layerPrecisions=conv:fp32,relu:fp32\n");
  EXPECT_EQ(exclusion_tool("trtexec").text({}), "");
  EXPECT_THROW(exclusion_tool("trtexec").text({{{"a:b"}, "c"}}), Error);
  EXPECT_THROW(exclusion_tool("other"), Error);
}

}  // namespace
}  // namespace dnn::quant
