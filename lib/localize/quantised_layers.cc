// Matching a quantised network with its source; see quantised_layers.h.
#include "localize/quantised_layers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "localize/attributes.h"
#include "localize/quantised_operands.h"
#include "ops/movement.h"
#include "ops/op.h"
#include "ops/weights.h"
#include "tensor/tensor.h"

namespace dnn {
namespace {

constexpr double kAlike = 0.8;      // the cosine of rows of one layer's weights
constexpr double kSameSigns = 0.9;  // of the numbers of one layer's weights, whatever was scaled
constexpr size_t kMostRows = 64, kMostColumns = 512, kFewestSigns = 32;

bool quantises(const Node& node) { return node.op == "QuantizeLinear" || node.op == "DequantizeLinear"; }

// Integers become numbers on the way to an input, through operators that only move them.
NodeId dequantize_behind(const Graph& graph, const Uses& uses, ValueId value, std::vector<NodeId>* moves) {
  for (int steps = 0; steps < 4 && value != kNoValue && graph.constant(value) == nullptr; ++steps) {
    const NodeId maker = uses.producer[value];
    if (maker < 0) return -1;
    const Node& node = graph.node(maker);
    if (node.op == "DequantizeLinear") return graph.constant(node.input(0)) == nullptr ? -1 : maker;
    if (!only_moves_weights(node)) return -1;
    if (node.op == "Transpose" || node.op == "Gather") moves->push_back(maker);
    value = node.input(0);
  }
  return -1;
}

// Places of elements behind a Gather that brings those along an axis into another order; false for any other.
bool gather_places(const Graph& graph, const Node& node, const Shape& shape, std::vector<size_t>* places) {
  const Tensor* indices = graph.constant(node.input(1));
  const int64_t rank = static_cast<int64_t>(shape.size()), given = int_attribute(node, "axis"),
                axis = given < 0 ? given + rank : given;
  if (indices == nullptr || indices->rank() != 1 || axis < 0 || axis >= rank || indices->size() != shape[axis])
    return false;
  const int64_t extent = shape[axis], inner = row_major_strides(shape)[axis];
  std::vector<int64_t> from = to_int64s(*indices);
  for (int64_t& i : from) i += i < 0 ? extent : 0;
  std::vector<int64_t> each = from;
  std::sort(each.begin(), each.end());
  for (int64_t i = 0; i < extent; ++i) {
    if (each[i] != i) return false;
  }
  const std::vector<size_t> before = *places;
  for (int64_t i = 0; i < std::ssize(before); ++i) {
    const int64_t at = i / inner % extent;
    (*places)[i] = before[i + (from[at] - at) * inner];
  }
  return true;
}

// The same behind any operator that only moves.
bool move_places(const Graph& graph, const Node& node, Shape* shape, std::vector<size_t>* places) {
  if (node.op == "Gather") return gather_places(graph, node, *shape, places);
  const std::vector<int64_t> perm = transpose_permutation(node, shape->size());
  if (perm.size() != shape->size()) return false;
  const Tensor turned =
      Tensor::of<int64_t>(*shape, std::vector<int64_t>(places->begin(), places->end())).transposed(perm);
  places->assign(turned.data<int64_t>(), turned.data<int64_t>() + turned.size());
  *shape = turned.shape();
  return true;
}

double least_of(DType dtype) {
  return dtype_class(dtype) == DTypeClass::Signed ? -std::ldexp(1.0, dtype_bits(dtype) - 1) : 0;
}
double most_of(DType dtype) {
  const bool sign = dtype_class(dtype) == DTypeClass::Signed;
  return std::ldexp(1.0, sign ? dtype_bits(dtype) - 1 : dtype_bits(dtype)) - 1;
}

size_t output_axis(const Node& node, size_t rank) {
  const std::optional<WeightAxes> axes = weight_axes(node, static_cast<int>(rank));
  return axes ? static_cast<size_t>(axes->output) : rank - 1;
}

int64_t weight_groups(const Node& layer, const Shape& shape) {
  const int64_t groups = layer.op == "ConvTranspose" ? int_attribute(layer, "group") : 1;
  return groups > 1 && shape[0] % groups == 0 ? groups : 1;
}

bool moves_only(const std::string& op) {
  static const std::set<std::string, std::less<>> kOps = {"Reshape",   "Flatten",  "Transpose", "Squeeze",
                                                          "Unsqueeze", "Identity", "Cast"};
  return kOps.count(op) != 0;
}

bool averages(const std::string& op) { return op == "AveragePool" || op == "GlobalAveragePool" || op == "ReduceMean"; }

bool same_kind(const std::string& a, const std::string& b) {
  const auto clamps = [](const std::string& op) { return op == "Relu" || op == "Clip"; };
  return a == b || (averages(a) && averages(b)) || (clamps(a) && clamps(b));
}

// How alike two layers' weights are: the median over rows of their cosine, whatever scales a row.
double rows_alike(const WeightRows& a, const WeightRows& b) {
  if (a.n != b.n || a.width != b.width || a.n == 0 || a.width == 0) return 0;
  std::vector<double> cosines;
  const size_t rows = std::max<size_t>(1, a.n / kMostRows), columns = std::max<size_t>(1, a.width / kMostColumns);
  for (size_t r = 0; r < a.n; r += rows) {
    double product = 0, left = 0, right = 0;
    for (size_t i = 0; i < a.width; i += columns) {
      product += a.at(r, i) * b.at(r, i);
      left += a.at(r, i) * a.at(r, i);
      right += b.at(r, i) * b.at(r, i);
    }
    if (left > 0 && right > 0) cosines.push_back(std::abs(product) / std::sqrt(left * right));
  }
  if (cosines.empty()) return 0;
  // A weight each says nothing but its sign.
  if (a.width == 1) return 0.5;
  std::nth_element(cosines.begin(), cosines.begin() + static_cast<std::ptrdiff_t>(cosines.size() / 2), cosines.end());
  return cosines[cosines.size() / 2];
}

// The share of numbers with the same sign, which scaled channels leave as they are; 0 of few numbers.
double signs_alike(const WeightRows& a, const WeightRows& b) {
  if (a.n != b.n || a.width != b.width || a.n == 0 || a.width == 0) return 0;
  const size_t rows = std::max<size_t>(1, a.n / kMostRows), columns = std::max<size_t>(1, a.width / kMostColumns);
  size_t n = 0, same = 0;
  for (size_t r = 0; r < a.n; r += rows) {
    for (size_t i = 0; i < a.width; i += columns) {
      const double product = a.at(r, i) * b.at(r, i);
      n += product != 0 ? 1 : 0;
      same += product > 0 ? 1 : 0;
    }
  }
  return n < kFewestSigns ? 0 : static_cast<double>(same) / static_cast<double>(n);
}

// Both networks, and what is asked of their values again and again.
class MatchGround {
 public:
  MatchGround(const Graph& source, const Graph& target)
      : source_(source), target_(target), source_uses_(source), target_uses_(target) {}

