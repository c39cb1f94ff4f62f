// integer-functions: Sigmoid, Tanh, Swish, Erf, Gelu and Softmax between integers as their stated forms, whose bits are the same everywhere; Sigmoid
// and Softmax at the end of a network by a stated exponential; means and LayerNormalization of what is made of integers by sums in one order. Other networks and other places keep the functions of their level,
// which are nearer to the exact ones.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "graph/locate.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/stated_sums.h"

namespace dnn {
namespace {

bool is_one_of(const Node& node, std::initializer_list<const char*> names) {
  return node.domain == kInternalDomain &&
         std::any_of(names.begin(), names.end(), [&](const char* name) { return node.op == name; });
}

bool is_elementwise(const Node& node) {
  const OpDef* op = find_op(node.domain, node.op);
  return op != nullptr && op->element != nullptr && node.outputs.size() == 1;
}

// Where a small number stays small, and how far it is from the exact one matters as little as before. A logarithm or a quotient would make
// much of what a saturated sigmoid has left.
bool keeps_small(const Node& node) {
  constexpr std::string_view kNames[] = {"Abs", "Add", "Clip", "Erf",     "Gelu", "LeakyRelu", "Max",   "Min",
                                         "Mul", "Neg", "Relu", "Sigmoid", "Sub",  "Sum",       "Swish", "Tanh"};
  return (node.domain.empty() && std::find(std::begin(kNames), std::end(kNames), node.op) != std::end(kNames)) ||
         is_one_of(node, {"StatedErf", "StatedGelu", "StatedSigmoid", "StatedSwish", "StatedTanh"});
}

bool picks_numbers(const Node& node) { return picked_inputs(node) > 0; }

// Numbers that are the same at each level as they are integers or truths, such as positions and masks, or that take their places from such.
bool counts(const Graph& graph, const Node& node) {
  if (is_op(node, "ConstantOfShape") || is_op(node, "OneHot") || is_op(node, "Trilu")) return true;
  return std::all_of(node.outputs.begin(), node.outputs.end(), [&](ValueId v) {
    return v == kNoValue || is_integer(graph.value(v).type.dtype) || graph.value(v).type.dtype == DType::Bool;
  });
}

bool keeps_bits(const Graph& graph, const Node& node) {
  return is_elementwise(node) || picks_numbers(node) || counts(graph, node) || has_stated_sums(graph, node) ||
         is_one_of(node, {"StatedLayerNormalization", "StatedMean", "StatedSum", "StatedSoftmax"});
}

// By value: whether it is made of integers or the graph's inputs alone, through element-wise operators; whether something else than integers is
// made of it, or through operators that do not keep small numbers small; and whether an operator reads it, or what follows, whose bits nobody promises.
struct BetweenIntegers {
  BetweenIntegers(const Graph& graph, const Uses& uses)
      : made(graph.value_count()), leaves(graph.value_count()), lost(graph.value_count()) {
    for (ValueId v : graph.inputs) made[v] = true;
    for (NodeId id : graph.order()) {
      const Node& node = graph.node(id);
      const bool starts = is_op(node, "DequantizeLinear") || is_one_of(node, {"ToReal", "QuantizedConv"}) ||
                          is_exact_product(graph, uses, node);
      const bool goes_on =
          keeps_bits(graph, node) && std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId v) {
            return v == kNoValue || made[v] || graph.constant(v) != nullptr;
          });
      for (ValueId v : node.outputs) {
        if ((starts || goes_on) && v != kNoValue) made[v] = true;
      }
    }
    for (ValueId v : graph.outputs) leaves[v] = true;
    for (auto id = graph.order().rbegin(); id != graph.order().rend(); ++id) {
      const Node& node = graph.node(*id);
      for (ValueId v : captured_values(graph, node)) leaves[v] = lost[v] = true;
      if (is_op(node, "QuantizeLinear") || is_one_of(node, {"ToInteger"})) continue;
      const bool loses = !keeps_bits(graph, node) || std::any_of(node.outputs.begin(), node.outputs.end(),
                                                                 [&](ValueId v) { return v != kNoValue && lost[v]; });
      for (ValueId v : node.inputs) {
        if (loses && v != kNoValue) lost[v] = true;
      }
      if ((keeps_small(node) || picks_numbers(node)) && none_leaves(node)) continue;
      for (ValueId v : node.inputs) {
        if (v != kNoValue) leaves[v] = true;
      }
    }
  }
  bool none_leaves(const Node& node) const {
    return std::none_of(node.outputs.begin(), node.outputs.end(),
                        [&](ValueId v) { return v != kNoValue && leaves[v]; });
  }
  std::vector<bool> made, leaves, lost;
};

// The product x * sigmoid(x) behind a Sigmoid that nothing else reads; -1 where there is none.
NodeId swish_of(const Graph& graph, const Uses& uses, const Node& sigmoid) {
  const NodeId reader = is_op(sigmoid, "Sigmoid") ? only_reader(graph, uses, sigmoid.outputs[0]) : -1;
  if (reader < 0 || !is_op(graph.node(reader), "Mul")) return -1;
  const std::vector<ValueId>& factors = graph.node(reader).inputs;
  const ValueId x = sigmoid.inputs[0], y = sigmoid.outputs[0];
  return (factors[0] == x && factors[1] == y) || (factors[0] == y && factors[1] == x) ? reader : -1;
}

