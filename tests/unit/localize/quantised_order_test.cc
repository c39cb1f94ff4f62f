// Integers in another order than the source's weights are put back, and not rounded anew.
#include "localize/quantised_order.h"

#include <gtest/gtest.h>

#include <numeric>

#include "convert/surgery.h"
#include "unit/localize/quantised_graphs.h"

namespace dnn {
namespace {

const char* const kTwoLayers = R"(graph "source" {
  input x: float32[1,4,5,5]
  const w: float32[6,4,3,3] = random(1)
  const b: float32[6] = {0.5, -0.25, 0.75, 1, -0.5, 0.3}
  const u: float32[24,6,1,1] = random(2)
  const a: float32[24] = random(3)
  c = Conv(x, w, b) @first
  r = Relu(c) @act
  y = Conv(r, u, a) @last
  output y
})";

NodeId node_called(const Graph& graph, const std::string& name) {
  for (NodeId id : graph.order()) {
    if (graph.node(id).name == name) return id;
  }
  return -1;
}
Tensor first_integers(const Graph& graph) {
  return *graph.constant(graph.node(node_called(graph, "first_dequantize")).input(0));
}

Graph with_order(const Graph& graph, const IntegerOrder& order) {
  const Tensor before = first_integers(graph);
  const std::vector<double> there = to_doubles(before);
  const auto rows = weight_rows(graph.node(node_called(graph, "first")), before.shape(), there);
  std::vector<double> numbers;
  for (size_t at : elements_in_order(order, before.shape(), *rows)) numbers.push_back(there[at]);
  Graph changed = graph;
  set_constant(changed, node_called(graph, "first_dequantize"), 0,
               convert(Tensor::of<double>(before.shape(), numbers), DType::Int8), "changed");
  infer_types(changed);
  return changed;
}

struct OrderCase {
  IntegerOrder order;
  const char* what;
};
const std::vector<OrderCase> kOrderCases = {
    {{{}, {2, 3}, {}}, "weights kernel rotated by 180 degrees"},
    {{{0, 1, 3, 2}, {}, {}}, "weights axes permuted"},
    {{{}, {1}, {}}, "weights channels reversed"},
    {{{0, 1, 3, 2}, {3}, {}}, "weights axes permuted, axis 2 reversed"},
    {{{}, {}, {0, 3, 2, 1, 4, 5}}, "weights: 2 rows in another order"},
    {{{}, {}, {1, 2, 0, 3, 5, 4}}, "weights: 5 rows in another order"},
};

// The one fault is named, and its edit gives back every integer that the quantiser had chosen.
void expect_put_back(const Graph& source, const Graph& healthy, const OrderCase& c) {
  const Graph target = with_order(healthy, c.order);
  const QuantisedPair pair = pair_of(source, target);
  ASSERT_EQ(pair.verdict().faults.size(), 1u) << c.what;
  const QuantisedFault& fault = pair.verdict().faults[0];
  EXPECT_EQ(fault.what, c.what);
  EXPECT_EQ(pair.written().node(fault.layer).name, "first");
  ASSERT_EQ(fault.edits.size(), 1u);
  EXPECT_EQ(fault.edits[0].key, "order") << c.what;
  const std::vector<Edit> edits = parse_edits(edits_json(fault.edits), "edits");
  EXPECT_EQ(edits, fault.edits);
  Graph mended = target;
  EditSource from(source);
  apply_edits(edits, from, mended);
  EXPECT_TRUE(first_integers(mended).identical(first_integers(healthy))) << c.what;
}

TEST(QuantisedOrder, IntegersInAnotherOrderArePutBack) {
  const Graph source = typed(kTwoLayers);
  for (const OrderCase& c : kOrderCases) expect_put_back(source, quantised(source), c);
}

// Rounded anew, by factors that are told from integers, some would be another's.
TEST(QuantisedOrder, SoAreThoseOfScaledChannels) {
  const Graph source = typed(kTwoLayers);
  Graph equal = source;
  scale_between(equal, source, values_between(source).at(0), {0.5, 1, 0.2, 0.03, 0.8, 0.35});
  infer_types(equal);
  for (const OrderCase& c : kOrderCases) expect_put_back(source, quantised(equal), c);
}

// Rounded otherwise than to nearest, which is the quantiser's own choice: another rounding is not what was there.
TEST(QuantisedOrder, AdaptivelyRoundedIntegersStayWhatTheyAre) {
  const Graph source = typed(kTwoLayers);
  Graph healthy = quantised(source);
  for (const char* layer : {"first", "last"}) {
    const NodeId id = node_called(healthy, std::string(layer) + "_dequantize");
    const Tensor before = *healthy.constant(healthy.node(id).input(0));
    const Tensor weights = *source.constant(source.node(node_called(source, layer)).input(1));
    const std::vector<double> real = to_doubles(weights),
                              scales = to_doubles(*healthy.constant(healthy.node(id).input(1)));
    std::vector<double> numbers = to_doubles(before);
    const size_t width = numbers.size() / scales.size();
    for (size_t i = 0; i < numbers.size(); i += 2)
      numbers[i] = std::clamp(std::floor(real[i] / scales[i / width]), -127.0, 127.0);
    set_constant(healthy, id, 0, convert(Tensor::of<double>(before.shape(), numbers), DType::Int8), "adapted");
  }
  infer_types(healthy);
  ASSERT_TRUE(pair_of(source, healthy).verdict().faults.empty());
  expect_put_back(source, healthy, kOrderCases[0]);
}

