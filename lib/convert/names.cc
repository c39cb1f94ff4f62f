// Finding what a user names; see surgery.h.
#include "base/error.h"
#include "convert/surgery.h"

namespace dnn {
namespace {

[[noreturn]] void not_there(std::string_view what, const std::string& name,
                            const std::vector<std::string>& candidates) {
  const std::string nearest = nearest_word(name, candidates);
  fail_usage(what, ": there is no ", quoted(name),
             !nearest.empty()         ? "; did you mean " + quoted(nearest) + "?"
             : candidates.size() <= 8 ? "; there are " + join(candidates)
                                      : "; dnn-cat shows the names");
}

}  // namespace

ValueId named_value(const Graph& graph, const std::string& name, std::string_view what) {
  if (const ValueId id = graph.find_value(name); id != kNoValue) return id;
  std::vector<std::string> candidates;
  for (ValueId id : graph.inputs) candidates.push_back(graph.value(id).name);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.name.empty() && node.name == name && !node.outputs.empty() && node.outputs[0] != kNoValue)
      return node.outputs[0];
    if (!node.name.empty()) candidates.push_back(node.name);
    for (ValueId output : node.outputs) {
      if (output != kNoValue) candidates.push_back(graph.value(output).name);
    }
  }
  not_there(what, name, candidates);
}

size_t named_input(const Graph& graph, const std::string& name) {
  std::vector<std::string> candidates;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    candidates.push_back(graph.value(graph.inputs[i]).name);
    if (candidates.back() == name) return i;
  }
  not_there("inputs", name, candidates);
}

std::pair<std::string, std::string> pair_of(std::string_view spec, char separator, std::string_view form) {
  const size_t at = spec.rfind(separator);
  if (at == std::string_view::npos || at == 0 || at + 1 == spec.size()) fail_usage(quoted(spec), ": give it as ", form);
  return {std::string(spec.substr(0, at)), std::string(spec.substr(at + 1))};
}

}  // namespace dnn
