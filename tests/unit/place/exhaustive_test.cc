// The placement that the search finds against every placement of every node, on ten networks with tables of costs: by a simulation of the
// segments that knows neither blocks nor branches.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "graph/text.h"
#include "ops/op.h"
#include "place/costs.h"
#include "place/measure.h"
#include "place/plan.h"

namespace dnn::place {
namespace {

struct Case {
  const char* name;
  const char* nodes;                 // of the graph's text; x is float32[1,4,16,16]
  std::map<std::string, double> us;  // by node, on the first device
  double slower = 1;                 // the second device, as a multiple
  CopyCost copy = {2, 0.0005};
  std::map<std::string, double> other_us = {};  // on the second device, where it is no multiple
};

const std::vector<Case>& cases() {
  static const std::vector<Case> rows = {
      {"chain",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(b) @c\n d = Exp(c) @d\n output d",
       {{"a", 40}, {"b", 60}, {"c", 80}, {"d", 30}}},
      {"equal branches",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(a) @c\n d = Concat(b, c) @d {axis = 1}\n output d",
       {{"a", 20}, {"b", 100}, {"c", 100}, {"d", 5}}},
      {"unequal branches",
       "a = Relu(x) @a\n b = Neg(a) @b\n b2 = Exp(b) @b2\n c = Abs(a) @c\n d = Concat(b2, c) @d {axis = 1}\n output d",
       {{"a", 20}, {"b", 100}, {"b2", 90}, {"c", 60}, {"d", 5}}},
      {"inception",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(a) @c\n c2 = Exp(c) @c2\n d = Sqrt(a) @d\n d2 = Neg(d) @d2\n"
       " e = Sigmoid(a) @e\n f = Concat(b, c2, d2, e) @f {axis = 1}\n g = Relu(f) @g\n output g",
       {{"a", 30}, {"b", 40}, {"c", 25}, {"c2", 110}, {"d", 10}, {"d2", 60}, {"e", 35}, {"f", 4}, {"g", 12}}},
      {"two fire modules",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(a) @c\n d = Concat(b, c) @d {axis = 1}\n e = Exp(d) @e\n"
       " f = Neg(e) @f\n g = Abs(e) @g\n h = Concat(f, g) @h {axis = 1}\n output h",
       {{"a", 20}, {"b", 30}, {"c", 70}, {"d", 2}, {"e", 25}, {"f", 40}, {"g", 90}, {"h", 2}}},
      {"residual with a projection",
       "a = Relu(x) @a\n b = Neg(a) @b\n b2 = Exp(b) @b2\n p = Abs(a) @p\n s = Add(b2, p) @s\n r = Relu(s) @r\n output "
       "r",
       {{"a", 25}, {"b", 80}, {"b2", 80}, {"p", 50}, {"s", 6}, {"r", 4}}},
      {"gate that the join reads past",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(a) @c\n m = Mul(b, c) @m\n n = Add(m, a) @n\n output n",
       {{"a", 25}, {"b", 90}, {"c", 70}, {"m", 5}, {"n", 5}}},
      {"a slower second device",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(a) @c\n d = Exp(a) @d\n e = Concat(b, c, d) @e {axis = 1}\n output e",
       {{"a", 20}, {"b", 100}, {"c", 60}, {"d", 40}, {"e", 5}},
       2.5},
      {"handing over costs more than it gains",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(a) @c\n d = Concat(b, c) @d {axis = 1}\n output d",
       {{"a", 20}, {"b", 50}, {"c", 50}, {"d", 5}},
       1,
       {60, 0.001}},
      {"layers that suit different devices",
       "a = Relu(x) @a\n b = Neg(a) @b\n c = Abs(b) @c\n d = Exp(c) @d\n e = Sqrt(d) @e\n output e",
       {{"a", 100}, {"b", 120}, {"c", 90}, {"d", 10}, {"e", 8}},
       1,
       {12, 0.001},
       {{"a", 20}, {"b", 25}, {"c", 18}, {"d", 90}, {"e", 70}}}};
  return rows;
}

class Simulation {
 public:
  explicit Simulation(const Case& row) {
    graph_ = parse_graph(cat("graph \"g\" {\n opset 21\n input x: float32[1,4,16,16]\n ", row.nodes, "\n}"));
    infer_types(graph_);
    const auto slots = static_cast<size_t>(graph_.node_slots());
    measured_.devices.resize(2);
    measured_.copy.assign(2, std::vector<CopyCost>(2, row.copy));
    // A segment that ends and another that begins on one device: no more than a look at a list.
    for (size_t d = 0; d < 2; ++d) measured_.copy[d][d] = {0.5, 0};
    measured_.contention = {1, 1};
    for (size_t d = 0; d < 2; ++d) {
      DeviceCost& cost = measured_.devices[d];
      cost.node_us.assign(slots, 0);
      for (NodeId id : graph_.order()) {
        const std::string& name = graph_.node(id).name;
        double us = row.us.at(name) * (d == 1 ? row.slower : 1);
        if (d == 1 && !row.other_us.empty()) us = row.other_us.at(name);
        cost.node_us[static_cast<size_t>(id)] = us;
        cost.whole_us += us;
      }
      cost.busy_us = cost.node_us;
    }
  }

