// Which values lie within others; see parts.h.
#include "codegen/parts.h"

#include <algorithm>

#include "loops/layout.h"

namespace dnn::codegen {
namespace {

// Whether parts along `axis` of a tensor of this shape and layout are runs of its memory: all that is outside of the axis's
// outermost dim counts to one.
bool runs_along(const loops::Layout& layout, const Shape& shape, size_t axis) {
  for (const loops::LayoutDim& dim : layout.dims(shape)) {
    if (dim.axis == static_cast<int>(axis)) return true;
    if (dim.extent != 1) return false;
  }
  return false;
}

class PartFinder {
 public:
  PartFinder(const Graph& graph, int64_t align, const std::function<bool(NodeId)>& asked)
      : graph_(graph), align_(align), asked_(asked) {
    for (const std::vector<ValueId>& ends : {graph.inputs, graph.outputs}) ends_.insert(ends.begin(), ends.end());
    for (NodeId id : graph.order()) {
      for (ValueId v : graph.node(id).outputs) made_.insert(v);
    }
  }

  Parts run() {
    // Concats first: what a view looks at may lie within another value, but what is written there must be written whole.
    for (const bool views : {false, true}) {
      for (NodeId id : graph_.order()) {
        const Node& node = graph_.node(id);
        if (!node.domain.empty() || (asked_ && !asked_(id))) continue;
        const bool idle =
            views ? (node.op == "Split" || node.op == "Reshape") && view(node) : node.op == "Concat" && concat(node);
        if (idle) result_.idle.insert(id);
      }
    }
    return std::move(result_);
  }

 private:
  bool sized(ValueId v) const {
    const Type& type = graph_.value(v).type;
    return type.fixed() && type.dtype != DType::String && dtype_size(type.dtype) > 0 && graph_.constant(v) == nullptr;
  }

  // The `parts` along the node's axis of `whole`, one after another in its memory; none where they do not lie so.
  std::map<ValueId, Part> runs(const Node& node, ValueId whole, const std::vector<ValueId>& parts) const {
    const Value& value = graph_.value(whole);
    const Shape shape = value.type.fixed_shape();
    const int64_t attribute = node.attribute_int("axis", 0);
    const size_t axis = attribute < 0 ? attribute + static_cast<int64_t>(shape.size()) : attribute;
    const loops::Layout layout = loops::Layout::parse(value.layout);
    const int at = static_cast<int>(axis);
    if (!runs_along(layout, shape, axis) || layout.halo_low(at) + layout.halo_high(at) > 0) return {};
    std::map<ValueId, Part> found;
    int64_t element = 0;
    for (ValueId v : parts) {
      if (v == kNoValue || !sized(v) || graph_.value(v).layout != value.layout || ends_.count(v) != 0) return {};
      const Shape own = graph_.value(v).type.fixed_shape();
      if (element * static_cast<int64_t>(dtype_size(value.type.dtype)) % align_ != 0) return {};
      if (own[axis] % layout.block_of(at) != 0 || !found.emplace(v, Part{whole, element}).second) return {};
      element += layout.element_count(own);
    }
    return found;
  }

  bool concat(const Node& node) {
    const ValueId y = node.outputs[0];
    if (!sized(y) || ends_.count(y) != 0 || result_.of.count(y) != 0) return false;
    for (ValueId v : node.inputs) {
      if (made_.count(v) == 0 || wholes_.count(v) != 0 || result_.of.count(v) != 0) return false;
    }
    std::map<ValueId, Part> found = runs(node, y, node.inputs);
    if (found.empty()) return false;
    wholes_.insert(y);
    result_.of.merge(found);
    return true;
  }

  bool view(const Node& node) {
    const ValueId x = node.inputs[0];
    if (made_.count(x) == 0 || ends_.count(x) != 0 || !sized(x)) return false;
    std::map<ValueId, Part> found;
    if (node.op == "Split") {
      found = runs(node, x, node.outputs);
    } else if (const ValueId y = node.outputs[0]; sized(y) && ends_.count(y) == 0) {
      if (graph_.value(x).layout.empty() && graph_.value(y).layout.empty()) found[y] = {x, 0};
    }
    if (found.empty()) return false;
    for (const auto& [v, part] : found) {
      if (result_.of.count(v) != 0) return false;  // where a Concat wants it
    }
    const auto within = result_.of.find(x);
    for (auto& [v, part] : found) {
      if (within != result_.of.end()) part = {within->second.whole, within->second.element + part.element};
    }
    result_.of.merge(found);
    return true;
  }

  const Graph& graph_;
  const int64_t align_;
  const std::function<bool(NodeId)>& asked_;
  std::set<ValueId> ends_, made_, wholes_;
  Parts result_;
};

}  // namespace

Parts find_parts(const Graph& graph, int64_t align, const std::function<bool(NodeId)>& asked) {
  return PartFinder(graph, align, asked).run();
}

}  // namespace dnn::codegen
