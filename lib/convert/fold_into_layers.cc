// Scales, shifts and constants into layers, as quantisers fold them; see surgery.h.
#include "convert/surgery.h"
#include "ops/op.h"
#include "passes/pass.h"

namespace dnn {

void fold_into_layers(Graph& graph) {
  infer_types(graph);
  fold_batch_norms(graph);
  PassOptions passes;
  passes.changes = "only:simplify-inference,canonicalize-cast,fold-constant,recognize-activations,fold-scale-axis";
  run_passes(graph, passes);
  infer_types(graph);
}

}  // namespace dnn
