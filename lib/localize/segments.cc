// Cutting a network into segments; see segments.h.
#include "localize/segments.h"

#include <algorithm>
#include <set>

#include "graph/text.h"

namespace dnn {
namespace {

std::vector<ValueId> reads_of(const Graph& graph, const Node& node) {
  std::vector<ValueId> reads = node.inputs;
  for (ValueId v : captured_values(graph, node)) reads.push_back(v);
  return reads;
}

std::vector<size_t> joints_by_value(const Graph& graph, const std::vector<ValueId>& ends) {
  std::vector<size_t> joints(graph.value_count(), ends.size());
  for (size_t j = 0; j < ends.size(); ++j) {
    if (ends[j] != kNoValue) joints[ends[j]] = j;
  }
  return joints;
}

}  // namespace

std::vector<Segment> cut_at(const Graph& graph, const std::vector<ValueId>& ends) {
  const Uses uses(graph);
  const std::vector<size_t> joints = joints_by_value(graph, ends);
  std::vector<size_t> place(graph.node_slots(), 0);
  for (size_t i = 0; i < graph.order().size(); ++i) place[graph.order()[i]] = i;
  std::vector<Segment> segments;
  for (size_t j = 0; j < ends.size(); ++j) {
    const NodeId last = ends[j] == kNoValue ? -1 : uses.producer[ends[j]];
    if (last < 0) continue;
    Segment segment;
    segment.joint = j;
    std::set<NodeId> nodes = {last};
    std::set<size_t> inputs;
    std::vector<NodeId> waiting = {last};
    while (!waiting.empty()) {
      const Node& node = graph.node(waiting.back());
      waiting.pop_back();
      for (ValueId v : reads_of(graph, node)) {
        if (v == kNoValue || graph.constant(v) != nullptr) continue;
        const size_t joint = joints[v];
        const NodeId maker = uses.producer[v];
        if (joint != ends.size()) {
          inputs.insert(joint);
        } else if (maker < 0) {
          segment.open = true;
        } else if (nodes.insert(maker).second) {
          waiting.push_back(maker);
        }
      }
    }
    segment.nodes.assign(nodes.begin(), nodes.end());
    std::sort(segment.nodes.begin(), segment.nodes.end(), [&](NodeId a, NodeId b) { return place[a] < place[b]; });
    segment.inputs.assign(inputs.begin(), inputs.end());
    segments.push_back(std::move(segment));
  }
  std::sort(segments.begin(), segments.end(),
            [&](const Segment& a, const Segment& b) { return place[a.nodes.back()] < place[b.nodes.back()]; });
  return segments;
}

namespace {

bool same_attribute(const Attribute& a, const Attribute& b) {
  if (a.index() != b.index() || std::holds_alternative<std::shared_ptr<const Graph>>(a) ||
      std::holds_alternative<std::vector<Tensor>>(a))
    return false;
  if (const auto* tensor = std::get_if<Tensor>(&a)) return tensor->identical(std::get<Tensor>(b));
  return attribute_text(a) == attribute_text(b);
}

bool same_attributes(const Node& a, const Node& b) {
  return a.op == b.op && a.domain == b.domain && a.inputs.size() == b.inputs.size() &&
         a.outputs.size() == b.outputs.size() &&
         std::equal(
             a.attributes.begin(), a.attributes.end(), b.attributes.begin(), b.attributes.end(),
             [](const auto& x, const auto& y) { return x.first == y.first && same_attribute(x.second, y.second); });
}

}  // namespace

bool same_computation(const Graph& source, const std::vector<ValueId>& source_ends, const Segment& a,
                      const Graph& target, const std::vector<ValueId>& target_ends, const Segment& b) {
  if (a.open || b.open || a.nodes.size() != b.nodes.size() || a.inputs != b.inputs || a.nodes.empty()) return false;
  std::map<ValueId, ValueId> partner;
  for (size_t j : a.inputs) {
    if (!(source.value(source_ends[j]).type == target.value(target_ends[j]).type)) return false;
    partner[source_ends[j]] = target_ends[j];
  }
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    const Node &x = source.node(a.nodes[i]), &y = target.node(b.nodes[i]);
    if (!same_attributes(x, y)) return false;
    for (size_t k = 0; k < x.inputs.size(); ++k) {
      const Tensor *left = source.constant(x.inputs[k]), *right = target.constant(y.inputs[k]);
      if ((left == nullptr) != (right == nullptr) || (x.inputs[k] == kNoValue) != (y.inputs[k] == kNoValue))
        return false;
      if (x.inputs[k] == kNoValue) continue;
      if (left != nullptr) {
        if (!left->identical(*right)) return false;
        continue;
      }
      const auto found = partner.find(x.inputs[k]);
      if (found == partner.end() || found->second != y.inputs[k]) return false;
    }
    for (size_t k = 0; k < x.outputs.size(); ++k) {
      if ((x.outputs[k] == kNoValue) != (y.outputs[k] == kNoValue)) return false;
      // An end that is an input too, on a cycle of other line-ups, cannot be.
      if (x.outputs[k] != kNoValue && !partner.emplace(x.outputs[k], y.outputs[k]).second) return false;
    }
  }
  const auto end = partner.find(source_ends[a.joint]);
  return end != partner.end() && end->second == target_ends[b.joint];
}

