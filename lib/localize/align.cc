// Aligning; see align.h.
#include "localize/align.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include "base/printable.h"
#include "base/text.h"
#include "localize/descent.h"
#include "localize/prints.h"
#include "ops/op.h"
#include "ops/weights.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr size_t kNever = kNoLayer - 1;
constexpr double kSame = 1e-5;  // of the largest magnitude: two computations of one value
// Names are believed where so many of those that another witness speaks of are right.
constexpr size_t kRightNames = 3, kOfNames = 4;

struct Side {
  const Graph& graph;
  const std::vector<Layer>& layers;
  std::vector<const Tensor*> tensors = {};  // by layer
  std::vector<NodeId> makers = {};
  std::vector<ValueId> values = {};  // by layer; kNoValue where the graph has none of the name
  std::vector<Print> prints = {};
  std::map<ValueId, size_t> by_value = {};
  std::vector<size_t> partner = {};
  std::vector<std::vector<size_t>> chains = {};   // by layer, see chain_of()
  std::vector<std::vector<NodeId>> readers = {};  // by value
};

// A layer of weights and those behind it that can be folded into its weights and bias.
std::vector<size_t> chain_of(const Side& side, const Uses& uses, size_t i) {
  static const std::set<std::string, std::less<>> kFolded = {"BatchNormalization", "Mul", "Add", "Sub", "Div"};
  std::vector<size_t> chain = {i};
  if (!multiplies_weights(side.layers[i].op)) return chain;
  while (true) {
    const ValueId v = side.values[chain.back()];
    if (v == kNoValue || side.graph.is_output(v) || uses.readers[v].size() != 1) return chain;
    const Node& reader = side.graph.node(uses.readers[v][0]);
    const bool alone = std::count(reader.inputs.begin(), reader.inputs.end(), v) == 1 &&
                       std::all_of(reader.inputs.begin(), reader.inputs.end(), [&](ValueId in) {
                         return in == v || in == kNoValue || side.graph.constant(in) != nullptr;
                       });
    const auto next = side.by_value.find(reader.output(0));
    if (!alone || (reader.op == "Div" && reader.input(0) != v) || kFolded.count(reader.op) == 0 ||
        next == side.by_value.end())
      return chain;
    chain.push_back(next->second);
  }
}

void prepare(Side* side, const std::vector<stream::TensorRecord>& records) {
  std::map<std::string_view, const Tensor*> by_name;
  for (const stream::TensorRecord& record : records) by_name[record.name] = &record.tensor;
  std::map<std::string_view, ValueId> ids;
  for (ValueId v = 0; v < side->graph.value_count(); ++v) ids.emplace(side->graph.value(v).name, v);
  const Uses uses(side->graph);
  for (size_t i = 0; i < side->layers.size(); ++i) {
    const Layer& layer = side->layers[i];
    const auto tensor = by_name.find(layer.name);
    side->tensors.push_back(tensor == by_name.end() ? nullptr : tensor->second);
    Print print;
    if (side->tensors.back() != nullptr && plain_numbers(side->tensors.back()->dtype()))
      print.take(*side->tensors.back());
    side->prints.push_back(print);
    const auto id = ids.find(layer.name);
    side->makers.push_back(id == ids.end() ? -1 : uses.producer[id->second]);
    side->values.push_back(id == ids.end() ? kNoValue : id->second);
    if (id != ids.end()) side->by_value[id->second] = i;
  }
  side->partner.assign(side->layers.size(), kNoLayer);
  for (size_t i = 0; i < side->layers.size(); ++i) side->chains.push_back(chain_of(*side, uses, i));
  side->readers = uses.readers;
}

class Alignment {
 public:
  Alignment(Side a, Side b, const std::vector<stream::TensorRecord>& a_records,
            const std::vector<stream::TensorRecord>& b_records)
      : a_(std::move(a)), b_(std::move(b)), a_descent_(a_.layers), b_descent_(b_.layers) {
    prepare(&a_, a_records);
    prepare(&b_, b_records);
  }

