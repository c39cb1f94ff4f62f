// Bisection of passes and kernels: the rewrite or kernel that was seeded, its nodes, what is certain of it. Many more faults:
// tests/bisection.
#include "localize/bisect.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cache.h"
#include "graph/text.h"
#include "localize/kernel_errors.h"
#include "localize/kernel_search.h"
#include "localize/rewrite_search.h"
#include "localize/rewrites.h"
#include "tensor/compare.h"
#include "unit/localize/questions.h"

namespace dnn {
namespace {

const char* const kBisectNet = R"(graph "net" {
  opset 17
  input x: float32[1,2,2,2]
  const s: float32[2] = {2, 3}
  const b: float32[2] = {1, -1}
  const m: float32[2] = {0, 1}
  const v: float32[2] = {1, 4}
  n1 = BatchNormalization(x, s, b, m, v) @first
  r = Relu(n1) @relu
  n2 = BatchNormalization(r, s, b, m, v) @second
  q = GlobalAveragePool(n2) @mean
  y = Flatten(q) @flat
  output y
})";

Graph bisect_net() { return parse_graph(kBisectNet); }

std::vector<BisectSample> bisect_samples() {
  return {{"a", {Tensor::of<float>({1, 2, 2, 2}, {1, 2, 3, 4, 0.5, 0, 1, 2})}},
          {"b", {Tensor::of<float>({1, 2, 2, 2}, {-1, 0.5, 0, 1, 7, 5, 6, 8})}}};
}

BisectSide side(const std::string& device, int opt) {
  BisectSide result;
  result.device = result.compile.device = device;
  result.compile.opt = opt;
  result.compile.isas = {"x86-64"};
  result.compile.build.cache_folder = test_cache();
  return result;
}

// simplify-inference with the shifts of the batch norms whose reason holds `wanted` lost.
std::string wanted;
float lost = 0;  // what the shifts are then
std::vector<Patch> (*right)(const Graph&, const PassContext&) = nullptr;
std::vector<Patch> wrong_patches(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches = right(graph, context);
  for (Patch& patch : patches) {
    if (patch.reason().find(wanted) == std::string::npos) continue;
    for (Value& value : patch.values()) {
      if (value.constant && value.name.find(".shift") != std::string::npos)
        value.constant = Tensor::of<float>({2}, {lost, lost}).reshaped(value.constant->shape());
    }
  }
  return patches;
}

const std::vector<Pass>* wrong_rows(const std::string& reason, float shift = 0) {
  static std::vector<Pass> rows;
  rows = passes();
  wanted = reason;
  lost = shift;
  for (Pass& row : rows) {
    if (std::string(row.name) != "simplify-inference") continue;
    right = row.run;
    row.run = wrong_patches;
  }
  return &rows;
}

BisectReport bisected(const BisectSide& target) {
  return bisect(bisect_net(), bisect_samples(), side("reference", 0), target, {});
}

TEST(Bisect, SidesThatAgreeAreNotSearched) {
  const BisectReport report = bisected(side("reference", 3));
  EXPECT_FALSE(report.differs());
  EXPECT_TRUE(report.rewrites.empty());
  EXPECT_EQ(report.n_samples, 2u);
  EXPECT_THROW(bisect(bisect_net(), {}, side("reference", 0), side("reference", 1), {}), Error);
}

TEST(Bisect, NamesTheOneRewriteWithItsNodes) {
  BisectSide target = side("reference", 1);
  target.compile.rows = wrong_rows("second");
  const BisectReport report = bisected(target);
  EXPECT_TRUE(report.target_departs);
  EXPECT_FALSE(report.source_departs);
  ASSERT_EQ(report.rewrites.size(), 1u);
  const RewriteFinding& f = report.rewrites[0];
  EXPECT_EQ(f.pass, "simplify-inference");
  EXPECT_EQ(f.number_in_pass, 2);
  EXPECT_EQ(f.n_in_pass, 2);
  EXPECT_EQ(f.kind, FaultKind::Wrong);
  EXPECT_TRUE(f.restores);
  ASSERT_EQ(f.before.size(), 1u);
  EXPECT_EQ(f.before[0].name, "second");
  EXPECT_EQ(f.before[0].op, "BatchNormalization");
  ASSERT_EQ(f.after.size(), 2u);
  EXPECT_EQ(f.after[1].values, std::vector<std::string>{"n2"});
  EXPECT_LT(f.max_abs_before, 1e-5);
  EXPECT_GT(f.max_abs_after, 0.9);
  ASSERT_TRUE(report.after.has_value());
  EXPECT_FALSE(report.after->beyond_tolerance);
}

