// Channels that can be taken out; see channels.h.
#include "prune/channels.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "branch/slice.h"
#include "ops/attributes.h"
#include "ops/build.h"
#include "ops/weights.h"

namespace dnn::prune {
namespace {

using branch::ChannelRole;

int64_t channels_of(const Graph& graph, ValueId v) {
  const auto& shape = graph.value(v).type.shape;
  return shape && shape->size() >= 2 ? (*shape)[1].size : -1;
}

bool is_depthwise(const Graph& graph, const Node& node) {
  if (!is_convolution(node)) return false;
  const int64_t in = channels_of(graph, node.inputs[0]);
  return int_attribute(node, "group") == in && in > 1 && channels_of(graph, node.outputs[0]) == in &&
         graph.constant(node.input(1)) != nullptr;
}

bool has_own_channels(const Graph& graph, const Node& node, ChannelRole role) {
  const Tensor *weights = graph.constant(node.input(1)), *bias = graph.constant(node.input(2));
  if (weights == nullptr || weights->dtype() != DType::Float32) return false;
  const int64_t made = channels_of(graph, node.outputs[0]);
  if (node.input(2) != kNoValue && (bias == nullptr || bias->size() != made || bias->rank() == 0)) return false;
  return role == ChannelRole::Product || (role == ChannelRole::Convolution && int_attribute(node, "group") == 1);
}

// By input channel: sums over the other axes of what `of` makes of a weight.
template <class Of>
void each_weight(const Tensor& weights, size_t axis, Of&& of) {
  const size_t n = weights.dim(static_cast<int>(axis));
  const size_t step = row_major_strides(weights.shape())[axis];
  const std::span<const float> w = weights.values<float>();
  for (size_t i = 0; i < w.size(); ++i) of(i / step % n, i, static_cast<double>(w[i]));
}

// The batch norm of constant statistics that alone reads what a layer makes; -1: there is none.
NodeId norm_behind(const Graph& graph, const Uses& uses, NodeId layer) {
  const ValueId made = graph.node(layer).outputs[0];
  if (uses.readers[made].size() != 1 || graph.is_output(made)) return -1;
  const NodeId id = uses.readers[made][0];
  const Node& norm = graph.node(id);
  if (branch::channel_role(graph, norm) != ChannelRole::Norm || flag_attribute(norm, "training_mode")) return -1;
  return graph.constant(norm.input(3)) != nullptr && graph.constant(norm.input(4)) != nullptr ? id : -1;
}

// By unit of a layer: the square of what the norm behind it multiplies its weights by; empty: there is no norm.
std::vector<double> squared_scales(const Graph& graph, const Uses& uses, NodeId layer) {
  const NodeId id = norm_behind(graph, uses, layer);
  if (id < 0) return {};
  const Node& norm = graph.node(id);
  const Tensor* scale = graph.constant(norm.input(1));
  if (scale == nullptr) return {};
  std::vector<double> squares = to_doubles(*scale);
  const std::vector<double> variances = to_doubles(*graph.constant(norm.input(4)));
  const double epsilon = static_cast<double>(float_attribute(norm, "epsilon"));
  for (size_t u = 0; u < squares.size(); ++u) squares[u] *= squares[u] / (variances[u] + epsilon);
  return squares;
}

}  // namespace

void set_bias(Graph& graph, NodeId layer, Tensor bias) {
  Node& node = graph.node(layer);
  const NodeId norm = node.input(2) == kNoValue ? norm_behind(graph, Uses(graph), layer) : -1;
  if (norm >= 0) {
    const Tensor& old = *graph.constant(graph.node(norm).inputs[3]);
    std::vector<double> mean = to_doubles(old);
    const std::vector<double> shift = to_doubles(bias);
    for (size_t u = 0; u < mean.size(); ++u) mean[u] -= shift[u];
    set_constant(graph, norm, 3, convert(Tensor::of<double>(old.shape(), mean), old.dtype()), "mean");
    return;
  }
  if (const Tensor* own = graph.constant(node.input(2))) {
    bias = bias.reshaped(own->shape());
    set_constant(graph, layer, 2, std::move(bias), "bias");
    return;
  }
  const std::string name = graph.value(node.outputs[0]).name + ".bias";
  node.inputs.resize(3, kNoValue);
  node.inputs[2] = graph.add_constant(graph.unused_value_name(name), std::move(bias));
}

// Follows channels through a network.
class ChannelFinder {
 public:
  ChannelFinder(const Graph& graph, ChannelGroups* groups) : graph_(graph), found_(*groups) {}