 protected:
  // The value that a layer of the source makes with its bias, which an Add behind it may be.
  ValueId with_bias(NodeId layer, std::vector<double>* bias) const {
    const Node& node = source_.node(layer);
    ValueId out = node.output(0);
    if (const Tensor* own = node.op == "MatMul" ? nullptr : source_.constant(node.input(2))) {
      *bias = to_doubles(*own);
      return out;
    }
    const std::vector<NodeId>& readers = source_uses_.readers[out];
    if (readers.size() != 1 || source_.node(readers[0]).op != "Add" || source_.is_output(out)) return out;
    const Node& add = source_.node(readers[0]);
    const Tensor* shift = source_.constant(add.input(add.input(0) == out ? 1 : 0));
    if (shift == nullptr) return out;
    *bias = to_doubles(*shift);
    return add.output(0);
  }

  // The activation alone that reads a value, which a quantiser's range may stand for.
  NodeId clamp_behind(ValueId value) const {
    for (const ValueId v : handed_on(value)) {
      const std::vector<NodeId>& readers = source_uses_.readers[v];
      if (readers.size() != 1 || source_.is_output(v)) return -1;
      if (clamp_bounds(source_, source_.node(readers[0]))) return readers[0];
    }
    return -1;
  }

  // A value of the source, and the same numbers where an operator hands them on that a quantiser leaves out.
  std::vector<ValueId> handed_on(ValueId value) const {
    std::vector<ValueId> same = {value};
    for (size_t i = 0; i < same.size(); ++i) {
      for (NodeId id : source_uses_.readers[same[i]]) {
        const Node& reader = source_.node(id);
        if (reader.domain.empty() && (reader.op == "Identity" || reader.op == "Dropout"))
          same.push_back(reader.output(0));
      }
    }
    return same;
  }

