// Comparing attributes by meaning; see attributes.h.
#include "localize/attributes.h"

#include <map>
#include <set>

#include "graph/text.h"

namespace dnn {
namespace {

// What an operator does where the attribute is left out; "" for no default that is known.
std::string default_of(const Node& node, const std::string& key, size_t rank) {
  static const std::map<std::string, std::string, std::less<>> kDefaults = {{"group", "1"},
                                                                            {"ceil_mode", "0"},
                                                                            {"count_include_pad", "0"},
                                                                            {"storage_order", "0"},
                                                                            {"epsilon", "1e-05"},
                                                                            {"momentum", "0.9"},
                                                                            {"training_mode", "0"},
                                                                            {"spatial", "1"},
                                                                            {"alpha", ""},
                                                                            {"auto_pad", "\"NOTSET\""},
                                                                            {"keepdims", "1"},
                                                                            {"noop_with_empty_axes", "0"},
                                                                            {"transA", "0"},
                                                                            {"transB", "0"},
                                                                            {"allowzero", "0"},
                                                                            {"mode", ""},
                                                                            {"exclude_outside", "0"}};
  const auto ints = [&](int64_t x, size_t n) { return attribute_text(std::vector<int64_t>(n, x)); };
  const size_t spatial = rank > 2 ? rank - 2 : 0;
  if (key == "dilations" || (key == "strides" && node.op != "Slice")) return ints(1, spatial);
  if (key == "pads") return ints(0, 2 * spatial);
  if (key == "alpha" && node.op == "LeakyRelu") return attribute_text(0.01F);
  if (key == "alpha" && (node.op == "Elu" || node.op == "Gemm")) return attribute_text(1.0F);
  if (key == "beta" && node.op == "Gemm") return attribute_text(1.0F);
  if (key == "axis" && (node.op == "Softmax" || node.op == "LogSoftmax")) return "-1";
  if (key == "axis" && node.op == "Flatten") return "1";
  if (key == "epsilon") return attribute_text(1e-5F);
  if (key == "mode" && node.op == "Pad") return "\"constant\"";
  if (key == "mode" && node.op == "Resize") return "\"nearest\"";
  const auto found = kDefaults.find(key);
  return found == kDefaults.end() ? "" : found->second;
}

bool says_nothing(const std::string& key) {
  static const std::set<std::string, std::less<>> kKeys = {"momentum", "kernel_shape", "training_mode", "spatial",
                                                           "axis_is_last"};
  return kKeys.count(key) != 0;
}

std::string attribute_of(const Node& node, const std::string& key, size_t rank) {
  const auto found = node.attributes.find(key);
  if (found == node.attributes.end()) return default_of(node, key, rank);
  if (std::holds_alternative<std::shared_ptr<const Graph>>(found->second)) return "a graph";
  std::string text = attribute_text(found->second);
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
