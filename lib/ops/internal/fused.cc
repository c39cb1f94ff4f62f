// dnn.Fused: an operator and the element-wise operators that follow it, as one kernel. Attribute `body` is their graph;
// its inputs are the node's inputs in order; all nodes but the first are element-wise, and the last makes the only output. Made by fuse-ops.
#include <map>

#include "loops/steps.h"
#include "ops/elementwise.h"
#include "ops/op.h"

namespace dnn::fused_ops {
namespace {

const Graph& body_of(const Node& node) {
  auto found = node.attributes.find("body");
  const auto* body =
      found == node.attributes.end() ? nullptr : std::get_if<std::shared_ptr<const Graph>>(&found->second);
  if (body == nullptr) fail_malformed(node.label(), ": attribute 'body' is missing");
  return **body;
}

void infer(InferContext& context) {
  std::vector<Type> types;
  for (size_t i = 0; i < context.inputs.size(); ++i) types.push_back(context.input(i));
  context.set_output(0, context.infer_graph(body_of(context.node), types).at(0));
}

void reference(ReferenceContext& context) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < context.inputs.size(); ++i) inputs.push_back(context.input(i));
  context.outputs[0] = context.run_graph(body_of(context.node), inputs).at(0);
}

// The first node's stages, with the element-wise rest inlined where its result is stored.
void lower(LowerContext& context) {
  const Graph& body = body_of(context.node);
  std::map<ValueId, loops::BufferRef> buffers;
  std::map<ValueId, const Tensor*> constants;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    buffers[body.inputs[i]] = context.inputs[i];
    constants[body.inputs[i]] = context.constant(i);
  }
  const Node& head = body.node(body.order().at(0));
  const OpDef* op = find_op(head.domain, head.op);
  const ValueId made = head.outputs.at(0);
  const Type& type = body.value(made).type;
  if (op == nullptr || op->lower == nullptr || !type.fixed()) return;
  const auto result = std::make_shared<const loops::Buffer>(
      loops::Buffer{"t0", type.dtype, type.fixed_shape(), {}, loops::Scope::Global});
  LowerContext part{head, {}, {result}, {}, {}, {}};
  for (ValueId v : head.inputs) {
    part.inputs.push_back(v == kNoValue ? nullptr : buffers.at(v));
    part.constants.push_back(v == kNoValue ? nullptr : constants[v]);
  }
  op->lower(part);
  if (part.stages.empty()) return;

  LowerContext rest{context.node, {}, {}, {}, {}, {}};
  bool all_elementwise = true;
  emit_map(rest, context.outputs[0], [&](const std::vector<loops::Expr>& indices) {
    std::map<ValueId, loops::Expr> values;
    values[made] = loops::load(result, broadcast_indices(result->shape, indices));
    for (NodeId id : body.order()) {
      const Node& node = body.node(id);
      const OpDef* next = find_op(node.domain, node.op);
      if (&node == &head) continue;
      all_elementwise = all_elementwise && next != nullptr && next->element != nullptr;
      if (!all_elementwise) return values[made];
      std::vector<loops::Expr> inputs;
      for (ValueId v : node.inputs) {
        auto known = values.find(v);
        inputs.push_back(v == kNoValue ? loops::Expr()
                         : known != values.end()
                             ? known->second
                             : loops::load(buffers.at(v), broadcast_indices(buffers.at(v)->shape, indices)));
      }
      values[node.outputs.at(0)] = next->element(node, inputs);
    }
    return values.at(body.outputs[0]);
  });
  if (!all_elementwise || !loops::can_inline_consumer(result, rest.stages[0].body)) return;
  context.stages = std::move(part.stages);
  context.temporaries = std::move(part.temporaries);
  for (LowerContext::Stage& stage : context.stages)
    stage.body = loops::inline_consumer(stage.body, result, rest.stages[0].body);
}

double flops(const Node& node, const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  const Graph& body = body_of(node);
  const Node& first = body.node(body.order().at(0));
  const OpDef* op = find_op(first.domain, first.op);
  const double chain = static_cast<double>(body.order().size() - 1) * static_cast<double>(element_count(outputs[0]));
  std::vector<Shape> first_inputs;
  for (ValueId v : first.inputs) {
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      if (body.inputs[i] == v) first_inputs.push_back(inputs[i]);
    }
  }
  const double own = op == nullptr || op->flops == nullptr ? static_cast<double>(element_count(outputs[0]))
                                                           : op->flops(first, first_inputs, outputs);
  return own + chain;
}

}  // namespace

OpDef define_Fused() {
  OpDef op;
  op.name = "Fused";
  op.domain = kInternalDomain;
  op.max_inputs = -1;
  op.traits = kNoTraits;
  op.attributes = {{"body", required(AttributeType::Graph), "graph of the operators"}};
  op.infer = infer;
  op.reference = reference;
  op.lower = lower;
  op.flops = flops;
  return op;
}

}  // namespace dnn::fused_ops