  static std::set<std::string> readers_ops(const Graph& graph, const Uses& uses, ValueId value) {
    std::set<std::string> ops;
    for (NodeId reader : uses.readers[value]) ops.insert(graph.node(reader).op);
    return ops;
  }

  // The activation behind an operator without weights that reads a value, where that operator may have been left out: no such one reads the
  // integers in the target, or what reads them is what reads the activation. A range that stands for the activation says that this is there.
  NodeId clamp_past_one(ValueId value, ValueId integers) const {
    std::set<std::string> there;
    for (NodeId reader : target_uses_.readers[integers]) {
      if (target_.node(reader).op != "DequantizeLinear") {
        there.insert(target_.node(reader).op);
        continue;
      }
      there.merge(readers_ops(target_, target_uses_, target_.node(reader).output(0)));
    }
    for (NodeId reader : source_uses_.readers[value]) {
      const Node& node = source_.node(reader);
      const NodeId clamp = has_weight_input(node) || node.outputs.size() != 1 ? -1 : clamp_behind(node.output(0));
      if (clamp < 0) continue;
      const bool reads_what_follows = there == readers_ops(source_, source_uses_, source_.node(clamp).output(0)) &&
                                      there != readers_ops(source_, source_uses_, value);
      if (there.count(node.op) == 0 || reads_what_follows) return clamp;
    }
    return -1;
  }

  // Tells whether the source has a clamp with one of these bounds, which this one may be, wherever it stands.
  bool has_bound(const std::pair<double, double>& bounds) const {
    return std::any_of(source_.order().begin(), source_.order().end(), [&](NodeId id) {
      const Node& node = source_.node(id);
      // These are decomposed with clamps from 0 to 1, or to 6.
      if (node.domain.empty() && (node.op == "HardSigmoid" || node.op == "HardSwish") &&
          (bounds.first == 0 || bounds.second == 1 || bounds.second == 6))
        return true;
      const auto own = clamp_bounds(source_, node);
      return own && ((std::isfinite(own->first) && own->first == bounds.first) ||
                     (std::isfinite(own->second) && own->second == bounds.second));
    });
  }

  // A range stands for an activation if it ends where that does. Where a quantiser and what dequantises do not agree, one is wrong, and
  // the other says what was meant.
  bool stands_for(const Node& quantizer, const QuantisedScale& own, const std::pair<double, double>& bounds) const {
    // A step or two let through no more than rounding does.
    const auto within = [&](const QuantisedScale& scale) {
      return scale.low() >= bounds.first - 2 * scale.scale && scale.high() <= bounds.second + 2 * scale.scale;
    };
    if (within(own)) return true;
    const std::vector<NodeId>& readers = target_uses_.readers[quantizer.output(0)];
    return !clamped_behind(quantizer.output(0)) && std::any_of(readers.begin(), readers.end(), [&](NodeId id) {
      const Node& reader = target_.node(id);
      const auto scale = reader.op == "DequantizeLinear" ? scale_of(target_, reader) : std::nullopt;
      return scale && within(*scale);
    });
  }

  // Tells whether the target bounds what is quantised there, once it is dequantised.
  bool clamped_behind(ValueId integers) const {
    for (NodeId reader : target_uses_.readers[integers]) {
      if (target_.node(reader).op != "DequantizeLinear") continue;
      for (NodeId next : target_uses_.readers[target_.node(reader).output(0)]) {
        if (clamp_bounds(target_, target_.node(next))) return true;
      }
    }
    return false;
  }

