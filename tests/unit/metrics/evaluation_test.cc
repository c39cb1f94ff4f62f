// Runs in, reports out, with every value checked by hand.
#include "metrics/evaluation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "metrics/bounds.h"
#include "metrics/present.h"
#include "metrics/quantiles.h"

namespace dnn::metrics {
namespace {

using stream::Header;
using stream::Prediction;
using stream::Record;
using stream::Sample;

Header header(const std::string& model, const std::string& label_set = "set", int64_t offset = 0) {
  Header h;
  h.tool = "test";
  h.model.path = model;
  h.label_set = label_set;
  h.label_offset = offset;
  return h;
}

// Classes best first, with falling scores.
Prediction prediction(int64_t sample, const std::vector<int64_t>& classes, std::optional<int64_t> latency_ns = {},
                      int64_t batch = 1) {
  Prediction p;
  p.sample = sample;
  for (size_t i = 0; i < classes.size(); ++i) p.top_k.push_back({classes[i], 10.0 - static_cast<double>(i), ""});
  p.latency_ns = latency_ns;
  p.batch = batch;
  return p;
}

Report report_of(const std::vector<Record>& records, Tolerance tolerance = {}) {
  Evaluation evaluation(tolerance);
  for (const Record& record : records) evaluation.add(record);
  return evaluation.finish();
}

TEST(Evaluation, AccuracyCountsJudgedSamplesOnly) {
  const Report report =
      report_of({header("m"), Sample{0, "a", 7, {}}, Sample{1, "b", 2, {}}, Sample{2, "c", {}, {}},
                 Sample{3, "d", 9, {}}, prediction(0, {7, 1, 2, 3, 4}), prediction(1, {1, 0, 3, 4, 2}),
                 prediction(2, {1, 2, 3, 4, 5}), prediction(3, {1, 2, 3, 4, 5, 9})});
  const RunReport& run = report.runs.at(0);
  EXPECT_EQ(run.n_predictions, 4);
  EXPECT_EQ(run.n_judged, 3);
  EXPECT_DOUBLE_EQ(run.values.at("top1_accuracy"), 100.0 / 3);
  EXPECT_DOUBLE_EQ(run.values.at("top5_accuracy"), 200.0 / 3);
  EXPECT_FALSE(run.values.contains("latency_mean"));
  EXPECT_FALSE(run.values.contains("throughput"));
}

TEST(Evaluation, WhatIsNotDefinedIsNotStated) {
  const Report short_lists = report_of({header("m"), Sample{0, "a", 1, {}}, prediction(0, {1, 2, 3})});
  EXPECT_EQ(short_lists.runs[0].values.at("top1_accuracy"), 100);
  EXPECT_FALSE(short_lists.runs[0].values.contains("top5_accuracy"));
  const Report no_truth = report_of({header("m"), Sample{0, "a", {}, {}}, prediction(0, {1, 2, 3})});
  EXPECT_TRUE(no_truth.runs[0].values.empty());
}

// Labels alone: truth 0 0 0 1 1 2 4, predicted 0 0 1 1 3 0 4.
TEST(Evaluation, MeansOverClassesEqualScikitLearn) {
  const int64_t truth[] = {0, 0, 0, 1, 1, 2, 4}, best[] = {0, 0, 1, 1, 3, 0, 4};
  std::vector<Record> records = {header("m")};
  for (int64_t i = 0; i < 7; ++i) {
    records.emplace_back(Sample{i, cat("p", i), truth[i], {}});
    records.emplace_back(prediction(i, {best[i]}));
  }
  const RunReport run = report_of(records).runs.at(0);
  // scikit-learn 1.9.1; the G-mean by hand: one sensitivity is 0.
  EXPECT_NEAR(run.values.at("macro_precision"), 43.33333333333333, 1e-12);
  EXPECT_NEAR(run.values.at("macro_sensitivity"), 43.33333333333333, 1e-12);
  EXPECT_NEAR(run.values.at("macro_f1"), 43.33333333333333, 1e-12);
  EXPECT_NEAR(run.values.at("balanced_accuracy"), 54.166666666666664, 1e-12);
  EXPECT_NEAR(run.values.at("matthews"), 0.4117647058823529, 1e-12);
  EXPECT_EQ(run.values.at("g_mean"), 0);
  EXPECT_FALSE(run.values.contains("calibration_error"));  // scores of 10
  EXPECT_FALSE(run.values.contains("roc_auc"));            // no outputs

  const std::vector<ClassCounts> classes = run.confusion.classes();
  ASSERT_EQ(classes.size(), 5u);
  EXPECT_EQ(classes[0].precision(), 2.0 / 3);
  EXPECT_EQ(classes[2].precision(), std::nullopt);    // never predicted
  EXPECT_EQ(classes[3].sensitivity(), std::nullopt);  // never true
  EXPECT_EQ(classes[3].f1(), 0);
  EXPECT_EQ(run.confusion.cells().find({0, 1})->second, 1);
}

// Ids that are negative, far apart, given again, in no order: each prediction finds its own sample, in both runs.
TEST(Evaluation, SampleIdsAreAnyNumbers) {
  std::vector<int64_t> ids = {5, -1, INT64_MAX, INT64_MIN, 900000, 0, 3000};
  for (int64_t i = 2500; i > 1000; --i) ids.push_back(i);
  std::vector<Record> records = {header("a")};
  for (const int64_t id : {int64_t{2000}, int64_t{900000}, int64_t{0}})
    records.emplace_back(Sample{id, "given before", 1, {}});
  for (const int64_t id : ids) records.emplace_back(Sample{id, cat("p", id), 1, {}});
  for (const int64_t id : ids) records.emplace_back(prediction(id, {id == 1700 || id == 900000 ? 2 : 1}));
  records.emplace_back(header("b"));
  std::reverse(ids.begin(), ids.end());
  for (const int64_t id : ids) {
    records.emplace_back(Sample{id, cat("p", id), 1, {}});
    records.emplace_back(prediction(id, {1}));
  }
  const Report report = report_of(records);
  EXPECT_EQ(report.runs[0].n_judged, static_cast<int64_t>(ids.size()));
  EXPECT_EQ(report.pairs.at(0).n_common, static_cast<int64_t>(ids.size()));
  ASSERT_EQ(report.pairs[0].disagreements.size(), 2u);
  EXPECT_EQ(report.pairs[0].disagreements[0].sample, "p900000");
  EXPECT_EQ(report.pairs[0].disagreements[1].sample, "p1700");
}

TEST(Evaluation, GMeanIsThatOfTheSensitivities) {
  const Report report = report_of({header("m"), Sample{0, "a", 0, {}}, Sample{1, "b", 0, {}}, Sample{2, "c", 1, {}},
                                   prediction(0, {0}), prediction(1, {1}), prediction(2, {1})});
  EXPECT_NEAR(report.runs[0].values.at("g_mean"), 100 * std::sqrt(0.5), 1e-12);
}

TEST(Evaluation, CalibrationErrorIsOfTheBestClassesProbability) {
  // Bin (8/15, 9/15] holds 0.55 (right) and 0.6 (wrong), bin (14/15, 1] holds 1 (wrong): (|1 - 1.15| + |0 - 1|) / 3.
  const double p[] = {0.55, 0.6, 1};
  std::vector<Record> records = {header("m")};
  for (int64_t i = 0; i < 3; ++i) {
    records.emplace_back(Sample{i, cat("p", i), i == 0 ? 1 : 0, {}});
    Prediction one = prediction(i, {1});
    one.top_k[0].score = p[i];
    records.emplace_back(one);
  }
  EXPECT_NEAR(report_of(records).runs.at(0).values.at("calibration_error"), 100 * 1.15 / 3, 1e-12);
}

TEST(Evaluation, RocAreaCountsTiesHalfAndHeedsTheLabelOffset) {
  std::vector<Record> records = {header("m", "set", 1)};
  const float scores[4][3] = {{0, 3, 1}, {0, 2, 2}, {9, 2, 3}, {9, 0, 2}};
  for (int64_t i = 0; i < 4; ++i) {
    records.emplace_back(Sample{i, cat("p", i), i / 2, {}});  // classes 1 and 2 of the model
    Prediction one = prediction(i, {1});
    one.outputs = {{"out", Tensor::of<float>({1, 3}, {scores[i][0], scores[i][1], scores[i][2]})}};
    records.emplace_back(one);
  }
  // Class 1: 3, 2 against 2, 0: 3.5 of 4 won. Class 2: 3, 2 against 1, 2: 3.5 of 4.
  EXPECT_DOUBLE_EQ(report_of(records).runs.at(0).values.at("roc_auc"), 0.875);
}

TEST(Evaluation, LatencyAndThroughputByHand) {
  std::vector<Record> records = {header("m")};
  for (int64_t i = 1; i <= 5; ++i) records.emplace_back(prediction(i, {0}, i * 1'000'000));
  const Values values = report_of(records).runs.at(0).values;
  EXPECT_DOUBLE_EQ(values.at("latency_mean"), 3);
  EXPECT_DOUBLE_EQ(values.at("latency_std"), std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(values.at("latency_min"), 1);
  EXPECT_DOUBLE_EQ(values.at("latency_max"), 5);
  EXPECT_DOUBLE_EQ(values.at("latency_median"), 3);
  EXPECT_DOUBLE_EQ(values.at("latency_p90"), 4.6);  // numpy.percentile([1, 2, 3, 4, 5], 90)
  EXPECT_DOUBLE_EQ(values.at("latency_p99"), 4.96);
  EXPECT_DOUBLE_EQ(values.at("throughput"), 5 / 0.015);

  // A batch of 4 in 8 ms and one of 1 in 4 ms: 5 samples in 12 ms.
  records = {header("m")};
  for (int64_t i = 0; i < 4; ++i) records.emplace_back(prediction(i, {0}, 8'000'000, 4));
  records.emplace_back(prediction(4, {0}, 4'000'000, 1));
  EXPECT_DOUBLE_EQ(report_of(records).runs.at(0).values.at("throughput"), 5 / 0.012);

  // Two at once, each 4 ms on its way, 6 of them after 14 ms; of two shards the times add up.
  records = {header("m")};
  for (int64_t i = 0; i < 6; ++i) {
    records.emplace_back(prediction(i, {0}, 4'000'000));
    std::get<stream::Prediction>(records.back()).done_ns = (4 + 2 * i) * 1'000'000;
  }
  EXPECT_DOUBLE_EQ(report_of(records).runs.at(0).values.at("throughput"), 6 / 0.014);
  EXPECT_DOUBLE_EQ(report_of(records).runs.at(0).values.at("latency_mean"), 4);
}

TEST(Evaluation, PairsMeetByPathAndAgreeByLabel) {
  const Report report =
      report_of({header("a"), Sample{0, "x/1.png", {}, {}}, Sample{1, "x/2.png", {}, {}}, Sample{2, "x/3.png", {}, {}},
                 prediction(0, {1, 2, 3}, 2'000'000), prediction(1, {4, 5, 6}, 2'000'000), prediction(2, {7, 8, 9}),
                 header("b"), Sample{5, "x/2.png", {}, {}}, Sample{6, "x/1.png", {}, {}},
                 prediction(5, {5, 4, 9}, 3'000'000), prediction(6, {1, 2, 3}, 3'000'000)});
  ASSERT_EQ(report.pairs.size(), 1u);
  const PairReport& pair = report.pairs[0];
  EXPECT_EQ(pair.n_common, 2);
  EXPECT_EQ(pair.values.at("top1_agreement"), 50);
  EXPECT_DOUBLE_EQ(pair.values.at("topk_agreement"), 100 * (1 + 2.0 / 3) / 2);
  EXPECT_DOUBLE_EQ(pair.values.at("kendall_tau"), 0);  // 1 and -1
  EXPECT_DOUBLE_EQ(pair.values.at("time_change"), 50);
  ASSERT_EQ(pair.disagreements.size(), 1u);
  EXPECT_EQ(pair.disagreements[0].sample, "x/2.png");
  EXPECT_EQ(pair.disagreements[0].base_label, 4);
  EXPECT_EQ(pair.disagreements[0].other_label, 5);
  EXPECT_FALSE(pair.values.contains("output_max_abs"));
}

TEST(Evaluation, TruthsThatContradictEachOtherAreSaid) {
  const Report report = report_of({header("a"), Sample{0, "1.png", 3, {}}, Sample{1, "2.png", 4, {}},
                                   prediction(0, {3}), prediction(1, {4}), header("b"), Sample{0, "1.png", 3, {}},
                                   Sample{1, "2.png", 5, {}}, prediction(0, {3}), prediction(1, {4})});
  EXPECT_EQ(report.pairs.at(0).note,
            "1 of 2 samples have another truth in each run, so that their accuracies are not of the same classes");
}

TEST(Evaluation, EveryTwoRunsArePaired) {
  std::vector<Record> records;
  for (int run = 0; run < 4; ++run) {
    records.emplace_back(header("m"));
    records.emplace_back(prediction(0, {run / 2}));
  }
  const Report report = report_of(records);
  ASSERT_EQ(report.pairs.size(), 6u);
  for (const PairReport& pair : report.pairs) {
    EXPECT_LT(pair.base, pair.other);
    EXPECT_EQ(pair.values.at("top1_agreement"), pair.base / 2 == pair.other / 2 ? 100 : 0);
  }
}

TEST(Evaluation, ABackgroundClassIsHandledByTheLabelSetOnce) {
  Prediction plain = prediction(0, {3, 5}), shifted = prediction(0, {4, 6});
  plain.outputs = {{"out", Tensor::of<float>({1, 3}, {1, 2, 3})}};
  shifted.outputs = {{"softmax", Tensor::of<float>({1, 4}, {99, 1, 2, 3.5f})}};
  const Report report = report_of({header("a", "imagenet-1k"), Sample{0, "i.png", 3, {}}, plain,
                                   header("b", "imagenet-1k", 1), Sample{0, "i.png", 3, {}}, shifted});
  EXPECT_EQ(report.runs[0].values.at("top1_accuracy"), 100);
  EXPECT_EQ(report.runs[1].values.at("top1_accuracy"), 100);
  EXPECT_EQ(report.pairs[0].values.at("top1_agreement"), 100);
  EXPECT_EQ(report.pairs[0].values.at("output_max_abs"), 0.5);
  EXPECT_EQ(report.pairs[0].note, "");

  const Report other_set =
      report_of({header("a", "imagenet-1k"), prediction(0, {3, 5}), header("b", "coco"), prediction(0, {3, 5})});
  EXPECT_FALSE(other_set.pairs[0].values.contains("top1_agreement"));
  EXPECT_NE(other_set.pairs[0].note, "");
}

TEST(Evaluation, OutputsComeFromPredictionsAndFromTraces) {
  const Tensor a = Tensor::of<float>({2}, {1, -4}), b = Tensor::of<float>({2}, {1, -4.5f});
  Prediction with_outputs = prediction(0, {0});
  with_outputs.outputs = {{"out", a}};
  const stream::TensorRecord traced{"n", "out", 0, "", stream::Role::Output, false, b};
  for (const std::vector<Record>& second :
       {std::vector<Record>{traced, prediction(0, {0})}, std::vector<Record>{prediction(0, {0}), traced}}) {
    std::vector<Record> records = {header("a"), Sample{0, "p", {}, {}}, with_outputs, header("b"),
                                   Sample{0, "p", {}, {}}};
    records.insert(records.end(), second.begin(), second.end());
    const Report report = report_of(records, {0.1, 0.1});
    const Values& values = report.pairs[0].values;
    EXPECT_EQ(values.at("output_max_abs"), 0.5);
    EXPECT_EQ(values.at("output_max_rel"), 0.125);
    EXPECT_EQ(values.at("output_l2"), 0.5);
    EXPECT_EQ(values.at("output_max_ulp"), 1 << 20);
    EXPECT_NEAR(values.at("output_cosine"), 19 / std::sqrt(17.0 * 21.25), 1e-15);
    EXPECT_EQ(report.pairs[0].worst_sample, "p");
    EXPECT_DOUBLE_EQ(report.pairs[0].worst_allowed, 0.5);
  }
}

// A requirement of steps cannot hold where one side is no number, nor may it be missed for a number of steps that nobody counted.
TEST(Evaluation, NaNInOneRunIsCountedAndHasNoSteps) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto values_of = [](std::vector<float> base, std::vector<float> other, std::string* note) {
    std::vector<Record> records;
    for (const auto& [name, outputs] : {std::pair("a", std::move(base)), std::pair("b", std::move(other))}) {
      Prediction p = prediction(0, {0});
      p.outputs = {{"out", Tensor::of<float>({3}, outputs)}};
      records.insert(records.end(), {header(name), Sample{0, "p", {}, {}}, p});
    }
    const Report report = report_of(records);
    *note = report.pairs.at(0).note;
    Bounds bounds;
    bounds.requirements.push_back(parse_requirement("output_max_ulp <= 18446744073709551615"));
    EXPECT_EQ(judged(report, bounds).at(0).kept, report.pairs[0].values.contains("output_max_ulp"));
    return report.pairs[0].values;
  };
  std::string note;
  Values values = values_of({kNan, 1, 2}, {kNan, 1, 2}, &note);
  EXPECT_EQ(values.at("output_nan"), 0);
  EXPECT_EQ(values.at("output_max_ulp"), 0);
  EXPECT_EQ(note, "");
  values = values_of({1, kNan, 2}, {1, 1, 2}, &note);
  EXPECT_EQ(values.at("output_nan"), 1);
  EXPECT_FALSE(values.contains("output_max_ulp"));
  EXPECT_EQ(note, "1 output element is NaN in one of both runs only");
  values = values_of({kNan, kNan, kNan}, {1, kNan, 2}, &note);
  EXPECT_EQ(values.at("output_nan"), 2);
  EXPECT_EQ(note, "2 output elements are NaN in one of both runs only");
}

TEST(Evaluation, SamplesMeetBelowTheirCommonFolder) {
  const Report report =
      report_of({header("a"), Sample{0, "/here/imgs/cat/1.png", {}, {}}, Sample{1, "/here/imgs/dog/1.png", {}, {}},
                 prediction(0, {1}), prediction(1, {2}), header("b"), Sample{0, "there/dog/1.png", {}, {}},
                 Sample{1, "there/cat/1.png", {}, {}}, prediction(0, {2}), prediction(1, {1})});
  EXPECT_EQ(report.pairs[0].n_common, 2);
  EXPECT_EQ(report.pairs[0].values.at("top1_agreement"), 100);
}

TEST(Evaluation, ShardsAreOneRun) {
  Header first = header("m"), second = header("m"), other_level = header("m");
  first.shard = "1/2";
  second.shard = other_level.shard = "2/2";
  other_level.opt = 4;
  const Report report = report_of({first, Sample{0, "a", 1, {}}, prediction(0, {1}), second, Sample{0, "b", 2, {}},
                                   prediction(0, {3}), other_level, Sample{0, "b", 2, {}}, prediction(0, {2})});
  ASSERT_EQ(report.runs.size(), 2u);
  EXPECT_EQ(report.runs[0].n_predictions, 2);
  EXPECT_EQ(report.runs[0].n_missing_shards, 0);
  EXPECT_EQ(report.runs[1].n_missing_shards, 1);
  EXPECT_EQ(report.runs[0].values.at("top1_accuracy"), 50);
  EXPECT_EQ(report.pairs[0].n_common, 1);
}

// Shards of a run that is repeated, in the order of the streams: each joins the first run that lacks it.
TEST(Evaluation, ShardsOfARepeatedRunAreAnotherRun) {
  Header first = header("m"), second = header("m"), other_passes = header("m");
  first.shard = "0/2";
  second.shard = "1/2";
  other_passes.shard = "1/2";
  other_passes.passes = "-fuse-ops";
  const auto part = [](const Header& head, const std::string& sample, int64_t best) {
    return std::vector<Record>{head, Sample{0, sample, 1, {}}, prediction(0, {best})};
  };
  std::vector<Record> records;
  for (const std::vector<Record>& more : {part(first, "a", 1), part(second, "b", 1), part(first, "a", 2),
                                          part(second, "b", 2), part(other_passes, "b", 1)}) {
    records.insert(records.end(), more.begin(), more.end());
  }
  const Report report = report_of(records);
  ASSERT_EQ(report.runs.size(), 3u);
  EXPECT_EQ(report.runs[0].values.at("top1_accuracy"), 100);
  EXPECT_EQ(report.runs[1].values.at("top1_accuracy"), 0);
  EXPECT_EQ(report.runs[1].n_predictions, 2);
  EXPECT_EQ(report.runs[2].n_predictions, 1);
}

// A shard alone looks like a whole run to all metrics.
TEST(Evaluation, MissingShardsAreNamed) {
  const auto report_of_shards = [](const std::vector<std::string>& shards) {
    std::vector<Record> records;
    for (const std::string& shard : shards) {
      Header part = header("m");
      part.shard = shard;
      records.insert(records.end(), {part, Sample{0, shard, 1, {}}, prediction(0, {1})});
    }
    return report_of(records);
  };
  const auto note_of = [&](const std::vector<std::string>& shards) {
    return shard_note(report_of_shards(shards).runs.at(0));
  };
  const std::string rest = " missing, and the values are those of a part of its samples";
  EXPECT_EQ(note_of({""}), "");
  EXPECT_EQ(note_of({"0/1"}), "");
  EXPECT_EQ(note_of({"1/3", "0/3", "2/3"}), "");
  EXPECT_EQ(note_of({"1/3"}), "shard 1/3 alone: 0/3, 2/3 are" + rest);
  EXPECT_EQ(note_of({"2/3", "0/3"}), "2 of 3 shards: 1/3 is" + rest);
  EXPECT_EQ(note_of({"0/9223372036854775807"}),
            "shard 0/9223372036854775807 alone: 1/9223372036854775807, "
            "2/9223372036854775807, 3/9223372036854775807, 4/9223372036854775807, 5/9223372036854775807 and "
            "9223372036854775801 more are" +
                rest);
  EXPECT_EQ(note_of({"x/-3"}), "");  // no part of anything
  const Report report = report_of_shards({"1/3"});
  const std::string note = "run A: " + note_of({"1/3"});
  EXPECT_EQ(shard_notes(report), std::vector{note});
  EXPECT_NE(report_table(report).find("\n" + note + "\n"), std::string::npos);
  EXPECT_NE(report_json(report).find(R"("shards":["1/3"],"n_missing_shards":2,"note":"shard 1/3 alone)"),
            std::string::npos);
}

TEST(Evaluation, RepeatedPredictionsCountForTimeButMeetOnce) {
  const Report report =
      report_of({header("a"), prediction(0, {1}, 1), prediction(0, {1}, 3), header("b"), prediction(0, {1})});
  EXPECT_DOUBLE_EQ(report.runs[0].values.at("latency_mean"), 2e-6);
  EXPECT_EQ(report.pairs[0].n_common, 1);
}

TEST(Groups, PoolWhatTheirRunsSay) {
  Header a = header("x/net.onnx"), b = header("y/net.onnx"), c = header("net.onnx");
  a.device = c.device = "cpu";
  b.device = "lib:tflite:delegate=d.so";
  std::vector<Record> records;
  const std::pair<Header, int64_t> runs[] = {{a, 1}, {b, 2}, {c, 2}, {c, 1}};
  for (const auto& [head, best] : runs) {
    records.insert(records.end(), {head, Sample{0, "p", 1, {}}, prediction(0, {best}, best * 1000),
                                   Sample{1, "q", 1, {}}, prediction(1, {1}, 1000)});
  }
  Evaluation evaluation;
  evaluation.group_by({"framework", "model"});
  for (const Record& record : records) evaluation.add(record);
  const Report report = evaluation.finish();
  EXPECT_EQ(report.runs.at(3).header.device, b.device);  // group by group
  const Grouping& by = report.by;
  ASSERT_EQ(by.groups.size(), 2u);
  EXPECT_EQ(by.groups[0].fields, (std::vector<std::string>{"own", "net.onnx"}));
  EXPECT_EQ(by.groups[1].fields, (std::vector<std::string>{"tflite", "net.onnx"}));
  EXPECT_EQ(by.groups[0].runs, (std::vector<size_t>{0, 1, 2}));
  EXPECT_EQ(by.groups[0].n_judged, 6);
  EXPECT_DOUBLE_EQ(by.groups[0].values.at("top1_accuracy"), 500.0 / 6);
  EXPECT_FALSE(by.groups[0].values.contains("top1_accuracy_low"));
  EXPECT_DOUBLE_EQ(by.groups[0].values.at("latency_mean"), 7e-3 / 6);
  ASSERT_EQ(by.pairs.size(), 2u);  // one run alone has no pair within
  EXPECT_EQ(by.pairs[0].n_pairs, 3u);
  EXPECT_EQ(by.pairs[0].values.at("top1_agreement").least, 50);
  EXPECT_DOUBLE_EQ(by.pairs[0].values.at("top1_agreement").mean, 200.0 / 3);
  EXPECT_EQ(by.pairs[0].values.at("top1_agreement").greatest, 100);
  EXPECT_EQ(by.pairs[1].base, 0u);
  EXPECT_EQ(by.pairs[1].other, 1u);
  EXPECT_EQ(by.pairs[1].values.at("accuracy_change").least, -50);
  EXPECT_FALSE(by.pairs[1].values.contains("mcnemar_p"));
  EXPECT_TRUE(by.values.contains("kruskal_wallis_p"));
}

TEST(Groups, FieldsAreThoseOfHeaders) {
  Header h = header("models/net.savedmodel/");
  h.opt = 3;
  h.preprocess = R"({"name":"imagenet-torch","scale":1.0})";
  h.host = {{"a.b", "dots"}, {"cpu", "X"}};
  const std::pair<const char*, const char*> expected[] = {{"opt", "3"},
                                                          {"model", "net.savedmodel/"},
                                                          {"model.path", "models/net.savedmodel/"},
                                                          {"preprocess", "imagenet-torch"},
                                                          {"preprocess.scale", "1.0"},
                                                          {"host.a.b", "dots"},
                                                          {"host.cpu", "X"},
                                                          {"host.memory", "-"},
                                                          {"format", "-"},
                                                          {"threads", "-"},
                                                          {"framework", "own"}};
  for (const auto& [field, text] : expected) {
    EXPECT_NO_THROW(check_field(field)) << field;
    EXPECT_EQ(field_text(h, field), text) << field;
  }
  EXPECT_EQ(field_text(Header{}, "model"), "-");
  for (const char* field : {"", "colour", "opt.x", "command", ".", "inputs"})
    EXPECT_THROW(check_field(field), Error) << field;
}

TEST(Bounds, NameBoundValueAndLimit) {
  Prediction a = prediction(0, {1, 2}), b = prediction(0, {2, 1});
  a.outputs = {{"o", Tensor::of<float>({1}, {2})}};
  b.outputs = {{"o", Tensor::of<float>({1}, {3})}};
  const std::vector<Record> records = {header("a"), Sample{0, "p", 1, {}}, a, header("b"), Sample{0, "p", 1, {}}, b};
  const auto lines = [&](const Bounds& bounds) { return missed(report_of(records, bounds.tolerance()), bounds); };
  EXPECT_TRUE(lines({}).empty());
  EXPECT_TRUE(lines({.min_accuracy = 0, .max_disagreement = 100, .atol = 1, .rtol = {}}).empty());
  EXPECT_TRUE(lines({.min_accuracy = {}, .max_disagreement = {}, .atol = {}, .rtol = 0.5}).empty());
  EXPECT_EQ(lines({.min_accuracy = 50, .max_disagreement = 99, .atol = 0.5, .rtol = 0.125}),
            (std::vector<std::string>{"--min-accuracy: run B has a top-1 accuracy of 0 %, the limit is 50 %",
                                      "--max-disagreement: B against A differs on 100 % of 1 sample, the limit is 99 %",
                                      "--atol/--rtol: B against A differs by 1 on \"p\", the limit there is 0.75"}));
}

TEST(Bounds, AnyMetricCanBeRequired) {
  const Report report = report_of({header("a"), Sample{0, "p", 1, {}}, prediction(0, {1, 2}, 2'000'000), header("b"),
                                   Sample{0, "p", 1, {}}, prediction(0, {2, 1}, 3'000'000)});
  const auto lines = [&](const std::string& text) {
    Bounds bounds;
    bounds.requirements.push_back(parse_requirement(text));
    return missed(report, bounds);
  };
  for (const char* kept : {"latency_mean <= 3", "latency_mean<3.5ms", " latency_mean  >  1 ms ", "top1_agreement==0%",
                           "topk_agreement >= 100", "kruskal_wallis_p > 0.1"}) {
    EXPECT_TRUE(lines(kept).empty()) << kept;
  }
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines("latency_mean < 3"), Lines{"--require 'latency_mean < 3 ms': run B has 3 ms"});
  EXPECT_EQ(lines("top1_agreement>=0.99"), Lines{"--require 'top1_agreement >= 0.99 %': B against A has 0 %"});
  EXPECT_EQ(lines("kendall_tau > 0"), Lines{"--require 'kendall_tau > 0': B against A has -1"});
  EXPECT_EQ(lines("roc_auc > 0").size(), 2u);  // not defined: missed, by either run
  EXPECT_EQ(lines("kruskal_wallis_p > 0.9").size(), 1u);
  Bounds pair_bound;
  pair_bound.requirements.push_back(parse_requirement("rbo > 0"));
  EXPECT_EQ(missed(report_of({header("a")}), pair_bound), Lines{"--require 'rbo > 0': needs two runs, 1 given"});
}

TEST(Bounds, ARequirementIsOneKeyOneOperatorOneNumber) {
  for (const char* bad : {"", "rbo", "rbo > ", "> 3", "rbo => 3", "rbo != 3", "rbo > three", "rbo > 3 %", "rbo > 1 > 0",
                          "rob > 1", "latency_mean < 3 s", "rbo > nan", "rbo 3"}) {
    EXPECT_THROW(parse_requirement(bad), Error) << bad;
  }
}

TEST(Bounds, WhatCannotBeJudgedIsMissed) {
  const Bounds all = {.min_accuracy = 0, .max_disagreement = 100, .atol = 1, .rtol = {}};
  EXPECT_EQ(missed(report_of({header("a"), prediction(0, {1})}), all).size(), 2u);
  EXPECT_EQ(missed(report_of({header("a"), prediction(0, {1}), header("b"), prediction(1, {1})}), all).size(), 4u);
  Prediction odd = prediction(0, {1});
  odd.outputs = {{"o", Tensor::of<float>({1}, {std::nanf("")})}};
  Prediction fine = odd;
  fine.outputs = {{"o", Tensor::of<float>({1}, {1})}};
  const Bounds loose = {.min_accuracy = {}, .max_disagreement = {}, .atol = 1e30, .rtol = {}};
  EXPECT_EQ(missed(report_of({header("a"), fine, header("b"), odd}, loose.tolerance()), loose).size(), 1u);
}

TEST(Metrics, EveryValueStatedHasARow) {
  Prediction p = prediction(0, {1, 2, 3, 4, 5}, 5), q = prediction(1, {1, 2, 3, 4, 5}, 5);
  for (size_t i = 0; i < 5; ++i) q.top_k[i].score = p.top_k[i].score = 0.5 - 0.1 * static_cast<double>(i);
  q.outputs = p.outputs = {{"o", Tensor::of<float>({1, 6}, {0, 5, 4, 3, 2, 1})}};
  stream::Usage before, after;
  before.energy_mj = before.gpu_energy_mj = before.process.cpu_time_ns = 0;
  after.energy_mj = after.gpu_energy_mj = after.gpu_percent = 1;
  after.process.cpu_time_ns = after.process.memory_bytes = after.gpu_memory_bytes = after.time_ns = 1;
  std::vector<Record> both = {header("a"), before, Sample{0, "p", 1, {}}, Sample{1, "q", 2, {}}, p, q, p, after};
  for (int i = 0; i < 40; ++i) {  // of two kinds
    Prediction repeated = p;
    repeated.latency_ns = *p.latency_ns * (i % 2 + 1);
    both.emplace_back(repeated);
  }
  both.emplace_back(header("b"));
  std::swap(p.top_k[0].index, p.top_k[1].index);  // this run is right on q only, and slower
  std::swap(q.top_k[0].index, q.top_k[1].index);
  p.latency_ns = q.latency_ns = 7;
  for (const Record& record : {Record(Sample{0, "p", 1, {}}), Record(Sample{1, "q", 2, {}}), Record(p), Record(q)}) {
    both.push_back(record);
  }
  const Report report = report_of(both);
  std::set<std::string> stated, rows_of;
  for (const auto& [key, value] : report.runs[0].values) stated.insert(key);
  for (const auto& [key, value] : report.pairs[0].values) stated.insert(key);
  for (const auto& [key, value] : report.values) stated.insert(key);
  for (const Row& row : rows()) rows_of.emplace(row.key);
  EXPECT_EQ(stated, rows_of);
}

TEST(Quantiles, ExactWhileShortAndCloseWhenLong) {
  Quantiles quantiles;
  std::vector<double> values;
  std::mt19937_64 random(3);
  std::lognormal_distribution<double> distribution(1, 1);
  for (size_t i = 0; i < Quantiles::kExact; ++i) {
    values.push_back(distribution(random));
    quantiles.add(values.back());
  }
  auto exact = [&](double q) {
    std::sort(values.begin(), values.end());
    const double position = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(position);
    const size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (position - static_cast<double>(low)) * (values[high] - values[low]);
  };
  for (double q : {0.0, 0.25, 0.5, 0.99, 1.0}) EXPECT_DOUBLE_EQ(quantiles.at(q), exact(q));
  for (size_t i = 0; i < 50000; ++i) {
    values.push_back(distribution(random));
    quantiles.add(values.back());
  }
  for (double q : {0.0, 0.01, 0.5, 0.9, 0.999, 1.0}) EXPECT_NEAR(quantiles.at(q), exact(q), exact(q) / 1000) << q;
}

}  // namespace
}  // namespace dnn::metrics
