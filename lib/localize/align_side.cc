// Sides of an alignment; see align_side.h.
#include "localize/align_side.h"

#include <algorithm>

#include "ops/op.h"
#include "ops/weights.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr double kSame = 1e-5;  // of the largest magnitude: two computations of one value

std::vector<size_t> chain_of(const AlignSide& side, const Uses& uses, size_t i) {
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

// The operators that read a layer; of an output of the network "" is one.
std::set<std::string_view> readers_of(const AlignSide& side, size_t i) {
  std::set<std::string_view> ops;
  const ValueId v = side.values[i];
  if (v == kNoValue) return ops;
  if (side.graph.is_output(v)) ops.insert("");
  for (NodeId id : side.readers[v]) ops.insert(side.graph.node(id).op);
  return ops;
}
bool ends_chain(const AlignSide& side, size_t i, const std::string& head) {
  return std::any_of(side.chains.begin(), side.chains.end(), [&](const std::vector<size_t>& chain) {
    return chain.size() > 1 && chain.back() == i && side.layers[chain.front()].op == head;
  });
}
bool heavy(const std::string& op) {
  return multiplies_weights(op) || op == "BatchNormalization" || op == "MaxPool" || op == "AveragePool";
}

// The activation `op` that alone reads layer i, where the other network has no value of its name.
size_t activation_of(const AlignSide& side, size_t i, const std::string& op, const AlignSide& other) {
  static const std::set<std::string, std::less<>> kActivations = {"Relu",    "Clip",      "LeakyRelu", "PRelu", "Elu",
                                                                  "Sigmoid", "HardSwish", "Tanh",      "Gelu"};
  const ValueId v = side.values[i];
  if (kActivations.count(op) == 0 || v == kNoValue || side.graph.is_output(v)) return kNoLayer;
  const std::vector<NodeId>& readers = side.readers[v];
  if (readers.size() != 1 || side.graph.node(readers[0]).op != op || side.graph.node(readers[0]).input(0) != v)
    return kNoLayer;
  const auto made = side.by_value.find(side.graph.node(readers[0]).output(0));
  if (made == side.by_value.end()) return kNoLayer;
  const auto has_its_name = [&](const Layer& layer) { return layer.name == side.layers[made->second].name; };
  return std::any_of(other.layers.begin(), other.layers.end(), has_its_name) ? kNoLayer : made->second;
}

}  // namespace

AlignSide align_side(const Graph& graph, const std::vector<Layer>& layers,
                     const std::vector<stream::TensorRecord>& records) {
  AlignSide side = {graph, layers};
  std::map<std::string_view, const Tensor*> by_name;
  for (const stream::TensorRecord& record : records) by_name[record.name] = &record.tensor;
  std::map<std::string_view, ValueId> ids;
  for (ValueId v = 0; v < side.graph.value_count(); ++v) ids.emplace(side.graph.value(v).name, v);
  const Uses uses(side.graph);
  for (size_t i = 0; i < side.layers.size(); ++i) {
    const Layer& layer = side.layers[i];
    const auto tensor = by_name.find(layer.name);
    side.tensors.push_back(tensor == by_name.end() ? nullptr : tensor->second);
    Print print;
    if (side.tensors.back() != nullptr && plain_numbers(side.tensors.back()->dtype())) print.take(*side.tensors.back());
    side.prints.push_back(print);
    const auto id = ids.find(layer.name);
    side.makers.push_back(id == ids.end() ? -1 : uses.producer[id->second]);
    side.values.push_back(id == ids.end() ? kNoValue : id->second);
    if (id != ids.end()) side.by_value[id->second] = i;
  }
  for (size_t i = 0; i < side.layers.size(); ++i) side.chains.push_back(chain_of(side, uses, i));
  side.readers = uses.readers;
  return side;
}