  // A constant of the target, or integers that are one.
  bool is_constant(ValueId v) const {
    const NodeId maker = target_uses_.producer[v];
    return target_.constant(v) != nullptr || (maker >= 0 && target_.node(maker).op == "DequantizeLinear" &&
                                              target_.constant(target_.node(maker).input(0)) != nullptr);
  }

  bool reads_from(const Node& other, const std::vector<std::vector<ValueId>>& inputs) const {
    std::vector<ValueId> reads;
    for (ValueId v : other.inputs) {
      if (v != kNoValue && source_.constant(v) == nullptr) reads.push_back(v);
    }
    return reads.size() == inputs.size() &&
           std::all_of(inputs.begin(), inputs.end(), [&](const std::vector<ValueId>& ways) {
             return ways.empty() || std::any_of(ways.begin(), ways.end(), [&](ValueId v) {
                      return std::find(reads.begin(), reads.end(), v) != reads.end();
                    });
           });
  }

  // Tells whether a constant of the target's operator is none of the other's, nor a rounding of one.
  bool operands_differ(const Node& ours, NodeId id) const {
    constexpr double kLastDigits = 1e-5;
    const Node& theirs = target_.node(id);
    for (size_t input = 0; input < theirs.inputs.size(); ++input) {
      const ValueId v = theirs.inputs[input];
      const Tensor* plain = v == kNoValue ? nullptr : target_.constant(v);
      const auto held = v == kNoValue ? std::nullopt : quantised_constant(target_, target_uses_, id, input);
      if (!held && (plain == nullptr || !is_float(plain->dtype()))) continue;
      const std::vector<double> numbers = held ? held->numbers : to_doubles(*plain);
      std::vector<double> steps = held ? held->steps : numbers;
      for (double& step : steps) step = held ? step : kLastDigits * std::abs(step);
      const bool known = std::any_of(ours.inputs.begin(), ours.inputs.end(), [&](ValueId own) {
        const Tensor* constant = own == kNoValue ? nullptr : source_.constant(own);
        return constant != nullptr && is_float(constant->dtype()) &&
               rounding_apart(to_doubles(*constant), numbers, steps);
      });
      if (!known) return true;
    }
    return false;
  }

  const Graph &source_, &target_;
  const Uses source_uses_, target_uses_;
};

class Match : public MatchGround {
 public:
  using MatchGround::MatchGround;

  QuantisedMatch run() {
    match_layers();
    follow_values();
    return std::move(match_);
  }

 private:
  struct Layer {
    NodeId node = -1;
    WeightRows rows;
    bool taken = false;
  };

  // Tells what constants alone make of an input: its own, or dequantised integers.
  std::vector<Layer> layers_of(const Graph& graph, const Uses& uses) const {
    std::vector<Layer> layers;
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!has_weight_input(node)) continue;
      std::optional<WeightRows> rows;
      if (const Tensor* weights = graph.constant(node.input(1)); weights != nullptr && is_float(weights->dtype())) {
        rows = weight_rows(node, weights->shape(), to_doubles(*weights));
      } else if (const auto quantised = quantised_constant(graph, uses, id, 1)) {
        rows = weight_rows(node, quantised->shape, quantised->numbers);
      }
      if (rows) layers.push_back({id, std::move(*rows)});
    }
    return layers;
  }

  void match_layers() {
    std::vector<Layer> ours = layers_of(source_, source_uses_), theirs = layers_of(target_, target_uses_);
    take_alike(rows_alike, kAlike, &ours, &theirs);
    take_alike(signs_alike, kSameSigns, &ours, &theirs);
    for (Layer& b : theirs) {
      for (Layer& a : ours) {
        if (!a.taken && !b.taken && a.rows.n == b.rows.n && a.rows.width == b.rows.width) take(&a, &b);
      }
    }
  }

