// Scan: what taking weights or channels from one part of a network alone does to its outputs, and shares by it.
#pragma once
#include <string>
#include <vector>

#include "prune/channels.h"
#include "quant/sensitivity.h"

namespace dnn::prune {

enum class What : uint8_t { Weights, Channels };

// Shares that are tried: 0.1 to 0.9.
inline constexpr size_t kLevels = 9;
inline double level_share(size_t level) { return static_cast<double>(level + 1) / 10; }

struct Scan {
  struct Row {
    std::string name;
    int64_t size = 0;                    // weights, or channels
    std::vector<quant::Effect> effects;  // by level
  };
  std::vector<Row> rows;  // in the network's order
  int64_t samples = 0;
  bool labelled = false;  // the first output has classes
};

// Layers whose weights can be pruned: Conv, Gemm and MatMul of constant weights, depthwise ones aside, in the order of `plan`.weights.
std::vector<size_t> prunable(const Graph& bound, const quant::Plan& plan);

// Weights with zeros, and the bias that makes up for them where the inputs' figures are known; see with_zeros().
quant::Alternative pruned_weights(const Graph& bound, const quant::Weights& which, double share,
                                  const std::map<ValueId, quant::ChannelFigures>& figures);

Scan scan_weights(const Graph& bound, const quant::Plan& plan, const std::map<ValueId, quant::ChannelFigures>& figures,
                  const std::vector<std::vector<Tensor>>& samples, const quant::CalibrateOptions& options);
// Rows are the groups that are free.
Scan scan_channels(const Graph& bound, const quant::Plan& plan, const ChannelGroups& groups,
                   const std::map<ValueId, quant::ChannelFigures>& figures,
                   const std::vector<std::vector<Tensor>>& samples, const quant::CalibrateOptions& options);

// A share for each row, so that together they come to `sparsity` of all: step by step the row goes a level up whose outputs suffer
// least for what it gives.
std::vector<double> shares_by(const Scan& scan, double sparsity);

// A table: each row's divergence at each level.
std::string scan_text(const Scan& scan, What what);

}  // namespace dnn::prune
