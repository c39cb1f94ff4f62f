// The operator registry: one call per row of ops.def, so that no linker can drop an operator.
#include <map>

#include "ops/op.h"

#define DNN_OP(name, folder, file) \
  namespace dnn::file##_ops {      \
    OpDef define_##name();         \
  }
#include "ops/ops.def"
#undef DNN_OP

namespace dnn {

const std::vector<OpDef>& all_ops() {
  static const std::vector<OpDef> ops = {
#define DNN_OP(name, folder, file) file##_ops::define_##name(),
#include "ops/ops.def"
#undef DNN_OP
  };
  return ops;
}

const OpDef* find_op(std::string_view domain, std::string_view name) {
  static const auto index = [] {
    std::map<std::pair<std::string, std::string>, const OpDef*, std::less<>> map;
    for (const OpDef& op : all_ops()) map[{op.domain, op.name}] = &op;
    return map;
  }();
  if (domain == "ai.onnx") domain = "";
  auto found = index.find(std::pair<std::string, std::string>(domain, name));
  return found == index.end() ? nullptr : found->second;
}

bool has_trait(const Node& node, Trait trait) {
  const OpDef* op = find_op(node.domain, node.op);
  return op != nullptr && op->traits.has(trait);
}

size_t picked_inputs(const Node& node) {
  const OpDef* op = find_op(node.domain, node.op);
  const int picked = op == nullptr || op->picks == nullptr ? 0 : op->picks(node);
  return picked < 0 ? node.inputs.size() : static_cast<size_t>(picked);
}

OpDef with_attributes(OpDef op, AttributeDefs attributes) {
  op.attributes = std::move(attributes);
  return op;
}

double node_flops(const Graph& graph, const Node& node) {
  double elements = 0;
  bool known = true;
  const auto shapes = [&](const std::vector<ValueId>& values) {
    std::vector<Shape> list;
    for (ValueId v : values) {
      known = known && (v == kNoValue || graph.value(v).type.fixed());
      list.push_back(v == kNoValue || !known ? Shape() : graph.value(v).type.fixed_shape());
    }
    return list;
  };
  const std::vector<Shape> inputs = shapes(node.inputs), outputs = shapes(node.outputs);
  if (!known) return 0;
  const OpDef* op = find_op(node.domain, node.op);
  if (op != nullptr && op->flops != nullptr) return op->flops(node, inputs, outputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    elements += node.outputs[i] == kNoValue ? 0 : static_cast<double>(element_count(outputs[i]));
  return elements;
}

const Type& InferContext::input(size_t i) const {
  if (!has_input(i)) fail("input ", i, " is missing");
  return *inputs[i];
}

const std::vector<Dim>& InferContext::shape(size_t i, int rank) const {
  const Type& type = input(i);
  if (!type.shape) fail("the shape of input ", i, " is not known");
  if (rank >= 0 && static_cast<int>(type.shape->size()) != rank)
    fail("input ", i, " is ", type.text(), ", rank ", rank, " expected");
  return *type.shape;
}

void InferContext::set_output(size_t i, Type type) {
  if (i < outputs.size()) outputs[i] = std::move(type);
}

int64_t InferContext::axis(int64_t value, int64_t rank) const {
  if (value < -rank || value >= rank) fail("axis ", value, " is out of range for rank ", rank);
  return value < 0 ? value + rank : value;
}

const Tensor& ReferenceContext::input(size_t i) const {
  if (!has_input(i)) fail("input ", i, " is missing");
  return *inputs[i];
}

loops::BufferRef LowerContext::temporary(std::string name, DType dtype, Shape shape, loops::Layout layout) {
  temporaries.push_back(
      std::make_shared<loops::Buffer>(loops::Buffer{std::move(name), dtype, std::move(shape), std::move(layout)}));
  return temporaries.back();
}

}  // namespace dnn
