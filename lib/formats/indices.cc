// Indices from the front; see indices.h.
#include "formats/indices.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "formats/definitions.h"

namespace dnn {
namespace {

// Which integers of a graph are never negative, as far as their producers show it.
class Signs {
 public:
  explicit Signs(const Graph& graph) : graph_(graph), uses_(graph) {}

  bool never_negative(ValueId v, int depth = 0) {
    constexpr int kDeepest = 32;
    if (v == kNoValue || depth > kDeepest) return false;
    if (const auto known = known_.find(v); known != known_.end()) return known->second;
    const bool result = judge(v, depth + 1);
    if (result || depth == 0) known_[v] = result;  // a deeper "no" may be the limit's
    return result;
  }

 private:
  bool judge(ValueId v, int depth) {
    const DType dtype = graph_.value(v).type.dtype;
    if (dtype == DType::Bool || dtype_class(dtype) == DTypeClass::Unsigned) return true;
    if (const Tensor* constant = graph_.constant(v)) return is_integer(dtype) && least(*constant) >= 0;
    const NodeId id = uses_.producer[v];
    if (id < 0 || !graph_.node(id).domain.empty()) return false;
    const Node& node = graph_.node(id);
    const auto all_of = [&](size_t first, size_t end) {
      bool all = end <= node.inputs.size() && first < end;
      for (size_t i = first; i < end && all; ++i) all = never_negative(node.inputs[i], depth);
      return all;
    };
    static const std::set<std::string> counts = {"ArgMax", "ArgMin", "NonMaxSuppression", "NonZero", "Shape", "Size"};
    static const std::set<std::string> moves = {"Cast",     "Expand",    "Flatten",  "Gather", "GatherElements",
                                                "GatherND", "Identity",  "Reshape",  "Slice",  "Squeeze",
                                                "Tile",     "Transpose", "Unsqueeze"};
    static const std::set<std::string> keeps = {"Add", "Concat", "Div", "Min", "Mul", "Range"};
    if (counts.contains(node.op)) return true;
    if (node.op == "TopK") return v == node.output(1);
    if (node.op == "Cast" && dtype_bits(dtype) < 32) return false;  // which may wrap
    if (moves.contains(node.op)) return all_of(0, 1);
    if (keeps.contains(node.op)) return is_integer(dtype) && all_of(0, node.inputs.size());
    if (node.op == "Max" || node.op == "Clip") return any_of(node, node.op == "Max" ? node.inputs.size() : 2, depth);
    if (node.op == "Mod") return node.attribute_int("fmod", 0) == 0 && all_of(1, 2);
    return node.op == "Where" && (is_counted(node) || all_of(1, 3));
  }

  bool any_of(const Node& node, size_t end, int depth) {
    for (size_t i = 0; i < std::min(end, node.inputs.size()); ++i) {
      if (never_negative(node.inputs[i], depth)) return true;
    }
    return false;
  }

  // Where(v < 0, v + n, v), which a reader makes of a file that was written here.
  bool is_counted(const Node& node) const {
    const auto made_by = [&](ValueId v, const char* op) -> const Node* {
      const NodeId id = v == kNoValue ? -1 : uses_.producer[v];
      return id >= 0 && graph_.node(id).op == op ? &graph_.node(id) : nullptr;
    };
    const Node *less = made_by(node.input(0), "Less"), *add = made_by(node.input(1), "Add");
    if (less == nullptr || add == nullptr) return false;
    const Tensor* zero = graph_.constant(less->input(1));
    return zero != nullptr && zero->size() == 1 && to_doubles(*zero)[0] == 0 && less->input(0) == node.input(2) &&
           std::count(add->inputs.begin(), add->inputs.end(), node.input(2)) > 0;
  }

  static int64_t least(const Tensor& tensor) {
    const std::vector<int64_t> values = to_int64s(tensor);
    return values.empty() ? 0 : *std::min_element(values.begin(), values.end());
  }

  const Graph& graph_;
  const Uses uses_;
  std::map<ValueId, bool> known_;
};

// The extents that the indices run along, in their dtype: a scalar, or one for each of a GatherND's tuple. None where they are not known.
ValueId extents_of(Decomposition& s, int64_t first, std::optional<int64_t> depth) {
  const DType dtype = s.dtype(1);
  const std::vector<Dim>& data = *s.type().shape;
  std::vector<int64_t> extents;
  for (int64_t axis = first; axis < first + depth.value_or(1); ++axis) {
    if (data[axis].fixed()) extents.push_back(data[axis].size);
  }
  if (std::ssize(extents) == depth.value_or(1)) {
    const Shape shape = depth ? Shape{*depth} : Shape{};
    return s.store("extent", convert(Tensor::of<int64_t>(shape, extents), dtype));
  }
  std::vector<int64_t> axes(depth.value_or(1));
  std::iota(axes.begin(), axes.end(), first);
  const ValueId which = s.store("axes", Tensor::of<int64_t>(depth ? Shape{*depth} : Shape{}, axes));
  return s.to_dtype(s.emit("Gather", {s.emit("Shape", {s.x()}), which}, {{"axis", int64_t{0}}}), dtype);
}

std::optional<Patch> with_wrapped_index(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Patch patch(graph, cat(node.label(), " counts from the front"));
  Decomposition s(graph, patch, node);
  if (!s.has_rank() || !is_integer(s.dtype(1))) return std::nullopt;
  int64_t first = node.op == "ScatterND" ? 0 : int_attribute(node, node.op == "Gather" ? "axis" : "batch_dims");
  if (first < 0) first += s.rank();
  std::optional<int64_t> depth;
  if (node.op != "Gather") {
    const auto& tuples = graph.value(node.inputs[1]).type.shape;
    if (!tuples || tuples->empty() || !tuples->back().fixed()) return std::nullopt;
    depth = tuples->back().size;
  }
  if (first < 0 || first + depth.value_or(1) > s.rank()) return std::nullopt;
  const ValueId given = node.inputs[1], extents = extents_of(s, first, depth);
  const ValueId zero = s.store("zero", convert(Tensor::of<int64_t>({}, {0}), s.dtype(1)));
  const ValueId counted = s.emit("Where", {s.emit("Less", {given, zero}), s.emit("Add", {given, extents}), given});
  std::vector<ValueId> inputs = node.inputs;
  inputs[1] = counted;
  s.end(node.op, inputs, node.attributes);
  patch.remove_node(id);
  return patch;
}

}  // namespace

void count_indices_from_front(Graph& graph) {
  std::vector<NodeId> found;
  Signs signs(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool picks = node.domain.empty() && (node.op == "Gather" || node.op == "GatherND" || node.op == "ScatterND");
    if (picks && graph.constant(node.input(1)) == nullptr && !signs.never_negative(node.input(1))) found.push_back(id);
  }
  for (NodeId id : found) {
    if (const std::optional<Patch> patch = with_wrapped_index(graph, id)) patch->apply(graph);
  }
  if (!found.empty()) infer_types(graph);
}

}  // namespace dnn
