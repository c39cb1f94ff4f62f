// Placed packages: what is written is read, runs to the bits of its segments, and is refused where its plan is damaged.
#include "place/package.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/affinity.h"
#include "base/error.h"
#include "graph/text.h"
#include "infer/trace.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "package/file.h"
#include "place/automatic.h"
#include "place/measure.h"
#include "place/rules.h"
#include "place/timeline.h"
#include "refused.h"
#include "unit/place/options.h"

namespace dnn::place {
namespace {

const PackageKey kKey{std::string(32, 'k')};

// Two branches of convolutions, a concatenation, a sum past a branch, a pool and a product.
Graph packaged_network() {
  const auto numbers = [](int n) {
    std::vector<std::string> list;
    for (int i = 0; i < n; ++i) list.push_back(cat((i * 37 % 19 - 9) / 16.0));
    return join(list);
  };
  return parse_graph(cat(R"(graph "net" {
  opset 21
  input x: float32[1,3,8,8]
  const w0: float32[4,3,3,3] = {)",
                         numbers(108), R"(}
  const w1: float32[4,4,3,3] = {)",
                         numbers(144), R"(}
  const w2: float32[4,4,1,1] = {)",
                         numbers(16), R"(}
  const v: float32[8,5] = {)",
                         numbers(40), R"(}
  stem = Conv(x, w0) @stem {pads = [1, 1, 1, 1]}
  r = Relu(stem) @stem_relu
  a = Conv(r, w1) @left {pads = [1, 1, 1, 1]}
  a2 = Relu(a) @left_relu
  b = Conv(r, w2) @right
  c = Concat(a2, b) @join {axis = 1}
  d = Sigmoid(c) @gate
  e = Mul(c, d) @scaled
  p = GlobalAveragePool(e) @pool
  s = Shape(p) @shape
  const zero: int64[] = {0}
  n = Gather(s, zero) @gather
  const axes: int64[1] = {0}
  n1 = Unsqueeze(n, axes) @unsqueeze
  const rest: int64[1] = {-1}
  to = Concat(n1, rest) @to {axis = 0}
  f = Reshape(p, to) @flat
  y = MatMul(f, v) @product
  output y
})"));
}

std::vector<std::string> device_lists() {
  std::vector<std::string> lists = {"C=reference,D=reference", "C=reference,D=cpu"};
  const std::vector<int> cores = allowed_processors();
  if (cores.size() > 1) lists.push_back(cat("C=cpu@", cores[0], ",D=cpu@", cores[1]));
  if (!DeviceSpec("opencl").device().list({}).empty()) lists.push_back(cat("C=cpu@", cores.at(0), ",D=opencl:0"));
  return lists;
}

std::shared_ptr<const Package> written_and_read(const Package& package) {
  StringSink sink;
  write_package(package, sink, kKey);
  const auto owner = std::make_shared<const std::string>(sink.take());
  const OpenedPackage opened = parse_package(as_bytes(*owner), owner, kKey);
  EXPECT_TRUE(opened.trusted);
  return opened.package;
}

Package placed_on(const std::string& devices, const std::vector<size_t>& places, int opt) {
  const Graph graph = packaged_network(), ready = ready_to_place(graph);
  return make_placed(graph, ready, parse_parts(devices), {{places}}, options(opt));
}

std::vector<size_t> places_for(const std::string& rules, const std::string& devices) {
  return place_by_rules(ready_to_place(packaged_network()), parse_parts(devices), rules, "rules").places;
}

// As the rules say, divided layers included.
Package placed_by(const std::string& devices, const std::string& rules, int opt) {
  const Graph graph = packaged_network(), ready = ready_to_place(graph);
  const std::vector<Part> parts = parse_parts(devices);
  const Divided divided = divide(ready, place_by_rules(ready, parts, rules, "rules"));
  return make_placed(graph, divided.graph, parts, {{divided.places}}, options(opt));
}

// The outputs of the segments run one after another, each in a session of its own.
std::vector<Tensor> one_after_another(const Package& package, const std::vector<Tensor>& inputs) {
  const Plan plan = plan_of(package);
  const std::vector<Part> parts = parse_parts(join(package.placed->parts, ","));
  if (package.placed->whole != nullptr) return open_alone(package.placed->whole, parts[0])->run(inputs);
  std::vector<Tensor> values(plan.values);
  for (size_t i = 0; i < inputs.size(); ++i) values[static_cast<size_t>(plan.inputs[i])] = inputs[i];
  for (const PlacedSegment& s : package.placed->segments) {
    const auto session = open_alone(s.package, parts[s.part]);
    std::vector<Tensor> given;
    for (ValueId v : s.inputs) given.push_back(values[static_cast<size_t>(v)]);
    const std::vector<Tensor> made = session->run(given);
    for (size_t i = 0; i < made.size(); ++i) values[static_cast<size_t>(s.outputs[i])] = made[i];
  }
  std::vector<Tensor> outputs;
  for (ValueId v : plan.outputs) outputs.push_back(values[static_cast<size_t>(v)]);
  return outputs;
}

// Shapes are computed before the graph is cut, so that no part waits for them.
TEST(PlacedPackage, ArithmeticOnShapesIsNoPart) {
  const Graph ready = ready_to_place(packaged_network());
  for (NodeId id : ready.order()) EXPECT_NE(ready.node(id).op, "Shape");
}

// No layer makes a constant, one that a layer reads, too, the result of constants, or an input that is handed through.
TEST(PlacedPackage, OutputsMayBeConstantsAndInputs) {
  const Graph graph = parse_graph(R"(graph "net" {
  opset 28
  input x: float32[1,2,4,4]
  input z: float32[1,3]
  const k: float32[2] = {5, 7}
  const b: float32[1,2,1,1] = {1, 2}
  const c: float32[2] = {3, 4}
  a = Relu(x) @stem
  d = Add(a, b) @right
  e = Neg(a) @left
  f = Concat(d, e) @join {axis = 1}
  m = Mul(k, c) @never
  output f
  output k
  output b
  output m
  output z
})");
  const std::vector<Tensor> inputs = inputs_for(graph);
  const std::vector<Tensor> expected = interpret(graph, inputs);
  const Graph ready = ready_to_place(graph);
  for (const std::string& devices : device_lists()) {
    for (const char* rules : {"C *", "C *\nD left", "D *\nC b"}) {
      for (const int opt : {0, 3}) {
        const std::vector<Part> parts = parse_parts(devices);
        const Divided divided = divide(ready, place_by_rules(ready, parts, rules, "rules"));
        const auto package =
            written_and_read(make_placed(graph, divided.graph, parts, {{divided.places}}, options(opt)));
        PlacedSession session(package, {});
        const std::vector<Tensor> given = session.run(inputs);
        ASSERT_EQ(given.size(), expected.size());
        for (size_t i = 0; i < given.size(); ++i)
          EXPECT_TRUE(given[i].identical(expected[i])) << i << " " << devices << " " << rules << " -O" << opt;
      }
    }
  }
}

TEST(PlacedPackage, WithoutNodesThereIsNothingToPlace) {
  const Graph graph = parse_graph("graph \"net\" {\n  opset 28\n  input x: float32[1,3]\n  output x\n}");
  EXPECT_EQ(refused([&] { ready_to_place(graph); }), "4 the network has no nodes, so that there is nothing to place");
}

TEST(PlacedPackage, GivesTheBitsOfEachDeviceAlone) {
  const std::vector<Tensor> inputs = inputs_for(packaged_network());
  const char* const placements[] = {"C *",
                                    "D *",
                                    "C *\nD left*",
                                    "C *\nD right\nD gate",
                                    "D *\nC stem .. stem_relu\nC product",
                                    "C+D *",
                                    "D *\nD:1+C:3 stem\nC+D right"};
  for (const std::string& devices : device_lists()) {
    for (const char* rules : placements) {
      const Package made = placed_by(devices, rules, 3);
      const std::shared_ptr<const Package> package = written_and_read(made);
      PlacedSession session(package, {});
      EXPECT_EQ(session.device(), devices);
      const std::vector<Tensor> wanted = one_after_another(made, inputs);
      for (int i = 0; i < 5; ++i) ASSERT_TRUE(session.run(inputs)[0].identical(wanted[0])) << devices << "\n" << rules;
    }
  }
}

// At level 0 the reference computes what the network says, however it is cut: all 2^n placements of the branches.
TEST(PlacedPackage, AnyPlacementOfTheReferenceIsTheNetwork) {
  const Graph graph = packaged_network(), ready = ready_to_place(graph);
  const std::vector<Tensor> inputs = inputs_for(graph);
  const Tensor wanted = interpret(graph, inputs)[0];
  const std::vector<Part> parts = parse_parts("C=reference,D=reference");
  const std::vector<NodeId>& order = ready.order();
  for (size_t bits = 0; bits < (size_t{1} << order.size()); bits += 7) {
    std::vector<size_t> places(static_cast<size_t>(ready.node_slots()), 0);
    for (size_t i = 0; i < order.size(); ++i) places[static_cast<size_t>(order[i])] = bits >> i & 1;
    PlacedSession session(std::make_shared<Package>(make_placed(graph, ready, parts, {{places}}, options(0))), {});
    ASSERT_TRUE(session.run(inputs)[0].identical(wanted)) << bits;
  }
}

TEST(PlacedPackage, IsWrittenTheSameAgain) {
  const Package made = placed_on("C=reference,D=cpu", places_for("C *\nD left*", "C=reference,D=cpu"), 3);
  StringSink once, again;
  write_package(*written_and_read(made), once, kKey);
  write_package(*written_and_read(*written_and_read(made)), again, kKey);
  EXPECT_EQ(once.take(), again.take());
}

TEST(PlacedPackage, OtherDevicesRefuseIt) {
  const auto package = written_and_read(placed_on("C=reference", places_for("C *", "C=reference"), 0));
  for (const char* device : {"cpu", "reference"}) {
    try {
      open_session(device, package);
      FAIL();
    } catch (const Error& e) {
      EXPECT_EQ(e.kind(), ErrorKind::Usage);
      EXPECT_NE(std::string(e.what()).find("placed on C=reference, not on"), std::string::npos);
    }
  }
}

TEST(PlacedPackage, TracesTheValuesOfTheSource) {
  const auto package = std::make_shared<Package>(
      placed_on("C=reference,D=reference", places_for("C *\nD left*", "C=reference,D=reference"), 0));
  const std::vector<Tensor> inputs = inputs_for(packaged_network());
  PlacedSession session(package, {});
  Graph graph = packaged_network();
  infer_types(graph);
  std::map<std::string, Tensor> wanted;
  interpret(graph, inputs, [&](const Graph& g, ValueId id, const Tensor& t) { wanted[g.value(id).name] = t; });
  const std::vector<stream::TensorRecord> records = trace_run(session, inputs);
  EXPECT_EQ(records.size(), graph.order().size() + 1);
  for (const stream::TensorRecord& record : records)
    EXPECT_TRUE(record.tensor.identical(wanted.at(record.name))) << record.name;
}

TEST(PlacedPackage, SaysWhenItsSegmentsRan) {
  const auto package = std::make_shared<Package>(
      placed_on("C=reference,D=reference", places_for("C *\nD left*", "C=reference,D=reference"), 0));
  PlacedSession session(package, {});
  session.enable_profile(true);
  const std::vector<Tensor> inputs = inputs_for(packaged_network());
  for (int i = 0; i < 3; ++i) session.run(inputs);
  ASSERT_EQ(session.runs().size(), 3u);
  const RunReport report = report_runs(session.parallel(), session.runs());
  EXPECT_EQ(report.copies, 2);
  EXPECT_EQ(report.copied_bytes, 2 * 4 * 64 * 4);
  EXPECT_EQ(report.merges, 1);
  EXPECT_GT(report.latency_us, 0);
  const std::string text = profile_text(report);
  for (const char* words : {"left .. left_relu", "(merges)", "2 copies of 2.0 KiB", "D (reference)  |", "idle"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
}

// A plan with one thing changed, as if it had been signed so.
std::string refused_package(const std::function<void(Placed& placed_on, Package& package)>& change) {
  const std::string devices = "C=reference,D=reference";
  Package package = placed_on(devices, places_for("C *\nD left*", devices), 0);
  auto plan = std::make_shared<Placed>(*package.placed);
  change(*plan, package);
  if (package.placed != nullptr) package.placed = plan;
  try {
    written_and_read(package);
  } catch (const Error& e) {
    return cat(e.exit_code(), " ", e.what());
  }
  return "accepted";
}

TEST(PlacedPackage, DamagedPlansAreRefused) {
  const auto plan_only = [](const std::function<void(Placed&)>& change) {
    return refused_package([&](Placed& placed_on, Package&) { change(placed_on); });
  };
  EXPECT_EQ(plan_only([](Placed&) {}), "accepted");
  const std::string damaged = "3 the plan is damaged: ";
  EXPECT_EQ(plan_only([](Placed& p) { p.segments[1].part = 2; }), damaged + "segment 1 is for part 2");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments.clear(); }), damaged + "it has no segments");
  EXPECT_EQ(plan_only([](Placed& p) { p.parts.clear(); }), damaged + "0 parts");
  EXPECT_EQ(plan_only([](Placed& p) { p.parts[0] = "C=cpu,D=cpu"; }), damaged + "a part is called \"C=cpu,D=cpu\"");
  EXPECT_EQ(plan_only([](Placed& p) { p.parts[0] = "C=\n"; }), damaged + "a part is called \"C=\\n\"");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments[1].inputs[0] = -1; }), damaged + "segment 1 names value -1");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments[1].outputs[0] = 1 << 20; }),
            damaged + "segment 1 names value 1048576");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments[1].inputs.pop_back(); }),
            damaged + "segment 1 lists 0 values, it has 1");
  // A circle, which would wait for ever.
  EXPECT_EQ(plan_only([](Placed& p) { std::swap(p.segments[0], p.segments[1]); }).substr(0, 35),
            damaged + "segment 0 re");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments.push_back(p.segments[0]); }).substr(0, 29), damaged + "value ");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments.pop_back(); }), damaged + "no segment makes output \"y\"");
  EXPECT_EQ(plan_only([](Placed& p) { p.segments[1].inputs[0] = 0; }).substr(0, 41), damaged + "segment 1 has valu");
}

