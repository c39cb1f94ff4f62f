// ChannelGroups: a union of the values whose channels meet, and the weights between groups.
#include "branch/channel_groups.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <numeric>

#include "branch/slice.h"
#include "ops/op.h"
#include "ops/weights.h"

namespace dnn::branch {
namespace {

// Variance of what a rectifier makes of a normal distribution, which stands for all activations here.
float rectified_variance(float mean, float deviation) {
  if (deviation <= 0) return 0;
  const double z = mean / deviation, density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = 0.5 * std::erfc(-z / std::numbers::sqrt2), first = mean * below + deviation * density;
  const double second = (static_cast<double>(mean) * mean + static_cast<double>(deviation) * deviation) * below +
                        static_cast<double>(mean) * deviation * density;
  return static_cast<float>(std::max(0.0, second - first * first));
}

class Grouping {
 public:
  Grouping(const Graph& source, const SourceStages& stages, const StretchPlan& plan, ChannelGroups& result)
      : source_(source), stages_(stages), plan_(plan), result_(result), uses_(source), up_(source.value_count()) {
    std::iota(up_.begin(), up_.end(), 0);
    for (const ValueId v : source_.inputs) fixed_.push_back(v);
    for (const NodeId id : source_.order()) tie(source_.node(id));
    for (size_t s = 0; s < stages_.stages.size(); ++s) add_stage(s);
    place_all();
    for (const NodeId id : source_.order()) {
      const Node& node = source_.node(id);
      const auto found = is_convolution(node) ? group_of_.find(root(node.outputs[0])) : group_of_.end();
      if (found != group_of_.end()) result_.group_of[node.outputs[0]] = found->second;
    }
  }

 private:
  ValueId root(ValueId v) const {
    while (up_[v] != v) v = up_[v];
    return v;
  }
  void unite(ValueId a, ValueId b) { up_[root(a)] = root(b); }
  bool has_channels(ValueId v) const {
    return v != kNoValue && source_.constant(v) == nullptr && source_.value(v).type.shape &&
           source_.value(v).type.shape->size() >= 2;
  }
  int64_t channels(ValueId v) const { return (*source_.value(v).type.shape)[1].size; }

  void tie(const Node& node) {
    const ChannelRole role = channel_role(source_, node);
    const ValueId in = node.inputs.empty() ? kNoValue : node.inputs[0], out = node.outputs[0];
    if (role == ChannelRole::Convolution) {
      const int64_t groups = node.attribute_int("group", 1);
      if (groups == 1 || !has_channels(in)) return;
      if (groups == channels(in) && groups == channels(out)) return unite(in, out);
      fixed_.insert(fixed_.end(), {in, out});
    } else if (role == ChannelRole::Norm || role == ChannelRole::Keeps) {
      unite(in, out);
    } else if (role == ChannelRole::Elements) {
      for (const ValueId v : node.inputs) {
        if (has_channels(v) && channels(v) == channels(out)) unite(v, out);
      }
    } else if (role == ChannelRole::Joins || role == ChannelRole::Whole) {
      for (const std::vector<ValueId>& values : {node.inputs, node.outputs})
        std::copy_if(values.begin(), values.end(), std::back_inserter(fixed_),
                     [&](ValueId v) { return has_channels(v); });
    }
  }

  size_t group_at(ValueId v, size_t s) {
    const auto [entry, is_new] = group_of_.emplace(root(v), result_.groups.size());
    if (is_new) {
      result_.groups.emplace_back().channels = channels(v);
      result_.groups.back().in_stage.resize(plan_.stages.size());
    }
    result_.groups[entry->second].in_stage[s] = true;
    return entry->second;
  }

  // The stage's layers: those that make channels of their own, and those that read what its branches made.
  void add_stage(size_t s) {
    if (plan_.stages[s].size() < 2) return;
    const SourceStage& stage = stages_.stages[s];
    std::vector<bool> made(source_.value_count(), false);
    for (const SourceBlock& block : stage.blocks) {
      for (const NodeId id : block.nodes) {
        const Node& node = source_.node(id);
        const ValueId out = node.outputs[0];
        if (!has_channels(out)) continue;
        const bool reads_made =
            std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return v != kNoValue && made[v]; });
        made[out] = is_convolution(node) || reads_made;
        if (!is_convolution(node)) continue;
        const size_t group = group_at(out, s);
        if (node.attribute_int("group", 1) == 1 && reads_made) add_link(s, node, group, group_at(node.inputs[0], s));
      }
    }
  }

