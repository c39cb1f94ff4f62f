// Equalising; see equalise.h.
#include "quant/equalise.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ops/between_layers.h"
#include "quant/plan.h"

namespace dnn::quant {
namespace {

constexpr double kLeastFactor = 1e-3;  // smaller ones would take a channel's weights below one step
constexpr double kMargin = 1.1;        // what is seen later may be larger than what was seen
constexpr double kReached = 0.999;     // of a Clip's bound

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

std::vector<double> factors_of(const Graph& graph, const ValueBetween& between,
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

}  // namespace

std::map<ValueId, ChannelFigures> equalised_values(const Graph& bound) {
  std::map<ValueId, ChannelFigures> values;
  for (const ValueBetween& between : values_between(bound)) {
    values[between.value].axis = between.axis;
    if (between.clipped != kNoValue) values[between.clipped].axis = between.axis;
  }
  return values;
}

int equalise(Graph& prepared, const Graph& bound, const std::map<ValueId, ChannelFigures>& peaks) {
  int changed = 0;
  for (const ValueBetween& between : values_between(bound)) {
    // A reader's rows may have changed as it makes another value; a row's weights against each other have not.
    const std::vector<double> factors = factors_of(bound, between, peaks);
    if (factors.empty() || std::all_of(factors.begin(), factors.end(), [](double f) { return f == 1; })) continue;
    scale_between(prepared, bound, between, factors);
    ++changed;
  }
  return changed;
}

}  // namespace dnn::quant
