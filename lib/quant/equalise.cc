// Equalising; see equalise.h.
#include "quant/equalise.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/attributes.h"
#include "ops/weights.h"
#include "quant/plan.h"

namespace dnn::quant {
namespace {

constexpr double kLeastFactor = 1e-3;  // smaller ones would take a channel's weights below one step
constexpr double kMargin = 1.1;        // what is seen later may be larger than what was seen
constexpr double kReached = 0.999;     // of a Clip's bound

// A value between the layer that makes it and those that read it.
struct Between {
  NodeId maker = -1;
  std::vector<NodeId> readers;
  ValueId value = kNoValue;
  int axis = 1;                // of its channels
  ValueId clipped = kNoValue;  // what a Clip on the way makes, and its upper bound
  double bound = 0;
};

bool is_float32_tensor(const Tensor* tensor) { return tensor != nullptr && tensor->dtype() == DType::Float32; }

int rank_of(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  return shape ? static_cast<int>(shape->size()) : 0;
}

int64_t extent_of(const Graph& graph, ValueId v, int axis) {
  const auto& shape = graph.value(v).type.shape;
  const int at = axis < 0 ? axis + rank_of(graph, v) : axis;
  return shape && at >= 0 && at < static_cast<int>(shape->size()) ? (*shape)[at].size : -1;
}

bool is_op(const Node& node, const char* op) { return node.domain.empty() && node.op == op; }

bool is_depthwise(const Graph& graph, const Node& node) {
  return is_convolution(node) && int_attribute(node, "group") == extent_of(graph, node.inputs[0], 1) &&
         int_attribute(node, "group") > 1;
}

// The axis of the input channels in the weights of a node that can take factors of its input's channels; nullopt where it cannot.
std::optional<size_t> column_axis(const Graph& graph, const Node& node, int axis) {
  const Tensor* weights = graph.constant(node.input(1));
  if (!is_float32_tensor(weights)) return std::nullopt;
  if (is_convolution(node) && axis == 1) {
    if (is_depthwise(graph, node)) return 0;
    return int_attribute(node, "group") == 1 ? std::optional<size_t>(1) : std::nullopt;
  }
  if (weights->rank() != 2 || (axis != -1 && axis + 1 != rank_of(graph, node.inputs[0]))) return std::nullopt;
  if (!is_op(node, "MatMul") && !(is_op(node, "Gemm") && int_attribute(node, "transA") == 0)) return std::nullopt;
  return static_cast<size_t>(weight_axes(node, weights->rank())->input);
}

// Constants of a node, by input, and the axis in each of the channels that it makes; empty where they cannot take factors.
std::map<size_t, size_t> row_axes(const Graph& graph, const Node& node) {
  const Tensor *weights = graph.constant(node.input(1)), *bias = graph.constant(node.input(2));
  if (!is_float32_tensor(weights) || (node.input(2) != kNoValue && !is_float32_tensor(bias))) return {};
  std::map<size_t, size_t> axes;
  if (is_convolution(node)) {
    axes[1] = 0;
  } else if (is_op(node, "Gemm") && weights->rank() == 2) {
    axes[1] = static_cast<size_t>(weight_axes(node, weights->rank())->output);
  } else if (is_op(node, "LayerNormalization") && weights->rank() == 1) {
    axes[1] = 0;
  } else {
    return {};
  }
  if (bias == nullptr) return axes;
  if (bias->rank() == 0 || bias->dim(bias->rank() - 1) != bias->size()) return {};
  axes[2] = static_cast<size_t>(bias->rank() - 1);
  return axes;
}

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::vector<Between> run() const {
    std::vector<Between> found;
    for (NodeId id : graph_.order()) {
      for (ValueId v : graph_.node(id).outputs) {
        if (v == kNoValue || graph_.is_output(v)) continue;
        if (std::optional<Between> between = between_of(v)) found.push_back(std::move(*between));
      }
    }
    return found;
  }

