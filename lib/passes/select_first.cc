// select-first: what computes each row by itself computes those rows alone that are read: a Gather or Slice by constants moves in
// front of it, as that of a classifier which reads one token of a transformer's last block.
#include <algorithm>
#include <numeric>
#include <optional>

#include "graph/locate.h"
#include "interp/interpreter.h"
#include "ops/movement.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// For each row that is read there are at least so many.
constexpr int64_t kFewerElements = 2;
constexpr int64_t kAsItIs = -1;  // in place of an axis

// Of the rows of `of` along `axis`, those at `indices`.
struct Selection {
  ValueId of;
  int64_t axis;
  std::vector<int64_t> indices;
  bool keeps_axis;
  bool operator==(const Selection&) const = default;
};

int64_t positive(int64_t axis, size_t rank) { return axis < 0 ? axis + static_cast<int64_t>(rank) : axis; }

std::optional<Selection> slice_of(const Graph& graph, const Node& node, const Shape& shape) {
  std::vector<int64_t> bounds;  // start, end, axis, step
  for (size_t i = 1; i <= 4; ++i) {
    const Tensor* list = graph.constant(node.input(i));
    if (list == nullptr && (i < 3 || node.input(i) != kNoValue)) return std::nullopt;
    if (list != nullptr && list->size() != 1) return std::nullopt;
    bounds.push_back(list != nullptr ? to_int64s(*list)[0] : i == 3 ? 0 : 1);
  }
  Selection s{node.inputs[0], positive(bounds[2], shape.size()), {}, true};
  if (bounds[3] != 1 || s.axis < 0 || s.axis >= static_cast<int64_t>(shape.size())) return std::nullopt;
  const int64_t extent = shape[s.axis];
  const auto place = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent); };
  const int64_t begin = place(bounds[0]), end = place(bounds[1]);
  if (begin >= end || (end - begin) * kFewerElements > extent) return std::nullopt;
  s.indices.resize(end - begin);
  std::iota(s.indices.begin(), s.indices.end(), begin);
  return s;
}

std::optional<Selection> selection_of(const Graph& graph, const Node& node) {
  const bool gather = is_op(node, "Gather");
  if ((!gather && !is_op(node, "Slice")) || !graph.value(node.inputs[0]).type.fixed()) return std::nullopt;
  const Shape shape = graph.value(node.inputs[0]).type.fixed_shape();
  if (!gather) return slice_of(graph, node, shape);
  const Tensor* list = graph.constant(node.inputs[1]);
  if (list == nullptr || list->rank() > 1 || list->size() == 0) return std::nullopt;
  Selection s{node.inputs[0], positive(node.attribute_int("axis", 0), shape.size()), to_int64s(*list),
              list->rank() == 1};
  if (s.axis < 0 || s.axis >= static_cast<int64_t>(shape.size())) return std::nullopt;
  const int64_t extent = shape[s.axis];
  if (list->size() * kFewerElements > extent) return std::nullopt;
  for (int64_t& i : s.indices) {
    i = positive(i, extent);
    if (i < 0 || i >= extent) return std::nullopt;
  }
  return s;
}

// The axis of an input that broadcasts to `rank` axes which becomes `axis`; kAsItIs where it has one element there, or none.
int64_t broadcast_axis(const Shape& input, int64_t rank, int64_t axis) {
  const int64_t at = axis - (rank - static_cast<int64_t>(input.size()));
  return at < 0 || input[at] == 1 ? kAsItIs : at;
}

// The axis of `from` whose rows become those of `to` along `axis`, all else of a row staying together; kAsItIs: none.
int64_t reshaped_axis(const Shape& from, const Shape& to, int64_t axis) {
  const auto before = [](const Shape& shape, int64_t end) {
    return element_count(Shape(shape.begin(), shape.begin() + end));
  };
  for (int64_t a = 0; a < static_cast<int64_t>(from.size()); ++a) {
    if (from[a] == to[axis] && before(from, a) == before(to, axis)) return a;
  }
  return kAsItIs;
}

// Along which axis of each input the rows lie that a node makes its rows along `axis` of; nothing where that is not one row of one.
std::optional<std::vector<int64_t>> input_axes(const Graph& graph, const Node& node, int64_t axis) {
  if (!node.domain.empty() || node.outputs.size() != 1 || node.inputs.empty()) return std::nullopt;
  std::vector<Shape> shapes;
  for (ValueId v : node.inputs) {
    if (v == kNoValue ? false : !graph.value(v).type.fixed()) return std::nullopt;
    shapes.push_back(v == kNoValue ? Shape{} : graph.value(v).type.fixed_shape());
  }
  const Shape y = graph.value(node.outputs[0]).type.fixed_shape();
  const auto rank = static_cast<int64_t>(y.size());
  std::vector<int64_t> axes;
  for (const Shape& shape : shapes) axes.push_back(broadcast_axis(shape, rank, axis));
  const auto rest_as_it_is = [&](size_t from) {
    return std::all_of(axes.begin() + static_cast<int64_t>(from), axes.end(), [](int64_t a) { return a == kAsItIs; });
  };
  const OpDef* def = find_op(node.domain, node.op);
  if (def != nullptr && def->element != nullptr && !node.has_attribute("axis")) return axes;
  if (node.op == "LayerNormalization" || node.op == "Softmax") {
    const int64_t along = positive(node.attribute_int("axis", -1), y.size());
    const bool own = node.op == "Softmax" ? axis != along : axis < along;
    return own && rest_as_it_is(1) ? std::optional(axes) : std::nullopt;
  }
  if (node.op == "MatMul" && shapes[0].size() >= 2 && shapes[1].size() >= 2) {
    if (axis >= rank - 2) axes[axis == rank - 2 ? 1 : 0] = kAsItIs;
    return axes;
  }
  if (node.op == "Gemm" && axis == 0 && node.attribute_int("transA", 0) == 0) {
    axes[1] = kAsItIs;
    return axes;
  }
  if (node.op == "Transpose") {
    return std::vector<int64_t>{transpose_permutation(node, static_cast<size_t>(rank))[axis]};
  }
  if (node.op == "Reshape" && shapes.size() == 2) {
    const int64_t from = reshaped_axis(shapes[0], y, axis);
    return from == kAsItIs ? std::nullopt : std::optional(std::vector<int64_t>{from, kAsItIs});
  }
  return std::nullopt;
}

