// winograd: convolutions of a few taps become dnn.WinogradConv where that takes less time, and so do their gradients in a training step.
#include "ops/winograd.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph/locate.h"
#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

using winograd::Axis;
using winograd::Form;

constexpr int64_t kLeastWinogradChannels = 16;  // fewer leave the transforms more work than the products save
// Products along an axis of stride 1 at most, where both axes have more than one tap: each point more adds to the rounding, twice.
constexpr int64_t kMostProducts = 8;
// The same of weights that are computed, as a training step's are: its losses are to be as near to a float64 run's as other float32.
constexpr int64_t kMostTrainedProducts = 6;
constexpr int64_t kLanes = 16;  // of blocks of channels
// What a form must gain over one of fewer products, and over the convolution itself: estimates err, and it rounds more.
constexpr double kGain = 0.97;
constexpr double kNumber = 4;  // bytes

template <size_t n>
double rate_of(const Reach (&reaches)[n], double bytes) {
  const Reach* found = std::begin(reaches);
  while (bytes > found->bytes) ++found;
  return found->rate;
}

double constant_bytes(const Graph& graph) {
  double bytes = 0;
  for (ValueId v = 0; v < static_cast<ValueId>(graph.value_count()); ++v) {
    if (const Tensor* constant = graph.constant(v)) bytes += static_cast<double>(constant->size_bytes());
  }
  return bytes;
}

double factors(const winograd::Matrix& matrix) {
  double count = 0;
  for (const std::vector<double>& row : matrix) {
    for (double factor : row) count += factor != 0 ? 1 : 0;
  }
  return count;
}

// Of one convolution: [N, C, H, W] to [N, M, H', W']. A batch goes through it at once or, where `alone`, sample by sample, whichever takes
// less.
struct Work {
  double c, m;
  int64_t n, high, wide;  // outputs
  const Speeds& speeds;
  double weight_rate;
  bool alone;
  double pairs;  // products in an instruction of the convolution itself, for one of a transformed one

  // Of all taps, of which a schedule leaves those out that lie in the border (codegen/skip_border.h).
  double direct(double taps, double inside) const {
    return least([&](double samples) {
      return multiply(taps, samples * inside / taps, speeds.direct * pairs, kNumber / pairs);
    });
  }

  double by(const Form& form) const {
    return least([&](double samples) { return by(form, samples); });
  }

  // To make a form's matrices from the taps, or the taps' gradient from theirs.
  double weights_by(const Form& form) const {
    const auto taps = static_cast<double>(form.rows.taps * form.columns.taps);
    const double bytes = 4 * c * m * (static_cast<double>(form.products()) + 2 * taps);
    return speeds.launch + 2 * bytes / rate_of(speeds.tiles, bytes);
  }

 private:
  template <class Seconds>
  double least(const Seconds& of) const {
    const auto batch = static_cast<double>(n);
    return alone ? std::min(of(batch), batch * of(1)) : of(batch);
  }

  double by(const Form& form, double samples) const {
    const Axis &rows = form.rows, &columns = form.columns;
    const auto tiles = samples * static_cast<double>(rows.tiles(high) * columns.tiles(wide)),
               products = static_cast<double>(form.products());
    const double transforms = c * (factors(rows.input) * static_cast<double>(columns.in) +
                                   factors(columns.input) * static_cast<double>(rows.products())) +
                              m * (factors(rows.output) * static_cast<double>(columns.products()) +
                                   factors(columns.output) * static_cast<double>(rows.out));
    const double bytes = 4 * products * tiles * (c + m);
    return 2 * speeds.launch + multiply(products, tiles, speeds.product, kNumber) +
           std::max(2 * tiles * transforms / speeds.transform, 2 * bytes / rate_of(speeds.tiles, bytes));
  }

  // Seconds of `products` products of c x m weights over so many tiles or positions. Arithmetic and memory go on at once, and
  // wait for each other where they take as long: then for a quarter more, as measured.
  double multiply(double products, double tiles, double rate, double bytes) const {
    const double arithmetic = 2 * products * tiles * c * m / rate, memory = bytes * products * c * m / weight_rate;
    return std::cbrt(arithmetic * arithmetic * arithmetic + memory * memory * memory);
  }
};

