// Decomposing HardSigmoid and HardSwish; see hard_functions.h.
#include "localize/hard_functions.h"

#include <algorithm>
#include <cmath>

#include "ops/op.h"

namespace dnn {
namespace {

bool is_hard(const Node& node, const char* op) { return node.domain.empty() && node.op == op; }

bool has_hard(const Graph& graph, const char* op) {
  return std::any_of(graph.order().begin(), graph.order().end(),
                     [&](NodeId id) { return is_hard(graph.node(id), op); });
}

class HardDecomposer {
 public:
  explicit HardDecomposer(Graph& graph) : graph_(graph) {}

  void run(const char* op) {
    for (NodeId id : std::vector<NodeId>(graph_.order())) {
      if (!is_hard(graph_.node(id), op) || !is_float(graph_.value(graph_.node(id).output(0)).type.dtype)) continue;
      at_ = id;
      if (graph_.node(id).op == "HardSwish")
        become("Mul", {graph_.node(id).input(0),
                       before("HardSigmoid", {graph_.node(id).input(0)}, {{"alpha", 1.0F / 6}, {"beta", 0.5F}})});
      else
        decompose_sigmoid();
    }
  }

 private:
  void decompose_sigmoid() {
    const Node node = graph_.node(at_);
    const float alpha = node.attribute_float("alpha", 0.2F), beta = node.attribute_float("beta", 0.5F);
    if (std::abs(alpha * 6 - 1) > 1e-6F || beta != 0.5F) return;
    const ValueId shifted = before("Add", {node.input(0), number(3)}, {});
    become("Div", {before("Clip", {shifted, number(0), number(6)}, {}), number(6)});
  }

  ValueId number(float x) {
    const DType dtype = graph_.value(graph_.node(at_).output(0)).type.dtype;
    return graph_.add_constant(graph_.unused_value_name("hard"), convert(Tensor::scalar(x), dtype));
  }
  ValueId before(const char* op, std::vector<ValueId> inputs, Attributes attributes) {
    const ValueId made =
        graph_.add_value(graph_.unused_value_name(graph_.value(graph_.node(at_).output(0)).name + "_" + op),
                         graph_.value(graph_.node(at_).output(0)).type);
    Node node;
    node.op = op;
    node.name = graph_.node(at_).name;
    node.inputs = std::move(inputs);
    node.outputs = {made};
    node.attributes = std::move(attributes);
    graph_.insert_node_before(at_, std::move(node));
    return made;
  }
  void become(const char* op, std::vector<ValueId> inputs) {
    Node& node = graph_.node(at_);
    node.op = op;
    node.inputs = std::move(inputs);
    node.attributes.clear();
  }

  Graph& graph_;
  NodeId at_ = -1;
};

}  // namespace

void decompose_hard_functions(Graph& graph, const Graph& target) {
  for (const char* op : {"HardSwish", "HardSigmoid"}) {
    if (!has_hard(target, op)) HardDecomposer(graph).run(op);
  }
  infer_types(graph);
}

}  // namespace dnn
