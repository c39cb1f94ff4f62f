// eliminate-common-subexpr: of nodes with the same operator, inputs and attributes, one stays.
#include <map>

#include "graph/locate.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {
namespace {

struct AttributeText {
  std::string operator()(int64_t v) const { return cat("i", v); }
  std::string operator()(float v) const { return "f" + exact_text(v); }
  std::string operator()(const std::string& v) const { return quoted(v); }
  std::string operator()(const std::vector<int64_t>& v) const { return "I" + join(v); }
  std::string operator()(const std::vector<float>& v) const {
    std::string text = "F";
    for (float x : v) text += exact_text(x) + ",";
    return text;
  }
  std::string operator()(const std::vector<std::string>& v) const {
    std::string text = "S";
    for (const std::string& x : v) text += quoted(x) + ",";
    return text;
  }
  std::string operator()(const Tensor& v) const {
    if (v.dtype() == DType::String) return {};  // never equal
    return cat("T", dtype_name(v.dtype()), shape_text(v.shape()), quoted(as_text(v.bytes())));
  }
  std::string operator()(const std::vector<Tensor>&) const { return {}; }
  std::string operator()(const std::shared_ptr<const Graph>&) const { return {}; }
};

// Equal for nodes that compute the same; empty for those that cannot be compared.
std::string signature(const Node& node) {
  std::string text = node.domain + "." + node.op + "(" + join(node.inputs) + ")";
  for (const auto& [key, attribute] : node.attributes) {
    const std::string value = std::visit(AttributeText(), attribute);
    if (value.empty()) return {};
    text += key + "=" + value + ";";
  }
  return cat(text, node.outputs.size());
}

}  // namespace

std::vector<Patch> eliminate_common_subexpr(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  std::map<std::string, NodeId> seen;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const OpDef* op = find_op(node.domain, node.op);
    const std::string text = op == nullptr || !op->deterministic ? "" : signature(node);
    if (text.empty()) continue;
    auto [first, fresh] = seen.try_emplace(text, id);
    if (fresh) continue;
    const Node& kept = graph.node(first->second);
    bool mergeable = true;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if ((node.outputs[i] == kNoValue) != (kept.outputs[i] == kNoValue)) mergeable = false;
      if (node.outputs[i] != kNoValue && graph.is_output(node.outputs[i])) mergeable = false;
    }
    if (!mergeable) continue;
    Patch patch(graph, label_in(graph, node) + " is " + label_in(graph, kept));
    patch.remove_node(id);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != kNoValue) patch.redirect(node.outputs[i], kept.outputs[i]);
    }
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
