// Values between layers; see between_layers.h.
#include "ops/between_layers.h"

#include <algorithm>

#include "ops/attributes.h"
#include "ops/weights.h"

namespace dnn {
namespace {

bool is_float32_tensor(const Tensor* tensor) { return tensor != nullptr && tensor->dtype() == DType::Float32; }

int rank_of(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  return shape ? static_cast<int>(shape->size()) : 0;
}

int64_t extent_of(const Graph& graph, ValueId v, int axis) {
  const auto& shape = graph.value(v).type.shape;
  const int at = axis < 0 ? axis + rank_of(graph, v) : axis;
  return shape && at >= 0 && at < static_cast<int>(shape->size()) ? (*shape)[at].size : -1;
}

bool is_op(const Node& node, const char* op) { return node.domain.empty() && node.op == op; }

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::vector<ValueBetween> run() const {
    std::vector<ValueBetween> found;
    for (NodeId id : graph_.order()) {
      for (ValueId v : graph_.node(id).outputs) {
        if (v == kNoValue || graph_.is_output(v)) continue;
        if (std::optional<ValueBetween> between = between_of(v)) found.push_back(std::move(*between));
      }
    }
    return found;
  }

 private:
  std::optional<ValueBetween> between_of(ValueId v) const {
    ValueBetween between;
    between.value = v;
    between.readers = uses_.readers[v];
    if (between.readers.empty() || !find_maker(v, &between)) return std::nullopt;
    for (NodeId id : between.readers) {
      const Node& reader = graph_.node(id);
      const bool once = std::count(reader.inputs.begin(), reader.inputs.end(), v) == 1 && reader.inputs[0] == v;
      if (!once || !column_axis(graph_, reader, between.axis)) return std::nullopt;
    }
    return between;
  }

  // Goes from a value back to the layer that makes it, through what works on each channel alone and multiplies with it.
  bool find_maker(ValueId v, ValueBetween* between) const {
    for (ValueId at = v;;) {
      if (at != v && (graph_.is_output(at) || uses_.readers[at].size() != 1)) return false;
      const NodeId id = uses_.producer[at];
      if (id < 0) return false;
      const Node& node = graph_.node(id);
      if (!row_axes(graph_, node).empty()) {
        between->maker = id;
        between->axis = is_op(node, "LayerNormalization") ? -1 : 1;
        return true;
      }
      const bool pools = is_op(node, "MaxPool") || is_op(node, "AveragePool") || is_op(node, "GlobalAveragePool");
      if (is_op(node, "Clip")) {
        const Tensor *low = graph_.constant(node.input(1)), *high = graph_.constant(node.input(2));
        if (low == nullptr || high == nullptr || to_doubles(*low)[0] != 0 || between->clipped != kNoValue) return false;
        between->clipped = at;
        between->bound = to_doubles(*high)[0];
      } else if (is_op(node, "Flatten") || is_op(node, "Reshape") || is_op(node, "Squeeze")) {
        // [N, C, 1, 1] to [N, C]
        if (rank_of(graph_, at) != 2 || extent_of(graph_, at, 1) != extent_of(graph_, node.inputs[0], 1)) return false;
      } else if (!pools && !is_op(node, "Relu") && !is_op(node, "LeakyRelu") && !is_op(node, "Identity")) {
        return false;
      }
      if (node.outputs.size() > 1) return false;
      at = node.inputs[0];
    }
  }

  const Graph& graph_;
  const Uses uses_;
};

// Elements along the axis times factors, or divided by them.
Tensor scaled(const Tensor& tensor, size_t axis, const std::vector<double>& factors, bool divide) {
  Tensor result(DType::Float32, tensor.shape());
  const size_t step = row_major_strides(tensor.shape())[axis];
  const std::span<const float> from = tensor.values<float>();
  float* to = result.mutable_data<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    const double factor = factors[i / step % factors.size()];
    to[i] = static_cast<float>(static_cast<double>(from[i]) * (divide ? 1 / factor : factor));
  }
  return result;
}

void scale(Graph& graph, NodeId id, size_t input, size_t axis, const std::vector<double>& factors, bool divide) {
  const ValueId v = graph.node(id).inputs[input];
  set_constant(graph, id, input, scaled(*graph.constant(v), axis, factors, divide), graph.value(v).name);
}

}  // namespace

bool is_depthwise(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant(node.input(1));
  if (!is_convolution(node) || weights == nullptr) return false;
  const int64_t groups = int_attribute(node, "group");
  return groups > 1 && groups == extent_of(graph, node.inputs[0], 1) && groups == weights->dim(0);
}

std::optional<size_t> column_axis(const Graph& graph, const Node& node, int axis) {
  const Tensor* weights = graph.constant(node.input(1));
  if (!is_float32_tensor(weights)) return std::nullopt;
  if (is_convolution(node) && axis == 1) {
    if (is_depthwise(graph, node)) return 0;
    return int_attribute(node, "group") == 1 ? std::optional<size_t>(1) : std::nullopt;
  }
  if (weights->rank() != 2 || (axis != -1 && axis + 1 != rank_of(graph, node.inputs[0]))) return std::nullopt;
  if (!is_op(node, "MatMul") && !(is_op(node, "Gemm") && int_attribute(node, "transA") == 0)) return std::nullopt;
  return weight_axes(node, weights->rank())->input;
}

std::map<size_t, size_t> row_axes(const Graph& graph, const Node& node) {
  const Tensor *weights = graph.constant(node.input(1)), *bias = graph.constant(node.input(2));
  if (!is_float32_tensor(weights) || (node.input(2) != kNoValue && !is_float32_tensor(bias))) return {};
  std::map<size_t, size_t> axes;
  if (is_convolution(node)) {
    axes[1] = 0;
  } else if (is_op(node, "Gemm") && weights->rank() == 2) {
    axes[1] = weight_axes(node, weights->rank())->output;
  } else if (is_op(node, "LayerNormalization") && weights->rank() == 1) {
    axes[1] = 0;
  } else {
    return {};
  }
  if (bias == nullptr) return axes;
  if (bias->rank() == 0 || bias->dim(bias->rank() - 1) != bias->size()) return {};
  axes[2] = bias->rank() - 1;
  return axes;
}

std::vector<ValueBetween> values_between(const Graph& graph) { return Finder(graph).run(); }

void scale_between(Graph& graph, const Graph& typed, const ValueBetween& between, const std::vector<double>& factors) {
  for (const auto& [input, axis] : row_axes(typed, typed.node(between.maker)))
    scale(graph, between.maker, input, axis, factors, true);
  for (NodeId id : between.readers)
    scale(graph, id, 1, *column_axis(typed, typed.node(id), between.axis), factors, false);
}

}  // namespace dnn
