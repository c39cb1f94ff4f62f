// label_in() and locate(); see locate.h.
#include "graph/locate.h"

namespace dnn {
namespace {

// "value 'y'": what an unnamed node makes first; "" for a node with a name, and for one that makes nothing.
std::string place(const Graph& graph, const Node& node) {
  if (!node.name.empty()) return "";
  for (ValueId id : node.outputs) {
    if (id != kNoValue) return "value '" + graph.value(id).name + "'";
  }
  return "";
}

bool says(const Error& error, const std::string& text) {
  return std::string_view(error.what()).find(text) != std::string_view::npos;
}

}  // namespace

std::string label_in(const Graph& graph, const Node& node) {
  const std::string where = place(graph, node);
  return where.empty() ? node.label() : where + ": " + node.label();
}

void locate(Error& error, const Graph& graph, const Node& node) {
  if (!says(error, node.label())) error.within(node.label());
  const std::string where = place(graph, node);
  if (!where.empty() && !says(error, where)) error.within(where);
}

}  // namespace dnn