  void add_link(size_t s, const Node& node, size_t made, size_t read) {
    const Tensor* tensor = source_.constant(node.input(1));
    if (tensor == nullptr || tensor->dtype() != DType::Float32) return;
    const int64_t rows = result_.groups[made].channels, columns = result_.groups[read].channels;
    const int64_t kernel = tensor->size() / std::max<int64_t>(1, rows * columns);
    const std::vector<float> variance = variances(node.inputs[0], columns);
    ChannelLink link{s, made, read, std::vector<float>(rows * columns)};
    const auto* w = tensor->data<float>();
    for (int64_t o = 0; o < rows; ++o) {
      float* row = &link.weight[o * columns];
      double sum = 0;
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t k = 0; k < kernel; ++k, ++w) row[i] += *w * *w * variance[i];
        sum += row[i];
      }
      for (int64_t i = 0; i < columns; ++i) row[i] = sum > 0 ? static_cast<float>(row[i] / sum) : 0;
    }
    result_.links.push_back(std::move(link));
  }

  // Variances of the channels of a value, by the norm that it comes from directly or through element-wise operators; 1 where none is there.
  std::vector<float> variances(ValueId v, int64_t n) const {
    bool rectified = false;
    while (const Node* node = producer(v)) {
      const ChannelRole role = channel_role(source_, *node);
      if (role == ChannelRole::Norm) return norm_variances(*node, n, rectified);
      if (role != ChannelRole::Elements && role != ChannelRole::Keeps) break;
      rectified = rectified || role == ChannelRole::Elements;
      v = node->inputs[0];
      if (!has_channels(v) || channels(v) != n) break;
    }
    return std::vector<float>(n, 1);
  }

  std::vector<float> norm_variances(const Node& norm, int64_t n, bool rectified) const {
    std::vector<float> result(n, 1);
    const Tensor *scale = source_.constant(norm.input(1)), *bias = source_.constant(norm.input(2));
    if (scale == nullptr || bias == nullptr || scale->dtype() != DType::Float32 || bias->dtype() != DType::Float32 ||
        scale->size() != n || bias->size() != n)
      return result;
    for (int64_t i = 0; i < n; ++i) {
      const float deviation = std::abs(scale->data<float>()[i]);
      result[i] = rectified ? rectified_variance(bias->data<float>()[i], deviation) : deviation * deviation;
    }
    return result;
  }

  const Node* producer(ValueId v) const {
    const NodeId id = uses_.producer[v];
    return id < 0 ? nullptr : &source_.node(id);
  }

  // Where the positions of each group are, by stretch()'s own shares.
  void place_all() {
    for (const ValueId v : fixed_) {
      const auto found = group_of_.find(root(v));
      if (found != group_of_.end()) result_.groups[found->second].fixed = true;
    }
    for (ChannelGroup& group : result_.groups) {
      group.places.assign(group.channels, Places(plan_.stages.size(), 0));
      for (size_t s = 0; s < plan_.stages.size(); ++s) {
        if (!group.in_stage[s]) continue;
        const Units units(source_, stages_.stages[s]);
        for (size_t b = 0; b < plan_.stages[s].size(); ++b) {
          for (const int64_t p : share_of(group.channels, plan_.stages[s], b, units)) group.places[p][s] |= 1U << b;
        }
      }
      group.set_order(all_channels(group.channels));
    }
  }

  const Graph& source_;
  const SourceStages& stages_;
  const StretchPlan& plan_;
  ChannelGroups& result_;
  const Uses uses_;
  std::vector<ValueId> up_, fixed_;
  std::map<ValueId, size_t> group_of_;  // by root
};

}  // namespace

void ChannelGroup::set_order(const std::vector<int64_t>& order) {
  channel_at = order;
  position_of.resize(order.size());
  for (size_t p = 0; p < order.size(); ++p) position_of[order[p]] = static_cast<int64_t>(p);
}

ChannelGroups::ChannelGroups(const Graph& source, const SourceStages& stages, const StretchPlan& plan) {
  Grouping(source, stages, plan, *this);
}

}  // namespace dnn::branch
