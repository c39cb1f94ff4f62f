// Names of a model; see scope.h.
#include "formats/onnx/scope.h"

#include "base/error.h"

namespace dnn::onnx {

ValueId declare(Scope& scope, const std::string& name, Type type) {
  Graph& graph = scope.draft.graph;
  auto [found, fresh] = scope.values.try_emplace(name, kNoValue);
  if (fresh) {
    found->second = graph.add_value(scope.draft.unused_name(scope.prefix + name), std::move(type));
  } else if (found->second != kNoValue && graph.value(found->second).type == Type()) {
    graph.value(found->second).type = std::move(type);
  }
  return found->second;
}

std::optional<ValueId> resolve(Scope& scope, const std::string& name) {
  const auto found = scope.values.find(name);
  if (found != scope.values.end()) return found->second;
  if (scope.parent == nullptr) return {};
  const std::optional<ValueId> outer = resolve(*scope.parent, name);
  if (!outer || *outer == kNoValue) return outer;
  const Value& value = scope.parent->draft.graph.value(*outer);
  Draft& draft = scope.draft;
  auto [captured, fresh] = draft.captured.try_emplace(value.name, kNoValue);
  if (fresh) {
    if (!draft.names.insert(value.name).second) {
      fail_malformed("value '", value.name, "' of the enclosing graph is hidden by another of that name");
    }
    captured->second = draft.graph.add_value(value.name, value.type);
    draft.graph.captures.push_back(captured->second);
  }
  scope.values[name] = captured->second;
  return captured->second;
}

ValueId resolve_input(Scope& scope, const std::string& name) {
  if (name.empty()) return kNoValue;
  const std::optional<ValueId> id = resolve(scope, name);
  if (!id) fail_malformed("input '", name, "' is not produced by any node, input or initializer");
  return *id;
}

void set_constant(Graph& graph, ValueId id, Tensor tensor) {
  Value& value = graph.value(id);
  if (value.constant || graph.is_input(id)) fail_malformed("constant '", value.name, "' is given twice");
  value.type = Type(tensor);
  value.constant = std::move(tensor);
}

void add_node(Scope& scope, Node node) {
  scope.draft.graph.add_node(std::move(node));
  scope.draft.opsets.push_back(scope.opset);
}

const AttributeProto* find_argument(const std::string& name, const Scope& scope) {
  if (scope.arguments == nullptr) fail_malformed("attribute '", name, "' is referred to outside a function");
  const auto found = scope.arguments->find(name);
  return found == scope.arguments->end() ? nullptr : found->second;
}

}  // namespace dnn::onnx