TEST(PlacedPackage, APlanAndItsVariantBelongTogether) {
  const std::string damaged = "3 the plan is damaged: ";
  EXPECT_EQ(refused_package([](Placed&, Package& p) { p.placed = nullptr; }).substr(0, damaged.size()), damaged);
  EXPECT_EQ(refused_package([](Placed&, Package& p) { p.variants[0].target.backend = "c"; }).substr(0, damaged.size()),
            damaged);
  EXPECT_EQ(refused_package([](Placed& placed_on, Package& p) {
              auto segment = std::make_shared<Package>(*placed_on.segments[0].package);
              segment->placed = p.placed;
              placed_on.segments[0].package = segment;
            }),
            damaged + "segment 0 has no package");
}

class GoneSession : public Session {
 public:
  explicit GoneSession(std::shared_ptr<const Package> package) : Session(std::move(package)) {}
  std::vector<Tensor> run(const std::vector<Tensor>&) override { fail_environment("gone"); }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer&) override { return run(inputs); }
};

TEST(PlacedSession, AFailureOfTheCallersPartIsNamed) {
  const std::string devices = "C=reference,D=reference";
  const Package package = placed_on(devices, places_for("C *\nD left*", devices), 0);
  for (size_t failing = 0; failing < package.placed->segments.size(); ++failing) {
    std::vector<std::unique_ptr<Session>> sessions;
    const std::vector<Part> parts = parse_parts(devices);
    for (size_t s = 0; s < package.placed->segments.size(); ++s) {
      const PlacedSegment& segment = package.placed->segments[s];
      if (s == failing)
        sessions.push_back(std::make_unique<GoneSession>(segment.package));
      else
        sessions.push_back(open_alone(segment.package, parts[segment.part]));
    }
    ParallelSession session(plan_of(package), parts, std::move(sessions));
    for (int i = 0; i < 2; ++i) {
      try {
        session.run(inputs_for(packaged_network()));
        FAIL();
      } catch (const Error& e) {
        const PlacedSegment& segment = package.placed->segments[failing];
        EXPECT_EQ(std::string(e.what()), cat("part ", parts[segment.part].label(), ", ", segment.name, ": gone"));
      }
    }
  }
}

