// recognize-normalization: LayerNormalization that a model spells out in means, differences and roots becomes one operator
// again. recognize-channel-normalization: also over axis 1 alone, between Transposes.
#include <algorithm>
#include <optional>

#include "graph/locate.h"
#include "passes/recognize.h"

namespace dnn {
namespace {

struct Search : Recognizer {
  Search(const Graph& graph, const Uses& uses, bool with_channels) : Recognizer(graph, uses), channels(with_channels) {}
  bool channels;  // axis 1 alone will do, too
};

// A mean over the last axes that keeps them.
struct Mean {
  ValueId of = kNoValue;
  size_t axis = 0;  // the first of them
  bool channels = false;
};

std::optional<Mean> axes_mean(Search& r, ValueId v) {
  const Node* node = r.maker(v, "ReduceMean");
  if (node == nullptr || node->attribute_int("keepdims", 1) == 0) return std::nullopt;
  const Type& x = r.graph().value(node->inputs[0]).type;
  const Tensor* list = r.graph().constant(node->input(1));
  if (list == nullptr || !x.shape || list->size() == 0) return std::nullopt;
  const auto rank = static_cast<int64_t>(x.shape->size());
  std::vector<int64_t> axes = to_int64s(*list);
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (r.channels && axes == std::vector<int64_t>{1} && rank > 2) return Mean{node->inputs[0], 1, true};
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] != rank - static_cast<int64_t>(axes.size() - i)) return std::nullopt;
  }
  return Mean{node->inputs[0], static_cast<size_t>(axes[0]), false};
}

// The normalisation of x, as far as it is known.
struct Normal {
  ValueId x = kNoValue, mean = kNoValue;
  size_t axis = 0;
  bool channels = false;
  double epsilon = 0;
};

// x - mean(x)
bool is_centred(Search& r, ValueId v, Normal* n) {
  const Node* sub = r.maker(v, "Sub");
  if (sub == nullptr) return false;
  const auto mean = axes_mean(r, sub->inputs[1]);
  if (!mean || mean->of != sub->inputs[0] || (n->x != kNoValue && n->x != mean->of)) return false;
  n->x = mean->of;
  n->axis = mean->axis;
  n->channels = mean->channels;
  n->mean = sub->inputs[1];
  return true;
}

// sqrt(mean((x - mean(x))^2) + epsilon)
bool is_deviation(Search& r, ValueId v, Normal* n) {
  const Node* root = r.maker(v, "Sqrt");
  if (root == nullptr) return false;
  const auto sum = r.shifted(root->inputs[0]);
  if (!sum || sum->by < 0) return false;
  const auto mean = axes_mean(r, sum->value);
  if (!mean) return false;
  const Recognizer::Product square = r.product(mean->of);
  if (square.number != 1 || square.factors.size() != 2 || square.factors[0] != square.factors[1]) return false;
  if (!is_centred(r, square.factors[0], n) || n->axis != mean->axis) return false;
  n->epsilon = sum->by;
  return true;
}

// 1 / deviation
bool is_inverse(Search& r, ValueId v, Normal* n) {
  if (const Node* reciprocal = r.maker(v, "Reciprocal")) return is_deviation(r, reciprocal->inputs[0], n);
  const Node* div = r.maker(v, "Div");
  const auto one = div == nullptr ? std::nullopt : r.number(div->inputs[0]);
  return one && *one == 1 && is_deviation(r, div->inputs[1], n);
}

// A constant that holds one number for each place of a row; with leading axes of extent 1, or one number for all.
std::optional<Tensor> row_constant(const Graph& graph, ValueId v, const Normal& n) {
  const Tensor* tensor = graph.constant(v);
  const Type& x = graph.value(n.x).type;
  if (tensor == nullptr || !is_float(tensor->dtype())) return std::nullopt;
  Shape row;
  for (size_t i = n.axis; i < x.shape->size() && (i == n.axis || !n.channels); ++i) {
    if (!(*x.shape)[i].fixed()) return std::nullopt;
    row.push_back((*x.shape)[i].size);
  }
  Shape own = tensor->shape();
  // Over channels: what the constant has behind them is of extent 1.
  for (size_t i = 2; n.channels && i < x.shape->size(); ++i) {
    if (tensor->size() != 1 && (own.empty() || own.back() != 1)) return std::nullopt;
    if (!own.empty()) own.pop_back();
  }
  while (own.size() > row.size() && own[0] == 1) own.erase(own.begin());
  if (own == row) return tensor->shape() == row ? *tensor : tensor->reshaped(row);
  if (tensor->size() != 1) return std::nullopt;
  const std::vector<double> values(element_count(row), to_doubles(*tensor)[0]);
  return convert(Tensor::of<double>(row, values), tensor->dtype());
}

// What is found: the row constants are kNoValue where the model has none.
struct Found {
  Normal normal;
  ValueId scale = kNoValue, bias = kNoValue;
};

