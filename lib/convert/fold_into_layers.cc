// Scales, shifts and constants into layers, as quantisers fold them; see surgery.h.
#include "convert/surgery.h"
#include "ops/op.h"
#include "passes/einsum_products.h"
#include "passes/pass.h"

namespace dnn {

namespace {

void run_only(const char* passes, Graph& graph) {
  PassOptions options;
  options.changes = passes;
  run_passes(graph, options);
  infer_types(graph);
}

}  // namespace

void fold_constants(Graph& graph) {
  infer_types(graph);
  run_only("only:canonicalize-cast,fold-constant,recognize-activations", graph);
}

void recognize_layer_norms(Graph& graph) {
  infer_types(graph);
  run_only("only:recognize-normalization", graph);
}

void fold_into_layers(Graph& graph) {
  infer_types(graph);
  for (const NodeId id : std::vector<NodeId>(graph.order())) {
    if (const std::optional<Patch> product = einsum_as_product(graph, id)) product->apply(graph);
  }
  infer_types(graph);
  fold_batch_norms(graph);
  run_only("only:simplify-inference,canonicalize-cast,fold-constant,recognize-activations,fold-scale-axis", graph);
}

}  // namespace dnn
