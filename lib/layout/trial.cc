// Types for given batches; see trial.h.
#include "layout/trial.h"

#include "ops/op.h"

namespace dnn {
namespace {

Types types_of(const Graph& graph) {
  Types types;
  for (ValueId v = 0; v < graph.value_count(); ++v) types.push_back(graph.value(v).type);
  return types;
}

}  // namespace

std::vector<Types> trials_of(const Graph& graph) {
  bool open = false;
  for (ValueId v : graph.inputs) {
    const auto& shape = graph.value(v).type.shape;
    for (size_t i = 0; shape && i < shape->size(); ++i) {
      if (!(*shape)[i].fixed() && i > 0) return {types_of(graph)};
      open = open || !(*shape)[i].fixed();
    }
  }
  if (!open) return {types_of(graph)};
  std::vector<Types> result;
  for (const int64_t batch : {3, 5}) {
    Graph trial = graph;
    for (ValueId v = 0; v < trial.value_count(); ++v) {
      auto& shape = trial.value(v).type.shape;
      if (trial.is_input(v) && shape && !shape->empty() && !(*shape)[0].fixed()) (*shape)[0] = Dim(batch);
      if (!trial.is_input(v) && !trial.constant(v)) trial.value(v).type.shape.reset();
    }
    try {
      infer_types(trial);
    } catch (const Error&) {
      return {types_of(graph)};  // the model's batch is none of these
    }
    result.push_back(types_of(trial));
  }
  return result;
}

}  // namespace dnn
