// integer-maps: what stands between DequantizeLinear and QuantizeLinear of bytes, but for layers, on bytes: one operator that moves
// numbers, or one kernel of element-wise operators. What then remains of the two becomes element-wise itself.
//
// An operator that moves numbers may as well move integers: rounding to a grid comes before or after it. So may MaxPool, as rounding
// keeps the order of numbers. What computes element by element does so in float32, in the order that the file spells.
#include <algorithm>

#include "graph/locate.h"
#include "ops/op.h"
#include "passes/byte_grid.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// Integers, of the graph or of a patch of it, and the real numbers that they stand for.
struct Source {
  ValueId value;
  Grid grid;
  Type type;
};

std::optional<Source> source_of(const Graph& graph, const Uses& uses, ValueId value) {
  const NodeId maker = value == kNoValue ? -1 : uses.producer[value];
  if (maker < 0 || !is_op(graph.node(maker), "DequantizeLinear")) return std::nullopt;
  const Node& node = graph.node(maker);
  const std::optional<Grid> grid = grid_of(graph, node);
  if (!grid || graph.constant(node.inputs[0]) != nullptr || !graph.value(node.inputs[0]).type.fixed())
    return std::nullopt;
  return Source{node.inputs[0], *grid, graph.value(node.inputs[0]).type};
}

// An operator that fills gaps with a number of its own (Pad) is left to integer-arithmetic, where that number is on the grid.
bool moves(const Node& node) {
  return picked_inputs(node) > 0 && find_op(node.domain, node.op)->fill_input < 0 && node.outputs.size() == 1;
}

