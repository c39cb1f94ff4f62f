// The ground that a quantised network is judged on: both networks, the layers that hold integers, and what is asked of them again.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "localize/quantised_bias.h"
#include "localize/quantised_judge.h"
#include "localize/quantised_rows.h"
#include "localize/used_range.h"

namespace dnn {

inline std::string first_made(const Graph& graph, NodeId id) {
  const ValueId v = graph.node(id).output(0);
  return v == kNoValue ? "" : graph.value(v).name;
}
// A layer of both networks whose weights are integers in the target.
struct HeldLayer : HeldRows, HeldBias {
  const QuantisedLayer* layer = nullptr;
  RowsJudged judged;
  bool weights_right = true, bias_right = true;
  NodeId bias_node = -1;  // what makes its bias, or the layer
  // The right scales that its bias is the product of, where that has the wrong ones: its input's as a factor, its weights' by row.
  double input_factor = 1;
  std::vector<double> weight_steps;
};

// Both networks, and what is asked of them again and again.
class JudgeGround {
 public:
  JudgeGround(const QuantisedSource& source, const Graph& target, const SourceRanges& ranges)
      : of_(source),
        source_(source.as_quantised()),
        target_(target),
        ranges_(ranges),
        uses_(target),
        source_uses_(source_) {
    for (const ScaledChannels::Value& value : source.scaled.values) {
      for (ValueId v = value.between.value; v != kNoValue;) {
        scaled_.insert(v);
        const NodeId maker = source_uses_.producer[v];
        v = maker < 0 || maker == value.between.maker ? kNoValue : source_.node(maker).input(0);
      }
    }
  }

 protected:
  const SourceRange* range_of(ValueId value) const {
    const auto there = verdict_.match.values.find(value);
    if (there == verdict_.match.values.end()) return nullptr;
    const auto found = ranges_.find(source_.value(there->second).name);
    return found == ranges_.end() ? nullptr : &found->second;
  }
  // The scale that a layer's bias is a product of; nullopt, too, where the layer is wired wrongly: its bias is right for another.
  std::optional<QuantisedScale> input_scale(const HeldLayer& held) const {
    const ValueId read = target_.node(held.layer->target).input(0);
    const NodeId maker = maker_of(read);
    if (maker < 0 || target_.node(maker).op != "DequantizeLinear") return std::nullopt;
    const NodeId quantizer = quantiser_behind(read);
    if (const auto there = verdict_.match.values.find(quantizer < 0 ? read : target_.node(quantizer).output(0));
        there != verdict_.match.values.end() &&
        origin_in_source(there->second) != origin_in_source(source_.node(held.layer->source).input(0)))
      return std::nullopt;
    return scale_of(target_, target_.node(maker));
  }
  // The layer, join or input of the source that a value comes from, in front of what computes element by element or moves.
  ValueId origin_in_source(ValueId v) const {
    for (NodeId maker = source_uses_.producer[v]; maker >= 0; maker = source_uses_.producer[v]) {
      const Node& node = source_.node(maker);
      const auto is_data = [&](ValueId in) { return in != kNoValue && source_.constant(in) == nullptr; };
      if (has_weight_input(node) || std::count_if(node.inputs.begin(), node.inputs.end(), is_data) != 1) break;
      v = *std::find_if(node.inputs.begin(), node.inputs.end(), is_data);
    }
    return v;
  }
  static bool moves_integers(const Node& node) {
    static const std::set<std::string, std::less<>> kMoves = {
        "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity", "MaxPool", "Slice", "Expand"};
    return kMoves.count(node.op) != 0;
  }
  // The quantiser of what a DequantizeLinear makes a value of; -1: none.
  NodeId quantiser_behind(ValueId value) const {
    NodeId maker = maker_of(value);
    if (maker < 0 || target_.node(maker).op != "DequantizeLinear") return -1;
    do maker = maker_of(target_.node(maker).input(0));
    while (maker >= 0 && moves_integers(target_.node(maker)));
    return maker >= 0 && target_.node(maker).op == "QuantizeLinear" ? maker : -1;
  }
  NodeId maker_of(ValueId value) const { return value == kNoValue ? -1 : uses_.producer[value]; }
  // Tells whether a bias's numbers would be wrong if its scale were the other: small ones say nothing of it.
  static bool tells(const HeldLayer& held, double factor) {
    for (size_t c = 0; c < held.bias.size(); ++c) {
      if (std::abs(held.bias[c] * factor - held.source_bias[c]) > held.allowed[c]) return true;
    }
    return std::abs(factor - 1) <= kSameScale;
  }

