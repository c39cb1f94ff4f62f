// fuse-sums: a map of bytes, as a sum of two tensors, becomes the end of the integer layer that makes one of its operands, which is
// then never stored. The layer's numbers are still rounded to its grid (dnn.ToGrid), so that no bit changes.
#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "graph/locate.h"
#include "ops/attributes.h"
#include "ops/quantization.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

const Graph& body_of(const Node& map) { return *std::get<std::shared_ptr<const Graph>>(map.attributes.at("body")); }

// A kernel of integer-maps: bytes as real numbers, an operator or none, bytes.
bool is_byte_map(const Node& node) {
  if (!is_fused(node)) return false;
  const Graph& body = body_of(node);
  return is_internal(body.node(body.order().front()), "ToReal") &&
         is_internal(body.node(body.order().back()), "ToInteger");
}

// The layer that makes `value` for this map alone, and whose numbers the map reads on the grid that they were rounded to; -1 where there
// is none.
NodeId layer_of(const Graph& graph, const Uses& uses, const Node& map, size_t operand) {
  const ValueId value = map.inputs[operand];
  const NodeId maker = uses.producer[value];
  if (maker < 0 || only_reader(graph, uses, value) < 0) return -1;
  const Node& layer = graph.node(maker);
  // With factors in float32, and of the map's shape.
  if (!is_internal(layer, "QuantizedConv") || graph.value(layer.inputs[3]).type.dtype != DType::Float32 ||
      !is_byte(graph.value(value).type.dtype) ||
      graph.value(value).type.shape != graph.value(map.outputs[0]).type.shape)
    return -1;
  const Graph& body = body_of(map);
  for (NodeId id : body.order()) {
    const Node& node = body.node(id);
    for (ValueId v : node.inputs) {
      if (v == body.inputs[operand] &&
          (!is_internal(node, "ToReal") || int_attribute(node, "zero_point") != int_attribute(layer, "zero_point")))
        return -1;
    }
  }
  return maker;
}

Patch fuse_sum(const Graph& graph, NodeId layer_id, NodeId map_id, size_t operand) {
  const Node &layer = graph.node(layer_id), &map = graph.node(map_id);
  const Graph& body = body_of(map);
  auto merged = std::make_shared<Graph>();
  Node fused = map;
  fused.inputs.clear();
  std::map<ValueId, ValueId> outer;  // a value of the graph -> its input of the body
  const auto input = [&](ValueId v) {
    const auto [entry, fresh] = outer.try_emplace(v, kNoValue);
    if (fresh) {
      entry->second = merged->add_value(graph.value(v).name, graph.value(v).type);
      merged->inputs.push_back(entry->second);
      fused.inputs.push_back(v);
    }
    return entry->second;
  };
  Node head = layer;
  for (ValueId& v : head.inputs) v = input(v);
  const int64_t zero = int_attribute(layer, "zero_point"), low = int_attribute(layer, "low"),
                high = int_attribute(layer, "high");
  for (const char* name : {"zero_point", "low", "high"}) head.attributes.erase(name);
  head.attributes["to"] = static_cast<int64_t>(DType::Float32);
  Type real = graph.value(layer.outputs[0]).type;
  real.dtype = DType::Float32;
  const ValueId steps = merged->add_value(graph.value(layer.outputs[0]).name, real);
  head.outputs = {steps};
  merged->add_node(std::move(head));
  std::map<ValueId, ValueId> inner;  // a value of the map's body -> the new body's
  for (size_t i = 0; i < map.inputs.size(); ++i) inner[body.inputs[i]] = i == operand ? steps : input(map.inputs[i]);
  for (NodeId id : body.order()) {
    Node node = body.node(id);
    if (node.inputs[0] == body.inputs[operand]) {  // ToReal
      node.op = "ToGrid";
      node.attributes.erase("zero_point");
      node.attributes["low"] = low - zero;
      node.attributes["high"] = high - zero;
    }
    for (ValueId& v : node.inputs) v = inner.at(v);
    for (ValueId& v : node.outputs) v = inner[v] = merged->add_value(body.value(v).name, body.value(v).type);
    merged->add_node(std::move(node));
  }
  merged->outputs = {inner.at(body.outputs[0])};
  merged->name = layer.op + "+" + body.name;
  fused.name = layer.name;
  fused.attributes["body"] = std::shared_ptr<const Graph>(merged);
  fused.sources = sources_of(layer);
  for (const std::string& source : sources_of(map)) fused.sources.push_back(source);
  Patch patch(graph, label_in(graph, map) + " into " + label_in(graph, layer));
  patch.place_at(map_id);  // where all operands are there
  patch.add_node(std::move(fused));
  patch.remove_node(layer_id);
  patch.remove_node(map_id);
  return patch;
}

}  // namespace

std::vector<Patch> fuse_sums(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  std::map<NodeId, size_t> place;
  for (NodeId id : graph.order()) place.emplace(id, place.size());
  for (NodeId id : graph.order()) {
    const Node& map = graph.node(id);
    if (!is_byte_map(map)) continue;
    NodeId last = -1;
    size_t operand = 0;
    for (size_t i = 0; i < map.inputs.size(); ++i) {
      const NodeId layer = layer_of(graph, uses, map, i);
      if (layer >= 0 && (last < 0 || place[layer] > place[last])) last = layer, operand = i;
    }
    if (last >= 0) patches.push_back(fuse_sum(graph, last, id, operand));
  }
  return patches;
}

}  // namespace dnn
