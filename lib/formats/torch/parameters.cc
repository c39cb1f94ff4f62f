// Which constants are a module's state; see parameters.h.
#include "formats/torch/parameters.h"

#include <algorithm>
#include <set>

#include "layout/settle.h"

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
  if (starts_with(node.op, "QLinear") && is_integer(tensor.dtype()) && (i == 3 || i == 8)) return Role::Buffer;
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

// "onnx::MatMul_1268": torch.onnx's name for a tensor that it computed from the model's.
bool made_up(const std::string& name) { return starts_with(name, "onnx::"); }

// Weight and bias of a layer whose exporter made up names, under those that the module has.
void name_after_layer(const Graph& graph, const Uses& uses, const Node& node, ValueId weight, ValueId bias,
                      std::map<ValueId, Held>* held) {
  const std::string path = module_path(node.name);
  const auto rename = [&](ValueId v, const std::string& name) {
    if (v == kNoValue || graph.constant(v) == nullptr || !made_up(graph.value(v).name)) return;
    if (uses.readers[v].size() != 1 || graph.find_value(name) != kNoValue) return;
    const bool taken = std::any_of(held->begin(), held->end(), [&](const auto& h) { return h.second.key == name; });
    if (!taken) held->at(v).key = name;
  };
  if (bias != kNoValue && uses.readers[bias].size() == 1 && !made_up(graph.value(bias).name) &&
      ends_with(graph.value(bias).name, "bias")) {
    const std::string& name = graph.value(bias).name;
    rename(weight, name.substr(0, name.size() - 4) + "weight");
  }
  if (path.empty()) return;
  rename(weight, path + ".weight");
  rename(bias, path + ".bias");
}

}  // namespace

std::string module_path(const std::string& node_name) {
  const size_t end = node_name.rfind('/');
  if (!starts_with(node_name, "/") || end == 0) return "";
  std::string path, last;
  for (const std::string& part : split(node_name.substr(1, end - 1), '/')) {
    if (!last.empty() && starts_with(part, last + ".")) path.resize(path.size() - last.size());
    if (!path.empty() && path.back() != '.') path += '.';
    path += part;
    last = part;
  }
  return path;
}

std::map<NodeId, Dense> dense_layers(const Graph& graph) {
  const Uses uses(graph);
  const auto only_reader = [&](ValueId v) { return uses.readers[v].size() == 1; };
  std::map<NodeId, Dense> layers;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool gemm = node.op == "Gemm", product = node.op == "MatMul";
    if (!node.domain.empty() || (!gemm && !product)) continue;
    const Tensor* w = graph.constant(node.input(1));
    if (w == nullptr || w->rank() != 2 || !is_float(w->dtype()) || !only_reader(node.inputs[1])) continue;
    const auto fits = [&](ValueId v) {
      const Tensor* bias = graph.constant(v);
      return bias != nullptr && bias->rank() == 1 && bias->dim(0) == w->dim(1) && bias->dtype() == w->dtype();
    };
    Dense dense{node.inputs[1], kNoValue, -1};
    if (gemm) {
      const bool plain = node.attribute_int("transA", 0) == 0 && node.attribute_int("transB", 0) == 0 &&
                         node.attribute_float("alpha", 1) == 1 && node.attribute_float("beta", 1) == 1;
      dense.bias = node.input(2);
      if (!plain || (dense.bias != kNoValue && !fits(dense.bias))) continue;
    } else if (const ValueId y = node.outputs[0]; only_reader(y) && !graph.is_output(y)) {
      const NodeId reader = uses.readers[y][0];
      const Node& add = graph.node(reader);
      if (add.op == "Add" && add.domain.empty() && add.inputs[0] != add.inputs[1]) {
        const ValueId other = add.inputs[add.inputs[0] == y ? 1 : 0];
        if (fits(other)) dense = {node.inputs[1], other, reader};
      }
    }
    layers.emplace(id, dense);
  }
  return layers;
}

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
  const Uses uses(graph);
  const std::map<NodeId, Dense> dense = dense_layers(graph);
  for (const auto& [id, layer] : dense) {
    Held& weight = held.at(layer.weight);
    weight.tensor = transposed(weight.tensor, {1, 0});
    if (layer.bias != kNoValue) held.at(layer.bias).role = Role::Parameter;
  }
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const auto at = dense.find(id);
    if (at != dense.end()) {
      name_after_layer(graph, uses, node, at->second.weight, at->second.bias, &held);
    } else if (node.domain.empty() && (node.op == "Conv" || node.op == "ConvTranspose" || node.op == "Gemm")) {
      name_after_layer(graph, uses, node, node.input(1), node.input(2), &held);
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
