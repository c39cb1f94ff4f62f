// Layers in float32 between quantised ones; see guard.h.
#include "quant/guard.h"

#include <map>

#include "ops/op.h"
#include "passes/match.h"

namespace dnn::quant {
namespace {

class Guard {
 public:
  explicit Guard(Graph& graph) : graph_(graph), uses_(graph) {}

  int run() {
    int layers = 0;
    for (NodeId id : std::vector<NodeId>(graph_.order())) layers += guarded(id) ? 1 : 0;
    if (layers > 0) sort_nodes(graph_);
    return layers;
  }

 private:
  bool guarded(NodeId id) {
    const Node& node = graph_.node(id);
    const bool layer = has_trait(node, Trait::Weighted) && !is_op(node, "MatMul");
    const Tensor* weights = graph_.constant(node.input(1));
    if (!layer || weights == nullptr || weights->dtype() != DType::Float32 || !leads_to_integers(id)) return false;
    const NodeId maker = uses_.producer[node.inputs[0]];
    if (maker < 0 || !is_op(graph_.node(maker), "DequantizeLinear")) return false;
    const Tensor* scale = graph_.constant(graph_.node(maker).input(1));
    const auto& shape = graph_.value(node.inputs[0]).type.shape;
    if (scale == nullptr || scale->size() != 1 || !shape || shape->size() < 2 || !(*shape)[1].fixed()) return false;
    graph_.node(id).inputs[0] = by_channels(maker, (*shape)[1].size);
    return true;
  }

  // To one QuantizeLinear, alone or behind what the runtime folds into it.
  bool leads_to_integers(NodeId id) const {
    for (;;) {
      const ValueId v = graph_.node(id).outputs[0];
      if (uses_.readers[v].size() != 1 || graph_.is_output(v)) return false;
      id = uses_.readers[v][0];
      if (is_op(graph_.node(id), "QuantizeLinear")) return true;
      if (!is_op(graph_.node(id), "Relu") && !is_op(graph_.node(id), "Clip")) return false;
    }
  }

  // A constant of one element, once for each channel.
  ValueId repeated(ValueId v, int64_t channels) {
    const Tensor* one = graph_.constant(v);
    const Tensor all =
        convert(Tensor::of<double>({channels}, std::vector<double>(static_cast<size_t>(channels), to_doubles(*one)[0])),
                one->dtype());
    return graph_.add_constant(graph_.unused_value_name(graph_.value(v).name + ".by_channel"), all);
  }

  ValueId by_channels(NodeId maker, int64_t channels) {
    const auto [at, fresh] = made_.try_emplace(maker, kNoValue);
    if (!fresh) return at->second;
    Node node = graph_.node(maker);
    node.inputs[1] = repeated(node.inputs[1], channels);
    if (node.input(2) != kNoValue) node.inputs[2] = repeated(node.inputs[2], channels);
    node.attributes["axis"] = int64_t{1};
    node.name += "_by_channel";
    const ValueId same = node.outputs[0];
    at->second =
        graph_.add_value(graph_.unused_value_name(graph_.value(same).name + ".by_channel"), graph_.value(same).type);
    node.outputs = {at->second};
    graph_.add_node(std::move(node));
    return at->second;
  }

  Graph& graph_;
  const Uses uses_;
  std::map<NodeId, ValueId> made_;
};

}  // namespace

int guard_float_layers(Graph& graph) {
  const int layers = Guard(graph).run();
  if (layers > 0) remove_dead_nodes(graph);
  return layers;
}

}  // namespace dnn::quant
