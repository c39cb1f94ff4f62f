// SliceCopier: what each kind of operator does with the channels of what it reads.
#include "branch/slice.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/locate.h"
#include "ops/op.h"
#include "ops/per_channel.h"
#include "ops/weights.h"

namespace dnn::branch {
namespace {

bool is_any_of(const Node& node, std::initializer_list<const char*> ops) {
  return node.domain.empty() && std::any_of(ops.begin(), ops.end(), [&](const char* op) { return node.op == op; });
}

// [1, C, H, W] -> [1, C * H * W], by whatever operator.
bool flattens(const Graph& graph, const Node& node) {
  if (!is_any_of(node, {"Flatten", "Reshape", "Squeeze"})) return false;
  const Shape in = graph.value(node.inputs[0]).type.fixed_shape(),
              out = graph.value(node.outputs[0]).type.fixed_shape();
  return in.size() == 4 && out.size() == 2 && in[0] == out[0] && in[1] * in[2] * in[3] == out[1];
}

// A product of a row of numbers with constant weights.
bool multiplies_rows(const Graph& graph, const Node& node) {
  const Tensor* weights = graph.constant(node.input(1));
  return is_any_of(node, {"Gemm", "MatMul"}) && weights != nullptr && weights->rank() == 2 &&
         graph.constant(node.inputs[0]) == nullptr && graph.value(node.inputs[0]).type.shape->size() == 2 &&
         node.attribute_int("transA", 0) == 0;
}

}  // namespace

ChannelRole channel_role(const Graph& graph, const Node& node) {
  const Type& made = graph.value(node.outputs[0]).type;
  if (!made.fixed() || made.shape->size() < 2 || node.outputs.size() != 1) return ChannelRole::Whole;
  if (is_convolution(node)) return ChannelRole::Convolution;
  if (multiplies_rows(graph, node)) return ChannelRole::Product;
  if (is_any_of(node, {"BatchNormalization"})) return ChannelRole::Norm;
  if (is_any_of(node, {"Concat"})) {
    const int64_t axis = node.attribute_int("axis", 0);
    const bool of_channels = axis == 1 || axis + static_cast<int64_t>(made.shape->size()) == 1;
    return of_channels ? ChannelRole::Joins : ChannelRole::Whole;
  }
  if (flattens(graph, node)) return ChannelRole::Flattens;
  if (keeps_channels(graph, node)) return ChannelRole::Keeps;
  const OpDef* op = find_op(node.domain, node.op);
  return op != nullptr && op->element != nullptr ? ChannelRole::Elements : ChannelRole::Whole;
}

std::vector<int64_t> all_channels(int64_t count) {
  std::vector<int64_t> channels(count);
  std::iota(channels.begin(), channels.end(), 0);
  return channels;
}

void SliceCopier::copy(const std::vector<NodeId>& nodes, const std::string& prefix, const ChannelsOf& channels_of) {
  prefix_ = prefix;
  channels_of_ = channels_of;
  for (NodeId id : nodes) {
    try {
      copy_node(source_.node(id));
    } catch (Error& e) {
      throw e.within(label_in(source_, source_.node(id)));
    }
  }
}

void SliceCopier::copy_node(const Node& node) {
  target_.set_name(prefix_ + (node.name.empty() ? node.op : node.name));
  switch (channel_role(source_, node)) {
    case ChannelRole::Convolution: return convolution(node);
    case ChannelRole::Product: return product(node);
    case ChannelRole::Norm: return norm(node);
    case ChannelRole::Joins: return concatenation(node);
    case ChannelRole::Elements: return element_wise(node);
    case ChannelRole::Keeps: return same_channels(node);
    case ChannelRole::Flattens: return flattening(node);
    case ChannelRole::Whole: return unknown(node);
  }
}

void SliceCopier::convolution(const Node& node) {
  const Tensor& w = weights(node, 1);
  const int64_t groups = node.attribute_int("group", 1), in = channels(node.inputs[0]), out = w.shape()[0];
  const Piece& x = pieces.at(node.inputs[0]);
  Attributes attributes = node.attributes;
  std::vector<ValueId> inputs;
  std::vector<int64_t> rows;
  if (groups == 1) {
    rows = channels_of_(node, out);
    inputs = {x.value, stored(node.inputs[1], picked(picked(w, 1, x.channels, shares(x.channels)), 0, rows))};
  } else {
    // Whole groups, those of the copy's channels.
    const std::vector<int64_t> columns = channels_of_(node, in);
    const int64_t wide = in / groups, made = out / groups;
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i] % wide != static_cast<int64_t>(i) % wide ||
          columns[i] / wide != columns[i - i % static_cast<size_t>(wide)] / wide)
        fail_unsupported("a share of the channels is not one of whole groups");
      if (columns[i] % wide != 0) continue;
      for (int64_t o = 0; o < made; ++o) rows.push_back(columns[i] / wide * made + o);
    }
    if (columns.size() % static_cast<size_t>(wide) != 0) fail_unsupported("a share of the channels splits a group");
    attributes["group"] = static_cast<int64_t>(columns.size()) / wide;
    inputs = {select(x, columns), stored(node.inputs[1], picked(w, 0, rows))};
  }
  if (node.input(2) != kNoValue) inputs.push_back(stored(node.inputs[2], picked(weights(node, 2), 0, rows)));
  made(node, add(node, inputs, "", attributes)[0], rows);
}

