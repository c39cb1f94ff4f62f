// Binding of input shapes; see bind.h.
#include "graph/bind.h"

#include <algorithm>

#include "graph/text.h"

namespace dnn {
namespace {

struct Spec {
  std::string name;            // empty: the only input
  std::vector<int64_t> sizes;  // -1: kept
};

Spec parse(std::string_view text) {
  Spec spec;
  const size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    spec.name = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (text == "scalar") return spec;
  for (const std::string& word : split(text, 'x')) {
    int64_t size = -1;
    if (word != "?" && (!parse_int(word, &size) || size < 0)) {
      fail_usage("shape ", dnn::quoted(text), ": extents look like 1x3x224x224, not ", dnn::quoted(word));
    }
    spec.sizes.push_back(size);
  }
  return spec;
}

ValueId find_input(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (ValueId id : graph.inputs) {
    names.push_back(graph.value(id).name);
    if (names.back() == name) return id;
  }
  if (name.empty() && graph.inputs.size() == 1) return graph.inputs[0];
  if (name.empty()) fail_usage("a shape without a name is for models with one input; this one has ", join(names));
  fail_usage("there is no input ", dnn::quoted(name), "; the model has ", names.empty() ? "none" : join(names));
}

}  // namespace

void bind_symbol(Graph& graph, const std::string& symbol, int64_t size) {
  for (ValueId id = 0; id < graph.value_count(); ++id) {
    std::optional<std::vector<Dim>>& shape = graph.value(id).type.shape;
    if (!shape) continue;
    for (Dim& dim : *shape) {
      if (!dim.fixed() && dim.symbol == symbol) dim = Dim(size);
    }
  }
  for (NodeId id : graph.order()) {
    for (auto& [key, attribute] : graph.node(id).attributes) {
      auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      auto bound = std::make_shared<Graph>(**body);
      bind_symbol(*bound, symbol, size);
      *body = std::move(bound);
    }
  }
}

void bind_shape(Graph& graph, std::string_view text) {
  const Spec spec = parse(text);
  const ValueId id = find_input(graph, spec.name);
  const Value& value = graph.value(id);
  if (!value.type.shape) {
    std::vector<Dim> dims;
    for (int64_t size : spec.sizes) dims.push_back(size < 0 ? Dim() : Dim(size));
    graph.value(id).type.shape = std::move(dims);
    return;
  }
  const std::vector<Dim> declared = *value.type.shape;
  const std::string given = type_text(value.type);
  const auto disagree = [&] {
    fail_usage("input ", graph.value(id).name, " is ", given, ", which ", text, " contradicts");
  };
  if (declared.size() != spec.sizes.size()) disagree();
  for (size_t i = 0; i < declared.size(); ++i) {
    const int64_t size = spec.sizes[i];
    const Dim now = (*graph.value(id).type.shape)[i];  // an earlier extent may have bound this one's symbol
    if (size < 0) continue;
    if (now.fixed()) {
      if (now.size != size) disagree();
    } else if (now.symbol.empty()) {
      (*graph.value(id).type.shape)[i] = Dim(size);
    } else {
      bind_symbol(graph, now.symbol, size);
    }
  }
}

}  // namespace dnn
