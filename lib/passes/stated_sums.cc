// Means and norms of real numbers by sums in a stated order; see stated_sums.h.
#include <algorithm>

#include "ops/reduce.h"
#include "passes/match.h"
#include "passes/stated_sums.h"

namespace dnn {
namespace {

// By axis, whether it is averaged; nothing where none is.
std::optional<std::vector<bool>> averaged_axes(const Graph& graph, const Node& node) {
  const size_t rank = graph.value(node.inputs[0]).type.shape->size();
  std::vector<bool> averaged(rank, false);
  if (is_op(node, "GlobalAveragePool")) {
    for (size_t i = 2; i < rank; ++i) averaged[i] = true;
  } else if (is_op(node, "ReduceMean")) {
    const Tensor* axes = node.input(1) == kNoValue ? nullptr : graph.constant(node.inputs[1]);
    if (node.input(1) != kNoValue && axes == nullptr) return std::nullopt;
    averaged = reduced_axes(node, axes, static_cast<int64_t>(rank));
  }
  if (std::find(averaged.begin(), averaged.end(), true) == averaged.end()) return std::nullopt;
  return averaged;
}

bool is_row_norm(const Graph& graph, const Node& node) {
  if (!is_op(node, "LayerNormalization") || node.outputs.size() > 1) return false;
  const Shape shape = graph.value(node.inputs[0]).type.fixed_shape();
  const int64_t axis = node.attribute_int("axis", -1), rank = static_cast<int64_t>(shape.size());
  if (rank == 0 || (axis != -1 && axis != rank - 1)) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId v) {
    return v == kNoValue || (graph.value(v).type.fixed() && graph.value(v).type.fixed_shape() == Shape{shape.back()});
  });
}

}  // namespace

bool has_integer_activations(const Graph& graph) {
  return std::any_of(graph.order().begin(), graph.order().end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    const bool converts = is_op(node, "QuantizeLinear") || is_op(node, "DequantizeLinear") ||
                          is_internal(node, "ToReal") || is_internal(node, "ToInteger") ||
                          is_internal(node, "QuantizedConv");
    return converts && graph.constant(node.inputs[0]) == nullptr;
  });
}

bool has_stated_sums(const Graph& graph, const Node& node) {
  if (!is_op(node, "LayerNormalization") && !is_op(node, "GlobalAveragePool") && !is_op(node, "ReduceMean"))
    return false;
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  if (x.dtype != DType::Float32 || !x.fixed() || !y.fixed() || element_count(x.fixed_shape()) == 0) return false;
  return is_row_norm(graph, node) || averaged_axes(graph, node);
}

namespace {

// A mean: the axes that are averaged behind the others, as rows of one length; their means; these in the shape that is asked for.
class MeanInRows {
 public:
  MeanInRows(const Graph& graph, NodeId id, Patch* patch)
      : graph_(graph), node_(graph.node(id)), patch_(*patch), x_(node_.inputs[0]) {}

  void add() {
    const std::vector<bool> averaged = *averaged_axes(graph_, node_);
    const Shape x = graph_.value(x_).type.fixed_shape(), y = graph_.value(node_.outputs[0]).type.fixed_shape();
    std::vector<int64_t> order;
    for (const bool last : {false, true}) {
      for (size_t i = 0; i < x.size(); ++i) {
        if (averaged[i] == last) order.push_back(static_cast<int64_t>(i));
      }
    }
    Shape sorted, rows;
    int64_t size = 1;
    for (const int64_t i : order) {
      sorted.push_back(x[i]);
      if (averaged[i]) size *= x[i];
      if (!averaged[i]) rows.push_back(x[i]);
    }
    if (!std::is_sorted(order.begin(), order.end())) {
      Node transpose;
      transpose.op = "Transpose";
      transpose.attributes["perm"] = order;
      step(transpose, {}, sorted, ".sorted");
    }
    rows.push_back(size);
    if (rows != sorted) reshape(rows, ".rows");
    rows.back() = 1;
    Node mean;
    mean.domain = kInternalDomain;
    mean.op = "StatedMean";
    if (rows == y) return finish(mean, {});
    step(mean, {}, rows, ".means");
    Node last;
    last.op = "Reshape";
    finish(last, {shape_constant(y)});
  }

 private:
  ValueId shape_constant(const Shape& shape) {
    const Tensor extents = Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape);
    return patch_.add_constant(name() + ".shape", extents);
  }
  std::string name() const { return graph_.value(node_.outputs[0]).name; }
  void reshape(const Shape& shape, const char* what) {
    Node node;
    node.op = "Reshape";
    step(node, {shape_constant(shape)}, shape, what);
  }
  void step(Node node, std::vector<ValueId> more, const Shape& shape, const char* what) {
    const ValueId result = patch_.add_value(name() + what, Type(DType::Float32, {shape.begin(), shape.end()}));
    place(std::move(node), std::move(more), result, what);
    x_ = result;
  }
  void finish(Node node, std::vector<ValueId> more) { place(std::move(node), std::move(more), node_.outputs[0], ""); }
  void place(Node node, std::vector<ValueId> more, ValueId result, const char* what) {
    node.name = node_.name + what;
    node.inputs = {x_};
    node.inputs.insert(node.inputs.end(), more.begin(), more.end());
    node.outputs = {result};
    node.sources = sources_of(node_);
    patch_.add_node(std::move(node));
  }

  const Graph& graph_;
  const Node& node_;
  Patch& patch_;
  ValueId x_;  // what the next step reads
};

}  // namespace

Patch with_stated_sums(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Patch patch(graph, node.label() + " by sums in a stated order");
  patch.remove_node(id);
  if (!is_op(node, "LayerNormalization")) {
    MeanInRows(graph, id, &patch).add();
    return patch;
  }
  Node stated;
  stated.domain = kInternalDomain;
  stated.op = "StatedLayerNormalization";
  stated.name = node.name;
  if (const auto at = node.attributes.find("epsilon"); at != node.attributes.end())
    stated.attributes["epsilon"] = at->second;
  stated.inputs = node.inputs;
  stated.outputs = node.outputs;
  stated.sources = sources_of(node);
  patch.add_node(std::move(stated));
  return patch;
}

}  // namespace dnn
