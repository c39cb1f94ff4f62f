// The text form as a model format; see text.h.
#include "formats/text/text.h"

#include "graph/text.h"

namespace dnn::text {

bool sniff(const ModelSource& source) {
  std::string_view text = as_text(source.bytes);
  while (!text.empty()) {
    const size_t blank = text.find_first_not_of(" \t\r\n");
    if (blank == std::string_view::npos) return false;
    text.remove_prefix(blank);
    if (text[0] != '#') break;
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end);
  }
  return starts_with(text, "graph ") || starts_with(text, "graph{");
}

Graph read(const ModelSource& source) {
  Graph graph = parse_graph(as_text(source.bytes));
  // Layouts are what passes chose (--emit prints them); a model that is read begins without.
  for (ValueId id = 0; id < graph.value_count(); ++id) graph.value(id).layout.clear();
  return graph;
}

ModelFiles to_files(const Graph& graph, const WriteOptions&) {
  return {{"", to_text(graph, {.inline_elements = 32, .inline_all = true})}};
}

}  // namespace dnn::text