// A quantised layer whose sums often lie half way between two integers.
const char* const kQuantised = R"(graph "quantised" {
  opset 21
  input x: float32[1,4,16,16]
  const w: int8[4,4,1,1] = {1, 2, -3, 1, 5, 1, 1, -2, 3, 3, 1, -1, 7, -2, 1, 1}
  const xs: float32[] = {0.1}
  const xz: uint8[] = {20}
  const ws: float32[] = {0.3}
  const ys: float32[] = {0.6}
  const yz: uint8[] = {128}
  a.q = QuantizeLinear(x, xs, xz) @a
  a = DequantizeLinear(a.q, xs, xz) @b
  v = DequantizeLinear(w, ws) @c
  l = Conv(a, v) @conv
  y.q = QuantizeLinear(l, ys, yz) @d
  y = DequantizeLinear(y.q, ys, yz) @e
  output y
})";

// integer-arithmetic, with results moved by that many integers: 20 units of the sum are one.
int32_t off = 0;
std::vector<Patch> shifted(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches = right(graph, context);
  for (Patch& patch : patches) {
    for (Value& value : patch.values()) {
      if (!value.constant || value.name.find(".bias") == std::string::npos) continue;
      Tensor bias(DType::Int32, value.constant->shape());
      for (int64_t m = 0; m < bias.size(); ++m)
        bias.mutable_data<int32_t>()[m] = value.constant->data<int32_t>()[m] + 20 * off;
      value.constant = bias;
    }
  }
  return patches;
}

