// What an evaluation reports: order statistics, CSV, JSON, the line for the person and the timeline.
#include "branch/evaluate.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json_text.h"

namespace dnn::branch {
namespace {

TEST(BranchEvaluation, OrderStatistics) {
  const Latency latency = latency_of({4, 1, 3, 2, 5});
  EXPECT_EQ(latency.median, 3);
  EXPECT_EQ(latency.min, 1);
  EXPECT_DOUBLE_EQ(latency.p95, 4.8);
  EXPECT_EQ(latency.mean, 3);
}

EvaluateResult result() {
  EvaluateResult r;
  r.cfg = "a,b/R-50-CD.yaml";
  r.latency = {1234.56, 1200, 1300, 1240};
  r.runs.segments = {{"s1 .. s2", "C (cpu@0)", false, 10, 1, {0, 1000, 11000}},
                     {"s3", "D (cpu@1)", true, 4, 2, {11000, 12000, 16000}}};
  r.alone = {{"C (cpu@0)", {1500, 1, 1, 1}, true}, {"D (cpu@1)", {3000, 1, 1, 1}, true}};
  r.best = "C (cpu@0)";
  r.best_us = 1500;
  r.bound_us = 1000;
  r.ratio = 1500 / 1234.56;
  return r;
}

TEST(BranchEvaluation, EnergyThatCannotBeReadIsLeftOut) {
  EvaluateResult r = result();
  EXPECT_EQ(csv_row(r), "\"a,b/R-50-CD.yaml\",1234.6,");
  EXPECT_TRUE(parse_json(result_json(r))["energy_uj"].is_null());
  r.energy_uj = 77.25;
  EXPECT_EQ(csv_row(r), "\"a,b/R-50-CD.yaml\",1234.6,77.3");
  r.cfg = "=1+2.yaml";  // a spreadsheet would compute it
  EXPECT_EQ(csv_row(r), "'=1+2.yaml,1234.6,77.3");
}

TEST(BranchEvaluation, SaysWhatIsNotWorthIt) {
  EvaluateResult r = result();
  EXPECT_EQ(result_line(r),
            "a,b/R-50-CD.yaml: median 1.23 ms (min 1.20, p95 1.30); C (cpu@0) alone 1.50; D (cpu@1) alone 3.00; 1.22 "
            "times the best single "
            "device (C (cpu@0)), "
            "bound 1.00 ms");
  r.ratio = 1.04;
  EXPECT_TRUE(ends_with(result_line(r), "1.04 times the best single device (C (cpu@0)), bound 1.00 ms: not worth it"));
  EXPECT_FALSE(parse_json(result_json(r))["worth_it"]);
}

// A virtual machine's processors may be moved apart while it measures.
TEST(BranchEvaluation, SaysThatProcessorsWereMovedApart) {
  EvaluateResult r = result();
  r.line_ns = {66, 70, 68.4};
  EXPECT_EQ(result_line(r).find("cache"), std::string::npos);
  r.line_ns = {66, 318, 70, 307.5};
  EXPECT_TRUE(ends_with(result_line(r),
                        "; the processors had no cache in common in 2 of 4 turns, and both at once are slower then"));
  EXPECT_EQ(nlohmann::json::parse(result_json(r))["line_round_trip_ns"], (std::vector<double>{66, 318, 70, 308}));
}

TEST(BranchEvaluation, OneDeviceIsNotComparedWithItself) {
  EvaluateResult r = result();
  r.alone.pop_back();
  EXPECT_EQ(result_line(r), "a,b/R-50-CD.yaml: median 1.23 ms (min 1.20, p95 1.30); all on C (cpu@0)");
  EXPECT_TRUE(parse_json(result_json(r))["ratio"].is_null());
}

TEST(BranchEvaluation, TimelineIsAChromeTrace) {
  const auto events = parse_json(timeline_json({result()}))["traceEvents"];
  ASSERT_EQ(events.size(), 5u);
  EXPECT_EQ(events[0]["args"]["name"], "a,b/R-50-CD.yaml");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["ts"], 1.0);
  EXPECT_EQ(events[2]["dur"], 10.0);
  EXPECT_EQ(events[4]["cat"], "merge");
  EXPECT_NE(events[4]["tid"], events[2]["tid"]);
}

}  // namespace
}  // namespace dnn::branch
