// expand-dynamic-quantization: dnn.DynamicFakeQuantize as the ONNX operators that compute it, in its own order of operations.
#include "graph/locate.h"
#include "ops/op.h"
#include "passes/match.h"
#include "passes/pass.h"

namespace dnn {
namespace {

class Spelling {
 public:
  Spelling(const Graph& graph, const Node& node)
      : node_(node), type_(graph.value(node.inputs[0]).type), patch_(graph, label_in(graph, node) + " spelt out") {}

  ValueId number(double value) {
    return patch_.add_constant(node_.name + ".number", convert(Tensor::scalar(value), type_.dtype));
  }

  ValueId emit(const char* op, std::vector<ValueId> inputs, Type type, ValueId result = kNoValue) {
    Node node;
    node.op = op;
    node.name = cat(node_.name, "_", op, "_", count_++);
    node.inputs = std::move(inputs);
    node.outputs = {result == kNoValue ? patch_.add_value(cat(node_.name, ".", op), std::move(type)) : result};
    node.sources = sources_of(node_);
    const ValueId made = node.outputs[0];
    patch_.add_node(std::move(node));
    return made;
  }

  Patch run(NodeId id) {
    const std::vector<int64_t> axes = ints_attribute(node_, "axes");
    const auto n = static_cast<int64_t>(axes.size());
    const ValueId along = patch_.add_constant(node_.name + ".axes", Tensor::of<int64_t>({n}, axes));
    Type one = type_;  // an extreme
    if (one.shape) {
      const auto rank = static_cast<int64_t>(one.shape->size());
      for (int64_t axis : axes) (*one.shape)[axis < 0 ? axis + rank : axis] = Dim{1};
    }
    const ValueId x = node_.inputs[0], zero = number(0);
    const ValueId low = emit("Min", {emit("ReduceMin", {x, along}, one), zero}, one);
    const ValueId high = emit("Max", {emit("ReduceMax", {x, along}, one), zero}, one);
    const ValueId range = emit("Max", {emit("Sub", {high, low}, one), number(1e-30)}, one);
    const ValueId steps = emit("Div", {number(255), range}, one);
    const ValueId point = emit("Round", {emit("Sub", {number(-128), emit("Mul", {low, steps}, one)}, one)}, one);
    const ValueId whole = emit("Round", {emit("Add", {emit("Mul", {x, steps}, type_), point}, type_)}, type_);
    const ValueId kept = emit("Clip", {whole, number(-128), number(127)}, type_);
    emit("Div", {emit("Sub", {kept, point}, type_), steps}, type_, node_.outputs[0]);
    patch_.remove_node(id);
    return std::move(patch_);
  }

 private:
  const Node& node_;
  const Type type_;
  Patch patch_;
  int count_ = 0;
};

}  // namespace

std::vector<Patch> expand_dynamic_quantization(const Graph& graph, const PassContext&) {
  std::vector<Patch> patches;
  for (NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (node.domain == kInternalDomain && node.op == "DynamicFakeQuantize")
      patches.push_back(Spelling(graph, node).run(id));
  }
  return patches;
}

}  // namespace dnn
