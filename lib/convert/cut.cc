// Cutting a part out of a graph; see surgery.h.
#include <algorithm>
#include <set>

#include "base/error.h"
#include "convert/surgery.h"
#include "ops/op.h"

namespace dnn {
namespace {

// Each value once, in the order named; "a,b" names two unless one value is called so.
std::vector<ValueId> named_values(const Graph& graph, const std::vector<std::string>& names, std::string_view what) {
  std::vector<ValueId> values;
  const auto add = [&](const std::string& name) {
    const ValueId id = named_value(graph, name, what);
    if (std::find(values.begin(), values.end(), id) != values.end()) fail_usage(what, ": ", quoted(name), " twice");
    values.push_back(id);
  };
  for (const std::string& name : names) {
    if (graph.find_value(name) != kNoValue) {
      add(name);
    } else {
      for (const std::string& part : split(name, ',')) add(part);
    }
  }
  return values;
}

}  // namespace

void cut(Graph& graph, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  infer_types(graph);
  const std::vector<ValueId> ends = named_values(graph, outputs, "outputs"),
                             starts = named_values(graph, inputs, "inputs");
  for (ValueId v : ends) {
    if (graph.constant(v) != nullptr) fail_usage("outputs: ", quoted(graph.value(v).name), " is a constant");
    if (graph.is_input(v)) fail_usage("outputs: ", quoted(graph.value(v).name), " is an input");
  }
  if (!ends.empty()) graph.outputs = ends;
  if (!starts.empty()) {
    const std::vector<NodeId> producer = Uses(graph).producer;
    for (ValueId v : starts) {
      if (graph.value(v).type.dtype == DType::Undefined)
        fail_usage("inputs: the element type of ", quoted(graph.value(v).name), " is not known");
      if (graph.is_output(v)) fail_usage("inputs: ", quoted(graph.value(v).name), " is an output too");
      graph.value(v).constant.reset();
      const NodeId maker = producer[v];
      if (maker < 0) continue;
      const ValueId unread = graph.add_value(graph.unused_value_name(graph.value(v).name + "_uncut"));
      std::vector<ValueId>& made = graph.node(maker).outputs;
      std::replace(made.begin(), made.end(), v, unread);
    }
  }
  remove_dead_nodes(graph);
  std::set<ValueId> read;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    read.insert(node.inputs.begin(), node.inputs.end());
    for (ValueId v : captured_values(graph, node)) read.insert(v);
  }
  if (starts.empty()) {
    std::vector<ValueId> kept;
    for (ValueId v : graph.inputs) {
      if (read.count(v) != 0) kept.push_back(v);
    }
    graph.inputs = std::move(kept);
    return;
  }
  for (ValueId v : graph.inputs) {
    if (read.count(v) != 0 && std::find(starts.begin(), starts.end(), v) == starts.end())
      fail_usage("inputs: the outputs need ", quoted(graph.value(v).name), " as well");
  }
  for (ValueId v : starts) {
    if (read.count(v) == 0) fail_usage("inputs: no output needs ", quoted(graph.value(v).name));
  }
  graph.inputs = starts;
}

}  // namespace dnn
