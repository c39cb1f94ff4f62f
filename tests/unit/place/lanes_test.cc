// Several runs on their way at once: the bits of one at a time, lanes in turn, failures that stay with their run, and the search for throughput.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/affinity.h"
#include "base/error.h"
#include "base/io.h"
#include "graph/text.h"
#include "infer/runner.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "package/file.h"
#include "package/placed.h"
#include "place/measure.h"
#include "place/package.h"
#include "place/pipeline.h"
#include "place/routing_text.h"
#include "place/throughput.h"
#include "unit/place/options.h"

namespace dnn::place {
namespace {

Graph row_of_layers() {
  return parse_graph(R"(graph "net" {
  opset 21
  input x: float32[1,4,8,8]
  a = Relu(x) @a
  b = Sigmoid(a) @b
  c = Abs(b) @c
  d = Exp(c) @d
  e = GlobalAveragePool(d) @e
  output e
})");
}

Tensor numbered_input(int n) {
  Tensor input(DType::Float32, {1, 4, 8, 8});
  for (int64_t i = 0; i < input.size(); ++i)
    input.mutable_data<float>()[i] = static_cast<float>((i * 7 + n * 13) % 29 - 11) / 8;
  return input;
}

std::vector<Part> two_references() { return parse_parts("C=reference,D=reference"); }

// One way in two stages, or each run whole on one of the devices.
Routing staged(const Graph& graph, size_t lanes) {
  std::vector<size_t> places(graph.node_slots(), 0);
  for (size_t i = 2; i < graph.order().size(); ++i) places[graph.order()[i]] = 1;
  return {{places}, std::vector<size_t>(lanes, 0)};
}

Routing dealt(const Graph& graph, const std::vector<size_t>& lanes) {
  return {{std::vector<size_t>(graph.node_slots(), 0), std::vector<size_t>(graph.node_slots(), 1)}, lanes};
}

// All runs have the bits that the interpreter gives, in the order in which they began.
void expect_stream(ParallelSession& session, const Graph& graph, int runs) {
  int begun = 0;
  for (int done = 0; done < runs; ++done) {
    for (; begun < runs && begun - done < static_cast<int>(session.most_in_flight()); ++begun)
      session.submit({numbered_input(begun)});
    const std::vector<Tensor> outputs = session.collect();
    ASSERT_TRUE(outputs[0].identical(interpret(graph, {numbered_input(done)})[0])) << done;
    EXPECT_GT(session.latency_ns(), 0);
  }
}

TEST(Lanes, GiveTheBitsOfOneRunAtATime) {
  const Graph graph = ready_to_place(row_of_layers());
  for (size_t lanes : {1u, 2u, 3u, 7u})
    expect_stream(*open_routing(graph, two_references(), staged(graph, lanes), options(0)), graph, 25);
  for (const std::vector<size_t>& lanes : {std::vector<size_t>{0, 1}, {0, 0, 1, 0}, {0, 1, 0, 1}})
    expect_stream(*open_routing(graph, two_references(), dealt(graph, lanes), options(0)), graph, 25);
}

// The processors of this machine share one package's memory out, of which each lane has its own.
TEST(Lanes, OfProcessorsThatShareOnePackageKeepApart) {
  const std::vector<int> cores = allowed_processors();
  if (cores.size() < 2) GTEST_SKIP() << "one processor";
  const Graph graph = ready_to_place(row_of_layers());
  const std::vector<Part> parts = parse_parts(cat("C=cpu@", cores[0], ",D=cpu@", cores[1]));
  const auto one = open_routing(graph, parts, staged(graph, 1), options(3));
  const auto three = open_routing(graph, parts, staged(graph, 3), options(3));
  ASSERT_EQ(three->most_in_flight(), 3u);
  int begun = 0;
  for (int done = 0; done < 40; ++done) {
    for (; begun < 40 && begun - done < 3; ++begun) three->submit({numbered_input(begun)});
    ASSERT_TRUE(three->collect()[0].identical(one->run({numbered_input(done)})[0])) << done;
  }
}

// The first stage is at the next run while the second one is at this.
TEST(Lanes, StagesWorkAtOnce) {
  class SlowSession : public Session {
   public:
    explicit SlowSession(std::unique_ptr<Session> inner)
        : Session(std::make_shared<Package>(inner->package())), inner_(std::move(inner)) {}
    std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      return inner_->run(inputs);
    }
    std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& o) override {
      return inner_->trace(inputs, o);
    }