  // Those that are more alike than `least`, the most alike first.
  template <class Alike>
  void take_alike(const Alike& alike, double least, std::vector<Layer>* ours, std::vector<Layer>* theirs) {
    struct Pair {
      double alike;
      size_t a, b;
    };
    std::vector<Pair> pairs;
    for (size_t a = 0; a < ours->size(); ++a) {
      for (size_t b = 0; b < theirs->size() && !(*ours)[a].taken; ++b) {
        if ((*theirs)[b].taken) continue;
        const double how = alike((*ours)[a].rows, (*theirs)[b].rows);
        if (how > least) pairs.push_back({how, a, b});
      }
    }
    const auto apart = [](const Pair& p) { return p.a > p.b ? p.a - p.b : p.b - p.a; };
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Pair& x, const Pair& y) {
      // Weights that several layers share are told apart by order.
      return std::abs(x.alike - y.alike) > 1e-6 ? x.alike > y.alike : apart(x) < apart(y);
    });
    for (const Pair& p : pairs) {
      if (!(*ours)[p.a].taken && !(*theirs)[p.b].taken) take(&(*ours)[p.a], &(*theirs)[p.b]);
    }
  }

  void take(Layer* a, Layer* b) {
    a->taken = b->taken = true;
    partner_[b->node] = a->node;
  }

  void follow_values() {
    for (size_t i = 0; i < std::min(source_.inputs.size(), target_.inputs.size()); ++i)
      match_.values[target_.inputs[i]] = source_.inputs[i];
    for (NodeId id : target_.order()) {
      const Node& node = target_.node(id);
      if (const auto layer = partner_.find(id); layer != partner_.end()) {
        QuantisedLayer found = {layer->second, id, {}};
        const ValueId out = with_bias(layer->second, &found.bias);
        const bool bias = node.op != "MatMul" && node.input(2) != kNoValue;
        match_.values[node.output(0)] = bias ? out : source_.node(layer->second).output(0);
        match_.layers.push_back(std::move(found));
      } else if (quantises(node)) {
        follow_quantiser(id);
      } else {
        follow(id);
        pass_idle(id);
      }
    }
  }

  // A clamp that the source does not have, and that a quantiser makes needless: how a writer keeps infinity from one.
  void pass_idle(NodeId id) {
    const Node& node = target_.node(id);
    if (node.outputs.empty() || match_.values.count(node.output(0)) != 0) return;
    const auto value = bounded_for_nothing(target_, target_uses_, node);
    if (!value || has_bound(value->bounds)) return;
    match_.idle[id] = value->value;
    if (const auto known = match_.values.find(value->value); known != match_.values.end())
      match_.values[node.output(0)] = known->second;
  }

  void follow_quantiser(NodeId id) {
    const Node& node = target_.node(id);
    const auto known = match_.values.find(node.input(0));
    if (known == match_.values.end()) return;
    ValueId there = known->second;
    if (node.op == "QuantizeLinear") {
      const auto scale = scale_of(target_, node);
      const NodeId clamp = clamp_behind(there), further = clamp < 0 ? clamp_past_one(there, node.output(0)) : -1;
      const auto bounds_of = [&](NodeId c) { return c < 0 ? std::nullopt : clamp_bounds(source_, source_.node(c)); };
      const auto bounds = bounds_of(clamp), further_bounds = bounds_of(further);
      if (scale && bounds && stands_for(node, *scale, *bounds)) {
        match_.clamps[id] = clamp;
        there = source_.node(clamp).output(0);
      } else if (scale && bounds && !clamped_behind(node.output(0))) {
        match_.missing[id] = clamp;
      } else if (scale && further_bounds && !clamped_behind(node.output(0)) &&
                 stands_for(node, *scale, *further_bounds)) {
        match_.clamps[id] = further;
        there = source_.node(further).output(0);
      }
    }
    match_.values[node.output(0)] = there;
  }

  // Among several operators that read the same, the one counts that does the same to it, and that no other stands for.
  int unlikeness(const Node& ours, NodeId id) const {
    const Node& theirs = target_.node(id);
    const bool attributes = ours.op != theirs.op || !attribute_differences(source_, ours, target_, theirs).empty();
    const bool bounds = clamp_bounds(source_, ours) != clamp_bounds(target_, theirs);
    return (attributes || bounds ? 1 : 0) + (taken_.count(ours.output(0)) != 0 ? 1 : 0) +
           (operands_differ(ours, id) ? 2 : 0);
  }
  void take_values(NodeId partner, const Node& node) {
    const Node& other = source_.node(partner);
    taken_.insert(other.output(0));
    for (size_t o = 0; o < std::min(node.outputs.size(), other.outputs.size()); ++o) {
      if (node.outputs[o] != kNoValue && other.outputs[o] != kNoValue)
        match_.values[node.outputs[o]] = other.outputs[o];
    }
  }

  // An operator of the source that computes from what the source has at this one's inputs.
  void follow(NodeId id) {
    const Node& node = target_.node(id);
    std::vector<std::vector<ValueId>> inputs;
    for (ValueId v : node.inputs) {
      if (v == kNoValue || is_constant(v)) continue;
      const auto known = match_.values.find(v);
      if (known == match_.values.end()) {
        inputs.emplace_back();
        continue;
      }
      inputs.push_back(handed_on(known->second));
      if (const NodeId clamp = clamp_behind(known->second); clamp >= 0) {
        for (const ValueId same : handed_on(source_.node(clamp).output(0))) inputs.back().push_back(same);
      }
    }
    // The one of its operator that reads what is known, where a part of what it reads is not.
    const auto first = std::find_if(inputs.begin(), inputs.end(), [](const auto& ways) { return !ways.empty(); });
    const bool all = std::none_of(inputs.begin(), inputs.end(), [](const auto& ways) { return ways.empty(); });
    if (first == inputs.end() || node.outputs.empty()) return;
    std::vector<NodeId> partners;
    for (ValueId from : *first) {
      for (NodeId reader : source_uses_.readers[from]) {
        if (same_kind(source_.node(reader).op, node.op) && reads_from(source_.node(reader), inputs))
          partners.push_back(reader);
      }
    }
    if (!all && (partners.size() != 1 || source_.node(partners[0]).op != node.op)) return;
    if (!partners.empty()) {
      take_values(*std::min_element(partners.begin(), partners.end(),
                                    [&](NodeId x, NodeId y) {
                                      return unlikeness(source_.node(x), id) < unlikeness(source_.node(y), id);
                                    }),
                  node);
      return;
    }
    // The same numbers in another place, or beside zeros.
    if (all && inputs.size() == 1 && (moves_only(node.op) || node.op == "Pad"))
      match_.values[node.output(0)] = inputs[0][0];
  }

  std::map<NodeId, NodeId> partner_;  // of the target's layers
  std::set<ValueId> taken_;           // the source's values that an operator of the target was found to make
  QuantisedMatch match_;
};

}  // namespace

