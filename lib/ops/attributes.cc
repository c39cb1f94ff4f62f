// Attribute schemas; see attributes.h.
#include "ops/attributes.h"

#include <algorithm>

#include "base/text.h"
#include "graph/locate.h"
#include "ops/channels_last.h"
#include "ops/op.h"

namespace dnn {
namespace {

const AttributeDef* find(const Node& node, std::string_view name) {
  const OpDef* op = find_op(node.domain == kChannelsLastDomain ? std::string_view() : node.domain, node.op);
  return op == nullptr ? nullptr : find_attribute(op->attributes, name);
}

template <class T>
T value(const Node& node, std::string_view name) {
  const AttributeDef* row = find(node, name);
  if (row == nullptr || row->type != type_of(T()))
    fail_internal(node.label(), ": the operator's schema has no attribute ", quoted(name), " of that type");
  const auto found = node.attributes.find(std::string(name));
  if (found == node.attributes.end()) {
    if (row->required) fail_malformed(node.label(), ": attribute '", name, "' is missing");
    return row->fallback ? std::get<T>(*row->fallback) : T();
  }
  const T* given = std::get_if<T>(&found->second);
  if (given == nullptr)
    fail_malformed(node.label(), ": attribute '", name, "' is not ", attribute_type_name(row->type));
  return *given;
}

}  // namespace

const char* attribute_type_name(AttributeType type) {
  static constexpr const char* kNames[] = {"an integer",       "a float",           "a string",
                                           "a tensor",         "a graph",           "a list of integers",
                                           "a list of floats", "a list of strings", "a list of tensors"};
  return kNames[static_cast<size_t>(type)];
}

AttributeType type_of(const Attribute& attribute) { return static_cast<AttributeType>(attribute.index()); }

const AttributeDef* find_attribute(const AttributeDefs& schema, std::string_view name) {
  const auto found =
      std::find_if(schema.begin(), schema.end(), [&](const AttributeDef& row) { return row.name == name; });
  return found == schema.end() ? nullptr : &*found;
}

int64_t int_attribute(const Node& node, std::string_view name) { return value<int64_t>(node, name); }
bool flag_attribute(const Node& node, std::string_view name) { return int_attribute(node, name) != 0; }
float float_attribute(const Node& node, std::string_view name) { return value<float>(node, name); }
std::string string_attribute(const Node& node, std::string_view name) { return value<std::string>(node, name); }

std::vector<int64_t> ints_attribute(const Node& node, std::string_view name) {
  return value<std::vector<int64_t>>(node, name);
}

std::vector<int64_t> ints_attribute(const Node& node, std::string_view name, size_t axes) {
  const AttributeDef* row = find(node, name);
  if (row != nullptr && row->per_axis && !node.has_attribute(name)) return std::vector<int64_t>(axes, *row->per_axis);
  return ints_attribute(node, name);
}

std::vector<float> floats_attribute(const Node& node, std::string_view name) {
  return value<std::vector<float>>(node, name);
}

bool takes_attribute(const Node& node, std::string_view name) { return find(node, name) != nullptr; }

void fail_unknown_attribute(const Node& node, const std::string& name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_word(name, known);
  fail_unsupported(node.label(), ": the operator has no attribute ", quoted(name),
                   nearest.empty() ? "" : cat(", the nearest is ", quoted(nearest)),
                   "; dnn-convert --ignore-attribute NAME reads the model without it");
}

std::vector<std::string> attribute_names(const AttributeDefs& schema) {
  std::vector<std::string> names;
  for (const AttributeDef& row : schema) names.push_back(row.name);
  return names;
}

void check_schema(const Node& node, const OpDef& op) {
  const int n = static_cast<int>(node.inputs.size()), m = static_cast<int>(node.outputs.size());
  if (op.max_inputs >= 0 && n > op.max_inputs)
    fail_malformed(node.label(), ": ", n, " inputs, at most ", op.max_inputs, " expected");
  if (op.max_outputs >= 0 && m > op.max_outputs)
    fail_malformed(node.label(), ": ", m, " outputs, at most ", op.max_outputs, " expected");
  for (const auto& [name, attribute] : node.attributes) {
    const AttributeDef* row = find_attribute(op.attributes, name);
    if (row == nullptr) fail_unknown_attribute(node, name, attribute_names(op.attributes));
    if (type_of(attribute) != row->type)
      fail_malformed(node.label(), ": attribute '", name, "' is not ", attribute_type_name(row->type));
  }
  for (const AttributeDef& row : op.attributes) {
    if (row.required && !node.has_attribute(row.name))
      fail_malformed(node.label(), ": attribute '", row.name, "' is missing");
  }
}

void check_schemas(const Graph& graph) {
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    try {
      if (const OpDef* op = find_op(node.domain, node.op)) check_schema(node, *op);
      for (const auto& [name, attribute] : node.attributes) {
        if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) check_schemas(**body);
      }
    } catch (Error& error) {
      locate(error, graph, node);
      throw;
    }
  }
}

}  // namespace dnn