   private:
    std::unique_ptr<Session> inner_;
  };
  const Graph graph = ready_to_place(row_of_layers());
  Plan plan = cut_into_segments(graph, staged(graph, 1).ways[0]);
  Lane lane;
  for (const Segment& segment : plan.segments)
    lane.sessions.push_back(std::make_shared<SlowSession>(open_alone(
        compile_segment(segment, two_references()[segment.part], options(0)), two_references()[segment.part])));
  ParallelSession session({plan}, two_references(), {lane, lane});
  session.submit({numbered_input(0)});
  session.submit({numbered_input(1)});
  session.collect();
  const SegmentTime second_stage = session.times()[1];
  session.collect();
  // Both began at nearly the same time.
  EXPECT_LT(session.times()[0].begin_ns, second_stage.end_ns);
}

class FailsOnce : public Session {
 public:
  FailsOnce(std::unique_ptr<Session> inner, int at)
      : Session(std::make_shared<Package>(inner->package())), inner_(std::move(inner)), at_(at) {}
  std::vector<Tensor> run(const std::vector<Tensor>& inputs) override {
    if (runs_++ == at_) fail_environment("gone");
    return inner_->run(inputs);
  }
  std::vector<Tensor> trace(const std::vector<Tensor>& inputs, const Observer& o) override {
    return inner_->trace(inputs, o);
  }

 private:
  std::unique_ptr<Session> inner_;
  int at_, runs_ = 0;
};

TEST(Lanes, AFailureIsThatOfItsRunAlone) {
  const Graph graph = ready_to_place(row_of_layers());
  const std::vector<Part> parts = two_references();
  for (size_t failing : {0u, 1u}) {
    Plan plan = cut_into_segments(graph, staged(graph, 1).ways[0]);
    Lane lane;
    for (const Segment& segment : plan.segments)
      lane.sessions.push_back(std::make_shared<FailsOnce>(
          open_alone(compile_segment(segment, parts[segment.part], options(0)), parts[segment.part]),
          segment.part == failing ? 3 : -1));
    ParallelSession session({plan}, parts, {lane, lane, lane});
    int begun = 0, failures = 0;
    for (int done = 0; done < 12; ++done) {
      for (; begun < 12 && begun - done < 3; ++begun) session.submit({numbered_input(begun)});
      try {
        ASSERT_TRUE(session.collect()[0].identical(interpret(graph, {numbered_input(done)})[0])) << done;
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()),
                  failing == 0 ? "part C (reference), a .. b: gone" : "part D (reference), c .. e: gone");
        EXPECT_EQ(done, 3);
        ++failures;
      }
    }
    EXPECT_EQ(failures, 1);
  }
}

std::shared_ptr<const Package> read_again(const Package& package) {
  const PackageKey key{std::string(32, 'k')};
  StringSink sink;
  write_package(package, sink, key);
  const auto owner = std::make_shared<const std::string>(sink.take());
  return parse_package(as_bytes(*owner), owner, key).package;
}

Package placed_as(const Routing& routing) {
  const Graph graph = row_of_layers();
  return make_placed(graph, ready_to_place(graph), two_references(), routing, options(0));
}

