// Aligning; see align.h.
#include "localize/align.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "localize/align_side.h"
#include "localize/align_wiring.h"
#include "localize/descent.h"
#include "localize/paired_layers.h"

namespace dnn {
namespace {

// Names are believed where so many of those that another witness speaks of are right.
constexpr size_t kRightNames = 3, kOfNames = 4;

AxisOrder same_order(size_t rank) {
  AxisOrder order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

// True if both are made by one operator, other than one that is there to change the order, from values that are in the same order.
bool keeps_order(const AlignSide& a, const AlignSide& b, const std::vector<size_t>& partners,
                 const std::map<size_t, AxisOrder>& orders, size_t i, size_t j) {
  const Layer &x = a.layers[i], &y = b.layers[j];
  if (x.op.empty() || x.op != y.op || x.op == "Transpose" || x.shape.size() != y.shape.size()) return false;
  if (a.makers[i] < 0 || b.makers[j] < 0) return false;
  const std::vector<size_t> ours = inputs_of(a, a.graph.node(a.makers[i])),
                            theirs = inputs_of(b, b.graph.node(b.makers[j]));
  return !ours.empty() && ours.size() == theirs.size() &&
         std::equal(ours.begin(), ours.end(), theirs.begin(), [&](size_t k, size_t l) {
           const auto order = orders.find(k);
           return order != orders.end() && partners[k] == l &&
                  std::is_sorted(order->second.begin(), order->second.end());
         });
}

// The order of axes in which activations agree; else, of two nodes of one operator, the order of the values that they read, which they
// keep; else the most natural one that fits.
AxisOrder axis_order_of(const AlignSide& a, const AlignSide& b, const std::vector<size_t>& partners,
                        const std::map<size_t, AxisOrder>& orders, const LayerPair& pair) {
  if (const std::optional<AxisOrder> order = agreeing_order(a, b, pair.source, pair.target)) return *order;
  const Shape &x = a.layers[pair.source].shape, &y = b.layers[pair.target].shape;
  if (keeps_order(a, b, partners, orders, pair.source, pair.target) && wide_axes(x).size() == wide_axes(y).size())
    return same_order(wide_axes(x).size());
  const std::vector<AxisOrder> fitting = axis_orders(x, y);
  return fitting.empty() ? AxisOrder() : fitting.front();
}

bool fits_in(const AlignSide& a, const AlignSide& b, const LayerPair& pair, const AxisOrder& order) {
  const std::vector<AxisOrder> orders = axis_orders(a.layers[pair.source].shape, b.layers[pair.target].shape);
  return std::find(orders.begin(), orders.end(), order) != orders.end();
}

// The pairs in the source's order, each with its order of axes.
std::vector<AlignedPair> in_order(const AlignSide& a, const AlignSide& b, std::vector<LayerPair> sorted) {
  std::sort(sorted.begin(), sorted.end(), [](const LayerPair& x, const LayerPair& y) { return x.source < y.source; });
  std::vector<size_t> partners(a.layers.size(), kNoLayer);  // of the source's layers
  for (const LayerPair& pair : sorted) partners[pair.source] = pair.target;
  std::map<size_t, AxisOrder> orders;  // by the source's layer, of those in front in its order of execution
  std::vector<AlignedPair> result;
  for (const LayerPair& pair : sorted) {
    const AxisOrder& order = orders[pair.source] = axis_order_of(a, b, partners, orders, pair);
    result.push_back({pair, order, fits_in(a, b, pair, order)});
  }
  return result;
}

class Alignment {
 public:
  Alignment(AlignSide a, AlignSide b) : a_(std::move(a)), b_(std::move(b)), pairs_(a_.layers, b_.layers) {}

  std::vector<AlignedPair> run(const std::vector<GivenPair>& given) {
    for (const GivenPair& pair : given) take_given(pair);
    for (const stream::Role role : {stream::Role::Input, stream::Role::Output}) match_interface(role);
    match_activations();
    match_parameters();
    match_wiring(a_, b_, &pairs_);
    const bool names = names_hold();
    if (names) {
      match_names();
      match_unfit_names();
      match_wiring(a_, b_, &pairs_);
    }
    match_order(names);
    using By = LayerPair::By;
    std::vector<LayerPair> pairs = pairs_.pairs();
    for (LayerPair& pair : pairs) {  // a name that another witness bears out
      const bool witnessed = pair.by == By::Values || pair.by == By::Parameters || pair.by == By::Wiring;
      if (names && witnessed && share_a_name(a_.layers[pair.source], b_.layers[pair.target])) pair.by = By::Name;
    }
    return in_order(a_, b_, std::move(pairs));
  }

 private:
  static size_t layer_of(const AlignSide& side, const std::string& name, const char* what) {
    std::vector<std::string> names;
    for (size_t i = 0; i < side.layers.size(); ++i) {
      if (side.layers[i].name == name) return i;
      names.push_back(side.layers[i].name);
    }
    const std::string nearest = nearest_word(name, names);
    fail_usage("no layer of the ", what, " makes '", plain(name), "'",
               nearest.empty() ? "" : cat("; did you mean '", plain(nearest), "'?"));
  }
  void take_given(const GivenPair& pair) {
    if (pair.source.empty() && pair.target.empty()) return;
    const size_t i = pair.source.empty() ? kNoLayer : layer_of(a_, pair.source, "source");
    const size_t j = pair.target.empty() ? kNoLayer : layer_of(b_, pair.target, "target");
    const bool again = i != kNoLayer && pairs_.source_partner()[i] != kNoLayer;
    if (again || (j != kNoLayer && pairs_.target_partner()[j] != kNoLayer))
      fail_usage("'", plain(again ? pair.source : pair.target), "' of the ", again ? "source" : "target",
                 " is lined up twice");
    if (i == kNoLayer) {
      pairs_.leave_target(j);
    } else if (j == kNoLayer) {
      pairs_.leave_source(i);
    } else {
      pairs_.take(i, j, LayerPair::By::Given);
    }
  }

  // The networks' inputs and outputs are each other's, whatever else agrees with them: by name, else by place.
  void match_interface(stream::Role role) {
    const auto of_role = [&](const AlignSide& side) {
      std::vector<size_t> found;
      for (size_t i = 0; i < side.layers.size(); ++i) {
        if (side.layers[i].role == role) found.push_back(i);
      }
      return found;
    };
    const std::vector<size_t> ours = of_role(a_), theirs = of_role(b_);
    const auto one = [&](size_t i, size_t j) {
      return pairs_.free(i, j) && shapes_fit(a_, b_, i, j) &&
             is_float(a_.layers[i].dtype) == is_float(b_.layers[j].dtype);
    };
    for (size_t i : ours) {
      for (size_t j : theirs) {
        if (share_a_name(a_.layers[i], b_.layers[j]) && one(i, j)) pairs_.take(i, j, LayerPair::By::Name);
      }
    }
    for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) {
      if (one(ours[k], theirs[k])) pairs_.take(ours[k], theirs[k], LayerPair::By::Place);
    }
  }

  // Names are one witness among several. What is paired without them says whether they mean the same in both networks, or were
  // counted anew.
  bool names_hold() const {
    std::set<std::string_view> theirs;
    for (const Layer& layer : b_.layers) theirs.insert(layer.name);
    size_t right = 0, asked = 0;
    for (const LayerPair& pair : pairs_.pairs()) {
      const Layer &x = a_.layers[pair.source], &y = b_.layers[pair.target];
      if (x.role != stream::Role::Activation || pair.by == LayerPair::By::Given) continue;
      if (share_a_name(x, y)) {
        ++right;
        ++asked;
      } else if (theirs.count(x.name) != 0) {
        ++asked;
      }
    }
    return asked * kRightNames <= right * kOfNames;
  }
  void match_names() {
    for (const LayerPair& given : line_up(a_.layers, b_.layers, pairs_.pairs(), false)) {
      if (given.by != LayerPair::By::Name) continue;
      const LayerPair pair = behind_activation(a_, b_, given);
      if (pairs_.possible(pair.source, pair.target) && may_share_name(a_, b_, pair.source, pair.target))
        pairs_.take(pair.source, pair.target, pair.by);
    }
  }
  void match_order(bool names) {
    const auto nameless = [&](std::vector<Layer> layers, const char* side) {
      for (size_t i = 0; i < layers.size() && !names; ++i) {
        layers[i].name = cat(side, i);
        layers[i].aliases.clear();
      }
      return layers;
    };
    for (const LayerPair& pair : line_up(nameless(a_.layers, "a"), nameless(b_.layers, "b"), pairs_.pairs(), true)) {
      if (pair.by == LayerPair::By::Order && pairs_.possible(pair.source, pair.target))
        pairs_.take(pair.source, pair.target, pair.by);
    }
  }
  // In the source's order; of several that agree the one of the same operator, then the first.
  void match_activations() {
    std::multimap<size_t, size_t> by_size;
    for (size_t j = 0; j < b_.layers.size(); ++j) {
      if (b_.prints[j].telling()) by_size.emplace(b_.prints[j].size, j);
    }
    for (const bool same_op : {true, false}) {
      for (size_t i = 0; i < a_.layers.size(); ++i) {
        if (pairs_.source_partner()[i] != kNoLayer || !a_.prints[i].telling() ||
            a_.layers[i].role == stream::Role::Input)
          continue;
        const auto [first, last] = by_size.equal_range(a_.prints[i].size);
        for (auto at = first; at != last; ++at) {
          const size_t j = at->second;
          if (pairs_.target_partner()[j] != kNoLayer || b_.layers[j].role == stream::Role::Input) continue;
          if (same_op && a_.layers[i].op != b_.layers[j].op) continue;
          if (!pairs_.possible(i, j) || !agreeing_order(a_, b_, i, j)) continue;
          if (same_op) {
            pairs_.take(i, j, LayerPair::By::Values);
          } else if (const auto [last_i, last_j] = last_alike(i, j); pairs_.possible(last_i, last_j)) {
            pairs_.take(last_i, last_j, LayerPair::By::Values);
          }
          break;
        }
      }
    }
  }

  // A clamp whose bounds nothing reaches on these samples hands the same numbers on. Where one network spells out in several operators
  // what the other does in one, the last of them has done it all.
  std::pair<size_t, size_t> last_alike(size_t i, size_t j) const {
    static const std::set<std::string_view> kClamps = {"Max", "Min", "Clip", "Relu"};
    const auto last = [](const AlignSide& side, const std::vector<size_t>& partners, size_t at, const auto& alike) {
      while (true) {
        const ValueId made = side.values[at];
        if (made == kNoValue || side.readers[made].size() != 1) return at;
        const Node& reader = side.graph.node(side.readers[made][0]);
        const bool clamps = reader.domain.empty() && kClamps.count(reader.op) != 0;
        const auto next = clamps ? side.by_value.find(reader.output(0)) : side.by_value.end();
        if (next == side.by_value.end() || partners[next->second] != kNoLayer || !alike(next->second)) return at;
        at = next->second;
      }
    };
    j = last(b_, pairs_.target_partner(), j, [&](size_t next) { return agreeing_order(a_, b_, i, next).has_value(); });
    i = last(a_, pairs_.source_partner(), i, [&](size_t next) { return agreeing_order(a_, b_, next, j).has_value(); });
    return {i, j};
  }

  void match_unfit_names() {
    std::map<std::string_view, size_t> named;
    for (size_t j = 0; j < b_.layers.size(); ++j) named.emplace(b_.layers[j].name, j);
    for (size_t i = 0; i < a_.layers.size(); ++i) {
      const auto found = named.find(a_.layers[i].name);
      if (found == named.end() || !pairs_.possible(i, found->second) || a_.layers[i].op.empty() ||
          a_.layers[i].op != b_.layers[found->second].op || shapes_fit(a_, b_, i, found->second) ||
          !may_be_one_layer(a_, b_, i, found->second))
        continue;
      pairs_.take(i, found->second, LayerPair::By::Name);
    }
  }

  // Layers whose parameters are the same ones, up to their order, and no other's: those of them that do not contradict each other,
  // as they do where two layers were given each other's parameters.
  void match_parameters() {
    using Printed = std::pair<size_t, std::vector<Print>>;
    const auto printed = [&](const AlignSide& side, const std::vector<size_t>& partners) {
      std::map<std::string, std::vector<Printed>> by_op;
      for (size_t i = 0; i < side.layers.size(); ++i) {
        if (partners[i] != kNoLayer) continue;
        std::vector<Print> prints = prints_of_parameters(side, i);
        if (!prints.empty()) by_op[side.layers[i].op].emplace_back(i, std::move(prints));
      }
      return by_op;
    };
    const auto ours = printed(a_, pairs_.source_partner()), theirs = printed(b_, pairs_.target_partner());
    std::vector<IndexPair> found;
    std::map<size_t, int> n_of_source, n_of_target;
    for (const auto& [op, layers] : ours) {
      const auto others = theirs.find(op);
      if (others == theirs.end()) continue;
      for (const Printed& x : layers) {
        for (const Printed& y : others->second) {
          if (!same_parameters(x.second, y.second) || !may_be_one_layer(a_, b_, x.first, y.first)) continue;
          ++n_of_source[x.first];
          ++n_of_target[y.first];
          found.emplace_back(x.first, y.first);
        }
      }
    }
    std::erase_if(found, [&](const IndexPair& p) {
      return n_of_source[p.first] > 1 || n_of_target[p.second] > 1 || !pairs_.possible(p.first, p.second);
    });
    for (const auto& [i, j] : without_contradiction(pairs_.source_descent(), pairs_.target_descent(), found))
      pairs_.take(i, j, LayerPair::By::Parameters);
  }

  AlignSide a_, b_;
  PairedLayers pairs_;
};

}  // namespace

std::vector<AlignedPair> align(const Graph& source, const std::vector<Layer>& source_layers,
                               const std::vector<stream::TensorRecord>& source_records, const Graph& target,
                               const std::vector<Layer>& target_layers,
                               const std::vector<stream::TensorRecord>& target_records,
                               const std::vector<GivenPair>& given) {
  return Alignment(align_side(source, source_layers, source_records), align_side(target, target_layers, target_records))
      .run(given);
}

}  // namespace dnn
