// Batch norms into the weights before them, computed in float64 and rounded once; see surgery.h.
#include <cmath>

#include "convert/surgery.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn {
namespace {

struct Affine {
  std::vector<double> factor, shift;  // y = x * factor + shift, by channel
};

// Empty where the statistics are not constant, or it is there for training.
std::optional<Affine> affine_of(const Graph& graph, const Node& norm) {
  if (flag_attribute(norm, "training_mode")) return std::nullopt;
  std::vector<std::vector<double>> parts;
  for (size_t i = 1; i <= 4; ++i) {
    const Tensor* part = graph.constant(norm.input(i));
    if (part == nullptr) return std::nullopt;
    parts.push_back(to_doubles(*part));
    if (parts.back().size() != parts[0].size()) return std::nullopt;
  }
  for (size_t i = 1; i < norm.outputs.size(); ++i) {
    if (norm.outputs[i] != kNoValue) return std::nullopt;
  }
  const double epsilon = static_cast<double>(float_attribute(norm, "epsilon"));
  Affine affine;
  for (size_t c = 0; c < parts[0].size(); ++c) {
    affine.factor.push_back(parts[0][c] / std::sqrt(parts[3][c] + epsilon));
    affine.shift.push_back(parts[1][c] - parts[2][c] * affine.factor[c]);
  }
  return affine;
}

// True where a channel that a layer makes is its input times that channel's weights, plus its bias, and nothing else.
bool is_plain(const Node& node) {
  if (node.op == "ConvTranspose") return int_attribute(node, "group") == 1;
  if (node.op == "Gemm") return float_attribute(node, "alpha") == 1 && float_attribute(node, "beta") == 1;
  return is_convolution(node);
}

// The axis of a node's weights that its output's channels are, for weights as they are; -1: none is, or not so simply.
int channel_axis(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant(node.input(1));
  if (!node.domain.empty() || !is_plain(node) || weights == nullptr) return -1;
  const std::optional<WeightAxes> axes = weight_axes(node, weights->rank());
  return axes ? axes->output : -1;
}

Tensor scaled(const Tensor& weight, size_t axis, const std::vector<double>& factor) {
  Tensor wide = convert(weight, DType::Float64);
  double* values = wide.mutable_data<double>();
  const int64_t step = row_major_strides(weight.shape())[axis];
  const int64_t channels = weight.shape()[axis];
  for (int64_t i = 0; i < wide.size(); ++i) values[i] *= factor[i / step % channels];
  return convert(wide, weight.dtype());
}

class BatchNormFolder {
 public:
  explicit BatchNormFolder(Graph& graph) : graph_(graph) {}

  int run() {
    int folded = 0;
    for (bool again = true; again;) {
      again = false;
      const Uses uses(graph_);
      for (NodeId id : graph_.order()) {
        const Node& node = graph_.node(id);
        if (!node.domain.empty() || node.op != "BatchNormalization" || !fold(uses, id)) continue;
        ++folded;
        again = true;
        break;
      }
    }
    return folded;
  }

 private:
  bool fold(const Uses& uses, NodeId id) {
    const Node norm = graph_.node(id);
    const NodeId before = uses.producer[norm.inputs[0]];
    if (before < 0 || uses.readers[norm.inputs[0]].size() != 1 || graph_.is_output(norm.inputs[0])) return false;
    const Node& node = graph_.node(before);
    const int axis = channel_axis(graph_, node);
    const Tensor* weight = axis < 0 ? nullptr : graph_.constant(node.input(1));
    const Tensor* bias = graph_.constant(node.input(2));
    if (weight == nullptr || (node.input(2) != kNoValue && bias == nullptr) || weight->rank() <= axis) return false;
    const std::optional<Affine> affine = affine_of(graph_, norm);
    const int64_t channels = weight->dim(axis);
    if (!affine || static_cast<int64_t>(affine->factor.size()) != channels) return false;
    if (bias != nullptr && (bias->size() != channels || bias->dim(bias->rank() - 1) != channels)) return false;
    std::vector<double> shift = affine->shift;
    if (bias != nullptr) {
      const std::vector<double> old = to_doubles(*bias);
      for (size_t c = 0; c < shift.size(); ++c) shift[c] += old[c] * affine->factor[c];
    }
    const DType dtype = weight->dtype();
    Tensor w = scaled(*weight, axis, affine->factor);
    set_constant(graph_, before, 2, convert(Tensor::of<double>({channels}, shift), dtype),
                 graph_.value(norm.outputs[0]).name + ".bias");
    set_constant(graph_, before, 1, std::move(w), graph_.value(node.inputs[1]).name + ".folded");
    Node& kept = graph_.node(before);
    if (kept.sources.empty()) kept.sources = {kept.name};
    if (norm.sources.empty()) {
      kept.sources.push_back(norm.name);
    } else {
      kept.sources.insert(kept.sources.end(), norm.sources.begin(), norm.sources.end());
    }
    kept.outputs[0] = norm.outputs[0];
    graph_.remove_node(id);
    return true;
  }

  Graph& graph_;
};

}  // namespace

int fold_batch_norms(Graph& graph) { return BatchNormFolder(graph).run(); }

}  // namespace dnn