  void run() {
    for (ValueId v : graph_.inputs) whole(v);
    for (NodeId id : graph_.order()) visit(id);
    for (ValueId v : graph_.outputs) pin(v);
    number();
  }

 private:
  using Part = ChannelGroups::Part;

  size_t root(size_t space) const {
    while (parents_[space] != space) space = parents_[space];
    return space;
  }
  size_t fresh(int64_t channels, bool free) {
    parents_.push_back(parents_.size());
    spaces_.push_back({});
    spaces_.back().channels = channels;
    spaces_.back().free = free;
    return parents_.size() - 1;
  }
  void join(size_t a, size_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    parents_[b] = a;
    spaces_[a].free = spaces_[a].free && spaces_[b].free;
    spaces_[a].makers.insert(spaces_[a].makers.end(), spaces_[b].makers.begin(), spaces_[b].makers.end());
  }
  void pin(ValueId v) {
    const auto at = found_.parts_.find(v);
    if (at == found_.parts_.end()) return;
    for (const Part& part : at->second) spaces_[root(part.group)].free = false;
  }
  // All channels of a value stay.
  void whole(ValueId v) {
    const int64_t channels = channels_of(graph_, v);
    if (channels > 0) found_.parts_[v] = {{fresh(channels, false), channels, 1}};
  }
  void pin_all(const Node& node) {
    for (ValueId v : node.inputs) {
      if (v != kNoValue) pin(v);
    }
    for (ValueId v : captured_values(graph_, node)) pin(v);
    for (ValueId v : node.outputs) {
      if (v != kNoValue) whole(v);
    }
  }

  void visit(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.outputs.empty()) return;
    const bool reads = !node.inputs.empty() && found_.parts_.count(node.inputs[0]) != 0;
    const ChannelRole role = reads ? branch::channel_role(graph_, node) : ChannelRole::Whole;
    const ValueId x = node.input(0), y = node.outputs[0];
    switch (role) {
      case ChannelRole::Convolution:
      case ChannelRole::Product:
        if (has_own_channels(graph_, node, role)) {
          const int64_t channels = channels_of(graph_, y);
          const size_t space = fresh(channels, true);
          spaces_[space].makers = {id};
          found_.parts_[y] = {{space, channels, 1}};
          found_.made_[y] = space;
          found_.reads_.emplace_back(id, x);
        } else if (role == ChannelRole::Convolution && is_depthwise(graph_, node)) {
          found_.parts_[y] = found_.parts_.at(x);
        } else {
          pin_all(node);
        }
        return;
      case ChannelRole::Norm:
      case ChannelRole::Keeps: found_.parts_[y] = found_.parts_.at(x); return;
      case ChannelRole::Flattens: {
        ChannelGroups::Parts parts = found_.parts_.at(x);
        const int64_t pixels = channels_of(graph_, y) / channels_of(graph_, x);
        for (Part& part : parts) part.repeat *= pixels;
        found_.parts_[y] = std::move(parts);
        return;
      }
      case ChannelRole::Joins: return joined(node);
      case ChannelRole::Elements: return tied(node);
      case ChannelRole::Whole: pin_all(node);
    }
  }

  void joined(const Node& node) {
    ChannelGroups::Parts parts;
    for (ValueId v : node.inputs) {
      const auto at = found_.parts_.find(v);
      if (at == found_.parts_.end()) return pin_all(node);
      parts.insert(parts.end(), at->second.begin(), at->second.end());
    }
    found_.parts_[node.outputs[0]] = std::move(parts);
  }

