// Compiling a network for parts that share its steps out; see joint.h.
#include "place/joint.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "compile/segments.h"
#include "devices/joint.h"
#include "place/open.h"

namespace dnn::place {
namespace {

constexpr size_t kUnknown = SIZE_MAX;

bool is_shared_out(const Plan& plan, const std::vector<Part>& parts) {
  std::set<size_t> used;
  for (const Segment& segment : plan.segments) used.insert(segment.part);
  return used.size() > 1 &&
         std::all_of(used.begin(), used.end(), [&](size_t p) { return parts[p].on_this_processor(); });
}

// Which segments are done before which others begin: by values, and as a part's segments take turns.
std::vector<std::vector<bool>> order_of(const Plan& plan) {
  const size_t n = plan.segments.size();
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n, false));
  std::vector<size_t> maker(plan.values, kUnknown);
  std::map<size_t, size_t> last;  // by part
  for (size_t s = 0; s < n; ++s) {
    const Segment& segment = plan.segments[s];
    std::set<size_t> direct;
    for (ValueId v : segment.inputs) {
      if (const size_t from = maker[v]; from != kUnknown) direct.insert(from);
    }
    if (const auto earlier = last.find(segment.part); earlier != last.end()) direct.insert(earlier->second);
    for (size_t d : direct) {
      before[d][s] = true;
      for (size_t a = 0; a < d; ++a) {
        if (before[a][d]) before[a][s] = true;
      }
    }
    for (ValueId v : segment.outputs) maker[v] = s;
    last[segment.part] = s;
  }
  return before;
}

// Finds the segments of nodes of the graph while passes rewrite it.
class SegmentFinder {
 public:
  SegmentFinder(const Graph& source, const Plan& plan) : before_(order_of(plan)) {
    for (size_t s = 0; s < plan.segments.size(); ++s) {
      for (NodeId id : plan.segments[s].nodes) {
        for (ValueId v : source.node(id).outputs) {
          if (v != kNoValue) of_value_[source.value(v).name] = s;
        }
      }
    }
  }

  // True where a rewrite stays within one segment.
  bool allows(const Graph& graph, const std::string& pass, const Patch& patch) const {
    if (pass == "eliminate-common-subexpr") return false;  // what stays may be another segment's
    std::set<size_t> segments;
    for (NodeId id : patch.removed()) {
      // A node that a pass has put in between belongs to those that it is rewritten with.
      if (const size_t s = by_values(graph, graph.node(id)); s != kUnknown) segments.insert(s);
    }
    return segments.size() <= 1;
  }

  // None where a node's segment is not clear, or would have to wait for one that does not run before it.
  codegen::Segments segments(const Graph& graph) const {
    codegen::Segments result;
    result.of.assign(graph.node_slots(), 0);
    result.before = before_;
    const Uses uses(graph);
    // From the end, so that what a pass has put in front of a node may follow that node.
    const std::vector<NodeId>& order = graph.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
      size_t& segment = result.of[*id];
      segment = by_values(graph, graph.node(*id));
      if (segment == kUnknown) segment = by_readers(graph, uses, result.of, *id);
      if (segment == kUnknown) return {};
    }
    for (NodeId id : order) {
      for (ValueId v : graph.node(id).outputs) {
        if (v == kNoValue) continue;
        const size_t from = result.of[id];
        for (NodeId reader : uses.readers[v]) {
          const size_t to = result.of[reader];
          if (from != to && !before_[from][to]) return {};
        }
      }
    }
    return result;
  }

 private:
  // By the names of what it makes, which passes keep; kUnknown for a node that a pass has put in.
  size_t by_values(const Graph& graph, const Node& node) const {
    for (ValueId v : node.outputs) {
      if (v == kNoValue) continue;
      const Value& value = graph.value(v);
      if (const auto found = of_value_.find(value.name); found != of_value_.end()) return found->second;
      for (const std::string& alias : value.aliases) {
        if (const auto found = of_value_.find(alias); found != of_value_.end()) return found->second;
      }
    }
    return kUnknown;
  }

  static size_t by_readers(const Graph& graph, const Uses& uses, const std::vector<size_t>& of, NodeId id) {
    std::set<size_t> segments;
    for (ValueId v : graph.node(id).outputs) {
      if (v == kNoValue) continue;
      for (NodeId reader : uses.readers[v]) segments.insert(of[reader]);
    }
    return segments.size() == 1 ? *segments.begin() : kUnknown;
  }

  const std::vector<std::vector<bool>> before_;
  std::map<std::string, size_t> of_value_;
};