TEST(Lanes, ArePartOfAPackage) {
  const Graph graph = ready_to_place(row_of_layers());
  for (const Routing& routing : {staged(graph, 3), dealt(graph, {0, 1, 0, 1})}) {
    const std::shared_ptr<const Package> package = read_again(placed_as(routing));
    EXPECT_EQ(package->placed->lanes, routing.lanes);
    for (size_t in_flight : {0u, 1u, 2u}) {
      PlacedSession session(package, {{}, in_flight});
      EXPECT_EQ(session.most_in_flight(), in_flight == 0 ? routing.lanes.size() : in_flight);
      for (int i = 0; i < 5; ++i)
        ASSERT_TRUE(session.run({numbered_input(i)})[0].identical(interpret(graph, {numbered_input(i)})[0]));
      EXPECT_EQ(session.latency_ns().has_value(), session.most_in_flight() > 1);
    }
    EXPECT_TRUE(PlacedSession(package, {})
                    .trace({numbered_input(2)}, {})[0]
                    .identical(interpret(graph, {numbered_input(2)})[0]));
  }
  // One way alone has as many lanes as are asked for.
  EXPECT_EQ(PlacedSession(read_again(placed_as(staged(graph, 0))), {{}, 5}).most_in_flight(), 5u);
  try {
    const PlacedSession session(read_again(placed_as(dealt(graph, {0, 1}))), {{}, 3});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "this package has 2 ways for a run to take, and 2 runs at once at most, not 3");
  }
}

TEST(Lanes, OfADamagedPlanAreRefused) {
  const Graph graph = ready_to_place(row_of_layers());
  const auto refusal = [&](const std::function<void(Placed&)>& change) -> std::string {
    Package package = placed_as(dealt(graph, {0, 1}));
    auto plan = std::make_shared<Placed>(*package.placed);
    change(*plan);
    package.placed = plan;
    try {
      read_again(package);
    } catch (const Error& e) {
      return cat(e.exit_code(), " ", e.what());
    }
    return "accepted";
  };
  const std::string damaged = "3 the plan is damaged: ";
  EXPECT_EQ(refusal([](Placed&) {}), "accepted");
  EXPECT_EQ(refusal([](Placed& p) { p.lanes = {0, 2}; }), damaged + "a lane is of way 2");
  EXPECT_EQ(refusal([](Placed& p) { p.lanes = {1, 0}; }), damaged + "the first lane is of way 1");
  EXPECT_EQ(refusal([](Placed& p) { p.lanes = {}; }), damaged + "2 ways");
  EXPECT_EQ(refusal([](Placed& p) { p.lanes.assign(257, 0); }), damaged + "257 lanes");
  EXPECT_EQ(refusal([](Placed& p) { p.segments.back().way = 2; }), damaged + "no segment makes output \"e\"");
  EXPECT_EQ(refusal([](Placed& p) { p.segments.back().way = 4000000000U; }), damaged + "4000000001 ways");
  EXPECT_EQ(refusal([](Placed& p) { p.segments.back().way = 0; }), damaged + "a lane is of way 1");
}

TEST(RoutingText, GivesThePlacementAgain) {
  const Graph graph = ready_to_place(row_of_layers());
  const std::vector<Part> parts = two_references();
  for (const Routing& routing : {staged(graph, 0), staged(graph, 3), dealt(graph, {0, 1, 0})}) {
    const std::string text = routing_text(graph, parts, routing);
    const Routing again = read_routing(graph, parts, text, "rules").routing;
    EXPECT_EQ(again.lanes, routing.lanes) << text;
    ASSERT_EQ(again.ways.size(), routing.ways.size()) << text;
    for (size_t w = 0; w < again.ways.size(); ++w) {
      for (NodeId id : graph.order()) EXPECT_EQ(again.ways[w][id], routing.ways[w][id]) << text;
    }
  }
  // The first letter's way is the first, whatever the device's place in the list.
  EXPECT_EQ(read_routing(graph, parts, "each D C", "rules").routing.lanes, (std::vector<size_t>{0, 1}));
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      read_routing(graph, parts, text, "rules");
    } catch (const Error& e) {
      return cat(e.exit_code(), " ", e.what());
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("each"), "2 rules:1: \"each\" wants letters of devices, as \"each C C D\"");
  EXPECT_EQ(refusal("# all\neach C X"), "2 rules:2: no device has the letter \"X\"");
  EXPECT_EQ(refusal("each C D\nC *"), "2 rules: \"each\" says all of where runs are; leave out the other lines");
  for (const char* text : {"in-flight 0", "in-flight", "in-flight many", "in-flight 257", "in-flight 2 3"})
    EXPECT_EQ(refusal(text), "2 rules:1: \"in-flight\" wants a number from 1 to 256") << text;
  EXPECT_EQ(refusal("in-flight 2\n\nX a").substr(0, 10), "2 rules:3:");
}

