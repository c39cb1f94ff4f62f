// winograd: convolutions of a few taps with constant weights become dnn.WinogradConv where that takes less time.
#include "ops/winograd.h"

#include <algorithm>
#include <cmath>
#include <optional>

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
// What a form must gain over one of fewer products, and over the convolution itself: estimates err, and it rounds more.
constexpr double kGain = 0.97;

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

  // Of all taps, of which a schedule leaves those out that lie in the border (codegen/skip_border.h).
  double direct(double taps, double inside) const {
    return least([&](double samples) { return multiply(taps, samples * inside / taps, speeds.direct); });
  }

  double by(const Form& form) const {
    return least([&](double samples) { return by(form, samples); });
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
    return 2 * speeds.launch + multiply(products, tiles, speeds.product) +
           std::max(2 * tiles * transforms / speeds.transform, 2 * bytes / rate_of(speeds.tiles, bytes));
  }

  // Seconds of `products` products of c x m weights over so many tiles or positions. Arithmetic and memory go on at once, and
  // wait for each other where they take as long: then for a quarter more, as measured.
  double multiply(double products, double tiles, double rate) const {
    const double arithmetic = 2 * products * tiles * c * m / rate, memory = 4 * products * c * m / weight_rate;
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

// The form that takes least time; none where the convolution itself does, or has another shape.
std::optional<Form> best_form(const Graph& graph, const Node& node, const Speeds& speeds, double weight_rate,
                              bool alone) {
  const Type &x = graph.value(node.inputs[0]).type, &y = graph.value(node.outputs[0]).type;
  const Tensor* w = graph.constant(node.inputs[1]);
  if (w == nullptr || w->dtype() != DType::Float32 || w->rank() != 4 || (w->dim(2) == 1 && w->dim(3) == 1)) return {};
  if (!x.fixed() || !y.fixed() || node.attribute_int("group", 1) != 1) return {};
  for (int64_t dilation : node.attribute_ints("dilations", {})) {
    if (dilation != 1) return {};
  }
  if (w->dim(0) < kLeastWinogradChannels || w->dim(1) < kLeastWinogradChannels) return {};
  const std::vector<int64_t> strides = node.attribute_ints("strides", {1, 1});
  const Shape ys = y.fixed_shape();
  const Work work{
      static_cast<double>(w->dim(1)), static_cast<double>(w->dim(0)), ys[0], ys[2], ys[3], speeds, weight_rate, alone};
  const int64_t most = w->dim(2) == 1 || w->dim(3) == 1 ? winograd::kMostIn : kMostProducts;
  std::vector<std::pair<Form, double>> forms;
  for (const Axis& rows : axes(w->dim(2), strides[0], most)) {
    for (const Axis& columns : axes(w->dim(3), strides[1], most)) {
      const Form form{rows, columns};
      forms.emplace_back(form, work.by(form));
    }
  }
  std::stable_sort(forms.begin(), forms.end(),
                   [](const auto& a, const auto& b) { return a.first.products() < b.first.products(); });
  const Shape xs = x.fixed_shape();
  const Window window = Window::of(node, {xs[2], xs[3]}, {w->dim(2), w->dim(3)});
  double least = work.direct(static_cast<double>(w->dim(2) * w->dim(3)), window.taps_inside());
  std::optional<Form> best;
  for (auto& [form, seconds] : forms) {
    if (seconds >= least * kGain) continue;
    least = seconds;
    best = form;
  }
  return best;
}

}  // namespace

std::vector<Patch> use_winograd(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches;
  const Speeds& speeds = context.target.processor->speeds;
  const double weight_rate = rate_of(speeds.weights, constant_bytes(graph));
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::optional<Form> form =
        is_op(node, "Conv") ? best_form(graph, node, speeds, weight_rate, context.target.samples_may_go_alone())
                            : std::nullopt;
    if (!form) continue;
    const ValueId w = node.inputs[1];
    const Shape x = graph.value(node.inputs[0]).type.fixed_shape(), y = graph.value(node.outputs[0]).type.fixed_shape();
    const std::vector<int64_t> taps = {form->rows.taps, form->columns.taps},
                               strides = {form->rows.stride, form->columns.stride};
    std::vector<int64_t> pads = Window::of(node, {x[2], x[3]}, taps).pad_begin;
    for (size_t i = 0; i < 2; ++i) pads.push_back((y[i + 2] - 1) * strides[i] + taps[i] - x[i + 2] - pads[i]);
    Patch patch(graph, cat(node.label(), " by Winograd's ", form->text()));
    Node fast = node;
    fast.domain = kInternalDomain;
    fast.op = "WinogradConv";
    fast.sources = sources_of(node);
    fast.attributes.clear();
    fast.attributes["kernel_shape"] = taps;
    fast.attributes["pads"] = std::move(pads);
    if (strides != std::vector<int64_t>{1, 1}) fast.attributes["strides"] = strides;
    fast.attributes["tile"] = std::vector<int64_t>{form->rows.out, form->columns.out};
    fast.inputs[1] =
        patch.add_constant(graph.value(w).name + ".winograd", winograd::transform_weights(*graph.constant(w), *form));
    patch.add_node(std::move(fast));
    patch.remove_node(id);
    patches.push_back(std::move(patch));
  }
  return patches;
}

}  // namespace dnn