// The forms of an axis: one where it has one tap, none of a stride that has none.
std::vector<Axis> axes(int64_t taps, int64_t stride, int64_t most_products) {
  std::vector<Axis> found;
  for (int64_t out = taps == 1 ? 1 : 2; out <= winograd::kMostOut; ++out) {
    if (!winograd::has_axis(out, taps, stride)) continue;
    Axis axis = winograd::axis(out, taps, stride);
    if (stride > 1 || axis.products() <= most_products) found.push_back(std::move(axis));
  }
  return found;
}

// A convolution with a stride and no dilation, of one group: Conv itself, or a gradient as one. `m` and `c` are what it makes and reads.
struct Candidate {
  enum class Kind { Conv, InputGradient, WeightGradient } kind;
  int64_t n, c, m;
  std::vector<int64_t> taps, strides, in, out, pads;  // by axis; pads: begins, then ends
  bool constant;                                      // its weights

  double taps_inside() const {
    return Window{taps, strides, {1, 1}, {pads[0], pads[1]}, {pads[2], pads[3]}, in, out}.taps_inside();
  }
};

// The pads with which a window of stride 1 makes `out` outputs of `in` inputs, where it begins `begin` before them.
std::vector<int64_t> with_ends(std::vector<int64_t> begin, const std::vector<int64_t>& taps,
                               const std::vector<int64_t>& strides, const std::vector<int64_t>& in,
                               const std::vector<int64_t>& out) {
  for (size_t i = 0; i < 2; ++i) begin.push_back((out[i] - 1) * strides[i] + taps[i] - in[i] - begin[i]);
  return begin;
}

std::optional<Candidate> candidate_of(const Graph& graph, const Node& node) {
  const bool input = is_internal(node, "ConvInputGradient"), weight = is_internal(node, "ConvWeightGradient");
  if (!input && !weight && !is_convolution(node)) return {};
  const Type &first = graph.value(node.inputs[0]).type, &second = graph.value(node.inputs[1]).type,
             &made = graph.value(node.outputs[0]).type;
  if (second.dtype != DType::Float32 || !first.fixed() || !second.fixed() || !made.fixed()) return {};
  const Shape x = input ? made.fixed_shape() : first.fixed_shape(),
              w = weight ? made.fixed_shape() : second.fixed_shape(),
              y = input    ? first.fixed_shape()
                  : weight ? second.fixed_shape()
                           : made.fixed_shape();
  if (w.size() != 4 || (w[2] == 1 && w[3] == 1) || node.attribute_int("group", 1) != 1) return {};
  for (int64_t dilation : node.attribute_ints("dilations", {})) {
    if (dilation != 1) return {};
  }
  Candidate layer{Candidate::Kind::Conv,
                  y[0],
                  w[1],
                  w[0],
                  {w[2], w[3]},
                  node.attribute_ints("strides", {1, 1}),
                  {x[2], x[3]},
                  {y[2], y[3]},
                  Window::of(node, {x[2], x[3]}, {w[2], w[3]}).pad_begin,
                  graph.constant(node.inputs[1]) != nullptr};
  if (std::min(w[0], w[1]) < kLeastWinogradChannels) return {};
  if (input || weight) {
    if (layer.strides != std::vector<int64_t>{1, 1}) return {};
    layer.kind = input ? Candidate::Kind::InputGradient : Candidate::Kind::WeightGradient;
  }
  if (weight && (w[0] % kLanes != 0 || w[1] % kLanes != 0)) return {};
  if (input) {
    std::swap(layer.m, layer.c);
    std::swap(layer.in, layer.out);
    for (size_t i = 0; i < 2; ++i) layer.pads[i] = layer.taps[i] - 1 - layer.pads[i];
  }
  layer.pads = with_ends(layer.pads, layer.taps, layer.strides, layer.in, layer.out);
  return layer;
}