// On integers the same sum rounds once. Few results move then, by one: that is no fault; all by one is.
TEST(Bisect, TellsRoundingOfIntegersFromAWrongBias) {
  Tensor x(DType::Float32, {1, 4, 16, 16});
  for (int64_t i = 0; i < x.size(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i * 37 % 101) / 10 - 2;
  std::vector<Pass> rows = passes();
  for (Pass& row : rows) {
    if (std::string(row.name) != "integer-arithmetic") continue;
    right = row.run;
    row.run = shifted;
  }
  for (const int32_t moved : {0, 1, -1, 2}) {
    SCOPED_TRACE(moved);
    off = moved;
    BisectSide target = side("reference", 1);
    target.compile.rows = &rows;
    const BisectReport report = bisect(parse_graph(kQuantised), {{"a", {x}}}, side("reference", 0), target, {});
    ASSERT_GE(report.rewrites.size(), 1u);
    EXPECT_EQ(report.rewrites[0].pass, "integer-arithmetic");
    EXPECT_EQ(report.rewrites[0].kind, moved == 0 ? FaultKind::Rounding : FaultKind::Wrong);
  }
}

// Out of time, it says between which rewrites the guilty one is, and that is true.
TEST(Bisect, EndsWithTheTimeBetweenTwoRewrites) {
  BisectSide target = side("reference", 1);
  target.compile.rows = wrong_rows("second");
  const auto report_of = [&](int n, std::optional<bool>* ran_out) {
    BisectOptions options;
    options.deadline = after_questions(n);
    BisectReport report = bisect(bisect_net(), bisect_samples(), side("reference", 0), target, options);
    *ran_out = options.deadline.ran_out();
    return report;
  };
  std::optional<bool> ran_out;
  const BisectReport whole = report_of(1000, &ran_out);
  EXPECT_EQ(ran_out, false);
  ASSERT_EQ(whole.rewrites.size(), 1u);
  EXPECT_TRUE(whole.unfinished.empty());
  bool unfinished = false;
  for (int n = 0; n < 30; ++n) {
    SCOPED_TRACE(n);
    const BisectReport report = report_of(n, &ran_out);
    EXPECT_EQ(report.ran_out, ran_out);
    EXPECT_EQ(report.n_samples, n == 0 ? 1u : 2u);
    EXPECT_TRUE(report.differs());
    EXPECT_LE(report.rewrites.size() + report.unfinished.size(), 1u);
    if (report.rewrites.empty()) {
      EXPECT_EQ(ran_out, true);
    }
    for (const UnfinishedSearch& u : report.unfinished) {
      unfinished = true;
      EXPECT_LT(u.after, whole.rewrites[0].number);
      EXPECT_GE(u.before, whole.rewrites[0].number);
      EXPECT_GT(u.before - u.after, 1);
      EXPECT_FALSE(u.passes.empty());
    }
    if (ran_out == false) {
      EXPECT_EQ(report.rewrites.size(), 1u);
    }
  }
  EXPECT_TRUE(unfinished);
}

TEST(Bisect, APassThatIsWrongEverywhereIsNamedOnce) {
  BisectSide target = side("reference", 1);
  target.compile.rows = wrong_rows("");
  const BisectReport report = bisected(target);
  ASSERT_EQ(report.rewrites.size(), 1u);
  EXPECT_FALSE(report.rewrites[0].restores);
  EXPECT_TRUE(report.rewrites[0].pass_restores);
  EXPECT_FALSE(report.after->beyond_tolerance);
}

// Where no difference is allowed what moves the outputs most still comes first, and NaN before all.
TEST(Bisect, NamesTheRewriteWithoutAToleranceAndWhereItMakesNan) {
  BisectOptions exact;
  exact.tolerance = {0, 0};
  for (const float shift : {0.0F, NAN, INFINITY}) {
    for (const BisectOptions& options : {BisectOptions{}, exact}) {
      SCOPED_TRACE(cat(shift, " ", options.tolerance.rtol));
      BisectSide target = side("reference", 1);
      target.compile.rows = wrong_rows("second", shift);
      const BisectReport report = bisect(bisect_net(), bisect_samples(), side("reference", 0), target, options);
      ASSERT_FALSE(report.rewrites.empty());
      EXPECT_EQ(report.rewrites[0].pass, "simplify-inference");
      EXPECT_EQ(report.rewrites[0].number_in_pass, 2);
    }
  }
}

TEST(Bisect, TheSideThatDepartsIsSearchedWhicheverItIs) {
  BisectSide source = side("reference", 1);
  source.compile.rows = wrong_rows("first");
  const BisectReport report = bisect(bisect_net(), bisect_samples(), source, side("reference", 0), {});
  EXPECT_TRUE(report.source_departs);
  ASSERT_EQ(report.rewrites.size(), 1u);
  EXPECT_TRUE(report.rewrites[0].of_source);
  EXPECT_EQ(report.rewrites[0].number_in_pass, 1);
}

TEST(Bisect, ARewriteThatBreaksTheGraphIsFound) {
  static std::vector<Pass> rows;
  rows = passes();
  for (Pass& row : rows) {
    if (std::string(row.name) != "canonicalize-ops") continue;
    row.run = [](const Graph& graph, const PassContext&) {
      std::vector<Patch> patches;
      for (NodeId id : graph.order()) {
        if (graph.node(id).op != "GlobalAveragePool") continue;
        Patch patch(graph, "nonsense");
        Node node = graph.node(id);
        node.op = "Concat";
        node.attributes["axis"] = int64_t{9};
        patch.add_node(std::move(node));
        patch.remove_node(id);
        patches.push_back(std::move(patch));
      }
      return patches;
    };
  }
  BisectSide target = side("reference", 1);
  target.compile.rows = &rows;
  const BisectReport report = bisected(target);
  EXPECT_NE(report.target_error, "");
  ASSERT_EQ(report.rewrites.size(), 1u);
  EXPECT_EQ(report.rewrites[0].reason, "nonsense");
  EXPECT_EQ(report.rewrites[0].kind, FaultKind::Breaks);
}

TEST(Bisect, NamesTheKernelWhereNoRewriteIsWrong) {
  BisectSide target = side("cpu", 1);
  std::string name;
  target.compiler = [&](const Graph& graph, const CompileOptions& options) {
    Package package = compile(graph, options);
    std::string& source = package.variants.at(0).code.source;
    const size_t at = source.find("/ 4.0f");
    EXPECT_NE(at, std::string::npos);
    source.replace(at, 6, "/ 5.0f");
    for (const KernelInfo& kernel : package.variants[0].kernels) {
      if (kernel.pattern == "reduce") name = kernel.name;
    }
    build_code(package.variants.at(0), options.build);
    return package;
  };
  for (const double rtol : {OutputTolerance().rtol, 0.0}) {
    SCOPED_TRACE(rtol);
    BisectOptions options;
    options.tolerance.rtol = rtol;
    const BisectReport report = bisect(bisect_net(), bisect_samples(), side("reference", 0), target, options);
    if (rtol > 0) {
      EXPECT_TRUE(report.rewrites.empty());
    }
    ASSERT_EQ(report.kernels.size(), 1u);
    const KernelFinding& f = report.kernels[0];
    EXPECT_EQ(f.kernels, std::vector<std::string>{name});
    EXPECT_EQ(f.node.name, "mean");
    EXPECT_EQ(f.kind, FaultKind::Wrong);
    EXPECT_EQ(f.value, "q");
    EXPECT_FLOAT_EQ(static_cast<float>(f.got), static_cast<float>(f.expected * 4 / 5));
    EXPECT_TRUE(f.restores);
  }
}

TEST(Bisect, NamesAKernelOfIntegers) {
  const Graph graph = parse_graph(R"(graph "net" {
  opset 17
  input x: float32[1,2,2,2]
  const k: int32[] = {3}
  i = Cast(x) @whole {to = 6}
  j = Add(i, k) @add
  f = Cast(j) @float {to = 1}
  y = Relu(f) @relu
  output y
})");
  BisectSide target = side("cpu", 0);
  target.compiler = [](const Graph& right_one, const CompileOptions& options) {
    Graph wrong_one = right_one;
    for (NodeId id : wrong_one.order()) {
      if (wrong_one.node(id).name == "add") wrong_one.node(id).op = "Mul";
    }
    return compile(wrong_one, options);
  };
  const BisectReport report = bisect(graph, bisect_samples(), side("reference", 0), target, {});
  EXPECT_TRUE(report.target_departs);
  ASSERT_EQ(report.kernels.size(), 1u);
  EXPECT_EQ(report.kernels[0].node.name, "add");
  EXPECT_EQ(report.kernels[0].kind, FaultKind::Wrong);
  EXPECT_EQ(report.kernels[0].output_max_abs, report.max_abs);
  EXPECT_TRUE(report.kernels[0].restores);
}