Node select(const std::string& name, ValueId from, ValueId indices, int64_t axis, ValueId to) {
  Node node;
  node.op = "Gather";
  node.name = name;
  node.attributes["axis"] = axis;
  node.inputs = {from, indices};
  node.outputs = {to};
  return node;
}

Node reshape(const std::string& name, ValueId from, ValueId shape, ValueId to) {
  Node node;
  node.op = "Reshape";
  node.name = name;
  node.attributes["allowzero"] = int64_t{1};
  node.inputs = {from, shape};
  node.outputs = {to};
  return node;
}

Patch moved(const Graph& graph, NodeId maker_id, NodeId select_id, const Selection& s,
            const std::vector<int64_t>& axes) {
  const Node &maker = graph.node(maker_id), &selector = graph.node(select_id);
  const std::string& base = graph.value(selector.outputs[0]).name;
  const auto rows = static_cast<int64_t>(s.indices.size());
  const auto shape_constant = [](Patch& patch, const std::string& name, const Shape& shape) {
    return patch.add_constant(name, Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape));
  };
  Patch patch(graph, label_in(graph, selector) + " before " + label_in(graph, maker));
  const Tensor list = Tensor::of<int64_t>({rows}, s.indices);
  const ValueId indices = patch.add_constant(base + ".indices", list);
  Node fewer = maker;
  for (size_t i = 0; i < axes.size(); ++i) {
    const ValueId input = maker.inputs[i];
    if (axes[i] == kAsItIs || input == kNoValue) continue;
    const Value& whole = graph.value(input);
    if (whole.constant) {
      const Node gather = select("", 0, 1, axes[i], 2);
      fewer.inputs[i] =
          patch.add_constant(whole.name + ".selected", interpret_node(gather, {&*whole.constant, &list})[0]);
      continue;
    }
    Shape shape = whole.type.fixed_shape();
    shape[axes[i]] = rows;
    fewer.inputs[i] = patch.add_value(whole.name + ".selected", Type(whole.type.dtype, {shape.begin(), shape.end()}));
    patch.add_node(select(selector.name, input, indices, axes[i], fewer.inputs[i]));
  }
  const Type& made = graph.value(s.of).type;
  Shape shape = made.fixed_shape();
  shape[s.axis] = rows;
  if (is_op(maker, "Reshape")) {
    fewer.attributes["allowzero"] = int64_t{1};
    fewer.inputs[1] = shape_constant(patch, base + ".rows", shape);
  }
  fewer.outputs = selector.outputs;
  if (!s.keeps_axis)
    fewer.outputs = {
        patch.add_value(graph.value(s.of).name + ".selected", Type(made.dtype, {shape.begin(), shape.end()}))};
  const ValueId result = fewer.outputs[0];
  patch.add_node(std::move(fewer));
  if (!s.keeps_axis) {
    shape.erase(shape.begin() + s.axis);
    patch.add_node(reshape(selector.name, result, shape_constant(patch, base + ".shape", shape), selector.outputs[0]));
  }
  patch.remove_node(maker_id);
  patch.remove_node(select_id);
  return patch;
}

}  // namespace

std::vector<Patch> select_first(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& selector = graph.node(id);
    const std::optional<Selection> s = selection_of(graph, selector);
    if (!s) continue;
    const std::vector<NodeId>& readers = uses.readers[s->of];
    const auto same = std::find_if(readers.begin(), readers.end(), [&](NodeId other) {
      return other == id || selection_of(graph, graph.node(other)) == s;
    });
    if (*same != id) {
      Patch patch(graph, label_in(graph, selector) + " selects the same as " + label_in(graph, graph.node(*same)));
      patch.remove_node(id);
      patch.redirect(selector.outputs[0], graph.node(*same).outputs[0]);
      patches.push_back(std::move(patch));
      continue;
    }
    const NodeId maker = uses.producer[s->of];
    if (maker < 0 || only_reader(graph, uses, s->of) != id) continue;
    if (const auto axes = input_axes(graph, graph.node(maker), s->axis))
      patches.push_back(moved(graph, maker, id, *s, *axes));
  }
  return patches;
}

}  // namespace dnn
