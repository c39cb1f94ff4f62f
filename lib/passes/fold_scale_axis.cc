// fold-scale-axis: Conv, then Mul or Add by constants per output channel: into the weights and the bias (computed in
// float64, rounded once).
#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// The constant operand of a two-operand node whose other operand is `x`; null when there is none.
const Tensor* constant_operand(const Graph& graph, const Node& node, ValueId x) {
  if (node.inputs.size() != 2) return nullptr;
  const ValueId other = node.inputs[0] == x ? node.inputs[1] : node.inputs[0];
  return other == x || graph.is_input(other) ? nullptr : graph.constant(other);
}

std::optional<Patch> fold(const Graph& graph, const Uses& uses, NodeId id) {
  const Node& conv = graph.node(id);
  const Tensor* weight = graph.constant(conv.inputs[1]);
  const Tensor* bias = conv.input(2) == kNoValue ? nullptr : graph.constant(conv.input(2));
  if (weight == nullptr || (conv.input(2) != kNoValue && bias == nullptr)) return std::nullopt;
  const ValueId out = conv.outputs[0];
  const NodeId next_id = only_reader(graph, uses, out);
  if (next_id < 0) return std::nullopt;
  const Node& next = graph.node(next_id);
  const bool scales = is_op(next, "Mul");
  if (!scales && !is_op(next, "Add")) return std::nullopt;
  const Tensor* operand = constant_operand(graph, next, out);
  if (operand == nullptr || graph.value(next.outputs[0]).type != graph.value(out).type) return std::nullopt;
  const int64_t channels = weight->dim(0);
  const auto numbers = per_channel(*operand, weight->rank(), channels);
  if (!numbers) return std::nullopt;

  Tensor b(DType::Float64, {channels});
  for (int64_t m = 0; m < channels; ++m) {
    const double old = bias == nullptr ? 0 : to_doubles(*bias)[m];
    const double number = (*numbers)[m];
    b.mutable_data<double>()[m] = scales ? old * number : old + number;
  }
  Patch patch(graph, label_in(graph, next) + " into " + label_in(graph, conv));
  Node folded = conv;
  if (scales) {
    Tensor w = convert(weight->arranged_copy(), DType::Float64);
    double* values = w.mutable_data<double>();
    const int64_t per_filter = channels == 0 ? 0 : w.size() / channels;
    for (int64_t m = 0; m < channels; ++m) {
      for (int64_t i = 0; i < per_filter; ++i) values[m * per_filter + i] *= (*numbers)[m];
    }
    folded.inputs[1] = patch.add_constant(graph.value(conv.inputs[1]).name + ".scaled", convert(w, weight->dtype()));
  }
  if (!scales || bias != nullptr) {
    folded.inputs.resize(3, kNoValue);
    folded.inputs[2] = patch.add_constant(graph.value(next.outputs[0]).name + ".bias", convert(b, weight->dtype()));
  }
  folded.outputs = next.outputs;
  folded.sources = sources_of(conv);
  for (const std::string& source : sources_of(next)) {
    if (folded.sources.back() != source) folded.sources.push_back(source);
  }
  patch.add_node(std::move(folded));
  patch.remove_node(id);
  patch.remove_node(next_id);
  return patch;
}

}  // namespace

std::vector<Patch> fold_scale_axis(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    if (!is_convolution(graph.node(id))) continue;
    if (auto patch = fold(graph, uses, id)) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
