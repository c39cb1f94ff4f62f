// Faults of weights and biases: laid out, rounded, shuffled, swapped, damaged.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "faults/classes.h"
#include "graph/locate.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn::faults {
namespace {

bool put(FaultContext& context, Place place, Tensor tensor, const std::string& what) {
  if (tensor.identical(tensor_at(context.graph, place))) return false;
  put_constant(context.graph, place, std::move(tensor));
  context.what = what;
  return true;
}

bool is_kernel(const FaultContext& context, Place place) {
  const Node& node = context.read();
  return is_weighted(node) && has_trait(node, Trait::ChannelsFirst) && tensor_at(context.graph, place).rank() >= 3;
}

std::vector<int64_t> counted(int64_t n) {
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), int64_t{0});
  return order;
}

std::vector<int64_t> backwards(int64_t n) {
  std::vector<int64_t> order = counted(n);
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<int64_t> shuffled_order(int64_t n, FaultRandom& random) {
  std::vector<int64_t> order = counted(n);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

// The axis of outputs in weights, the last of operators that have no weights.
size_t output_axis(const Node& node, const Tensor& weights) {
  const std::optional<WeightAxes> axes = weight_axes(node, weights.rank());
  return axes ? axes->output : std::max(weights.rank(), 1) - 1;
}

// Numbers of floating-point weights, rounded by `to`.
bool round_weights(FaultContext& context, const std::string& what, const std::function<double(double, double)>& to) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || !is_float(tensor_at(context.graph, *place).dtype())) return false;
  context.what = "weights rounded to " + what;
  return change_numbers(context, *place, [&](std::vector<double>& values) {
    double largest = 0;
    for (double x : values) largest = std::max(largest, std::abs(x));
    for (double& x : values) x = to(x, largest);
  });
}

// `n` different places in an array, fewer where it is small.
std::vector<size_t> some_places(size_t size, size_t n, FaultRandom& random) {
  std::vector<size_t> places;
  for (size_t i = 0; i < std::min(n, size); ++i) {
    size_t place = random.below(size);
    while (std::find(places.begin(), places.end(), place) != places.end()) place = random.below(size);
    places.push_back(place);
  }
  return places;
}

bool change_some(FaultContext& context, size_t n, const std::string& what,
                 const std::function<double(double)>& change) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place) return false;
  return change_numbers(context, *place, [&](std::vector<double>& values) {
    const size_t count = std::min(n, std::max<size_t>(1, values.size() / 8));
    for (size_t i : some_places(values.size(), count, context.random)) values[i] = change(values[i]);
    context.what = cat(count, " of ", values.size(), " weights ", what);
  });
}

}  // namespace

bool kernel_rotated(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || !is_kernel(context, *place)) return false;
  Tensor turned = tensor_at(context.graph, *place);
  for (size_t axis = 2; axis < static_cast<size_t>(turned.rank()); ++axis)
    turned = along_axis(turned, axis, backwards(turned.dim(static_cast<int>(axis))));
  return put(context, *place, std::move(turned), "kernel rotated by 180 degrees");
}

bool kernel_transposed(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || !is_kernel(context, *place)) return false;
  const Tensor& kernel = tensor_at(context.graph, *place);
  if (kernel.rank() != 4 || kernel.dim(2) != kernel.dim(3)) return false;
  return put(context, *place, kernel.transposed({0, 1, 3, 2}), "height and width of the kernel exchanged");
}

bool kernel_layout(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || !is_kernel(context, *place)) return false;
  const Tensor& kernel = tensor_at(context.graph, *place);
  if (kernel.rank() != 4) return false;
  return put(context, *place, kernel.transposed({2, 3, 1, 0}).reshaped(kernel.shape()),
             "kernel in the order HWIO, read as OIHW");
}

bool channels_reversed(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || !is_kernel(context, *place)) return false;
  const Tensor& kernel = tensor_at(context.graph, *place);
  const int axis = is_op(context.read(), "ConvTranspose") ? 0 : 1;
  return put(context, *place, along_axis(kernel, axis, backwards(kernel.dim(axis))),
             "input channels of the kernel reversed");
}

bool filters_shuffled(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place) return false;
  const Tensor& weights = tensor_at(context.graph, *place);
  const size_t axis = output_axis(context.read(), weights);
  return put(context, *place,
             along_axis(weights, axis, shuffled_order(weights.dim(static_cast<int>(axis)), context.random)),
             "filters in another order");
}

bool inputs_shuffled(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place) return false;
  const Tensor& weights = tensor_at(context.graph, *place);
  if (weights.rank() < 2) return false;
  const size_t axis = output_axis(context.read(), weights) == 0 ? 1 : 0;
  return put(context, *place,
             along_axis(weights, axis, shuffled_order(weights.dim(static_cast<int>(axis)), context.random)),
             "weights of the inputs in another order");
}