// A network of blocks in a row by their times on two or three devices.
NetworkCost costs(const std::vector<std::vector<double>>& us, CopyCost copy) {
  NetworkCost cost;
  for (const std::vector<double>& one : us) {
    BlockCost& block = cost.blocks.emplace_back();
    block.join_us = one;
    block.branch_us.resize(one.size());
    block.bytes_in = 1000;
  }
  cost.copy.assign(us[0].size(), std::vector<CopyCost>(us[0].size(), copy));
  return cost;
}

// The longest stage of the best cut by trying every device for every block.
double exhaustive(const NetworkCost& cost) {
  const size_t n = cost.blocks.size(), devices = cost.devices();
  double best = 1e300;
  std::vector<size_t> on(n, 0);
  for (;;) {
    std::vector<double> load(devices, 0);
    bool again = false;
    std::vector<bool> left(devices, false);
    for (size_t k = 0; k < n; ++k) {
      load[on[k]] += cost.blocks[k].join_us[on[k]];
      if (k == 0 || on[k] == on[k - 1]) continue;
      load[on[k]] += cost.copy[on[k - 1]][on[k]].of(cost.blocks[k].bytes_in);
      left[on[k - 1]] = true;
      again = again || left[on[k]];
    }
    const bool several = std::count(on.begin(), on.end(), on[0]) != static_cast<std::ptrdiff_t>(n);
    if (several && !again) best = std::min(best, *std::max_element(load.begin(), load.end()));
    size_t k = 0;
    while (k < n && ++on[k] == devices) on[k++] = 0;
    if (k == n) return best;
  }
}

TEST(Stages, AreThoseThatTryingAllOfThemFinds) {
  uint32_t state = 7;
  const auto random = [&] { return static_cast<double>((state = state * 1664525 + 1013904223) >> 22); };
  for (int i = 0; i < 60; ++i) {
    const size_t devices = 2 + i % 2;
    std::vector<std::vector<double>> us(2 + i % 6);
    for (std::vector<double>& block : us) {
      for (size_t d = 0; d < devices; ++d) block.push_back(1 + random());
    }
    const NetworkCost cost = costs(us, {random() / 20, 0.01});
    const Stages stages = search_stages(cost, std::vector<double>(devices, 1));
    EXPECT_DOUBLE_EQ(stages.us, exhaustive(cost)) << i;
    EXPECT_TRUE(std::is_sorted(stages.of_blocks.begin(), stages.of_blocks.end()));
    EXPECT_EQ(stages.of_blocks.back(), stages.devices.size() - 1);
  }
  // A device that is slower beside others gets less.
  const NetworkCost even = costs(std::vector<std::vector<double>>(6, {10, 10}), {0, 0});
  const Stages uneven = search_stages(even, {1, 2});
  EXPECT_EQ(uneven.us, 40);
  EXPECT_TRUE(search_stages(costs({{10, 10}}, {}), {1, 1}).devices.empty());
}

TEST(Deal, GivesEachDeviceItsShare) {
  EXPECT_EQ(deal({10, 10}, 2), (std::vector<size_t>{0, 1, 0, 1}));
  EXPECT_EQ(deal({10, 30}, 1), (std::vector<size_t>{0, 0, 1, 0}));
  EXPECT_EQ(deal({30, 10}, 1), (std::vector<size_t>{1, 0, 1, 1}));
  EXPECT_EQ(deal({10, 100}, 2), (std::vector<size_t>{0, 0}));  // too slow to wait for
  EXPECT_EQ(deal({}, 2), std::vector<size_t>());
  EXPECT_DOUBLE_EQ(dealt_us({0, 1, 0, 1}, {10, 12}), 6);
  EXPECT_DOUBLE_EQ(dealt_us({0, 0, 1, 0}, {10, 30}), 7.5);
}