void SliceCopier::product(const Node& node) {
  const Piece& x = pieces.at(node.inputs[0]);
  const size_t axis = node.attribute_int("transB", 0) != 0 ? 1 : 0;
  const int64_t out = channels(node.outputs[0]);
  const Tensor* bias = is_constant(node.input(2)) ? source_.constant(node.inputs[2]) : nullptr;
  // A bias of one number for each unit can be shared out with them.
  const bool whole_bias = node.input(2) != kNoValue && (bias == nullptr || bias->size() != out || bias->rank() == 0);
  const std::vector<int64_t> units = whole_bias ? all_channels(out) : channels_of_(node, out);
  std::vector<ValueId> inputs = {
      x.value,
      stored(node.inputs[1], picked(picked(weights(node, 1), axis, x.channels, shares(x.channels)), 1 - axis, units))};
  if (whole_bias) {
    inputs.push_back(bias == nullptr ? whole(node.inputs[2]) : stored(node.inputs[2], *bias));
  } else if (bias != nullptr) {
    inputs.push_back(stored(node.inputs[2], picked(weights(node, 2), static_cast<size_t>(bias->rank()) - 1, units)));
  }
  made(node, add(node, inputs)[0], units);
}

void SliceCopier::norm(const Node& node) {
  const Piece x = pieces.at(node.inputs[0]);
  std::vector<ValueId> inputs = {x.value};
  for (size_t i = 1; i < node.inputs.size(); ++i)
    inputs.push_back(stored(node.inputs[i], picked(weights(node, i), 0, x.channels)));
  made(node, add(node, inputs)[0], x.channels);
}

void SliceCopier::concatenation(const Node& node) {
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) { return pieces.count(v) != 0; }))
    return unknown(node);
  std::vector<ValueId> inputs;
  std::vector<int64_t> joined;
  int64_t offset = 0;
  for (ValueId v : node.inputs) {
    const Piece& x = pieces.at(v);
    inputs.push_back(x.value);
    for (int64_t c : x.channels) joined.push_back(offset + c);
    offset += channels(v);
  }
  made(node, add(node, inputs)[0], joined);
}

void SliceCopier::element_wise(const Node& node) {
  const int64_t wide = channels(node.outputs[0]);
  const size_t rank = source_.value(node.outputs[0]).type.shape->size();
  // All operands get the channels of the one that has fewest.
  const Piece* least = nullptr;
  for (ValueId v : node.inputs) {
    if (v == kNoValue || pieces.count(v) == 0 || source_.value(v).type.shape->size() != rank || channels(v) != wide)
      continue;
    if (least == nullptr || pieces.at(v).channels.size() < least->channels.size()) least = &pieces.at(v);
  }
  if (least == nullptr) return unknown(node);
  const std::vector<int64_t> chosen = least->channels;
  std::vector<ValueId> inputs;
  for (ValueId v : node.inputs) {
    if (v == kNoValue) {
      inputs.push_back(v);
    } else if (const Tensor* constant = source_.constant(v)) {
      const size_t own = constant->shape().size();
      const bool per_channel = own + 1 >= rank && constant->shape()[own + 1 - rank] == wide && wide > 1;
      inputs.push_back(stored(v, per_channel ? picked(*constant, own + 1 - rank, chosen) : *constant));
    } else if (source_.value(v).type.shape->size() == rank && channels(v) == wide) {
      inputs.push_back(select(pieces.at(v), chosen));
    } else {
      inputs.push_back(whole(v));
    }
  }
  made(node, add(node, inputs)[0], chosen);
}

void SliceCopier::same_channels(const Node& node) {
  const Piece x = pieces.at(node.inputs[0]);
  std::vector<ValueId> inputs = {x.value};
  for (size_t i = 1; i < node.inputs.size(); ++i)
    inputs.push_back(node.inputs[i] == kNoValue ? kNoValue : whole(node.inputs[i]));
  made(node, add(node, inputs)[0], x.channels);
}

void SliceCopier::flattening(const Node& node) {
  const Piece x = pieces.at(node.inputs[0]);
  const int64_t pixels = channels(node.outputs[0]) / channels(node.inputs[0]);
  std::vector<int64_t> places;
  for (int64_t c : x.channels) {
    for (int64_t p = 0; p < pixels; ++p) places.push_back(c * pixels + p);
  }
  made(node, add(node, {x.value}, "Flatten", {{"axis", int64_t{1}}})[0], places);
}