bool has_weight_input(const Node& node) { return node.domain.empty() && has_trait(node, Trait::Weighted); }

bool has_quantised_weights(const Graph& graph) {
  const Uses uses(graph);
  size_t n_layers = 0, n_quantised = 0;
  for (NodeId id : graph.order()) {
    if (!has_weight_input(graph.node(id))) continue;
    std::vector<NodeId> moves;
    ++n_layers;
    n_quantised += dequantize_behind(graph, uses, graph.node(id).input(1), &moves) >= 0 ? 1 : 0;
  }
  return n_quantised * 4 > n_layers;
}

bool has_quantised_activations(const Graph& graph) {
  const Uses uses(graph);
  size_t n_layers = 0, n_quantised = 0;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.op.starts_with("QLinear") || node.op.ends_with("Integer")) return true;
    if (!has_weight_input(node)) continue;
    ++n_layers;
    for (size_t i : {0, 1}) {
      const NodeId maker = node.input(i) == kNoValue ? -1 : uses.producer[node.input(i)];
      if (maker < 0 || graph.node(maker).op != "DequantizeLinear") continue;
      ++n_quantised;
      break;
    }
  }
  return n_quantised * 4 > n_layers;
}

bool has_quantisers_alone(const Graph& graph) {
  const Uses uses(graph);
  size_t n_quantisers = 0, n_layers = 0, n_operators = 0, n_behind = 0;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    n_quantisers += node.op == "QuantizeLinear" ? 1 : 0;
    if (quantises(node)) continue;
    n_layers += has_weight_input(node) ? 1 : 0;
    ++n_operators;
    n_behind += std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
      const NodeId maker = v == kNoValue ? -1 : uses.producer[v];
      return maker >= 0 && graph.node(maker).op == "DequantizeLinear";
    });
  }
  return n_quantisers > 0 && (n_layers == 0 || 2 * n_behind > n_operators);
}

