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

}  // namespace

void follow_reference(Graph& graph) { rename(graph, true); }
void use_onnx_names(Graph& graph) { rename(graph, false); }

}  // namespace dnn::onnx