Node to_real(const Grid& grid, ValueId from, ValueId to) {
  Node node;
  node.op = "ToReal";
  node.domain = kInternalDomain;
  node.attributes = {{"scale", grid.scale}, {"zero_point", grid.zero}};
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

Node to_integer(const Grid& grid, const Bounds& kept, ValueId from, ValueId to) {
  Node node;
  node.op = "ToInteger";
  node.domain = kInternalDomain;
  node.attributes = {{"scale", grid.scale},
                     {"zero_point", grid.zero},
                     {"low", kept.low},
                     {"high", kept.high},
                     {"to", static_cast<int64_t>(grid.dtype)}};
  node.inputs = {from};
  node.outputs = {to};
  return node;
}

class ByteMap {
 public:
  ByteMap(const Graph& graph, const Uses& uses, NodeId end) : graph_(graph), uses_(uses), end_(end) {}

  std::optional<Patch> patch() {
    const std::optional<Grid> y = grid_of(graph_, graph_.node(end_));
    if (!y || !graph_.value(graph_.node(end_).outputs[0]).type.fixed()) return std::nullopt;
    y_ = *y;
    kept_ = Bounds(y_.dtype);
    ValueId value = graph_.node(end_).inputs[0];
    std::vector<NodeId> clamps;
    for (; only_reader(graph_, uses_, value) >= 0; value = graph_.node(clamps.back()).inputs[0]) {
      const NodeId maker = uses_.producer[value];
      if (maker < 0 || (!is_op(graph_.node(maker), "Relu") && !is_op(graph_.node(maker), "Clip"))) break;
      clamps.push_back(maker);
    }
    for (auto id = clamps.rbegin(); id != clamps.rend(); ++id) {
      if (!kept_.clamp(graph_, graph_.node(*id), y_)) return std::nullopt;
      removed_.push_back(*id);
    }
    if (const std::optional<Source> x = source_of(graph_, uses_, value)) return requantised(*x);
    main_ = only_reader(graph_, uses_, value) < 0 ? -1 : uses_.producer[value];
    if (main_ < 0) return std::nullopt;
    removed_.insert(removed_.begin(), main_);
    const Node& node = graph_.node(main_);
    const bool pairs = is_op(node, "Add") || is_op(node, "Sub") || is_op(node, "Mul");
    if (!pairs && !moves(node)) return std::nullopt;
    for (size_t i = 0; i < (pairs ? node.inputs.size() : picked_inputs(node)); ++i) {
      const std::optional<Source> x = source_of(graph_, uses_, node.inputs[i]);
      if (!x) return std::nullopt;
      sources_.push_back(*x);
    }
    return pairs ? computed(node) : moved(node);
  }

 private:
  Patch start(const std::string& what) const {
    Patch patch(graph_, what + " on bytes");
    patch.place_at(end_);
    for (NodeId id : removed_) patch.remove_node(id);
    patch.remove_node(end_);
    return patch;
  }

  std::vector<std::string> all_sources() const {
    std::vector<std::string> names;
    for (NodeId id : removed_) {
      for (const std::string& source : sources_of(graph_.node(id))) names.push_back(source);
    }
    for (const std::string& source : sources_of(graph_.node(end_))) names.push_back(source);
    return names;
  }

  // One kernel: numbers of the sources as real ones, the operator (null: none), the result on y's grid. `named`: the source nodes.
  Node kernel(const std::vector<Source>& sources, const Node* op, const Type& real, ValueId result,
              const std::string& name, std::vector<std::string> named) const {
    auto body = std::make_shared<Graph>();
    Node node;
    std::vector<ValueId> reals;
    std::vector<Node> converted;
    for (const Source& x : sources) {
      const auto at = std::find(node.inputs.begin(), node.inputs.end(), x.value);
      Type type = x.type;
      ValueId inner = kNoValue;
      if (at == node.inputs.end()) {
        inner = body->add_value(cat("x", node.inputs.size()), type);
        node.inputs.push_back(x.value);
        body->inputs.push_back(inner);
      } else {
        inner = body->inputs[at - node.inputs.begin()];
      }
      type.dtype = DType::Float32;
      reals.push_back(body->add_value(cat("real", reals.size()), type));
      converted.push_back(to_real(x.grid, inner, reals.back()));
    }
    // A kernel's head is as large as its result.
    std::stable_partition(converted.begin(), converted.end(),
                          [&](const Node& n) { return body->value(n.outputs[0]).type.shape == real.shape; });
    for (Node& n : converted) body->add_node(std::move(n));
    if (op != nullptr) {
      Node copy = *op;
      copy.inputs = reals;
      copy.outputs = {body->add_value("result", real)};
      reals = copy.outputs;
      body->add_node(std::move(copy));
    }
    Type type = real;
    type.dtype = y_.dtype;
    const ValueId y = body->add_value("y", type);
    body->add_node(to_integer(y_, kept_, reals[0], y));
    body->outputs = {y};
    body->name = op == nullptr ? "requantise" : op->op;
    node.name = name;
    node.op = "Fused";
    node.domain = kInternalDomain;
    node.outputs = {result};
    node.attributes["body"] = std::shared_ptr<const Graph>(body);
    node.sources = std::move(named);
    return node;
  }

  Patch requantised(const Source& x) const {
    const Node& end = graph_.node(end_);
    if (same_grid(x.grid, y_) && !clamped()) {  // the integers themselves
      Patch patch = start(label_in(graph_, end));
      patch.redirect(end.outputs[0], x.value);
      return patch;
    }
    Patch patch = start(label_in(graph_, end));
    patch.add_node(kernel({x}, nullptr, graph_.value(end.inputs[0]).type, end.outputs[0], end.name, all_sources()));
    return patch;
  }

  Patch computed(const Node& node) const {
    Patch patch = start(label_in(graph_, node));
    const Type& type = graph_.value(node.outputs[0]).type;
    patch.add_node(kernel(sources_, &node, type, graph_.node(end_).outputs[0], node.name, all_sources()));
    return patch;
  }

  bool clamped() const {
    const Bounds all(y_.dtype);
    return kept_.low != all.low || kept_.high != all.high;
  }

  std::optional<Patch> moved(const Node& node) const {
    Patch patch = start(label_in(graph_, node));
    Node copy = node;
    copy.sources = all_sources();
    const bool join = sources_.size() > 1;
    const bool as_it_is = !clamped() && std::all_of(sources_.begin(), sources_.end(),
                                                    [&](const Source& x) { return same_grid(x.grid, y_); });
    for (size_t i = 0; i < sources_.size(); ++i) {
      const Source& x = sources_[i];
      copy.inputs[i] = x.value;
      if (!join || (!clamped() && same_grid(x.grid, y_))) continue;
      Type real = graph_.value(node.inputs[i]).type, type = real;
      type.dtype = y_.dtype;
      copy.inputs[i] = patch.add_value(graph_.value(x.value).name + ".requantised", type);
      patch.add_node(kernel({x}, nullptr, real, copy.inputs[i], cat(node.name, "_requantise_", i), all_sources()));
    }
    const ValueId result = graph_.node(end_).outputs[0];
    if (join || as_it_is) {
      copy.outputs = {result};
      patch.add_node(std::move(copy));
      return patch;
    }
    Type type = graph_.value(node.outputs[0]).type;
    type.dtype = sources_[0].grid.dtype;
    copy.outputs = {patch.add_value(graph_.value(node.outputs[0]).name + ".integers", type)};
    const Node& end = graph_.node(end_);
    const Source moved{copy.outputs[0], sources_[0].grid, type};
    patch.add_node(std::move(copy));
    patch.add_node(kernel({moved}, nullptr, graph_.value(node.outputs[0]).type, result, end.name, sources_of(end)));
    return patch;
  }

  const Graph& graph_;
  const Uses& uses_;
  NodeId end_, main_ = -1;
  std::vector<NodeId> removed_;  // but for the end
  Grid y_;
  Bounds kept_{DType::UInt8};
  std::vector<Source> sources_;
};

// A QuantizeLinear or DequantizeLinear of bytes that stays, as an element-wise operator.
std::optional<Patch> conversion(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const std::optional<Grid> grid = grid_of(graph, node);
  if (!grid || graph.constant(node.inputs[0]) != nullptr) return std::nullopt;
  Patch patch(graph, label_in(graph, node) + " element by element");
  Node made = is_op(node, "QuantizeLinear") ? to_integer(*grid, Bounds(grid->dtype), node.inputs[0], node.outputs[0])
                                            : to_real(*grid, node.inputs[0], node.outputs[0]);
  made.name = node.name;
  made.sources = sources_of(node);
  patch.add_node(std::move(made));
  patch.remove_node(id);
  return patch;
}

}  // namespace

std::vector<Patch> integer_maps(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    if (!is_op(graph.node(id), "QuantizeLinear")) continue;
    if (std::optional<Patch> patch = ByteMap(graph, uses, id).patch()) patches.push_back(std::move(*patch));
  }
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    if (std::optional<Patch> patch = conversion(graph, id)) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
