// Taking heads off and putting new ones on; see head.h.
#include "train/head.h"

#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "convert/surgery.h"
#include "graph/locate.h"
#include "ops/gradient.h"
#include "ops/op.h"
#include "train/random.h"

namespace dnn::train {
namespace {

// What may stand between the last layer with weights and the output.
bool ends_networks(const Graph& graph, const Node& node) {
  static const std::set<std::string> kOps = {"Identity",    "Reshape",    "Flatten",    "Squeeze", "Unsqueeze",
                                             "Softmax",     "Relu",       "Clip",       "Dropout", "GlobalAveragePool",
                                             "AveragePool", "ReduceMean", "LogSoftmax", "Sigmoid"};
  if (!node.domain.empty()) return false;
  if (node.op == "Add") return graph.constant(node.inputs[0]) != nullptr || graph.constant(node.inputs[1]) != nullptr;
  return kOps.count(node.op) != 0;
}

Tensor uniform(const Shape& shape, double limit, uint64_t seed, uint64_t layer) {
  Tensor tensor(DType::Float32, shape);
  float* out = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.size(); ++i)
    out[i] = static_cast<float>((2 * random_unit(seed, {layer, static_cast<uint64_t>(i)}) - 1) * limit);
  return tensor;
}

double glorot(int64_t in, int64_t out) { return std::sqrt(6 / static_cast<double>(in + out)); }

}  // namespace

std::vector<HiddenLayer> parse_head(const std::string& text) {
  std::vector<HiddenLayer> layers;
  if (text == "linear") return layers;
  constexpr int64_t kWidest = 1 << 20;
  for (const std::string& part : dnn::split(text, ',')) {
    const size_t colon = part.find(':');
    HiddenLayer layer;
    const bool dropout = colon == std::string::npos || parse_double(part.substr(colon + 1), &layer.dropout);
    if (!parse_int(part.substr(0, colon), &layer.width) || layer.width < 1 || layer.width > kWidest || !dropout ||
        !(layer.dropout >= 0 && layer.dropout < 1))
      fail_usage("--replace-head ", quoted(text),
                 ": give widths of hidden layers, e.g. 1024,512 or with dropout 1024:0.5,512:0.5, or linear");
    layers.push_back(layer);
  }
  return layers;
}

Graph take_head_off(const Graph& model) {
  Graph graph = model;
  infer_types(graph);
  const Uses uses(graph);
  ValueId v = graph.outputs.at(0);
  bool dense = false;  // its features lie along the last axis, not the second
  for (;;) {
    const NodeId id = uses.producer[v];
    if (id < 0) fail_unsupported("no layer with weights to replace");
    const Node& node = graph.node(id);
    const bool layer = has_trait(node, Trait::Weighted) && graph.constant(node.input(1)) != nullptr;
    if (layer) {
      v = node.inputs[0];
      dense = node.op == "MatMul" || node.op == "Gemm";
      break;
    }
    if (!ends_networks(graph, node))
      fail_unsupported("cannot replace the head: the network ends in ", label_in(graph, node),
                       ", not in a layer with weights");
    v = graph.constant(node.inputs[0]) != nullptr ? node.inputs[1] : node.inputs[0];
  }
  NewGraph net(std::move(graph));
  net.graph().outputs.clear();
  const Type type = net.type(v);
  if (!type.shape || type.shape->size() < 2) fail_unsupported("the last layer reads ", type.text(), ", not features");
  net.set_name("features");
  const auto rank = static_cast<int64_t>(type.shape->size());
  if (dense && rank > 2) {
    std::vector<int64_t> positions;
    for (int64_t axis = 1; axis + 1 < rank; ++axis) positions.push_back(axis);
    v = net.emit("ReduceMean", {v, net.list(positions)}, {{"keepdims", int64_t{0}}});
    net.set_name("");
    net.output(v, "features");
    return net.finish();
  }
  bool positions = false;
  for (size_t i = 2; i < type.shape->size(); ++i) positions = positions || !((*type.shape)[i] == Dim(1));
  if (positions) v = net.emit("GlobalAveragePool", {v});
  if (type.shape->size() > 2) v = net.emit("Flatten", {v});
  net.set_name("");
  net.output(v, "features");
  return net.finish();
}

Graph new_head(int64_t width, const std::vector<HiddenLayer>& hidden, int64_t classes, uint64_t seed) {
  NewGraph net;
  ValueId v = net.input("features", Type(DType::Float32, {Dim("batch"), Dim(width)}));
  std::vector<HiddenLayer> layers = hidden;
  layers.push_back({classes, 0});
  for (size_t i = 0; i < layers.size(); ++i) {
    net.set_name(cat("head/dense", i + 1));
    const int64_t out = layers[i].width;
    const double limit = hidden.empty() ? 1 / std::sqrt(static_cast<double>(width)) : glorot(width, out);
    const ValueId w = net.store("weights", uniform({width, out}, limit, seed, i));
    const ValueId bias = net.store("bias", Tensor(DType::Float32, {out}));
    v = net.emit("Gemm", {v, w, bias});
    if (i + 1 < layers.size()) v = net.emit("Relu", {v});
    net.set_name(cat("head/dropout", i + 1));
    if (layers[i].dropout > 0)
      v = net.emit("Dropout", {v, net.store("ratio", Tensor::scalar(static_cast<float>(layers[i].dropout)))});
    width = out;
  }
  net.set_name("");
  net.output(v, "logits");
  return net.finish();
}