  // A bias's scale over its weights', where that is one number.
  std::optional<double> bias_ratio(const HeldLayer& held) const {
    const auto bias = quantised_constant(target_, uses_, held.layer->target, 2);
    if (!bias || bias->steps.size() != held.theirs.n) return std::nullopt;
    double low = 0, high = 0;
    for (size_t c = 0; c < held.theirs.n; ++c) {
      const double weight = held.weights.steps[held.theirs.elements[c * held.theirs.width]];
      if (!(weight > 0) || !(bias->steps[c] > 0)) return std::nullopt;
      const double ratio = bias->steps[c] / weight;
      low = c == 0 ? ratio : std::min(low, ratio);
      high = std::max(high, ratio);
    }
    return high <= low * (1 + kSameScale) ? std::optional(low * held.input_factor) : std::nullopt;
  }

  // By row: the scale of an input times that of the weights.
  static std::vector<double> products(const HeldLayer& held, double input) {
    std::vector<double> scales = held.weight_steps;
    for (size_t c = scales.size(); c < held.theirs.n; ++c)
      scales.push_back(held.weights.steps[held.theirs.elements[c * held.theirs.width]]);
    for (double& s : scales) s *= input;
    return scales;
  }

  std::vector<double> bias_over_input(const HeldLayer& held) const {
    const auto scale = input_scale(held);
    const Node& node = target_.node(held.layer->target);
    const auto bias = scale && node.op != "MatMul" && node.input(2) != kNoValue
                          ? quantised_constant(target_, uses_, held.layer->target, 2)
                          : std::nullopt;
    if (!bias || bias->steps.size() != held.theirs.n || !(scale->scale > 0)) return {};
    std::vector<double> scales = bias->steps;
    for (double& s : scales) s /= scale->scale;
    return scales;
  }
  static bool is_product(const HeldLayer& held, const std::vector<double>& scales) {
    bool all = !scales.empty();
    for (size_t c = 0; c < scales.size(); ++c)
      all = all &&
            std::abs(held.weights.steps[held.theirs.elements[c * held.theirs.width]] / scales[c] - 1) <= kSameScale;
    return all;
  }
  static bool same(const QuantisedScale& a, const QuantisedScale& b) {
    return std::abs(a.scale / b.scale - 1) <= 1e-5 && a.zero_point == b.zero_point;
  }

  Edit scale_edit(NodeId node, const char* key, double number) const {
    Edit edit;
    edit.kind = Edit::Kind::Quantised;
    edit.target = first_made(target_, node);
    edit.key = key;
    edit.numbers = {number};
    return edit;
  }

  QuantisedFault activation_fault(NodeId node, ValueId value) const {
    QuantisedFault fault;
    fault.node = node;
    const auto there = verdict_.match.values.find(value);
    if (there != verdict_.match.values.end()) fault.source = source_uses_.producer[there->second];
    return fault;
  }
  const QuantisedSource& of_;
  const Graph &source_, &target_;
  const SourceRanges& ranges_;
  const Uses uses_, source_uses_;
  std::set<ValueId> scaled_;  // the source's values whose channels were scaled
  std::vector<HeldLayer> layers_;
  QuantisedVerdict verdict_;
};

}  // namespace dnn
