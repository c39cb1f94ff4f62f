// Flattening in another order; see fold_flatten.h.
#include "layout/fold_flatten.h"

#include <algorithm>
#include <map>
#include <set>

#include "layout/axis_blocks.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace dnn {
namespace {

// `tensor` with the elements along `axis` in another order: element i is the one that was at from[i].
Tensor rearranged(const Tensor& tensor, size_t axis, const std::vector<int64_t>& from) {
  const std::vector<int64_t> stride = row_major_strides(tensor.shape());
  return pick(tensor, tensor.shape(), [&](size_t at, int64_t i) { return (at == axis ? from[i] : i) * stride[at]; });
}

class Folder {
 public:
  Folder(Graph& graph, const Uses& uses, NodeId flatten) : graph_(graph), uses_(uses), flatten_(flatten) {}

  // Does the whole fold, or nothing. Constants in `touched` are left for another round; those that change join them.
  bool run(std::set<ValueId>* touched) {
    const Node& reshape = graph_.node(flatten_);
    const NodeId before = uses_.producer[reshape.inputs[0]];
    if (before < 0 || graph_.node(before).op != "Transpose" || !graph_.node(before).domain.empty()) return false;
    const ValueId x = graph_.node(before).inputs[0], t = reshape.inputs[0];
    if (uses_.readers[t].size() != 1 || graph_.is_output(t)) return false;
    const Type& type = graph_.value(x).type;
    const size_t rank = type.shape ? type.shape->size() : 0;
    if (!find_order(reshape, transpose_permutation(graph_.node(before), rank)) || !follow(reshape.outputs[0]))
      return false;
    for (const auto& [v, axis] : constants_) {
      if (graph_.is_input(v) || graph_.is_output(v) || touched->count(v) != 0) return false;
    }
    for (const auto& [v, axis] : constants_) touched->insert(v);
    for (const Change& change : changes_) {
      ValueId& input = graph_.node(change.node).inputs[change.input];
      input = reordered(input, change.axis);
    }
    retarget(x);
    return true;
  }

 private:
  struct Change {  // input `input` of a node is a constant whose elements along `axis` move
    NodeId node;
    size_t input, axis;
  };

  // The Transpose leaves all axes in place but those of one block, which becomes the output's last axis.
  bool find_order(const Node& reshape, const std::vector<int64_t>& perm) {
    const Type &t = graph_.value(reshape.inputs[0]).type, &y = graph_.value(reshape.outputs[0]).type;
    if (!t.shape || !y.shape || perm.size() != t.shape->size()) return false;
    const auto blocks = AxisBlocks::of(*t.shape, *y.shape);
    if (!blocks || blocks->blocks.empty()) return false;
    const AxisBlocks::Block& merged = blocks->blocks.back();
    if (merged.out != std::vector<int64_t>{static_cast<int64_t>(y.shape->size()) - 1}) return false;
    Shape extents;  // of the block's axes, in the Transpose's output
    for (size_t i = 0; i < perm.size(); ++i) {
      const bool inside = std::count(merged.in.begin(), merged.in.end(), static_cast<int64_t>(i)) != 0;
      const Dim& dim = (*t.shape)[i];
      if (!inside && perm[i] != static_cast<int64_t>(i) && !(dim.fixed() && dim.size == 1)) return false;
      if (inside && !dim.fixed()) return false;
      if (inside) extents.push_back(dim.size);
    }
    // The strides of x's axes, of this block only, seen in the Transpose's order.
    std::vector<int64_t> axes = merged.in, strides(merged.in.size());
    std::sort(axes.begin(), axes.end(), [&](int64_t a, int64_t b) { return perm[a] < perm[b]; });
    int64_t stride = 1;
    for (size_t i = axes.size(); i-- > 0;) {
      const size_t at = std::find(merged.in.begin(), merged.in.end(), axes[i]) - merged.in.begin();
      strides[at] = stride;
      stride *= extents[at];
    }
    from_.assign(element_count(extents), 0);
    std::vector<int64_t> index(extents.size(), 0);
    for (int64_t old = 0; old < element_count(extents); ++old) {
      int64_t now = 0;
      for (size_t i = 0; i < index.size(); ++i) now += index[i] * strides[i];
      from_[now] = old;
      for (size_t i = index.size(); i-- > 0 && ++index[i] == extents[i];) index[i] = 0;
    }
    return true;
  }

  bool single(ValueId v) const {
    const Tensor* tensor = graph_.constant(v);
    return tensor != nullptr && tensor->size() == 1;
  }

  // Everything that reads `v`, down to the dense layers; false where an order is seen.
  bool follow(ValueId v) {
    if (graph_.is_output(v) || ++followed_ > kMaxFollowed) return false;
    const std::vector<NodeId>& readers = uses_.readers[v];
    return std::all_of(readers.begin(), readers.end(), [&](NodeId id) { return pass_through(id, v); });
  }

  bool pass_through(NodeId id, ValueId v) {
    const Node& node = graph_.node(id);
    if (!node.domain.empty() || !captured_values(graph_, node).empty()) return false;
    if (node.op == "Gemm" || node.op == "MatMul") return dense(id, v);
    const OpDef* op = find_op(node.domain, node.op);
    if (node.op == "Identity" || (node.op == "Dropout" && node.output(1) == kNoValue)) return follow(node.outputs[0]);
    const bool quantises = node.op == "QuantizeLinear" || node.op == "DequantizeLinear";
    const bool alike = op != nullptr && (op->element != nullptr || quantises);
    if (!alike || node.outputs.size() != 1 || graph_.value(node.outputs[0]).type.shape != graph_.value(v).type.shape)
      return false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId other = node.inputs[i];
      if (other == kNoValue || other == v || single(other)) continue;
      if (quantises || !along_last(id, i, v)) return false;
    }
    return follow(node.outputs[0]);
  }

