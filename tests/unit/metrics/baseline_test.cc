// Reports against earlier reports: which runs are the same, what is better and worse, what is refused.
#include "metrics/baseline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "metrics/bounds.h"
#include "metrics/present.h"

namespace dnn::metrics {
namespace {

RunReport run(const std::string& model, int opt, Values values) {
  RunReport r;
  r.header.tool = "test";
  r.header.model.path = model;
  r.header.opt = opt;
  r.values = std::move(values);
  return r;
}

Report report(std::vector<RunReport> runs) {
  Report r;
  r.runs = std::move(runs);
  return r;
}

PairReport pair(size_t base, size_t other, Values values) {
  PairReport p;
  p.base = base;
  p.other = other;
  p.values = std::move(values);
  return p;
}

Comparison compared(const Report& before, const Report& now, const std::vector<std::string>& allow = {}) {
  std::vector<Allowance> allowances;
  for (const std::string& text : allow) allowances.push_back(parse_allowance(text));
  return compare_with(now, parse_baseline(report_json(before), "base"), allowances);
}

Verdict verdict(std::string_view key, double before, double now, const std::vector<std::string>& allow = {}) {
  const Comparison c = compared(report({run("m", 0, {{std::string(key), before}})}),
                                report({run("m", 0, {{std::string(key), now}})}), allow);
  return c.changes.size() == 1 ? c.changes[0].verdict : Verdict::Gone;
}

TEST(Baseline, ADirectionAndAnAmountDecide) {
  EXPECT_EQ(verdict("top1_accuracy", 75, 75), Verdict::Same);
  EXPECT_EQ(verdict("top1_accuracy", 75, 74.9), Verdict::Worse);
  EXPECT_EQ(verdict("top1_accuracy", 75, 75.1), Verdict::Better);
  EXPECT_EQ(verdict("top1_accuracy", 75, 74.9, {"top1_accuracy 0.1"}), Verdict::Same);
  EXPECT_EQ(verdict("top1_accuracy", 75, 74.9, {"top1_accuracy 0.05 %"}), Verdict::Worse);  // points
  EXPECT_EQ(verdict("latency_median", 10, 10.9), Verdict::Same);
  EXPECT_EQ(verdict("latency_median", 10, 11.1), Verdict::Worse);
  EXPECT_EQ(verdict("latency_median", 10, 8.9), Verdict::Better);
  EXPECT_EQ(verdict("latency_median", 10, 14, {"latency_median 50%"}), Verdict::Same);
  EXPECT_EQ(verdict("latency_median", 10, 14, {"latency_median 3 ms"}), Verdict::Worse);
  EXPECT_EQ(verdict("memory_peak", 100, 109), Verdict::Same);
  EXPECT_EQ(verdict("memory_peak", 100, 111), Verdict::Worse);
  EXPECT_EQ(verdict("energy", 100, 119), Verdict::Same);
  EXPECT_EQ(verdict("energy", 100, 121), Verdict::Worse);
  EXPECT_EQ(verdict("latency_p99", 1, 9), Verdict::Gone);  // not compared, unless
  EXPECT_EQ(verdict("latency_p99", 1, 9, {"latency_p99 100 %"}), Verdict::Worse);
}

// The table of the page is what is compared if nothing else is said.
TEST(Baseline, ThePageNamesTheDefaults) {
  const std::string page = read_file("../docs/howto/gate-in-ci.md");
  const size_t from = page.find("| Metric | May be worse by |"), to = page.find("\n\n", from);
  ASSERT_NE(to, std::string::npos);
  const std::string table = page.substr(from, to - from);
  size_t n_named = 0;
  for (size_t at = table.find('`'); at != std::string::npos; at = table.find('`', at + 1)) {
    const size_t end = table.find('`', at + 1);
    const Row& row = row_of(table.substr(at + 1, end - at - 1), "docs/howto/gate-in-ci.md");
    const auto& all = default_allowances();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const Allowance& a) { return a.row == &row; })) << row.key;
    ++n_named;
    at = end;
  }
  EXPECT_EQ(n_named, default_allowances().size());
}

TEST(Baseline, ValuesThatAreNoNumbersHaveAVerdictToo) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(verdict("latency_median", 1, inf), Verdict::Worse);
  EXPECT_EQ(verdict("latency_median", inf, 1), Verdict::Better);
  EXPECT_EQ(verdict("latency_median", inf, inf), Verdict::Same);
  EXPECT_EQ(verdict("latency_median", 1, nan), Verdict::Worse);
  EXPECT_EQ(verdict("latency_median", nan, 1), Verdict::Better);
  EXPECT_EQ(verdict("latency_median", nan, nan), Verdict::Same);
}

