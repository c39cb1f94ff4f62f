// The order of the operations; see surgery.h.
#include "convert/surgery.h"

#include "graph/bind.h"
#include "ops/op.h"

namespace dnn {

bool Surgery::any() const {
  return !outputs.empty() || !inputs.empty() || !shapes.empty() || !batch.empty() || !input_layouts.empty() ||
         !renames.empty();
}

void operate(Graph& graph, const Surgery& surgery) {
  if (!surgery.any()) return;
  if (!surgery.inputs.empty() || !surgery.outputs.empty()) cut(graph, surgery.inputs, surgery.outputs);
  for (const std::string& shape : surgery.shapes) bind_shape(graph, shape);
  infer_types(graph);
  if (!surgery.batch.empty()) set_batch(graph, surgery.batch);
  for (const std::string& layout : surgery.input_layouts) set_input_layout(graph, layout);
  for (const std::string& names : surgery.renames) rename(graph, names);
  verify(graph);
}

}  // namespace dnn
