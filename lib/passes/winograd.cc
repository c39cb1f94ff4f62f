// winograd: 3x3 convolutions of stride 1 with constant weights become dnn.WinogradConv where it multiplies less.
#include "ops/winograd.h"

#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr int64_t kLeastChannels = 16;  // fewer leave the transforms more work than the products save

// What a core multiplies and adds in a second, what weights come from memory in one, and what the transforms take and give
// where the tiles stay in the caches and where they do not: measured on one core of a Xeon of 2.5 GHz with AVX-512. Only
// their ratios decide.
constexpr double kFlops = 120e9, kWeightBytes = 7e9, kCachedTiles = 8e6, kCachedTileBytes = 18e9, kTileBytes = 7e9;

// Seconds that a convolution of c to m channels takes by products over `tiles` tiles.
double seconds(double products, double tiles, double c, double m) {
  return std::max(2 * products * tiles * c * m / kFlops, 4 * products * c * m / kWeightBytes);
}

// The form that takes least time; none where the convolution itself does, or has another shape.
const winograd::Form* best_form(const Graph& graph, const Node& node) {
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  const Tensor* w = graph.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::Float32 || w->rank() != 4 || w->dim(2) != 3 || w->dim(3) != 3)
    return nullptr;
  if (!x.fixed() || !y.fixed() || node.attribute_int("group", 1) != 1) return nullptr;
  for (const char* name : {"strides", "dilations"}) {
    for (int64_t i : node.attribute_ints(name, {})) {
      if (i != 1) return nullptr;
    }
  }
  if (w->dim(0) < kLeastChannels || w->dim(1) < kLeastChannels) return nullptr;
  const Shape ys = y.fixed_shape();
  const auto c = static_cast<double>(w->dim(1)), m = static_cast<double>(w->dim(0));
  double least = seconds(9, static_cast<double>(ys[0] * ys[2] * ys[3]), c, m);
  const winograd::Form* best = nullptr;
  for (const winograd::Form* form : {&winograd::f4x4(), &winograd::f2x2()}) {
    const auto tiles = static_cast<double>(ys[0] * form->tiles(ys[2]) * form->tiles(ys[3])),
               products = static_cast<double>(form->products());
    const double bytes = 4 * products * tiles * (c + m);  // written once, and read once
    const double takes =
        seconds(products, tiles, c, m) + 2 * bytes / (bytes <= kCachedTiles ? kCachedTileBytes : kTileBytes);
    if (takes >= least) continue;
    least = takes;
    best = form;
  }
  return best;
}

}  // namespace

std::vector<Patch> use_winograd(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const winograd::Form* form = is_op(node, "Conv") ? best_form(graph, node) : nullptr;
    if (form == nullptr) continue;
    const Shape x = graph.value(node.inputs[0]).type.fixed_shape();
    const Window window = Window::of(node, {x[2], x[3]}, {3, 3});
    const ValueId w = node.inputs[1];
    Patch patch(graph, cat(node.label(), " by Winograd's F(", form->out, "x", form->out, ", 3x3)"));
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
        patch.add_constant(graph.value(w).name + ".winograd", winograd::transform_weights(*graph.constant(w), *form));
    patch.add_node(std::move(fast));
    patch.remove_node(id);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
