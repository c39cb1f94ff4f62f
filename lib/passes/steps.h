// Nodes one behind another in place of one, as passes write an operator in simpler ones.
#pragma once
#include <string_view>
#include <utility>
#include <vector>

#include "graph/patch.h"
#include "passes/match.h"

namespace dnn {

// The first input of each node is what the one in front of it makes. Values are of the dtype of the node's result, and named after it. All must
// outlive the steps.
class Steps {
 public:
  Steps(const Graph& graph, const Node& node, ValueId from, Patch* patch)
      : graph_(graph), node_(node), patch_(*patch), x_(from) {}

  ValueId last() const { return x_; }
  ValueId constant(const Tensor& tensor, std::string_view what) {
    return patch_.add_constant(cat(name(), what), tensor);
  }
  ValueId shape_constant(const Shape& shape) {
    return constant(Tensor::of<int64_t>({static_cast<int64_t>(shape.size())}, shape), ".shape");
  }
  // Extents that are 0 in `shape` stay as they are.
  void reshape(const Shape& shape, const std::vector<Dim>& dims, std::string_view what) {
    step(made("Reshape"), {shape_constant(shape)}, dims, what);
  }
  void reshape(const Shape& shape, std::string_view what) { reshape(shape, {shape.begin(), shape.end()}, what); }
  void step(Node node, const std::vector<ValueId>& more, const std::vector<Dim>& dims, std::string_view what) {
    const ValueId result = patch_.add_value(cat(name(), what), Type(graph_.value(node_.outputs[0]).type.dtype, dims));
    place(std::move(node), more, result, what);
    x_ = result;
  }
  void step(Node node, const std::vector<ValueId>& more, const Shape& shape, std::string_view what) {
    step(std::move(node), more, std::vector<Dim>(shape.begin(), shape.end()), what);
  }
  // The last one, which makes what the node made.
  void finish(Node node, const std::vector<ValueId>& more) { place(std::move(node), more, node_.outputs[0], ""); }

  static Node made(std::string_view op, std::string_view domain = "") {
    Node node;
    node.op = op;
    node.domain = domain;
    return node;
  }

 private:
  const std::string& name() const { return graph_.value(node_.outputs[0]).name; }
  void place(Node node, const std::vector<ValueId>& more, ValueId result, std::string_view what) {
    node.name = cat(node_.name, what);
    node.inputs = {x_};
    node.inputs.insert(node.inputs.end(), more.begin(), more.end());
    node.outputs = {result};
    node.sources = sources_of(node_);
    patch_.add_node(std::move(node));
  }

  const Graph& graph_;
  const Node& node_;
  Patch& patch_;
  ValueId x_;
};

}  // namespace dnn