TEST(FindStreamRouting, MeasuresAndNeverTakesAWorseOne) {
  const std::vector<int> cores = allowed_processors();
  if (cores.size() < 2) GTEST_SKIP() << "one processor";
  const Graph graph = ready_to_place(row_of_layers());
  const std::vector<Part> parts = parse_parts(cat("C=cpu@", cores[0], ",D=cpu@", cores[1]));
  const FoundStream found = find_stream_routing(graph, parts, options(3), 10);
  ASSERT_EQ(found.singles.size(), 3u);
  ASSERT_FALSE(found.shared.empty());
  const double best = found.singles[found.best_single].us;
  for (const StreamWay& way : found.singles) EXPECT_GE(way.us, best);
  EXPECT_EQ(found.worth_it, best >= 1.05 * found.shared[found.best_shared].us);
  EXPECT_GT(found.bound_us, 0);
  EXPECT_EQ(&found.chosen(), found.worth_it ? &found.shared[found.best_shared] : &found.singles[found.best_single]);
  const std::string text = found_text(found);
  for (const char* words : {" alone: ", " a second", "bound sum(1/t): ", "each whole on one of "})
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  EXPECT_NE(text.find(found.worth_it ? "chosen: " : "not worth it: all runs on "), std::string::npos) << text;
  const auto session = open_routing(graph, found.chosen().parts, found.chosen().routing, options(3));
  EXPECT_EQ(session->run({numbered_input(1)}).size(), 1u);
}

class Inputs : public SampleSource {
 public:
  std::optional<int64_t> count() const override { return 9; }
  std::optional<Load> next() override {
    if (next_ == 9) return std::nullopt;
    return [id = next_++] {
      LoadedSample sample;
      sample.id = id;
      if (id == 4) {
        sample.error = Error(ErrorKind::Malformed, "bad");
      } else {
        sample.inputs = {numbered_input(static_cast<int>(id))};
      }
      return sample;
    };
  }

 private:
  int64_t next_ = 0;
};

// The records of a run with as many on their way, times left out.
std::vector<std::string> stream_of(const std::shared_ptr<const Package>& package, size_t in_flight,
                                   RunSummary* summary) {
  PlacedSession session(package, {{}, in_flight});
  const BatchPlan plan = plan_batch(*package);
  RunOptions options;
  options.in_flight = session.most_in_flight();
  options.full_outputs = true;
  options.iterations = 2;
  StringSink sink;
  stream::Writer writer(sink);
  writer.write(stream::Header());
  Inputs source;
  *summary = Runner(
                 session, plan, options, writer, [](const std::string&) {}, [](int64_t) {})
                 .run(source);
  writer.end();
  MemorySource bytes(as_bytes(sink.text()));
  stream::Reader reader(bytes, "run");
  std::vector<std::string> records;
  while (std::optional<stream::Record> record = reader.next()) {
    if (auto* prediction = std::get_if<stream::Prediction>(&*record)) {
      EXPECT_TRUE(prediction->latency_ns.has_value());
      EXPECT_EQ(prediction->done_ns.has_value(), session.most_in_flight() > 1);
      prediction->latency_ns = prediction->done_ns = std::nullopt;
    }
    records.push_back(stream::record_to_json(*record));
  }
  return records;
}

TEST(Runner, WritesTheSameStreamWithSeveralOnTheirWay) {
  const Graph graph = ready_to_place(row_of_layers());
  for (const Routing& routing : {staged(graph, 3), dealt(graph, {0, 1, 0, 1})}) {
    const std::shared_ptr<const Package> package = read_again(placed_as(routing));
    RunSummary one, several;
    const std::vector<std::string> records = stream_of(package, 1, &one);
    EXPECT_GT(records.size(), 20u);
    EXPECT_EQ(stream_of(package, 0, &several), records);
    EXPECT_EQ(one.n_samples, several.n_samples);
    EXPECT_EQ(one.n_runs, several.n_runs);
    EXPECT_EQ(several.n_failed, 1);
    EXPECT_GT(several.values.at("throughput"), 0);
  }
}

}  // namespace
}  // namespace dnn::place