SegmentGraph graph_of(const Graph& graph, const std::vector<ValueId>& ends, const std::vector<const Segment*>& segments,
                      const std::map<size_t, Type>& types) {
  const std::vector<size_t> joints = joints_by_value(graph, ends);
  std::set<NodeId> wanted;
  std::set<size_t> begins;
  for (const Segment* segment : segments) {
    wanted.insert(segment->nodes.begin(), segment->nodes.end());
    begins.insert(segment->inputs.begin(), segment->inputs.end());
  }
  SegmentGraph part;
  Graph& out = part.graph;
  out.name = graph.name;
  std::map<ValueId, ValueId> fed, known;  // joints as they are given; constants and what nodes make
  for (size_t j : begins) {
    const ValueId id = out.add_value(graph.value(ends[j]).name, types.at(j));
    fed[ends[j]] = id;
    out.inputs.push_back(id);
    part.inputs.push_back(j);
  }
  std::set<std::string> names;
  for (ValueId v : out.inputs) names.insert(out.value(v).name);
  const auto made = [&](ValueId v) {
    std::string name = graph.value(v).name;
    while (!names.insert(name).second) name += "'";
    const ValueId id = out.add_value(name);
    known[v] = id;
    return id;
  };
  for (NodeId id : graph.order()) {
    if (wanted.count(id) == 0) continue;
    Node node = graph.node(id);
    for (ValueId& v : node.inputs) {
      if (v == kNoValue) continue;
      if (const auto given = fed.find(v); given != fed.end()) {
        v = given->second;
      } else if (const auto found = known.find(v); found != known.end()) {
        v = found->second;
      } else if (const Tensor* constant = graph.constant(v)) {
        const ValueId copy = made(v);
        out.value(copy).type = Type(*constant);
        out.value(copy).constant = *constant;
        v = copy;
      } else {
        fail_internal("a segment reads '", graph.value(v).name, "' from outside");
      }
    }
    // A subgraph reads constants of the network by name.
    for (ValueId v : captured_values(graph, node)) {
      if (graph.constant(v) == nullptr || known.count(v) != 0) continue;
      const ValueId copy = made(v);
      out.value(copy).type = Type(*graph.constant(v));
      out.value(copy).constant = *graph.constant(v);
    }
    for (ValueId& v : node.outputs) {
      if (v != kNoValue) v = made(v);
    }
    out.add_node(std::move(node));
  }
  for (const Segment* segment : segments) out.outputs.push_back(known.at(ends[segment->joint]));
  return part;
}

}  // namespace dnn
