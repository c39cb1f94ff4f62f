// Einsum as MatMul; see einsum_products.h.
#include "passes/einsum_products.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/locate.h"
#include "ops/equation.h"
#include "passes/steps.h"

namespace dnn {
namespace {

using Labels = std::vector<int>;

bool has_label(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

bool stays(const std::vector<int64_t>& perm) { return std::is_sorted(perm.begin(), perm.end()); }

class EinsumProduct {
 public:
  EinsumProduct(const Graph& graph, NodeId id)
      : graph_(graph),
        id_(id),
        node_(graph.node(id)),
        patch_(graph, label_in(graph, node_) + " as a product of matrices") {}

  std::optional<Patch> patch() {
    if (!read() || !group()) return std::nullopt;
    patch_.remove_node(id_);
    const ValueId left = arranged(0, {&batch_, &left_, &depth_}, ".left"),
                  right = arranged(1, {&batch_, &depth_, &right_}, ".right");
    Labels given = batch_;
    given.insert(given.end(), left_.begin(), left_.end());
    given.insert(given.end(), right_.begin(), right_.end());
    std::vector<int64_t> perm;
    for (const int label : output_) perm.push_back(std::find(given.begin(), given.end(), label) - given.begin());
    const bool joined = joins(left_) || right_.size() != 1, moved = !stays(perm);
    Steps steps(graph_, node_, left, &patch_);
    if (!joined && !moved) {
      steps.finish(Steps::made("MatMul"), {right});
      return std::move(patch_);
    }
    std::vector<Dim> product = extents(batch_);
    append(&product, rows(left_));
    product.push_back(joined_extent(right_));
    steps.step(Steps::made("MatMul"), {right}, product, ".product");
    const std::vector<Dim> apart = extents(given);
    const Shape shape = kept(apart, batch_.size() + (joins(left_) ? 0 : left_.size()));
    Node transpose = Steps::made("Transpose");
    transpose.attributes["perm"] = perm;
    if (joined && moved) steps.reshape(shape, apart, ".apart");
    if (moved) {
      steps.finish(transpose, {});
    } else {
      steps.finish(Steps::made("Reshape"), {steps.shape_constant(shape)});
    }
    return std::move(patch_);
  }

 private:
  // The operands, the constant one to the right, and the extent of each label.
  bool read() {
    if (!is_op(node_, "Einsum") || node_.inputs.size() != 2) return false;
    const DType dtype = graph_.value(node_.outputs[0]).type.dtype;
    if (dtype != DType::Float32 && dtype != DType::Float64) return false;
    std::vector<int64_t> ranks;
    for (const ValueId v : node_.inputs) {
      const Type& type = graph_.value(v).type;
      if (type.dtype != dtype || !type.shape) return false;
      ranks.push_back(static_cast<int64_t>(type.shape->size()));
    }
    const EinsumEquation equation(node_, ranks);
    output_ = equation.output;
    summed_ = equation.summed;
    std::vector<size_t> order = {0, 1};
    if (graph_.constant(node_.inputs[0]) != nullptr) std::swap(order[0], order[1]);
    for (const size_t i : order) {
      inputs_.push_back(node_.inputs[i]);
      labels_.push_back(equation.operands[i]);
      const std::vector<Dim>& dims = *graph_.value(inputs_.back()).type.shape;
      for (size_t axis = 0; axis < dims.size(); ++axis) {
        const int label = labels_.back()[axis];
        if (std::count(labels_.back().begin(), labels_.back().end(), label) > 1) return false;
        const auto [found, fresh] = extents_.try_emplace(label, dims[axis]);
        if (!fresh && found->second != dims[axis]) return false;
      }
    }
    return true;
  }

  bool group() {
    for (const int label : output_) {
      const bool a = has_label(labels_[0], label), b = has_label(labels_[1], label);
      (a && b ? batch_ : a ? left_ : right_).push_back(label);
    }
    for (const int label : summed_) {
      if (!has_label(labels_[0], label) || !has_label(labels_[1], label)) return false;
      depth_.push_back(label);
    }
    const auto known = [&](const Labels& labels) {
      return std::all_of(labels.begin(), labels.end(), [&](int label) { return extents_.at(label).fixed(); });
    };
    const auto one = [&](const Labels& labels) { return labels.size() == 1 || known(labels); };
    return !depth_.empty() && one(depth_) && one(right_) && (!joins(left_) || known(left_)) &&
           (right_.size() == 1 || known(right_));
  }

  // Rows of several axes stay so in front of one matrix; between matrices, and of vectors, they are one axis.
  bool joins(const Labels& left) const { return !batch_.empty() ? left.size() != 1 : left.empty(); }

  std::vector<Dim> extents(const Labels& labels) const {
    std::vector<Dim> result;
    for (const int label : labels) result.push_back(extents_.at(label));
    return result;
  }
  Dim joined_extent(const Labels& labels) const {
    if (labels.size() == 1) return extents_.at(labels[0]);
    int64_t size = 1;
    for (const int label : labels) size *= extents_.at(label).size;
    return Dim(size);
  }
  std::vector<Dim> rows(const Labels& left) const {
    return joins(left) ? std::vector<Dim>{joined_extent(left)} : extents(left);
  }
  static void append(std::vector<Dim>* to, const std::vector<Dim>& more) {
    to->insert(to->end(), more.begin(), more.end());
  }

  // As a Reshape takes them: 0 for the first, which stay where they are.
  static Shape kept(const std::vector<Dim>& dims, size_t first) {
    Shape shape;
    for (size_t i = 0; i < dims.size(); ++i) shape.push_back(i < first ? 0 : dims[i].size);
    return shape;
  }

  // An operand with the axes of the groups behind one another, each of the last two as one axis.
  ValueId arranged(size_t which, const std::vector<const Labels*>& groups, std::string_view what) {
    Labels order;
    for (const Labels* group : groups) order.insert(order.end(), group->begin(), group->end());
    std::vector<int64_t> perm;
    for (const int label : order)
      perm.push_back(std::find(labels_[which].begin(), labels_[which].end(), label) - labels_[which].begin());
    std::vector<Dim> joined = extents(batch_);
    append(&joined, which == 0 ? rows(left_) : std::vector<Dim>{joined_extent(depth_)});
    joined.push_back(joined_extent(which == 0 ? depth_ : right_));
    const bool apart = joined.size() != order.size();
    const size_t first = batch_.size() + (which == 0 && !joins(left_) ? left_.size() : 0);
    if (const Tensor* constant = graph_.constant(inputs_[which])) {
      const Tensor turned = stays(perm) ? *constant : constant->transposed(perm);
      if (!apart && stays(perm)) return inputs_[which];
      Shape shape;
      for (const Dim& dim : joined) shape.push_back(dim.size);
      return patch_.add_constant(cat(graph_.value(inputs_[which]).name, ".matrix"), turned.reshaped(shape));
    }
    Steps steps(graph_, node_, inputs_[which], &patch_);
    if (!stays(perm)) {
      Node transpose = Steps::made("Transpose");
      transpose.attributes["perm"] = perm;
      steps.step(transpose, {}, extents(order), cat(what, "_turned"));
    }
    if (apart) steps.reshape(kept(joined, first), joined, cat(what, "_joined"));
    return steps.last();
  }

  const Graph& graph_;
  const NodeId id_;
  const Node& node_;
  Patch patch_;
  std::vector<ValueId> inputs_;
  std::vector<Labels> labels_;
  Labels output_, summed_;
  std::map<int, Dim> extents_;
  // In both and in the result; in one and in the result; in both and added up.
  Labels batch_, left_, right_, depth_;
};

}  // namespace

std::optional<Patch> einsum_as_product(const Graph& graph, NodeId id) { return EinsumProduct(graph, id).patch(); }

}  // namespace dnn
