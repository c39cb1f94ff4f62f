// Renaming values and nodes; see surgery.h.
#include "base/error.h"
#include "convert/surgery.h"

namespace dnn {
namespace {

// Subgraphs read the values around them by name.
void rename_captures(Graph& graph, const std::string& from, const std::string& to) {
  for (NodeId id : graph.order()) {
    for (auto& [key, attribute] : graph.node(id).attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      auto copy = std::make_shared<Graph>(**body);
      bool reads = false;
      for (ValueId capture : copy->captures) {
        if (copy->value(capture).name != from) continue;
        if (copy->find_value(to) != kNoValue)
          fail_usage("rename ", from, ": ", quoted(to), " is the name of another value, in ", graph.node(id).label());
        copy->value(capture).name = to;
        reads = true;
      }
      if (!reads) continue;
      rename_captures(*copy, from, to);
      *body = std::move(copy);
    }
  }
}

}  // namespace

void rename(Graph& graph, std::string_view spec) {
  const auto [from, to] = pair_of(spec, '=', "OLD=NEW");
  const ValueId id = graph.find_value(from);
  if (id != kNoValue) {
    if (from == to) return;
    if (graph.find_value(to) != kNoValue)
      fail_usage("rename ", from, ": ", quoted(to), " is the name of another value");
    graph.value(id).name = to;
    rename_captures(graph, from, to);
    return;
  }
  for (NodeId node : graph.order()) {
    if (graph.node(node).name != from) continue;
    graph.node(node).name = to;
    return;
  }
  named_value(graph, from, "rename");  // throws, with the nearest name
}

}  // namespace dnn
