// Making edits; see edits.h.
#include "localize/edits.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/printable.h"
#include "convert/surgery.h"
#include "localize/quantised_edits.h"

namespace dnn {
namespace {

NodeId maker_of(const Graph& graph, const Uses& uses, const std::string& value, const char* side) {
  const ValueId v = graph.find_value(value);
  const NodeId maker = v == kNoValue ? -1 : uses.producer[v];
  if (maker < 0)
    fail_usage("no layer of the ", side, " makes '", plain(value), "': are these the edits of these two models?");
  return maker;
}

ValueId value_of(const Graph& graph, const std::string& name, const char* side) {
  const ValueId v = graph.find_value(name);
  if (v == kNoValue)
    fail_usage("the ", side, " has no value '", plain(name), "': are these the edits of these two models?");
  return v;
}

// ------------------------------------------------------------------------------------------ constants

// Where the constant behind an input of the target lies, and how its integers become numbers.
struct Place {
  NodeId node = -1;
  size_t input = 0;
  const Tensor* scale = nullptr;
  const Tensor* zero_point = nullptr;
  int64_t axis = 1;
};

std::optional<Place> place_behind(const Graph& graph, const Uses& uses, NodeId node, size_t input) {
  Place place = {node, input};
  for (int steps = 0; steps < 4; ++steps) {
    const ValueId v = graph.node(place.node).input(place.input);
    if (v == kNoValue || graph.constant(v) != nullptr) return place;
    const NodeId maker = uses.producer[v];
    if (maker < 0) return std::nullopt;
    const Node& made = graph.node(maker);
    if (made.op == "DequantizeLinear") {
      place.scale = graph.constant(made.input(1));
      place.zero_point = graph.constant(made.input(2));
      place.axis = made.attribute_int("axis", 1);
      if (place.scale == nullptr || made.attribute_int("block_size", 0) != 0) return std::nullopt;
    } else if (made.op != "Identity" && made.op != "Cast") {
      return std::nullopt;
    }
    place.node = maker;
    place.input = 0;
  }
  return std::nullopt;
}

// Numbers as the integers that stand for them (ONNX QuantizeLinear: round half to even, saturate).
Tensor quantized_as(const Tensor& numbers, const Place& place, DType dtype) {
  std::vector<double> values = to_doubles(numbers);
  const std::vector<double> scales = to_doubles(*place.scale);
  const std::vector<double> zeros = place.zero_point == nullptr ? std::vector<double>() : to_doubles(*place.zero_point);
  const int64_t rank = numbers.rank(), axis = place.axis < 0 ? place.axis + rank : place.axis;
  if (scales.empty() ||
      (scales.size() > 1 && (axis < 0 || axis >= rank || numbers.dim(static_cast<int>(axis)) != place.scale->size())))
    fail_unsupported("its scales are of other channels");
  if (zeros.size() > 1 && zeros.size() != scales.size())
    fail_unsupported("its zero points are of other channels than its scales");
  const int64_t step = scales.size() > 1 ? row_major_strides(numbers.shape())[axis] : 1;
  const int bits = dtype_bits(dtype);
  const bool sign = dtype_class(dtype) == DTypeClass::Signed;
  const double low = sign ? -std::ldexp(1.0, bits - 1) : 0, high = std::ldexp(1.0, sign ? bits - 1 : bits) - 1;
  for (size_t i = 0; i < values.size(); ++i) {
    const size_t c = scales.size() > 1 ? (i / static_cast<size_t>(step)) % scales.size() : 0;
    const double zero = zeros.empty() ? 0 : zeros[zeros.size() > 1 ? c : 0];
    values[i] = std::clamp(std::nearbyint(values[i] / scales[c]) + zero, low, high);
  }
  return convert(Tensor::of<double>(numbers.shape(), values), dtype);
}

void set_input(const Edit& edit, const Graph& source, Graph& target) {
  const Uses ours(source), theirs(target);
  const Node& from = source.node(maker_of(source, ours, edit.source, "source"));
  const NodeId node = maker_of(target, theirs, edit.target, "target");
  if (from.input(edit.input) == kNoValue) {  // the source has none
    std::vector<ValueId>& inputs = target.node(node).inputs;
    if (edit.input < inputs.size()) inputs[edit.input] = kNoValue;
    while (!inputs.empty() && inputs.back() == kNoValue) inputs.pop_back();
    return;
  }
  const ValueId known = constant_behind(source, ours, from.input(edit.input));
  if (known == kNoValue) fail_unsupported("input ", edit.input, " of '", plain(edit.source), "' is no constant");
  Tensor tensor = *source.constant(known);
  const std::optional<Place> place = place_behind(target, theirs, node, edit.input);
  if (!place) fail_unsupported("input ", edit.input, " of '", plain(edit.target), "' is computed");
  if (!edit.perm.empty() && static_cast<int>(edit.perm.size()) != tensor.rank())
    fail_unsupported("'perm' of input ", edit.input, " of '", plain(edit.target), "' is not of ", tensor.rank(),
                     " axes");
  if (!edit.perm.empty()) tensor = tensor.transposed({edit.perm.begin(), edit.perm.end()});
  const ValueId old = target.node(place->node).input(place->input);
  if (old == kNoValue) {
    for (ValueId v : target.node(place->node).inputs) {  // in the precision of the others
      const Tensor* other = target.constant(constant_behind(target, theirs, v));
      if (other != nullptr && is_float(other->dtype()) && is_float(tensor.dtype()))
        tensor = convert(tensor, other->dtype());
    }
    set_constant(target, place->node, place->input, tensor, source.value(known).name);
    return;
  }
  const Tensor& before = *target.constant(old);
  if (before.size() == tensor.size()) {
    if (!same_extents(before.shape(), tensor.shape()))
      fail_unsupported(shape_text(tensor.shape()), " does not fit into ", shape_text(before.shape()), " of '",
                       plain(target.value(old).name), "'");
    tensor = tensor.reshaped(before.shape());
  }
  if (is_integer(before.dtype()) && is_float(tensor.dtype())) {
    if (place->scale == nullptr) fail_unsupported("'", plain(target.value(old).name), "' holds integers");
    tensor = quantized_as(tensor, *place, before.dtype());
  }
  const std::string name = target.value(old).name;
  set_constant(target, place->node, place->input, convert(tensor, before.dtype()), name);
}

void set_attribute(const Edit& edit, const Graph& source, Graph& target) {
  const Node& from = source.node(maker_of(source, Uses(source), edit.source, "source"));
  Node& node = target.node(maker_of(target, Uses(target), edit.target, "target"));
  const auto found = from.attributes.find(edit.key);
  const auto holds_graph = [](const Node& n, const std::string& key) {
    const auto at = n.attributes.find(key);
    return at != n.attributes.end() && std::holds_alternative<std::shared_ptr<const Graph>>(at->second);
  };
  if (holds_graph(from, edit.key) || holds_graph(node, edit.key))
    fail_unsupported("'", plain(edit.key), "' of '", plain(edit.target), "' is a subgraph");
  if (found == from.attributes.end()) {
    node.attributes.erase(edit.key);
  } else {
    node.attributes[edit.key] = found->second;
  }
}

// ------------------------------------------------------------------------------------------ layers

// Axis i of `to` is axis perm[i] of `from`, whose wide axes are in `order`; empty where the ranks are not the same.
std::vector<int64_t> whole_perm(const Shape& from, const Shape& to, const AxisOrder& order) {
  const std::vector<size_t> wide_from = wide_axes(from), wide_to = wide_axes(to);
  if (from.size() != to.size() || wide_from.size() != wide_to.size() || order.size() != wide_to.size()) return {};
  std::vector<int64_t> perm(to.size(), -1);
  std::set<size_t> taken;
  for (size_t i = 0; i < wide_to.size(); ++i) {
    perm[wide_to[i]] = static_cast<int64_t>(wide_from[order[i]]);
    taken.insert(wide_from[order[i]]);
  }
  size_t next = 0;
  for (int64_t& axis : perm) {
    if (axis >= 0) continue;
    while (taken.count(next) != 0) ++next;
    axis = static_cast<int64_t>(next++);
  }
  return perm;
}

// Nodes that bring a value from one side's extents and order of axes into the other's; makes `to`, or a new value.
class Bridge {
 public:
  explicit Bridge(Graph& graph) : graph_(graph) {}

