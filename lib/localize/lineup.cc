// Lining layers up; see lineup.h.
#include "localize/lineup.h"

#include <algorithm>
#include <map>

#include "ops/movement.h"
#include "ops/weights.h"

namespace dnn {
namespace {

constexpr size_t kMaxOrdered = 4000;  // lining up by order is quadratic
AxisOrder moved_axis(size_t rank, size_t from, size_t to) {
  AxisOrder order;
  for (size_t i = 0; i < rank; ++i) order.push_back(i);
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), from);
  return order;
}

bool comparable(DType dtype) { return is_float(dtype) || is_integer(dtype) || dtype == DType::Bool; }

bool fits(const Layer& a, const Layer& b) {
  return comparable(a.dtype) && comparable(b.dtype) && is_float(a.dtype) == is_float(b.dtype) &&
         !axis_orders(a.shape, b.shape).empty();
}

// Operators with weights: lined up with their like only.
bool has_weights(const std::string& op) { return multiplies_weights(op) || op == "BatchNormalization"; }

// Larger is better, 0 never.
int likeness(const Layer& a, const Layer& b) {
  if (!is_float(a.dtype) || a.role == stream::Role::Input || b.role == stream::Role::Input || !fits(a, b)) return 0;
  if (a.op.empty() || b.op.empty()) return 2;
  if (a.op == b.op) return 3;
  return has_weights(a.op) || has_weights(b.op) ? 0 : 1;
}

class LineUp {
 public:
  LineUp(const std::vector<Layer>& source, const std::vector<Layer>& target)
      : source_(source), target_(target), match_(source.size(), kNoLayer), by_(source.size()), taken_(target.size()) {}

  std::vector<LayerPair> run(const std::vector<LayerPair>& known, bool by_order) {
    for (const LayerPair& p : known) pair(p.source, p.target, p.by);
    match_names();
    match_places(stream::Role::Input);
    match_places(stream::Role::Output);
    if (by_order) match_order();
    std::vector<LayerPair> pairs;
    for (size_t i = 0; i < source_.size(); ++i) {
      if (match_[i] != kNoLayer) pairs.push_back({i, match_[i], by_[i]});
    }
    return pairs;
  }

 private:
  void pair(size_t a, size_t b, LayerPair::By by) {
    match_[a] = b;
    by_[a] = by;
    taken_[b] = true;
  }
  bool try_pair(size_t a, size_t b, LayerPair::By by) {
    if (match_[a] != kNoLayer || taken_[b] || !fits(source_[a], target_[b])) return false;
    pair(a, b, by);
    return true;
  }

  // Own names before aliases, so that an alias takes nothing from the value that has the name itself.
  void match_names() {
    std::map<std::string, size_t> names, aliases;
    for (size_t j = 0; j < target_.size(); ++j) {
      names.emplace(target_[j].name, j);
      for (const std::string& alias : target_[j].aliases) aliases.emplace(alias, j);
    }
    const auto look_up = [&](size_t i, const std::string& name, const std::map<std::string, size_t>& where) {
      const auto found = where.find(name);
      if (found != where.end()) try_pair(i, found->second, LayerPair::By::Name);
    };
    for (size_t i = 0; i < source_.size(); ++i) look_up(i, source_[i].name, names);
    for (size_t i = 0; i < source_.size(); ++i) {
      look_up(i, source_[i].name, aliases);
      for (const std::string& alias : source_[i].aliases) {
        look_up(i, alias, names);
        look_up(i, alias, aliases);
      }
    }
  }

  void match_places(stream::Role role) {
    const auto of_role = [&](const std::vector<Layer>& layers) {
      std::vector<size_t> found;
      for (size_t i = 0; i < layers.size(); ++i) {
        if (layers[i].role == role) found.push_back(i);
      }
      return found;
    };
    const std::vector<size_t> a = of_role(source_), b = of_role(target_);
    for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) try_pair(a[i], b[i], LayerPair::By::Place);
  }

  // The stretches between pairs that stand in the same order on both sides, each on its own.
  void match_order() {
    size_t a = 0, b = 0;
    const auto stretch = [&](size_t a_end, size_t b_end) {
      std::vector<size_t> left, right;
      for (; a < a_end; ++a) {
        if (match_[a] == kNoLayer) left.push_back(a);
      }
      for (; b < b_end; ++b) {
        if (!taken_[b]) right.push_back(b);
      }
      if (left.size() <= kMaxOrdered && right.size() <= kMaxOrdered) align(left, right);
    };
    const std::vector<size_t> anchored = match_;
    for (size_t i = 0; i < source_.size(); ++i) {
      if (anchored[i] == kNoLayer || anchored[i] < b || source_[i].role == stream::Role::Input) continue;
      stretch(i, anchored[i]);
    }
    stretch(source_.size(), target_.size());
  }

  // The common subsequence of greatest likeness.
  void align(const std::vector<size_t>& left, const std::vector<size_t>& right) {
    if (left.empty() || right.empty()) return;
    const size_t width = right.size() + 1;
    std::vector<int> best((left.size() + 1) * width, 0), like(left.size() * right.size());
    for (size_t i = left.size(); i-- > 0;) {
      for (size_t j = right.size(); j-- > 0;) {
        const int alike = likeness(source_[left[i]], target_[right[j]]);
        like[i * right.size() + j] = alike;
        best[i * width + j] = std::max(best[(i + 1) * width + j], best[i * width + j + 1]);
        if (alike > 0) best[i * width + j] = std::max(best[i * width + j], alike + best[(i + 1) * width + j + 1]);
      }
    }
    for (size_t i = 0, j = 0; i < left.size() && j < right.size();) {
      const int alike = like[i * right.size() + j], here = best[i * width + j];
      if (alike > 0 && here == alike + best[(i + 1) * width + j + 1]) {
        pair(left[i++], right[j++], LayerPair::By::Order);
      } else if (here == best[(i + 1) * width + j]) {
        ++i;
      } else {
        ++j;
      }
    }
  }

  const std::vector<Layer>& source_;
  const std::vector<Layer>& target_;
  std::vector<size_t> match_;  // by source layer
  std::vector<LayerPair::By> by_;
  std::vector<bool> taken_;  // by target layer
};

}  // namespace

