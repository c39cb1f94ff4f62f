// Rows back into their places; see lift_rows.h.
#include "layout/lift_rows.h"

#include <algorithm>

#include "layout/settle.h"
#include "layout/trial.h"
#include "ops/op.h"

namespace dnn {
namespace {

bool is(const Node& node, std::string_view op) { return node.domain.empty() && node.op == op; }

bool is_rank(const Graph& graph, ValueId v, size_t rank) {
  const Type& type = graph.value(v).type;
  return type.shape && type.shape->size() == rank;
}

class Lifter {
 public:
  Lifter(Graph& graph, const Uses& uses, const std::vector<Types>& trials, NodeId reshape)
      : graph_(graph), uses_(uses), trials_(trials), reshape_(reshape) {}

  // Does all of it, or nothing.
  bool run() {
    for (const Types& types : trials_) {
      types_ = &types;
      path_.clear();
      inner_.clear();
      if (!enters() || !multiplies() || !leaves()) return false;
    }
    const ValueId last = path_.empty() ? product_out_ : graph_.node(path_.back()).outputs[0];
    const ValueId result = graph_.node(back_).outputs[0];
    for (ValueId v : inner_) graph_.value(v).type = with_rows(*shape(v), graph_.value(v).type.dtype);
    graph_.node(product_).inputs[0] = graph_.node(reshape_).inputs[0];
    graph_.remove_node(back_);
    if (is(graph_.node(product_), "Gemm")) split_gemm();
    replace_output(last, result);
    return true;
  }

 private:
  NodeId only_reader(ValueId v) const {
    const std::vector<NodeId>& readers = uses_.readers[v];
    return readers.size() == 1 && !graph_.is_output(v) ? readers[0] : -1;
  }

  const std::vector<Dim>* shape(ValueId v) const {
    const Type& type = (*types_)[v];
    return type.shape ? &*type.shape : nullptr;
  }

  // As far as it is known without a trial.
  Type with_rows(const std::vector<Dim>& row, DType dtype) const {
    const auto& x = graph_.value(graph_.node(reshape_).inputs[0]).type.shape;
    if (!x) return Type();
    std::vector<Dim> dims(x->begin(), x->end() - 1);
    dims.push_back(row.back());
    return {dtype, std::move(dims)};
  }

  // [..., C] to [rows, C].
  bool enters() {
    const Node& node = graph_.node(reshape_);
    const std::vector<Dim>*x = shape(node.inputs[0]), *y = shape(node.outputs[0]);
    if (x == nullptr || y == nullptr || x->size() < 3 || y->size() != 2 || !x->back().fixed() || x->back() != y->back())
      return false;
    rows_.assign(x->begin(), x->end() - 1);
    product_ = only_reader(node.outputs[0]);
    return product_ >= 0 && graph_.node(product_).inputs[0] == node.outputs[0];
  }

  bool multiplies() {
    const Node& node = graph_.node(product_);
    const Tensor* weight = graph_.constant(node.input(1));
    if (weight == nullptr || weight->rank() != 2 || graph_.is_input(node.inputs[1]) || !is_float(weight->dtype()))
      return false;
    product_out_ = node.outputs[0];
    inner_.push_back(product_out_);
    if (is(node, "MatMul")) return shape(product_out_) != nullptr;
    if (!is(node, "Gemm") || shape(product_out_) == nullptr || flag_attribute(node, "transA") ||
        float_attribute(node, "alpha") != 1 || float_attribute(node, "beta") != 1)
      return false;
    if (node.input(2) == kNoValue) return true;
    const Tensor* bias = graph_.constant(node.inputs[2]);
    return bias != nullptr && along_rows(*bias, shape(product_out_)->back().size);
  }

  // One number, or one for each place of a row.
  static bool along_rows(const Tensor& value, int64_t n) {
    return value.size() == 1 || (value.size() == n && value.shape().back() == n);
  }

