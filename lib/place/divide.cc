// divide(): writes slices of chains; see divide.h.
#include "place/divide.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/error.h"
#include "interp/interpreter.h"
#include "ops/op.h"
#include "passes/channel_block.h"
#include "passes/match.h"
#include "place/rules.h"

namespace dnn::place {
namespace {

// Indices `first` to `end` of a tensor along an axis, by the operator's own kernel.
Tensor sliced(const Tensor& tensor, size_t axis, int64_t first, int64_t end) {
  Node slice;
  slice.op = "Slice";
  slice.inputs.resize(4);
  slice.outputs.resize(1);
  const Tensor starts = Tensor::of<int64_t>({1}, {first}), ends = Tensor::of<int64_t>({1}, {end}),
               axes = Tensor::of<int64_t>({1}, {static_cast<int64_t>(axis)});
  return interpret_node(slice, {&tensor, &starts, &ends, &axes})[0];
}

// An axis that may count from the back, in a value.
size_t axis_in(const Graph& graph, const Node& node, ValueId v) {
  const int64_t axis = int_attribute(node, "axis");
  return axis < 0 ? axis + static_cast<int64_t>(graph.value(v).type.shape->size()) : axis;
}

// Writes one division after another.
class Divider {
 public:
  Divider(const Graph& graph, const std::vector<size_t>& places) : uses_(graph), result_{graph, places} {}

  Divided run(const std::vector<Division>& divisions) {
    for (const Division& division : divisions) divide(division);
    if (divisions.empty()) return std::move(result_);
    Graph& graph = result_.graph;
    remove_dead_nodes(graph);
    const Uses uses(graph);
    for (ValueId v = 0; v < graph.value_count(); ++v) {
      if (uses.readers[v].empty() && !graph.is_input(v) && !graph.is_output(v)) graph.value(v).constant.reset();
    }
    infer_types(graph);
    return std::move(result_);
  }

 private:
  // One slice of the chain that is written.
  struct Piece {
    std::string label;  // "[0:48]"
    size_t part = 0;
    int64_t first = 0, end = 0;  // channels
  };

  void divide(const Division& division) {
    pieces_.clear();
    made_.clear();
    int64_t first = 0;
    for (const Slice& slice : division.slices) {
      const int64_t end = first + slice.channels;
      pieces_.push_back({cat("[", first, ":", end, "]"), slice.part, first, end});
      first = end;
    }
    DNN_CHECK(first == division.chain.channels && !pieces_.empty());
    for (const ChainNode& node : division.chain.nodes) {
      for (const Piece& piece : pieces_) write(node, piece);
    }
    join(division.chain);
    for (const ChainNode& node : division.chain.nodes) result_.graph.remove_node(node.id);
  }

  // A node for some of the channels, in front of the whole.
  void write(const ChainNode& whole, const Piece& piece) {
    const size_t index = &piece - pieces_.data();
    Node node = result_.graph.node(whole.id);
    node.sources = sources_of(node);
    node.name = name_of(result_.graph, whole.id) + piece.label;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      ValueId& v = node.inputs[i];
      if (v == kNoValue) continue;
      const auto made = made_.find(v);
      const auto channels = whole.inputs.find(i);
      if (made != made_.end()) {
        v = made->second[index];
      } else if (channels != whole.inputs.end()) {
        v = input_piece(v, channels->second, index, whole.id);
      } else {
        v = input_whole(v, piece, whole.id);
      }
    }
    if (is_convolution(node) && int_attribute(node, "group") != 1) node.attributes["group"] = piece.end - piece.first;
    const ValueId y = node.outputs[0];
    node.outputs[0] = value_like(y, piece.label);
    made_[y].push_back(node.outputs[0]);
    insert(whole.id, std::move(node), piece.part);
  }

  ValueId value_like(ValueId v, const std::string& label) {
    Graph& graph = result_.graph;
    return graph.add_value(graph.unused_value_name(graph.value(v).name + label));
  }

  void insert(NodeId before, Node node, size_t part) {
    const NodeId id = result_.graph.insert_node_before(before, std::move(node));
    result_.places.resize(id + 1, 0);
    result_.places[id] = part;
  }

  // A DequantizeLinear of `v` for a slice alone, so that integers go to its part, and stay in front of a layer that computes on them.
  ValueId dequantized(ValueId v, std::vector<ValueId> inputs, const Piece& piece, NodeId before) {
    Node node = result_.graph.node(uses_.producer[v]);
    node.sources = sources_of(node);
    node.name = name_of(result_.graph, uses_.producer[v]) + piece.label;
    node.inputs = std::move(inputs);
    node.outputs[0] = value_like(v, piece.label);
    const ValueId made = node.outputs[0];
    insert(before, std::move(node), piece.part);
    return made;
  }

  ValueId constant_piece(ValueId v, size_t axis, const Piece& piece) {
    Graph& graph = result_.graph;
    return graph.add_constant(graph.unused_value_name(graph.value(v).name + piece.label),
                              sliced(*graph.constant(v), axis, piece.first, piece.end));
  }