// With this node between the integers of the first layer and the layer.
Graph with_node_between(const Graph& graph, const std::string& op, Attributes attributes, const Tensor* second) {
  Graph changed = graph;
  const NodeId layer = node_called(changed, "first");
  Node node;
  node.op = op;
  node.name = "between";
  node.inputs = {changed.node(layer).input(1)};
  node.attributes = std::move(attributes);
  if (second != nullptr) node.inputs.push_back(changed.add_constant("second", *second));
  node.outputs = {changed.add_value("moved_weights")};
  changed.node(layer).inputs[1] = node.outputs[0];
  changed.add_node(std::move(node));
  infer_types(changed);
  return changed;
}

// A node on the way that moves numbers is made up for where the integers lie; one that brings them into the right order is no fault.
TEST(QuantisedOrder, IntegersThatAreMovedOnTheirWayArePutWhereTheyAreReadRight) {
  const Graph source = typed(kTwoLayers), healthy = quantised(source);
  const Tensor reversed = Tensor::of<int64_t>({4}, {3, 2, 1, 0});
  const Graph turned = with_node_between(healthy, "Transpose", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}, nullptr);
  const Graph gathered = with_node_between(healthy, "Gather", {{"axis", int64_t{1}}}, &reversed);
  const auto numbers_of = [](const Graph& graph) {
    return quantised_constant(graph, Uses(graph), node_called(graph, "first"), 1)->numbers;
  };
  for (const auto& [target, what] :
       {std::pair(&turned, "weights axes permuted"), {&gathered, "weights channels reversed"}}) {
    const QuantisedPair pair = pair_of(source, *target);
    ASSERT_EQ(pair.verdict().faults.size(), 1u) << what;
    const QuantisedFault& fault = pair.verdict().faults[0];
    EXPECT_EQ(fault.what, what);
    ASSERT_EQ(fault.edits.size(), 1u) << what;
    Graph mended = *target;
    EditSource from(source);
    apply_edits(fault.edits, from, mended);
    EXPECT_EQ(numbers_of(mended), numbers_of(healthy)) << what;
    infer_types(mended);
    EXPECT_TRUE(pair_of(source, mended).verdict().faults.empty()) << what;
    // A row that is wrong beside the right order is quantised again where it lies.
    Edit rows = fault.edits[0];
    rows.key = "integers";
    rows.numbers.clear();
    rows.perm.clear();
    rows.rows = {0, 1, 2, 3, 4, 5};
    Graph anew = *target;
    apply_edits({rows}, from, anew);
    EXPECT_EQ(numbers_of(anew), numbers_of(healthy)) << what;
  }
}

// A Gather that takes an element twice is no order.
TEST(QuantisedOrder, NumbersThatAreChosenAreNoConstant) {
  const Graph healthy = quantised(typed(kTwoLayers));
  const Tensor twice = Tensor::of<int64_t>({4}, {0, 1, 1, 3});
  const Graph chosen = with_node_between(healthy, "Gather", {{"axis", int64_t{1}}}, &twice);
  EXPECT_FALSE(quantised_constant(chosen, Uses(chosen), node_called(chosen, "first"), 1));
}

// Axes of one element each have no order, however much integers are as they are.
TEST(QuantisedOrder, AxesOfOneElementAreNoOrder) {
  const Graph source = typed(kTwoLayers), target = quantised(source);
  const NodeId layer = node_called(target, "last");
  const auto held = held_rows(source, target, Uses(target), {node_called(source, "last"), layer, {}});
  ASSERT_TRUE(held);
  EXPECT_EQ(held->weights.shape, (Shape{24, 6, 1, 1}));
  EXPECT_FALSE(order_of(*held, {0}, {}, false));
}

TEST(QuantisedOrder, AnOrderThatDoesNotFitIsRefused) {
  const Graph source = typed(kTwoLayers), target = quantised(source);
  Edit edit;
  edit.kind = Edit::Kind::Quantised;
  edit.target = target.value(target.node(node_called(target, "first_dequantize")).output(0)).name;
  edit.key = "order";
  edit.input = 1;
  EditSource from(source);
  const auto refused = [&](const Edit& wrong) {
    Graph changed = target;
    EXPECT_THROW(apply_edits({wrong}, from, changed), Error);
  };
  Edit rank = edit, extents = edit, axis = edit, rows = edit, row = edit;
  rank.perm = {1, 0};
  extents.perm = {1, 0, 2, 3};
  axis.numbers = {4};
  rows.rows = {1, 0};
  row.rows = {0, 1, 2, 3, 4, 6};
  for (const Edit& wrong : {rank, extents, axis, rows, row}) refused(wrong);
}

}  // namespace
}  // namespace dnn
