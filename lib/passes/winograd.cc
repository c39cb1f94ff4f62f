// winograd: 3x3 convolutions of stride 1 with constant weights become dnn.WinogradConv where it multiplies less.
#include "ops/winograd.h"

#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

// Fewer channels leave the transforms more work than the products save; with fewer tiles reading the weights, of which
// there are 4 times as many, takes longest.
constexpr int64_t kLeastChannels = 16, kLeastTiles = 12;

bool pays(const Graph& graph, const Node& node) {
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  const Tensor* w = graph.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::Float32 || w->rank() != 4 || w->dim(2) != 3 || w->dim(3) != 3) return false;
  if (!x.fixed() || !y.fixed() || node.attribute_int("group", 1) != 1) return false;
  const auto all = [&](const char* name, int64_t value) {
    for (int64_t i : node.attribute_ints(name, {})) {
      if (i != value) return false;
    }
    return true;
  };
  const Shape ys = y.fixed_shape();
  return all("strides", 1) && all("dilations", 1) && w->dim(0) >= kLeastChannels && w->dim(1) >= kLeastChannels &&
         ys[0] * winograd::tiles(ys[2]) * winograd::tiles(ys[3]) >= kLeastTiles;
}

}  // namespace

std::vector<Patch> use_winograd(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!is_op(node, "Conv") || !pays(graph, node)) continue;
    const Shape x = graph.value(node.inputs[0]).type.fixed_shape();
    const Window window = Window::of(node, {x[2], x[3]}, {3, 3});
    const ValueId w = node.inputs[1];
    Patch patch(graph, node.label() + " by Winograd's F(4x4, 3x3)");
    Node fast = node;
    fast.domain = kInternalDomain;
    fast.op = "WinogradConv";
    fast.sources = sources_of(node);
    fast.attributes.clear();
    const Shape y = graph.value(node.outputs[0]).type.fixed_shape();
    std::vector<int64_t> pads = window.pad_begin;
    for (size_t i = 0; i < 2; ++i) pads.push_back(y[i + 2] - x[i + 2] + 2 - window.pad_begin[i]);
    fast.attributes["pads"] = std::move(pads);
    fast.inputs[1] =
        patch.add_constant(graph.value(w).name + ".winograd", winograd::transform_weights(*graph.constant(w)));
    patch.add_node(std::move(fast));
    patch.remove_node(id);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
