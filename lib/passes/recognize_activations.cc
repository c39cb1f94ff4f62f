// recognize-activations: Clip, Gelu, HardSigmoid, HardSwish, Softplus, Mish and Swish that a model spells out in simpler
// operators become one operator again.
#include <algorithm>
#include <optional>

#include "graph/locate.h"
#include "passes/recognize.h"

namespace dnn {
namespace {

const double kRootHalf = std::sqrt(0.5), kTanhScale = std::sqrt(2 / std::acos(-1.0)), kTanhCube = 0.044715;

Node unary(const std::string& op, ValueId x) {
  Node node;
  node.op = op;
  node.inputs = {x};
  return node;
}

// f of `1 + f` or, halved already, `0.5 + 0.5 f`; `half` says which. The same with a minus, as erfc is read.
struct OnePlus {
  ValueId inner = kNoValue;  // the argument of f
  bool half = false, minus = false;
};

std::optional<OnePlus> one_plus(Recognizer& r, ValueId v, const std::string& f, DType dtype) {
  auto sum = r.shifted(v);
  const Node* sub = sum ? nullptr : r.maker(v, "Sub");
  const auto from = sub == nullptr ? std::nullopt : r.number(sub->inputs[0]);
  if (from) sum = Recognizer::Shifted{sub->inputs[1], *from};
  if (!sum) return std::nullopt;
  Recognizer::Product product = r.product(sum->value);
  if (product.factors.size() != 1) return std::nullopt;
  const Node* made = r.maker(product.factors[0], f);
  if (made == nullptr) return std::nullopt;
  const bool whole = near(sum->by, 1, dtype) && near(product.number, 1, dtype),
             half = near(sum->by, 0.5, dtype) && near(product.number, 0.5, dtype);
  if (!whole && !half) return std::nullopt;
  return OnePlus{made->inputs[0], half, from.has_value()};
}

// Whether u is sqrt(2 / pi) * (x + 0.044715 x^3), or the same with x outside: x * (1 + 0.044715 x^2).
bool is_tanh_argument(Recognizer& r, ValueId u, ValueId x, DType dtype) {
  Recognizer::Product outer = r.product(u, {x});
  if (!near(outer.number, kTanhScale, dtype)) return false;
  const bool outside = outer.take(x);
  if (outer.factors.size() != 1) return false;
  const Node* add = r.maker(outer.factors[0], "Add");
  if (add == nullptr) return false;
  for (size_t i : {0, 1}) {
    const auto one = r.number(add->inputs[i]);
    if (outside ? !one || !near(*one, 1, dtype) : add->inputs[i] != x) continue;
    Recognizer::Product cube = r.product(add->inputs[1 - i], {x});
    for (int n = outside ? 2 : 3; n > 0; --n) {
      if (!cube.take(x)) return false;
    }
    return cube.factors.empty() && near(cube.number, kTanhCube, dtype);
  }
  return false;
}

// 0.5 * x * (1 + erf(x / sqrt(2))), or with tanh, the factors in any order.
std::optional<Patch> gelu(const Graph& graph, const Uses& uses, NodeId root, DType dtype) {
  Recognizer outer(graph, uses);
  const Recognizer::Product all = outer.product(graph.node(root).outputs[0]);
  if (all.factors.size() != 2) return std::nullopt;
  for (size_t i : {0, 1}) {
    for (const char* f : {"Erf", "Tanh"}) {
      Recognizer r = outer;
      const ValueId x = all.factors[i];
      const auto gate = one_plus(r, all.factors[1 - i], f, dtype);
      if (!gate || !near(all.number, gate->half ? 1 : 0.5, dtype)) continue;
      const bool erf = std::string_view(f) == "Erf";
      if (erf) {
        Recognizer::Product argument = r.product(gate->inner, {x});
        if (!argument.take(x) || !argument.factors.empty() ||
            !near(argument.number, gate->minus ? -kRootHalf : kRootHalf, dtype))
          continue;
      } else if (gate->minus || !is_tanh_argument(r, gate->inner, x, dtype)) {
        continue;
      }
      if (!r.closed(root)) continue;
      Node node = unary("Gelu", x);
      if (!erf) node.attributes["approximate"] = std::string("tanh");
      return r.replacement(root, std::move(node), "Gelu");
    }
  }
  return std::nullopt;
}

// x of clip(x + 3, 0, 6), Relu6's spelling among them.
std::optional<ValueId> hard_step(Recognizer& r, ValueId v, DType dtype) {
  const Node* clip = r.maker(v, "Clip");
  if (clip == nullptr) return std::nullopt;
  const auto low = r.number(clip->input(1)), high = r.number(clip->input(2));
  const auto sum = r.shifted(clip->inputs[0]);
  if (!low || !high || !sum || *low != 0 || *high != 6 || !near(sum->by, 3, dtype)) return std::nullopt;
  return sum->value;
}

// clip(x + 3, 0, 6) / 6, by itself or times x; and x times a HardSigmoid of that slope.
std::optional<Patch> hard(const Graph& graph, const Uses& uses, NodeId root, DType dtype) {
  Recognizer outer(graph, uses);
  const Recognizer::Product all = outer.product(graph.node(root).outputs[0]);
  if (all.factors.empty() || all.factors.size() > 2) return std::nullopt;
  for (size_t i = 0; i < all.factors.size(); ++i) {
    Recognizer r = outer;
    std::optional<ValueId> x = hard_step(r, all.factors[i], dtype);
    double share = 1.0 / 6;
    if (!x) {
      r = outer;
      const Node* sigmoid = r.maker(all.factors[i], "HardSigmoid");
      if (sigmoid == nullptr || all.factors.size() != 2 ||
          !near(static_cast<double>(sigmoid->attribute_float("alpha", 0.2f)), 1.0 / 6, dtype) ||
          sigmoid->attribute_float("beta", 0.5f) != 0.5f)
        continue;
      x = sigmoid->inputs[0];
      share = 1;
    }
    if (!near(all.number, share, dtype)) continue;
    if (all.factors.size() == 2 && all.factors[1 - i] != *x) continue;
    if (!r.closed(root)) continue;
    Node node = unary(all.factors.size() == 2 ? "HardSwish" : "HardSigmoid", *x);
    if (all.factors.size() == 1) node.attributes = {{"alpha", 1.0f / 6}, {"beta", 0.5f}};
    const std::string name = node.op;
    return r.replacement(root, std::move(node), name);
  }
  return std::nullopt;
}

// x * sigmoid(alpha x)
std::optional<Patch> swish(const Graph& graph, const Uses& uses, NodeId root, DType dtype) {
  Recognizer outer(graph, uses);
  const Recognizer::Product all = outer.product(graph.node(root).outputs[0]);
  if (all.factors.size() != 2 || !near(all.number, 1, dtype)) return std::nullopt;
  for (size_t i : {0, 1}) {
    Recognizer r = outer;
    const ValueId x = all.factors[i];
    const Node* sigmoid = r.maker(all.factors[1 - i], "Sigmoid");
    if (sigmoid == nullptr) continue;
    Recognizer::Product argument = r.product(sigmoid->inputs[0], {x});
    if (!argument.take(x) || !argument.factors.empty() || !r.closed(root)) continue;
    Node node = unary("Swish", x);
    if (argument.number != 1) node.attributes = {{"alpha", static_cast<float>(argument.number)}};
    return r.replacement(root, std::move(node), "Swish");
  }
  return std::nullopt;
}

// log(1 + exp(x))
std::optional<Patch> softplus(const Graph& graph, const Uses& uses, NodeId root, DType dtype) {
  Recognizer r(graph, uses);
  const Node* log = r.maker(graph.node(root).outputs[0], "Log");
  const auto sum = r.shifted(log->inputs[0]);
  if (!sum || !near(sum->by, 1, dtype)) return std::nullopt;
  const Node* exp = r.maker(sum->value, "Exp");
  if (exp == nullptr || !r.closed(root)) return std::nullopt;
  return r.replacement(root, unary("Softplus", exp->inputs[0]), "Softplus");
}

// x * tanh(softplus(x))
std::optional<Patch> mish(const Graph& graph, const Uses& uses, NodeId root) {
  for (size_t i : {0, 1}) {
    Recognizer r(graph, uses);
    const Node* mul = r.maker(graph.node(root).outputs[0], "Mul");
    const Node* tanh = r.maker(mul->inputs[1 - i], "Tanh");
    const Node* plus = tanh == nullptr ? nullptr : r.maker(tanh->inputs[0], "Softplus");
    if (plus == nullptr || plus->inputs[0] != mul->inputs[i] || !r.closed(root)) continue;
    return r.replacement(root, unary("Mish", mul->inputs[i]), "Mish");
  }
  return std::nullopt;
}

// min(max(x, low), high), or the other way round. Bounds of a rank above x's would make the result's rank theirs.
std::optional<Patch> clip(const Graph& graph, const Uses& uses, NodeId root, DType dtype) {
  const Node& outer = graph.node(root);
  const bool min_outside = outer.op == "Min";
  if (outer.inputs.size() != 2) return std::nullopt;
  for (size_t i : {0, 1}) {
    Recognizer r(graph, uses);
    r.maker(outer.outputs[0], outer.op);
    const auto outside = r.number(outer.inputs[i]);
    const Node* inner = outside ? r.maker(outer.inputs[1 - i], min_outside ? "Max" : "Min") : nullptr;
    if (inner == nullptr || inner->inputs.size() != 2 || !r.closed(root)) continue;
    for (size_t j : {0, 1}) {
      const auto inside = r.number(inner->inputs[j]);
      const ValueId x = inner->inputs[1 - j];
      const auto &shape = graph.value(x).type.shape, &result = graph.value(outer.outputs[0]).type.shape;
      if (!inside || !shape || !result || shape->size() != result->size()) continue;
      const double low = min_outside ? *inside : *outside, high = min_outside ? *outside : *inside;
      if (!(low <= high)) continue;
      Patch patch(graph, label_in(graph, outer) + " and " + label_in(graph, *inner) + " are Clip");
      const std::string name = graph.value(outer.outputs[0]).name;
      Node node = unary("Clip", x);
      node.inputs.push_back(patch.add_constant(name + "/low", convert(Tensor::scalar<double>(low), dtype)));
      node.inputs.push_back(patch.add_constant(name + "/high", convert(Tensor::scalar<double>(high), dtype)));
      r.replace(root, std::move(node), &patch);
      return patch;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Patch> recognize_activations(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.domain.empty()) continue;
    const DType dtype = graph.value(node.outputs[0]).type.dtype;
    if (!is_float(dtype)) continue;
    std::optional<Patch> found;
    if (node.op == "Log") found = softplus(graph, uses, id, dtype);
    if (node.op == "Min" || node.op == "Max") found = clip(graph, uses, id, dtype);
    if (node.op == "Mul") found = mish(graph, uses, id);
    if (!found && (node.op == "Mul" || node.op == "Div")) found = gelu(graph, uses, id, dtype);
    if (!found && (node.op == "Mul" || node.op == "Div")) found = hard(graph, uses, id, dtype);
    if (!found && (node.op == "Mul" || node.op == "Div")) found = swish(graph, uses, id, dtype);
    if (found) patches.push_back(std::move(*found));
  }
  return patches;
}

}  // namespace dnn