// (x - mean) / deviation, or times its inverse; with `weighted` also times a row of numbers.
bool is_normal(Search& r, ValueId v, Found* found) {
  const Search before = r;
  if (const Node* div = r.maker(v, "Div")) {
    if (is_centred(r, div->inputs[0], &found->normal) && is_deviation(r, div->inputs[1], &found->normal)) return true;
    r = before;
    return false;
  }
  const Node* mul = r.maker(v, "Mul");
  if (mul == nullptr) return false;
  for (size_t i : {0, 1}) {
    r = before;
    r.maker(v, "Mul");
    found->normal = {};
    const ValueId a = mul->inputs[i], b = mul->inputs[1 - i];
    if (is_centred(r, a, &found->normal) && is_inverse(r, b, &found->normal)) return true;
  }
  r = before;
  return false;
}

// The scale, where there is one: normal * scale, or (x - mean) * (inverse * scale).
bool is_weighted(Search& r, ValueId v, Found* found) {
  if (is_normal(r, v, found)) return true;
  const Search before = r;
  const Node* mul = r.maker(v, "Mul");
  for (size_t i = 0; mul != nullptr && i < 2; ++i) {
    r = before;
    r.maker(v, "Mul");
    *found = {};
    const ValueId a = mul->inputs[i], b = mul->inputs[1 - i];
    if (r.graph().constant(b) != nullptr && is_normal(r, a, found)) {
      found->scale = b;
      return true;
    }
    const Node* weight = is_centred(r, a, &found->normal) ? r.maker(b, "Mul") : nullptr;
    for (size_t j = 0; weight != nullptr && j < 2; ++j) {
      if (r.graph().constant(weight->inputs[j]) == nullptr) continue;
      found->scale = weight->inputs[j];
      if (is_inverse(r, weight->inputs[1 - j], &found->normal)) return true;
    }
  }
  r = before;
  *found = {};
  return false;
}

// TensorFlow's spelling of the rest: bias - mean * s, or bias + (-mean) * s, or that without a bias.
struct Offset {
  ValueId bias = kNoValue, mean = kNoValue;
};

std::optional<Offset> offset_of(Search& r, ValueId v, ValueId s) {
  const Search before = r;
  const auto mean_times_s = [&](ValueId product, bool negative) -> ValueId {
    const Node* mul = r.maker(product, "Mul");
    if (mul == nullptr || (mul->inputs[0] != s && mul->inputs[1] != s)) return kNoValue;
    const ValueId mean = mul->inputs[mul->inputs[0] == s ? 1 : 0];
    if (!negative) return mean;
    const Node* neg = r.maker(mean, "Neg");
    return neg == nullptr ? kNoValue : neg->inputs[0];
  };
  if (const Node* sub = r.maker(v, "Sub")) {
    const ValueId mean = mean_times_s(sub->inputs[1], false);
    if (r.graph().constant(sub->inputs[0]) != nullptr && mean != kNoValue) return Offset{sub->inputs[0], mean};
  } else if (const Node* add = r.maker(v, "Add")) {
    for (size_t i : {0, 1}) {
      if (r.graph().constant(add->inputs[i]) == nullptr) continue;
      const ValueId mean = mean_times_s(add->inputs[1 - i], true);
      if (mean != kNoValue) return Offset{add->inputs[i], mean};
    }
  }
  r = before;
  const ValueId mean = mean_times_s(v, true);
  if (mean != kNoValue) return Offset{kNoValue, mean};
  r = before;
  return std::nullopt;
}

// TensorFlow's spelling: x * s + (bias - mean * s), where s is the inverse, or the inverse times a scale.
bool is_batch_norm_form(Search& r, const Node& add, Found* found) {
  const Search before = r;
  for (size_t i : {0, 1}) {
    r = before;
    const Node* mul = r.maker(add.inputs[i], "Mul");
    for (size_t j = 0; mul != nullptr && j < 2; ++j) {
      r = before;
      *found = {};
      r.maker(add.inputs[i], "Mul");
      const ValueId x = mul->inputs[j], s = mul->inputs[1 - j];
      const auto offset = offset_of(r, add.inputs[1 - i], s);
      if (!offset) continue;
      found->bias = offset->bias;
      ValueId inverse = s;
      const Node* weight = r.maker(s, "Mul");
      for (size_t k = 0; weight != nullptr && k < 2; ++k) {
        if (r.graph().constant(weight->inputs[k]) == nullptr) continue;
        found->scale = weight->inputs[k];
        inverse = weight->inputs[1 - k];
      }
      if (!is_inverse(r, inverse, &found->normal) || found->normal.x != x) continue;
      const auto first = axes_mean(r, offset->mean);
      if (first && first->of == x && first->axis == found->normal.axis && first->channels == found->normal.channels)
        return true;
    }
  }
  r = before;
  return false;
}

