// fuse-ops: a node that lowers to loops takes in the element-wise nodes behind it, as long as only the last result is
// read elsewhere.
#include <algorithm>
#include <set>

#include "graph/locate.h"
#include "ops/lowering.h"
#include "ops/quantization.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/stated_sums.h"

namespace dnn {
namespace {

// Longer groups would keep more values in registers than there are.
constexpr size_t kMostNodes = 24;

bool float_type(const Type& type) { return type.fixed() && has_vectors(type.dtype); }

// A comparison of floats, whose result selects between floats behind it.
bool compares(const Graph& graph, const Node& node) {
  const Type& made = graph.value(node.outputs[0]).type;
  return made.fixed() && made.dtype == DType::Bool &&
         std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
           return v != kNoValue && (has_vectors(graph.value(v).type.dtype) || graph.value(v).type.dtype == DType::Bool);
         });
}

bool elementwise(const Node& node) {
  const OpDef* op = find_op(node.domain, node.op);
  return op != nullptr && op->element != nullptr && node.outputs.size() == 1;
}

bool is_to_integer(const Node& node) { return node.domain == kInternalDomain && node.op == "ToInteger"; }

// True where a kernel that `head` begins may end in bytes: its schedule has vectors for both.
bool ends_in_bytes(const Graph& graph, const Node& head) {
  if (is_internal(head, "QuantizedConv") || is_internal(head, "QuantizedMatMul")) return true;
  return elementwise(head) && std::any_of(head.inputs.begin(), head.inputs.end(), [&](ValueId v) {
           return v != kNoValue && is_byte(graph.value(v).type.dtype);
         });
}

// The head and the element-wise nodes behind it that can be one kernel: the longest run, in the graph's order, of which
// only the last value is read outside. At least two, or nothing.
std::vector<NodeId> group_from(const Graph& graph, const Uses& uses, NodeId first, const std::set<NodeId>& taken) {
  const Node& head = graph.node(first);
  if (head.outputs.size() != 1) return {};
  const bool selects = elementwise(head) && compares(graph, head);
  if ((!selects && !float_type(graph.value(head.outputs[0]).type)) || !can_lower(graph, head)) return {};
  Type type = graph.value(head.outputs[0]).type;
  if (selects) type.dtype = graph.value(head.inputs[0]).type.dtype;
  if (!float_type(type)) return {};
  // Behind a product of integers each step is rounded, but its kernel may fuse products with sums: so no Add is taken in behind the scale.
  const size_t most = is_exact_product(graph, uses, head) ? 2 : kMostNodes;
  std::vector<NodeId> group = {first};
  std::set<NodeId> members = {first};
  size_t best = 1;
  const std::vector<NodeId>& order = graph.order();
  std::vector<NodeId> frontier = uses.readers[head.outputs[0]];
  auto position = [&](NodeId id) { return std::find(order.begin(), order.end(), id) - order.begin(); };
  while (!frontier.empty() && group.size() < most) {
    const auto next = std::min_element(frontier.begin(), frontier.end(),
                                       [&](NodeId a, NodeId b) { return position(a) < position(b); });
    const NodeId id = *next;
    frontier.erase(std::remove(frontier.begin(), frontier.end(), id), frontier.end());
    const Node& node = graph.node(id);
    const Type& made = graph.value(node.outputs[0]).type;
    const bool ends = ends_in_bytes(graph, head) && is_to_integer(node) && made.shape == type.shape;
    const bool between = made.shape == type.shape && elementwise(node) && compares(graph, node);
    if (taken.count(id) != 0 || !elementwise(node) || !can_lower(graph, node) || (made != type && !ends && !between))
      break;
    bool fixed = true;
    for (ValueId v : node.inputs) fixed = fixed && (v == kNoValue || graph.value(v).type.fixed());
    if (!fixed) break;
    group.push_back(id);
    members.insert(id);
    for (NodeId reader : uses.readers[node.outputs[0]]) {
      if (members.count(reader) == 0) frontier.push_back(reader);
    }
    bool closed = true;  // nobody outside reads what all but the last make
    for (size_t i = 0; closed && i + 1 < group.size(); ++i) {
      const ValueId v = graph.node(group[i]).outputs[0];
      closed = !graph.is_output(v);
      for (NodeId reader : uses.readers[v]) closed = closed && members.count(reader) != 0;
    }
    if (closed && !between) best = group.size();
    if (ends) break;
  }
  group.resize(best);
  return best < 2 ? std::vector<NodeId>() : group;
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
  Patch patch(graph, join(ops, " + ") + " from " + label_in(graph, graph.node(chain.front())));
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
    if (taken.count(id) != 0 || is_fused(graph.node(id))) continue;
    const std::vector<NodeId> chain = group_from(graph, uses, id, taken);
    if (chain.empty()) continue;
    taken.insert(chain.begin(), chain.end());
    patches.push_back(fuse(graph, chain));
  }
  return patches;
}

}  // namespace dnn
