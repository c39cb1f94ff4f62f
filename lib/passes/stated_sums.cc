// Means and norms of real numbers by sums in a stated order; see stated_sums.h.
#include <algorithm>

#include "ops/elementwise.h"
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

// The rows of a LayerNormalization: the axes from `axis` on, of extents that have `size` elements together.
struct NormRows {
  size_t axis = 0;
  Shape extents;
  int64_t size = 1;
};

NormRows norm_rows(const Graph& graph, const Node& node) {
  const Shape shape = graph.value(node.inputs[0]).type.fixed_shape();
  const int64_t axis = node.attribute_int("axis", -1), rank = static_cast<int64_t>(shape.size());
  NormRows rows;
  rows.axis = static_cast<size_t>(std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank));
  rows.extents.assign(shape.begin() + static_cast<int64_t>(rows.axis), shape.end());
  rows.size = element_count(rows.extents);
  return rows;
}

// A constant scale or bias as one number for each element of a row; nothing where it differs between rows.
std::optional<Tensor> along_row(const Tensor& constant, const NormRows& rows) {
  if (constant.dtype() != DType::Float32) return std::nullopt;
  Shape shape = constant.shape();
  while (shape.size() > rows.extents.size() && shape.front() == 1) shape.erase(shape.begin());
  if (shape.size() > rows.extents.size()) return std::nullopt;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = rows.extents[rows.extents.size() - shape.size() + i];
    if (shape[i] != 1 && shape[i] != extent) return std::nullopt;
  }
  Tensor result(DType::Float32, {rows.size});
  const std::vector<int64_t> from = broadcast_offsets(rows.extents, {shape})[0];
  for (int64_t i = 0; i < rows.size; ++i) result.mutable_data<float>()[i] = constant.data<float>()[from[i]];
  return result;
}

bool is_row_norm(const Graph& graph, const Node& node) {
  if (!is_op(node, "LayerNormalization")) return false;
  const bool alone = std::all_of(node.outputs.begin() + 1, node.outputs.end(), [](ValueId v) { return v == kNoValue; });
  const NormRows rows = norm_rows(graph, node);
  if (!alone || rows.extents.empty()) return false;
  return std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](ValueId v) {
    if (v == kNoValue) return true;
    if (graph.constant(v) != nullptr) return along_row(*graph.constant(v), rows).has_value();
    const Type& type = graph.value(v).type;
    return rows.extents.size() == 1 && type.fixed() && type.fixed_shape() == rows.extents;
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

// LayerNormalization of rows: where several axes make one, they are joined in front and apart again behind.
void add_norm(const Graph& graph, const Node& node, Patch* patch) {
  const NormRows rows = norm_rows(graph, node);
  const std::string name = graph.value(node.outputs[0]).name;
  const auto add = [&](Node made, std::vector<ValueId> inputs, ValueId output, const char* what) {
    made.name = node.name + what;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    made.sources = sources_of(node);
    patch->add_node(std::move(made));
  };
  const auto in_shape = [&](ValueId from, const Shape& shape, ValueId to, const char* what) {
    Node reshape;
    reshape.op = "Reshape";
    const Tensor extents = Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape);
    add(reshape, {from, patch->add_constant(name + ".shape", extents)}, to, what);
  };
  const Shape shape = graph.value(node.inputs[0]).type.fixed_shape();
  Shape joined(shape.begin(), shape.begin() + static_cast<int64_t>(rows.axis));
  joined.push_back(rows.size);
  const Type type(DType::Float32, {joined.begin(), joined.end()});
  const bool joins = joined.size() != shape.size();
  std::vector<ValueId> inputs = node.inputs;
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Tensor* constant = inputs[i] == kNoValue ? nullptr : graph.constant(inputs[i]);
    if (constant != nullptr && constant->shape() != Shape{rows.size})
      inputs[i] = patch->add_constant(graph.value(inputs[i]).name + ".row", *along_row(*constant, rows));
  }
  if (joins) {
    inputs[0] = patch->add_value(name + ".rows", type);
    in_shape(node.inputs[0], joined, inputs[0], ".rows");
  }
  Node stated;
  stated.domain = kInternalDomain;
  stated.op = "StatedLayerNormalization";
  if (const auto at = node.attributes.find("epsilon"); at != node.attributes.end())
    stated.attributes["epsilon"] = at->second;
  const ValueId result = joins ? patch->add_value(name + ".norm", type) : node.outputs[0];
  add(stated, inputs, result, "");
  if (joins) in_shape(result, shape, node.outputs[0], ".apart");
}

}  // namespace

Patch with_stated_sums(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  Patch patch(graph, node.label() + " by sums in a stated order");
  patch.remove_node(id);
  if (is_op(node, "LayerNormalization")) {
    add_norm(graph, node, &patch);
  } else {
    MeanInRows(graph, id, &patch).add();
  }
  return patch;
}

}  // namespace dnn