// Brings axis 1 to the end, and back.
std::vector<int64_t> channels_to(bool last, size_t rank) {
  std::vector<int64_t> perm = {0};
  for (size_t i = 1; i < rank; ++i) {
    const size_t axis = last ? (i + 1 == rank ? 1 : i + 1) : (i == 1 ? rank - 1 : i - 1);
    perm.push_back(static_cast<int64_t>(axis));
  }
  return perm;
}

// The LayerNormalization that reads `node`'s input with the channels last.
void turn(const Search& r, NodeId root, Node node, Patch* patch) {
  const size_t rank = r.graph().value(node.inputs[0]).type.shape->size();
  const auto turned = [&](ValueId from, bool last, ValueId to) {
    Node transpose;
    transpose.op = "Transpose";
    transpose.inputs = {from};
    transpose.outputs = {to};
    transpose.attributes["perm"] = channels_to(last, rank);
    return transpose;
  };
  const std::string& y = r.graph().value(r.graph().node(root).outputs[0]).name;
  const ValueId in = patch->add_value(y + ".in", {}), out = patch->add_value(y + ".out", {});
  patch->add_node(turned(node.inputs[0], true, in));
  node.inputs[0] = in;
  node.outputs = {out};
  node.name = r.graph().node(root).name;
  node.attributes["axis"] = int64_t{-1};
  patch->add_node(std::move(node));
  r.replace(root, turned(out, false, kNoValue), patch);
}

std::optional<Patch> layer_normalization(const Graph& graph, const Uses& uses, NodeId root, bool channels) {
  Found found;
  Search r(graph, uses, channels);
  const ValueId y = graph.node(root).outputs[0];
  bool is = false;
  if (const Node* add = r.maker(y, "Add")) {
    is = is_batch_norm_form(r, *add, &found);
    for (size_t i = 0; i < 2 && !is; ++i) {
      if (graph.constant(add->inputs[1 - i]) == nullptr || !is_weighted(r, add->inputs[i], &found)) continue;
      found.bias = add->inputs[1 - i];
      is = true;
    }
  } else {
    is = is_weighted(r, y, &found);
  }
  if (!is || !r.closed(root)) return std::nullopt;
  Patch patch(graph, label_in(graph, graph.node(root)) + " and those before it are LayerNormalization");
  Node node;
  node.op = "LayerNormalization";
  node.attributes = {{"axis", static_cast<int64_t>(found.normal.axis) -
                                  static_cast<int64_t>(graph.value(found.normal.x).type.shape->size())},
                     {"epsilon", static_cast<float>(found.normal.epsilon)}};
  node.inputs = {found.normal.x};
  for (ValueId v : {found.scale, found.bias}) {
    if (v == kNoValue && node.inputs.size() == 2) break;  // no bias
    const DType dtype = graph.value(found.normal.x).type.dtype;
    const ValueId any = v == kNoValue ? found.bias : v;
    std::optional<Tensor> row;
    if (any != kNoValue) row = row_constant(graph, any, found.normal);
    if (!row || row->dtype() != dtype) return std::nullopt;
    if (v == kNoValue) {
      const std::vector<double> ones(row->size(), 1);
      row = convert(Tensor::of<double>(row->shape(), ones), dtype);
    }
    const bool same = v != kNoValue && graph.constant(v)->shape() == row->shape();
    const std::string name = v == kNoValue ? graph.value(y).name + ".scale" : graph.value(v).name;
    node.inputs.push_back(same ? v : patch.add_constant(name, std::move(*row)));
  }
  if (found.normal.channels) {
    turn(r, root, std::move(node), &patch);
  } else {
    r.replace(root, std::move(node), &patch);
  }
  return patch;
}

std::vector<Patch> all_normalizations(const Graph& graph, bool channels) {
  std::vector<Patch> patches;
  const Uses uses(graph);
  std::set<NodeId> gone;  // in patterns that end later: the longest one counts
  std::vector<NodeId> order = graph.order();
  std::reverse(order.begin(), order.end());
  for (NodeId id : order) {
    const Node& node = graph.node(id);
    if (gone.count(id) != 0 || !node.domain.empty() || (node.op != "Add" && node.op != "Mul" && node.op != "Div"))
      continue;
    if (!graph.value(node.outputs[0]).type.shape || !is_float(graph.value(node.outputs[0]).type.dtype)) continue;
    if (auto found = layer_normalization(graph, uses, id, channels)) {
      gone.insert(found->removed().begin(), found->removed().end());
      patches.push_back(std::move(*found));
    }
  }
  return patches;
}

}  // namespace

std::vector<Patch> recognize_normalization(const Graph& graph, const PassContext&) {
  return all_normalizations(graph, false);
}

std::vector<Patch> recognize_channel_normalization(const Graph& graph, const PassContext&) {
  return all_normalizations(graph, true);
}

}  // namespace dnn