std::vector<size_t> inputs_of(const AlignSide& side, const Node& node) {
  std::vector<size_t> found;
  for (ValueId v : node.inputs) {
    if (v == kNoValue || side.graph.constant(v) != nullptr) continue;
    const auto at = side.by_value.find(v);
    found.push_back(at == side.by_value.end() ? kNoLayer : at->second);
  }
  return found;
}

std::vector<Print> prints_of_parameters(const AlignSide& side, size_t i) {
  const NodeId id = side.makers[i];
  if (id < 0 || side.graph.node(id).output(0) != side.values[i]) return {};
  return parameter_prints(side.graph, side.graph.node(id));
}

bool share_a_name(const Layer& x, const Layer& y) {
  const auto listed = [](const std::vector<std::string>& aliases, const std::string& name) {
    return std::find(aliases.begin(), aliases.end(), name) != aliases.end();
  };
  return x.name == y.name || listed(x.aliases, y.name) || listed(y.aliases, x.name);
}

bool shapes_fit(const AlignSide& a, const AlignSide& b, size_t i, size_t j) {
  return !axis_orders(a.layers[i].shape, b.layers[j].shape).empty();
}

bool may_be_one_layer(const AlignSide& a, const AlignSide& b, size_t i, size_t j) {
  const Layer &x = a.layers[i], &y = b.layers[j];
  return is_float(x.dtype) == is_float(y.dtype) &&
         (shapes_fit(a, b, i, j) || (x.op == y.op && x.shape.size() == y.shape.size()));
}

bool may_share_name(const AlignSide& a, const AlignSide& b, size_t i, size_t j) {
  const std::string &x = a.layers[i].op, &y = b.layers[j].op;
  if (x.empty() || y.empty() || !(heavy(x) && heavy(y))) return true;
  return x == y ? folded_alike(a, b, i, j) : ends_chain(a, i, y) || ends_chain(b, j, x);
}

bool folded_alike(const AlignSide& a, const AlignSide& b, size_t i, size_t j) {
  const std::vector<size_t>&x = a.chains[i], &y = b.chains[j];
  const bool alike = std::equal(x.begin(), x.end(), y.begin(), y.end(),
                                [&](size_t m, size_t n) { return a.layers[m].op == b.layers[n].op; });
  if (alike) return true;
  const std::vector<size_t>& longer = x.size() > y.size() ? x : y;
  const AlignSide& side = x.size() > y.size() ? a : b;
  if (longer.size() > 1 && side.layers[longer[1]].op == "BatchNormalization") return false;
  const std::set<std::string_view> ours = readers_of(a, x.back()), theirs = readers_of(b, y.back());
  return std::none_of(ours.begin(), ours.end(), [&](std::string_view op) { return theirs.count(op) != 0; });
}

LayerPair behind_activation(const AlignSide& a, const AlignSide& b, const LayerPair& pair) {
  const std::string &x = a.layers[pair.source].op, &y = b.layers[pair.target].op;
  if (x == y) return pair;
  if (const size_t j = activation_of(b, pair.target, x, a); j != kNoLayer) return {pair.source, j, pair.by};
  if (const size_t i = activation_of(a, pair.source, y, b); i != kNoLayer) return {i, pair.target, pair.by};
  return pair;
}

std::optional<AxisOrder> agreeing_order(const AlignSide& a, const AlignSide& b, size_t i, size_t j) {
  if (a.tensors[i] == nullptr || b.tensors[j] == nullptr || !a.prints[i].like(b.prints[j], 10 * kSame))
    return std::nullopt;
  if (is_float(a.layers[i].dtype) != is_float(b.layers[j].dtype)) return std::nullopt;
  const Tensor &x = *a.tensors[i], &y = *b.tensors[j];
  for (const AxisOrder& order : axis_orders(x.shape(), y.shape())) {
    const Distance d = compare(x, reordered(y, order, x.shape()));
    if (d.max_abs <= kSame * d.largest) return order;
  }
  return std::nullopt;
}

}  // namespace dnn
