// The graph builder; see build.h.
#include "ops/build.h"

#include "graph/rename.h"
#include "ops/op.h"
#include "ops/type_inference.h"

namespace dnn {

std::vector<ValueId> GraphBuilder::add(Node node, const std::vector<std::string>& outputs) {
  if (node.outputs.empty()) {
    for (const std::string& wanted : outputs)
      node.outputs.push_back(wanted.empty() ? kNoValue : sink_.add_value(wanted));
  }
  std::vector<ValueId> result = node.outputs;
  if (sink_.infers()) infer(node);
  sink_.add_node(std::move(node));
  return result;
}

std::vector<ValueId> GraphBuilder::emit_many(const std::string& op, std::vector<ValueId> inputs, Attributes attributes,
                                             size_t outputs) {
  Node node;
  node.op = op;
  node.name = name_;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  return add(std::move(node), std::vector<std::string>(outputs, name_.empty() ? op : cat(name_, "/", op)));
}

ValueId GraphBuilder::emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes) {
  return emit_many(op, std::move(inputs), std::move(attributes), 1)[0];
}

void GraphBuilder::infer(const Node& node) {
  std::vector<const Type*> types;
  std::vector<const Tensor*> values;
  for (ValueId v : node.inputs) {
    types.push_back(v == kNoValue ? nullptr : &type(v));
    values.push_back(v == kNoValue ? nullptr : known(v));
  }
  InferredNode inferred = infer_node(node, types, values);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId v = node.outputs[i];
    if (v == kNoValue) continue;
    sink_.set_type(v, std::move(inferred.types[i]));
    if (inferred.known[i].defined()) known_[v] = std::move(inferred.known[i]);
  }
}

const Tensor* GraphBuilder::known(ValueId v) const {
  const Value& value = sink_.value(v);
  if (value.constant) return &*value.constant;
  const auto found = known_.find(v);
  return found == known_.end() ? nullptr : &found->second;
}

ValueId GraphBuilder::store(const std::string& what, Tensor tensor) {
  return sink_.add_constant(name_.empty() ? what : cat(name_, "/", what), std::move(tensor));
}

ValueId GraphBuilder::list(const std::vector<int64_t>& values) {
  return store("list", Tensor::of<int64_t>({static_cast<int64_t>(values.size())}, values));
}

ValueId GraphBuilder::number(float value) { return store("number", Tensor::scalar(value)); }

ValueId GraphBuilder::number(double value, DType dtype) {
  return store("number", convert(Tensor::scalar(value), dtype));
}

ValueId GraphBuilder::transpose(ValueId v, const std::vector<int64_t>& perm) {
  return emit("Transpose", {v}, {{"perm", perm}});
}

ValueId GraphBuilder::to_dtype(ValueId v, DType dtype) {
  return emit("Cast", {v}, {{"to", static_cast<int64_t>(dtype)}});
}

NewGraph::NewGraph(Graph graph) : GraphBuilder(static_cast<GraphSink&>(*this), ""), graph_(std::move(graph)) {
  infer_types(graph_);
  for (ValueId v = 0; v < graph_.value_count(); ++v) names_.insert(graph_.value(v).name);
}

ValueId NewGraph::add_value(const std::string& wanted) { return graph_.add_value(names_.take(wanted)); }

ValueId NewGraph::add_constant(const std::string& wanted, Tensor tensor) {
  return graph_.add_constant(names_.take(wanted), std::move(tensor));
}

ValueId NewGraph::input(const std::string& name, Type type) {
  const ValueId v = add_value(name);
  graph_.value(v).type = std::move(type);
  graph_.inputs.push_back(v);
  return v;
}

void NewGraph::output(ValueId v, const std::string& name) {
  if (!name.empty()) {
    if (graph_.is_input(v) || graph_.is_output(v) || graph_.constant(v) != nullptr) v = emit("Identity", {v});
    rename(v, name);
  }
  graph_.outputs.push_back(v);
}

void NewGraph::rename(ValueId v, const std::string& wanted) {
  if (graph_.value(v).name == wanted) return;
  names_.erase(graph_.value(v).name);
  rename_value(graph_, v, names_.take(wanted));
}

Graph NewGraph::finish() {
  remove_dead_nodes(graph_);
  verify(graph_);
  names_ = {};
  return std::move(graph_);
}

}  // namespace dnn
