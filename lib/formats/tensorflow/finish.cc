// Finishing a graph; see finish.h.
#include "formats/tensorflow/finish.h"

#include <algorithm>
#include <cstring>

#include "formats/tensorflow/export.h"
#include "formats/tensorflow/idioms.h"
#include "formats/tensorflow/tensor_proto.h"
#include "graph/rename.h"

namespace dnn::tensorflow {
namespace {

void name_derived(Source& source) {
  Graph& graph = source.draft.graph;
  const Uses uses(graph);
  const std::set<ValueId> outputs(graph.outputs.begin(), graph.outputs.end());
  const auto used = [&](ValueId v) { return !uses.readers[v].empty() || outputs.count(v) != 0; };
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
  const std::set<ValueId> given(inputs.begin(), inputs.end());
  std::set<ValueId> taken;  // outputs so far
  std::map<std::string, ValueId> by_name;
  for (ValueId v = 0; v < graph.value_count(); ++v) by_name[graph.value(v).name] = v;
  for (const Output& output : outputs) {
    if (output.item.dead) fail_unsupported("output '", output.name, "' lies in a branch that is never taken");
    if (output.item.value == kNoValue)
      fail_unsupported(output.item.reason.empty() ? cat("output '", output.name, "' is a variable")
                                                  : output.item.reason);
    ValueId v = output.item.value;
    if (graph.value(v).name != output.name || taken.count(v) != 0) {
      // Where an inner value has the output's name, the output is the one that needs it.
      const auto other = by_name.find(output.name);
      if (other != by_name.end() && taken.count(other->second) == 0 && given.count(other->second) == 0) {
        rename_value(graph, other->second, draft.free_name(output.name));
        draft.names.erase(output.name);
      }
      if (graph.constant(v) != nullptr || taken.count(v) != 0 || given.count(v) != 0) {
        v = DraftBuilder(draft, output.name).emit("Identity", {v});
      } else if (draft.unnamed.count(v) == 0) {
        graph.value(v).aliases.push_back(graph.value(v).name);
      }
      rename_value(graph, v, draft.free_name(output.name));
      draft.unnamed.erase(v);
    }
    taken.insert(v);
    graph.outputs.push_back(v);
  }
  graph.inputs = inputs;
  recognize_batch_norms(source);
  take_in_biases(source);
  remove_dead_nodes(graph);
  name_derived(source);
  return draft.finish();
}

}  // namespace dnn::tensorflow
