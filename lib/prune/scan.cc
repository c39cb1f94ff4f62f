// Scanning; see scan.h.
#include "prune/scan.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/counted.h"
#include "base/printable.h"
#include "base/rows.h"
#include "ops/attributes.h"
#include "ops/weights.h"
#include "prune/weights.h"
#include "quant/bias.h"

namespace dnn::prune {
namespace {

using quant::Alternative;
using quant::Alternatives;

bool has_groups(const Node& node) { return is_convolution(node) && int_attribute(node, "group") > 1; }

// The effects of alternatives by layer, index into plan.weights.
std::map<size_t, quant::Effect> effects_of(const Graph& bound, const quant::Plan& plan, const Alternatives& others,
                                           const std::vector<std::vector<Tensor>>& samples,
                                           const quant::CalibrateOptions& options, Scan* scan) {
  const quant::Sensitivity measured = quant::measure_alternatives(bound, plan, others, {}, samples, options);
  scan->samples = measured.samples;
  scan->labelled = measured.labelled;
  std::map<size_t, quant::Effect> effects;
  for (const quant::Spot& spot : measured.spots) {
    if (spot.weights) effects[*measured.layers[*spot.layer].weights] = spot.effect;
  }
  return effects;
}

}  // namespace

std::vector<size_t> prunable(const Graph& bound, const quant::Plan& plan) {
  std::vector<size_t> layers;
  for (size_t i = 0; i < plan.weights.size(); ++i) {
    const Node& node = bound.node(plan.weights[i].node);
    if (!has_groups(node) && node.op != "ConvTranspose" && plan.weights[i].axis >= 0) layers.push_back(i);
  }
  return layers;
}

Alternative pruned_weights(const Graph& bound, const quant::Weights& which, double share,
                           const std::map<ValueId, quant::ChannelFigures>& figures) {
  const Node& node = bound.node(which.node);
  const Tensor& weights = *bound.constant(node.inputs[1]);
  const size_t columns = weight_axes(node, weights.rank())->input;
  const auto seen = figures.find(node.inputs[0]);
  const bool known = seen != figures.end() &&
                     static_cast<int64_t>(seen->second.peaks.size()) == weights.dim(static_cast<int>(columns));
  std::vector<double> importance;
  const bool corrects = known && quant::mean_axis(bound, which);
  for (size_t c = 0; known && c < seen->second.peaks.size(); ++c) {
    // The bias makes up for what the mean adds, where there is one.
    const double mean = seen->second.mean(c), variance = seen->second.variance(c);
    importance.push_back(std::sqrt(corrects ? variance : variance + mean * mean));
  }
  Alternative other;
  other.weights = with_zeros(weights, which.axis, columns, share, importance);
  if (corrects)
    other.bias = quant::corrected_bias(bound, which, other.weights,
                                       quant::ChannelMeans{1, seen->second.sums, seen->second.count});
  return other;
}

Scan scan_weights(const Graph& bound, const quant::Plan& plan, const std::map<ValueId, quant::ChannelFigures>& figures,
                  const std::vector<std::vector<Tensor>>& samples, const quant::CalibrateOptions& options) {
  Scan scan;
  const std::vector<size_t> layers = prunable(bound, plan);
  for (size_t i : layers) {
    const Node& node = bound.node(plan.weights[i].node);
    scan.rows.push_back({quant::name_of(bound, plan.weights[i].node), bound.constant(node.inputs[1])->size(), {}});
  }
  for (size_t level = 0; level < kLevels; ++level) {
    Alternatives others;
    for (size_t i : layers) others[i] = pruned_weights(bound, plan.weights[i], level_share(level), figures);
    const std::map<size_t, quant::Effect> effects = effects_of(bound, plan, others, samples, options, &scan);
    for (size_t r = 0; r < layers.size(); ++r) scan.rows[r].effects.push_back(effects.at(layers[r]));
  }
  return scan;
}

Scan scan_channels(const Graph& bound, const quant::Plan& plan, const ChannelGroups& groups,
                   const std::map<ValueId, quant::ChannelFigures>& figures,
                   const std::vector<std::vector<Tensor>>& samples, const quant::CalibrateOptions& options) {
  Scan scan;
  std::map<NodeId, size_t> index;
  for (size_t i = 0; i < plan.weights.size(); ++i) index[plan.weights[i].node] = i;
  std::map<size_t, size_t> row_of;  // by group
  for (size_t g = 0; g < groups.groups().size(); ++g) {
    const ChannelGroup& group = groups.groups()[g];
    if (!group.free) continue;
    row_of[g] = scan.rows.size();
    scan.rows.push_back({group.name, group.channels, {}});
  }
  for (size_t level = 0; level < kLevels; ++level) {
    const std::vector<double> shares(groups.groups().size(), level_share(level));
    Alternatives others;
    std::map<size_t, std::vector<size_t>> read;  // groups, by layer
    for (ChannelGroups::Reader& reader : groups.readers(groups.kept(shares), figures)) {
      const auto at = index.find(reader.layer);
      if (at == index.end()) continue;
      others[at->second] = {std::move(reader.weights), std::move(reader.bias)};
      read[at->second] = reader.groups;
    }
    for (Scan::Row& row : scan.rows) row.effects.emplace_back();
    for (const auto& [layer, effect] : effects_of(bound, plan, others, samples, options, &scan)) {
      for (size_t g : read[layer]) {
        if (const auto row = row_of.find(g); row != row_of.end()) scan.rows[row->second].effects.back().add(effect);
      }
    }
  }
  return scan;
}

std::vector<double> shares_by(const Scan& scan, double sparsity) {
  std::vector<size_t> levels(scan.rows.size(), 0);  // one above the level that a row has; 0: nothing is taken
  double all = 0, taken = 0;
  for (const Scan::Row& row : scan.rows) all += static_cast<double>(row.size);
  const auto divergence = [&](size_t r, size_t level) {
    return level == 0 ? 0 : scan.rows[r].effects[level - 1].divergence;
  };
  std::vector<double> shares(scan.rows.size(), 0);
  while (taken < sparsity * all) {
    size_t best = scan.rows.size(), best_to = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t r = 0; r < scan.rows.size(); ++r) {
      for (size_t to = levels[r] + 1; to <= kLevels; ++to) {
        const double more = static_cast<double>(to - levels[r]) / 10 * static_cast<double>(scan.rows[r].size);
        const double price = std::max(divergence(r, to) - divergence(r, levels[r]), 0.0) / more;
        if (price >= least) continue;
        least = price;
        best = r;
        best_to = to;
      }
    }
    if (best == scan.rows.size()) break;
    const auto size = static_cast<double>(scan.rows[best].size);
    const double before = shares[best];
    levels[best] = best_to;
    // The last step takes no more than is asked for.
    shares[best] = std::min(level_share(best_to - 1), before + (sparsity * all - taken) / size);
    taken += (shares[best] - before) * size;
  }
  return shares;
}

std::string scan_text(const Scan& scan, What what) {
  std::vector<words::Row> rows = {{"", what == What::Weights ? "layer" : "channels of", "size"}};
  for (size_t level = 0; level < kLevels; ++level) rows[0].push_back(number_text(level_share(level), "%.1f"));
  for (size_t r = 0; r < scan.rows.size(); ++r) {
    rows.push_back({cat(r + 1), plain(scan.rows[r].name), cat(scan.rows[r].size)});
    for (const quant::Effect& effect : scan.rows[r].effects)
      rows.back().push_back(
          number_text(scan.samples == 0 ? 0 : effect.divergence / static_cast<double>(scan.samples), "%.3g"));
  }
  std::vector<bool> left(rows[0].size(), false);
  left[1] = true;
  return cat("what the outputs suffer where one row alone loses a share of its ",
             what == What::Weights ? "weights" : "channels", "; ", counted(scan.samples, "sample"), "\n",
             scan.labelled ? "mean divergence of the classes' probabilities" : "relative squared error of the outputs",
             ", by share\n", words::table(rows, left));
}

}  // namespace dnn::prune