TEST(FindPlacement, MeasuresAndNeverTakesAWorseOne) {
  const std::vector<int> cores = allowed_processors();
  if (cores.size() < 2) GTEST_SKIP() << "one processor";
  const Graph graph = packaged_network(), ready = ready_to_place(graph);
  const std::vector<Part> parts = parse_parts(cat("C=cpu@", cores[0], ",D=cpu@", cores[1]));
  const Found found = find_placement(ready, parts, options(3), 10);
  ASSERT_EQ(found.singles.size(), 3u);  // both as one device, too
  for (const Single& single : found.singles) EXPECT_GE(single.latency.median, found.singles[found.best].latency.median);
  EXPECT_GT(found.bound_us, 0);
  EXPECT_TRUE(found.proved);
  // Whatever this machine measures, several devices are taken where their median says so, and no others.
  const double best = found.singles[found.best].latency.median;
  EXPECT_EQ(found.worth_it, found.placed.median > 0 && best >= 1.05 * found.placed.median);
  EXPECT_EQ(found.parts.size(), found.worth_it ? 2u : 1u);
  const std::vector<size_t>& places = found.placement.places;
  const bool moved = std::any_of(places.begin(), places.end(), [](size_t part) { return part != 0; });
  EXPECT_EQ(moved || !found.placement.divisions.empty(), found.worth_it);
  const std::string text = found_text(found);
  for (const char* words : {"alone: ", "bound 1/sum(1/t): ", "in the way: 1 of ",
                            "none of 4 layers is predicted to be faster divided over devices"})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_EQ(text.find("not worth it: all runs on ") == std::string::npos, found.worth_it) << text;
}

}  // namespace
}  // namespace dnn::place
