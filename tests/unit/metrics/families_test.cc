// Families of tests: copies of a run hide nothing, and baselines are what they should be.
#include "metrics/families.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "metrics/scores.h"
#include "metrics/statistics.h"

namespace dnn::metrics {
namespace {

constexpr int64_t kSamples = 196;

struct Model {
  std::string path;
  int64_t n_wrong = 0;  // the first samples, beyond those that all get wrong
  int64_t near_ties = 0;
};

// A run over samples of class 0: label 1 where it is wrong; scores are far apart but for near ties.
void add_run(const Model& model, int64_t opt, Evaluation* evaluation, const std::string& device = "cpu") {
  stream::Header h;
  h.tool = "test";
  h.model.path = model.path;
  h.label_set = "set";
  h.opt = opt;
  h.device = device;
  evaluation->add(h);
  for (int64_t i = 0; i < kSamples; ++i) {
    const bool always_wrong = i >= kSamples - 19, tie = i < model.near_ties;
    const int64_t best = i < model.n_wrong || always_wrong || (tie && opt == 3) ? 1 : 0;
    evaluation->add(stream::Sample{i, cat("imgs/", i), 0, {}});
    stream::Prediction p;
    p.sample = i;
    p.top_k = {{best, 2.0, ""}, {1 - best, tie ? 2.0 - 1e-6 : 1.0, ""}};
    evaluation->add(p);
  }
}

// As a matrix makes it: one model broken, one slightly different, the others equal.
Report matrix(const std::string& baseline, bool broken_first = false) {
  std::vector<Model> models = {{"a.onnx"}, {"b.tflite"}, {"c.pb"}, {"slight.onnx", 2}, {"broken.onnx", 27}};
  for (char name = 'd'; models.size() < 17; ++name) models.insert(models.begin() + 1, {std::string(1, name) + ".onnx"});
  if (broken_first) std::swap(models.front(), models.back());
  Evaluation evaluation;
  for (const Model& model : models) {
    for (const int64_t opt : {4, 3, 2, 1, 0, 3}) add_run(model, opt, &evaluation);
  }
  evaluation.set_baseline(baseline);
  return evaluation.finish();
}

TEST(Families, CopiesOfARunDoNotHideABrokenModel) {
  const Report report = matrix("auto");
  ASSERT_EQ(report.runs.size(), 102U);
  EXPECT_EQ(report.baseline, 4U);  // -O0 of the first model
  const size_t broken = 100;       // -O0 of the last
  EXPECT_EQ(report.own_run[99], broken);
  EXPECT_EQ(held_against(report, 99), broken);
  EXPECT_EQ(held_against(report, broken), report.baseline);
  const PairReport& pair = pair_of(report, broken, report.baseline);
  EXPECT_EQ(pair.base, report.baseline);
  EXPECT_NEAR(pair.values.at("accuracy_change"), -13.775510204081632, 1e-12);
  // The p of these two alone, by the same function; corrected for two hypotheses, however many runs repeat them.
  const double alone = mcnemar_p({150, 27, 0, 19});
  EXPECT_EQ(pair.values.at("mcnemar_p"), alone);
  EXPECT_DOUBLE_EQ(pair.values.at("mcnemar_p_holm"), 2 * alone);
  EXPECT_LT(pair.values.at("mcnemar_p_holm"), 1e-6);
  EXPECT_EQ(pair_of(report, 94, report.baseline).values.at("mcnemar_p_holm"), mcnemar_p({175, 2, 0, 19}));
  EXPECT_EQ(report.alike[101], 96U);  // all of the broken model's runs
  EXPECT_EQ(report.alike[95], 90U);
  EXPECT_EQ(report.alike[89], 0U);
}

TEST(Families, TheBaselineIsTheBaseOfItsPairs) {
  const Report report = matrix("a.onnx", true);
  EXPECT_EQ(report.runs[report.baseline].header.model.path, "a.onnx");
  EXPECT_EQ(pair_of(report, 4, report.baseline).base, report.baseline);  // an earlier run
  EXPECT_LT(pair_of(report, 4, report.baseline).values.at("accuracy_change"), -13);
  EXPECT_EQ(pair_of(report, 0, 4).base, 4U);  // a run against its model's plainest
  EXPECT_EQ(matrix("R27").baseline, 26U);
  EXPECT_EQ(matrix("").baseline, 0U);
  EXPECT_THROW(matrix("none"), Error);
}

TEST(Families, AFrameworksOwnRunIsThePlainest) {
  Evaluation evaluation;
  for (const auto& [opt, device] : {std::pair(0, "cpu"), {0, "reference"}, {3, "lib:onnxruntime"}})
    add_run({"m"}, opt, &evaluation, device);
  evaluation.set_baseline("auto");
  EXPECT_EQ(evaluation.finish().baseline, 2U);
}

TEST(Families, NearTiesAreCountedApart) {
  Evaluation evaluation;
  for (const int64_t opt : {0, 3}) add_run({"m", 0, 5}, opt, &evaluation);
  const Report report = evaluation.finish();
  EXPECT_EQ(report.pairs[0].values.at("near_ties"), 5);
  EXPECT_EQ(report.pairs[0].values.at("flips"), 0);
  EXPECT_LT(report.pairs[0].values.at("top1_agreement"), 98);
  EXPECT_EQ(report.alike[1], 1U);
}

TEST(Scores, NearTie) {
  const auto tie = [](std::vector<Scored> scores) { return is_near_tie(scores); };
  EXPECT_TRUE(tie({{0, 10}, {1, 9.9995}}));
  EXPECT_TRUE(tie({{0, -10}, {1, -10.0005}}));
  EXPECT_TRUE(tie({{0, 0}, {1, 0}}));
  EXPECT_FALSE(tie({{0, 10}, {1, 9.99}}));
  EXPECT_FALSE(tie({{0, 1e-9}, {1, -1e-9}}));
  EXPECT_FALSE(tie({{0, 10}}));
  EXPECT_FALSE(tie({{0, NAN}, {1, NAN}}));
  EXPECT_FALSE(tie({{0, INFINITY}, {1, INFINITY}}));
}

TEST(Scores, LogitsAreComparedAsProbabilities) {
  Evaluation evaluation;
  const float logits[] = {2, 1, 0}, shares[] = {0.66524094F, 0.24472848F, 0.09003057F};  // softmax, by numpy 1.26
  for (const auto* values : {logits, shares}) {
    stream::Header h;
    h.model.path = values == logits ? "logits" : "shares";
    evaluation.add(h);
    evaluation.add(stream::Sample{0, "x", {}, {}});
    stream::Prediction p;
    p.sample = 0;
    p.top_k = {{0, values[0], ""}};
    p.outputs.emplace_back("y", Tensor::of<float>(Shape{1, 3}, std::vector<float>(values, values + 3)));
    evaluation.add(p);
  }
  const PairReport pair = evaluation.finish().pairs.at(0);
  EXPECT_LT(pair.values.at("output_max_abs"), 1e-7);
  EXPECT_NE(pair.note.find("probabilities"), std::string::npos) << pair.note;
}

}  // namespace
}  // namespace dnn::metrics
