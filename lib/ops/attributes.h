// The attribute schema of operators: what each attribute is called, its type, what holds where a node leaves it out, and a
// line of text. Code asks a node for its attributes through the accessors here, which know no other defaults.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace dnn {

// The alternatives of Attribute, in their order.
enum class AttributeType { Int, Float, String, Tensor, Graph, Ints, Floats, Strings, Tensors };
const char* attribute_type_name(AttributeType type);
AttributeType type_of(const Attribute& attribute);

struct AttributeDef {
  // An attribute without a default: its text says what holds where it is left out.
  struct Optional {
    AttributeType type;
  };
  // One that every node must have.
  struct Required {
    AttributeType type;
  };
  // A list that is `value` for each axis where it is left out.
  struct PerAxis {
    int64_t value;
  };

  std::string name;
  AttributeType type;
  std::string text;
  std::optional<Attribute> fallback;  // what holds where it is left out, if it is one value
  std::optional<int64_t> per_axis;
  bool required = false;

  AttributeDef(std::string key, int value, std::string meaning)
      : AttributeDef(std::move(key), Attribute(int64_t{value}), std::move(meaning)) {}
  AttributeDef(std::string key, float value, std::string meaning)
      : AttributeDef(std::move(key), Attribute(value), std::move(meaning)) {}
  AttributeDef(std::string key, const char* value, std::string meaning)
      : AttributeDef(std::move(key), Attribute(std::string(value)), std::move(meaning)) {}
  AttributeDef(std::string key, std::vector<int64_t> values, std::string meaning)
      : AttributeDef(std::move(key), Attribute(std::move(values)), std::move(meaning)) {}
  AttributeDef(std::string key, Optional optional, std::string meaning)
      : name(std::move(key)), type(optional.type), text(std::move(meaning)) {}
  AttributeDef(std::string key, Required must, std::string meaning)
      : name(std::move(key)), type(must.type), text(std::move(meaning)), required(true) {}
  AttributeDef(std::string key, PerAxis list, std::string meaning)
      : name(std::move(key)), type(AttributeType::Ints), text(std::move(meaning)), per_axis(list.value) {}

 private:
  AttributeDef(std::string key, Attribute value, std::string meaning)
      : name(std::move(key)), type(type_of(value)), text(std::move(meaning)), fallback(std::move(value)) {}
};
using AttributeDefs = std::vector<AttributeDef>;

// For schemas: {"axis", required(AttributeType::Int), "..."}.
inline AttributeDef::Optional optional(AttributeType type) { return {type}; }
inline AttributeDef::Required required(AttributeType type) { return {type}; }
inline AttributeDef::PerAxis per_axis(int64_t value) { return {value}; }

// The schema's row of that name, or null.
const AttributeDef* find_attribute(const AttributeDefs& schema, std::string_view name);

// The attribute of a node, or what its operator's schema says for one that is left out: its default; without one 0 or
// nothing. Malformed where a required one is missing or a present one has another type. Internal where the schema has no
// attribute of that name and type: code may ask for nothing else.
int64_t int_attribute(const Node& node, std::string_view name);
bool flag_attribute(const Node& node, std::string_view name);  // an integer other than 0
float float_attribute(const Node& node, std::string_view name);
std::string string_attribute(const Node& node, std::string_view name);
std::vector<int64_t> ints_attribute(const Node& node, std::string_view name);
std::vector<int64_t> ints_attribute(const Node& node, std::string_view name, size_t axes);  // one per axis
std::vector<float> floats_attribute(const Node& node, std::string_view name);
// Whether the node's operator has an attribute of that name at all.
bool takes_attribute(const Node& node, std::string_view name);

// Throws Unsupported for an attribute of the node that its operator lacks, with the name in `known` that is nearest to it.
[[noreturn]] void fail_unknown_attribute(const Node& node, const std::string& name,
                                         const std::vector<std::string>& known);
std::vector<std::string> attribute_names(const AttributeDefs& schema);

}  // namespace dnn