  std::vector<AlignedPair> run(const std::vector<GivenPair>& given) {
    for (const GivenPair& pair : given) take_given(pair);
    for (const stream::Role role : {stream::Role::Input, stream::Role::Output}) match_interface(role);
    match_activations();
    match_parameters();
    match_structure();
    const bool names = names_hold();
    if (names) {
      match_names();
      match_unfit_names();
      match_structure();
    }
    match_order(names);
    using By = LayerPair::By;
    for (LayerPair& pair : pairs_) {  // a name that another witness bears out
      const bool witnessed = pair.by == By::Values || pair.by == By::Parameters || pair.by == By::Wiring;
      if (names && witnessed && has_name(a_.layers[pair.source], b_.layers[pair.target])) pair.by = By::Name;
    }
    std::sort(pairs_.begin(), pairs_.end(), [](const LayerPair& x, const LayerPair& y) { return x.source < y.source; });
    std::vector<AlignedPair> result;
    for (const LayerPair& pair : pairs_) {
      const AxisOrder& order = orders_[pair.source] = order_of(pair);
      result.push_back({pair, order, fits_in(pair, order)});
    }
    return result;
  }

 private:
  bool free(size_t i, size_t j) const { return a_.partner[i] == kNoLayer && b_.partner[j] == kNoLayer; }
  // Whether it can be a pair beside all that are known.
  bool possible(size_t i, size_t j) const {
    return free(i, j) && std::none_of(pairs_.begin(), pairs_.end(), [&](const LayerPair& known) {
             return contradict(a_descent_, b_descent_, {known.source, known.target}, {i, j});
           });
  }
  void take(size_t i, size_t j, LayerPair::By by) {
    if (!free(i, j)) return;
    a_.partner[i] = j;
    b_.partner[j] = i;
    pairs_.push_back({i, j, by});
  }

  static size_t layer_of(const Side& side, const std::string& name, const char* what) {
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
    const bool again = i != kNoLayer && a_.partner[i] != kNoLayer;
    if (again || (j != kNoLayer && b_.partner[j] != kNoLayer))
      fail_usage("'", plain(again ? pair.source : pair.target), "' of the ", again ? "source" : "target",
                 " is lined up twice");
    if (i == kNoLayer) {
      b_.partner[j] = kNever;
    } else if (j == kNoLayer) {
      a_.partner[i] = kNever;
    } else {
      take(i, j, LayerPair::By::Given);
    }
  }

  // The networks' inputs and outputs are each other's, whatever else agrees with them: by name, else by place.
  void match_interface(stream::Role role) {
    const auto of_role = [&](const Side& side) {
      std::vector<size_t> found;
      for (size_t i = 0; i < side.layers.size(); ++i) {
        if (side.layers[i].role == role) found.push_back(i);
      }
      return found;
    };
    const std::vector<size_t> ours = of_role(a_), theirs = of_role(b_);
    const auto one = [&](size_t i, size_t j) {
      return free(i, j) && fit(i, j) && is_float(a_.layers[i].dtype) == is_float(b_.layers[j].dtype);
    };
    for (size_t i : ours) {
      for (size_t j : theirs) {
        if (has_name(a_.layers[i], b_.layers[j]) && one(i, j)) take(i, j, LayerPair::By::Name);
      }
    }
    for (size_t k = 0; k < std::min(ours.size(), theirs.size()); ++k) {
      if (one(ours[k], theirs[k])) take(ours[k], theirs[k], LayerPair::By::Place);
    }
  }
  static bool has_name(const Layer& x, const Layer& y) {
    const auto listed = [](const std::vector<std::string>& aliases, const std::string& name) {
      return std::find(aliases.begin(), aliases.end(), name) != aliases.end();
    };
    return x.name == y.name || listed(x.aliases, y.name) || listed(y.aliases, x.name);
  }