  // When the last segment ends: each begins when its device is free and what other segments made has arrived.
  double us(const std::vector<size_t>& places) const {
    const Plan plan = cut_into_segments(graph_, places);
    std::vector<size_t> maker(plan.values, SIZE_MAX);
    std::vector<double> end(plan.segments.size(), 0), free(2, 0);
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      const Segment& segment = plan.segments[s];
      std::map<size_t, int64_t> bytes;  // by segment that it reads from
      for (ValueId v : segment.inputs) {
        if (maker[static_cast<size_t>(v)] == SIZE_MAX) continue;
        const Type& type = graph_.value(v).type;
        bytes[maker[static_cast<size_t>(v)]] +=
            element_count(type.fixed_shape()) * static_cast<int64_t>(dtype_size(type.dtype));
      }
      double begin = free[segment.part];
      for (const auto& [from, size] : bytes)
        begin = std::max(begin, end[from] + measured_.copy[plan.segments[from].part][segment.part].of(size));
      for (NodeId id : segment.nodes) begin += measured_.devices[segment.part].node_us[static_cast<size_t>(id)];
      end[s] = free[segment.part] = begin;
      for (ValueId v : segment.outputs) maker[static_cast<size_t>(v)] = s;
    }
    return std::max(free[0], free[1]);
  }

  double least_of_all() const {
    const std::vector<NodeId>& order = graph_.order();
    double least = 1e300;
    for (size_t bits = 0; bits < (size_t{1} << order.size()); ++bits) {
      std::vector<size_t> places(static_cast<size_t>(graph_.node_slots()), 0);
      for (size_t i = 0; i < order.size(); ++i) places[static_cast<size_t>(order[i])] = bits >> i & 1;
      least = std::min(least, us(places));
    }
    return least;
  }

  double best_single() const { return std::min(measured_.devices[0].whole_us, measured_.devices[1].whole_us); }

  std::vector<size_t> found() const {
    const std::vector<Block> blocks = find_blocks(graph_);
    const Searched searched = search_placement(cost_of(blocks, measured_));
    EXPECT_TRUE(searched.proved);
    return places_of(graph_, blocks, searched.blocks);
  }

 private:
  Graph graph_;
  Measured measured_;
};

TEST(PlaceExhaustive, TheSearchIsWithinFivePercentOfAllPlacements) {
  ASSERT_EQ(cases().size(), 10u);
  int gains = 0;
  for (const Case& row : cases()) {
    const Simulation simulation(row);
    const double found = simulation.us(simulation.found()), least = simulation.least_of_all();
    EXPECT_LE(found, 1.05 * least) << row.name;
    gains += least < simulation.best_single() / kWorthIt ? 1 : 0;
  }
  EXPECT_GE(gains, 5);  // or one device would do for all
}

// With costs that are right, what is taken is never slower than the best device alone: also before both are measured against each other.
TEST(PlaceExhaustive, TheSearchIsNeverSlowerThanOneDevice) {
  for (const Case& row : cases()) {
    const Simulation simulation(row);
    EXPECT_LE(simulation.us(simulation.found()), 1.02 * simulation.best_single()) << row.name;
  }
}

}  // namespace
}  // namespace dnn::place
