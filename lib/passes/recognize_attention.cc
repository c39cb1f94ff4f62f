// recognize-attention: the heads of scaled dot-product attention that a model splits, mixes and joins become one Attention of [batch,
// sequence, features], and the dense layer that made queries, keys and values at once becomes three.
#include "graph/locate.h"
#include "layout/settle.h"
#include "ops/movement.h"
#include "passes/attention_parts.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

ValueId step(Patch& patch, const std::string& op, std::vector<ValueId> inputs, const std::string& name,
             const std::string& value, Attributes attributes = {}) {
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = std::move(inputs);
  const ValueId y = patch.add_value(value, {});
  node.outputs = {y};
  node.attributes = std::move(attributes);
  patch.add_node(std::move(node));
  return y;
}

// Columns of a matrix [in, out], or entries of a row, in that order; the constant itself where that is all of it.
Tensor chosen(const Tensor& tensor, const std::vector<int64_t>& columns) {
  Shape to = tensor.shape();
  to.back() = static_cast<int64_t>(columns.size());
  const std::vector<int64_t> stride = row_major_strides(tensor.shape());
  const size_t last = tensor.shape().size() - 1;
  return pick(tensor, to, [&](size_t axis, int64_t i) { return (axis == last ? columns[i] : i) * stride[axis]; });
}

bool is_identity(const std::vector<int64_t>& columns, int64_t n) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] != static_cast<int64_t>(i)) return false;
  }
  return static_cast<int64_t>(columns.size()) == n;
}

class AttentionWriter {
 public:
  AttentionWriter(const Graph& graph, const Uses& uses, const Types& types, AttentionParts parts)
      : graph_(graph), uses_(uses), types_(types), parts_(std::move(parts)) {}

  // The patch that puts one Attention in place of the parts, or nothing where a projection's rows cannot be told apart.
  std::optional<Patch> patch() const {
    const Node& softmax = graph_.node(parts_.softmax);
    Patch patch(graph_, label_in(graph_, softmax) + " and what splits and joins its heads are Attention");
    const std::vector<NodeId>& joining = parts_.joined.nodes;
    Node attention;
    attention.op = "Attention";
    attention.name = softmax.name.empty() ? graph_.value(softmax.outputs[0]).name : softmax.name;
    const std::string name = attention.name;
    attention.attributes = {
        {"q_num_heads", parts_.heads}, {"kv_num_heads", parts_.heads}, {"scale", static_cast<float>(parts_.scale)}};
    attention.inputs = {projected(patch, parts_.query, name + "/query"), projected(patch, parts_.key, name + "/key"),
                        projected(patch, parts_.value, name + "/value")};
    if (std::count(attention.inputs.begin(), attention.inputs.end(), kNoValue) != 0) return std::nullopt;
    for (NodeId id : {parts_.softmax, parts_.product, parts_.mix}) attention.sources.push_back(graph_.node(id).name);
    finish(patch, std::move(attention), parts_.joined, parts_.heads * parts_.value_size);
    patch.remove_node(parts_.softmax);
    patch.remove_node(parts_.mix);
    for (NodeId id : joining) patch.remove_node(id);
    patch.place_at(joining.empty() ? parts_.mix : joining.back());
    return patch;
  }

 private:
  std::vector<int64_t> shape(ValueId v) const { return extents_of(types_, v); }

  // The dense layer of [batch, sequence, features] for queries, keys or values alone.
  ValueId projected(Patch& patch, const HeadProjection& p, const std::string& name) const {
    ValueId x = p.x;
    const auto known = shape(x);
    if (p.sequence_first)
      x = step(patch, "Transpose", {x}, name + "/batch", name + "/batch", {{"perm", std::vector<int64_t>{1, 0, 2}}});
    if (known.size() == 2) {
      const NodeId maker = uses_.producer[x];
      const ValueId before =
          maker >= 0 && is_op(graph_.node(maker), "Reshape") ? graph_.node(maker).inputs[0] : kNoValue;
      if (before == kNoValue || shape(before).size() != 3 || shape(before).back() != known.back()) return kNoValue;
      x = before;
    }
    Tensor weight = *graph_.constant(p.weight);
    if (p.turned) weight = transposed(weight, {1, 0});
    const bool all = is_identity(p.columns, weight.dim(1));
    const ValueId matrix =
        all && !p.turned ? p.weight : patch.add_constant(part(p.weight, name), chosen(weight, p.columns));
    if (p.bias == kNoValue) return step(patch, "MatMul", {x, matrix}, name, name);
    const ValueId y = step(patch, "MatMul", {x, matrix}, name, name + "/MatMul");
    const Tensor row = graph_.constant(p.bias)->reshaped({weight.dim(1)});
    const bool same = all && graph_.constant(p.bias)->rank() == 1;
    return step(patch, "Add", {y, same ? p.bias : patch.add_constant(part(p.bias, name), chosen(row, p.columns))}, name,
                name);
  }

  // "qkv.weight" for the queries: "qkv.weight/query".
  std::string part(ValueId constant, const std::string& name) const {
    return graph_.value(constant).name + name.substr(name.rfind('/'));
  }

  // The Attention in place of what joined the heads, in the order and shape that was read of it.
  void finish(Patch& patch, Node attention, const JoinedHeads& joined, int64_t row) const {
    const size_t rank = shape(joined.value).size();
    if (rank == 3 && !joined.sequence_first) {
      attention.outputs = {joined.value};
      return patch.add_node(std::move(attention));
    }
    const std::string name = attention.name;
    const auto turned = [](Node node, ValueId from, ValueId to) {
      node.op = "Transpose";
      node.inputs = {from};
      node.outputs = {to};
      node.attributes["perm"] = std::vector<int64_t>{1, 0, 2};
      return node;
    };
    ValueId made = patch.add_value(name, {});
    attention.outputs = {made};
    patch.add_node(std::move(attention));
    Node last;
    last.name = name + "/join";
    if (rank == 3) return patch.add_node(turned(last, made, joined.value));
    if (joined.sequence_first) {
      const ValueId sequence = patch.add_value(name + "/sequence", {});
      patch.add_node(turned(last, made, sequence));
      made = sequence;
    }
    last.op = "Reshape";
    last.inputs = {made, patch.add_constant(name + "/rows", Tensor::of<int64_t>({2}, {-1, row}))};
    last.outputs = {joined.value};
    patch.add_node(std::move(last));
  }

  const Graph& graph_;
  const Uses& uses_;
  const Types& types_;
  const AttentionParts parts_;
};

}  // namespace

std::vector<Patch> recognize_attention(const Graph& graph, const PassContext&) {
  std::vector<NodeId> softmaxes;
  for (NodeId id : graph.order()) {
    if (is_op(graph.node(id), "Softmax")) softmaxes.push_back(id);
  }
  std::vector<Patch> patches;
  if (softmaxes.empty()) return patches;
  const Uses uses(graph);
  const std::vector<Types> trials = trials_of(graph);
  for (NodeId id : softmaxes) {
    std::optional<Patch> found;
    for (const Types& types : trials) {
      found.reset();
      std::optional<AttentionParts> parts = find_attention(graph, uses, types, id);
      if (parts) found = AttentionWriter(graph, uses, types, std::move(*parts)).patch();
      if (!found) break;
    }
    if (found) patches.push_back(std::move(*found));
  }
  return patches;
}

}  // namespace dnn