// Extents that depend on values may not be those of the run that the error is of.
TEST(BisectedRange, AsksForEndsOfPassesFirst) {
  std::vector<int64_t> asked;
  const auto departs_from = [&](int64_t guilty) {
    return [&, guilty](int64_t n) {
      asked.push_back(n);
      return n >= guilty;
    };
  };
  const std::vector<int64_t> ends = {2, 5, 9};
  for (int64_t guilty = 1; guilty <= 12; ++guilty) {
    const BisectedRange range = bisected_range(ends, 12, departs_from(guilty), {});
    EXPECT_EQ(range.good, guilty - 1);
    EXPECT_EQ(range.bad, guilty);
  }
  asked.clear();
  bisected_range(ends, 12, departs_from(7), {});
  EXPECT_EQ(asked, (std::vector<int64_t>{5, 9, 7, 6}));
  const BisectedRange cut = bisected_range(ends, 12, departs_from(7), after_questions(2));
  EXPECT_EQ(cut.good, 5);
  EXPECT_EQ(cut.bad, 9);
}

TEST(KernelSuspects, AreThoseThatAreWrongOrElseThoseThatRoundWorst) {
  std::vector<KernelError> errors(4);
  for (size_t i = 0; i < errors.size(); ++i) errors[i].node = static_cast<NodeId>(i);
  for (KernelError& error : errors) error.largest = 1;
  errors[0].max_abs = 1e-6;
  errors[1].max_abs = 3e-6;
  errors[2].max_abs = 2e-6;
  const auto nodes = [&](size_t most) {
    std::vector<NodeId> list;
    for (const KernelError* error : kernel_suspects(errors, {}, most).errors) list.push_back(error->node);
    return list;
  };
  EXPECT_EQ(nodes(3), (std::vector<NodeId>{1, 2, 0}));
  EXPECT_FALSE(kernel_suspects(errors, {}, 3).wrong);
  errors[3].max_abs = errors[2].max_abs = 0.5;
  EXPECT_EQ(nodes(3), (std::vector<NodeId>{2, 3}));
  EXPECT_TRUE(kernel_suspects(errors, {}, 3).wrong);
}

