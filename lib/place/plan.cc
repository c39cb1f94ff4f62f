// cut_into_segments(): levels of nodes, by how often the path to them changes parts, become segments.
#include "place/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "place/rules.h"

namespace dnn::place {
namespace {

class Cutter {
 public:
  Cutter(const Graph& graph, const std::vector<size_t>& part_of) : graph_(graph), part_of_(part_of), uses_(graph) {}

  Plan cut() {
    plan_.inputs = graph_.inputs;
    plan_.outputs = graph_.outputs;
    plan_.values = static_cast<size_t>(graph_.value_count());
    for (ValueId v : graph_.outputs) {
      if (producer(v) < 0 && !graph_.is_input(v))
        fail_unsupported("output ", quoted(graph_.value(v).name), " is a constant, which no part computes");
    }
    plan_.parts = part_of_.empty() ? 0 : *std::max_element(part_of_.begin(), part_of_.end()) + 1;
    find_levels();
    std::map<std::pair<size_t, size_t>, std::vector<NodeId>> groups;  // by level, then part
    for (NodeId id : graph_.order()) groups[{level(id), part(id)}].push_back(id);
    for (const auto& [key, nodes] : groups) plan_.segments.push_back(segment(key.second, nodes));
    count_copies(graph_, plan_);
    return std::move(plan_);
  }

 private:
  size_t part(NodeId id) const { return part_of_[id]; }
  size_t level(NodeId id) const { return levels_[id]; }
  NodeId producer(ValueId v) const { return uses_.producer[v]; }

  // True where another part waits for one of the node's outputs.
  bool feeds_others(NodeId id) const {
    for (ValueId v : graph_.node(id).outputs) {
      if (v == kNoValue) continue;
      for (NodeId reader : uses_.readers[v]) {
        if (part(reader) != part(id)) return true;
      }
    }
    return false;
  }

  // A node is a level above what it reads where that crosses parts, or ends its segment because another part waits for it.
  void find_levels() {
    levels_.resize(graph_.node_slots(), 0);
    for (NodeId id : graph_.order()) {
      size_t& highest = levels_[id];
      for (ValueId v : read_by(graph_, graph_.node(id))) {
        const NodeId maker = producer(v);
        if (maker < 0) continue;
        highest = std::max(highest, level(maker) + (part(maker) != part(id) || feeds_others(maker) ? 1 : 0));
      }
    }
  }

  Segment segment(size_t part, const std::vector<NodeId>& nodes) {
    Segment s;
    s.part = part;
    s.nodes = nodes;
    s.name = name_of(graph_, nodes.front());
    if (nodes.size() > 1) s.name += " .. " + name_of(graph_, nodes.back());
    s.graph.name = s.name;
    s.graph.producer = graph_.producer;
    s.graph.source_opsets = graph_.source_opsets;
    const std::set<NodeId> inside(nodes.begin(), nodes.end());
    std::map<ValueId, ValueId> here;
    const auto value = [&](ValueId v) {
      if (v == kNoValue) return kNoValue;
      if (const auto there = here.find(v); there != here.end()) return there->second;
      return here.emplace(v, s.graph.add_value(graph_.value(v))).first->second;
    };
    for (NodeId id : nodes) {
      Node node = graph_.node(id);
      for (ValueId v : read_by(graph_, node)) {
        const bool known = here.count(v) != 0;
        const ValueId mine = value(v);
        if (known || graph_.constant(v) != nullptr || inside.count(producer(v)) != 0) continue;
        if (!graph_.value(v).type.fixed())
          fail_unsupported("value ", quoted(graph_.value(v).name),
                           " goes from part to part, and its shape is not fixed");
        s.graph.inputs.push_back(mine);
        s.inputs.push_back(v);
      }
      for (ValueId& v : node.inputs) v = value(v);
      for (ValueId& v : node.outputs) v = value(v);
      s.graph.add_node(std::move(node));
    }
    for (NodeId id : nodes) {
      for (ValueId v : graph_.node(id).outputs) {
        if (v == kNoValue) continue;
        const std::vector<NodeId>& readers = uses_.readers[v];
        const bool read =
            std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return inside.count(reader) == 0; });
        if (!read && !graph_.is_output(v)) continue;
        s.graph.outputs.push_back(here.at(v));
        s.outputs.push_back(v);
      }
    }
    return s;
  }

  const Graph& graph_;
  const std::vector<size_t>& part_of_;
  const Uses uses_;
  std::vector<size_t> levels_;
  Plan plan_;
};

}  // namespace

// Values that a node reads, those of its subgraphs among them.
std::vector<ValueId> read_by(const Graph& graph, const Node& node) {
  std::vector<ValueId> values;
  for (ValueId v : node.inputs) {
    if (v != kNoValue) values.push_back(v);
  }
  for (ValueId v : captured_values(graph, node)) values.push_back(v);
  return values;
}

int64_t Plan::merges() const {
  return std::count_if(segments.begin(), segments.end(), [](const Segment& s) { return s.merges; });
}

void count_copies(const Graph& graph, Plan& plan) {
  constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> maker(plan.values, kNone);  // the part, by value
  std::map<ValueId, std::set<size_t>> readers;
  for (Segment& s : plan.segments) {
    std::set<size_t> sources;
    for (ValueId v : s.inputs) {
      const size_t from = maker[v];
      if (from == kNone) continue;
      sources.insert(from);
      if (from != s.part) readers[v].insert(s.part);
    }
    s.merges = sources.size() > 1;
    for (ValueId v : s.outputs) maker[v] = s.part;
  }
  plan.copies = plan.copied_bytes = 0;
  for (const auto& [v, parts] : readers) {
    const Type& type = graph.value(v).type;
    plan.copies += static_cast<int64_t>(parts.size());
    plan.copied_bytes += static_cast<int64_t>(parts.size()) * element_count(type.fixed_shape()) *
                         static_cast<int64_t>(dtype_size(type.dtype));
  }
}

Plan cut_into_segments(const Graph& graph, const std::vector<size_t>& part_of) { return Cutter(graph, part_of).cut(); }

}  // namespace dnn::place