bool has_stated_form(const Graph& graph, const Node& node) {
  if (is_op(node, "Gelu")) return node.attribute_string("approximate", "none") == "none";
  if (is_op(node, "Softmax")) {
    const Type& type = graph.value(node.inputs[0]).type;
    const int64_t axis = node.attribute_int("axis", -1);
    return type.fixed() && !type.shape->empty() && (axis == -1 || axis + 1 == static_cast<int64_t>(type.shape->size()));
  }
  return is_op(node, "Erf") || is_op(node, "Sigmoid") || is_op(node, "Swish") || is_op(node, "Tanh");
}

// The product with one number in front, which the Softmax then computes itself: the largest element stays the largest.
void take_scale(const Graph& graph, const Uses& uses, Node* softmax, Patch* patch) {
  const ValueId x = softmax->inputs[0];
  const NodeId maker = only_reader(graph, uses, x) < 0 ? -1 : uses.producer[x];
  if (maker < 0 || !is_op(graph.node(maker), "Mul")) return;
  const std::vector<ValueId>& factors = graph.node(maker).inputs;
  for (const size_t i : {0, 1}) {
    const Tensor* scale = graph.constant(factors[i]);
    if (scale == nullptr || scale->size() != 1 || scale->dtype() != DType::Float32 || graph.is_input(factors[i]))
      continue;
    const float number = scale->data<float>()[0];
    if (!(number > 0) || !std::isfinite(number) || graph.value(factors[1 - i]).type != graph.value(x).type) continue;
    softmax->attributes["scale"] = number;
    softmax->inputs[0] = factors[1 - i];
    const std::vector<std::string> sources = sources_of(graph.node(maker));
    softmax->sources.insert(softmax->sources.begin(), sources.begin(), sources.end());
    patch->remove_node(maker);
    return;
  }
}

// `relative`: with errors that are small beside each number.
Patch in_stated_form(const Graph& graph, const Uses& uses, NodeId id, bool relative) {
  const NodeId product = relative ? -1 : swish_of(graph, uses, graph.node(id));
  const Node& node = graph.node(id);
  Patch patch(graph, label_in(graph, node) + " in its stated form");
  Node stated = node;
  stated.domain = kInternalDomain;
  stated.op = product < 0 ? "Stated" + node.op : "StatedSwish";
  stated.sources = sources_of(node);
  for (const char* attribute : {"approximate", "axis"}) stated.attributes.erase(attribute);
  if (relative) stated.attributes["relative"] = int64_t{1};
  if (product >= 0) {
    patch.place_at(product);
    stated.outputs = graph.node(product).outputs;
    for (const std::string& source : sources_of(graph.node(product))) stated.sources.push_back(source);
    patch.remove_node(product);
  }
  patch.remove_node(id);
  if (is_op(node, "Softmax")) take_scale(graph, uses, &stated, &patch);
  patch.add_node(std::move(stated));
  return patch;
}

}  // namespace

std::vector<Patch> recognize_activations(const Graph& graph, const PassContext& context);
std::vector<Patch> recognize_normalization(const Graph& graph, const PassContext& context);
std::vector<Patch> squares_as_products(const Graph& graph);

// Norms, squares and functions that are decomposed, as one operator each, as higher levels have them: these round less often. A Swish is found by its
// Sigmoid; Softplus and Mish have the exponentials of their level.
static std::vector<Patch> decomposed(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches = recognize_normalization(graph, context);
  for (Patch& patch : squares_as_products(graph)) patches.push_back(std::move(patch));
  for (Patch& patch : recognize_activations(graph, context)) {
    const bool kept = std::any_of(patch.added().begin(), patch.added().end(), [](const Node& n) {
      return is_op(n, "Clip") || is_op(n, "Gelu") || is_op(n, "HardSigmoid") || is_op(n, "HardSwish");
    });
    if (kept) patches.push_back(std::move(patch));
  }
  return patches;
}

std::vector<Patch> integer_functions(const Graph& graph, const PassContext& context) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  if (!has_integer_activations(graph)) return patches;
  const BetweenIntegers between(graph, uses);
  patches = decomposed(graph, context);
  if (!patches.empty()) return patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.inputs.empty() || node.inputs[0] == kNoValue || !between.made[node.inputs[0]]) continue;
    if (graph.value(node.outputs[0]).type.dtype != DType::Float32) continue;
    if (has_stated_sums(graph, node)) {
      patches.push_back(with_stated_sums(graph, id));
    } else if (has_stated_form(graph, node) && !between.leaves[node.outputs[0]]) {
      patches.push_back(in_stated_form(graph, uses, id, false));
    } else if (has_stated_form(graph, node) && !between.lost[node.outputs[0]] &&
               (is_op(node, "Sigmoid") || is_op(node, "Softmax"))) {
      patches.push_back(in_stated_form(graph, uses, id, true));
    }
  }
  return patches;
}

}  // namespace dnn
