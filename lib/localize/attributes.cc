// Comparing attributes by meaning; see attributes.h.
#include "localize/attributes.h"

#include <set>

#include "graph/text.h"
#include "ops/op.h"

namespace dnn {
namespace {

// What an operator does where the attribute is left out; "" for no default that is known.
std::string default_of(const Node& node, const std::string& key, size_t rank) {
  const OpDef* op = find_op(node.domain, node.op);
  const AttributeDef* row = op == nullptr ? nullptr : find_attribute(op->attributes, key);
  if (row == nullptr) return "";
  if (row->fallback) return attribute_text(*row->fallback);
  const size_t spatial = rank > 2 ? rank - 2 : 0;
  if (!row->per_axis) return "";
  return attribute_text(std::vector<int64_t>(key == "pads" ? 2 * spatial : spatial, *row->per_axis));
}

bool says_nothing(const std::string& key) {
  static const std::set<std::string, std::less<>> kKeys = {"momentum", "kernel_shape", "training_mode", "spatial",
                                                           "axis_is_last"};
  return kKeys.count(key) != 0;
}

std::string attribute_of(const Node& node, const std::string& key, size_t rank) {
  const auto found = node.attributes.find(key);
  const bool given = found != node.attributes.end();
  if (given && std::holds_alternative<std::shared_ptr<const Graph>>(found->second)) return "a graph";
  std::string text = given ? attribute_text(found->second) : default_of(node, key, rank);
  if (key == "axis" && rank > 0) {
    int64_t axis = 0;
    if (parse_int(text, &axis) && axis < 0) text = std::to_string(axis + static_cast<int64_t>(rank));
  }
  if (key == "auto_pad" && text == "\"\"") text = "\"NOTSET\"";
  return text;
}

size_t rank_of(const Graph& graph, const Node& node) {
  const ValueId v = node.input(0);
  return v == kNoValue || !graph.value(v).type.shape ? 0 : graph.value(v).type.shape->size();
}

}  // namespace

std::vector<AttributeDifference> attribute_differences(const Graph& source, const Node& a, const Graph& target,
                                                       const Node& b) {
  std::set<std::string> keys;
  for (const auto& [key, value] : a.attributes) keys.insert(key);
  for (const auto& [key, value] : b.attributes) keys.insert(key);
  size_t ranks[] = {rank_of(source, a), rank_of(target, b)};
  for (size_t i : {0, 1}) ranks[i] = ranks[i] == 0 ? ranks[1 - i] : ranks[i];  // of the side that has a shape
  std::vector<AttributeDifference> found;
  for (const std::string& key : keys) {
    if (says_nothing(key)) continue;
    const std::string left = attribute_of(a, key, ranks[0]), right = attribute_of(b, key, ranks[1]);
    if (left != right) found.push_back({key, left.empty() ? "left out" : left, right.empty() ? "left out" : right});
  }
  return found;
}

}  // namespace dnn
