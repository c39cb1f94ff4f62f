// simplify-inference: what only training needs goes. BatchNormalization with constant statistics becomes
// y = x * s + t with s = scale / sqrt(var + epsilon), t = B - mean * s (computed in float64, rounded once); one with computed ones
// becomes arithmetic, too.
#include <cmath>

#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"
#include "passes/single_nodes.h"

namespace dnn {
namespace {

bool constants_present(const Graph& graph, const Node& node, size_t first, size_t last) {
  for (size_t i = first; i <= last; ++i) {
    if (graph.constant(node.input(i)) == nullptr) return false;
  }
  return true;
}

Node arithmetic(const std::string& op, const std::string& name, ValueId a, ValueId b, ValueId y) {
  Node node;
  node.op = op;
  node.name = name;
  node.inputs = {a, b};
  node.outputs = {y};
  return node;
}

void simplify_batch_norm(const Graph& graph, NodeId id, std::vector<Patch>* patches) {
  const Node& node = graph.node(id);
  const Type& x = graph.value(node.inputs[0]).type;
  if (node.attribute_int("training_mode", 0) != 0 || !x.shape || x.shape->size() < 2 ||
      !constants_present(graph, node, 1, 4))
    return;
  for (size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) return;
  }
  const double epsilon = static_cast<double>(node.attribute_float("epsilon", 1e-5f));
  const std::vector<double> scale = to_doubles(*graph.constant(node.inputs[1])),
                            shift = to_doubles(*graph.constant(node.inputs[2])),
                            mean = to_doubles(*graph.constant(node.inputs[3])),
                            var = to_doubles(*graph.constant(node.inputs[4]));
  const size_t channels = scale.size();
  if (shift.size() != channels || mean.size() != channels || var.size() != channels) return;
  Shape shape = {static_cast<int64_t>(channels)};
  shape.insert(shape.end(), x.shape->size() - 2, 1);  // [C, 1, ...] broadcasts along channels
  Tensor s(DType::Float64, shape), t(DType::Float64, shape);
  for (size_t c = 0; c < channels; ++c) {
    const double factor = scale[c] / std::sqrt(var[c] + epsilon);
    s.mutable_data<double>()[c] = factor;
    t.mutable_data<double>()[c] = shift[c] - mean[c] * factor;
  }
  Patch patch(graph, label_in(graph, node) + " to scale and shift");
  const std::string base = graph.value(node.outputs[0]).name;
  const ValueId sv = patch.add_constant(base + ".scale", convert(s, x.dtype)),
                tv = patch.add_constant(base + ".shift", convert(t, x.dtype));
  const ValueId scaled = patch.add_value(base + ".scaled", graph.value(node.outputs[0]).type);
  Node mul = arithmetic("Mul", node.name, node.inputs[0], sv, scaled),
       add = arithmetic("Add", node.name, scaled, tv, node.outputs[0]);
  mul.sources = add.sources = node.sources.empty() ? std::vector<std::string>{node.name} : node.sources;
  patch.add_node(std::move(mul));
  patch.add_node(std::move(add));
  patch.remove_node(id);
  patches->push_back(std::move(patch));
}

// The statistics may be computed, as in training: y = (x - mean) * factor + B with factor = scale / sqrt(var + epsilon), once for each
// channel.
void computed_batch_norm(const Graph& graph, NodeId id, std::vector<Patch>* patches) {
  const Node& node = graph.node(id);
  const Type &x = graph.value(node.inputs[0]).type, &parameter = graph.value(node.inputs[1]).type;
  if (node.attribute_int("training_mode", 0) != 0 || !x.fixed() || x.shape->size() < 2 || !is_float(x.dtype) ||
      constants_present(graph, node, 1, 4))
    return;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!(graph.value(node.inputs[i]).type == parameter) || parameter.dtype != x.dtype) return;
  }
  Patch patch(graph, label_in(graph, node) + " to arithmetic");
  const std::string base = graph.value(node.outputs[0]).name;
  const auto emit = [&](const std::string& op, ValueId a, ValueId b, const Type& type, ValueId y = kNoValue) {
    Node made = arithmetic(op, node.name, a, b, y == kNoValue ? patch.add_value(base + "." + op, type) : y);
    if (b == kNoValue) made.inputs.pop_back();
    made.sources = node.sources.empty() ? std::vector<std::string>{node.name} : node.sources;
    const ValueId result = made.outputs[0];
    patch.add_node(std::move(made));
    return result;
  };
  const Shape channels = parameter.fixed_shape();
  Shape along = channels;
  along.insert(along.end(), x.shape->size() - 2, 1);  // [C, 1, ...] broadcasts along channels
  const ValueId shape =
      patch.add_constant(base + ".shape", Tensor::of<int64_t>({static_cast<int64_t>(along.size())}, along));
  const auto broadcast = [&](ValueId v) {
    return along == channels ? v
                             : emit("Reshape", v, shape, Type(x.dtype, std::vector<Dim>(along.begin(), along.end())));
  };
  const Tensor epsilon = convert(Tensor::scalar(node.attribute_float("epsilon", 1e-5f)), x.dtype);
  const ValueId widened = emit("Add", node.inputs[4], patch.add_constant(base + ".epsilon", epsilon), parameter);
  const ValueId factor = emit("Div", node.inputs[1], emit("Sqrt", widened, kNoValue, parameter), parameter);
  const ValueId apart = emit("Sub", node.inputs[0], broadcast(node.inputs[3]), x);
  const ValueId scaled = emit("Mul", apart, broadcast(factor), x);
  emit("Add", scaled, broadcast(node.inputs[2]), x, node.outputs[0]);
  patch.remove_node(id);
  patches->push_back(std::move(patch));
}

}  // namespace

std::vector<Patch> simplify_inference(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (!node.domain.empty()) continue;
    if (node.op == "BatchNormalization") simplify_batch_norm(graph, id, &patches);
    if (node.op == "BatchNormalization") computed_batch_norm(graph, id, &patches);
    if (std::optional<Patch> patch = passed_through(graph, id)) patches.push_back(std::move(*patch));
  }
  return patches;
}

}  // namespace dnn
