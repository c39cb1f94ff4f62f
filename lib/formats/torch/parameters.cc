// Which constants are a module's state; see parameters.h.
#include "formats/torch/parameters.h"

#include <algorithm>
#include <set>

namespace dnn::torch {
namespace {

// Operators that are layers with weights: all that is constant and floating-point among their inputs is a parameter.
const std::set<std::string>& layers() {
  static const std::set<std::string> names = {"Conv",
                                              "ConvTranspose",
                                              "Gemm",
                                              "PRelu",
                                              "BatchNormalization",
                                              "LayerNormalization",
                                              "RMSNormalization",
                                              "InstanceNormalization",
                                              "GroupNormalization"};
  return names;
}

Role role_of(const Node& node, size_t i, const Tensor& tensor) {
  if (!node.domain.empty()) return Role::Constant;
  if (node.op == "BatchNormalization" && i >= 3) return Role::Buffer;
  if (node.op == "DequantizeLinear" || node.op == "QuantizeLinear")
    return i == 0 || tensor.size() > 1 ? Role::Buffer : Role::Constant;
  if (!is_float(tensor.dtype()) || dtype_size(tensor.dtype()) < 2) return Role::Constant;
  if (layers().count(node.op) != 0) return Role::Parameter;
  const bool setting = (node.op == "Clip" || node.op == "Pad" || node.op == "Resize") && i > 0;
  return setting || tensor.size() <= 1 ? Role::Constant : Role::Parameter;
}

// One slope per channel stands along axis 1 in ONNX and alone in PyTorch.
Tensor in_shape(const Graph& graph, const Node& node, size_t i, const Tensor& tensor) {
  if (node.op != "PRelu" || i != 1 || !graph.value(node.inputs[0]).type.shape) return tensor;
  const auto rank = static_cast<int>(graph.value(node.inputs[0]).type.shape->size());
  const bool channels = tensor.size() == 1 || (tensor.rank() == rank - 1 && tensor.size() == tensor.dim(0));
  return channels ? tensor.reshaped({tensor.size()}) : tensor;
}

}  // namespace

std::map<ValueId, Held> held_constants(const Graph& graph) {
  std::map<ValueId, Held> held;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Tensor* constant = graph.constant(node.inputs[i]);
      if (constant == nullptr) continue;
      const auto [at, fresh] = held.try_emplace(node.inputs[i]);
      Held& h = at->second;
      const Role role = role_of(node, i, *constant);
      if (fresh) h = {role, graph.value(node.inputs[i]).name, in_shape(graph, node, i, *constant)};
      if (h.role == Role::Constant) h.role = role;
    }
  }
  return held;
}

std::vector<Held> module_state(const Graph& graph) {
  const std::map<ValueId, Held> all = held_constants(graph);
  std::vector<Held> state;
  std::set<ValueId> done;
  for (NodeId id : graph.order()) {
    for (ValueId v : graph.node(id).inputs) {
      const auto at = all.find(v);
      if (at == all.end() || at->second.role == Role::Constant || !done.insert(v).second) continue;
      state.push_back(at->second);
    }
  }
  return state;
}

}  // namespace dnn::torch
