// expand-qlinear: QLinearConv and QLinearMatMul as DequantizeLinear, the operator on real numbers, QuantizeLinear: the form that
// other formats' quantised operators are made from.
#include "graph/locate.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

class Expansion {
 public:
  Expansion(const Graph& graph, const Node& node)
      : graph_(graph), node_(node), patch_(graph, label_in(graph, node) + " spelt out") {}

  // Input i, whose scale and zero point follow, as real numbers; `axis`: of scales that are several.
  ValueId real(size_t i, int64_t axis) {
    const Tensor* scale = graph_.constant(node_.inputs[i + 1]);
    Attributes attributes;
    if (scale != nullptr && scale->size() > 1) attributes["axis"] = axis;
    return dequantize({node_.inputs[i], node_.inputs[i + 1], node_.inputs[i + 2]}, graph_.value(node_.inputs[i]).name,
                      graph_.value(node_.inputs[i]).type, std::move(attributes));
  }

  // A bias of 32 bits, in the scale of the products that it is added to.
  ValueId bias(size_t i, const Tensor& x, const Tensor& w) {
    Tensor scale(DType::Float32, w.rank() == 0 ? Shape{} : Shape{w.size()});
    for (int64_t c = 0; c < w.size(); ++c) scale.mutable_data<float>()[c] = x.data<float>()[0] * w.data<float>()[c];
    const std::string& name = graph_.value(node_.inputs[i]).name;
    Attributes attributes;
    if (w.size() > 1) attributes["axis"] = int64_t{0};
    return dequantize({node_.inputs[i], patch_.add_constant(name + ".scale", std::move(scale))}, name,
                      graph_.value(node_.inputs[i]).type, std::move(attributes));
  }

  Patch finish(NodeId id, const std::string& op, std::vector<ValueId> inputs, size_t result) {
    Node main;
    main.op = op;
    main.name = node_.name;
    if (op == "Conv") main.attributes = node_.attributes;
    main.inputs = std::move(inputs);
    Type type = graph_.value(node_.outputs[0]).type;
    type.dtype = DType::Float32;
    main.outputs = {patch_.add_value(graph_.value(node_.outputs[0]).name + ".real", std::move(type))};
    Node quantize;
    quantize.op = "QuantizeLinear";
    quantize.name = node_.name + "_QuantizeLinear";
    quantize.inputs = {main.outputs[0], node_.inputs[result], node_.inputs[result + 1]};
    quantize.outputs = node_.outputs;
    main.sources = quantize.sources = sources_of(node_);
    patch_.add_node(std::move(main));
    patch_.add_node(std::move(quantize));
    patch_.remove_node(id);
    return std::move(patch_);
  }

 private:
  ValueId dequantize(std::vector<ValueId> inputs, const std::string& name, Type type, Attributes attributes) {
    type.dtype = DType::Float32;
    Node node;
    node.op = "DequantizeLinear";
    node.name = name + "_DequantizeLinear";
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
    node.outputs = {patch_.add_value(name + ".real", std::move(type))};
    node.sources = sources_of(node_);
    const ValueId result = node.outputs[0];
    patch_.add_node(std::move(node));
    return result;
  }

  const Graph& graph_;
  const Node& node_;
  Patch patch_;
};

bool is_float32(const Graph& graph, ValueId scale) { return graph.value(scale).type.dtype == DType::Float32; }

}  // namespace

std::vector<Patch> expand_qlinear(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    const bool conv = is_op(node, "QLinearConv");
    if (!conv && !is_op(node, "QLinearMatMul")) continue;
    if (!is_float32(graph, node.inputs[1]) || !is_float32(graph, node.inputs[4]) || !is_float32(graph, node.inputs[6]))
      continue;
    const Tensor *x = graph.constant(node.inputs[1]), *w = graph.constant(node.inputs[4]);
    const bool biased = conv && node.input(8) != kNoValue;
    if (biased && (x == nullptr || w == nullptr || x->size() != 1)) continue;
    const Type& b = graph.value(node.inputs[3]).type;
    if (!conv && !b.shape) continue;
    Expansion expansion(graph, node);
    const auto units = conv ? int64_t{0} : static_cast<int64_t>(b.shape->size()) - 1;
    std::vector<ValueId> inputs = {expansion.real(0, 0), expansion.real(3, units)};
    if (biased) inputs.push_back(expansion.bias(8, *x, *w));
    patches.push_back(expansion.finish(id, conv ? "Conv" : "MatMul", std::move(inputs), 6));
  }
  return patches;
}

}  // namespace dnn