std::vector<Layer> layers_of(const std::vector<stream::TensorRecord>& records, const Graph* graph) {
  std::vector<Layer> layers;
  std::map<std::string, size_t> index;
  for (const stream::TensorRecord& record : records) {
    Layer layer;
    layer.name = record.name;
    layer.node = record.node;
    layer.role = record.role;
    layer.dtype = record.tensor.dtype();
    layer.shape = record.tensor.shape();
    if (graph == nullptr && !layers.empty()) layer.inputs = {layers.size() - 1};
    index[layer.name] = layers.size();
    layers.push_back(std::move(layer));
  }
  if (graph == nullptr) return layers;
  const Uses uses(*graph);
  for (Layer& layer : layers) {
    const ValueId id = graph->find_value(layer.name);
    if (id == kNoValue) continue;
    layer.aliases = graph->value(id).aliases;
    const NodeId producer = uses.producer[id];
    if (producer < 0) continue;
    const Node& node = graph->node(producer);
    layer.node = node.name;
    layer.op = node.op;
    std::vector<ValueId> reads = node.inputs;
    for (ValueId captured : captured_values(*graph, node)) reads.push_back(captured);
    for (ValueId read : reads) {
      if (read == kNoValue) continue;
      const auto found = index.find(graph->value(read).name);
      if (found != index.end()) layer.inputs.push_back(found->second);
    }
  }
  return layers;
}

AxisOrder inverse(const AxisOrder& order) {
  AxisOrder back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[order[i]] = i;
  return back;
}

std::vector<size_t> wide_axes(const Shape& shape) {
  std::vector<size_t> axes;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) axes.push_back(i);
  }
  return axes;
}

std::vector<AxisOrder> axis_orders(const Shape& wanted, const Shape& shape) {
  const std::vector<size_t> into = wide_axes(wanted), from = wide_axes(shape);
  std::vector<AxisOrder> orders;
  const size_t rank = from.size();
  if (into.size() != rank) return orders;
  const auto consider = [&](const AxisOrder& order) {
    for (size_t i = 0; i < rank; ++i) {
      if (wanted[into[i]] != shape[from[order[i]]]) return;
    }
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(order);
  };
  consider(moved_axis(std::max<size_t>(rank, 1), 0, 0));
  // Channels behind the batch, or first where the batch is 1: there a move to the second place would exchange height and width.
  for (size_t channel : {size_t{1}, size_t{0}}) {
    if (channel == 1 && !into.empty() && into[0] > 0) continue;
    if (rank < 2 || channel + 1 >= rank) continue;
    consider(moved_axis(rank, rank - 1, channel));
    consider(moved_axis(rank, channel, rank - 1));
  }
  return orders;
}

Tensor reordered(const Tensor& tensor, const AxisOrder& order, const Shape& wanted) {
  if (std::is_sorted(order.begin(), order.end())) return tensor.reshaped(wanted);
  Shape shape;
  for (size_t axis : wide_axes(tensor.shape())) shape.push_back(tensor.shape()[axis]);
  return tensor.reshaped(shape).transposed({order.begin(), order.end()}).reshaped(wanted);
}

std::string_view by_name(LayerPair::By by) {
  switch (by) {
    case LayerPair::By::Name: return "name";
    case LayerPair::By::Place: return "place";
    case LayerPair::By::Order: return "order";
    case LayerPair::By::Values: return "values";
    case LayerPair::By::Parameters: return "parameters";
    case LayerPair::By::Wiring: return "wiring";
    case LayerPair::By::Given: return "given";
  }
  return "";
}

std::vector<LayerPair> line_up(const std::vector<Layer>& source, const std::vector<Layer>& target,
                               const std::vector<LayerPair>& known, bool by_order) {
  return LineUp(source, target).run(known, by_order);
}

}  // namespace dnn
