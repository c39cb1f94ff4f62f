// Finishing a graph; see finish.h.
#include "formats/tensorflow/finish.h"

#include <algorithm>
#include <cstring>

#include "formats/tensorflow/export.h"
#include "formats/tensorflow/tensor_proto.h"

namespace dnn::tensorflow {
namespace {

// The one node that reads a value; -1 where there are others, or it is an output.
NodeId only_reader(const Graph& graph, const Uses& uses, ValueId v) {
  const std::vector<NodeId>& readers = uses.readers[static_cast<size_t>(v)];
  return readers.size() == 1 && !graph.is_output(v) ? readers[0] : -1;
}

// Adds after Conv (with a Transpose between, mostly) and MatMul become their third input.
void take_in_biases(Source& source) {
  Graph& graph = source.draft.graph;
  for (const auto& [add, bias] : source.biases) {
    if (graph.constant(bias) == nullptr) continue;
    const Uses uses(graph);
    ValueId sum = graph.node(add).outputs[0], x = graph.node(add).inputs[0];
    if (only_reader(graph, uses, x) != add) continue;
    NodeId before = uses.producer[static_cast<size_t>(x)], moved = -1;
    if (before >= 0 && graph.node(before).op == "Transpose") {
      moved = before;
      x = graph.node(moved).inputs[0];
      if (only_reader(graph, uses, x) != moved || graph.node(moved).attribute_ints("perm") != kToChannelsLast) continue;
      before = uses.producer[static_cast<size_t>(x)];
    }
    if (before < 0 || graph.node(before).inputs.size() != 2) continue;
    Node& node = graph.node(before);
    const Type &product = graph.value(node.outputs[0]).type, &added = graph.value(bias).type;
    if (!product.shape || !added.fixed()) continue;
    const size_t units = node.op == "MatMul" ? 1 : node.op.compare(0, 4, "Conv") == 0 ? 1 : 9;
    if (units >= product.shape->size() || (*product.shape)[units] != (*added.shape)[0]) continue;
    if (node.op == "MatMul") {
      if (moved >= 0 || product.shape->size() != 2) continue;
      node.op = "Gemm";
    }
    node.inputs.push_back(bias);
    (moved >= 0 ? graph.node(moved) : node).outputs[0] = sum;
    graph.remove_node(add);
  }
}

void name_derived(Source& source) {
  Graph& graph = source.draft.graph;
  const Uses uses(graph);
  const auto used = [&](ValueId v) { return !uses.readers[static_cast<size_t>(v)].empty() || graph.is_output(v); };
  std::set<ValueId> taken;
  for (const auto& [made, from] : source.derived) {
    if (!used(made)) continue;
    ValueId origin = from;
    for (auto up = source.derived.find(origin); up != source.derived.end(); up = source.derived.find(origin))
      origin = up->second;
    if (used(origin) || !taken.insert(origin).second) continue;
    std::swap(graph.value(made).name, graph.value(origin).name);
    source.draft.unnamed.erase(made);
  }
  for (ValueId v = 0; v < graph.value_count(); ++v) {  // weights whose other form is used
    if (graph.constant(v) != nullptr && !used(v)) graph.value(v).constant.reset();
  }
}

}  // namespace

Type input_type(const std::string& name, DataType dtype, const TensorShapeProto* shape) {
  Type type;
  type.dtype = dtype_of(dtype);
  if (shape == nullptr || shape->unknown_rank()) return type;
  std::vector<Dim> dims;
  for (const TensorShapeProto::Dim& dim : shape->dim()) {
    if (dim.size() < -1 || dim.size() > INT32_MAX) fail_malformed("input '", name, "': an extent of ", dim.size());
    if (dim.size() >= 0) {
      dims.emplace_back(dim.size());
    } else {
      dims.emplace_back(dims.empty() ? std::string("batch") : cat(name, "_dim", dims.size()));
    }
  }
  type.shape = std::move(dims);
  return type;
}

void read_metadata(const NodeDef& placeholder, Graph* graph) {
  std::map<std::string, std::string> sorted;
  for (const auto& [key, value] : placeholder.attr()) {
    if (starts_with(key, kMetadataPrefix) && value.has_s())
      sorted[key.substr(std::strlen(kMetadataPrefix))] = value.s();
  }
  for (const auto& [key, text] : sorted) graph->metadata.emplace_back(key, text);
}

Graph finish(Source& source, const std::vector<ValueId>& inputs, const std::vector<Output>& outputs) {
  Draft& draft = source.draft;
  Graph& graph = draft.graph;
  if (outputs.empty()) fail_malformed("the graph has no outputs");
  for (const Output& output : outputs) {
    if (output.item.dead) fail_unsupported("output '", output.name, "' lies in a branch that is never taken");
    if (output.item.value == kNoValue)
      fail_unsupported(output.item.reason.empty() ? cat("output '", output.name, "' is a variable")
                                                  : output.item.reason);
    ValueId v = output.item.value;
    if (graph.value(v).name == output.name && !graph.is_output(v)) {
      graph.outputs.push_back(v);
      continue;
    }
    const bool computed = graph.constant(v) == nullptr && !graph.is_output(v) &&
                          std::find(inputs.begin(), inputs.end(), v) == inputs.end();
    // Where an inner value has the output's name, the output is the one that needs it.
    const ValueId other = graph.find_value(output.name);
    if (other != kNoValue && !graph.is_output(other) && std::find(inputs.begin(), inputs.end(), other) == inputs.end())
      graph.value(other).name = draft.free_name(output.name);
    draft.names.erase(output.name);
    if (other != kNoValue && graph.value(other).name == output.name) draft.names.insert(output.name);
    if (!computed) {
      v = Steps(draft, output.name).emit("Identity", {v});
    } else if (draft.unnamed.count(v) == 0) {
      graph.value(v).aliases.push_back(graph.value(v).name);
    }
    graph.value(v).name = draft.free_name(output.name);
    draft.unnamed.erase(v);
    graph.outputs.push_back(v);
  }
  graph.inputs = inputs;
  take_in_biases(source);
  remove_dead_nodes(graph);
  const Uses uses(graph);
  graph.inputs.erase(
      std::remove_if(graph.inputs.begin(), graph.inputs.end(),
                     [&](ValueId v) { return uses.readers[static_cast<size_t>(v)].empty() && !graph.is_output(v); }),
      graph.inputs.end());
  name_derived(source);
  return draft.finish();
}

}  // namespace dnn::tensorflow