// The form that takes least time; none where the convolution itself does.
std::optional<Form> best_form(const Candidate& layer, const Target& target, double weight_rate) {
  const Work work{static_cast<double>(layer.c),
                  static_cast<double>(layer.m),
                  layer.n,
                  layer.out[0],
                  layer.out[1],
                  target.processor->speeds,
                  weight_rate,
                  target.samples_may_go_alone() && layer.constant,
                  target.uses_dot() ? static_cast<double>(target.isa->dot.k) : 1};
  const int64_t most = layer.taps[0] == 1 || layer.taps[1] == 1 ? winograd::kMostIn : kMostProducts;
  const int64_t products = layer.constant ? most : std::min(most, kMostTrainedProducts);
  std::vector<std::pair<Form, double>> forms;
  for (const Axis& rows : axes(layer.taps[0], layer.strides[0], products)) {
    for (const Axis& columns : axes(layer.taps[1], layer.strides[1], products)) {
      const Form form{rows, columns};
      forms.emplace_back(form, work.by(form) + (layer.constant ? 0 : work.weights_by(form)));
    }
  }
  std::stable_sort(forms.begin(), forms.end(),
                   [](const auto& a, const auto& b) { return a.first.products() < b.first.products(); });
  double least = work.direct(static_cast<double>(layer.taps[0] * layer.taps[1]), layer.taps_inside());
  std::optional<Form> best;
  for (auto& [form, seconds] : forms) {
    if (seconds >= least * kGain) continue;
    least = seconds;
    best = form;
  }
  return best;
}

// The node by that form; its matrices are constants where the weights are, and a node in front of it else.
void replace(const Graph& graph, NodeId id, const Candidate& layer, const Form& form, Patch* patch) {
  const Node& node = graph.node(id);
  Attributes attributes = {{"kernel_shape", layer.taps},
                           {"tile", std::vector<int64_t>{form.rows.out, form.columns.out}}};
  if (layer.strides != std::vector<int64_t>{1, 1}) attributes["strides"] = layer.strides;
  Node fast = node;
  fast.domain = kInternalDomain;
  fast.op = layer.kind == Candidate::Kind::WeightGradient ? "WinogradWeightGradient" : "WinogradConv";
  fast.sources = sources_of(node);
  fast.attributes = attributes;
  fast.attributes["pads"] = layer.pads;
  if (layer.constant) {
    fast.inputs[1] = patch->add_constant(graph.value(node.inputs[1]).name + ".winograd",
                                         winograd::transform_weights(*graph.constant(node.inputs[1]), form));
  } else if (layer.kind != Candidate::Kind::WeightGradient) {
    Node weights;
    weights.domain = kInternalDomain;
    weights.op = "WinogradWeights";
    weights.name = node.name.empty() ? "" : node.name + ".winograd";
    weights.sources = fast.sources;
    weights.inputs = {node.inputs[1]};
    weights.attributes = std::move(attributes);
    if (layer.kind == Candidate::Kind::InputGradient) weights.attributes["back"] = int64_t{1};
    fast.inputs[1] = patch->add_value(graph.value(node.outputs[0]).name + ".winograd",
                                      Type(DType::Float32, {form.products(), layer.c, layer.m}));
    weights.outputs = {fast.inputs[1]};
    patch->add_node(std::move(weights));
  }
  patch->add_node(std::move(fast));
  patch->remove_node(id);
}

}  // namespace

std::vector<Patch> use_winograd(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches;
  const double weight_rate = rate_of(context.target.processor->speeds.weights, constant_bytes(graph));
  for (NodeId id : graph.order()) {
    const std::optional<Candidate> layer = candidate_of(graph, graph.node(id));
    if (!layer) continue;
    const std::optional<Form> form = best_form(*layer, context.target, weight_rate);
    if (!form) continue;
    Patch patch(graph, cat(label_in(graph, graph.node(id)), " by Winograd's ", form->text()));
    replace(graph, id, *layer, *form, &patch);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