namespace {

// Also of one that is written as Max or Min.
std::optional<Bounding> bounding(const Graph& graph, const Node& node) {
  if (const auto bounds = clamp_bounds(graph, node)) return Bounding{node.input(0), *bounds};
  if (!node.domain.empty() || node.inputs.size() != 2 || (node.op != "Max" && node.op != "Min")) return std::nullopt;
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (size_t i : {0, 1}) {
    const Tensor* bound = graph.constant(node.inputs[i]);
    if (bound == nullptr || bound->size() != 1 || !is_float(bound->dtype())) continue;
    const double number = to_doubles(*bound)[0];
    return Bounding{node.inputs[1 - i],
                    node.op == "Max" ? std::pair(number, kInfinite) : std::pair(-kInfinite, number)};
  }
  return std::nullopt;
}

// Tells whether quantisers alone read a value, all of whose integers are within these bounds.
bool is_quantised_within(const Graph& graph, const Uses& uses, ValueId value, const std::pair<double, double>& bounds) {
  if (graph.is_output(value) || uses.readers[value].empty()) return false;
  return std::all_of(uses.readers[value].begin(), uses.readers[value].end(), [&](NodeId id) {
    const Node& reader = graph.node(id);
    if (reader.op != "QuantizeLinear")
      return bounding(graph, reader) && is_quantised_within(graph, uses, reader.output(0), bounds);
    const auto scale = scale_of(graph, reader);
    return scale && bounds.first < scale->low() + scale->scale / 2 && bounds.second > scale->high() - scale->scale / 2;
  });
}

}  // namespace

std::optional<Bounding> bounded_for_nothing(const Graph& graph, const Uses& uses, const Node& node) {
  const auto found = bounding(graph, node);
  if (!found || !is_quantised_within(graph, uses, node.output(0), found->bounds)) return std::nullopt;
  return found;
}

bool only_moves_weights(const Node& node) {
  static const std::set<std::string, std::less<>> kOps = {"Transpose", "Gather", "Identity", "Cast"};
  return kOps.count(node.op) != 0;
}

std::optional<QuantisedConstant> quantised_constant(const Graph& graph, const Uses& uses, NodeId reader, size_t input) {
  std::vector<NodeId> moves;
  QuantisedConstant found;
  found.reader = reader;
  found.input = input;
  found.dequantize = dequantize_behind(graph, uses, graph.node(reader).input(input), &moves);
  if (found.dequantize < 0) return std::nullopt;
  const Node& node = graph.node(found.dequantize);
  const Tensor *integers = graph.constant(node.input(0)), *scale = graph.constant(node.input(1)),
               *zero = graph.constant(node.input(2));
  found.n_scales = scale == nullptr ? 0 : static_cast<size_t>(scale->size());
  if (scale == nullptr || (node.input(2) != kNoValue && zero == nullptr) || int_attribute(node, "block_size") != 0)
    return std::nullopt;
  Shape shape = integers->shape();
  const int64_t rank = integers->rank(),
                axis = int_attribute(node, "axis") + (int_attribute(node, "axis") < 0 ? rank : 0);
  const std::vector<double> scales = to_doubles(*scale), q = to_doubles(*integers);
  const std::vector<double> zeros = zero == nullptr ? std::vector<double>{0} : to_doubles(*zero);
  if (scales.empty() || zeros.empty() || (scales.size() > 1 && (axis < 0 || axis >= rank))) return std::nullopt;
  const int64_t stride = scales.size() > 1 ? row_major_strides(shape)[axis] : 1;
  if (scales.size() > 1 && shape[axis] != static_cast<int64_t>(scales.size())) return std::nullopt;
  // Weights of -127 to 127 end there.
  const double least = least_of(integers->dtype()) + (dtype_class(integers->dtype()) == DTypeClass::Signed ? 1 : 0);
  const double most = most_of(integers->dtype());
  if (!moves.empty()) {
    found.places.resize(q.size());
    std::iota(found.places.begin(), found.places.end(), size_t{0});
  }
  for (size_t m = moves.size(); m-- > 0;) {
    if (!move_places(graph, graph.node(moves[m]), &shape, &found.places)) return std::nullopt;
  }
  for (size_t i = 0; i < q.size(); ++i) {
    const size_t at = found.place(i), c = scales.size() > 1 ? at / stride % scales.size() : 0;
    found.steps.push_back(scales[c]);
    found.groups.push_back(c);
    found.numbers.push_back((q[at] - zeros[zeros.size() > 1 ? c % zeros.size() : 0]) * scales[c]);
    found.at_end.push_back(q[at] <= least || q[at] >= most);
  }
  found.shape = shape;
  return found;
}