 private:
  std::optional<Between> between_of(ValueId v) const {
    Between between;
    between.value = v;
    between.readers = uses_.readers[v];
    if (between.readers.empty() || !find_maker(v, &between)) return std::nullopt;
    for (NodeId id : between.readers) {
      const Node& reader = graph_.node(id);
      const bool once = std::count(reader.inputs.begin(), reader.inputs.end(), v) == 1 && reader.inputs[0] == v;
      if (!once || !column_axis(graph_, reader, between.axis)) return std::nullopt;
    }
    return between;
  }

  // Goes from a value back to the layer that makes it, through what works on each channel alone and multiplies with it.
  bool find_maker(ValueId v, Between* between) const {
    for (ValueId at = v;;) {
      if (at != v && (graph_.is_output(at) || uses_.readers[at].size() != 1)) return false;
      const NodeId id = uses_.producer[at];
      if (id < 0) return false;
      const Node& node = graph_.node(id);
      if (!row_axes(graph_, node).empty()) {
        between->maker = id;
        between->axis = is_op(node, "LayerNormalization") ? -1 : 1;
        return true;
      }
      const bool pools = is_op(node, "MaxPool") || is_op(node, "AveragePool") || is_op(node, "GlobalAveragePool");
      if (is_op(node, "Clip")) {
        const Tensor *low = graph_.constant(node.input(1)), *high = graph_.constant(node.input(2));
        if (low == nullptr || high == nullptr || to_doubles(*low)[0] != 0 || between->clipped != kNoValue) return false;
        between->clipped = at;
        between->bound = to_doubles(*high)[0];
      } else if (is_op(node, "Flatten") || is_op(node, "Reshape") || is_op(node, "Squeeze")) {
        // [N, C, 1, 1] to [N, C]
        if (rank_of(graph_, at) != 2 || extent_of(graph_, at, 1) != extent_of(graph_, node.inputs[0], 1)) return false;
      } else if (!pools && !is_op(node, "Relu") && !is_op(node, "LeakyRelu") && !is_op(node, "Identity")) {
        return false;
      }
      if (node.outputs.size() > 1) return false;
      at = node.inputs[0];
    }
  }

