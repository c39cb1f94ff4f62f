// Lowering one node of a graph; see lowering.h.
#include "ops/lowering.h"

#include <algorithm>
#include <map>

#include "ops/elementwise.h"

namespace dnn {

LowerContext lower_node(const Graph& graph, const Node& node) {
  LowerContext context{node, {}, {}, {}, {}, {}};
  const OpDef* op = find_op(node.domain, node.op);
  if (op == nullptr || op->lower == nullptr) return context;
  std::map<ValueId, loops::BufferRef> seen;  // a value read twice is one buffer
  auto buffer = [&](ValueId v, std::string name) {
    const Type& type = graph.value(v).type;
    if (!type.fixed() || !loops::has_arithmetic(type.dtype)) return loops::BufferRef();
    return std::make_shared<const loops::Buffer>(loops::Buffer{std::move(name), type.dtype, type.fixed_shape(),
                                                               loops::Layout::parse(graph.value(v).layout),
                                                               loops::Scope::Global});
  };
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    context.constants.push_back(graph.constant(v));
    if (v == kNoValue) {
      context.inputs.push_back(nullptr);
      continue;
    }
    loops::BufferRef& b = seen[v];
    if (b == nullptr) b = buffer(v, cat("x", i));
    if (b == nullptr) return context;
    context.inputs.push_back(b);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId v = node.outputs[i];
    context.outputs.push_back(v == kNoValue ? nullptr : buffer(v, cat("y", i)));
    if (v != kNoValue && context.outputs.back() == nullptr) return context;
  }
  op->lower(context);
  return context;
}

Head head_of(const Node& node) {
  const auto found = node.attributes.find("body");
  if (node.domain != kInternalDomain || node.op != "Fused" || found == node.attributes.end())
    return {&node, node.inputs};
  const Graph& body = **std::get_if<std::shared_ptr<const Graph>>(&found->second);
  Head head{&body.node(body.order().at(0)), {}};
  for (ValueId v : head.node->inputs) {
    const auto at = std::find(body.inputs.begin(), body.inputs.end(), v);
    head.inputs.push_back(at == body.inputs.end() ? kNoValue : node.inputs[at - body.inputs.begin()]);
  }
  return head;
}

bool can_lower(const Graph& graph, const Node& node) { return !lower_node(graph, node).stages.empty(); }

}  // namespace dnn
