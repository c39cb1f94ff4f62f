// fuse-ops: a node whose lowering is one run of loops takes in the element-wise nodes that alone read its result.
#include <set>

#include "ops/lowering.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

bool float_type(const Type& type) {
  return type.fixed() && (type.dtype == DType::Float32 || type.dtype == DType::Float64);
}

bool elementwise(const Node& node) {
  const OpDef* op = find_op(node.domain, node.op);
  return op != nullptr && op->element != nullptr && node.outputs.size() == 1;
}

// The nodes of the chain that starts at `first`, at least two, or nothing.
std::vector<NodeId> chain_from(const Graph& graph, const Uses& uses, NodeId first) {
  std::vector<NodeId> chain = {first};
  const Node& head = graph.node(first);
  if (head.outputs.size() != 1 || !float_type(graph.value(head.outputs[0]).type) || !can_lower(graph, head)) return {};
  while (true) {
    const ValueId value = graph.node(chain.back()).outputs[0];
    const std::vector<NodeId>& readers = uses.readers[static_cast<size_t>(value)];
    if (readers.size() != 1 || graph.is_output(value)) break;
    const Node& next = graph.node(readers[0]);
    if (!elementwise(next) || !can_lower(graph, next) || graph.value(next.outputs[0]).type != graph.value(value).type)
      break;
    bool compiled_operands = true;
    for (ValueId v : next.inputs)
      compiled_operands = compiled_operands && (v == kNoValue || graph.value(v).type.fixed());
    if (!compiled_operands) break;
    chain.push_back(readers[0]);
  }
  return chain.size() < 2 ? std::vector<NodeId>() : chain;
}

Patch fuse(const Graph& graph, const std::vector<NodeId>& chain) {
  auto body = std::make_shared<Graph>();
  std::map<ValueId, ValueId> inner;  // outer value -> body value
  std::vector<ValueId> outer_inputs;
  std::set<NodeId> members(chain.begin(), chain.end());
  std::set<ValueId> made;
  std::vector<std::string> ops;
  Node fused;
  for (NodeId id : chain) {
    const Node& node = graph.node(id);
    Node copy = node;
    for (ValueId& v : copy.inputs) {
      if (v == kNoValue) continue;
      auto [entry, fresh] = inner.try_emplace(v, kNoValue);
      if (fresh) {
        entry->second = body->add_value(graph.value(v).name, graph.value(v).type);
        body->inputs.push_back(entry->second);
        outer_inputs.push_back(v);
      }
      v = entry->second;
    }
    const ValueId out = copy.outputs[0];
    inner[out] = body->add_value(graph.value(out).name, graph.value(out).type);
    copy.outputs = {inner[out]};
    body->add_node(std::move(copy));
    ops.push_back(node.op);
    for (const std::string& source : sources_of(node)) {
      if (fused.sources.empty() || fused.sources.back() != source) fused.sources.push_back(source);
    }
  }
  const Node& last = graph.node(chain.back());
  body->outputs = {inner[last.outputs[0]]};
  body->name = join(ops, "+");
  Patch patch(graph, join(ops, " + ") + " from " + graph.node(chain.front()).label());
  fused.name = graph.node(chain.front()).name;
  fused.op = "Fused";
  fused.domain = kInternalDomain;
  fused.inputs = outer_inputs;
  fused.outputs = last.outputs;
  fused.attributes["body"] = std::shared_ptr<const Graph>(body);
  patch.add_node(std::move(fused));
  for (NodeId id : chain) patch.remove_node(id);
  return patch;
}

}  // namespace

std::vector<Patch> fuse_ops(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  std::set<NodeId> taken;
  for (NodeId id : graph.order()) {
    if (taken.count(id) != 0 || graph.node(id).domain == kInternalDomain) continue;
    const std::vector<NodeId> chain = chain_from(graph, uses, id);
    if (chain.empty()) continue;
    bool free = true;
    for (NodeId member : chain) free = free && taken.count(member) == 0;
    if (!free) continue;
    taken.insert(chain.begin(), chain.end());
    patches.push_back(fuse(graph, chain));
  }
  return patches;
}

}  // namespace dnn
