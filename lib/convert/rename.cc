// Renaming values and nodes; see surgery.h.
#include "graph/rename.h"
#include "base/error.h"
#include "convert/surgery.h"

namespace dnn {

void rename(Graph& graph, std::string_view spec) {
  const auto [from, to] = pair_of(spec, '=', "OLD=NEW");
  const ValueId id = graph.find_value(from);
  if (id != kNoValue) {
    if (from == to) return;
    if (graph.find_value(to) != kNoValue)
      fail_usage("rename ", from, ": ", quoted(to), " is the name of another value");
    rename_value(graph, id, std::string(to));
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