bool dense_transposed(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || is_kernel(context, *place)) return false;
  const Tensor& weights = tensor_at(context.graph, *place);
  if (weights.rank() != 2) return false;
  return put(context, *place, weights.transposed({1, 0}).reshaped(weights.shape()),
             "weights in memory as of the transposed matrix");
}

bool weights_swapped(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place) return false;
  const std::vector<Place> others = others_like(context, *place, weights_of);
  if (others.empty()) return false;
  const Place other = others[context.random.below(others.size())];
  return put(context, *place, tensor_at(context.graph, other),
             cat("weights of ", label_in(context.graph, context.graph.node(other.node)), " in their place"));
}

bool weights_float16(FaultContext& context) {
  return round_weights(context, "float16", [](double x, double) {
    return static_cast<double>(static_cast<float>(Half(static_cast<float>(x))));
  });
}

bool weights_bfloat16(FaultContext& context) {
  return round_weights(context, "bfloat16", [](double x, double) {
    return static_cast<double>(static_cast<float>(BFloat16(static_cast<float>(x))));
  });
}

bool weights_int8(FaultContext& context) {
  return round_weights(context, "int8", [](double x, double largest) {
    return largest == 0 ? x : std::nearbyint(x / largest * 127) * largest / 127;
  });
}

bool weights_noise(FaultContext& context) {
  constexpr double kNoise = 1e-5;  // of each weight, its standard deviation
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place || !is_float(tensor_at(context.graph, *place).dtype())) return false;
  context.what = cat("weights with noise of ", kNoise, " of each");
  return change_numbers(context, *place, [&](std::vector<double>& values) {
    for (double& x : values) x *= 1 + kNoise * std::sqrt(3.0) * (2 * context.random.unit() - 1);
  });
}

bool weights_scaled(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  static const double kFactors[] = {0.5, 0.9, 0.99, 1.01, 1.1, 2};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  context.what = cat("weights times ", factor);
  return place && is_float(tensor_at(context.graph, *place).dtype()) &&
         change_numbers(context, *place, [&](std::vector<double>& values) {
           for (double& x : values) x *= factor;
         });
}

bool signs_flipped(FaultContext& context) {
  return change_some(context, 8, "with the other sign", [](double x) { return -x; });
}

bool weights_zeroed(FaultContext& context) {
  return change_some(context, 8, "zero", [](double) { return 0.0; });
}

bool weights_nan(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  return place && is_float(tensor_at(context.graph, *place).dtype()) &&
         change_some(context, 1, "not a number", [](double) { return std::numeric_limits<double>::quiet_NaN(); });
}

bool weight_outlier(FaultContext& context) {
  return change_some(context, 1, "64 times as large", [](double x) { return 64 * x; });
}

bool filter_zeroed(FaultContext& context) {
  const std::optional<Place> place = weights_of(context, context.node);
  if (!place) return false;
  const Tensor& weights = tensor_at(context.graph, *place);
  const size_t axis = output_axis(context.read(), weights);
  const Shape shape = weights.shape();
  const auto filter = static_cast<int64_t>(context.random.below(shape[axis]));
  const int64_t stride = row_major_strides(shape)[axis];
  context.what = cat("filter ", filter, " zero");
  return change_numbers(context, *place, [&](std::vector<double>& values) {
    for (size_t i = 0; i < values.size(); ++i) {
      if (static_cast<int64_t>(i) / stride % shape[axis] == filter) values[i] = 0;
    }
  });
}

bool bias_missing(FaultContext& context) {
  const std::optional<Place> place = bias_of(context, context.node);
  context.what = "bias zero";
  return place && change_numbers(context, *place,
                                 [](std::vector<double>& values) { std::fill(values.begin(), values.end(), 0); });
}

bool bias_scaled(FaultContext& context) {
  const std::optional<Place> place = bias_of(context, context.node);
  static const double kFactors[] = {-1, 0.5, 0.9, 1.1, 2};
  const double factor = kFactors[context.random.below(std::size(kFactors))];
  context.what = cat("bias times ", factor);
  return place && change_numbers(context, *place, [&](std::vector<double>& values) {
           for (double& x : values) x *= factor;
         });
}

bool bias_of_another(FaultContext& context) {
  const std::optional<Place> place = bias_of(context, context.node);
  if (!place) return false;
  const std::vector<Place> others = others_like(context, *place, bias_of);
  if (others.empty()) return false;
  const Place other = others[context.random.below(others.size())];
  return put(context, *place, tensor_at(context.graph, other),
             cat("bias of ", label_in(context.graph, context.graph.node(other.node)), " in its place"));
}

bool bias_shuffled(FaultContext& context) {
  const std::optional<Place> place = bias_of(context, context.node);
  if (!place) return false;
  const Tensor& bias = tensor_at(context.graph, *place);
  if (bias.rank() != 1) return false;
  return put(context, *place, along_axis(bias, 0, shuffled_order(bias.dim(0), context.random)),
             "bias in another order");
}

}  // namespace dnn::faults