  ValueId across(ValueId value, const Shape& from, const Shape& to, const AxisOrder& order, ValueId made = kNoValue) {
    const std::vector<int64_t> perm = whole_perm(from, to, order);
    if (perm.empty()) {
      Shape wide;
      for (size_t axis : wide_axes(from)) wide.push_back(from[axis]);
      std::vector<int64_t> moves(order.begin(), order.end());
      if (!std::is_sorted(moves.begin(), moves.end())) {
        value = reshape(value, wide, kNoValue);
        value = node("Transpose", {value}, {{"perm", moves}}, kNoValue);
      }
      return reshape(value, to, made);
    }
    if (!std::is_sorted(perm.begin(), perm.end())) return node("Transpose", {value}, {{"perm", perm}}, made);
    return made == kNoValue ? value : node("Identity", {value}, {}, made);
  }

 private:
  ValueId node(const std::string& op, std::vector<ValueId> inputs, Attributes attributes, ValueId made) {
    if (made == kNoValue) made = graph_.add_value(graph_.unused_value_name(graph_.value(inputs[0]).name + "_moved"));
    Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {made};
    node.attributes = std::move(attributes);
    graph_.add_node(std::move(node));
    return made;
  }
  ValueId reshape(ValueId value, const Shape& to, ValueId made) {
    std::vector<int64_t> extents = to;
    if (!extents.empty() && extents[0] == 1) extents[0] = -1;  // a batch
    const ValueId shape = graph_.add_constant(graph_.unused_value_name(graph_.value(value).name + "_shape"),
                                              Tensor::of<int64_t>({static_cast<int64_t>(extents.size())}, extents));
    return node("Reshape", {value, shape}, {}, made);
  }