  // A constant operand with one number for each element of a row.
  bool along_last(NodeId id, size_t i, ValueId v) {
    const ValueId other = graph_.node(id).inputs[i];
    const Tensor* tensor = graph_.constant(other);
    const size_t rank = graph_.value(v).type.shape->size();
    if (tensor == nullptr || tensor->rank() < 1 || tensor->shape().size() > rank ||
        tensor->dim(tensor->rank() - 1) != static_cast<int64_t>(from_.size()))
      return false;
    return change(id, i, static_cast<size_t>(tensor->rank()) - 1);
  }

  bool dense(NodeId id, ValueId v) {
    const Node& node = graph_.node(id);
    const bool gemm = node.op == "Gemm";
    if (node.inputs[0] != v || node.inputs[1] == v || node.input(2) == v) return false;
    if (gemm && flag_attribute(node, "transA")) return false;
    const size_t axis = gemm && flag_attribute(node, "transB") ? 1 : 0;
    if (graph_.constant(node.inputs[1]) != nullptr) return weight(id, 1, axis);
    const NodeId made = uses_.producer[node.inputs[1]];  // or its dequantisation
    if (made < 0 || graph_.node(made).op != "DequantizeLinear" || !graph_.node(made).domain.empty()) return false;
    const Node& dequantize = graph_.node(made);
    for (size_t i = 1; i < dequantize.inputs.size(); ++i) {
      const ValueId q = dequantize.inputs[i];
      if (q == kNoValue || single(q)) continue;
      int64_t along = int_attribute(dequantize, "axis");
      if (along < 0) along += 2;
      if (graph_.constant(q) == nullptr || along == static_cast<int64_t>(axis)) return false;
    }
    const bool alone = uses_.readers[dequantize.outputs[0]].size() == 1 && !graph_.is_output(dequantize.outputs[0]);
    return alone && weight(made, 0, axis);
  }

  bool weight(NodeId id, size_t input, size_t axis) {
    const Tensor* tensor = graph_.constant(graph_.node(id).inputs[input]);
    if (tensor == nullptr || tensor->rank() != 2 ||
        tensor->dim(static_cast<int>(axis)) != static_cast<int64_t>(from_.size()))
      return false;
    return change(id, input, axis);
  }

  bool change(NodeId id, size_t input, size_t axis) {
    changes_.push_back({id, input, axis});
    constants_.emplace_back(graph_.node(id).inputs[input], axis);
    return true;
  }

  // The constant in the new order: in place where only changed inputs read it, else a new one.
  ValueId reordered(ValueId v, size_t axis) {
    const auto key = std::make_pair(v, axis);
    const auto found = made_.find(key);
    if (found != made_.end()) return found->second;
    Tensor tensor = rearranged(*graph_.constant(v), axis, from_);
    const auto mine = std::count(constants_.begin(), constants_.end(), key);
    int64_t reads = 0;
    for (NodeId id : uses_.readers[v]) {
      const Node& node = graph_.node(id);
      reads += std::max<int64_t>(1, std::count(node.inputs.begin(), node.inputs.end(), v));
    }
    ValueId result = v;
    if (reads == mine) {
      graph_.value(v).constant = std::move(tensor);
    } else {
      result = graph_.add_constant(graph_.unused_value_name(graph_.value(v).name + ".reordered"), std::move(tensor));
    }
    return made_[key] = result;
  }

  // The flattening node reads `x` instead.
  void retarget(ValueId x) {
    Node& node = graph_.node(flatten_);
    node.inputs[0] = x;
    if (node.op == "Flatten") return;
    const Tensor* shape = node.op == "Reshape" ? graph_.constant(node.input(1)) : nullptr;
    if (shape != nullptr) {
      const std::vector<int64_t> extents = to_int64s(*shape);
      const bool copies = std::find(extents.begin() + std::min<std::ptrdiff_t>(1, shape->size()), extents.end(), 0) !=
                          extents.end();  // the first axis has not moved
      if (!copies) return;
    }
    std::vector<int64_t> extents;
    for (const Dim& dim : *graph_.value(node.outputs[0]).type.shape) extents.push_back(dim.fixed() ? dim.size : -1);
    const ValueId list = graph_.add_constant(graph_.unused_value_name(graph_.value(node.outputs[0]).name + ".extents"),
                                             Tensor::of<int64_t>({static_cast<int64_t>(extents.size())}, extents));
    Node& again = graph_.node(flatten_);
    again.op = "Reshape";
    again.attributes.clear();
    again.inputs = {x, list};
  }

  static constexpr int kMaxFollowed = 64;  // values behind one flattening; more are not a classifier's head

  Graph& graph_;
  const Uses& uses_;
  const NodeId flatten_;
  std::vector<int64_t> from_;  // by place in x's order: the place in the Transpose's
  std::vector<Change> changes_;
  std::vector<std::pair<ValueId, size_t>> constants_;
  std::map<std::pair<ValueId, size_t>, ValueId> made_;
  int followed_ = 0;
};

}  // namespace

void fold_flattens(Graph& graph) {
  constexpr int kMaxRounds = 8;  // several for a weight that several layers share
  bool folded = true;
  for (int round = 0; folded && round < kMaxRounds; ++round) {
    folded = false;
    const Uses uses(graph);
    std::set<ValueId> touched;
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      if (!node.domain.empty() || (node.op != "Reshape" && node.op != "Flatten")) continue;
      folded = Folder(graph, uses, id).run(&touched) || folded;
    }
  }
}

}  // namespace dnn
