// Another name for a value; see rename.h.
#include "graph/rename.h"

namespace dnn {
namespace {

// In bodies, `from` of the graphs around them is called `to`.
void follow(Graph& graph, const std::string& from, const std::string& to) {
  for (NodeId id : graph.order()) {
    for (auto& [key, attribute] : graph.node(id).attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      ValueId capture = kNoValue;
      for (ValueId v : (*body)->captures) {
        if ((*body)->value(v).name == from) capture = v;
      }
      if (capture == kNoValue) continue;
      auto copy = std::make_shared<Graph>(**body);
      rename_value(*copy, capture, to);
      *body = std::move(copy);
    }
  }
}

}  // namespace

void rename_value(Graph& graph, ValueId v, const std::string& name) {
  const std::string from = graph.value(v).name;
  if (from == name) return;
  const ValueId other = graph.find_value(name);
  if (other != kNoValue) rename_value(graph, other, graph.unused_value_name(name));
  graph.value(v).name = name;
  follow(graph, from, name);
}

}  // namespace dnn