  // The channels of a slice in a value that has all of them.
  ValueId input_piece(ValueId v, size_t axis, size_t index, NodeId before) {
    Graph& graph = result_.graph;
    const Piece& piece = pieces_[index];
    if (graph.constant(v) != nullptr && !graph.is_input(v)) return constant_piece(v, axis, piece);
    if (!is_stored(graph, uses_, v)) return split(v, axis, index, before);
    const Node& maker = graph.node(uses_.producer[v]);
    const bool by_channel = axis_in(graph, maker, v) == axis;
    std::vector<ValueId> inputs = maker.inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Tensor* constant = graph.constant(inputs[i]);
      if (i == 0) {
        inputs[i] = constant_piece(inputs[i], axis, piece);
      } else if (constant != nullptr && constant->size() > 1 && by_channel) {
        inputs[i] = constant_piece(inputs[i], 0, piece);
      }
    }
    return dequantized(v, std::move(inputs), piece, before);
  }

  ValueId input_whole(ValueId v, const Piece& piece, NodeId before) {
    const Graph& graph = result_.graph;
    const NodeId maker = static_cast<size_t>(v) < uses_.producer.size() ? uses_.producer[v] : -1;
    if (maker < 0 || !graph.alive(maker) || !is_op(graph.node(maker), "DequantizeLinear")) return v;
    const std::vector<ValueId>& inputs = graph.node(maker).inputs;
    const bool only_scaled = std::all_of(inputs.begin() + 1, inputs.end(),
                                         [&](ValueId i) { return i == kNoValue || graph.constant(i) != nullptr; });
    return only_scaled ? dequantized(v, inputs, piece, before) : v;
  }

  // The channels of a slice in a computed value. Its part has the whole value and reads what it needs, so that no slice waits for another.
  ValueId split(ValueId v, size_t axis, size_t index, NodeId before) {
    Graph& graph = result_.graph;
    const Piece& own = pieces_[index];
    Node node;
    node.op = "Split";
    node.name = cat(graph.value(v).name, ".split", own.label);
    node.attributes["axis"] = static_cast<int64_t>(axis);
    std::vector<int64_t> sizes;
    for (const Piece& piece : pieces_) {
      sizes.push_back(piece.end - piece.first);
      node.outputs.push_back(value_like(v, piece.label));
    }
    const auto count = static_cast<int64_t>(sizes.size());
    node.inputs = {v, graph.add_constant(graph.unused_value_name(node.name), Tensor::of<int64_t>({count}, sizes))};
    const ValueId made = node.outputs[index];
    insert(before, std::move(node), own.part);
    return made;
  }

  // The whole value of the chain's last node: by a Concat, or as inputs of the one that alone reads it.
  void join(const Chain& chain) {
    Graph& graph = result_.graph;
    const NodeId last = chain.nodes.back().id;
    const ValueId y = graph.node(last).outputs[0];
    const std::vector<ValueId>& slices = made_.at(y);
    if (const std::vector<NodeId>& readers = uses_.readers[y]; readers.size() == 1 && !graph.is_output(y)) {
      Node& reader = graph.node(readers[0]);
      if (is_op(reader, "Concat") && axis_in(graph, reader, y) == chain.axis) {
        for (auto at = std::find(reader.inputs.begin(), reader.inputs.end(), y); at != reader.inputs.end();
             at = std::find(reader.inputs.begin(), reader.inputs.end(), y))
          at = reader.inputs.insert(reader.inputs.erase(at), slices.begin(), slices.end());
        return;
      }
    }
    Node node;
    node.op = "Concat";
    node.name = name_of(graph, last) + ".join";
    node.attributes["axis"] = static_cast<int64_t>(chain.axis);
    node.inputs = slices;
    node.outputs = {y};
    insert(last, std::move(node), pieces_.front().part);
  }

  const Uses uses_;  // of the graph as it was
  Divided result_;
  std::vector<Piece> pieces_;
  std::map<ValueId, std::vector<ValueId>> made_;  // by value of the graph as it was: its slices
};

}  // namespace

std::vector<int64_t> shares_of(int64_t channels, const std::vector<int64_t>& weights) {
  const auto n = static_cast<int64_t>(weights.size());
  DNN_CHECK(n > 0 && channels >= n);
  const int64_t block = channels >= n * kChannelBlock ? kChannelBlock : 1;
  const int64_t blocks = channels / block, all = std::accumulate(weights.begin(), weights.end(), int64_t{0});
  std::vector<int64_t> shares;
  int64_t from = 0, weight = 0;  // blocks and weights so far
  for (int64_t k = 0; k + 1 < n; ++k) {
    weight += weights[k];
    const int64_t nearest = (2 * weight * channels + all * block) / (2 * all * block);
    const int64_t to = std::clamp(nearest, from + 1, blocks - (n - 1 - k));
    shares.push_back((to - from) * block);
    from = to;
  }
  shares.push_back(channels - from * block);
  return shares;
}

Divided divide(const Graph& graph, const Placement& placement) {
  return Divider(graph, placement.places).run(placement.divisions);
}

}  // namespace dnn::place