Graph join(const Graph& backbone, const Graph& head, bool softmax) {
  NewGraph net(backbone);
  std::map<ValueId, ValueId> of;
  of[head.inputs[0]] = net.graph().outputs[0];
  net.graph().outputs.clear();
  for (NodeId id : head.order()) {
    Node node = head.node(id);
    const std::vector<ValueId> made = node.outputs;
    for (ValueId& v : node.inputs) {
      if (const Tensor* constant = head.constant(v); constant != nullptr && of.count(v) == 0) {
        net.set_name("");
        of[v] = net.store(head.value(v).name, *constant);
      }
      v = of.at(v);
    }
    node.outputs.clear();
    const ValueId y = net.add(std::move(node), {head.value(made[0]).name})[0];
    of[made[0]] = y;
  }
  ValueId y = of.at(head.outputs[0]);
  net.set_name("head/softmax");
  if (softmax) y = net.emit("Softmax", {y});
  net.output(y, "scores");
  return net.finish();
}

namespace {

// Draws a network's weights; see draw_weights().
class Drawing {
 public:
  Drawing(Graph& graph, Init init, uint64_t seed) : graph_(graph), init_(init), seed_(seed) {}

  void run() {
    for (NodeId id : graph_.order()) visit(Node(graph_.node(id)));
  }

 private:
  void visit(const Node& node) {
    if (node.domain.empty() && node.op == "BatchNormalization") {
      for (const auto& [i, value] : {std::pair(1, 1.0F), std::pair(2, 0.0F), std::pair(3, 0.0F), std::pair(4, 1.0F)})
        fill(node.input(i), [value = value](uint64_t) { return value; });
      return;
    }
    static const std::set<std::string> kNorms = {"GroupNormalization", "InstanceNormalization", "LayerNormalization",
                                                 "RMSNormalization"};
    if (node.domain.empty() && kNorms.count(node.op) != 0) {
      fill(node.input(1), [](uint64_t) { return 1.0F; });
      fill(node.input(2), [](uint64_t) { return 0.0F; });
      return;
    }
    if (node.domain.empty() && node.op == "PRelu") {
      constexpr float kSlope = 0.25F;  // as PyTorch and its paper begin
      fill(node.input(1), [](uint64_t) { return kSlope; });
      return;
    }
    if (node.domain.empty() && node.op == "Add") {
      for (size_t i : {size_t{0}, size_t{1}}) {
        if (const auto layer = layers_.find(node.input(1 - i)); layer != layers_.end())
          draw_bias(node.input(i), layer->second);
      }
      return;
    }
    if (!has_trait(node, Trait::Weighted)) return;
    const Tensor* old = graph_.constant(node.input(1));
    if (old == nullptr || !is_float(old->dtype()) || old->rank() < 2) return;
    const Shape shape = old->shape();
    const int64_t transposed = node.op == "Gemm" ? int_attribute(node, "transB") : 0;
    const int64_t fan_in =
        shape.size() > 2 || transposed != 0 ? old->size() / std::max<int64_t>(1, shape[0]) : shape[0];
    const Layer layer = {drawn_.count(node.input(1)) == 0 ? ++count_ : count_, fan_in};
    layers_[node.outputs[0]] = layer;
    if (drawn_.count(node.input(1)) == 0) draw_weight(node.input(1), shape, layer);
    draw_bias(node.input(2), layer);
  }

  struct Layer {
    uint64_t number = 0;
    int64_t fan_in = 1;
    double limit() const { return 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, fan_in))); }
  };

  void draw_weight(ValueId v, const Shape& shape, const Layer& layer) {
    const auto even = [&](double limit) {
      fill(v, [&, limit](uint64_t i) {
        return static_cast<float>((2 * random_unit(seed_, {layer.number, i}) - 1) * limit);
      });
    };
    if (init_ == Init::Torch) return even(layer.limit());
    if (shape.size() == 2) return even(glorot(shape[0], shape[1]));
    const double deviation = std::sqrt(2 / static_cast<double>(layer.fan_in));
    fill(v, [&](uint64_t i) { return static_cast<float>(random_normal(seed_, {layer.number, i}) * deviation); });
  }

  void draw_bias(ValueId v, const Layer& layer) {
    constexpr uint64_t kBias = 1;  // a third counter, which weights have not
    if (init_ == Init::He) return fill(v, [](uint64_t) { return 0.0F; });
    const double limit = layer.limit();
    fill(v, [&](uint64_t i) {
      return static_cast<float>((2 * random_unit(seed_, {layer.number, i, kBias}) - 1) * limit);
    });
  }

  template <class Value>
  void fill(ValueId v, const Value& value) {
    const Tensor* constant = graph_.constant(v);
    if (constant == nullptr || !is_float(constant->dtype()) || !drawn_.insert(v).second) return;
    Tensor tensor(DType::Float32, constant->shape());
    for (int64_t i = 0; i < tensor.size(); ++i) tensor.mutable_data<float>()[i] = value(static_cast<uint64_t>(i));
    graph_.value(v).constant = convert(tensor, constant->dtype());
  }

  Graph& graph_;
  const Init init_;
  const uint64_t seed_;
  uint64_t count_ = 0;
  std::map<ValueId, Layer> layers_;  // by output
  std::set<ValueId> drawn_;
};

}  // namespace

void draw_weights(Graph& graph, Init init, uint64_t seed) { Drawing(graph, init, seed).run(); }

}  // namespace dnn::train
