// winograd: 3x3 convolutions of stride 1 with constant weights become dnn.WinogradConv where it multiplies less.
#include "ops/winograd.h"

#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

constexpr int64_t kLeastChannels = 16;  // fewer leave the transforms more work than the products save

// What one core multiplies and adds in a second, in convolutions and in products: a Xeon of 2.5 GHz with AVX-512, an EPYC of
// Zen 3 with AVX2, and such a one without; and how many bytes it reads or writes in one, as measured. Only their ratios decide.
struct Rates {
  double direct, product;
};
Rates rates(int64_t vector_lanes) {
  if (vector_lanes >= 16) return {110e9, 95e9};
  return vector_lanes == 8 ? Rates{88e9, 76e9} : Rates{22e9, 22e9};
}
// Of weights: in networks whose weights stay in the last cache from run to run, and in others.
constexpr double kCachedNetwork = 8e6, kCachedWeights = 20e9, kWeights = 7e9;

// Of tiles, which are written once and read once: as far as they stay in the second cache, in the last, or in none.
double tile_rate(double bytes) { return bytes <= 1e6 ? 40e9 : bytes <= 5e6 ? 18e9 : 7e9; }

double weight_rate(const Graph& graph) {
  double bytes = 0;
  for (ValueId v = 0; v < static_cast<ValueId>(graph.value_count()); ++v) {
    if (const Tensor* constant = graph.constant(v)) bytes += static_cast<double>(constant->size_bytes());
  }
  return bytes <= kCachedNetwork ? kCachedWeights : kWeights;
}

// The form that takes least time; none where the convolution itself does, or has another shape. `weight_bytes` a second come
// from memory.
const winograd::Form* best_form(const Graph& graph, const Node& node, const Rates& rate, double weight_bytes) {
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
  // In seconds, of `products` products of c x m weights over so many tiles or positions.
  const auto takes = [&](double products, int64_t tiles, double flops) {
    return std::max(2 * products * static_cast<double>(tiles) * c * m / flops, 4 * products * c * m / weight_bytes);
  };
  double least = takes(9, ys[0] * ys[2] * ys[3], rate.direct);
  const winograd::Form* best = nullptr;
  for (const winograd::Form* form : {&winograd::f4x4(), &winograd::f2x2()}) {
    const int64_t tiles = ys[0] * form->tiles(ys[2]) * form->tiles(ys[3]);
    const auto products = static_cast<double>(form->products());
    const double bytes = 4 * products * static_cast<double>(tiles) * (c + m);
    const double seconds = takes(products, tiles, rate.product) + 2 * bytes / tile_rate(bytes);
    if (seconds >= least) continue;
    least = seconds;
    best = form;
  }
  return best;
}

}  // namespace

std::vector<Patch> use_winograd(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches;
  const Rates rate = rates(context.vector_lanes);
  const double weight_bytes = weight_rate(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const winograd::Form* form = is_op(node, "Conv") ? best_form(graph, node, rate, weight_bytes) : nullptr;
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
