// Functions of a model; see functions.h.
#include "formats/onnx/functions.h"

#include <algorithm>

#include "base/error.h"
#include "ops/attributes.h"

namespace dnn::onnx {
namespace {

// The limits of inlining: a few hundred bytes of nested functions can otherwise ask for 2^n nodes.
constexpr int64_t kMaxInlinedNodes = 50'000;
constexpr size_t kMaxInlinedBytes = size_t{512} << 20;
constexpr int kMaxFunctionDepth = 64;

std::string function_key(const std::string& domain, const std::string& name, const std::string& overload) {
  return canonical_domain(domain) + '\0' + name + '\0' + overload;
}

}  // namespace

std::string canonical_domain(const std::string& domain) { return domain == "ai.onnx" ? "" : domain; }

Functions::Functions(const ModelProto& model) {
  for (const FunctionProto& function : model.functions())
    functions_[function_key(function.domain(), function.name(), function.overload())] = &function;
}

const FunctionProto* Functions::called(const NodeProto& node) const {
  const auto found = functions_.find(function_key(node.domain(), node.op_type(), node.overload()));
  return found == functions_.end() ? nullptr : found->second;
}

Functions::Call::Call(Functions& functions, const FunctionProto& function) : functions_(functions) {
  if (functions.depth_ == 0) {
    functions.spend(functions.inlined_size(function, 1), 0);
  } else if (functions.depth_ >= kMaxFunctionDepth) {
    fail_malformed("functions nest deeper than ", kMaxFunctionDepth, ", or call themselves");
  }
  ++functions.depth_;
}

void Functions::spend(int64_t n_nodes, size_t n_bytes) {
  inlined_nodes_ += n_nodes;
  inlined_bytes_ += n_bytes;
  if (inlined_nodes_ > kMaxInlinedNodes || inlined_bytes_ > kMaxInlinedBytes) {
    fail_unsupported("inlining the model's functions makes more than ", kMaxInlinedNodes, " nodes or ",
                     kMaxInlinedBytes, " bytes");
  }
}

// Nodes that the body becomes, calls within it inlined; counted before any is made.
int64_t Functions::inlined_size(const FunctionProto& function, int depth) {
  if (depth > kMaxFunctionDepth) {
    fail_malformed("functions nest deeper than ", kMaxFunctionDepth, ", or call themselves");
  }
  const auto [known, fresh] = inlined_sizes_.try_emplace(&function, 0);
  if (!fresh && known->second > 0) return known->second;
  int64_t n = 1;
  for (const NodeProto& node : function.node()) {
    const FunctionProto* inner = called(node);
    n += inner == nullptr ? 1 : inlined_size(*inner, depth + 1);
    if (n > kMaxInlinedNodes) n = kMaxInlinedNodes + 1;
  }
  inlined_sizes_[&function] = n;
  return n;
}

Arguments function_arguments(const FunctionProto& function, const NodeProto& call, const Node& node, const Scope& scope,
                             const IgnoredFields& ignored) {
  Arguments arguments;
  for (const AttributeProto& attribute : function.attribute_proto()) arguments[attribute.name()] = &attribute;
  const auto takes = [&](const std::string& name) {
    return arguments.count(name) != 0 ||
           std::find(function.attribute().begin(), function.attribute().end(), name) != function.attribute().end();
  };
  for (const AttributeProto& attribute : call.attribute()) {
    if (!takes(attribute.name()) && !is_ignored(ignored, node.op, attribute.name()))
      fail_unknown_attribute(node, attribute.name(), {function.attribute().begin(), function.attribute().end()});
    const AttributeProto* argument =
        attribute.has_ref_attr_name() ? find_argument(attribute.ref_attr_name(), scope) : &attribute;
    if (argument != nullptr) arguments[attribute.name()] = argument;
  }
  return arguments;
}

}  // namespace dnn::onnx
