// Drafts of graphs; see draft.h.
#include "formats/draft.h"

#include "layout/borders.h"
#include "layout/fold_flatten.h"
#include "layout/lift_rows.h"
#include "ops/op.h"

namespace dnn {

std::string Draft::free_name(const std::string& wanted) {
  const std::string base = wanted.empty() ? "tensor" : wanted;
  std::string name = base;
  for (int& n = suffixes[base]; !names.insert(name).second;) name = cat(base, "_", ++n);
  return name;
}

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
  if (unnamed.count(v) == 0 || graph.constant(v) != nullptr) v = Steps(*this, node).emit("Identity", {v});
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

std::vector<ValueId> Steps::emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                      size_t outputs) {
  Node node;
  node.op = op;
  node.name = name_;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  for (size_t i = 0; i < outputs; ++i)
    node.outputs.push_back(draft_.add_value(cat(name_, "/", op), Draft::Name::Invented));
  std::vector<ValueId> result = node.outputs;
  draft_.graph.add_node(std::move(node));
  return result;
}

ValueId Steps::emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return emit_many(op, std::move(inputs), std::move(attributes), 1)[0];
}

ValueId Steps::store(const std::string& what, Tensor tensor) {
  return draft_.add_constant(cat(name_, "/", what), std::move(tensor), Draft::Name::Invented);
}

ValueId Steps::list(const std::vector<int64_t>& values) {
  return store("list", Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId Steps::number(float value) { return store("number", Tensor::scalar(value)); }

ValueId Steps::transpose(ValueId v, const Permutation& perm) { return emit("Transpose", {v}, {{"perm", perm}}); }

ValueId Steps::to_dtype(ValueId v, DType dtype) { return emit("Cast", {v}, {{"to", static_cast<int64_t>(dtype)}}); }

}  // namespace dnn
