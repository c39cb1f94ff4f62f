// If: the outputs of one of two subgraphs, which read what they need from around them.
#include "ops/subgraph.h"

namespace dnn::if_ops {
namespace {

bool condition(const Node& node, const Tensor& tensor) {
  if (tensor.dtype() != DType::Bool || tensor.size() != 1)
    fail_malformed(node.label(), ": condition ", Type(tensor).text(), ", one bool expected");
  return tensor.data<bool>()[0];
}

// A condition that is known decides the types too.
void infer(InferContext& context) {
  const Graph &yes = body_of(context.node, "then_branch"), &no = body_of(context.node, "else_branch");
  if (yes.outputs.size() != context.outputs.size() || no.outputs.size() != context.outputs.size() ||
      !yes.inputs.empty() || !no.inputs.empty()) {
    context.fail("its branches have ", yes.outputs.size(), " and ", no.outputs.size(), " outputs, the node ",
                 context.outputs.size());
  }
  const Tensor* known = context.known_input(0);
  std::vector<Type> types;
  if (known != nullptr) {
    types = context.infer_graph(condition(context.node, *known) ? yes : no, {});
  } else {
    types = context.infer_graph(yes, {});
    const std::vector<Type> others = context.infer_graph(no, {});
    for (size_t i = 0; i < types.size(); ++i) types[i] = common_type(context.node, types[i], others[i]);
  }
  for (size_t i = 0; i < types.size(); ++i) context.set_output(i, types[i]);
}

void reference(ReferenceContext& context) {
  const bool yes = condition(context.node, context.input(0));
  std::vector<Tensor> outputs = context.run_graph(body_of(context.node, yes ? "then_branch" : "else_branch"), {});
  if (outputs.size() != context.outputs.size())
    context.fail("the branch has ", outputs.size(), " outputs, the node ", context.outputs.size());
  context.outputs = std::move(outputs);
}

}  // namespace

OpDef define_If() {
  OpDef op;
  op.name = "If";
  op.since = 25;
  op.max_outputs = -1;
  op.traits = kNoTraits;
  op.attributes = {{"else_branch", required(AttributeType::Graph), "graph for false"},
                   {"then_branch", required(AttributeType::Graph), "graph for true"}};
  op.infer = infer;
  op.reference = reference;
  return op;
}

}  // namespace dnn::if_ops