  const Graph& graph_;
  const Uses uses_;
};

size_t stride_of(const Tensor& tensor, size_t axis) { return row_major_strides(tensor.shape())[axis]; }

// By input channel: its largest weight against the largest of the row that it is in, over all rows. A row has a scale of its own.
std::vector<double> column_peaks(const Tensor& weights, size_t columns) {
  const size_t rows = columns == 0 ? 1 : 0;  // all axes behind the first two are the kernel's
  const auto n_rows = static_cast<size_t>(weights.dim(static_cast<int>(rows))),
             n_columns = static_cast<size_t>(weights.dim(static_cast<int>(columns)));
  const size_t row_step = stride_of(weights, rows), column_step = stride_of(weights, columns);
  const std::span<const float> w = weights.values<float>();
  std::vector<double> row_peaks(n_rows, 0), peaks(n_columns, 0);
  for (size_t i = 0; i < w.size(); ++i) {
    double& peak = row_peaks[i / row_step % n_rows];
    peak = std::max(peak, static_cast<double>(std::abs(w[i])));
  }
  for (size_t i = 0; i < w.size(); ++i) {
    const double row = row_peaks[i / row_step % n_rows];
    double& peak = peaks[i / column_step % n_columns];
    if (row > 0) peak = std::max(peak, static_cast<double>(std::abs(w[i])) / row);
  }
  return peaks;
}

std::vector<double> factors_of(const Graph& graph, const Between& between,
                               const std::map<ValueId, ChannelFigures>& measured) {
  const auto of = measured.find(between.value);
  if (of == measured.end()) return {};
  const std::vector<float>& peaks = of->second.peaks;
  const auto clipped = measured.find(between.clipped);
  if (between.clipped != kNoValue && (clipped == measured.end() || clipped->second.peaks.size() != peaks.size()))
    return {};
  std::vector<double> columns(peaks.size(), 0);
  bool read_whole = false;  // by weights whose rows have a scale for all channels
  for (NodeId id : between.readers) {
    const Node& reader = graph.node(id);
    if (is_depthwise(graph, reader)) continue;
    read_whole = true;
    const std::vector<double> of_reader =
        column_peaks(*graph.constant(reader.inputs[1]), *column_axis(graph, reader, between.axis));
    if (of_reader.size() != columns.size()) return {};
    for (size_t c = 0; c < columns.size(); ++c) columns[c] = std::max(columns[c], of_reader[c]);
  }
  const float most = peaks.empty() ? 0 : *std::max_element(peaks.begin(), peaks.end());
  if (most <= 0 || !std::isfinite(most)) return {};
  std::vector<double> factors(peaks.size(), 0);
  for (size_t c = 0; c < peaks.size(); ++c) {
    const double peak = static_cast<double>(peaks[c]) / static_cast<double>(most);
    factors[c] = !read_whole ? peak : columns[c] > 0 ? std::sqrt(peak / columns[c]) : 0;
  }
  const double largest = *std::max_element(factors.begin(), factors.end());
  if (largest <= 0) return {};
  for (size_t c = 0; c < factors.size(); ++c) {
    double& factor = factors[c];
    if (factor <= 0) {  // nothing is seen of the channel, or nothing reads it
      factor = 1;
      continue;
    }
    if (between.clipped == kNoValue) {
      factor = std::clamp(factor / largest, kLeastFactor, 1.0);
      continue;
    }
    const double reach = static_cast<double>(clipped->second.peaks[c]) / between.bound;
    factor = reach >= kReached ? 1 : std::clamp(factor, std::clamp(kMargin * reach, kLeastFactor, 1.0), 1.0);
  }
  return factors;
}

// Elements along the axis times factors, or divided by them.
Tensor scaled(const Tensor& tensor, size_t axis, const std::vector<double>& factors, bool divide) {
  Tensor result(DType::Float32, tensor.shape());
  const size_t step = stride_of(tensor, axis);
  const std::span<const float> from = tensor.values<float>();
  float* to = result.mutable_data<float>();
  for (size_t i = 0; i < from.size(); ++i) {
    const double factor = factors[i / step % factors.size()];
    to[i] = static_cast<float>(static_cast<double>(from[i]) * (divide ? 1 / factor : factor));
  }
  return result;
}

void scale(Graph& graph, NodeId id, size_t input, size_t axis, const std::vector<double>& factors, bool divide) {
  const ValueId v = graph.node(id).inputs[input];
  set_constant(graph, id, input, scaled(*graph.constant(v), axis, factors, divide), graph.value(v).name);
}

}  // namespace

std::map<ValueId, ChannelFigures> equalised_values(const Graph& bound) {
  std::map<ValueId, ChannelFigures> values;
  for (const Between& between : Finder(bound).run()) {
    values[between.value].axis = between.axis;
    if (between.clipped != kNoValue) values[between.clipped].axis = between.axis;
  }
  return values;
}

int equalise(Graph& prepared, const Graph& bound, const std::map<ValueId, ChannelFigures>& peaks) {
  int changed = 0;
  for (const Between& between : Finder(bound).run()) {
    // A reader's rows may have changed as it makes another value; a row's weights against each other have not.
    const std::vector<double> factors = factors_of(bound, between, peaks);
    if (factors.empty() || std::all_of(factors.begin(), factors.end(), [](double f) { return f == 1; })) continue;
    for (const auto& [input, axis] : row_axes(bound, bound.node(between.maker)))
      scale(prepared, between.maker, input, axis, factors, true);
    for (NodeId id : between.readers)
      scale(prepared, id, 1, *column_axis(bound, bound.node(id), between.axis), factors, false);
    ++changed;
  }
  return changed;
}

}  // namespace dnn::quant
