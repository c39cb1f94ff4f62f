// Networks in other forms: other names, hidden channels in another order or scaled, bounds that no sample reaches. What is found does not
// follow names; what is one function is no fault, whatever its layers hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "faults/fault.h"
#include "faults/names.h"
#include "graph/tensor_text.h"
#include "localize/localize.h"
#include "localize/repair.h"
#include "unit/faults/network.h"
#include "unit/localize/isolated.h"

namespace dnn {
namespace {

using Names = std::vector<std::string>;

const char* const kRenamings[] = {"names-random", "names-shifted", "names-permuted"};
const Shape kFormsShape = {1, 3, 8, 8};

struct JudgedForms {
  LocalizeReport report;
  std::vector<SegmentRepair> repairs;
  Graph repaired;
};

JudgedForms judged(const Graph& source, const Graph& target, const Shape& shape = kFormsShape, bool repair = false) {
  OwnErrorOptions options;
  options.keep = 2;
  OwnErrors own(source, target, options);
  Localizer localizer(&source, &target);
  localizer.measure_own(&own);
  for (uint64_t seed : {31, 32}) {
    const Tensor x = random_tensor(DType::Float32, shape, seed);
    localizer.add(trace_of(source, x), trace_of(target, x));
  }
  JudgedForms result{localizer.finish({}), {}, target};
  if (!repair) return result;
  std::vector<size_t> wrong;
  for (const Finding& finding : result.report.findings) wrong.push_back(finding.own);
  result.repairs = search_repairs(source, target, own, wrong);
  EditSource edits(source);
  apply_edits(edits_together(source, target, &result.repairs), edits, result.repaired);
  infer_types(result.repaired);
  return result;
}

// The source's nodes of each finding.
std::string found_text(const LocalizeReport& report) {
  std::string text;
  for (const Finding& f : report.findings) text += join(f.source.nodes) + "; ";
  return text;
}

double apart(const Graph& a, const Graph& b, const Shape& shape, double scale = 1) {
  Tensor x = random_tensor(DType::Float32, shape, 77);
  float* values = x.mutable_data<float>();
  for (int64_t i = 0; i < x.size(); ++i) values[i] *= static_cast<float>(scale);
  return compare(interpret(a, {x})[0], interpret(b, {x})[0]).relative();
}

TEST(OtherNames, OfAHealthyNetworkAreNoFault) {
  const Graph source = typed(kFaultyNet);
  for (const char* renaming : kRenamings) {
    SCOPED_TRACE(renaming);
    for (uint64_t seed : {1, 2, 3}) {
      Graph target = source;
      inject(target, renaming, seed);
      infer_types(target);
      EXPECT_EQ(interpret(source, {random_tensor(DType::Float32, kFormsShape, 1)})[0].identical(
                    interpret(target, {random_tensor(DType::Float32, kFormsShape, 1)})[0]),
                true);
      const JudgedForms result = judged(source, target);
      EXPECT_EQ(found_text(result.report), "");
      EXPECT_TRUE(result.report.agree());
    }
  }
}

// Two layers without parameters that were exchanged are told apart by names alone: under others they are one finding.
TEST(OtherNames, LeaveTheFindingsOfEveryClassOfFaults) {
  const Graph source = typed(kFaultyNet);
  for (const Fault& fault : all_faults()) {
    Graph faulty = parse_graph(kFaultyNet);
    const Injection injection = inject(faulty, fault.name, 3);
    infer_types(faulty);
    const std::string expected = found_text(judged(source, faulty).report);
    for (const char* renaming : kRenamings) {
      SCOPED_TRACE(cat(renaming, " ", injection.text()));
      Graph target = faulty;
      inject(target, renaming, 5);
      infer_types(target);
      const std::string under_others = found_text(judged(source, target).report);
      if (injection.text().find("exchanged with node") == std::string::npos) {
        EXPECT_EQ(under_others, expected);
      } else {
        EXPECT_EQ(expected, "softmax5; sigmoid5; ");
        EXPECT_EQ(under_others, "softmax5, sigmoid5; ");
      }
    }
  }
}

// A stretch of a hidden layer, its reader with a depthwise one between.
const char* const kHidden = R"(graph "hidden" {
  opset 28
  input x: float32[1,3,8,8]
  const w1: float32[6,3,3,3] = random(1)
  const b1: float32[6] = random(2)
  const wd: float32[6,1,3,3] = random(3)
  const bd: float32[6] = random(4)
  const w2: float32[4,6,1,1] = random(5)
  const b2: float32[4] = random(6)
  const w3: float32[5,4,3,3] = random(7)
  c1 = Conv(x, w1, b1) @conv1 {pads = [1, 1, 1, 1]}
  r1 = Relu(c1) @relu1
  d1 = Conv(r1, wd, bd) @depthwise {pads = [1, 1, 1, 1], group = 6}
  rd = Relu(d1) @relud
  c2 = Conv(rd, w2, b2) @conv2
  r2 = Relu(c2) @relu2
  y = Conv(r2, w3) @conv3
  output y
})";

