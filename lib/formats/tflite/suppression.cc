// Ranks for scores, and places of their own for boxes without area; see suppression.h.
#include "formats/tflite/suppression.h"

#include "formats/definitions.h"

namespace dnn::tflite {
namespace {

ValueId with_flat_boxes_apart(Decomposition& s, int64_t n) {
  std::vector<float> places;
  for (int64_t i = 0; i < n; ++i) {
    const auto from = static_cast<float>(2 * i + 1);
    places.insert(places.end(), {from, 0.0F, from + 1, 1.0F});
  }
  const auto column = [&](int64_t which) { return s.emit("Gather", {s.x(), s.list({which})}, {{"axis", int64_t{2}}}); };
  const ValueId height = s.emit("Sub", {column(2), column(0)}), width = s.emit("Sub", {column(3), column(1)});
  const ValueId flat = s.emit("Equal", {s.emit("Mul", {height, width}), s.number(0)});
  const ValueId most = s.emit("ReduceMax", {s.emit("Abs", {s.x()}), s.list({1, 2})});
  const ValueId beyond = s.emit("Add", {most, s.store("beyond", dnn::Tensor::of<float>({1, n, 4}, places))});
  return s.emit("Where", {flat, beyond, s.x()});
}

// The last is the best: n, n - 1, ..., 1; -1 where the score is not above the bound.
ValueId ranks(Decomposition& s, ValueId sorted, int64_t n) {
  std::vector<float> ranks;
  for (int64_t i = n; i > 0; --i) ranks.push_back(static_cast<float>(i));
  const ValueId all = s.store("ranks", dnn::Tensor::of<float>({1, 1, n}, ranks));
  if (s.node().input(4) == kNoValue) return all;
  return s.emit("Where", {s.emit("Greater", {sorted, s.node().inputs[4]}), all, s.number(-1)});
}

bool settled(Decomposition& s) {
  constexpr int64_t kMostRanks = int64_t{1} << 24;  // that float32 tells apart
  if (!s.fixed(0) || s.rank() != 3 || s.node().input(2) == kNoValue || s.shape(s.x())[1] < 1) return false;
  const int64_t n = s.shape(s.x())[1];
  if (n > kMostRanks) return false;
  const ValueId sorted = s.fresh("sorted"), order = s.fresh("order");
  s.end("TopK", {s.node().inputs[1], s.list({n})}, {{"axis", int64_t{-1}}}, {sorted, order});
  const ValueId places = s.emit("Reshape", {order, s.list({n})});
  const ValueId boxes = s.emit("Gather", {with_flat_boxes_apart(s, n), places}, {{"axis", int64_t{1}}});
  const ValueId none = s.store("none", dnn::Tensor::of<float>({1}, {0.0F}));
  const ValueId overlap = s.node().input(3) == kNoValue ? none : s.node().inputs[3];
  const std::vector<ValueId> inputs = {boxes, ranks(s, sorted, n), s.node().inputs[2], overlap, none};
  const ValueId chosen = s.emit("NonMaxSuppression", inputs);
  const ValueId rows = s.emit("Gather", {chosen, s.list({2})}, {{"axis", int64_t{1}}});
  s.end("Pad", {s.emit("Gather", {places, rows}, {{"axis", int64_t{0}}}), s.list({0, 2, 0, 0})});
  return true;
}

}  // namespace

void settle_suppression(Graph& graph) {
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const Node& node = graph.node(id);
    if (node.op != "NonMaxSuppression" || !node.domain.empty()) continue;
    Patch patch(graph, cat(node.label(), " sorts its boxes"));
    Decomposition s(graph, patch, node);
    if (!settled(s)) continue;
    patch.remove_node(id);
    patch.apply(graph);
  }
  infer_types(graph);
}

}  // namespace dnn::tflite
