// Networks whose parts are processors of one machine: one package whose steps they share out, to the bits of one processor alone.
#include "place/joint.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/affinity.h"
#include "base/error.h"
#include "codegen/memory_plan.h"
#include "graph/text.h"
#include "ops/op.h"
#include "package/file.h"
#include "place/measure.h"
#include "place/open.h"
#include "place/package.h"
#include "unit/place/options.h"

namespace dnn::place {
namespace {

std::string numbers(int n) {
  std::vector<std::string> list;
  for (int i = 0; i < n; ++i) list.push_back(cat((i * 37 % 19 - 9) / 32.0));
  return join(list);
}

// Blocks of two branches, whose outputs are joined, and a sum past each block.
Graph joined_network() {
  std::string text = cat(R"(graph "net" {
  opset 21
  input x: float32[1,16,12,12]
  const w: float32[16,16,3,3] = {)",
                         numbers(16 * 16 * 9), R"(}
  const u: float32[16,16,1,1] = {)",
                         numbers(16 * 16), R"(}
  const v: float32[16,32,1,1] = {)",
                         numbers(16 * 32), R"(}
  s0 = Conv(x, w) @stem {pads = [1, 1, 1, 1]}
)");
  for (int i = 0; i < 3; ++i) {
    text += cat("  a", i, " = Conv(s", i, ", w) @left", i, " {pads = [1, 1, 1, 1]}\n  r", i, " = Relu(a", i,
                ") @left_relu", i, "\n  b", i, " = Conv(s", i, ", u) @right", i, "\n  q", i, " = Sigmoid(b", i,
                ") @right_act", i, "\n  c", i, " = Concat(r", i, ", q", i, ") @join", i, " {axis = 1}\n  p", i,
                " = Conv(c", i, ", v) @merge", i, "\n  s", i + 1, " = Add(p", i, ", s", i, ") @sum", i, "\n");
  }
  Graph graph = parse_graph(text + "  y = GlobalAveragePool(s3) @pool\n  output y\n  output s2\n}");
  infer_types(graph);
  return graph;
}

std::vector<Part> two_processors() {
  const std::vector<int> cores = allowed_processors();
  if (cores.size() < 2) return parse_parts("C=cpu,D=cpu");
  return parse_parts(cat("C=cpu@", cores[0], ",D=cpu@", cores[1]));
}

std::vector<size_t> random_places(const Graph& graph, std::mt19937& random) {
  std::vector<size_t> places(static_cast<size_t>(graph.node_slots()), 0);
  for (NodeId id : graph.order()) places[static_cast<size_t>(id)] = random() % 2;
  return places;
}

// The branches on the left for one processor, those on the right for the other.
std::vector<size_t> by_branches(const Graph& graph) {
  std::vector<size_t> places(static_cast<size_t>(graph.node_slots()), 0);
  for (NodeId id : graph.order()) places[static_cast<size_t>(id)] = starts_with(graph.node(id).name, "right") ? 1 : 0;
  return places;
}

std::vector<Tensor> alone(const Graph& graph, const Part& part, int opt) {
  return open_alone(std::make_shared<Package>(compile(graph, options_for(part, options(opt)))), part)
      ->run(inputs_for(graph));
}

void expect_same(const std::vector<Tensor>& found, const std::vector<Tensor>& wanted, const std::string& where) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_TRUE(found[i].identical(wanted[i])) << where << ", output " << i;
}

TEST(Joint, BranchesGiveTheBitsOfOneProcessor) {
  const Graph graph = joined_network();
  const std::vector<Part> parts = two_processors();
  const std::vector<Tensor> inputs = inputs_for(graph);
  for (int opt = 1; opt <= 4; ++opt) {
    const Plan plan = cut_into_segments(graph, by_branches(graph));
    const std::optional<Joint> joint = compile_joint(graph, plan, parts, options(opt));
    ASSERT_TRUE(joint) << opt;
    const auto session = open_joint(graph, plan, parts, *joint);
    EXPECT_EQ(session->plan().copies, 0);
    const std::vector<Tensor> wanted = open_alone(joint->package, parts[0])->run(inputs);
    for (int run = 0; run < 20; ++run) expect_same(session->run(inputs), wanted, cat("-O", opt));
    // At -O4 convolutions of one input are one, which branches are not.
    if (opt < 4) expect_same(wanted, alone(graph, parts[0], opt), cat("-O", opt));
  }
}

// However the nodes are dealt out, values that are in use at once do not share memory.
TEST(Joint, AnyPlacementGivesTheBitsOfOneProcessor) {
  const Graph graph = joined_network();
  const std::vector<Part> parts = two_processors();
  const std::vector<Tensor> inputs = inputs_for(graph), wanted = alone(graph, parts[0], 3);
  std::mt19937 random(5);
  int shared_out = 0;
  for (int round = 0; round < 24; ++round) {
    const std::vector<size_t> places = random_places(graph, random);
    shared_out += compile_joint(graph, cut_into_segments(graph, places), parts, options(3)).has_value();
    const auto session = open_parallel(graph, parts, places, options(3));
    for (int run = 0; run < 5; ++run) expect_same(session->run(inputs), wanted, cat("round ", round));
  }
  EXPECT_GT(shared_out, 12);  // or other packages are tested
}

TEST(Joint, OtherDevicesAndOnePartAreNotShared) {
  const Graph graph = joined_network();
  const Plan plan = cut_into_segments(graph, by_branches(graph));
  EXPECT_FALSE(compile_joint(graph, plan, parse_parts("C=cpu,D=reference"), options(3)));
  const Plan one = cut_into_segments(graph, std::vector<size_t>(static_cast<size_t>(graph.node_slots()), 0));
  EXPECT_FALSE(compile_joint(graph, one, parse_parts("C=cpu,D=cpu"), options(3)));
}

// A value whose shape is known only in the run has no place in the arena.
TEST(Joint, ANodeWithoutAKernelKeepsSegmentsApart) {
  Graph graph = parse_graph(R"(graph "g" {
  opset 21
  input x: float32[8]
  a = Relu(x) @one
  n = NonZero(a) @two
  f = Cast(n) @three {to = 1}
  m = ReduceSum(f) @four {keepdims = 0}
  b = Exp(x) @five
  y = Add(b, m) @six
  output y
})");
  infer_types(graph);
  std::vector<size_t> places(static_cast<size_t>(graph.node_slots()), 0);
  for (NodeId id : graph.order()) places[static_cast<size_t>(id)] = graph.node(id).name == "five" ? 1 : 0;
  const std::vector<Part> parts = two_processors();
  EXPECT_FALSE(compile_joint(graph, cut_into_segments(graph, places), parts, options(3)));
  expect_same(open_parallel(graph, parts, places, options(3))->run(inputs_for(graph)), alone(graph, parts[0], 3), "");
}