// Index i along `axis` becomes times[i] times what was at from[i].
void rearrange(Graph& graph, const char* name, int axis, const std::vector<int64_t>& from,
               const std::vector<float>& times) {
  Tensor& tensor = *graph.value(graph.find_value(name)).constant;
  Tensor moved(tensor.dtype(), tensor.shape());
  const int64_t step = row_major_strides(tensor.shape())[static_cast<size_t>(axis)], n = tensor.dim(axis);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t at = i / step % n;
    moved.mutable_data<float>()[i] =
        times[static_cast<size_t>(at)] * tensor.data<float>()[i + (from[static_cast<size_t>(at)] - at) * step];
  }
  tensor = moved;
}

const std::vector<int64_t> kAsTheyWere = {0, 1, 2, 3, 4, 5}, kOrder = {3, 0, 5, 1, 4, 2};
const std::vector<float> kOnce = {1, 1, 1, 1, 1, 1}, kTimes = {2, 0.3F, 7, 0.5F, 1.7F, 11};

Graph permuted() {
  Graph graph = typed(kHidden);
  for (const char* name : {"w1", "b1", "wd", "bd"}) rearrange(graph, name, 0, kOrder, kOnce);
  rearrange(graph, "w2", 1, kOrder, kOnce);
  return graph;
}

Graph equalised() {
  Graph graph = typed(kHidden);
  std::vector<float> back;
  for (float t : kTimes) back.push_back(1 / t);
  for (const char* name : {"w1", "b1", "bd"}) rearrange(graph, name, 0, kAsTheyWere, kTimes);
  rearrange(graph, "w2", 1, kAsTheyWere, back);
  return graph;
}

TEST(OtherForms, HiddenChannelsInAnotherOrderOrScaledAreNoFault) {
  const Graph source = typed(kHidden);
  for (const Graph& target : {permuted(), equalised()}) {
    ASSERT_LE(apart(source, target, kFormsShape), 1e-5);
    const JudgedForms result = judged(source, target);
    EXPECT_EQ(found_text(result.report), "");
    EXPECT_TRUE(result.report.agree());
    EXPECT_GT(result.report.residual->n_equivalent, 0);
  }
}

TEST(OtherForms, FaultsBesideThemAreFound) {
  const Graph source = typed(kHidden);
  for (Graph target : {permuted(), equalised()}) {
    inject(target, "kernel-rotated@conv3", 1);
    infer_types(target);
    EXPECT_EQ(found_text(judged(source, target).report), "conv3; ");
  }
}

TEST(OtherForms, AnOrderOrAScaleThatNothingUndoesIsAFault) {
  const Graph source = typed(kHidden);
  for (const bool scaled : {false, true}) {
    Graph target = source;
    for (const char* name : {"w1", "b1"})
      rearrange(target, name, 0, scaled ? kAsTheyWere : kOrder, scaled ? kTimes : kOnce);
    const JudgedForms result = judged(source, target, kFormsShape, true);
    EXPECT_EQ(found_text(result.report), "conv1; ");
    EXPECT_LE(apart(source, result.repaired, kFormsShape), 1e-6);
  }
}

