// canonicalize-ops: one spelling for what can be written several ways, and nothing for what does nothing.
#include <algorithm>

#include "graph/locate.h"
#include "ops/movement.h"
#include "passes/einsum_products.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

bool same_fixed_type(const Graph& graph, ValueId a, ValueId b) {
  return graph.value(a).type.fixed() && graph.value(a).type == graph.value(b).type;
}

void bypass(const Graph& graph, NodeId id, std::vector<Patch>* patches) {
  const Node& node = graph.node(id);
  const ValueId x = node.inputs[0], y = node.outputs[0];
  if (graph.is_output(y) && (graph.is_input(x) || graph.constant(x) != nullptr || graph.is_output(x))) return;
  Patch patch(graph, label_in(graph, node) + " does nothing");
  patch.remove_node(id);
  patch.redirect(y, x);
  patches->push_back(std::move(patch));
}

// `node` becomes a Reshape of `from` to its own output's shape.
void to_reshape(const Graph& graph, NodeId id, ValueId from, const std::string& why, std::vector<Patch>* patches) {
  const Node& node = graph.node(id);
  const Shape shape = graph.value(node.outputs[0]).type.fixed_shape();
  Patch patch(graph, label_in(graph, node) + " " + why);
  Node reshape;
  reshape.name = node.name;
  reshape.sources = node.sources;
  reshape.op = "Reshape";
  reshape.attributes["allowzero"] = int64_t{1};
  reshape.inputs = {from, patch.add_constant(graph.value(node.outputs[0]).name + ".shape",
                                             Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape))};
  reshape.outputs = {node.outputs[0]};
  patch.add_node(std::move(reshape));
  patch.remove_node(id);
  patches->push_back(std::move(patch));
}

std::vector<int64_t> permutation(const Graph& graph, const Node& node) {
  const Type& type = graph.value(node.inputs[0]).type;
  return transpose_permutation(node, type.shape ? type.shape->size() : 0);
}

void transpose(const Graph& graph, const Uses& uses, NodeId id, std::vector<Patch>* patches) {
  const Node& node = graph.node(id);
  const std::vector<int64_t> perm = permutation(graph, node);
  if (perm.empty()) return;
  bool identity = true;
  for (size_t i = 0; i < perm.size(); ++i) identity = identity && perm[i] == static_cast<int64_t>(i);
  if (identity) return bypass(graph, id, patches);
  const NodeId before = uses.producer[node.inputs[0]];
  if (before < 0 || !is_op(graph.node(before), "Transpose")) return;
  const std::vector<int64_t> first = permutation(graph, graph.node(before));
  if (first.size() != perm.size()) return;
  std::vector<int64_t> both;
  for (int64_t axis : perm) both.push_back(first[axis]);
  Patch patch(graph, label_in(graph, node) + " merged with " + label_in(graph, graph.node(before)));
  Node merged = node;
  merged.inputs = {graph.node(before).inputs[0]};
  merged.attributes["perm"] = both;
  merged.sources = sources_of(node);
  patch.add_node(std::move(merged));
  patch.remove_node(id);
  patches->push_back(std::move(patch));
}

bool pads_nothing(const Graph& graph, const Node& node) {
  const Tensor* pads = graph.constant(node.input(1));
  if (pads == nullptr) return false;
  const std::vector<int64_t> widths = to_int64s(*pads);
  return std::all_of(widths.begin(), widths.end(), [](int64_t width) { return width == 0; });
}

// x to the power of 2 is x times x.
void square(const Graph& graph, NodeId id, std::vector<Patch>* patches) {
  const Node& node = graph.node(id);
  const Tensor* exponent = graph.constant(node.inputs[1]);
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  if (exponent == nullptr || exponent->size() != 1 || to_doubles(*exponent)[0] != 2 || x.dtype != y.dtype ||
      !same_fixed_type(graph, node.inputs[0], node.outputs[0])) {
    return;
  }
  Patch patch(graph, label_in(graph, node) + " written as Mul");
  Node product;
  product.name = node.name;
  product.sources = sources_of(node);
  product.op = "Mul";
  product.inputs = {node.inputs[0], node.inputs[0]};
  product.outputs = {node.outputs[0]};
  patch.add_node(std::move(product));
  patch.remove_node(id);
  patches->push_back(std::move(patch));
}

}  // namespace

// One rounding is the same at each level, and a library's power is not.
std::vector<Patch> squares_as_products(const Graph& graph) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (is_op(node, "Pow") && is_float(graph.value(node.outputs[0]).type.dtype)) square(graph, id, &patches);
  }
  return patches;
}

std::vector<Patch> canonicalize_ops(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.domain.empty() || node.inputs.empty() || node.inputs[0] == kNoValue) continue;
    if (std::optional<Patch> product = einsum_as_product(graph, id)) patches.push_back(std::move(*product));
    if (node.op == "Transpose") transpose(graph, uses, id, &patches);
    if (node.op == "Pow" && is_float(graph.value(node.outputs[0]).type.dtype)) square(graph, id, &patches);
    if (node.op == "Pad" && pads_nothing(graph, node)) bypass(graph, id, &patches);
    const bool reshape = node.op == "Reshape",
               shapes = node.op == "Flatten" || node.op == "Squeeze" || node.op == "Unsqueeze";
    if ((!reshape && !shapes) || !graph.value(node.outputs[0]).type.fixed() ||
        !graph.value(node.inputs[0]).type.fixed())
      continue;
    if (same_fixed_type(graph, node.inputs[0], node.outputs[0])) {
      bypass(graph, id, &patches);
    } else if (shapes) {
      to_reshape(graph, id, node.inputs[0], "written as Reshape", &patches);
    } else if (const NodeId before = uses.producer[node.inputs[0]];
               before >= 0 && is_op(graph.node(before), "Reshape")) {
      to_reshape(graph, id, graph.node(before).inputs[0], "merged with " + label_in(graph, graph.node(before)),
                 &patches);
    }
  }
  return patches;
}

std::vector<Patch> canonicalize_cast(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (is_op(node, "Cast") && graph.value(node.inputs[0]).type.dtype == graph.value(node.outputs[0]).type.dtype &&
        graph.value(node.inputs[0]).type.dtype != DType::Undefined) {
      bypass(graph, id, &patches);
    }
  }
  return patches;
}

}  // namespace dnn