TEST(Baseline, RunsMeetByModelLevelAndDevice) {
  const Report before =
      report({run("a/x.onnx", 0, {{"top1_accuracy", 10}}), run("a/x.onnx", 3, {{"top1_accuracy", 30}}),
              run("a/x.onnx", 3, {{"top1_accuracy", 31}}), run("old.onnx", 0, {})});
  const Report now = report({run("new.onnx", 0, {{"top1_accuracy", 5}}), run("b/x.onnx", 3, {{"top1_accuracy", 30}}),
                             run("b/x.onnx", 0, {{"top1_accuracy", 20}}), run("b/x.onnx", 3, {})});
  const Comparison c = compared(before, now);
  ASSERT_EQ(c.changes.size(), 3u);
  EXPECT_EQ(c.changes[0].run, 2u);
  EXPECT_EQ(c.changes[0].verdict, Verdict::Better);
  EXPECT_EQ(c.changes[1].run, 1u);
  EXPECT_EQ(c.changes[1].verdict, Verdict::Same);
  EXPECT_EQ(c.changes[2].run, 3u);
  EXPECT_EQ(c.changes[2].verdict, Verdict::Gone);
  EXPECT_EQ(c.gone, std::vector<std::string>{"old.onnx -O0"});
  EXPECT_EQ(c.notes, std::vector<std::string>{"not in it: A"});
  std::vector<std::string> missed;
  for (const Check& check : checks_of(c)) {
    if (!check.kept) missed.push_back(check.line());
  }
  EXPECT_EQ(missed, (std::vector<std::string>{"--against: old.onnx -O0 is in the baseline alone",
                                              "--against: top1_accuracy: run D is not defined any more, was 31 %"}));
}

TEST(Baseline, AnotherNumberOfPredictionsIsSaid) {
  Report before = report({run("a", 0, {})}), now = before;
  before.runs[0].n_predictions = 196;
  now.runs[0].n_predictions = 2;
  EXPECT_EQ(compared(before, now).notes,
            std::vector<std::string>{"run A has 2 predictions, had 196: are the samples the same?"});
  EXPECT_TRUE(compared(now, now).notes.empty());
}

TEST(Baseline, PairsMeetWithTheirRunsWhicheverIsFirst) {
  Report before = report({run("a", 0, {}), run("b", 0, {})}), now = report({run("b", 0, {}), run("a", 0, {})});
  before.pairs.push_back(pair(0, 1, {{"top1_agreement", 90}, {"time_change", 10}}));
  now.pairs.push_back(pair(0, 1, {{"top1_agreement", 80}, {"time_change", 70}}));
  const Comparison c = compared(before, now, {"time_change 1"});  // which has turned its sign
  ASSERT_EQ(c.changes.size(), 1u);
  EXPECT_EQ(c.changes[0].verdict, Verdict::Worse);
  EXPECT_EQ(subject_of(c.changes[0]), "B against A");
  EXPECT_EQ(compared(before, before, {"time_change 1"}).changes.size(), 2u);
}

TEST(Baseline, AnAllowanceIsAKeyAndAnAmount) {
  for (const char* bad : {"", "rbo", "rbo -1", "rbo x", "rbo nan", "rbo inf", "rob 1", "mcnemar_p 1",
                          "kruskal_wallis_h 1", "latency_median 1 s", "rbo 1 2"}) {
    EXPECT_THROW(parse_allowance(bad), Error) << bad;
  }
  EXPECT_TRUE(parse_allowance("rbo 5 %").relative);
  EXPECT_FALSE(parse_allowance("top1_accuracy 5 %").relative);
  EXPECT_DOUBLE_EQ(parse_allowance(" latency_mean\t5% ").amount, 0.05);
}

TEST(Baseline, WhatIsNoReportIsMalformed) {
  const std::string run_text = R"({"header":{"type":"header","stream":1},"values":{}})";
  for (
      const std::string& bad :
      {std::string(), std::string("3"), std::string("{}"), std::string(R"({"runs":3,"pairs":[]})"),
       std::string(R"({"runs":[3],"pairs":[]})"), std::string(R"({"runs":[{}],"pairs":[]})"),
       R"({"runs":[)" + run_text + "]}",
       R"({"runs":[)" + run_text + R"(],"pairs":[{"base":"A","run":"B","values":{}}]})",
       R"({"runs":[)" + run_text + R"(],"pairs":[{"base":0,"run":"A","values":{}}]})",
       std::string(R"({"runs":[{"header":{"type":"end","records":{}},"values":{}}],"pairs":[]})"),
       std::string(
           R"({"runs":[{"header":{"type":"header","stream":1},"values":{"rbo":1,"top1_accuracy":"many"}}],"pairs":[]})"),
       std::string(R"({"runs":[{"header":{"type":"header","stream":1},"values":{"top1_accuracy":[]}}],"pairs":[]})"),
       std::string(100000, '[')}) {
    try {
      parse_baseline(bad, "base");
      FAIL() << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Malformed) << e.what();
      EXPECT_EQ(std::string(e.what()).substr(0, 5), "base:") << e.what();
    }
  }
  EXPECT_EQ(parse_baseline(R"({"runs":[)" + run_text + R"(],"pairs":[],"more":1})", "base").runs.size(), 1u);
}

TEST(Baseline, ThePageNamesWhatIsCompared) {
  const std::string page = read_file("../docs/howto/gate-in-ci.md");
  for (const Allowance& allowance : default_allowances()) {
    EXPECT_NE(page.find(cat('`', allowance.row->key, '`')), std::string::npos) << allowance.row->key;
  }
}

}  // namespace
}  // namespace dnn::metrics
