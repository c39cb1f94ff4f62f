// ONNX's reference evaluator; see reference.h.
#include "formats/onnx/reference.h"

#include "base/text.h"

namespace dnn::onnx {
namespace {

// Values of attributes that mean something else with the prefix: the IR's names of what the reference evaluator does.
struct Place {
  const char *op, *attribute, *value;
};
constexpr Place kPlaces[] = {{"GridSample", "padding_mode", "border"},
                             {"Resize", "coordinate_transformation_mode", "align_corners"},
                             {"Resize", "coordinate_transformation_mode", "tf_crop_and_resize"}};
constexpr char kPrefix[] = "reference_";

void rename(Graph& graph, bool to_reference) {
  for (NodeId id : graph.order()) {
    Node& node = graph.node(id);
    for (auto& [key, attribute] : node.attributes) {
      if (const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute)) {
        auto copy = std::make_shared<Graph>(**body);
        rename(*copy, to_reference);
        attribute = std::shared_ptr<const Graph>(std::move(copy));
      }
      auto* text = std::get_if<std::string>(&attribute);
      if (text == nullptr || !node.domain.empty()) continue;
      for (const Place& place : kPlaces) {
        if (node.op != place.op || key != place.attribute) continue;
        const std::string renamed = cat(kPrefix, place.value);
        if (*text == (to_reference ? place.value : renamed)) {
          *text = to_reference ? renamed : place.value;
          break;
        }
      }
    }
  }
}

// The evaluator unpools without the output_shape, and adds zeros behind up to it.
void unpool_as_reference(Graph& graph, NodeId id) {
  const ValueId asked = graph.node(id).inputs[2], result = graph.node(id).outputs[0];
  const auto add = [&](const char* op, std::vector<ValueId> inputs, ValueId output = kNoValue) {
    Node node;
    node.name = cat(graph.node(id).name, "/", op);
    node.op = op;
    node.inputs = std::move(inputs);
    const std::string name = graph.unused_value_name(cat(graph.value(result).name, "_", op));
    node.outputs = {output == kNoValue ? graph.add_value(name) : output};
    if (node.op == "Concat") node.attributes["axis"] = int64_t{0};
    graph.add_node(node);
    return node.outputs[0];
  };
  const ValueId small = graph.add_value(graph.unused_value_name(graph.value(result).name + "_unpooled"));
  graph.node(id).inputs.resize(2);
  graph.node(id).outputs[0] = small;
  const ValueId shape = add("Shape", {small}), behind = add("Sub", {asked, shape}), before = add("Sub", {shape, shape});
  add("Pad", {small, add("Concat", {before, behind})}, result);
}

void unpool_as_reference(Graph& graph) {
  bool changed = false;
  for (NodeId id : std::vector<NodeId>(graph.order())) {
    for (auto& [key, attribute] : graph.node(id).attributes) {
      const auto* body = std::get_if<std::shared_ptr<const Graph>>(&attribute);
      if (body == nullptr) continue;
      auto copy = std::make_shared<Graph>(**body);
      unpool_as_reference(*copy);
      attribute = std::shared_ptr<const Graph>(std::move(copy));
    }
    if (graph.node(id).op != "MaxUnpool" || !graph.node(id).domain.empty() || graph.node(id).input(2) == kNoValue)
      continue;
    unpool_as_reference(graph, id);
    changed = true;
  }
  if (changed) sort_nodes(graph);
}

}  // namespace

void follow_reference(Graph& graph) {
  rename(graph, true);
  unpool_as_reference(graph);
}

void use_onnx_names(Graph& graph) { rename(graph, false); }

}  // namespace dnn::onnx
