// Definitions of operators in simpler ones, as decompose() applies them.
#pragma once
#include <string>
#include <vector>

#include "graph/patch.h"
#include "ops/attributes.h"
#include "ops/build.h"
#include "ops/op.h"

namespace dnn {

// A node in others, under construction.
class Decomposition {
 public:
  Decomposition(const Graph& graph, Patch& patch, const Node& node)
      : graph_(graph), node_(node), sink_(graph, patch), build_(sink_, node.name) {}

  const Node& node() const { return node_; }
  ValueId x() const { return node_.inputs[0]; }
  const Type& type() const { return graph_.value(x()).type; }
  bool has_rank() const { return type().shape.has_value(); }
  int64_t rank() const { return static_cast<int64_t>(type().shape->size()); }
  const Tensor* constant(size_t input) const { return graph_.constant(node_.input(input)); }

  ValueId number(double value) { return build_.number(value, graph_.value(x()).type.dtype); }
  ValueId list(const std::vector<int64_t>& values) { return build_.list(values); }
  ValueId store(const std::string& what, Tensor tensor) { return build_.store(what, std::move(tensor)); }
  ValueId to_dtype(ValueId v, DType dtype) { return build_.to_dtype(v, dtype); }
  Shape shape(ValueId v) const { return build_.shape(v); }
  const Type& type_of(ValueId v) const { return build_.type(v); }
  bool fixed(size_t input) const {
    return node_.input(input) != kNoValue && graph_.value(node_.input(input)).type.fixed();
  }
  DType dtype(size_t input) const { return graph_.value(node_.input(input)).type.dtype; }
  ValueId emit(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    return add(op, std::move(inputs), std::move(attributes), {});
  }
  // The last of them, which makes what the node did.
  void end(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    end(op, std::move(inputs), std::move(attributes), {node_.outputs[0]});
  }
  void end(const std::string& op, std::vector<ValueId> inputs, Attributes attributes, std::vector<ValueId> outputs) {
    add(op, std::move(inputs), std::move(attributes), std::move(outputs));
  }
  ValueId fresh(const std::string& name) { return sink_.add_value(cat(node_.name, "/", name)); }

 private:
  ValueId add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes, std::vector<ValueId> outputs) {
    Node made;
    made.op = op;
    made.name = node_.name.empty() || !outputs.empty() ? node_.name : cat(node_.name, "/", op);
    made.inputs = std::move(inputs);
    made.attributes = std::move(attributes);
    made.outputs = std::move(outputs);
    made.sources = node_.sources.empty() ? std::vector<std::string>{node_.name} : node_.sources;
    return build_.add(std::move(made), {cat(node_.name, "/", op)})[0];
  }

  const Graph& graph_;
  const Node& node_;
  PatchSink sink_;
  GraphBuilder build_;
};

// A definition of an operator; false, and nothing said: this node has none in simpler ones.
struct Definition {
  const char* op;
  bool (*apply)(Decomposition&);
};

// Those of operators that move or choose elements, of recurrent layers, of scatters, of transforms and
// attention, and of detectors.
const std::vector<Definition>& moving_definitions();
const std::vector<Definition>& recurrent_definitions();
const std::vector<Definition>& scatter_definitions();
const std::vector<Definition>& transform_definitions();
const std::vector<Definition>& detection_definitions();

}  // namespace dnn