  void tied(const Node& node) {
    const int64_t channels = channels_of(graph_, node.outputs[0]);
    const auto rank = graph_.value(node.outputs[0]).type.shape->size();
    const ChannelGroups::Parts* first = nullptr;
    for (ValueId v : node.inputs) {
      if (v == kNoValue || graph_.constant(v) != nullptr) continue;
      const auto at = found_.parts_.find(v);
      const auto& shape = graph_.value(v).type.shape;
      if (at == found_.parts_.end() || !shape || shape->size() != rank || channels_of(graph_, v) != channels)
        return pin_all(node);
      if (first == nullptr) {
        first = &at->second;
        continue;
      }
      const bool alike =
          std::equal(first->begin(), first->end(), at->second.begin(), at->second.end(),
                     [](const Part& a, const Part& b) { return a.channels == b.channels && a.repeat == b.repeat; });
      if (!alike) return pin_all(node);
      for (size_t i = 0; i < first->size(); ++i) join((*first)[i].group, at->second[i].group);
    }
    if (first == nullptr) return pin_all(node);
    found_.parts_[node.outputs[0]] = *first;
  }

  // Spaces that were joined are one group.
  void number() {
    std::map<size_t, size_t> index;
    for (size_t s = 0; s < spaces_.size(); ++s) {
      if (root(s) != s) continue;
      index[s] = found_.groups_.size();
      ChannelGroup group = spaces_[s];
      std::sort(group.makers.begin(), group.makers.end());
      if (group.makers.empty() || group.channels < 2) group.free = false;
      if (!group.makers.empty()) {
        const Node& maker = graph_.node(group.makers.front());
        group.name = maker.name.empty() ? graph_.value(maker.outputs[0]).name : maker.name;
      }
      found_.groups_.push_back(std::move(group));
    }
    for (auto& [v, parts] : found_.parts_) {
      for (Part& part : parts) part.group = index.at(root(part.group));
    }
    for (auto& [v, space] : found_.made_) space = index.at(root(space));
  }

  const Graph& graph_;
  ChannelGroups& found_;
  std::vector<size_t> parents_;
  std::vector<ChannelGroup> spaces_;
};

ChannelGroups::ChannelGroups(const Graph& bound) : bound_(bound) { ChannelFinder(bound, this).run(); }

std::map<ValueId, quant::ChannelFigures> ChannelGroups::watched() const {
  std::map<ValueId, quant::ChannelFigures> values;
  for (const auto& [id, v] : reads_) values[v].axis = 1;
  return values;
}

std::vector<std::pair<size_t, int64_t>> ChannelGroups::places(ValueId v) const {
  std::vector<std::pair<size_t, int64_t>> places;
  for (const Part& part : parts_.at(v)) {
    for (int64_t c = 0; c < part.channels; ++c) {
      for (int64_t r = 0; r < part.repeat; ++r) places.emplace_back(part.group, c);
    }
  }
  return places;
}

void ChannelGroups::weigh(const std::map<ValueId, quant::ChannelFigures>& figures) {
  for (ChannelGroup& group : groups_) group.weights.assign(group.channels, 0);
  const Uses uses(bound_);
  for (const auto& [id, v] : reads_) {
    const Node& node = bound_.node(id);
    const Tensor& weights = *bound_.constant(node.inputs[1]);
    const std::vector<std::pair<size_t, int64_t>> at = places(v);
    std::vector<double> squares(at.size(), 0);
    const size_t axis = weight_axes(node, weights.rank())->input;
    const std::vector<double> scales = squared_scales(bound_, uses, id);
    const size_t unit_step = row_major_strides(weights.shape())[1 - axis];
    each_weight(weights, axis, [&](size_t place, size_t i, double w) {
      squares[place] += w * w * (scales.empty() ? 1 : scales[i / unit_step % scales.size()]);
    });
    const auto seen = figures.find(v);
    if (seen != figures.end() && seen->second.peaks.size() == at.size()) {
      for (size_t p = 0; p < at.size(); ++p) squares[p] *= seen->second.variance(p);
    }
    const double all = std::accumulate(squares.begin(), squares.end(), 0.0);
    if (all <= 0) continue;
    for (size_t p = 0; p < at.size(); ++p) groups_[at[p].first].weights[at[p].second] += squares[p] / all;
  }
}