void SliceCopier::unknown(const Node& node) {
  for (const auto& [key, attribute] : node.attributes) {
    if (std::holds_alternative<std::shared_ptr<const Graph>>(attribute))
      fail_unsupported("it has a graph within (", key, ")");
  }
  std::vector<ValueId> inputs;
  for (ValueId v : node.inputs) inputs.push_back(v == kNoValue ? v : whole(v));
  const std::vector<ValueId> outputs = add(node, inputs);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == kNoValue) continue;
    const std::optional<std::vector<Dim>>& shape = source_.value(node.outputs[i]).type.shape;
    if (!shape) fail_unsupported("its output has no fixed shape");
    pieces[node.outputs[i]] = {outputs[i], shape->size() < 2 ? std::vector<int64_t>{} : all_channels((*shape)[1].size)};
  }
}

ValueId SliceCopier::select(const Piece& piece, const std::vector<int64_t>& channels) {
  if (piece.channels == channels) return piece.value;
  std::vector<int64_t> places;
  for (int64_t channel : channels) {
    // Behind the last one where it is there: runs of channels then stay runs, and one slice takes them.
    auto found = piece.channels.end();
    if (!places.empty() && static_cast<size_t>(places.back() + 1) < piece.channels.size() &&
        piece.channels[places.back() + 1] == channel)
      found = piece.channels.begin() + places.back() + 1;
    if (found == piece.channels.end()) found = std::find(piece.channels.begin(), piece.channels.end(), channel);
    if (found == piece.channels.end()) fail_unsupported("channel ", channel, " is in none of the branches");
    places.push_back(found - piece.channels.begin());
  }
  const int64_t first = places.front(), end = places.back() + 1;
  if (end - first == static_cast<int64_t>(places.size()) && std::is_sorted(places.begin(), places.end()))
    return target_.emit("Slice", {piece.value, target_.list({first}), target_.list({end}), target_.list({1})});
  return target_.emit("Gather", {piece.value, target_.list(places)}, {{"axis", int64_t{1}}});
}

ValueId SliceCopier::whole(ValueId source) {
  if (const Tensor* constant = source_.constant(source)) return stored(source, *constant);
  const Piece& piece = pieces.at(source);
  if (piece.channels.empty()) return piece.value;
  return select(piece, all_channels(channels(source)));
}

int64_t SliceCopier::channels(ValueId source) const { return (*source_.value(source).type.shape)[1].size; }

const Tensor& SliceCopier::weights(const Node& node, size_t input) const {
  const Tensor* tensor = source_.constant(node.input(input));
  if (tensor == nullptr) fail_unsupported("input ", input, " is not a constant");
  if (tensor->dtype() != DType::Float32)
    fail_unsupported("its weights are ", dtype_name(tensor->dtype()), "; convert the network to float32 first");
  return *tensor;
}

ValueId SliceCopier::stored(ValueId source, Tensor tensor) {
  return target_.store(source_.value(source).name, std::move(tensor));
}

Tensor SliceCopier::picked(const Tensor& tensor, size_t axis, const std::vector<int64_t>& index,
                           const std::vector<float>& factor) const {
  Shape shape = tensor.shape();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i) (i < axis ? outer : inner) *= i == axis ? 1 : shape[i];
  const int64_t extent = shape[axis];
  shape[axis] = static_cast<int64_t>(index.size());
  Tensor result(DType::Float32, shape);
  const auto* from = tensor.data<float>();
  auto* to = result.mutable_data<float>();
  for (int64_t o = 0; o < outer; ++o) {
    for (size_t i = 0; i < index.size(); ++i) {
      const float* row = from + (o * extent + index[i]) * inner;
      const float share = factor.empty() ? 1 : factor[i];
      for (int64_t k = 0; k < inner; ++k) *to++ = share * row[k];
    }
  }
  return result;
}

std::vector<float> SliceCopier::shares(const std::vector<int64_t>& channels) {
  std::map<int64_t, int> count;
  for (int64_t c : channels) ++count[c];
  std::vector<float> result;
  for (int64_t c : channels) result.push_back(1 / static_cast<float>(count[c]));
  return result;
}

std::vector<ValueId> SliceCopier::add(const Node& node, std::vector<ValueId> inputs, const std::string& op,
                                      Attributes attributes) {
  Node copy = node;
  copy.name = target_.name();
  copy.inputs = std::move(inputs);
  copy.outputs.clear();
  if (!op.empty()) copy.op = op;
  if (!op.empty() || !attributes.empty()) copy.attributes = std::move(attributes);
  std::vector<std::string> names;
  for (ValueId v : node.outputs) names.push_back(v == kNoValue ? "" : prefix_ + source_.value(v).name);
  return target_.add(std::move(copy), names);
}

}  // namespace dnn::branch
