// Reading what is to be converted; see source.h.
#include "convert/source.h"

#include <algorithm>

#include "convert/architectures/architecture.h"
#include "convert/weights.h"

namespace dnn {
namespace {

void warn(const ConvertSource& options, const std::string& message) {
  if (options.warn) options.warn(message);
}

void replace_weights(Graph& graph, const ConvertSource& options) {
  const Graph weights = read_model(options.weights);
  std::vector<std::string> kept;
  try {
    kept = put_weights(graph, weights);
  } catch (Error& error) {
    throw error.within(options.weights);
  }
  if (kept.empty()) return;
  const size_t n = kept.size();
  kept.resize(std::min<size_t>(n, 3));
  warn(options,
       cat(options.weights, ": says nothing of ", n, " of the model's constants: ", join(kept), n > 3 ? ", ..." : ""));
}

}  // namespace

Graph read_to_convert(const std::string& path, const Format* target, const ConvertSource& options) {
  const bool weights_alone = target != nullptr && target->holds == Holds::Weights;
  ModelSource source = open_model(path, options.surgery.shapes, options.ignored);
  source.onnx_reference = options.onnx_reference;
  Graph graph = read_model(source);
  try {
    if (!options.architecture.empty() || (graph.outputs.empty() && !weights_alone))
      graph = build_architecture(graph, options.architecture);
    if (!options.weights.empty()) replace_weights(graph, options);
    operate(graph, options.surgery);
  } catch (Error& error) {
    throw error.within(path);
  }
  if (weights_alone && !graph.outputs.empty())
    warn(options, cat(target->name, " holds weights alone: the graph stays behind, and nothing is compared"));
  return graph;
}

}  // namespace dnn
