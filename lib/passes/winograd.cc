// winograd: convolutions of a few taps with constant weights become dnn.WinogradConv where that takes less time.
#include "ops/winograd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/window.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

using winograd::Axis;
using winograd::Form;

constexpr int64_t kLeastChannels = 16;  // fewer leave the transforms more work than the products save
// Products along an axis of stride 1 at most, where both axes have more than one tap: each point more adds to the rounding, twice.
constexpr int64_t kMostProducts = 8;
// What a form must gain over one of fewer products, and over the convolution itself: estimates err, and it rounds more.
constexpr double kGain = 0.97;

// Bytes a second as far as so many bytes are at hand.
struct Reach {
  double bytes, rate;
};

// What one core does in a second, as measured (but the transforms of all but zen5, which are estimates): multiplications and
// additions in convolutions, in products of matrices and in transforms; weights read where the network has so many and stays in the last cache from run to run, and from memory;
// tiles, written once and read once, as far as they stay in the second cache, in the last, or in none. And the seconds that each kernel
// costs beside its work.
struct Speeds {
  const char* processor;  // its kind; "": any
  int64_t lanes;
  double direct, product, transform;
  Reach weights[2], tiles[3];
  double launch = 0;
};
constexpr double kAll = std::numeric_limits<double>::infinity();
constexpr Speeds kSpeeds[] = {
    // Any GPU, CUDA's or OpenCL's, by an H100's data sheet: a third of what its tensor cores and half of what its float32 units do; nothing
    // of it was measured.
    {kGpu, 0, 60e12, 60e12, 30e12, {{50e6, 5e12}, {kAll, 3e12}}, {{25e6, 5e12}, {50e6, 5e12}, {kAll, 3e12}}, 3e-6},
    {"zen5", 16, 266e9, 264e9, 215e9, {{20e6, 75e9}, {kAll, 33e9}}, {{1e6, 150e9}, {5e6, 150e9}, {kAll, 120e9}}},
    {"zen4", 16, 113e9, 110e9, 80e9, {{20e6, 45e9}, {kAll, 14e9}}, {{1e6, 80e9}, {5e6, 60e9}, {kAll, 40e9}}},
    // A Xeon of 2.5 GHz.
    {"", 16, 110e9, 95e9, 60e9, {{8e6, 20e9}, {kAll, 7e9}}, {{1e6, 40e9}, {5e6, 18e9}, {kAll, 7e9}}},
    // An EPYC of Zen 3, and such a one without AVX2.
    {"", 8, 88e9, 76e9, 50e9, {{8e6, 20e9}, {kAll, 8e9}}, {{1e6, 40e9}, {5e6, 18e9}, {kAll, 7e9}}},
    {"", 0, 22e9, 22e9, 15e9, {{8e6, 20e9}, {kAll, 8e9}}, {{1e6, 40e9}, {5e6, 18e9}, {kAll, 7e9}}},
};

const Speeds& speeds_of(const PassContext& context) {
  const Speeds* found = std::begin(kSpeeds);
  while (context.vector_lanes < found->lanes || (*found->processor != 0 && context.processor != found->processor))
    ++found;
  return *found;
}

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
  if (w->dim(0) < kLeastChannels || w->dim(1) < kLeastChannels) return {};
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
  const Speeds& speeds = speeds_of(context);
  const double weight_rate = rate_of(speeds.weights, constant_bytes(graph));
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const std::optional<Form> form =
        is_op(node, "Conv") ? best_form(graph, node, speeds, weight_rate, context.samples_alone) : std::nullopt;
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