  // Names are one witness among several. What is paired without them says whether they mean the same in both networks, or were
  // counted anew.
  bool names_hold() const {
    std::set<std::string_view> theirs;
    for (const Layer& layer : b_.layers) theirs.insert(layer.name);
    size_t right = 0, asked = 0;
    for (const LayerPair& pair : pairs_) {
      const Layer &x = a_.layers[pair.source], &y = b_.layers[pair.target];
      if (x.role != stream::Role::Activation || pair.by == LayerPair::By::Given) continue;
      if (has_name(x, y)) {
        ++right;
        ++asked;
      } else if (theirs.count(x.name) != 0) {
        ++asked;
      }
    }
    return asked * kRightNames <= right * kOfNames;
  }
  void match_names() {
    for (const LayerPair& given : line_up(a_.layers, b_.layers, pairs_, false)) {
      if (given.by != LayerPair::By::Name) continue;
      const LayerPair pair = behind_activation(given);
      if (possible(pair.source, pair.target) && same_kind(pair.source, pair.target))
        take(pair.source, pair.target, pair.by);
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
    for (const LayerPair& pair : line_up(nameless(a_.layers, "a"), nameless(b_.layers, "b"), pairs_, true)) {
      if (pair.by == LayerPair::By::Order && possible(pair.source, pair.target))
        take(pair.source, pair.target, pair.by);
    }
  }
  void match_structure() {
    while (match_wiring() || match_readers()) {
    }
  }

  // Two values that cannot be one although they have one name: of different operators that both multiply by weights or
  // normalise, after which networks name other values, but for a layer that the other network has folded into the one before; and
  // of layers with weights that other layers have been folded into on one side alone.
  bool same_kind(size_t i, size_t j) const {
    const std::string &x = a_.layers[i].op, &y = b_.layers[j].op;
    if (x.empty() || y.empty() || !(heavy(x) && heavy(y))) return true;
    return x == y ? folded_alike(i, j) : ends_chain(a_, i, y) || ends_chain(b_, j, x);
  }
  // Whether the layers behind them that can be folded are the same ones; also where what differs is no folding: an operator
  // spelt out begins with an Add or a Mul, but then other operators read the ends.
  bool folded_alike(size_t i, size_t j) const {
    const std::vector<size_t>&x = a_.chains[i], &y = b_.chains[j];
    const bool alike = std::equal(x.begin(), x.end(), y.begin(), y.end(),
                                  [&](size_t m, size_t n) { return a_.layers[m].op == b_.layers[n].op; });
    if (alike) return true;
    const std::vector<size_t>& longer = x.size() > y.size() ? x : y;
    const Side& side = x.size() > y.size() ? a_ : b_;
    if (longer.size() > 1 && side.layers[longer[1]].op == "BatchNormalization") return false;
    const std::set<std::string_view> ours = readers_of(a_, x.back()), theirs = readers_of(b_, y.back());
    return std::none_of(ours.begin(), ours.end(), [&](std::string_view op) { return theirs.count(op) != 0; });
  }
  // The operators that read a layer; of an output of the network "" is one.
  static std::set<std::string_view> readers_of(const Side& side, size_t i) {
    std::set<std::string_view> ops;
    const ValueId v = side.values[i];
    if (v == kNoValue) return ops;
    if (side.graph.is_output(v)) ops.insert("");
    for (NodeId id : side.readers[v]) ops.insert(side.graph.node(id).op);
    return ops;
  }
  static bool ends_chain(const Side& side, size_t i, const std::string& head) {
    return std::any_of(side.chains.begin(), side.chains.end(), [&](const std::vector<size_t>& chain) {
      return chain.size() > 1 && chain.back() == i && side.layers[chain.front()].op == head;
    });
  }
  static bool heavy(const std::string& op) {
    return multiplies_weights(op) || op == "BatchNormalization" || op == "MaxPool" || op == "AveragePool";
  }

  // A name that stands behind an activation in one network and in front of it in the other, as a converter leaves it that takes
  // a fused layer apart (tf2onnx gives a TFLite layer's name to the convolution, and the Relu behind it another): the two
  // activations are one.
  LayerPair behind_activation(const LayerPair& pair) const {
    const std::string &x = a_.layers[pair.source].op, &y = b_.layers[pair.target].op;
    if (x == y) return pair;
    if (const size_t j = activation_of(b_, pair.target, x, a_); j != kNoLayer) return {pair.source, j, pair.by};
    if (const size_t i = activation_of(a_, pair.source, y, b_); i != kNoLayer) return {i, pair.target, pair.by};
    return pair;
  }
  // The activation `op` that alone reads layer i, where the other network has no value of its name.
  static size_t activation_of(const Side& side, size_t i, const std::string& op, const Side& other) {
    static const std::set<std::string, std::less<>> kActivations = {"Relu",    "Clip",      "LeakyRelu", "PRelu", "Elu",
                                                                    "Sigmoid", "HardSwish", "Tanh",      "Gelu"};
    const ValueId v = side.values[i];
    if (kActivations.count(op) == 0 || v == kNoValue || side.graph.is_output(v)) return kNoLayer;
    const std::vector<NodeId>& readers = side.readers[v];
    if (readers.size() != 1 || side.graph.node(readers[0]).op != op || side.graph.node(readers[0]).input(0) != v)
      return kNoLayer;
    const auto made = side.by_value.find(side.graph.node(readers[0]).output(0));
    if (made == side.by_value.end()) return kNoLayer;
    const auto has_name = [&](const Layer& layer) { return layer.name == side.layers[made->second].name; };
    return std::any_of(other.layers.begin(), other.layers.end(), has_name) ? kNoLayer : made->second;
  }

  // The order of axes in which they agree, if they do.
  std::optional<AxisOrder> agreement(size_t i, size_t j) const {
    if (a_.tensors[i] == nullptr || b_.tensors[j] == nullptr || !a_.prints[i].like(b_.prints[j], 10 * kSame))
      return std::nullopt;
    if (is_float(a_.layers[i].dtype) != is_float(b_.layers[j].dtype)) return std::nullopt;
    const Tensor &x = *a_.tensors[i], &y = *b_.tensors[j];
    for (const AxisOrder& order : axis_orders(x.shape(), y.shape())) {
      const Distance d = compare(x, reordered(y, order, x.shape()));
      if (d.max_abs <= kSame * d.largest) return order;
    }
    return std::nullopt;
  }
  bool agree(size_t i, size_t j) const { return agreement(i, j).has_value(); }

  // In the source's order; of several that agree the one of the same operator, then the first.
  void match_activations() {
    std::multimap<size_t, size_t> by_size;
    for (size_t j = 0; j < b_.layers.size(); ++j) {
      if (b_.prints[j].telling()) by_size.emplace(b_.prints[j].size, j);
    }
    for (const bool same_op : {true, false}) {
      for (size_t i = 0; i < a_.layers.size(); ++i) {
        if (a_.partner[i] != kNoLayer || !a_.prints[i].telling() || a_.layers[i].role == stream::Role::Input) continue;
        const auto [first, last] = by_size.equal_range(a_.prints[i].size);
        for (auto at = first; at != last; ++at) {
          const size_t j = at->second;
          if (b_.partner[j] != kNoLayer || b_.layers[j].role == stream::Role::Input) continue;
          if (same_op && a_.layers[i].op != b_.layers[j].op) continue;
          if (!possible(i, j) || !agree(i, j)) continue;
          take(i, j, LayerPair::By::Values);
          break;
        }
      }
    }
  }

  bool fit(size_t i, size_t j) const { return !axis_orders(a_.layers[i].shape, b_.layers[j].shape).empty(); }
  // One layer of two shapes, where a stride or a padding is wrong: of one operator and rank.
  bool may_be_one(size_t i, size_t j) const {
    const Layer &x = a_.layers[i], &y = b_.layers[j];
    return is_float(x.dtype) == is_float(y.dtype) && (fit(i, j) || (x.op == y.op && x.shape.size() == y.shape.size()));
  }
  void match_unfit_names() {
    std::map<std::string_view, size_t> named;
    for (size_t j = 0; j < b_.layers.size(); ++j) named.emplace(b_.layers[j].name, j);
    for (size_t i = 0; i < a_.layers.size(); ++i) {
      const auto found = named.find(a_.layers[i].name);
      if (found == named.end() || !possible(i, found->second) || a_.layers[i].op.empty() ||
          a_.layers[i].op != b_.layers[found->second].op || fit(i, found->second) || !may_be_one(i, found->second))
        continue;
      take(i, found->second, LayerPair::By::Name);
    }
  }

  // Of a layer that its node makes first.
  static std::vector<Print> parameters(const Side& side, size_t i) {
    const NodeId id = side.makers[i];
    if (id < 0 || side.graph.node(id).output(0) != side.values[i]) return {};
    return parameter_prints(side.graph, side.graph.node(id));
  }

  // Layers whose parameters are the same ones, up to their order, and no other's: those of them that do not contradict each other,
  // as they do where two layers were given each other's parameters.
  void match_parameters() {
    using Printed = std::pair<size_t, std::vector<Print>>;
    const auto printed = [&](const Side& side) {
      std::map<std::string, std::vector<Printed>> by_op;
      for (size_t i = 0; i < side.layers.size(); ++i) {
        if (side.partner[i] != kNoLayer) continue;
        std::vector<Print> prints = parameters(side, i);
        if (!prints.empty()) by_op[side.layers[i].op].emplace_back(i, std::move(prints));
      }
      return by_op;
    };
    const auto ours = printed(a_), theirs = printed(b_);
    std::vector<IndexPair> found;
    std::map<size_t, int> n_of_source, n_of_target;
    for (const auto& [op, layers] : ours) {
      const auto others = theirs.find(op);
      if (others == theirs.end()) continue;
      for (const Printed& x : layers) {
        for (const Printed& y : others->second) {
          if (!same_parameters(x.second, y.second) || !may_be_one(x.first, y.first)) continue;
          ++n_of_source[x.first];
          ++n_of_target[y.first];
          found.emplace_back(x.first, y.first);
        }
      }
    }
    std::erase_if(found, [&](const IndexPair& p) {
      return n_of_source[p.first] > 1 || n_of_target[p.second] > 1 || !possible(p.first, p.second);
    });
    for (const auto& [i, j] : without_contradiction(a_descent_, b_descent_, found))
      take(i, j, LayerPair::By::Parameters);
  }

  // Layers that a node reads, those that are computed; kNone for one that no record holds.
  static std::vector<size_t> inputs_of(const Side& side, const Node& node) {
    std::vector<size_t> found;
    for (ValueId v : node.inputs) {
      if (v == kNoValue || side.graph.constant(v) != nullptr) continue;
      const auto at = side.by_value.find(v);
      found.push_back(at == side.by_value.end() ? kNoLayer : at->second);
    }
    return found;
  }

  // Nodes of one operator with all inputs paired with each other, and no other node like it.
  bool match_wiring() {
    std::map<std::pair<std::string, std::vector<size_t>>, std::vector<size_t>> ours,
        theirs;  // by operator and paired inputs
    for (size_t i = 0; i < a_.layers.size(); ++i) {
      if (a_.partner[i] != kNoLayer || a_.makers[i] < 0) continue;
      const std::vector<size_t> inputs = inputs_of(a_, a_.graph.node(a_.makers[i]));
      if (inputs.empty() ||
          std::any_of(inputs.begin(), inputs.end(), [&](size_t k) { return k == kNoLayer || a_.partner[k] >= kNever; }))
        continue;
      ours[{a_.layers[i].op, inputs}].push_back(i);
    }
    for (size_t j = 0; j < b_.layers.size(); ++j) {
      if (b_.partner[j] != kNoLayer || b_.makers[j] < 0) continue;
      std::vector<size_t> inputs = inputs_of(b_, b_.graph.node(b_.makers[j]));
      if (inputs.empty() ||
          std::any_of(inputs.begin(), inputs.end(), [&](size_t k) { return k == kNoLayer || b_.partner[k] >= kNever; }))
        continue;
      for (size_t& k : inputs) k = b_.partner[k];
      theirs[{b_.layers[j].op, inputs}].push_back(j);
    }
    bool any = false;
    for (const auto& [key, list] : ours) {
      const auto found = theirs.find(key);
      if (found == theirs.end() || list.size() != 1 || found->second.size() != 1) continue;
      size_t i = list[0], j = found->second[0];
      if (!folded_alike(i, j)) {  // what comes out is one value, not what lies between
        i = a_.chains[i].back();
        j = b_.chains[j].back();
      }
      if (!possible(i, j) || !may_be_one(i, j)) continue;
      take(i, j, LayerPair::By::Wiring);
      any = true;
    }
    return any;
  }

  // Where paired nodes read a layer: what the others of the pairs read in its place, if that is one layer; kNone if not, and
  // where no pair reads it. Of an Add or a Mul, whose operands may stand in any order, the place says nothing.
  static size_t read_instead(const Side& ours, const Side& theirs, size_t i) {
    size_t found = kNoLayer;
    if (ours.values[i] == kNoValue) return kNoLayer;
    for (NodeId id : ours.readers[ours.values[i]]) {
      const Node& reader = ours.graph.node(id);
      if (has_trait(reader, Trait::Commutes)) continue;
      const auto layer = ours.by_value.find(reader.output(0));
      const size_t partner = layer == ours.by_value.end() ? kNoLayer : ours.partner[layer->second];
      if (partner >= kNever || theirs.makers[partner] < 0) continue;
      const Node& other = theirs.graph.node(theirs.makers[partner]);
      const auto place = std::find(reader.inputs.begin(), reader.inputs.end(), ours.values[i]) - reader.inputs.begin();
      const auto read = theirs.by_value.find(other.input(place));
      if (other.op != reader.op || read == theirs.by_value.end() || (found != kNoLayer && found != read->second))
        return kNoLayer;
      found = read->second;
    }
    return found;
  }

  // Layers of one operator that the same paired nodes read, where what is in front of them is not the same.
  bool match_readers() {
    bool any = false;
    for (size_t i = 0; i < a_.layers.size(); ++i) {
      if (a_.partner[i] != kNoLayer) continue;
      const size_t j = read_instead(a_, b_, i);
      if (j == kNoLayer || b_.partner[j] != kNoLayer || a_.layers[i].op != b_.layers[j].op || !same_kind(i, j) ||
          !fit(i, j))
        continue;
      if (read_instead(b_, a_, j) != i || !possible(i, j)) continue;
      take(i, j, LayerPair::By::Wiring);
      any = true;
    }
    return any;
  }

  // Where activations agree in an order, that one; that of what two nodes of one operator read, which keep it; else the most natural
  // one that fits.
  AxisOrder order_of(const LayerPair& pair) const {
    if (const std::optional<AxisOrder> order = agreement(pair.source, pair.target)) return *order;
    const Shape &x = a_.layers[pair.source].shape, &y = b_.layers[pair.target].shape;
    if (keeps_order(pair.source, pair.target) && wide_axes(x).size() == wide_axes(y).size())
      return same_order(wide_axes(x).size());
    const std::vector<AxisOrder> orders = axis_orders(x, y);
    return orders.empty() ? AxisOrder() : orders.front();
  }
  static AxisOrder same_order(size_t rank) {
    AxisOrder order(rank);
    std::iota(order.begin(), order.end(), size_t{0});
    return order;
  }
  // Whether both are made by one operator, other than one that is there to change the order, from values that are in the same order.
  bool keeps_order(size_t i, size_t j) const {
    const Layer &x = a_.layers[i], &y = b_.layers[j];
    if (x.op.empty() || x.op != y.op || x.op == "Transpose" || x.shape.size() != y.shape.size()) return false;
    if (a_.makers[i] < 0 || b_.makers[j] < 0) return false;
    const std::vector<size_t> ours = inputs_of(a_, a_.graph.node(a_.makers[i])),
                              theirs = inputs_of(b_, b_.graph.node(b_.makers[j]));
    return !ours.empty() && ours.size() == theirs.size() &&
           std::equal(ours.begin(), ours.end(), theirs.begin(), [&](size_t k, size_t l) {
             const auto order = orders_.find(k);
             return order != orders_.end() && a_.partner[k] == l &&
                    std::is_sorted(order->second.begin(), order->second.end());
           });
  }
  bool fits_in(const LayerPair& pair, const AxisOrder& order) const {
    const std::vector<AxisOrder> orders = axis_orders(a_.layers[pair.source].shape, b_.layers[pair.target].shape);
    return std::find(orders.begin(), orders.end(), order) != orders.end();
  }

  Side a_, b_;
  Descent a_descent_, b_descent_;
  std::vector<LayerPair> pairs_;
  std::map<size_t, AxisOrder> orders_;  // by the source's layer, of those in front in its order of execution
};

}  // namespace

std::vector<AlignedPair> align(const Graph& source, const std::vector<Layer>& source_layers,
                               const std::vector<stream::TensorRecord>& source_records, const Graph& target,
                               const std::vector<Layer>& target_layers,
                               const std::vector<stream::TensorRecord>& target_records,
                               const std::vector<GivenPair>& given) {
  return Alignment({source, source_layers}, {target, target_layers}, source_records, target_records).run(given);
}

}  // namespace dnn
