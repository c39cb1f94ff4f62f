// Drafts of graphs; see draft.h.
#include "formats/draft.h"

#include "layout/borders.h"
#include "layout/fold_flatten.h"
#include "layout/lift_rows.h"
#include "ops/op.h"

namespace dnn {

ValueId Draft::add_value(const std::string& wanted, Name given) {
  const ValueId v = graph.add_value(free_name(wanted));
  if (given == Name::Invented) unnamed.insert(v);
  return v;
}

ValueId Draft::add_constant(const std::string& wanted, Tensor tensor, Name given) {
  const ValueId v = add_value(wanted, given);
  graph.value(v).type = Type(tensor);
  graph.value(v).constant = std::move(tensor);
  return v;
}

ValueId Draft::rename(ValueId v, const std::string& wanted, const std::string& node) {
  if (unnamed.count(v) == 0 || graph.constant(v) != nullptr) v = DraftBuilder(*this, node).emit("Identity", {v});
  graph.value(v).name = free_name(wanted);
  unnamed.erase(v);
  return v;
}

Graph Draft::finish() {
  infer_types(graph);
  lift_rows(graph);
  settle_transposes(graph, unnamed);
  fold_pads(graph);
  fold_flattens(graph);
  remove_dead_nodes(graph);
  infer_types(graph);
  verify(graph);
  return std::move(graph);
}

}  // namespace dnn