std::vector<std::vector<int64_t>> ChannelGroups::kept(const std::vector<double>& shares) const {
  std::vector<std::vector<int64_t>> kept;
  for (size_t g = 0; g < groups_.size(); ++g) {
    const ChannelGroup& group = groups_[g];
    std::vector<int64_t> order = branch::all_channels(group.channels);
    const auto gone = std::min(static_cast<int64_t>(std::floor(shares[g] * static_cast<double>(group.channels) + 1e-9)),
                               group.channels - 1);
    if (group.free && gone > 0) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return group.weights[a] > group.weights[b]; });
      order.resize(group.channels - gone);
      std::sort(order.begin(), order.end());
    }
    kept.push_back(std::move(order));
  }
  return kept;
}

std::vector<ChannelGroups::Reader> ChannelGroups::readers(
    const std::vector<std::vector<int64_t>>& kept, const std::map<ValueId, quant::ChannelFigures>& figures) const {
  std::vector<Reader> result;
  for (const auto& [id, v] : reads_) {
    const Node& node = bound_.node(id);
    const std::vector<std::pair<size_t, int64_t>> at = places(v);
    const Tensor& weights = *bound_.constant(node.inputs[1]);
    const size_t axis = weight_axes(node, weights.rank())->input;
    const size_t units = weights.dim(static_cast<int>(1 - axis));
    const size_t unit_step = row_major_strides(weights.shape())[1 - axis];
    Reader reader;
    reader.layer = id;
    for (const Part& part : parts_.at(v)) reader.groups.push_back(part.group);
    reader.weights = Tensor(DType::Float32, weights.shape());
    float* out = reader.weights.mutable_data<float>();
    const auto seen = figures.find(v);
    const bool corrects = seen != figures.end() && seen->second.peaks.size() == at.size() && node.op != "MatMul";
    std::vector<double> bias(units, 0);
    const Tensor* own = bound_.constant(node.input(2));
    if (own != nullptr) bias = to_doubles(*own);
    each_weight(weights, axis, [&](size_t place, size_t i, double w) {
      const std::vector<int64_t>& stay = kept[at[place].first];
      const bool stays = std::binary_search(stay.begin(), stay.end(), at[place].second);
      out[i] = stays ? static_cast<float>(w) : 0;
      if (!stays && corrects) bias[i / unit_step % units] += w * seen->second.mean(place);
    });
    if (corrects) reader.bias = convert(Tensor::of<double>({static_cast<int64_t>(units)}, bias), DType::Float32);
    result.push_back(std::move(reader));
  }
  return result;
}

Graph ChannelGroups::without(const std::vector<std::vector<int64_t>>& kept,
                             const std::map<ValueId, quant::ChannelFigures>& figures) const {
  Graph source = bound_;
  for (Reader& reader : readers(kept, figures)) {
    if (reader.bias) set_bias(source, reader.layer, std::move(*reader.bias));
  }
  NewGraph target;
  branch::SliceCopier copier(source, target);
  for (ValueId v : source.inputs) {
    const Value& input = source.value(v);
    const int64_t channels = channels_of(source, v);
    copier.pieces[v] = {target.input(input.name, input.type),
                        channels < 0 ? std::vector<int64_t>{} : branch::all_channels(channels)};
  }
  copier.copy(source.order(), "", [&](const Node& layer, int64_t channels) {
    const auto made = made_.find(layer.outputs[0]);
    if (made != made_.end()) return kept[made->second];
    const bool depthwise = is_depthwise(source, layer);
    return depthwise ? copier.pieces.at(layer.inputs[0]).channels : branch::all_channels(channels);
  });
  for (ValueId v : source.outputs) target.output(copier.whole(v), source.value(v).name);
  Graph graph = target.finish();
  graph.name = source.name;
  graph.metadata = source.metadata;
  return graph;
}

}  // namespace dnn::prune