std::optional<WeightRows> weight_rows(const Node& layer, const Shape& shape, const std::vector<double>& numbers) {
  if (shape.size() < 2 || element_count(shape) != static_cast<int64_t>(numbers.size()) || numbers.empty())
    return std::nullopt;
  const size_t axis = output_axis(layer, shape.size());
  const auto extent = static_cast<size_t>(shape[axis]), stride = static_cast<size_t>(row_major_strides(shape)[axis]);
  // A ConvTranspose's groups lie one after the other along its inputs, and each has all extents of the outputs' axis.
  const size_t groups = weight_groups(layer, shape), n = extent * groups;
  WeightRows rows;
  rows.n = n;
  rows.width = numbers.size() / n;
  rows.numbers.resize(numbers.size());
  rows.elements.resize(numbers.size());
  std::vector<size_t> next(n, 0);
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t group = i * groups / numbers.size(), row = group * extent + i / stride % extent;
    const size_t place = row * rows.width + next[row]++;
    rows.numbers[place] = numbers[i];
    rows.elements[place] = i;
  }
  return rows;
}

std::optional<HeldRows> held_rows(const Graph& folded_source, const Graph& target, const Uses& uses,
                                  const QuantisedLayer& layer) {
  auto weights = quantised_constant(target, uses, layer.target, 1);
  const Node& source = folded_source.node(layer.source);
  const Tensor* tensor = folded_source.constant(source.input(1));
  if (!weights || tensor == nullptr) return std::nullopt;
  auto theirs = weight_rows(target.node(layer.target), weights->shape, weights->numbers);
  auto ours = weight_rows(source, tensor->shape(), to_doubles(*tensor));
  if (!theirs || !ours || theirs->n != ours->n || theirs->width != ours->width) return std::nullopt;
  return HeldRows{std::move(*weights), std::move(*theirs), std::move(*ours)};
}

QuantisedMatch match_quantised(const Graph& folded_source, const Graph& target) {
  return Match(folded_source, target).run();
}

std::optional<std::pair<double, double>> clamp_bounds(const Graph& graph, const Node& node) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!node.domain.empty()) return std::nullopt;
  if (node.op == "Relu") return std::pair(0.0, kInfinite);
  if (node.op != "Clip") return std::nullopt;
  std::array<double, 2> bounds = {-kInfinite, kInfinite};
  for (size_t i : {0, 1}) {
    if (node.input(i + 1) == kNoValue) continue;
    const Tensor* bound = graph.constant(node.input(i + 1));
    if (bound == nullptr || bound->size() != 1) return std::nullopt;
    bounds[i] = to_doubles(*bound)[0];
  }
  return std::pair(bounds[0], bounds[1]);
}

std::optional<QuantisedScale> scale_of(const Graph& graph, const Node& node) {
  const Tensor *scale = graph.constant(node.input(1)), *zero = graph.constant(node.input(2));
  if (scale == nullptr || scale->size() != 1 || (node.input(2) != kNoValue && (zero == nullptr || zero->size() != 1)))
    return std::nullopt;
  DType dtype = zero != nullptr ? zero->dtype() : DType::UInt8;
  const ValueId integers = node.op == "QuantizeLinear" ? node.output(0) : node.input(0);
  if (zero == nullptr && integers != kNoValue && is_integer(graph.value(integers).type.dtype))
    dtype = graph.value(integers).type.dtype;
  if (!is_integer(dtype)) return std::nullopt;
  return QuantisedScale{to_doubles(*scale)[0], zero == nullptr ? 0 : to_doubles(*zero)[0], least_of(dtype),
                        most_of(dtype)};
}

}  // namespace dnn
