// Idioms of TensorFlow's layers; see idioms.h.
#include "formats/tensorflow/idioms.h"
#include "ops/movement.h"

#include <algorithm>
#include <optional>

namespace dnn::tensorflow {
namespace {

// The one node that reads a value; -1 where there are others, or it is an output.
NodeId only_reader(const Graph& graph, const Uses& uses, ValueId v) {
  const std::vector<NodeId>& readers = uses.readers[v];
  return readers.size() == 1 && !graph.is_output(v) ? readers[0] : -1;
}

// What a folded constant was made from, by an operator of two operands or one; null where it was another.
const Source::Made* made_by(const Source& source, ValueId v, const char* op) {
  const auto found = source.made.find(v);
  return found == source.made.end() || found->second.op != op ? nullptr : &found->second;
}

struct Normalization {
  ValueId x = kNoValue, scale = kNoValue, offset = kNoValue, mean = kNoValue, variance = kNoValue;
  float epsilon = 0;
};

// factor = scale / sqrt(variance + epsilon), or without scale.
bool match_factor(const Source& source, ValueId factor, Normalization* n) {
  ValueId inverse = factor;
  if (const Source::Made* product = made_by(source, factor, "Mul")) {
    const bool first = made_by(source, product->inputs[0], "Reciprocal") != nullptr;
    inverse = product->inputs[first ? 0 : 1];
    n->scale = product->inputs[first ? 1 : 0];
  }
  const Source::Made* reciprocal = made_by(source, inverse, "Reciprocal");
  const Source::Made* root = reciprocal == nullptr ? nullptr : made_by(source, reciprocal->inputs[0], "Sqrt");
  const Source::Made* sum = root == nullptr ? nullptr : made_by(source, root->inputs[0], "Add");
  if (sum == nullptr) return false;
  const Tensor* epsilon = source.draft.graph.constant(sum->inputs[1]);
  if (epsilon == nullptr || epsilon->size() != 1) return false;
  n->variance = sum->inputs[0];
  n->epsilon = static_cast<float>(to_doubles(*epsilon)[0]);
  return true;
}

// term = offset - mean * factor, or (-mean) * factor.
bool match_term(const Source& source, ValueId term, ValueId factor, Normalization* n) {
  const Source::Made* difference = made_by(source, term, "Sub");
  const Source::Made* product = made_by(source, difference == nullptr ? term : difference->inputs[1], "Mul");
  if (product == nullptr) return false;
  const auto other = product->inputs[0] == factor ? product->inputs[1] : product->inputs[0];
  if (product->inputs[0] != factor && product->inputs[1] != factor) return false;
  n->mean = other;
  if (difference != nullptr) {
    n->offset = difference->inputs[0];
    return true;
  }
  const Source::Made* negative = made_by(source, other, "Neg");
  if (negative == nullptr) return false;
  n->mean = negative->inputs[0];
  return true;
}

bool match(const Source& source, const Uses& uses, NodeId add, Normalization* n) {
  const Graph& graph = source.draft.graph;
  for (size_t i : {0, 1}) {
    const ValueId product = graph.node(add).inputs[i], term = graph.node(add).inputs[1 - i];
    const NodeId mul = uses.producer[product];
    if (mul < 0 || graph.node(mul).op != "Mul" || graph.constant(term) == nullptr ||
        only_reader(graph, uses, product) != add)
      continue;
    for (size_t k : {0, 1}) {
      const ValueId factor = graph.node(mul).inputs[k];
      if (graph.constant(factor) == nullptr) continue;
      n->x = graph.node(mul).inputs[1 - k];
      if (match_factor(source, factor, n) && match_term(source, term, factor, n)) return true;
    }
  }
  return false;
}

// A parameter as a list of one number per channel: itself, or what it was before it was reshaped for the channels' axis of
// inputs of this rank, which it says; kNoValue where it is neither.
ValueId per_channel(Source& source, ValueId v, size_t rank, std::optional<size_t>* axis) {
  Draft& draft = source.draft;
  const Tensor* tensor = draft.graph.constant(v);
  const size_t own = tensor->shape().size();
  if (own == 0 || own > rank) return kNoValue;
  size_t at = own;
  for (size_t i = 0; i < own; ++i) {
    if (tensor->shape()[i] == 1 && own > 1) continue;
    if (at != own) return kNoValue;
    at = i;
  }
  if (at == own) return kNoValue;
  *axis = at + rank - own;
  if (own == 1) return v;
  const auto found = source.derived.find(v);
  if (found != source.derived.end() && draft.graph.constant(found->second)->rank() == 1) return found->second;
  const ValueId list =
      draft.add_constant(draft.graph.value(v).name, tensor->reshaped({tensor->size()}), Draft::Name::Invented);
  source.derived[list] = v;
  return list;
}

NodeId emit(Graph& graph, NodeId before, const std::string& op, const std::string& name, std::vector<ValueId> inputs,
            ValueId output, Attributes attributes) {
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = std::move(inputs);
  node.outputs = {output};
  node.attributes = std::move(attributes);
  return graph.insert_node_before(before, std::move(node));
}

}  // namespace

void recognize_batch_norms(Source& source) {
  Draft& draft = source.draft;
  Graph& graph = draft.graph;
  const Uses uses(graph);
  const std::vector<NodeId> order = graph.order();
  for (NodeId add : order) {
    if (graph.node(add).op != "Add") continue;
    Normalization n;
    if (!match(source, uses, add, &n)) continue;
    const Type type = graph.value(n.x).type;
    const size_t rank = type.shape ? type.shape->size() : 0;
    if (rank != 2 && rank != 4) continue;
    const std::string name = graph.node(add).name;
    std::optional<size_t> axis;
    n.variance = per_channel(source, n.variance, rank, &axis);
    if (n.variance == kNoValue) continue;
    const Shape channels = graph.constant(n.variance)->shape();
    if ((*type.shape)[*axis] != Dim(channels[0]) || graph.constant(n.variance)->dtype() != type.dtype) continue;
    const auto filled = [&](const char* what, double value) {
      const std::vector<double> values(channels[0], value);
      const Tensor tensor = convert(Tensor::of<double>(channels, values), type.dtype);
      return draft.add_constant(cat(name, "/", what), tensor, Draft::Name::Invented);
    };
    if (n.scale == kNoValue) n.scale = filled("scale", 1);
    if (n.offset == kNoValue) n.offset = filled("offset", 0);
    bool fits = *axis == 1 || *axis == 3;
    for (ValueId* v : {&n.scale, &n.offset, &n.mean}) {
      std::optional<size_t> its;
      *v = per_channel(source, *v, rank, &its);
      fits = fits && *v != kNoValue && its == axis && graph.constant(*v)->shape() == channels;
    }
    if (!fits) continue;
    const ValueId result = graph.node(add).outputs[0];
    const bool turned = *axis == 3;
    ValueId x = n.x, y = result;
    if (turned) {
      x = draft.add_value(name + "/Transpose", Draft::Name::Invented);
      y = draft.add_value(name + "/BatchNormalization", Draft::Name::Invented);
      emit(graph, add, "Transpose", name, {n.x}, x, {{"perm", kToChannelsFirst}});
    }
    emit(graph, add, "BatchNormalization", name, {x, n.scale, n.offset, n.mean, n.variance}, y,
         {{"epsilon", n.epsilon}});
    if (turned) emit(graph, add, "Transpose", name, {y}, result, {{"perm", kToChannelsLast}});
    graph.remove_node(add);
  }
}

void take_in_biases(Source& source) {
  Graph& graph = source.draft.graph;
  const Uses uses(graph);
  for (const auto& [add, bias] : source.biases) {
    if (graph.constant(bias) == nullptr || !graph.alive(add)) continue;
    ValueId sum = graph.node(add).outputs[0], x = graph.node(add).inputs[0];
    if (only_reader(graph, uses, x) != add) continue;
    NodeId before = uses.producer[x], moved = -1;
    if (before >= 0 && graph.alive(before) && graph.node(before).op == "Transpose") {
      moved = before;
      x = graph.node(moved).inputs[0];
      if (only_reader(graph, uses, x) != moved || transpose_permutation(graph.node(moved), 4) != kToChannelsLast)
        continue;
      before = uses.producer[x];
    }
    if (before < 0 || !graph.alive(before) || graph.node(before).inputs.size() != 2) continue;
    Node& node = graph.node(before);
    const Type &product = graph.value(node.outputs[0]).type, &added = graph.value(bias).type;
    if (!product.shape || !added.fixed()) continue;
    const size_t units = node.op == "MatMul" ? 1 : node.op.compare(0, 4, "Conv") == 0 ? 1 : 9;
    if (units >= product.shape->size() || (*product.shape)[units] != (*added.shape)[0]) continue;
    if (node.op == "MatMul") {
      if (moved >= 0 || product.shape->size() != 2) continue;
      node.op = "Gemm";
    }
    node.inputs.push_back(bias);
    (moved >= 0 ? graph.node(moved) : node).outputs[0] = sum;
    graph.remove_node(add);
  }
}

}  // namespace dnn::tensorflow