// What no sample shows to be different, as a pooling of a wrong slope's positive values, is not proven equal by that.
TEST(OtherForms, WhatOnlyTheseSamplesHideIsNoOtherForm) {
  const char* const text = R"(graph "pooled" {
    opset 28
    input x: float32[1,3,8,8]
    const w: float32[4,3,3,3] = random(1)
    const v: float32[4,4,1,1] = random(2)
    c = Conv(x, w) @conv
    const two: float32[] = {2}
    l = LeakyRelu(c) @leaky {alpha = SLOPE}
    d = Mul(l, two) @double
    m = MaxPool(d) @pool {kernel_shape = [6, 6]}
    y = Conv(m, v) @last
    output y
  })";
  const auto net = [&](const char* slope) {
    std::string with_text = text;
    with_text.replace(with_text.find("SLOPE"), 5, slope);
    return typed(with_text);
  };
  const Graph source = net("0.1"), target = net("0.4");
  ASSERT_EQ(apart(source, target, kFormsShape), 0);
  EXPECT_EQ(found_text(judged(source, target).report), "leaky; ");
}

const char* const kBounded = R"(graph "bounded" {
  opset 28
  input x: float32[1,3,8,8]
  const w: float32[4,3,3,3] = random(1)
  const v: float32[4,4,1,1] = random(2)
  const low: float32[] = {0}
  const high: float32[] = {60}
  c = Conv(x, w) @conv
  a = Clip(c, low, high) @bound
  y = Conv(a, v) @last
  output y
})";

TEST(OtherForms, ABoundThatNoSampleReachesIsALatentFaultAndIsRepaired) {
  const Graph source = typed(kBounded);
  for (const char* wrong : {"a = Relu(c) @bound", "a = Clip(c, low) @bound", "a = Identity(c) @bound"}) {
    SCOPED_TRACE(wrong);
    const Graph target = typed(with_text(kBounded, "a = Clip(c, low, high) @bound", wrong));
    const bool shows = std::string(wrong).find("Identity") != std::string::npos;  // negative values
    ASSERT_EQ(apart(source, target, kFormsShape) > 1e-3, shows);
    ASSERT_GT(apart(source, target, kFormsShape, 100), 1e-3);
    const JudgedForms result = judged(source, target, kFormsShape, true);
    ASSERT_EQ(result.report.findings.size(), 1u);
    EXPECT_EQ(result.report.findings[0].sure, shows ? "certain" : "latent");
    EXPECT_FALSE(result.report.agree());
    EXPECT_LE(apart(source, result.repaired, kFormsShape, 100), 1e-6);
  }
}

TEST(OtherForms, ABoundThatNothingCanReachMayGo) {
  const std::string bounded = with_text(
      kBounded, "a = Clip(c, low, high) @bound",
      "s = Sigmoid(c) @sigmoid\n  p = AveragePool(s) @pool {kernel_shape = [2, 2]}\n  a = Clip(p, low, high) @bound");
  const Graph source = typed(bounded),
              target = typed(with_text(bounded, "a = Clip(p, low, high) @bound", "a = Identity(p) @bound"));
  EXPECT_EQ(found_text(judged(source, target).report), "");
}

// As where a repair puts a missing activation in front of each of its readers.
TEST(OtherForms, AnActivationThatEachReaderHasOfItsOwnIsNoLatentFault) {
  const char* const text = R"(graph "shared" {
    opset 28
    input x: float32[1,3,8,8]
    const w: float32[3,3,3,3] = random(1)
    c = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
    r = Relu(c) @relu
    d = Conv(r, w) @next {pads = [1, 1, 1, 1]}
    y = Add(READ, d) @add
    output y
  })";
  const Graph source = typed(with_text(text, "READ", "r"));
  const Graph target = typed(
      with_text(with_text(text, "READ", "r2"), "r = Relu(c) @relu", "r = Relu(c) @relu\n    r2 = Relu(c) @again"));
  EXPECT_EQ(found_text(judged(source, target).report), "");
}

