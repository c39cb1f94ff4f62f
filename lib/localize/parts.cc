// Parts of a model; see parts.h.
#include "localize/parts.h"

#include <set>

#include "interp/interpreter.h"
#include "ops/op.h"

namespace dnn {

Parts::Parts(Graph model, const std::vector<Tensor>& inputs) : model_(std::move(model)) {
  infer_types(model_);
  values_.resize(model_.value_count());
  interpret(model_, inputs, [&](const Graph& graph, ValueId id, const Tensor& value) {
    if (&graph == &model_) values_[id] = value;
  });
}

std::optional<Part> Parts::of(const std::vector<NodeId>& nodes, const std::vector<Tensor>& values,
                              bool for_others) const {
  const std::set<NodeId> kept(nodes.begin(), nodes.end());
  Part part;
  Graph& g = part.graph;
  g = model_;
  g.metadata.clear();
  g.inputs.clear();
  g.outputs.clear();
  std::set<ValueId> made, read, read_by_others;
  for (NodeId id : model_.order()) {
    const Node& node = model_.node(id);
    std::set<ValueId>& reads = kept.count(id) == 0 ? read_by_others : read;
    reads.insert(node.inputs.begin(), node.inputs.end());
    for (ValueId v : captured_values(model_, node)) reads.insert(v);
    if (kept.count(id) == 0) {
      g.remove_node(id);
    } else {
      made.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  made.erase(kNoValue);
  read.erase(kNoValue);
  for (ValueId v : read) {
    if (made.count(v) != 0 || (model_.constant(v) != nullptr && !model_.is_input(v))) continue;
    const Tensor& value = values[v];
    if (!value.defined() || value.dtype() == DType::String) return std::nullopt;
    g.value(v).constant.reset();
    g.value(v).type = Type(value);
    g.inputs.push_back(v);
    part.inputs.push_back(value);
  }
  for (ValueId v : made) {
    if (read.count(v) == 0 || (for_others && read_by_others.count(v) != 0) || model_.is_output(v))
      g.outputs.push_back(v);
  }
  for (ValueId v = 0; v < g.value_count(); ++v) {
    if (read.count(v) == 0 && made.count(v) == 0) g.value(v).constant.reset();  // weights of nodes that are gone
  }
  if (g.outputs.empty() || g.inputs.empty()) return std::nullopt;
  part.input_ids = g.inputs;
  part.output_ids = g.outputs;
  return part;
}

}  // namespace dnn
