// Comparing parameters; see parameters.h.
#include "localize/parameters.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "localize/attributes.h"
#include "ops/movement.h"
#include "tensor/compare.h"

namespace dnn {
namespace {

constexpr int kMaxTriedRank = 5;  // of weights whose axis orders are tried

bool numeric(const Tensor& tensor) {
  return is_float(tensor.dtype()) || is_integer(tensor.dtype()) || tensor.dtype() == DType::Bool;
}

bool within(const Distance& d, const ParameterTolerance& tolerance) {
  return d.max_abs <= tolerance.atol + tolerance.rtol * d.largest;
}

Tensor permuted(const Tensor& tensor, const std::vector<size_t>& order) {
  const std::vector<int64_t> strides = row_major_strides(tensor.shape());
  Shape shape;
  for (size_t axis : order) shape.push_back(tensor.shape()[axis]);
  return pick(tensor, shape, [&](size_t axis, int64_t i) { return i * strides[order[axis]]; });
}

Tensor reversed(const Tensor& tensor, const std::vector<size_t>& axes) {
  const std::vector<int64_t> strides = row_major_strides(tensor.shape());
  return pick(tensor, tensor.shape(), [&](size_t axis, int64_t i) {
    const bool turn = std::find(axes.begin(), axes.end(), axis) != axes.end();
    return (turn ? tensor.shape()[axis] - 1 - i : i) * strides[axis];
  });
}

// Shapes are equal here.
std::string relation_of_elements(const Tensor& source, const Tensor& target, const ParameterTolerance& tolerance) {
  if (within(compare(source, target), tolerance)) return "same";
  const size_t rank = source.rank();
  if (rank >= 3) {
    std::vector<size_t> spatial(rank - 2);
    std::iota(spatial.begin(), spatial.end(), size_t{2});
    if (within(compare(source, reversed(target, spatial)), tolerance)) return "kernel rotated by 180 degrees";
  }
  if (rank >= 2 && within(compare(source, reversed(target, {1})), tolerance)) return "channels reversed";
  return "different";
}

ParameterDifference node_difference(size_t layer, const Node& node) {
  ParameterDifference d;
  d.layer = layer;
  d.node = node.name;
  return d;
}

void compare_attributes(size_t layer, const Graph& source, const Node& a, const Graph& target, const Node& b,
                        std::vector<ParameterDifference>* out) {
  for (const AttributeDifference& found : attribute_differences(source, a, target, b)) {
    ParameterDifference d = node_difference(layer, a);
    d.source = d.target = found.key;
    d.relation = found.source + " | " + found.target;
    out->push_back(std::move(d));
  }
}

}  // namespace

std::string parameter_relation(const Tensor& source, const Tensor& target, const ParameterTolerance& tolerance) {
  if (source.size() != target.size()) return "of another size";
  if (source.size() == 0) return "";
  if (!numeric(source) || !numeric(target)) return source.identical(target) ? "" : "different";
  const int rank = source.rank();
  if (rank != target.rank() || rank > kMaxTriedRank)
    return within(compare(source, target), tolerance) ? "" : "different";
  std::string found;
  if (source.shape() == target.shape()) {
    found = relation_of_elements(source, target, tolerance);
    if (found != "different") return found == "same" ? "" : found;
  }
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  while (std::next_permutation(order.begin(), order.end())) {
    bool fits = true;
    for (size_t i = 0; i < order.size(); ++i) fits = fits && target.shape()[order[i]] == source.shape()[i];
    if (!fits) continue;
    found = relation_of_elements(source, permuted(target, order), tolerance);
    if (found == "same") return "axes permuted";
    if (found != "different") return "axes permuted, " + found;
  }
  return "different";
}

std::vector<ParameterDifference> compare_parameters(const Graph& source, const std::vector<Layer>& source_layers,
                                                    const Graph& target, const std::vector<Layer>& target_layers,
                                                    const std::vector<LayerPair>& pairs,
                                                    const ParameterTolerance& tolerance, int64_t* n_compared) {
  const Uses source_uses(source), target_uses(target);
  const auto producer = [](const Graph& graph, const Uses& uses, const std::string& value) -> NodeId {
    const ValueId id = graph.find_value(value);
    return id == kNoValue ? -1 : uses.producer[id];
  };
  std::vector<ParameterDifference> out;
  std::set<NodeId> seen;
  for (const LayerPair& pair : pairs) {
    const NodeId a_id = producer(source, source_uses, source_layers[pair.source].name);
    const NodeId b_id = producer(target, target_uses, target_layers[pair.target].name);
    if (a_id < 0 || b_id < 0 || !seen.insert(a_id).second) continue;
    const Node &a = source.node(a_id), &b = target.node(b_id);
    if (a.op != b.op || a.domain != b.domain) continue;
    for (size_t i = 0; i < std::max(a.inputs.size(), b.inputs.size()); ++i) {
      const Tensor *left = source.constant(a.input(i)), *right = target.constant(b.input(i));
      // A computed operand has no parameter to compare.
      if (left == nullptr && (right == nullptr || a.input(i) != kNoValue)) continue;
      if (right == nullptr && b.input(i) != kNoValue) continue;
      ParameterDifference d = node_difference(pair.source, a);
      d.input = static_cast<int>(i);
      if (left != nullptr) {
        d.source = source.value(a.input(i)).name;
        d.source_shape = left->shape();
      }
      if (right != nullptr) {
        d.target = target.value(b.input(i)).name;
        d.target_shape = right->shape();
      }
      if (left == nullptr || right == nullptr) {
        d.relation = right == nullptr ? "only in the source" : "only in the target";
        out.push_back(std::move(d));
        continue;
      }
      ++*n_compared;
      d.relation = parameter_relation(*left, *right, tolerance);
      if (d.relation.empty()) continue;
      if (left->size() == right->size() && numeric(*left) && numeric(*right))
        d.max_abs = compare(*left, *right).max_abs;
      out.push_back(std::move(d));
    }
    compare_attributes(pair.source, source, a, target, b, &out);
  }
  return out;
}

}  // namespace dnn