TEST(OtherForms, AQuantisedActivationThatWasLeftIsTakenOut) {
  const Graph source = typed(kHidden);
  const Graph target =
      typed(with_text(kHidden, "d1 = Conv(r1,",
                      "const q: float32[] = {0.05}\n  const z: int8[] = {3}\n  q1 = QuantizeLinear(r1, q, "
                      "z) @quantise\n  e1 = DequantizeLinear(q1, q, z) @dequantise\n  d1 = Conv(e1,"));
  const JudgedForms result = judged(source, target, kFormsShape, true);
  ASSERT_EQ(result.repairs.size(), 1u);
  ASSERT_EQ(result.repairs[0].edits.size(), 1u) << result.repairs[0].why_not;
  EXPECT_EQ(result.repairs[0].edits[0].kind, Edit::Kind::Skip);
  EXPECT_EQ(result.repaired.order().size(), source.order().size());
  EXPECT_EQ(apart(source, result.repaired, kFormsShape), 0);
}

TEST(OtherForms, AReshapeWithExchangedExtentsIsOneFault) {
  const char* const text = R"(graph "reshaped" {
    opset 28
    input x: float32[1,1,6,10]
    const s: int64[4] = {-1, 6, 10, 1}
    const t: int64[4] = {-1, 1, 10, 6}
    const w: float32[4,1,3,3] = random(1)
    r = Reshape(x, s) @first
    p = Transpose(r) @turn {perm = [0, 2, 1, 3]}
    q = Reshape(p, t) @second
    y = Conv(q, w) @conv
    output y
  })";
  const Graph source = typed(text), target = typed(with_text(text, "{-1, 6, 10, 1}", "{-1, 10, 6, 1}"));
  const JudgedForms result = judged(source, target, {1, 1, 6, 10}, true);
  EXPECT_EQ(found_text(result.report), "first; ");
  EXPECT_EQ(apart(source, result.repaired, {1, 1, 6, 10}), 0);
}

// The source, with one weight in each row that is off in its last digits.
Graph with_noise(const Graph& source, const char* weights, double noise) {
  Graph target = source;
  Tensor tensor = *target.constant(target.find_value(weights));
  const int64_t width = tensor.size() / tensor.dim(0);
  float* numbers = tensor.mutable_data<float>();
  for (int64_t row = 0; row < tensor.dim(0); ++row) numbers[row * width] *= static_cast<float>(1 + noise);
  target.value(target.find_value(weights)).constant = tensor;
  return target;
}

TEST(OtherForms, WeightsThatAreOffWhereRoundingHidesItAreAHiddenFaultAndAreRepaired) {
  const Graph source = typed(kBounded), target = with_noise(source, "w", 2e-5);
  const JudgedForms result = judged(source, target, kFormsShape, true);
  ASSERT_EQ(result.report.findings.size(), 1u);
  const Finding& found = result.report.findings[0];
  EXPECT_EQ(found_text(result.report), "conv; ");
  EXPECT_EQ(found.sure, "hidden");
  EXPECT_GT(found.times_rounding, 2);
  EXPECT_LT(found.times_rounding, 20);
  EXPECT_GT(found.hides, 0);
  EXPECT_FALSE(result.report.agree());
  EXPECT_EQ(apart(source, result.repaired, kFormsShape), 0);
}

// As where a batch norm was folded in another order of steps.
TEST(OtherForms, WeightsThatWereRoundedAFewTimesMoreAreNoFault) {
  const Graph source = typed(kBounded);
  const LocalizeReport report = judged(source, with_noise(source, "w", 4 * 0x1p-23)).report;
  EXPECT_EQ(found_text(report), "");
  EXPECT_GT(report.residual->hides, 0);
  EXPECT_EQ(report.residual->hides_at, "c");
}

// More than a few samples that round apart, and then one that is wrong.
TEST(OwnErrors, AFaultThatOnlyALateSampleShowsIsFound) {
  const Graph source = typed(kBounded), target = typed(with_text(kBounded, "{60}", "{8}"));
  OwnErrors own(source, target, {});
  Localizer localizer(&source, &target);
  localizer.measure_own(&own);
  for (uint64_t seed = 1; seed <= 9; ++seed) {
    Tensor x = random_tensor(DType::Float32, kFormsShape, seed);
    float* values = x.mutable_data<float>();
    for (int64_t i = 0; i < x.size(); ++i) values[i] *= seed == 9 ? 20.0F : 0.1F;
    localizer.add(trace_of(source, x), trace_of(target, x));
  }
  const LocalizeReport report = localizer.finish({});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].sure, "certain");
  EXPECT_EQ(report.findings[0].n_differing, 1);
}

}  // namespace
}  // namespace dnn
