// Concatenations that copy nothing; see parts.h.
#include "codegen/parts.h"

#include <algorithm>
#include <set>

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

class Parts {
 public:
  explicit Parts(const Graph& graph) : graph_(graph) {
    for (const std::vector<ValueId>& ends : {graph.inputs, graph.outputs}) ends_.insert(ends.begin(), ends.end());
    for (NodeId id : graph.order()) {
      for (ValueId v : graph.node(id).outputs) made_.insert(v);
    }
  }

  std::map<ValueId, Part> run() {
    for (NodeId id : graph_.order()) {
      const Node& node = graph_.node(id);
      if (node.domain.empty() && node.op == "Concat") visit(node);
    }
    return std::move(parts_);
  }

 private:
  void visit(const Node& node) {
    const ValueId y = node.outputs[0];
    const Value& whole = graph_.value(y);
    if (!whole.type.fixed() || whole.type.dtype == DType::String || dtype_size(whole.type.dtype) == 0) return;
    if (ends_.count(y) != 0 || parts_.count(y) != 0 || graph_.constant(y) != nullptr) return;
    const Shape shape = whole.type.fixed_shape();
    const int64_t attribute = node.attribute_int("axis", 0);
    const auto axis = static_cast<size_t>(attribute < 0 ? attribute + static_cast<int64_t>(shape.size()) : attribute);
    const loops::Layout layout = loops::Layout::parse(whole.layout);
    const int at = static_cast<int>(axis);
    if (!runs_along(layout, shape, axis) || layout.halo_low(at) + layout.halo_high(at) > 0) return;
    std::map<ValueId, Part> found;
    int64_t element = 0;
    for (ValueId v : node.inputs) {
      const Value& part = graph_.value(v);
      if (made_.count(v) == 0 || ends_.count(v) != 0 || graph_.constant(v) != nullptr || wholes_.count(v) != 0) return;
      if (part.layout != whole.layout || parts_.count(v) != 0 || !part.type.fixed()) return;
      const Shape own = part.type.fixed_shape();
      if (own[axis] % layout.block_of(at) != 0 || !found.emplace(v, Part{y, element}).second) return;
      element += layout.element_count(own);
    }
    wholes_.insert(y);
    parts_.merge(found);
  }

  const Graph& graph_;
  std::set<ValueId> ends_, made_, wholes_;
  std::map<ValueId, Part> parts_;
};

}  // namespace

std::map<ValueId, Part> parts_of_concats(const Graph& graph) { return Parts(graph).run(); }

}  // namespace dnn::codegen
