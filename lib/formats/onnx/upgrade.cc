// Upgrades; see upgrade.h.
#include "formats/onnx/upgrade.h"

#include "formats/onnx/contrib.h"
#include "ops/op.h"

namespace dnn::onnx {
namespace {

// Steps from one version of the operator to the next until the newest; a step may rename the operator.
void raise(Rewrite& rewrite, int opset) {
  const std::vector<Version>* versions = versions_of(rewrite.node.op);
  if (versions == nullptr) rewrite.refuse("no opset of ai.onnx up to ", kIrOpset, " has this operator");
  if (versions->front().opset > opset) {
    rewrite.refuse("the operator begins at opset ", versions->front().opset, ", the model is written in ", opset);
  }
  while (!rewrite.replaced) {
    versions = versions_of(rewrite.node.op);
    const Version* next = nullptr;
    for (const Version& version : *versions) {
      if (version.opset > opset && (next == nullptr || version.opset < next->opset)) next = &version;
    }
    if (next == nullptr) return;
    next->up(rewrite);
    opset = next->opset;
  }
}

// Infers the types of what the nodes upgraded so far make.
void learn_types(Graph& graph, const std::vector<NodeId>& order) {
  Graph so_far = graph;
  so_far.set_order(order);
  so_far.outputs.clear();
  try {
    infer_types(so_far);
  } catch (const Error&) {
    return;  // the nodes contradict each other; whoever runs the model says so
  }
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    Type& type = graph.value(id).type;
    const Type& inferred = so_far.value(id).type;
    if (type.dtype == DType::Undefined) type.dtype = inferred.dtype;
    if (!type.shape) type.shape = inferred.shape;
  }
}

}  // namespace

void upgrade(Graph& graph, const std::vector<int>& opsets, const Enclosing* outer) {
  std::unordered_set<std::string> names = value_names(graph);
  std::vector<NodeId> order;
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    const bool contrib = graph.node(id).domain == kContribDomain;
    if (graph.node(id).domain.empty() || contrib) {
      Rewrite rewrite(graph, outer, names, std::move(graph.node(id)), [&] { learn_types(graph, order); });
      if (contrib) {
        expand_contrib(rewrite);
      } else {
        raise(rewrite, opsets[static_cast<size_t>(id)]);
      }
      for (Node& node : rewrite.before) order.push_back(graph.add_node(std::move(node)));
      graph.node(id) = std::move(rewrite.node);
      order.push_back(id);
      for (Node& node : rewrite.after) order.push_back(graph.add_node(std::move(node)));
    } else {
      order.push_back(id);
    }
  }
  graph.set_order(std::move(order));
}

}  // namespace dnn::onnx
