// Constants for every sample of a batch; see batch_copies.h.
#include "formats/keras/batch_copies.h"

#include <algorithm>
#include <vector>

#include "layout/trial.h"

namespace dnn::keras {
namespace {

// Whether a constant and its copies differ in the first axis alone.
bool grows_first(const Tensor& constant, const Type& type) {
  if (!type.fixed() || constant.rank() < 2 || constant.dim(0) != 1) return false;
  const Shape to = type.fixed_shape();
  return to.size() == constant.shape().size() && std::equal(to.begin() + 1, to.end(), constant.shape().begin() + 1);
}

bool joins(const Node& node) {
  return node.op == "Concat" && node.domain.empty() && node.attribute_int("axis", 0) != 0;
}

}  // namespace

std::set<std::string> batch_copies(Graph& graph) {
  std::vector<NodeId> found;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op != "Expand" || !node.domain.empty() || graph.constant(node.inputs[0]) == nullptr) continue;
    const ValueId y = node.outputs[0];
    const std::vector<NodeId>& readers = uses.readers[y];
    const bool joined = std::all_of(readers.begin(), readers.end(), [&](NodeId r) { return joins(graph.node(r)); });
    if (joined && !graph.is_output(y) && graph.constant(node.inputs[1]) == nullptr) found.push_back(id);
  }
  std::set<std::string> names;
  if (found.empty()) return names;
  const std::vector<Types> trials = trials_of(graph);
  for (const NodeId id : found) {
    const Node& node = graph.node(id);
    std::set<int64_t> extents;  // one for each size of the batch
    for (const Types& types : trials) {
      const Type& type = types[node.outputs[0]];
      if (grows_first(*graph.constant(node.inputs[0]), type)) extents.insert(type.fixed_shape()[0]);
    }
    if (trials.size() < 2 || extents.size() != trials.size()) continue;
    Value& copy = graph.value(node.outputs[0]);
    names.insert(copy.name);
    copy.type = trials[0][node.outputs[0]];
    copy.type.shape->front() = Dim();
  }
  return names;
}

void read_once(const std::set<std::string>& copies, Graph& graph) {
  if (copies.empty()) return;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (!joins(node)) continue;
    for (ValueId& input : node.inputs) {
      if (copies.count(graph.value(input).name) != 0) input = graph.node(uses.producer[input]).inputs[0];
    }
  }
  remove_dead_nodes(graph);
}

}  // namespace dnn::keras