  // What works on each element alike, then the Reshape back.
  bool leaves() {
    ValueId v = product_out_;
    for (int steps = 0; steps < 16; ++steps) {
      const NodeId next = only_reader(v);
      if (next < 0) return false;
      const Node& node = graph_.node(next);
      if (is(node, "Reshape")) {
        back_ = next;
        return node.inputs[0] == v && restores(node.outputs[0], shape(v)->back());
      }
      const OpDef* op = find_op(node.domain, node.op);
      if (!node.domain.empty() || op == nullptr || op->element == nullptr || node.outputs.size() != 1) return false;
      for (ValueId other : node.inputs) {
        if (other == kNoValue || other == v) continue;
        const Tensor* constant = graph_.constant(other);
        if (constant == nullptr || !along_rows(*constant, shape(v)->back().size) || constant->rank() > 2) return false;
      }
      if (shape(node.outputs[0]) == nullptr || shape(node.outputs[0])->size() != 2 ||
          shape(node.outputs[0])->back() != shape(v)->back())
        return false;
      v = node.outputs[0];
      inner_.push_back(v);
      path_.push_back(next);
    }
    return false;
  }

  // The rows stand where they stood: equal extents, of which one may be open.
  bool restores(ValueId v, const Dim& last) const {
    const std::vector<Dim>* y = shape(v);
    if (y == nullptr || y->size() != rows_.size() + 1 || y->back() != last) return false;
    int open = 0;
    for (size_t i = 0; i < rows_.size(); ++i) {
      if (rows_[i].fixed() != (*y)[i].fixed() || rows_[i].size != (*y)[i].size) return false;
      open += rows_[i].fixed() ? 0 : 1;
    }
    return open <= 1;
  }

  void split_gemm() {
    const Node gemm = graph_.node(product_);
    Node& product = graph_.node(product_);
    product.op = "MatMul";
    product.attributes.clear();
    product.inputs.resize(2);
    if (flag_attribute(gemm, "transB")) {
      const std::string name = graph_.value(gemm.inputs[1]).name;
      const ValueId turned =
          graph_.add_constant(graph_.unused_value_name(name), transposed(*graph_.constant(gemm.inputs[1]), {1, 0}));
      if (uses_.readers[gemm.inputs[1]].size() == 1 && !graph_.is_output(gemm.inputs[1]))
        std::swap(graph_.value(turned).name, graph_.value(gemm.inputs[1]).name);
      graph_.node(product_).inputs[1] = turned;
    }
    if (gemm.input(2) == kNoValue) return;
    const ValueId made = graph_.add_value(graph_.unused_value_name(graph_.value(product_out_).name + ".product"),
                                          graph_.value(product_out_).type);
    Node add;
    add.name = gemm.name;
    add.op = "Add";
    add.inputs = {made, gemm.inputs[2]};
    add.outputs = {product_out_};
    graph_.node(product_).outputs[0] = made;
    std::vector<NodeId> order;
    const std::vector<NodeId> before = graph_.order();
    const NodeId added = graph_.add_node(std::move(add));
    for (NodeId id : before) {
      order.push_back(id);
      if (id == product_) order.push_back(added);
    }
    graph_.set_order(std::move(order));
    if (path_.empty()) path_.push_back(added);
  }

  void replace_output(ValueId from, ValueId to) {
    const NodeId maker = path_.empty() ? product_ : path_.back();
    for (ValueId& v : graph_.node(maker).outputs) {
      if (v == from) v = to;
    }
    graph_.value(to).aliases.push_back(graph_.value(from).name);
  }

  Graph& graph_;
  const Uses& uses_;
  const std::vector<Types>& trials_;
  const Types* types_ = nullptr;
  const NodeId reshape_;
  std::vector<Dim> rows_;
  NodeId product_ = -1, back_ = -1;
  ValueId product_out_ = kNoValue;
  std::vector<NodeId> path_;
  std::vector<ValueId> inner_;  // values between the Reshapes
};

}  // namespace

void lift_rows(Graph& graph) {
  const std::vector<NodeId> before = graph.order();
  const bool any = std::any_of(before.begin(), before.end(), [&](NodeId id) {
    const Node& node = graph.node(id);
    return is(node, "Reshape") && (is_rank(graph, node.outputs[0], 2) || !graph.value(node.outputs[0]).type.shape);
  });
  if (!any) return;
  const std::vector<Types> trials = trials_of(graph);
  const Uses uses(graph);  // as of the start: no two of what is lifted share a node
  bool lifted = false;
  for (NodeId id : before) {
    if (!graph.alive(id) || !is(graph.node(id), "Reshape")) continue;
    lifted = Lifter(graph, uses, trials, id).run() || lifted;
  }
  if (!lifted) return;
  remove_dead_nodes(graph);
  infer_types(graph);
}

}  // namespace dnn