  Graph& graph_;
};

// A value that others make from now on: of integers the number that their quantiser rounds, which is another one then.
ValueId take_over(Graph& target, const std::string& name) {
  const ValueId made = value_of(target, name, "target");
  const NodeId old = Uses(target).producer[made];
  if (old < 0) fail_unsupported("'", plain(name), "' is made by no layer");
  const std::string before = target.unused_value_name(name + "_before");
  if (target.node(old).op == "QuantizeLinear")
    return target.node(old).inputs[0] = target.add_value(target.unused_value_name(name + "_real"));
  for (ValueId& v : target.node(old).outputs) {
    if (v == made) v = target.add_value(before);
  }
  return made;
}

void replace_layers(const Edit& edit, const Graph& source, Graph& target) {
  const Uses uses(source);
  const ValueId rounded = as_made(target, value_of(target, edit.output.target, "target"));
  std::map<ValueId, ValueId> partner;  // of the source's values
  Bridge bridge(target);
  for (const CommonValue& c : edit.inputs) {
    const ValueId value = value_of(target, c.target, "target");
    const ValueId theirs = value == rounded ? value : as_read(target, value);
    partner[value_of(source, c.source, "source")] = bridge.across(theirs, c.target_shape, c.source_shape, c.order);
  }
  for (const auto& [ours, theirs] : edit.held)
    partner[value_of(source, ours, "source")] = value_of(target, theirs, "target");
  const ValueId end = value_of(source, edit.output.source, "source"), made = take_over(target, edit.output.target);
  std::set<NodeId> wanted;
  std::vector<ValueId> waiting = {end};
  while (!waiting.empty()) {
    const ValueId v = waiting.back();
    waiting.pop_back();
    if (v == kNoValue || source.constant(v) != nullptr || partner.count(v) != 0) continue;
    const NodeId maker = uses.producer[v];
    if (maker < 0) fail_unsupported("'", plain(source.value(v).name), "' of the source has no partner in the target");
    if (!wanted.insert(maker).second) continue;
    const Node& node = source.node(maker);
    if (!captured_values(source, node).empty()) fail_unsupported("'", plain(node.name), "' has a subgraph");
    for (ValueId input : node.inputs) waiting.push_back(input);
  }
  std::set<std::string> names;
  for (NodeId id : target.order()) names.insert(target.node(id).name);
  for (NodeId id : source.order()) {
    if (wanted.count(id) == 0) continue;
    Node node = source.node(id);
    if (!names.insert(node.name).second) node.name.clear();
    for (ValueId& v : node.inputs) {
      if (v == kNoValue) continue;
      const auto known = partner.find(v);
      if (known == partner.end())
        partner[v] = target.add_constant(target.unused_value_name(source.value(v).name), *source.constant(v));
      v = partner.at(v);
    }
    for (ValueId& v : node.outputs) {
      if (v == kNoValue) continue;
      partner[v] = target.add_value(target.unused_value_name(source.value(v).name));
      v = partner[v];
    }
    target.add_node(std::move(node));
  }
  const auto ended = partner.find(end);
  if (ended == partner.end()) fail_unsupported("no layer of the source makes '", plain(edit.output.source), "'");
  const ValueId result = bridge.across(ended->second, edit.output.source_shape, edit.output.target_shape,
                                       inverse(edit.output.order), made);
  if (result != made) fail_internal("a bridge that leads elsewhere");
}

// Readers of a value read another in its place; an output of the network is made from that.
void skip_layers(const Edit& edit, Graph& target) {
  const ValueId left_out = value_of(target, edit.target, "target"), instead = value_of(target, edit.key, "target");
  if (left_out == instead) fail_unsupported("'", plain(edit.key), "' in its own place");
  for (NodeId id : target.order()) {
    const std::vector<ValueId> captured = captured_values(target, target.node(id));
    if (std::find(captured.begin(), captured.end(), left_out) != captured.end())
      fail_unsupported("a subgraph reads '", plain(edit.target), "'");
  }
  for (NodeId id : target.order()) {
    for (ValueId& v : target.node(id).inputs) v = v == left_out ? instead : v;
  }
  if (!target.is_output(left_out)) return;
  const NodeId maker = Uses(target).producer[left_out];
  if (maker < 0) fail_unsupported("'", plain(edit.target), "' is made by no layer");
  for (ValueId& v : target.node(maker).outputs) {
    if (v == left_out) v = target.add_value(target.unused_value_name(edit.target + "_before"));
  }
  Node node;
  node.op = "Identity";
  node.inputs = {instead};
  node.outputs = {left_out};
  target.add_node(std::move(node));
}

void set_preprocess(const Edit& edit, Graph& target) {
  std::erase_if(target.metadata, [](const auto& entry) { return entry.first == "preprocess"; });
  target.metadata.emplace_back("preprocess", edit.key);
}

// A Gather behind what made the output, which keeps its name.
void set_classes(const Edit& edit, Graph& target) {
  if (target.outputs.empty()) fail_unsupported("the target has no output");
  const std::optional<std::vector<Dim>>& shape = target.value(target.outputs[0]).type.shape;
  const int64_t n_classes = !shape || shape->empty() ? -1 : shape->back().size;
  if (edit.classes.empty()) fail_unsupported("an order of no classes");
  for (size_t c : edit.classes) {
    if (n_classes >= 0 && static_cast<int64_t>(c) >= n_classes)
      fail_unsupported("the target has no class ", c, ", its first output has ", n_classes);
  }
  for (NodeId id : target.order()) {
    const std::vector<ValueId> captured = captured_values(target, target.node(id));
    if (std::find(captured.begin(), captured.end(), target.outputs[0]) != captured.end())
      fail_unsupported("a subgraph reads the first output");
  }
  const ValueId output = target.outputs[0];
  const NodeId maker = Uses(target).producer[output];
  if (maker < 0) fail_unsupported("the target's first output is made by no layer");
  const ValueId before = target.add_value(target.unused_value_name(target.value(output).name + "_classes"));
  for (NodeId id : target.order()) {
    for (ValueId& v : target.node(id).inputs) v = v == output ? before : v;
  }
  for (ValueId& v : target.node(maker).outputs) v = v == output ? before : v;
  const std::vector<int64_t> classes(edit.classes.begin(), edit.classes.end());
  const ValueId order = target.add_constant(target.unused_value_name("order_of_classes"),
                                            Tensor::of<int64_t>({static_cast<int64_t>(classes.size())}, classes));
  Node node;
  node.op = "Gather";
  node.inputs = {before, order};
  node.outputs = {output};
  node.attributes["axis"] = int64_t{-1};
  target.add_node(std::move(node));
}

}  // namespace

const Graph& EditSource::graph(bool folded, bool all) {
  if (!folded) return graph_;
  if (all) {
    if (!all_folded_) {
      all_folded_ = graph_;
      fold_into_layers(*all_folded_);
    }
    return *all_folded_;
  }
  if (!folded_) {
    folded_ = graph_;
    fold_batch_norms(*folded_);
  }
  return *folded_;
}

bool same_extents(const Shape& a, const Shape& b) {
  const std::vector<size_t> x = wide_axes(a), y = wide_axes(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](size_t i, size_t j) { return a[i] == b[j]; });
}