TEST(Joint, MemoryIsSharedOnlyByValuesThatAreApart) {
  using codegen::Lifetime;
  const std::vector<Lifetime> lives = {{1024, 0, 1}, {1024, 2, 3}, {1024, 4, 5}};
  int64_t bytes = 0;
  codegen::plan_memory(lives, &bytes);
  EXPECT_EQ(bytes, 1024);
  // The first two are made and read by threads that run at once.
  const auto apart = [](size_t a, size_t b) { return a + b != 1; };
  const std::vector<int64_t> at = codegen::plan_memory(lives, &bytes, apart);
  EXPECT_EQ(bytes, 2048);
  EXPECT_NE(at[0], at[1]);
}

std::shared_ptr<const Package> through_a_file(const Package& package) {
  const PackageKey key{std::string(32, 'k')};
  StringSink sink;
  write_package(package, sink, key);
  const auto owner = std::make_shared<const std::string>(sink.take());
  return parse_package(as_bytes(*owner), owner, key).package;
}

Package placed_jointly() {
  const Graph graph = joined_network(), ready = ready_to_place(graph);
  return make_placed(graph, ready, two_processors(), {{by_branches(ready)}}, options(3));
}

TEST(JointPackage, IsWrittenAndReadAndRuns) {
  const Package made = placed_jointly();
  ASSERT_NE(made.placed->whole, nullptr);
  const std::shared_ptr<const Package> read = through_a_file(made);
  ASSERT_NE(read->placed->whole, nullptr);
  const std::vector<Tensor> inputs = inputs_for(joined_network()),
                            wanted = alone(joined_network(), two_processors()[0], 3);
  PlacedSession session(read, {});
  for (int run = 0; run < 5; ++run) expect_same(session.run(inputs), wanted, "");
  std::vector<std::string> seen;
  const auto observe = [&](const Graph& g, ValueId id, const Tensor&) { seen.push_back(g.value(id).name); };
  expect_same(session.trace(inputs, observe), wanted, "trace");
  for (const char* name : {"x", "r0", "q1", "c2", "y"})
    EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 1) << name;
}

std::string refused_plan(const std::function<void(Placed& placed_jointly)>& change) {
  Package package = placed_jointly();
  auto plan = std::make_shared<Placed>(*package.placed);
  change(*plan);
  package.placed = plan;
  try {
    PlacedSession(through_a_file(package), {});
  } catch (const Error& e) {
    return cat(e.exit_code(), " ", e.what());
  }
  return "accepted";
}

TEST(JointPackage, DamagedPlansAreRefused) {
  const std::string damaged = "3 the plan is damaged: ";
  const auto first_with_steps = [](Placed& p) -> PlacedSegment& {
    return *std::find_if(p.segments.begin(), p.segments.end(),
                         [](const PlacedSegment& s) { return s.steps.size() > 1; });
  };
  EXPECT_EQ(refused_plan([](Placed&) {}), "accepted");
  EXPECT_EQ(refused_plan([&](Placed& p) { first_with_steps(p).steps.pop_back(); }),
            damaged + "no segment has one of the steps");
  EXPECT_EQ(refused_plan([&](Placed& p) { first_with_steps(p).steps.push_back(1 << 20); }),
            damaged + "step 1048576 is not one segment's, in its order");
  EXPECT_EQ(refused_plan([&](Placed& p) {
              std::swap(first_with_steps(p).steps[0], first_with_steps(p).steps[1]);
            }).substr(0, 28),
            damaged + "step ");
  EXPECT_EQ(refused_plan([&](Placed& p) { first_with_steps(p).inputs[0] = -1; }).substr(0, 31), damaged + "segment ");
  // A step of another segment writes what this one does not list.
  EXPECT_EQ(refused_plan([](Placed& p) { std::swap(p.segments.front().steps, p.segments.back().steps); }),
            damaged + "a segment uses a value that it does not list");
  EXPECT_EQ(refused_plan([](Placed& p) { p.whole = nullptr; }).substr(0, damaged.size()), damaged);
}

}  // namespace
}  // namespace dnn::place