// Values of the package's graph by their names in `graph`; kNoValue for those that passes have taken out.
std::vector<ValueId> values_named(const Graph& graph, const std::vector<ValueId>& values, const Graph& own) {
  std::vector<ValueId> result;
  for (ValueId v : values) result.push_back(own.find_value(graph.value(v).name));
  return result;
}

// True where a segment lists the values that its steps read and write of the caller.
bool lists_what_crosses(const Variant& variant, const JointSegment& segment) {
  const auto lists = [](const std::vector<ValueId>& list, ValueId v) {
    return std::find(list.begin(), list.end(), v) != list.end();
  };
  for (size_t step : segment.steps) {
    for (const Argument& a : variant.steps[step].arguments) {
      if (a.kind != Argument::Kind::Input && a.kind != Argument::Kind::Output) continue;
      if (!lists(segment.inputs, a.value) && !lists(segment.outputs, a.value)) return false;
    }
  }
  return true;
}

std::vector<JointSegment> joint_segments(const Graph& graph, const Plan& plan, const Joint& joint) {
  const Graph& own = joint.package->graph();
  std::vector<JointSegment> segments;
  for (size_t s = 0; s < plan.segments.size(); ++s) {
    const Segment& segment = plan.segments[s];
    segments.push_back({joint.steps[s], segment.part, values_named(graph, segment.inputs, own),
                        values_named(graph, segment.outputs, own)});
  }
  return segments;
}

}  // namespace

std::optional<Joint> compile_joint(const Graph& graph, const Plan& plan, const std::vector<Part>& parts,
                                   const CompileOptions& options) {
  if (!is_shared_out(plan, parts)) return std::nullopt;
  const SegmentFinder finder(graph, plan);
  CompileOptions own = options_for(parts[plan.segments.front().part], options);
  own.allow = [&](const Graph& g, const std::string& pass, const Patch& patch) {
    return finder.allows(g, pass, patch) && (!options.allow || options.allow(g, pass, patch));
  };
  codegen::Segments segments;
  Joint joint;
  try {
    joint.package = std::make_shared<Package>(
        compile_segments(graph, own, [&](const Graph& g) { return segments = finder.segments(g); }));
  } catch (const Error&) {
    return std::nullopt;  // whoever compiles the segments alone finds the same, and in which of them
  }
  const Variant& variant = joint.package->variants.front();
  if (segments.empty() || joint.package->variants.size() != 1 || !can_be_joint(variant)) return std::nullopt;
  joint.steps.resize(plan.segments.size());
  for (size_t i = 0; i < variant.steps.size(); ++i) joint.steps[segments.of[variant.steps[i].node]].push_back(i);
  for (const JointSegment& segment : joint_segments(graph, plan, joint)) {
    if (!lists_what_crosses(variant, segment)) return std::nullopt;
  }
  return joint;
}

std::unique_ptr<ParallelSession> open_joint(const Graph& graph, Plan plan, const std::vector<Part>& parts,
                                            const Joint& joint, size_t lanes) {
  plan.copies = plan.copied_bytes = 0;
  std::vector<DeviceOptions> options;
  for (const Part& part : parts) options.push_back(part.options());
  std::vector<Lane> opened(lanes);
  for (Lane& lane : opened) {
    for (std::unique_ptr<Session>& session :
         dnn::open_joint(joint.package, joint_segments(graph, plan, joint), options))
      lane.sessions.push_back(std::move(session));
  }
  return std::make_unique<ParallelSession>(std::vector<Plan>{std::move(plan)}, parts, std::move(opened));
}

}  // namespace dnn::place