ValueId constant_behind(const Graph& graph, const Uses& uses, ValueId value) {
  for (int steps = 0; value != kNoValue && steps < 4; ++steps) {
    if (graph.constant(value) != nullptr) return value;
    const NodeId maker = uses.producer[value];
    if (maker < 0 || (graph.node(maker).op != "Identity" && graph.node(maker).op != "Cast")) return kNoValue;
    value = graph.node(maker).input(0);
  }
  return kNoValue;
}

void apply_edits(const std::vector<Edit>& edits, EditSource& source, Graph& target) {
  for (const Edit& edit : edits) {
    const Graph& from = source.graph(edit.folded, edit.all_folded);
    switch (edit.kind) {
      case Edit::Kind::Constant: set_input(edit, from, target); break;
      case Edit::Kind::Attribute: set_attribute(edit, from, target); break;
      case Edit::Kind::Layers: replace_layers(edit, from, target); break;
      case Edit::Kind::Preprocess: set_preprocess(edit, target); break;
      case Edit::Kind::Classes: set_classes(edit, target); break;
      case Edit::Kind::Skip: skip_layers(edit, target); break;
      case Edit::Kind::Quantised: make_quantised_edit(edit, from, target); break;
    }
  }
  sort_nodes(target);
  remove_dead_nodes(target);
  for (NodeId id : target.order()) {
    for (ValueId v : target.node(id).outputs) {
      if (v != kNoValue) target.value(v).type = {};
    }
  }
  verify(target);
}

}  // namespace dnn