TEST(KernelErrors, AreAddedToTheirOwnExtentsAlone) {
  const Tensor three = Tensor::of<int32_t>({3}, {1, 2, 3});
  EXPECT_EQ(to_doubles(added(three, Tensor::of<double>({3}, {0, 1, -1}))), (std::vector<double>{1, 3, 2}));
  EXPECT_TRUE(added(three, Tensor::of<double>({2}, {1, 1})).identical(three));
  EXPECT_TRUE(added(three, Tensor()).identical(three));
}

// Its index is beyond the table: each device says so in its own words, and nothing is to be found.
TEST(Bisect, ASampleThatFailsEverywhereIsReportedAsSuch) {
  const Graph graph = parse_graph(R"(graph "net" {
  opset 17
  input x: int64[1,3]
  const t: float32[2] = {2, 3}
  y = Gather(t, x)
  output y
})");
  const std::vector<BisectSample> beyond = {{"a", {Tensor::of<int64_t>({1, 3}, {0, 1, 9})}}};
  const BisectReport report = bisect(graph, beyond, side("cpu", 0), side("cpu", 1), {});
  EXPECT_NE(report.source_error, "");
  EXPECT_NE(report.target_error, "");
  EXPECT_TRUE(report.differs());
  EXPECT_FALSE(report.target_departs);
  EXPECT_TRUE(report.rewrites.empty());
  EXPECT_TRUE(report.kernels.empty());
}

TEST(Outcomes, LabelsAndMovement) {
  EXPECT_EQ(top_label(Tensor::of<float>({1, 3, 1}, {1, 5, 5})), 1);
  EXPECT_EQ(top_label(Tensor::of<float>({1, 2}, {NAN, -1})), 1);
  EXPECT_EQ(top_label(Tensor::of<float>({2, 2}, {1, 2, 3, 4})), -1);
  EXPECT_EQ(top_label(Tensor::of<float>({1}, {1})), -1);
  const Outcome a{{Tensor::of<float>({2}, {10, 1})}, ""}, b{{Tensor::of<float>({2}, {10, 11})}, ""}, broken{{}, "no"};
  const Movement m = movement(a, b, {.atol = 0, .rtol = 0.1});
  EXPECT_EQ(m.max_abs, 10);
  EXPECT_DOUBLE_EQ(m.excess, 10);
  EXPECT_TRUE(m.relabelled());
  EXPECT_EQ(movement(a, a, {.atol = 0, .rtol = 0}).excess, 0);
  EXPECT_GT(movement(a, b, {.atol = 0, .rtol = 0}).excess, 1e100);
  EXPECT_FALSE(std::isinf(movement(a, b, {.atol = 0, .rtol = 0}).excess));
  EXPECT_TRUE(std::isinf(movement(a, broken, {}).excess));
  EXPECT_EQ(movement(broken, broken, {}).excess, 0);
  EXPECT_EQ(movement(broken, {{}, "in other words: no"}, {}).excess, 0);
}

// What the passes choose by the instruction set, bisection replays with the package's.
TEST(Bisect, RewritesAreThoseOfThePackagesInstructionSet) {
  const Graph graph = parse_graph(R"(graph "deep" {
    opset 17
    input x: float32[1,512,8,8]
    const w: float32[512,512,3,3] = random(1)
    y = Conv(x, w) @conv {pads = [1, 1, 1, 1]}
    output y
  })");
  for (const auto& [isa, expected] : {std::pair("avx512", 0U), std::pair("avx2", 1U)}) {
    CompileOptions options;
    options.opt = 4;
    options.isas = {isa};
    options.pass_changes = "only:winograd";
    EXPECT_EQ(rewritten(graph, options, -1, {}).applied.size(), expected) << isa;
  }
}

}  // namespace
}  // namespace dnn
